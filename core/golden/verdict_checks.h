// `check` over a whole recorded program of December 2024. Internal to core/golden.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/check/check.h"
#include "core/golden/checks.h"
#include "core/run/recording.h"

namespace tg::golden {

struct ProgramVerdict {
  TraceFile file;                  // every stage of the computation, in order, one phase each
  std::vector<std::string> paths;  // of the phases
  CheckReport report;
  std::string why_not;  // no report: why
};

ProgramVerdict verdict_of(const Unit& unit, const Recording& recording, const Trace* prologue);

// `check` on the trace as acquired, with our passes of the era replayed on it: where they raise.
// Nothing was traced: none.
std::optional<CheckReport> refusal_of(const Unit& unit, const Recording& recording,
                                      const Trace* prologue);

// Checks "guilty stage" and "guilty pass" against text_run.json.
void check_verdict(const Unit& unit, const Recording& recording, const Trace* prologue,
                   std::string_view text_run, Checks& checks);

}  // namespace tg::golden
