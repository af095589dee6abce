// run: outputs, final arguments and who shares storage with whom.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/program_view.h"
#include "app/run_options.h"
#include "app/session.h"
#include "app/value_text.h"
#include "core/base/text.h"
#include "core/export/json.h"
#include "core/run/compare_values.h"
#include "core/text/printer.h"

namespace tg {
namespace {

// What the observer saw: summaries, and values that disagree with the text.
struct RunLog {
  std::vector<std::array<std::string, 3>> summaries;  // line, statement, value
  std::vector<std::string> disagreements;             // numbers that were others at trace time
  std::vector<std::string> wrong_types;               // tensors that are not what the text says
};

RunObserver observer_of(const Trace& trace, const std::vector<std::uint32_t>& numbers,
                        bool summaries, RunLog& log) {
  RunObserver observer;
  observer.after = [&trace, &numbers, summaries, &log](std::uint32_t index,
                                                       const Environment& environment) {
    const BoundSymbol& statement = *trace.bound_symbols[index];
    const std::string line = numbers[index] == 0 ? "" : std::to_string(numbers[index]);
    if (statement.type != nullptr && statement.output.is_name()) {
      const RuntimeValue* value = environment.find(statement.output.text);
      const std::string wrong = value == nullptr ? "" : disagreement(*value, *statement.type);
      if (!wrong.empty()) {
        auto& list = value->as<Tensor>() == nullptr ? log.disagreements : log.wrong_types;
        list.push_back(fmt::format("{}{} is {}", line.empty() ? "" : "line " + line + ": ",
                                   statement.output.text, wrong));
      }
    }
    if (!summaries || statement.kind != StatementKind::Call) return Continue::Go;
    std::string text;
    for (const std::string_view name : output_names(statement)) {
      const RuntimeValue* value = environment.find(name);
      if (value != nullptr)
        text += fmt::format("{}{}", text.empty() ? "" : "; ", summary_text(*value));
    }
    if (text.empty()) {
      // A statement without result writes something: show what it wrote.
      for (const std::string_view name : argument_names(statement)) {
        const RuntimeValue* value = environment.find(name);
        if (value == nullptr || value->as<Tensor>() == nullptr) continue;
        text = fmt::format("{} = {}", name, summary_text(*value));
        if (statement.op_info().mutated_param <= 0) break;
      }
    }
    log.summaries.push_back({line, one_line(statement), text});
    return Continue::Go;
  };
  return observer;
}

bool same_bytes(const RuntimeValue& a, const RuntimeValue& b) {
  const Tensor* left = a.as<Tensor>();
  const Tensor* right = b.as<Tensor>();
  if (left == nullptr || right == nullptr) return value_text(a) == value_text(b);
  return left->storage != nullptr && right->storage != nullptr &&
         left->storage->bytes == right->storage->bytes;
}

const RuntimeValue* find_value(const std::vector<NamedValue>& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const NamedValue& value) { return value.name == name; });
  return found == values.end() ? nullptr : &found->value;
}

std::string alias_table(const RunResult& result, const Paint& paint) {
  const AliasPartition partition = alias_partition(result);
  std::map<std::uint32_t, std::vector<const AliasPartition::Member*>> groups;
  for (const auto& member : partition.members) groups[member.storage].push_back(&member);
  Table table({"storage", "who", "offset", "shape", "strides"},
              {Table::Align::Left, Table::Align::Left, Table::Align::Right});
  for (const auto& [storage, members] : groups) {
    if (members.size() < 2) continue;
    bool first = true;
    for (const auto* member : members) {
      table.add({first ? fmt::format("S{}", storage) : "", member->name,
                 fmt::format("+{} B", member->offset_bytes),
                 fmt::format("{}[{}]", short_name(member->dtype),
                             fmt::join(member->geometry.sizes, ", ")),
                 python_tuple(member->geometry.strides)});
      first = false;
    }
  }
  return table.empty() ? "aliases: none, every argument and output has a storage of its own\n"
                       : "aliases\n" + table.text(paint, 2);
}

std::string run_text(const RunInputs& inputs, const RunResult& result, const RunLog& log,
                     const Target& target, const Paint& paint) {
  std::string out = fmt::format(
      "{} {}: {} on cpu, seed {}\n", paint(Role::Good, "ran"), target.label(),
      count_of(count_phase(target.trace()).statements, "statement", "statements"), inputs.seed);
  if (!log.summaries.empty()) {
    Table table({}, {Table::Align::Right});
    for (const auto& [line, text, value] : log.summaries) {
      constexpr std::size_t kLongest = 60;
      table.add(
          {line, text.size() > kLongest ? text.substr(0, kLongest - 3) + "..." : text, value});
    }
    out += "statements\n" + table.text(paint, 2);
  }
  Table outputs;
  for (const NamedValue& output : result.outputs) {
    outputs.add({output.name, kind_text(output.value), elements_text(output.value)});
  }
  out += outputs.empty() ? "outputs: none\n" : "outputs\n" + outputs.text(paint, 2);
  Table arguments;
  for (const NamedValue& argument : result.final_arguments) {
    const RuntimeValue* before = find_value(inputs.arguments, argument.name);
    const bool written = before != nullptr && !same_bytes(*before, argument.value);
    arguments.add({argument.name, kind_text(argument.value), elements_text(argument.value),
                   written ? paint(Role::Write, "written") + ", was " + elements_text(*before)
                           : "unchanged"});
  }
  if (!arguments.empty()) out += "final arguments\n" + arguments.text(paint, 2);
  out += alias_table(result, paint);
  return out;
}

Json value_json(const RuntimeValue& value) {
  const Tensor* tensor = value.as<Tensor>();
  Json json;
  if (tensor == nullptr) {
    json["value"] = value_text(value);
    return json;
  }
  json["dtype"] = short_name(tensor->dtype);
  json["shape"] = tensor->geometry.sizes;
  json["strides"] = tensor->geometry.strides;
  json["offset"] = tensor->geometry.offset;
  json["storage"] = tensor->storage == nullptr ? 0 : tensor->storage->number;
  Json values = Json::array();
  if (is_complex(tensor->dtype)) {
    json["elements"] = elements_text(value, SIZE_MAX);
    return json;
  }
  if (tensor->dtype == DType::Bool || is_integer(tensor->dtype)) {
    for (const std::int64_t element : values_as_int(*tensor)) values.push_back(element);
  } else {
    // JSON has no nan and no inf: those are strings.
    for (const double element : values_as_double(*tensor)) {
      if (std::isfinite(element)) {
        values.push_back(element);
      } else {
        values.push_back(number_text(element, tensor->dtype));
      }
    }
  }
  json["values"] = std::move(values);
  return json;
}

Json values_json(const std::vector<NamedValue>& values) {
  Json rows = Json::array();
  for (const NamedValue& value : values) {
    Json row = value_json(value.value);
    row["name"] = value.name;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json run_json(const RunInputs& inputs, const RunResult& result, const RunLog& log,
              const Target& target) {
  Json json;
  json["schema"] = "thunderglass.run/1";
  json["address"] = target.shown;
  json["seed"] = inputs.seed;
  json["statements"] = count_phase(target.trace()).statements;
  json["inputs"] = values_json(inputs.arguments);
  json["outputs"] = values_json(result.outputs);
  json["final_arguments"] = values_json(result.final_arguments);
  json["aliases"] = to_json(alias_partition(result));
  json["disagreements"] = log.disagreements;
  json["wrong_types"] = log.wrong_types;
  json["notes"] = result.notes;
  return json;
}

}  // namespace

CommandResult command_run(Call& call) {
  auto target = resolve_only_program(call);
  if (!target) return stop_with(call, target.error());
  show_reading_findings(call, target->file());
  const Trace& trace = target->trace();
  auto inputs = inputs_of(call.command, *target);
  if (!inputs) {
    const Diagnostic& error = inputs.error();
    if (error.at.line == 0) return stop_with(call, error);
    return stop_with(call, error, target->file().name, target->file().text);
  }
  const std::vector<std::uint32_t> numbers =
      statement_numbers(list_lines(trace, target->numbering()), trace.bound_symbols.size());
  RunLog log;
  const RunObserver observer = observer_of(trace, numbers, call.command.has(Option::Trace), log);
  const auto result = run(trace, *inputs, limits_of(call.command), &observer, call.stop);
  if (!result) {
    // What ran before the failure stays visible.
    for (const auto& [line, text, value] : log.summaries) {
      call.note(fmt::format("  {}  {}  {}\n", line, text, value));
    }
    Diagnostic diagnostic = result.error().to_diagnostic();
    if (!target->from_file()) diagnostic.at = {};
    CommandResult stopped = stop_with(call, diagnostic, target->file().name, target->file().text);
    if (target->whole_phase().kind == TraceKind::Backward) {
      call.note("note: a backward program takes what its forward saved; give it with --inputs\n");
    }
    return stopped;
  }
  for (const std::string& text : log.wrong_types) {
    call.sink.note(fmt::format("{} {}\n", call.note_paint(Role::Bad, "error:"), text));
  }
  for (const std::string& text : log.disagreements) call.note(fmt::format("note: {}\n", text));
  for (const std::string& text : result->notes) call.note(fmt::format("note: {}\n", text));
  if (call.json()) {
    call.result(dump(run_json(*inputs, *result, log, *target)) + "\n");
  } else {
    call.result(run_text(*inputs, *result, log, *target, call.paint));
  }
  ExitCode exit = log.wrong_types.empty() ? ExitCode::Done : ExitCode::Finding;
  for (const std::string& text : call.command.values(Option::Expect)) {
    const auto expectation = check_expectation(text, *result);
    if (!expectation) return stop_with(call, expectation.error());
    if (!expectation->holds) exit = ExitCode::Finding;
    const std::string said = fmt::format(
        "{}  {}  {}\n",
        expectation->holds ? call.paint(Role::Good, "holds") : call.paint(Role::Bad, "FAILS"),
        expectation->text, expectation->explanation);
    if (call.json()) {
      call.note(said);
    } else {
      call.result(said);
    }
  }
  return exit;
}

}  // namespace tg
