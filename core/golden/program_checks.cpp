// Complete programs through the real Thunder (passes-2024-12, passes-2026-01): round trip of every
// stage, and what running each stage's text gives beside the recorded runs.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/golden/checks.h"
#include "core/golden/pass_replay.h"
#include "core/golden/stage_run.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

using Json = nlohmann::json;

// A computation stage runs alone; a backward stage needs saved tensors and cotangents, a region its
// host.
std::string not_alone(const Trace& trace, const std::string& path) {
  if (path.find("-backward-") != std::string::npos || trace.name == "backward_fn") {
    return "a backward trace: needs saved tensors and cotangents";
  }
  if (trace.name == "to_be_compiled") return "the body of a region, not a program";
  return {};
}

std::uint32_t number_of_calls(const Unit& unit) {
  const Result<std::string> program = unit.read("program.py");
  if (!program.has_value()) return 1;
  constexpr std::string_view kCalls = "\nCALLS = ";
  const std::size_t at = program->find(kCalls);
  if (at == std::string::npos) return 1;
  const int count = std::atoi(program->c_str() + at + kCalls.size());
  return static_cast<std::uint32_t>(std::clamp(count, 1, 100));
}

// text_run.json's answer about one block; empty optional: nothing to compare with.
struct Answer {
  bool known = false;
  bool raises = false;  // "both raise TYPE": running the text raises TYPE
  std::string type;
  std::string undefined;        // a name that the text reads and nothing defines
  std::set<std::string> parts;  // empty: equal
};

// "the text reads t206, which nothing defines", "the region returns t22, which nothing in it
// defines", "raises NameError: name 't33' is not defined"
std::string undefined_in(const std::string& text) {
  for (const std::string_view prefix :
       {"the text reads ", "the region returns ", "raises NameError: name '"}) {
    if (text.starts_with(prefix)) {
      return text.substr(prefix.size(), text.find_first_of(",'", prefix.size()) - prefix.size());
    }
  }
  return {};
}

Answer answer_of(const Json& node) {
  Answer answer;
  if (node.is_array()) {
    answer.known = true;
    for (const Json& part : node) {
      const std::string text = part.is_string() ? part.get<std::string>() : std::string();
      // The text of an error is cut in the recording; its presence is what counts here.
      if (std::string name = undefined_in(text); !name.empty()) {
        answer.undefined = std::move(name);
      } else if (text.starts_with("raises ")) {
        answer.raises = true;
        answer.type = text.substr(7, text.find(':') - 7);
      } else {
        answer.parts.insert(text);
      }
    }
    return answer;
  }
  const std::string text = node.is_string() ? node.get<std::string>() : std::string();
  constexpr std::string_view kBoth = "both raise ";
  if (text == "equal") answer.known = true;
  if (text.starts_with(kBoth)) {
    answer.known = true;
    answer.raises = true;
    answer.type = text.substr(kBoth.size());
  }
  return answer;
}

std::string difference_text(const std::set<std::string>& expected,
                            const std::set<std::string>& got) {
  std::string text;
  for (const std::string& part : expected) {
    if (!got.contains(part)) text += fmt::format("{}missing '{}'", text.empty() ? "" : "; ", part);
  }
  for (const std::string& part : got) {
    if (!expected.contains(part))
      text += fmt::format("{}unexpected '{}'", text.empty() ? "" : "; ", part);
  }
  return text;
}

std::string fault(const Answer& answer, const StageRun& stage, const RecordedRun& recorded,
                  const Recording& recording) {
  if (stage.raised) {
    if (answer.raises && answer.type == stage.raised->type) return {};
    return fmt::format("raises {}: {}", stage.raised->type, stage.raised->message);
  }
  if (!stage.undefined.empty() || !answer.undefined.empty()) {
    if (stage.undefined == answer.undefined) return {};
    return fmt::format("'{}' is undefined here, recorded '{}'", stage.undefined, answer.undefined);
  }
  if (answer.raises) return fmt::format("recorded to raise {}, here it runs", answer.type);
  const std::vector<std::string> all = differences(*stage.result, recorded, recording);
  std::set<std::string> expected = answer.parts;
  // Random bits are another version's: only shapes are asked for.
  if (stage.result->used_random)
    std::erase_if(expected, [](const std::string& part) { return part.starts_with("values of "); });
  return difference_text(expected, {all.begin(), all.end()});
}

struct ProgramRecording {
  Recording recording;
  std::optional<TraceFile> prologue;
  std::optional<TraceFile> epilogue;
  std::uint32_t calls = 1;

  [[nodiscard]] StageContext context() const {
    const auto trace = [](const std::optional<TraceFile>& file) {
      return file && !file->phases.empty() ? &file->phases.front().trace : nullptr;
    };
    return {&recording, trace(prologue), trace(epilogue), calls};
  }
};

std::optional<TraceFile> first_stage(const Unit& unit, std::string_view prefix) {
  for (const std::string& path : unit.files) {
    if (!path.starts_with(prefix)) continue;
    Result<std::string> text = unit.read(path);
    if (text.has_value()) return parse_trace_file(path, *std::move(text));
  }
  return std::nullopt;
}

void check_stage(const Unit& unit, const ProgramRecording& program, const std::string& path,
                 const Json& facts, const std::string& block, Checks& checks) {
  const Result<std::string> text = unit.read(path);
  if (!text.has_value()) return checks.fail("text_run", path, text.error().message);
  const TraceFile file = parse_trace_file(path, *text);
  std::string why;
  const Trace* trace = only_trace(file, why);
  if (trace == nullptr) return checks.fail("text_run", path, why);
  if (const std::string reason = not_alone(*trace, path); !reason.empty()) {
    return checks.not_supported("text_run", path, reason);
  }
  struct Side {
    std::string name;
    Answer answer;
  };
  std::vector<Side> sides;
  const auto add = [&](const char* key, const std::string& run) {
    const Json answer = facts.contains(key) ? facts[key] : Json();
    Side side{run, answer_of(answer)};
    const auto recorded = program.recording.runs.find(run);
    if (side.answer.known && recorded != program.recording.runs.end())
      sides.push_back(std::move(side));
  };
  add("eager", "eager");
  add("thunder", block);
  if (sides.empty())
    return checks.not_supported("text_run", path, "neither side has outputs to compare with");
  const StageRun stage = run_stage(*trace, program.context());
  const bool asked_for =
      !stage.undefined.empty() && std::any_of(sides.begin(), sides.end(), [&](const Side& side) {
        return side.answer.undefined == stage.undefined;
      });
  if (!stage.not_run.empty() && !asked_for)
    return checks.not_supported("text_run", path, stage.not_run);
  std::string faults;
  for (const Side& side : sides) {
    const std::string wrong =
        fault(side.answer, stage, program.recording.runs.at(side.name), program.recording);
    if (!wrong.empty())
      faults += fmt::format("{}{}: {}", faults.empty() ? "" : " | ", side.name, wrong);
  }
  checks.decide("text_run", path, faults);
}

std::string block_of(const std::string& path) {
  if (path.starts_with("stages-torch-executor/")) return "thunder_torch_executor";
  if (path.starts_with("stages-noinplace/")) return "thunder_noinplace";
  return "thunder";
}

void check_program(const Unit& unit, Checks& checks) {
  for (const std::string& path : unit.files) {
    if (!path.ends_with(".txt")) continue;
    const Result<std::string> text = unit.read(path);
    checks.decide("round trip", path,
                  text.has_value() ? round_trip_fault(path, *text) : text.error().message);
  }
  const Result<std::string> json = unit.read("values.json");
  Result<Recording> recording = json.has_value() ? read_recording(unit.id, *json)
                                                 : Result<Recording>(Unexpected{json.error()});
  if (!recording) return checks.fail("values.json", "values.json", recording.error().message);

  const Result<std::string> text_run = unit.read("text_run.json");
  if (!text_run.has_value()) return;
  const Json root = Json::parse(*text_run, nullptr, false);
  if (!root.is_object() || !root.contains("stages")) {
    return checks.fail("text_run", "text_run.json", "cannot be read");
  }
  ProgramRecording program;
  program.recording = *std::move(recording);
  program.prologue = first_stage(unit, "stages/00-prologue");
  program.epilogue = first_stage(unit, "stages/02-epilogue");
  program.calls = number_of_calls(unit);
  for (const auto& [path, facts] : root["stages"].items()) {
    check_stage(unit, program, path, facts, block_of(path), checks);
  }
}

}  // namespace

void check_passes_2024(const Unit& unit, Checks& checks) {
  check_program(unit, checks);
  replay_calls(unit, checks);
}

void check_passes_2026(const Unit& unit, Checks& checks) {
  check_program(unit, checks);
  const Result<std::string> index = unit.read("index.json");
  const Json root = index.has_value() ? Json::parse(*index, nullptr, false) : Json();
  if (!root.is_object() || !root.contains("events"))
    return checks.fail("calls", "index.json", "cannot be read");
  for (const Json& event : root["events"]) {
    checks.not_supported(
        "calls",
        fmt::format("event {} {}", event.value("n", 0), event.value("pass", std::string())),
        "passes of January 2026 are not replayed");
  }
}

}  // namespace tg::golden
