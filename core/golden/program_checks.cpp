// Complete programs through the real Thunder (passes-2024-12, passes-2026-01): round trip of every
// stage, and what running each stage's text gives beside the recorded runs.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/golden/checks.h"
#include "core/golden/gradients.h"
#include "core/golden/pass_replay.h"
#include "core/golden/prologue_checks.h"
#include "core/golden/stage_run.h"
#include "core/golden/verdict_checks.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

using Json = nlohmann::json;

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
  std::vector<std::string> all;
  if (stage.has_outputs) all = differences(*stage.result, recorded, recording);
  if (stage.gradients && recorded.gradients.empty()) {
    // The reference was derived and is not recorded: only where it has gradients is known.
    for (const NamedValue& gradient : *stage.gradients) {
      const std::string none = fmt::format("gradient of {}: none here", gradient.name);
      if (gradient.value.as<Tensor>() == nullptr && answer.parts.contains(none))
        all.push_back(none);
    }
  } else if (stage.gradients) {
    for (std::string& part : gradient_differences(*stage.gradients, recorded, recording))
      all.push_back(std::move(part));
  }
  std::set<std::string> expected = answer.parts;
  // Random bits are another version's: only shapes are asked for.
  if (stage.result->used_random)
    std::erase_if(expected, [](const std::string& part) { return part.starts_with("values of "); });
  return difference_text(expected, {all.begin(), all.end()});
}

struct StageText {
  std::string path;
  TraceFile file;
  std::string why;               // why there is no trace
  const Trace* trace = nullptr;  // within `file`
  std::optional<ForwardReturn> forward;
};

struct ProgramRecording {
  Recording recording;
  std::optional<TraceFile> prologue;
  std::optional<TraceFile> epilogue;
  std::uint32_t calls = 1;
  Loss loss = Loss::Sum;
  std::vector<std::unique_ptr<StageText>> stages;  // in file order

  [[nodiscard]] StageContext context() const {
    const auto trace = [](const std::optional<TraceFile>& file) {
      return file && !file->phases.empty() ? &file->phases.front().trace : nullptr;
    };
    return {&recording, trace(prologue), trace(epilogue), calls, loss};
  }
};

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

// The stages of the same variant, nearest after `path` first, then those before it, nearest first.
std::vector<const StageText*> neighbours(const ProgramRecording& program, std::string_view path) {
  std::vector<const StageText*> after;
  std::vector<const StageText*> before;
  for (const std::unique_ptr<StageText>& stage : program.stages) {
    if (stage->trace == nullptr || folder_of(stage->path) != folder_of(path)) continue;
    (stage->path >= path ? after : before).push_back(stage.get());
  }
  after.insert(after.end(), before.rbegin(), before.rend());
  return after;
}

// A backward text runs after the forward text that saves for it; of several, the last.
StageRun run_after_forward(const Trace& trace, std::string_view path,
                           const ProgramRecording& program) {
  std::vector<const StageText*> all = neighbours(program, path);
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->path > b->path; });
  for (const StageText* stage : all) {
    if (stage->forward && saves_for(*stage->forward, trace))
      return run_backward(trace, *stage->trace, *stage->forward, program.context());
  }
  StageRun none;
  none.not_run = "no forward text saves what this backward text unpacks";
  return none;
}

StageRun run_whole(const Trace& trace, std::string_view path, const ProgramRecording& program) {
  if (trace.name == "backward_fn") return run_after_forward(trace, path, program);
  return run_stage(trace, program.context());
}

// The body of a region runs inside the whole text that calls it.
StageRun run_text(const Trace& trace, std::string_view path, const ProgramRecording& program) {
  if (trace.name != "to_be_compiled") return run_whole(trace, path, program);
  const std::vector<const StageText*> all = neighbours(program, path);
  // Passes over the body rename what it returns; its first text still has the names of the call.
  std::vector<const Trace*> forms{&trace};
  for (const StageText* stage : all) {
    const bool earlier = stage->path < path && stage->trace->name == "to_be_compiled";
    if (earlier && stage->trace->parameters == trace.parameters) forms.push_back(stage->trace);
  }
  for (const bool by_name : {true, false}) {
    for (const Trace* form : forms) {
      for (const StageText* stage : all) {
        const std::optional<Trace> host = host_with_body(*stage->trace, trace, *form, by_name);
        if (host) return run_whole(*host, stage->path, program);
      }
    }
  }
  StageRun none;
  none.not_run = "no text calls this region";
  return none;
}

std::optional<TraceFile> first_stage(const Unit& unit, std::string_view prefix) {
  for (const std::string& path : unit.files) {
    if (!path.starts_with(prefix)) continue;
    Result<std::string> text = unit.read(path);
    if (text.has_value()) return parse_trace_file(path, *std::move(text));
  }
  return std::nullopt;
}

void check_stage(const ProgramRecording& program, const std::string& path, const Json& facts,
                 const std::string& block, Checks& checks) {
  const auto found = std::find_if(program.stages.begin(), program.stages.end(),
                                  [&path](const auto& stage) { return stage->path == path; });
  if (found == program.stages.end()) return checks.fail("text_run", path, "there is no such file");
  const Trace* trace = (*found)->trace;
  if (trace == nullptr) return checks.fail("text_run", path, (*found)->why);
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
  const StageRun stage = run_text(*trace, path, program);
  if (!stage.has_outputs) {
    // Nothing to hold gradients against is no agreement.
    std::erase_if(sides, [&](const Side& side) {
      return side.answer.parts.empty() && program.recording.runs.at(side.name).gradients.empty();
    });
    if (sides.empty())
      return checks.not_supported("text_run", path, "no gradients are recorded to compare with");
  }
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

void check_program(const Unit& unit, Loss loss, Checks& checks) {
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
  program.loss = loss;
  for (const std::string& path : unit.files) {
    if (!path.ends_with(".txt")) continue;
    Result<std::string> text = unit.read(path);
    if (!text.has_value()) continue;
    auto stage = std::make_unique<StageText>();
    stage->path = path;
    stage->file = parse_trace_file(path, *std::move(text));
    stage->trace = only_trace(stage->file, stage->why);
    if (stage->trace != nullptr) stage->forward = forward_return(*stage->trace);
    program.stages.push_back(std::move(stage));
  }
  const auto computation =
      std::find_if(program.stages.begin(), program.stages.end(), [](const auto& stage) {
        return stage->trace != nullptr && stage->path.starts_with("stages/01-computation");
      });
  for (const std::unique_ptr<StageText>& stage : program.stages) {
    if (stage->trace == nullptr || computation == program.stages.end()) continue;
    if (stage->path.find("-prologue-") == std::string::npos) continue;
    check_prologue(*stage->trace, *(*computation)->trace, program.recording, stage->path, checks);
  }
  for (const auto& [path, facts] : root["stages"].items()) {
    check_stage(program, path, facts, block_of(path), checks);
  }
  if (loss == Loss::Sum) {
    check_verdict(unit, program.recording, program.context().prologue, *text_run, checks);
  }
}

}  // namespace

void check_passes_2024(const Unit& unit, Checks& checks) {
  check_program(unit, Loss::Sum, checks);
  replay_calls(unit, checks);
}

void check_passes_2026(const Unit& unit, Checks& checks) {
  check_program(unit, Loss::Graded, checks);
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
