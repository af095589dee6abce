// What `check` says of a whole recorded program, beside what is recorded: the first stage that
// leaves eager, and the pass that made it.
#include "core/golden/verdict_checks.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check/check.h"
#include "core/golden/checks.h"
#include "core/pass/pass.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

using Json = nlohmann::json;

std::string text_at(const Json& root, const char* key) {
  const auto found = root.find(key);
  return found != root.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string_view before(std::string_view text, std::string_view mark) {
  return text.substr(0, text.find(mark));
}

std::string guilty_stage(const ProgramVerdict& verdict) {
  for (const PhasePair& pair : verdict.report.pairs) {
    if (pair.comparison.verdict == VerdictKind::Different) {
      return verdict.paths[verdict.report.phases[pair.right].file_index];
    }
  }
  return {};
}

// Thunder's name of the pass that the explanation names. Of all passes only the partition of the
// fusion pass changes the order of statements.
std::string guilty_pass(const CheckReport& report) {
  if (!report.explanation) return {};
  if (const PassInfo* pass = find_pass(report.explanation->pass)) {
    return std::string(pass->thunder);
  }
  return report.explanation->rule == "reordered" ? "torchcompile_cat.fusion_pass" : "";
}

CheckOptions options_for(RunInputs inputs) {
  CheckOptions options;
  options.given_inputs = std::move(inputs);
  options.era = Era::Thunder2024;
  options.compare.contract = CompareOptions::Contract::Torch;
  options.compare.strides = true;
  return options;
}

}  // namespace

ProgramVerdict verdict_of(const Unit& unit, const Recording& recording, const Trace* prologue) {
  ProgramVerdict verdict;
  TraceFile& whole = verdict.file;
  whole.name = unit.id;
  for (const std::string& path : unit.files) {
    if (!path.starts_with("stages/") || !path.ends_with(".txt")) continue;
    if (path.find("-computation-") == std::string::npos || path.find("-cse-") != std::string::npos)
      continue;
    Result<std::string> text = unit.read(path);
    if (!text.has_value()) continue;
    TraceFile stage = parse_trace_file(path, *std::move(text));
    // A region that was compiled on its own is part of a stage, not a stage.
    if (stage.phases.size() != 1 || stage.phases.front().trace.name != "computation") continue;
    whole.phases.push_back(std::move(stage.phases.front()));
    verdict.paths.push_back(path);
  }
  if (whole.phases.empty()) {
    verdict.why_not = "no computation was traced";
    return verdict;
  }
  Result<RunInputs> inputs = inputs_from_recording(recording, whole.phases.front().trace, prologue);
  if (!inputs) {
    verdict.why_not = inputs.error().message;
    return verdict;
  }
  CheckOptions options = options_for(*std::move(inputs));
  options.replay_passes = false;
  verdict.report = tg::check(whole, options);
  return verdict;
}

std::optional<CheckReport> refusal_of(const Unit& unit, const Recording& recording,
                                      const Trace* prologue) {
  const auto path = std::find_if(unit.files.begin(), unit.files.end(), [](const std::string& file) {
    return file.starts_with("stages/01-computation");
  });
  if (path == unit.files.end()) return std::nullopt;
  Result<std::string> text = unit.read(*path);
  if (!text.has_value()) return std::nullopt;
  const TraceFile file = parse_trace_file(*path, *std::move(text));
  if (file.phases.empty()) return std::nullopt;
  Result<RunInputs> inputs = inputs_from_recording(recording, file.phases.front().trace, prologue);
  if (!inputs) return std::nullopt;
  return tg::check(file, options_for(*std::move(inputs)));
}

void check_verdict(const Unit& unit, const Recording& recording, const Trace* prologue,
                   std::string_view text_run, Checks& checks) {
  const Json root = Json::parse(text_run, nullptr, false);
  if (!root.is_object()) return;
  const std::string stage = text_at(root, "first_stage_that_leaves_eager");
  const ProgramVerdict verdict = verdict_of(unit, recording, prologue);
  if (!verdict.why_not.empty()) return checks.not_supported("guilty stage", {}, verdict.why_not);
  if (stage.find("-backward-") != std::string::npos) {
    return checks.not_supported("guilty stage", {}, "a backward text leaves eager first");
  }
  const std::string found = guilty_stage(verdict);
  checks.decide(
      "guilty stage", {},
      found == stage ? "" : fmt::format("'{}' is recorded, check names '{}'", stage, found));
  if (stage.empty() || found != stage) return;
  const std::string expected(before(text_at(root, "pass"), " ("));
  const std::string pass = guilty_pass(verdict.report);
  checks.decide(
      "guilty pass", {},
      pass == expected ? "" : fmt::format("'{}' is recorded, check names '{}'", expected, pass));
}

}  // namespace tg::golden
