// golden/ops: one operator call a line, with the exact result of PyTorch or of Thunder's executed
// statement.
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/golden/checks.h"
#include "core/golden/stage_run.h"
#include "core/run/compare.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

using Json = nlohmann::json;

// "exact", "ulp:2", "rel:1e-5,abs:1e-6"
Tolerance tolerance_of(const std::string& exactness) {
  Tolerance tolerance;
  const auto number = [&](std::string_view key) {
    const std::size_t at = exactness.find(key);
    return at == std::string::npos ? 0.0
                                   : std::strtod(exactness.c_str() + at + key.size(), nullptr);
  };
  if (exactness.starts_with("ulp:")) tolerance.ulp = static_cast<std::uint64_t>(number("ulp:"));
  tolerance.relative = number("rel:");
  tolerance.absolute = number("abs:");
  return tolerance;
}

// A program of one statement: its parameters are the inputs of the call, in their order.
Trace program_of(const Recording& recording, BoundSymbol statement) {
  Trace trace;
  trace.name = "computation";
  for (const RecordedValue& input : recording.inputs)
    trace.parameters.push_back({"", input.name, Value::absent()});
  statement.output = Value::name("result");
  trace.bound_symbols.push_back(std::make_shared<const BoundSymbol>(std::move(statement)));
  BoundSymbol last;
  last.kind = StatementKind::Return;
  last.args = {Value::name("result")};
  trace.bound_symbols.push_back(std::make_shared<const BoundSymbol>(std::move(last)));
  return trace;
}

// What the lines of an execution trace say: one expression, or statements and a return.
std::optional<Trace> executed_program(const Recording& recording, const Json& lines) {
  std::string text = "import torch\n\n@torch.no_grad()\n@no_autocast\ndef computation(";
  for (const RecordedValue& input : recording.inputs)
    text += std::string(text.back() == '(' ? "" : ", ") + input.name;
  text += "):\n";
  const bool expression = lines.size() == 1;
  for (const Json& line : lines) {
    if (!line.is_string()) return std::nullopt;
    text += (expression ? "  result = " : "  ") + line.get<std::string>() + "\n";
  }
  if (expression) text += "  return result\n";
  TraceFile file = parse_trace_file("executed", std::move(text));
  if (file.phases.size() != 1) return std::nullopt;
  return std::move(file.phases.front().trace);
}

// Empty: the run gives what is recorded.
std::string result_fault(const StageRun& stage, const Recording& recording) {
  const RecordedRun& recorded = recording.runs.at("eager");
  CompareOptions options;
  options.tolerance = tolerance_of(recording.exactness);
  options.contract = CompareOptions::Contract::Torch;
  options.strides = true;
  const Comparison comparison = compare_with_recording(*stage.result, recorded, recording, options);
  std::string fault;
  for (const Difference& difference : comparison.differences) {
    if (!difference.accepted) fault += (fault.empty() ? "" : "; ") + difference.message;
  }
  return fault;
}

// Python prints complex numbers as (1+2j), traces as complex(1.0, 2.0).
std::string with_complex_calls(const std::string& call) {
  std::string text;
  std::size_t at = 0;
  while (at < call.size()) {
    const std::size_t open = call.find('(', at);
    const std::size_t close = open == std::string::npos ? open : call.find("j)", open);
    if (close == std::string::npos) break;
    const std::string_view inside(call.data() + open + 1, close - open - 1);
    const std::size_t sign = inside.find_last_of("+-");
    if (sign == 0 || sign == std::string_view::npos ||
        inside.find_first_not_of("0123456789.+-") != std::string_view::npos) {
      text += call.substr(at, open + 1 - at);
      at = open + 1;
      continue;
    }
    text += call.substr(at, open - at);
    text += fmt::format("complex({}, {})", inside.substr(0, sign), inside.substr(sign));
    at = close + 2;
  }
  return text + call.substr(at);
}

struct CallFacts {
  bool refused_while_tracing = false;
  Json executed;  // lines; null when they are the call itself
};

void check_executed(const std::string& part, const Recording& recording, const Json& lines,
                    Checks& checks) {
  const std::string kind = "executed " + recording.call.substr(0, recording.call.find('('));
  const std::optional<Trace> trace = executed_program(recording, lines);
  if (!trace) return checks.not_supported(kind, part, "its statements are not read");
  const StageRun stage = run_stage(*trace, {&recording, nullptr, nullptr, 1});
  if (stage.raised)
    return checks.fail(kind, part,
                       fmt::format("raises {}: {}", stage.raised->type, stage.raised->message));
  if (!stage.result) return checks.not_supported(kind, part, stage.not_run);
  const std::string fault = result_fault(stage, recording);
  checks.decide(kind, part, fault.empty() ? "" : fmt::format("{} -> {}", lines.dump(), fault));
}

void check_call(const std::string& part, const Recording& recording, const CallFacts& facts,
                Checks& checks) {
  const RecordedRun& recorded = recording.runs.at("eager");
  const std::string kind = "calls " + recording.call.substr(0, recording.call.find('('));
  if (!recorded.error && facts.executed.is_array())
    check_executed(part, recording, facts.executed, checks);
  Result<BoundSymbol> statement = parse_statement(with_complex_calls(recording.call));
  if (!statement) return checks.fail(kind, part, fmt::format("'{}' is not read", recording.call));
  const Trace trace = program_of(recording, *std::move(statement));
  StageRun stage = run_stage(trace, {&recording, nullptr, nullptr, 1});
  // A run that returns None has no outputs; the recording lists it.
  const bool none = recorded.outputs.size() == 1 && !recorded.outputs.front().tensor &&
                    recorded.outputs.front().number &&
                    recorded.outputs.front().number->as<NoneValue>() != nullptr;
  if (none && stage.result && stage.result->outputs.empty() &&
      stage.result->returned.as<NoneValue>() != nullptr) {
    stage.result->outputs.push_back({"out[0]", {}});
  }
  if (recorded.error) {
    if (stage.raised && stage.raised->type == recorded.error->first) return checks.pass(kind, part);
    if (facts.refused_while_tracing) {
      return checks.not_supported(kind, part,
                                  "Thunder refuses it while tracing, so no trace has it");
    }
    if (stage.raised) {
      return checks.fail(
          kind, part,
          fmt::format("raises {} instead of {}", stage.raised->type, recorded.error->first));
    }
    if (!stage.result) return checks.not_supported(kind, part, stage.not_run);
    return checks.fail(kind, part, fmt::format("recorded to raise {}", recorded.error->first));
  }
  if (stage.raised) {
    // ltorch.exp_ of an integer tensor: a program's own exp_ raises in PyTorch, and this program
    // says what PyTorch does. What Thunder executes instead is checked above.
    if (facts.executed.is_array()) {
      return checks.not_supported(kind, part,
                                  "PyTorch refuses this call; Thunder's statements for it do not");
    }
    return checks.fail(kind, part,
                       fmt::format("raises {}: {}", stage.raised->type, stage.raised->message));
  }
  if (!stage.result) return checks.not_supported(kind, part, stage.not_run);
  const std::string fault = result_fault(stage, recording);
  checks.decide(kind, part, fault.empty() ? "" : fmt::format("{} -> {}", recording.call, fault));
}

CallFacts facts_of(std::string_view line) {
  CallFacts facts;
  Json root = Json::parse(line, nullptr, false);
  if (!root.is_object()) return facts;
  if (root.contains("error") && root["error"].is_object())
    facts.refused_while_tracing = root["error"].value("stage", std::string()) == "trace";
  if (root.contains("exec") && root["exec"].is_array() && !root["exec"].empty())
    facts.executed = std::move(root["exec"]);
  return facts;
}

}  // namespace

void check_calls(const Unit& unit, bool run_them, Checks& checks) {
  const Result<std::string> text = unit.read(unit.files.front());
  if (!text.has_value()) return checks.fail("calls", {}, text.error().message);
  std::size_t number = 0;
  for (const std::string_view line : split_lines(*text)) {
    if (line.empty()) continue;
    const std::string part = std::to_string(++number);
    Result<Recording> recording = read_recording(fmt::format("{}:{}", unit.id, number), line);
    if (!recording) {
      checks.fail("calls", part, recording.error().message);
    } else if (run_them) {
      check_call(part, *recording, facts_of(line), checks);
    } else {
      checks.not_supported("calls", part, "operator calls run with --calls only");
    }
  }
}

}  // namespace tg::golden
