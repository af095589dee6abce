// golden/large: big traces with values.
#include <fmt/format.h>

#include "core/golden/checks.h"
#include "core/golden/stage_run.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  if (parts.size() <= 6) return fmt::format("{}", fmt::join(parts, ", "));
  return fmt::format("{} and {} more", fmt::join(parts.begin(), parts.begin() + 6, ", "),
                     parts.size() - 6);
}

// Names of large are plain parameter names; all stages of one program share them.
void check_values(const std::string& path, const std::string& text, const Recording& recording,
                  Checks& checks) {
  const TraceFile file = parse_trace_file(path, text);
  std::string why;
  const Trace* trace = only_trace(file, why);
  if (trace == nullptr) return checks.fail("text_run", path, why);
  const StageRun stage = run_stage(*trace, {&recording, nullptr, nullptr, 1});
  if (stage.raised) return checks.fail("text_run", path, "raises " + stage.raised->message);
  if (!stage.result) return checks.not_supported("text_run", path, stage.not_run);
  CompareOptions options;
  // The README's tolerance: relative 1e-5.
  options.tolerance = Tolerance{1e-5, 1e-8, std::nullopt, true};
  const Comparison comparison =
      compare_with_recording(*stage.result, recording.runs.at("eager"), recording, options);
  std::vector<std::string> faults;
  for (const Difference& difference : comparison.differences) {
    if (!difference.accepted) faults.push_back(difference.message);
  }
  checks.decide("text_run", path, joined(faults));
}

}  // namespace

void check_large(const Unit& unit, Checks& checks) {
  std::optional<Recording> recording;
  for (const char* name : {"values.json", "values.json.zst"}) {
    if (!unit.has(name)) continue;
    const Result<std::string> json = unit.read(name);
    Result<Recording> read = json.has_value() ? read_recording(unit.id, *json)
                                              : Result<Recording>(Unexpected{json.error()});
    if (!read) {
      checks.fail("values.json", name, read.error().message);
      continue;
    }
    recording = *std::move(read);
  }
  for (const std::string& path : unit.files) {
    if (!path.ends_with(".txt.zst") || path == "step.txt.zst") continue;
    Result<std::string> text = unit.read(path);
    if (!text.has_value()) {
      checks.fail("round trip", path, text.error().message);
      continue;
    }
    checks.decide("round trip", path, round_trip_fault(path, *text));
    if (!path.starts_with("computation-")) continue;
    if (!recording) {
      checks.not_supported("text_run", path, "no values were recorded");
      continue;
    }
    check_values(path, *text, *recording, checks);
  }
}

}  // namespace tg::golden
