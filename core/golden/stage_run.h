// Running the text of a stage and saying what it gives beside a recorded run. Internal to
// core/golden.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/golden/gradients.h"
#include "core/run/recording.h"

namespace tg::golden {

// Why text does not survive parse and print; empty when it does, byte for byte, without anything
// kept as unparsed text.
std::string round_trip_fault(const std::string& name, const std::string& text);

// What running a stage gave: a result under recorded names, an error that PyTorch raises too, or
// the reason why nothing is known.
struct StageRun {
  std::optional<RunResult> result;
  bool has_outputs = true;                           // a backward text has none
  std::optional<std::vector<NamedValue>> gradients;  // by input, of a differentiated program
  std::optional<RunError> raised;
  std::string undefined;  // a name that the text reads and nothing defines
  std::string not_run;
};

struct StageContext {
  const Recording* recording = nullptr;
  const Trace* prologue = nullptr;  // may be null
  const Trace* epilogue = nullptr;  // may be null
  std::uint32_t calls = 1;          // how often the program is called on the same objects
  Loss loss = Loss::Sum;
};

StageRun run_stage(const Trace& trace, const StageContext& context);

// Runs `backward` on what `forward`, whose return is `saved`, leaves for it.
StageRun run_backward(const Trace& backward, const Trace& forward, const ForwardReturn& saved,
                      const StageContext& context);

// `host` with the statements of `region` as the body of the fused call that has its arguments, and
// `by_name` whose results are called as `form`, an earlier text of the region, returns them; empty
// when there is no such call.
std::optional<Trace> host_with_body(const Trace& host, const Trace& region, const Trace& form,
                                    bool by_name);

// What differs, in the words of text_run.json: "values of output", "values of final args[0]",
// "sharing of a and b: shared here, recorded as separate", ... Empty: equal.
std::vector<std::string> differences(const RunResult& result, const RecordedRun& recorded,
                                     const Recording& recording);

// Statements after the first return are never executed.
bool has_statement_after_return(const Trace& trace);

// The only trace of a text; null with a reason if there is none or more than one.
const Trace* only_trace(const TraceFile& file, std::string& why);

}  // namespace tg::golden
