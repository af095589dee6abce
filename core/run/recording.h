// Recording: what a real system gave for a program, whatever schema it was written in.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/eager/interpreter.h"
#include "core/run/compare.h"

namespace tg {

// Files of a folder or of a .tar.zst archive, read by path relative to its root.
class RecordingTree {
 public:
  virtual ~RecordingTree() = default;
  [[nodiscard]] virtual std::vector<std::string> files() const = 0;  // sorted
  [[nodiscard]] virtual Result<std::string> read(std::string_view path) const = 0;
};
Result<std::unique_ptr<RecordingTree>> open_recording_tree(const std::string& folder_or_archive);

// A tensor as recorded.
struct RecordedTensor {
  DType dtype = DType::Float32;
  Geometry geometry;
  std::string storage;  // "S0", "fresh0"; equal ids share
  std::vector<double>
      values;  // row-major; complex: pairs. Empty: not recorded (compare geometry only)
  std::vector<std::int64_t> integers;  // exact values of integer and bool dtypes
  std::optional<std::vector<double>>
      storage_values;  // whole storage when the tensor does not cover it
};
struct RecordedValue {
  std::string name;  // "x", "out[0]", "args[0]['w']"
  std::optional<RecordedTensor> tensor;
  std::optional<RuntimeValue> number;  // numbers, None, strings
};
struct RecordedPair {  // a and b share a storage (pairs not listed share nothing)
  std::string a, b;
  std::int64_t offset_bytes = 0;
  bool same_object = false;
};
struct RecordedRun {
  std::vector<RecordedValue> outputs;
  std::vector<RecordedValue> final_inputs;
  std::vector<RecordedPair> sharing;
  bool has_sharing = false;
  // After back-propagation, by input name; neither tensor nor number: none. Strides mean nothing.
  std::vector<RecordedValue> gradients;
  std::optional<std::pair<std::string, std::string>> error;  // type, message
};
struct Recording {
  std::string id;
  std::vector<RecordedValue> inputs;
  std::map<std::string, RecordedRun>
      runs;  // "eager", "thunder", "thunder_torch_executor", "wrong"...
  std::map<std::string, double>
      tolerance;  // relative and absolute, by short dtype name; empty: defaults
  bool random = false;
  std::string call;       // operator recordings: the right side of the statement, "prims.abs(a)"
  std::string exactness;  // operator recordings: "exact", "ulp:2", "rel:1e-5,abs:1e-6"
};

// Any of the values schemas: seed/values.json, passes-2024-12, passes-2026-01, large, fx, nvfuser
// io.json, one line of an operator .jsonl, the JSON block of cases/NN-slug.md. Diagnostics:
// bad-recording.
Result<Recording> read_recording(std::string id, std::string_view json);

// The JSON text of the last ```json fence of a Markdown case, empty if it has none.
std::string_view json_block(std::string_view markdown);

// Which input of a recording is which parameter of a trace, with the values.
struct InputBinding {
  RunInputs inputs;
  std::vector<std::string> recorded_names;  // per argument of inputs: "args[0]['w']"
  std::vector<NamedValue> unbound;          // recorded tensors that are no parameter of the trace
};
// By name where names agree, else through `prologue` (may be null), whose unpack lines tell which
// path becomes which parameter. Numbers that no input holds are taken from their annotation. Inputs
// of one recorded storage share one Storage. Diagnostics: input-mismatch, unknown-argument.
Result<InputBinding> bind_recording(const Recording& recording, const Trace& trace,
                                    const Trace* prologue);
Result<RunInputs> inputs_from_recording(const Recording& recording, const Trace& trace,
                                        const Trace* prologue);

// The result with its final arguments called as the recording calls them, unbound tensors added:
// they may share storage with an argument and then show its writes.
RunResult with_recorded_names(RunResult result, const InputBinding& binding);

// The recorded run as if it had run here: equal storage ids share one Storage. Bytes that no
// recorded tensor covers are zero.
RunResult as_run_result(const RecordedRun& recorded);

// Compares a run with a recorded run; the same rules and tolerances as compare(). Arguments are
// matched by name; what either side lacks is not compared.
Comparison compare_with_recording(const RunResult& result, const RecordedRun& recorded,
                                  const Recording& recording, const CompareOptions& options);

}  // namespace tg
