// Running the text of a stage and saying what it gives beside a recorded run. Internal to
// core/golden.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run/recording.h"

namespace tg::golden {

// Why text does not survive parse and print; empty when it does, byte for byte, without anything
// kept as unparsed text.
std::string round_trip_fault(const std::string& name, const std::string& text);

// What running a stage gave: a result under recorded names, an error that PyTorch raises too, or
// the reason why nothing is known.
struct StageRun {
  std::optional<RunResult> result;
  std::optional<RunError> raised;
  std::string undefined;  // a name that the text reads and nothing defines
  std::string not_run;
};

struct StageContext {
  const Recording* recording = nullptr;
  const Trace* prologue = nullptr;  // may be null
  const Trace* epilogue = nullptr;  // may be null
  std::uint32_t calls = 1;          // how often the program is called on the same objects
};

StageRun run_stage(const Trace& trace, const StageContext& context);

// What differs, in the words of text_run.json: "values of output", "values of final args[0]",
// "sharing of a and b: shared here, recorded as separate", ... Empty: equal.
std::vector<std::string> differences(const RunResult& result, const RecordedRun& recorded,
                                     const Recording& recording);

// Statements after the first return are never executed.
bool has_statement_after_return(const Trace& trace);

// The only trace of a text; null with a reason if there is none or more than one.
const Trace* only_trace(const TraceFile& file, std::string& why);

}  // namespace tg::golden
