// Compare: two runs value by value and storage by storage. Shared by the command, `check` and the
// tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/eager/interpreter.h"

namespace tg {

struct Tolerance {
  double relative = 0;
  double absolute = 0;
  std::optional<std::uint64_t> ulp;
  bool equal_nan = true;
};
// Defaults of torch.testing.assert_close per dtype.
Tolerance default_tolerance(DType dtype);

struct CompareOptions {
  std::optional<Tolerance> tolerance;                      // overrides the per-dtype defaults
  std::vector<std::pair<std::string, Tolerance>> by_name;  // "out[0]" -> tolerance
  std::vector<std::pair<DType, Tolerance>> by_dtype;       // instead of the defaults
  bool strides = false;  // count stride differences (always reported as notes)
  enum class Contract {
    Thunder,
    Torch
  } contract = Contract::Thunder;  // which alias losses count (D1-D3)
};

// Who shares storage with whom, over arguments and outputs.
struct AliasPartition {
  struct Member {
    std::string name;           // "x", "out[0]"
    std::uint32_t storage = 0;  // numbered by first appearance
    std::int64_t offset_bytes = 0;
    Geometry geometry;
    DType dtype = DType::Float32;
  };
  std::vector<Member> members;
};
AliasPartition alias_partition(const RunResult& result);
// "x out[0] | y" : one group per storage with more than one member; "none" when nothing is shared.
std::string to_text(const AliasPartition& partition);

enum class DifferenceKind {
  Values,
  DType,
  Shape,
  Strides,
  FinalArgument,
  AliasLost,
  AliasGained,
  AliasOffset,
  Structure,
  Raised
};
struct Difference {
  DifferenceKind kind = DifferenceKind::Values;
  std::string subject;              // "out[0]", "x", "out[0] and x"
  std::string message;              // full sentence: "out[0][1, 2] is 7.0 and 3.0"
  std::vector<std::int64_t> index;  // of the first (worst when tolerance matters) differing element
  std::string left, right;          // the two values or facts
  double max_absolute = 0, max_relative = 0;
  std::uint64_t differing_elements = 0;
  bool accepted = false;  // D1-D3 under the Thunder contract: a note, no difference
};

enum class VerdictKind { Same, Different, NotEstablished };
struct Comparison {
  VerdictKind verdict = VerdictKind::Same;
  std::string why;                      // NotEstablished: the reason
  std::vector<Difference> differences;  // worst class first
};

// `left` is the reference. Values of arguments are compared over their whole storage.
Comparison compare(const RunResult& left, const RunResult& right,
                   const CompareOptions& options = {});
// One of the two raised, or both. What PyTorch raises too is a difference; our own limits establish
// nothing.
Comparison compare_raised(const Expected<RunResult, RunError>& left,
                          const Expected<RunResult, RunError>& right);

// The first statement (index in `right`'s trace) whose value differs from the value of the same
// name in `left`'s run, by running both with observers. Empty when no common name differs.
struct Divergence {
  std::uint32_t left_statement = 0;
  std::uint32_t right_statement = 0;
  std::string name;
  Difference difference;
};
std::optional<Divergence> first_divergence(const Trace& left, const Trace& right,
                                           const RunInputs& inputs, const CompareOptions& options,
                                           const RunLimits& limits);

// --expect 'out0.data_ptr != out1.data_ptr', 'x[1] == 7.0', 'out0.shape == (2, 3)', 'out0 == x',
// 'out0.shares(x)'
struct Expectation {
  std::string text;
  bool holds = false;
  std::string explanation;  // "x[1] is 1.0"
};
Result<Expectation> check_expectation(const std::string& text, const RunResult& result);

}  // namespace tg
