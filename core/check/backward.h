// The backward traces of a file: each run on what a forward trace saves, neighbours compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/check/saved_tensors.h"

namespace tg {

struct BackwardPhase {
  std::size_t file_index = 0;
  std::string label;
  std::optional<std::size_t> forward;  // file index of the forward trace that saves for it
  std::size_t saved = 0;               // values saved
  std::size_t read = 0;                // of these read by the backward trace
  std::size_t left_out = 0;            // gradients that the phase before has and this one has not
  bool ran = false;
  std::string why_not;
};

struct BackwardPair {
  std::size_t left = 0, right = 0;  // indices into BackwardReport.phases
  Comparison comparison;            // of the gradients
};

struct BackwardReport {
  std::vector<BackwardPhase> phases;
  std::vector<BackwardPair> pairs;
  std::vector<SavedHazard> hazards;  // of the last backward trace that has a forward trace
  std::size_t hazard_phase = 0;      // its index into phases
};

struct BackwardRequest {
  const TraceFile* file = nullptr;
  const RunInputs* inputs = nullptr;
  const ArgumentFacts* facts = nullptr;
  CompareOptions compare;
  RunLimits limits;
};

// Forward traces are the computation traces of the file; of several that save for a backward trace
// the last before it under the same names counts, else the first after it, else positions alone.
BackwardReport check_backward(const BackwardRequest& request);

// One line: "`w` is saved for backward, read at line 12 and written at line 20 ...".
std::string one_line(const SavedHazard& hazard);

}  // namespace tg
