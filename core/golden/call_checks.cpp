// golden/ops: one operator call a line, with the exact result of PyTorch or of Thunder's executed
// statement.
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/golden/checks.h"
#include "core/golden/stage_run.h"
#include "core/run/compare.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

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

std::string error_fault(const RecordedRun& recorded, const StageRun& stage) {
  if (!recorded.error)
    return fmt::format("raises {}: {}", stage.raised->type, stage.raised->message);
  if (recorded.error->first == stage.raised->type) return {};
  return fmt::format("raises {} instead of {}", stage.raised->type, recorded.error->first);
}

void check_call(const std::string& part, const Recording& recording, Checks& checks) {
  const RecordedRun& recorded = recording.runs.at("eager");
  const std::string kind = "calls " + recording.call.substr(0, recording.call.find('('));
  Result<BoundSymbol> statement = parse_statement(recording.call);
  if (!statement) return checks.fail(kind, part, fmt::format("'{}' is not read", recording.call));
  const Trace trace = program_of(recording, *std::move(statement));
  const StageRun stage = run_stage(trace, {&recording, nullptr, nullptr, 1});
  if (stage.raised) return checks.decide(kind, part, error_fault(recorded, stage));
  if (!stage.result) return checks.not_supported(kind, part, stage.not_run);
  if (recorded.error)
    return checks.fail(kind, part, fmt::format("recorded to raise {}", recorded.error->first));
  CompareOptions options;
  options.tolerance = tolerance_of(recording.exactness);
  options.contract = CompareOptions::Contract::Torch;
  options.strides = true;
  const Comparison comparison = compare_with_recording(*stage.result, recorded, recording, options);
  std::string fault;
  for (const Difference& difference : comparison.differences) {
    if (!difference.accepted) fault += (fault.empty() ? "" : "; ") + difference.message;
  }
  checks.decide(kind, part, fault.empty() ? "" : fmt::format("{} -> {}", recording.call, fault));
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
      check_call(part, *recording, checks);
    } else {
      checks.not_supported("calls", part, "operator calls run with --calls only");
    }
  }
}

}  // namespace tg::golden
