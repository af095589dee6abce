// The embedded interpreter: PyTorch's eager semantics over storages (passes.md 3.1, 5.3).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/eager/runtime_value.h"
#include "core/ir/trace.h"

namespace tg {

struct NamedValue {
  std::string name;
  RuntimeValue value;
};

// Values for the parameters, and for names that a text reads without defining them (numbers of a
// forward and backward split, known from the prologue). Tensors that share a Storage alias. A run
// works on copies of the storages (sharing kept), so inputs are never changed.
struct RunInputs {
  std::vector<NamedValue> arguments;
  // What `prims.get_grad(NAME)` of a joint forward and backward trace gives, by the name; ones of
  // the shape of NAME where nothing is given: the gradient of the sum of the outputs.
  std::vector<NamedValue> cotangents;
  // What expressions of a prologue give that reach outside the call, by their text:
  // "module.get_parameter('w')", "globals()['STATE']". What is not here is taken from the
  // annotation where that tells a number, else it is not known and no check asks for it.
  std::vector<NamedValue> outside;
  std::uint64_t seed = 0;  // of random operations, and shown in reports
};

struct RunLimits {
  std::chrono::milliseconds time{60'000};
  std::uint64_t bytes = std::uint64_t{4} << 30;
};

// What a fusion region reads (passes.md 3.3). InOrder: its lines run one after another on the
// storages. AtEntry, as nvFuser runs one kernel: inputs are the values at the entry, copies happen
// together at the exit, and what a copy gives is its source inside the region and its destination
// outside. A region where the two differ is a defect of the trace.
enum class RegionReads : std::uint8_t { InOrder, AtEntry };

enum class RunErrorKind {
  BadProgram,
  NotSupported,
  OutOfMemory,
  TimedOut,
  Cancelled,
  RaisesAsTorch
};

// Why a run stopped. RaisesAsTorch: PyTorch raises here too (type and message are PyTorch's).
struct RunError {
  RunErrorKind kind = RunErrorKind::BadProgram;
  std::string type;  // "RuntimeError" for RaisesAsTorch
  std::string message;
  std::uint32_t statement = 0;  // index at depth 0
  SourceRange at;
  Diagnostic to_diagnostic() const;
};

// Lets a map of strings be asked with a string_view.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>{}(name);
  }
};

// Bindings at one moment; names are resolved in the innermost scope first.
class Environment {
 public:
  using Bindings = std::unordered_map<std::string, RuntimeValue, NameHash, std::equal_to<>>;

  explicit Environment(const Environment* outer = nullptr) : outer_(outer) {}
  [[nodiscard]] const RuntimeValue* find(std::string_view name) const;
  void bind(std::string_view name, RuntimeValue value);
  void unbind(std::string_view name);
  // Of this scope alone.
  [[nodiscard]] const Bindings& bindings() const { return bindings_; }

 private:
  const Environment* outer_;
  Bindings bindings_;
};

enum class Continue { Go, Stop };

// Watches a run at depth 0. `statement` is the index into trace.bound_symbols.
struct RunObserver {
  std::function<Continue(std::uint32_t statement, const Environment&)> before;
  std::function<Continue(std::uint32_t statement, const Environment&)> after;
};

struct RunResult {
  RuntimeValue returned;            // the return value as a tree; NoneValue without return
  std::vector<NamedValue> outputs;  // its leaves: "out[0]", "out[1]" in order; for a wrapped return
                                    // ({'output': ..., 'flat_args': ...}) those of 'output'
  std::vector<NamedValue> final_arguments;  // the arguments after the run, in parameter order
  std::vector<std::string> notes;  // "ltorch.setitem_(x, 0, 1.0) ran by its sub-statements: ..."
  // Depth-0 results that are not what their type comment says: "line 28: t4 is f32[3, 2] where the
  // text says f32[5]".
  std::vector<std::string> wrong_types;
  bool used_random = false;  // compare shapes only
  std::uint32_t statements_run = 0;
  RunLimits limits;  // what the run was held to; a comparison of its values is, too
  std::stop_token stop;
};

// Runs `trace` on copies of `inputs`. Sub-statements run only where the statement's own operation
// is unknown, where it is a fusion region, or where a later statement reads a name that only they
// define.
Expected<RunResult, RunError> run(const Trace& trace, const RunInputs& inputs,
                                  const RunLimits& limits = {},
                                  const RunObserver* observer = nullptr, std::stop_token stop = {},
                                  RegionReads regions = RegionReads::InOrder);

// Is there a kernel for the callee, or do sub-statements of known operations stand in for it? The
// first statement that cannot run, empty when all can.
std::optional<std::uint32_t> first_not_runnable(const Trace& trace);

}  // namespace tg
