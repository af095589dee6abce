// cases: public bug reports as small programs; the right program's result and the wrong program's.
#include <fmt/format.h>

#include "core/golden/case_text.h"
#include "core/golden/checks.h"
#include "core/golden/stage_run.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

struct ProgramRun {
  std::optional<RunResult> result;
  std::string not_run;
  std::string raised;
};

ProgramRun run_program(const std::string& name, const std::string& text,
                       const Recording& recording) {
  ProgramRun program;
  const TraceFile file = parse_trace_file(name, text);
  std::string why;
  const Trace* trace = only_trace(file, why);
  if (trace == nullptr) {
    program.not_run = why;
    return program;
  }
  StageRun stage = run_stage(*trace, {&recording, nullptr, nullptr, 1});
  program.result = std::move(stage.result);
  program.not_run = stage.not_run;
  if (stage.raised)
    program.raised = fmt::format("raises {}: {}", stage.raised->type, stage.raised->message);
  return program;
}

void check_wrong_program(const ProgramRun& right, const std::string& text,
                         const Recording& recording, Checks& checks) {
  const auto recorded = recording.runs.find("wrong");
  if (recorded == recording.runs.end()) return;
  const ProgramRun wrong = run_program("wrong.txt", text, recording);
  if (!wrong.raised.empty()) return checks.fail("wrong program", {}, wrong.raised);
  if (!wrong.result) {
    checks.not_supported("wrong program", {}, wrong.not_run);
    return checks.not_supported("told apart", {}, wrong.not_run);
  }
  checks.decide("wrong program", {},
                joined(differences(*wrong.result, recorded->second, recording)));
  if (!right.result) return checks.not_supported("told apart", {}, right.not_run);
  // Alias losses that Thunder accepts are differences to the reporter.
  CompareOptions options;
  options.contract = CompareOptions::Contract::Torch;
  options.strides = true;
  const Comparison comparison = compare(*right.result, *wrong.result, options);
  checks.decide("told apart", {},
                comparison.verdict == VerdictKind::Different
                    ? ""
                    : "right and wrong program compare as the same");
}

}  // namespace

void check_case(const Unit& unit, Checks& checks) {
  const Result<std::string> markdown = unit.read(unit.files.front());
  if (!markdown.has_value()) return checks.fail("right program", {}, markdown.error().message);
  const std::string_view json = json_block(*markdown);
  if (json.empty()) {
    return checks.not_supported("behaviour", {},
                                "asks for a behaviour of the tool, not for values");
  }
  Result<Recording> recording = read_recording(unit.id, json);
  if (!recording) return checks.fail("right program", {}, recording.error().message);
  const CaseText text = read_case_text(*markdown);
  if (text.right.empty()) return checks.fail("right program", {}, "no trace in the text");
  const ProgramRun right = run_program(unit.files.front(), text.right, *recording);
  if (!right.raised.empty()) {
    checks.fail("right program", {}, right.raised);
  } else if (!right.result) {
    checks.not_supported("right program", {}, right.not_run);
  } else {
    checks.decide("right program", {},
                  joined(differences(*right.result, recording->runs.at("eager"), *recording)));
  }
  checks.decide("round trip", {}, round_trip_fault(unit.files.front(), text.right));
  if (!text.wrong.empty()) return check_wrong_program(right, text.wrong, *recording, checks);
  if (recording->runs.contains("wrong")) checks.fail("wrong program", {}, "its text was not found");
}

}  // namespace tg::golden
