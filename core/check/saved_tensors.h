// A forward trace and the backward trace that belongs to it: what is saved, and whether what is
// saved is still what the forward computed with. `return (outputs, ((t3, x), (2,)))` of the forward
// trace and `C0, C1, = saved_for_backward` of the backward trace are linked by position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/run/compare.h"

namespace tg {

struct SavedTensor {
  std::string name;           // in the forward trace
  std::string backward_name;  // in the backward trace; empty: not read there
  std::size_t group = 0;
  std::size_t position = 0;  // within the group
};

// Every saved value in order; empty when `forward` does not save what `backward` unpacks (another
// number of groups, or of members where they are unpacked).
std::optional<std::vector<SavedTensor>> link_saved(const Trace& forward, const Trace& backward);

// A tensor that is saved, read, and written before the forward trace returns: its gradient formula
// wants the value that was read.
struct SavedHazard {
  SavedTensor tensor;
  std::uint32_t read = 0;   // statements of the forward trace
  std::uint32_t write = 0;  // the first write after that read
  SourceRange read_at, write_at;
  // Both values were tried: the gradients differ. Not set: they could not be tried.
  std::optional<bool> matters;
  std::string
      witness;  // "gradient 0 [1]: 2.5 with the value that was read, 7.0 with what is saved"
};

// By the storages of the forward trace, in order of the saved tensors.
std::vector<SavedHazard> find_saved_hazards(const Trace& forward,
                                            const std::vector<SavedTensor>& saved,
                                            const ArgumentFacts& facts);

// Runs `backward` on what `forward_result` left for it. The cotangent of output i has the elements
// 1, 2, 3, 1, 2, ... plus i. The gradients are the outputs of the result.
Expected<RunResult, RunError> run_backward(const Trace& backward, const RunResult& forward_result,
                                           const RunLimits& limits);

// Fills `matters` and `witness`: runs the backward trace with the value that was read in place of
// the one saved.
void try_saved_values(const Trace& forward, const Trace& backward, const RunInputs& inputs,
                      const CompareOptions& compare, const RunLimits& limits,
                      std::vector<SavedHazard>& hazards);

}  // namespace tg
