#include "core/golden/program_story.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/golden/checks.h"
#include "core/golden/golden.h"
#include "core/golden/stage_run.h"
#include "core/golden/verdict_checks.h"
#include "core/pass/pass.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

using Json = nlohmann::json;

// The line of a table ends a cell at a bar and a row at a line break.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : one_line_of(text)) {
    if (c == '|') out += '\\';
    out += c;
  }
  constexpr std::size_t kMost = 220;
  if (out.size() > kMost) out = out.substr(0, out.rfind(' ', kMost)) + " ...";
  return out;
}

std::string thunder_pass(std::string_view name) {
  const PassInfo* pass = find_pass(name);
  return pass != nullptr && !pass->thunder.empty() ? std::string(pass->thunder) : std::string(name);
}

std::string witness_of(const CheckReport& report) {
  if (report.witnesses.empty()) return {};
  const Difference& difference = report.witnesses.front().difference;
  if (difference.left.empty() || difference.index.empty()) return difference.message;
  return fmt::format("`{}[{}]` eager {}, program {}", difference.subject,
                     fmt::join(difference.index, ", "), difference.left, difference.right);
}

std::string repairs_of(const CheckReport& report) {
  std::string out;
  for (const Repair& repair : report.repairs) {
    if (repair.helps) out += fmt::format("{}{}", out.empty() ? "" : "; ", repair.what);
  }
  return out.empty() ? "none of those tried" : out;
}

void tell_difference(const CheckReport& report, ProgramStory& story) {
  story.witness = witness_of(report);
  story.repair = repairs_of(report);
  if (!report.explanation) return;
  const Explanation& why = *report.explanation;
  story.pass = why.pass.empty() && why.rule == "reordered" ? "torchcompile_cat.fusion_pass"
                                                           : thunder_pass(why.pass);
  story.rule = why.step == 0 ? fmt::format("{}: {}", why.rule, why.reason)
                             : fmt::format("step {} of {}, {}: {}", why.step, why.step_count,
                                           why.rule, why.reason);
}

const Trace* first_trace(const std::optional<TraceFile>& file) {
  return file && !file->phases.empty() ? &file->phases.front().trace : nullptr;
}

std::optional<TraceFile> first_file(const Unit& unit, std::string_view prefix) {
  for (const std::string& path : unit.files) {
    if (!path.starts_with(prefix)) continue;
    Result<std::string> text = unit.read(path);
    if (text.has_value()) return parse_trace_file(path, *std::move(text));
  }
  return std::nullopt;
}

// Whether the program as it was traced, run statement by statement, is eager's program.
std::string runs_as_traced(const Unit& unit, const Recording& recording, const Trace* prologue) {
  const std::optional<TraceFile> traced = first_file(unit, "stages/01-computation");
  const std::optional<TraceFile> epilogue = first_file(unit, "stages/02-epilogue");
  const auto eager = recording.runs.find("eager");
  if (first_trace(traced) == nullptr || eager == recording.runs.end()) return {};
  const StageRun run =
      run_stage(*first_trace(traced), {&recording, prologue, first_trace(epilogue), 1, Loss::Sum});
  if (run.raised) return fmt::format("no: eager raises {} too", run.raised->type);
  if (!run.result) return fmt::format("not established: {}", run.not_run);
  if (!differences(*run.result, eager->second, recording).empty())
    return "no: the traced program is not eager's";
  return "yes: the trace gives eager's result when its statements run in order, without "
         "functionalization";
}

void tell_refusal(const Unit& unit, const Recording& recording, const Trace* prologue,
                  const Json& verdict, ProgramStory& story) {
  const Json error = verdict.value("thunder_error", Json::object());
  story.witness = fmt::format("{}: {}", error.value("type", std::string()),
                              error.value("message", std::string()));
  const std::optional<CheckReport> report = refusal_of(unit, recording, prologue);
  if (!report) {
    story.pass = "thunder_general_jit";
    story.rule = "tracing itself raised: there is no trace";
    return;
  }
  if (report->refusal) {
    const PassRefusal& refusal = *report->refusal;
    story.pass = thunder_pass(refusal.pass);
    if (refusal.at.line != 0)
      story.rule = fmt::format("line {} of the traced program", refusal.at.line);
    story.witness = fmt::format("{}: {}", refusal.error.type, refusal.error.message);
  }
  if (!report->refusal && !report->phases.empty()) story.rule = report->phases.front().why_not;
  story.repair = fmt::format("sound? {}", runs_as_traced(unit, recording, prologue));
}

}  // namespace

std::optional<ProgramStory> story_of(const Unit& unit) {
  const Result<std::string> json = unit.read("values.json");
  if (!json.has_value()) return std::nullopt;
  const Json root = Json::parse(*json, nullptr, false);
  const Result<Recording> recording = read_recording(unit.id, *json);
  if (!root.is_object() || !recording) return std::nullopt;
  const Json verdict = root.value("verdict", Json::object());
  const std::string kind = verdict.value("kind", std::string());
  const bool differs = kind == "differs";
  if (!differs && kind != "thunder raised" && kind != "thunder hangs" && kind != "both raised")
    return std::nullopt;
  ProgramStory story;
  story.id = unit.id;
  story.idea = root.value("idea", std::string());
  story.outcome = verdict.value("short", std::string());
  const std::optional<TraceFile> prologue = first_file(unit, "stages/00-prologue");
  const ProgramVerdict found = verdict_of(unit, *recording, first_trace(prologue));
  if (found.why_not.empty() && found.report.verdict == VerdictKind::Different) {
    tell_difference(found.report, story);
    if (!differs) story.outcome += ", and its last texts differ";
  } else if (!differs) {
    tell_refusal(unit, *recording, first_trace(prologue), verdict, story);
  }
  return story;
}

std::string stories_page(const std::vector<ProgramStory>& stories) {
  std::string out =
      "# Thunder of December 2024: programs that do not give eager's result\n\n"
      "Made by `./dev golden --stories tests/recordings/passes-2024-12.tar.zst`; do not edit. The\n"
      "programs and their outcomes are recordings of lightning-thunder 673bdb908 with its default\n"
      "executors. Pass, rule, witness and repair are what `thunderglass check` finds on the "
      "recorded\n"
      "stages and inputs (`args[i]` are the caller's arguments). A repair was tried: it gives\n"
      "eager's values, final arguments and aliases.\n\n"
      "| program | idea | outcome | pass | rule | witness | what would repair it |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const ProgramStory& story : stories) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", cell(story.id), cell(story.idea),
                       cell(story.outcome), cell(story.pass), cell(story.rule), cell(story.witness),
                       cell(story.repair));
  }
  return out;
}

}  // namespace tg::golden

namespace tg {

Result<std::string> tell_stories(const std::string& path) {
  Result<std::vector<golden::Unit>> units = golden::find_recordings(path);
  if (!units) return Unexpected{units.error()};
  std::vector<golden::ProgramStory> stories;
  for (const golden::Unit& unit : *units) {
    if (unit.kind != golden::SuiteKind::Passes2024) continue;
    if (std::optional<golden::ProgramStory> story = golden::story_of(unit))
      stories.push_back(*std::move(story));
  }
  return golden::stories_page(stories);
}

}  // namespace tg
