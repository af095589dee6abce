// golden/seed: one program per folder with eager truth, the trace, and the stages that two eras
// print.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check/check.h"
#include "core/golden/checks.h"
#include "core/golden/pass_replay.h"
#include "core/golden/stage_run.h"
#include "core/run/recording.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

using Json = nlohmann::json;

// The sharing that storage ids tell must be the sharing that the pairs tell.
std::string contradiction(const RecordedRun& recorded) {
  const RunResult reference = as_run_result(recorded);
  std::vector<const NamedValue*> values;
  for (const NamedValue& value : reference.final_arguments) values.push_back(&value);
  for (const NamedValue& value : reference.outputs) values.push_back(&value);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      const Tensor* a = values[i]->value.as<Tensor>();
      const Tensor* b = values[j]->value.as<Tensor>();
      if (a == nullptr || b == nullptr) continue;
      bool listed = false;
      for (const RecordedPair& pair : recorded.sharing) {
        if (pair.a != values[i]->name || pair.b != values[j]->name) continue;
        listed = pair.offset_bytes == b->offset_bytes() - a->offset_bytes();
      }
      if (listed != a->shares_storage_with(*b)) {
        return fmt::format("the recording contradicts itself on {} and {}", values[i]->name,
                           values[j]->name);
      }
    }
  }
  return {};
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> only(const std::vector<std::string>& all, std::string_view prefix) {
  std::vector<std::string> some;
  for (const std::string& text : all) {
    if (text.starts_with(prefix)) some.push_back(text);
  }
  return some;
}

// result.json's words for what running a stage's text gives.
std::string text_run_words(const Trace& trace, const std::vector<std::string>& all) {
  std::vector<std::string> parts;
  bool outputs = false;
  bool finals = false;
  bool sharing = false;
  for (const std::string& text : all) {
    const bool is_final = text.starts_with("values of final ");
    finals = finals || is_final;
    sharing = sharing || text.starts_with("sharing of ") || text.starts_with("address difference ");
    outputs = outputs || (!is_final && !text.starts_with("sharing of ") &&
                          !text.starts_with("address difference "));
  }
  if (outputs) parts.emplace_back("output values");
  if (finals) parts.emplace_back("final argument values");
  if (sharing) parts.emplace_back("alias partition");
  if (has_statement_after_return(trace)) parts.emplace_back("statements stand after return");
  return parts.empty() ? "equal" : "differs: " + joined(parts);
}

void check_eager(const Unit& unit, const Recording& recording, const TraceFile& file,
                 Checks& checks) {
  constexpr std::string_view kPart = "trace.txt";
  std::string why;
  const Trace* trace = only_trace(file, why);
  if (trace == nullptr) return checks.fail("eager values", kPart, why);
  const StageRun stage = run_stage(*trace, {&recording, nullptr, nullptr, 1});
  if (stage.raised) return checks.fail("eager values", kPart, "raises " + stage.raised->message);
  if (!stage.result) {
    for (const std::string_view kind : {"eager values", "final arguments", "data_ptr"}) {
      checks.not_supported(kind, kPart, stage.not_run);
    }
    return;
  }
  const RecordedRun& eager = recording.runs.at("eager");
  const std::vector<std::string> all = differences(*stage.result, eager, recording);
  std::vector<std::string> finals = only(all, "values of final ");
  std::vector<std::string> sharing = only(all, "sharing of ");
  const std::vector<std::string> offsets = only(all, "address difference ");
  sharing.insert(sharing.end(), offsets.begin(), offsets.end());
  std::vector<std::string> rest;
  for (const std::string& text : all) {
    const bool elsewhere = text.starts_with("values of final ") ||
                           text.starts_with("sharing of ") ||
                           text.starts_with("address difference ");
    if (!elsewhere) rest.push_back(text);
  }
  checks.decide("eager values", kPart, joined(rest));
  checks.decide("final arguments", kPart, joined(finals));
  const std::string wrong = contradiction(eager);
  checks.decide("data_ptr", kPart, wrong.empty() ? joined(sharing) : wrong);
  static_cast<void>(unit);
}

void check_stage(const Recording& recording, const std::string& path, const std::string& text,
                 const std::string& expected, Checks& checks) {
  const TraceFile file = parse_trace_file(path, text);
  std::string why;
  const Trace* trace = only_trace(file, why);
  if (trace == nullptr) return checks.fail("text_run", path, why);
  const StageRun stage = run_stage(*trace, {&recording, nullptr, nullptr, 1});
  if (stage.raised) return checks.fail("text_run", path, "raises " + stage.raised->message);
  if (!stage.result) return checks.not_supported("text_run", path, stage.not_run);
  const std::vector<std::string> all =
      differences(*stage.result, recording.runs.at("eager"), recording);
  const std::string got = text_run_words(*trace, all);
  checks.decide("text_run", path,
                got == expected
                    ? ""
                    : fmt::format("recorded '{}', here '{}' ({})", expected, got, joined(all)));
}

void check_era(const Unit& unit, const Recording& recording, const std::string& era,
               Checks& checks) {
  const std::string result_path = era + "/result.json";
  if (!unit.has(result_path)) return;
  const Result<std::string> result_text = unit.read(result_path);
  const Json result = result_text.has_value() ? Json::parse(*result_text, nullptr, false) : Json();
  if (!result.is_object()) return checks.fail("text_run", result_path, "cannot be read");
  for (const Json& stage : result.value("stages", Json::array())) {
    const std::string path = era + "/" + stage.value("file", std::string());
    const std::string expected = stage.value("text_run", std::string());
    const Result<std::string> text = unit.read(path);
    if (!text.has_value() || expected.empty()) {
      checks.fail("text_run", path, "listed in result.json, but absent");
      continue;
    }
    check_stage(recording, path, *text, expected, checks);
  }
}

// Does Thunder of December 2024 keep the program's meaning? `check` replays its passes on the trace
// and must say what was recorded. "executor: torch (CPU)" are the default executors there.
void check_replay(const Unit& unit, const Recording& recording, const TraceFile& file,
                  Checks& checks) {
  const Result<std::string> text = unit.read("dec2024/result.json");
  const Json root = text.has_value() ? Json::parse(*text, nullptr, false) : Json();
  if (!root.is_object() || file.phases.empty()) return;
  Result<RunInputs> inputs = inputs_from_recording(recording, file.phases.front().trace, nullptr);
  if (!inputs) return checks.not_supported("replay", {}, inputs.error().message);
  CheckOptions options;
  options.given_inputs = *std::move(inputs);
  options.era = Era::Thunder2024;
  options.compare.contract = CompareOptions::Contract::Torch;
  const CheckReport report = tg::check(file, options);
  const bool recorded_same = !root.contains("error") && root.value("values_equal_eager", false) &&
                             root.value("final_inputs_equal_eager", false) &&
                             root.value("alias_partition_equals_eager", false);
  const bool same = report.verdict == VerdictKind::Same && report.phases.size() > 1;
  checks.decide("replay", {},
                same == recorded_same
                    ? ""
                    : fmt::format("recorded {}, check says {}: {}",
                                  recorded_same ? "the same as eager" : "different or raised",
                                  verdict_text(report.verdict), report.headline));
}

}  // namespace

void check_seed(const Unit& unit, Checks& checks) {
  const Result<std::string> json = unit.read("values.json");
  Result<Recording> recording = json.has_value() ? read_recording(unit.id, *json)
                                                 : Result<Recording>(Unexpected{json.error()});
  if (!recording) return checks.fail("values.json", "values.json", recording.error().message);
  for (const std::string& path : unit.files) {
    if (!path.ends_with(".txt")) continue;
    const Result<std::string> text = unit.read(path);
    checks.decide("round trip", path,
                  text.has_value() ? round_trip_fault(path, *text) : text.error().message);
  }
  if (!unit.has("trace.txt")) {
    return checks.not_supported("definition", "fusion.py", "a fusion definition, not a trace");
  }
  const Result<std::string> text = unit.read("trace.txt");
  if (!text.has_value()) return checks.fail("eager values", "trace.txt", text.error().message);
  const TraceFile file = parse_trace_file("trace.txt", *text);
  check_eager(unit, *recording, file, checks);
  for (const char* era : {"dec2024", "jan2026", "audit"}) check_era(unit, *recording, era, checks);
  check_proposed_audit(unit, file, checks);
  check_replay(unit, *recording, file, checks);
}

}  // namespace tg::golden
