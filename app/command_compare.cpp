// compare: two programs on the same inputs, or the neighbouring phases of each of many files.
#include <algorithm>

#include <fmt/format.h>

#include "app/batch.h"
#include "app/compare_text.h"
#include "app/program_view.h"
#include "app/run_options.h"
#include "app/session.h"
#include "core/base/text.h"
#include "core/check/check.h"
#include "core/export/json.h"
#include "core/text/printer.h"

namespace tg {
namespace {

// Values for `trace` out of the values for another program: by name, and by position where it calls
// its parameters otherwise.
RunInputs inputs_for(const Trace& trace, const RunInputs& given) {
  RunInputs inputs = given;
  if (trace.parameters.size() != given.arguments.size()) return inputs;
  const bool same_names = std::all_of(
      trace.parameters.begin(), trace.parameters.end(), [&given](const Parameter& parameter) {
        return std::any_of(given.arguments.begin(), given.arguments.end(),
                           [&](const NamedValue& value) { return value.name == parameter.name; });
      });
  if (same_names) return inputs;
  for (std::size_t i = 0; i < inputs.arguments.size(); ++i)
    inputs.arguments[i].name = trace.parameters[i].name;
  return inputs;
}

struct Outcome {
  Comparison comparison;
  std::optional<RunError> error;  // of the side that could not run
  std::string failed_side;
};

Outcome compare_programs(const Target& left, const Target& right, const RunInputs& inputs,
                         const CompareOptions& options, const RunLimits& limits,
                         const std::stop_token& stop) {
  Outcome outcome;
  const auto first = run(left.trace(), inputs, limits, nullptr, stop);
  const RunInputs right_inputs = inputs_for(right.trace(), inputs);
  auto second = run(right.trace(), right_inputs, limits, nullptr, stop);
  if (first && second) {
    // Final arguments are matched by name: give them the left program's names.
    if (second->final_arguments.size() == first->final_arguments.size()) {
      for (std::size_t i = 0; i < second->final_arguments.size(); ++i) {
        second->final_arguments[i].name = first->final_arguments[i].name;
      }
    }
    outcome.comparison = compare(*first, *second, options);
    return outcome;
  }
  outcome.comparison = compare_raised(first, second);
  outcome.error = first ? second.error() : first.error();
  outcome.failed_side = first ? right.label() : left.label();
  return outcome;
}

std::string divergence_text(const Target& left, const Target& right, const Divergence& divergence,
                            const Paint& paint) {
  const ProgramView left_view(left);
  const ProgramView right_view(right);
  std::string out = fmt::format("first parting: {}, {}\n", paint(Role::Name, divergence.name),
                                divergence.difference.message);
  Table table;
  table.add({left.label(), left_view.line_text(divergence.left_statement),
             one_line(left_view.statement(divergence.left_statement))});
  table.add({right.label(), right_view.line_text(divergence.right_statement),
             one_line(right_view.statement(divergence.right_statement))});
  return out + table.text(paint, 2);
}

CommandResult compare_pair(Call& call, const Target& left, const Target& right) {
  const auto options = compare_options_of(call.command);
  if (!options) {
    call.fail(options.error());
    return ExitCode::Usage;
  }
  auto inputs = inputs_of(call.command, left);
  if (!inputs) return stop_with(call, inputs.error());
  const RunLimits limits = limits_of(call.command);
  const Outcome outcome = compare_programs(left, right, *inputs, *options, limits, call.stop);
  if (call.json()) {
    Json json = comparison_json(outcome.comparison);
    json["schema"] = "thunderglass.compare/1";
    json["left"] = left.shown;
    json["right"] = right.shown;
    json["seed"] = inputs->seed;
    call.result(dump(json) + "\n");
  } else {
    call.result(
        comparison_text(outcome.comparison, left.label(), right.label(), inputs->seed, call.paint));
    if (outcome.error)
      call.note(fmt::format("note: {}\n", run_error_text(*outcome.error, outcome.failed_side)));
  }
  if (call.command.has(Option::First) && outcome.comparison.verdict == VerdictKind::Different &&
      !call.json()) {
    const auto divergence =
        first_divergence(left.trace(), right.trace(), *inputs, *options, limits);
    call.result(divergence ? divergence_text(left, right, *divergence, call.paint)
                           : "first parting: none, every value that both programs name agrees: "
                             "they part in what is stored back\n");
  }
  ExitCode exit = comparison_exit(outcome.comparison, outcome.error);
  for (const std::string& text : call.command.values(Option::Expect)) {
    const auto result =
        run(right.trace(), inputs_for(right.trace(), *inputs), limits, nullptr, call.stop);
    if (!result) break;
    const auto expectation = check_expectation(text, *result);
    if (!expectation) return stop_with(call, expectation.error());
    if (!expectation->holds) exit = std::max(exit, ExitCode::Finding);
    call.note(fmt::format("{}  {}  {}\n", expectation->holds ? "holds" : "FAILS", expectation->text,
                          expectation->explanation));
  }
  return exit;
}

// Programs of a file from phase `first` on that can stand side by side: the same kind, one after
// another. What a pass or an edit made stands beside what it was made from.
std::vector<std::pair<std::size_t, std::size_t>> neighbours(const Document& document,
                                                            std::size_t first) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::optional<std::size_t> previous;
  for (std::size_t i = first; i < document.phases.size(); ++i) {
    const DocumentPhase& phase = *document.phases[i];
    if (phase.phase.kind != TraceKind::Computation) continue;
    if (!phase.from_file) {
      if (phase.made_from && *phase.made_from >= first) pairs.emplace_back(*phase.made_from, i);
      continue;
    }
    if (previous) pairs.emplace_back(*previous, i);
    previous = i;
  }
  return pairs;
}

struct FileComparison {
  std::size_t same = 0, different = 0, open = 0;
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, Outcome>> pairs;
  ExitCode exit = ExitCode::Done;
};

// The file from the target's phase on.
Result<FileComparison> compare_file(Call& call, const Target& target,
                                    const CompareOptions& options) {
  FileComparison result;
  for (const auto& [a, b] : neighbours(*target.document, target.phase)) {
    Target left, right;
    left.document = right.document = target.document;
    left.phase = a;
    right.phase = b;
    left.shown = fmt::format(":{}", a);
    right.shown = fmt::format(":{}", b);
    const auto inputs = inputs_of(call.command, left);
    if (!inputs) return Unexpected{inputs.error()};
    Outcome outcome =
        compare_programs(left, right, *inputs, options, limits_of(call.command), call.stop);
    switch (outcome.comparison.verdict) {
      case VerdictKind::Same:
        ++result.same;
        break;
      case VerdictKind::Different:
        ++result.different;
        break;
      case VerdictKind::NotEstablished:
        ++result.open;
        break;
    }
    result.exit = std::max(result.exit, comparison_exit(outcome.comparison, outcome.error));
    result.pairs.emplace_back(std::pair{a, b}, std::move(outcome));
  }
  return result;
}

std::string verdict_of(const FileComparison& comparison) {
  if (comparison.different > 0) return "different";
  if (comparison.open > 0) return "not established";
  return comparison.same > 0 ? "same" : "one program";
}

Json file_json(const FileComparison& comparison, const std::string& name) {
  Json json;
  json["schema"] = "thunderglass.compare/1";
  json["file"] = name;
  json["verdict"] = verdict_of(comparison);
  json["pairs"] = Json::array();
  for (const auto& [pair, outcome] : comparison.pairs) {
    Json row = comparison_json(outcome.comparison);
    row.erase("schema");
    row["left"] = pair.first;
    row["right"] = pair.second;
    json["pairs"].push_back(std::move(row));
  }
  return json;
}

// The verdict on the file, the pairs that are the same on one line, the others with their
// differences.
std::string file_text(const FileComparison& comparison, const std::string& name, std::uint64_t seed,
                      const Paint& paint) {
  std::string out;
  std::string same;
  for (const auto& [pair, outcome] : comparison.pairs) {
    const std::string left = fmt::format("phase {}", pair.first);
    const std::string right = fmt::format("phase {}", pair.second);
    if (outcome.comparison.verdict == VerdictKind::Same) {
      same += fmt::format("{}{}->{}", same.empty() ? "" : " ", pair.first, pair.second);
    } else {
      out += comparison_text(outcome.comparison, left, right, seed, paint);
    }
  }
  if (out.empty()) {
    return fmt::format("{}  {}: {}, seed {}\n", paint(Role::Good, "SAME"), name,
                       count_of(comparison.pairs.size(), "pair of phases", "pairs of phases"),
                       seed);
  }
  if (!same.empty()) out += fmt::format("same       {}\n", same);
  return out;
}

FileOutcome compare_one(const std::string& path, Session&, Call& call) {
  FileOutcome outcome;
  const auto options = compare_options_of(call.command);
  const auto target = resolve_file(call, path);
  if (!options || !target) {
    outcome.exit = options ? exit_code_of(target.error().code) : ExitCode::Usage;
    outcome.verdict = "unreadable";
    outcome.line = options ? target.error().message : options.error();
    return outcome;
  }
  const auto compared = compare_file(call, *target, *options);
  if (!compared) {
    outcome.exit = exit_code_of(compared.error().code);
    outcome.verdict = "unreadable";
    outcome.line = compared.error().message;
    return outcome;
  }
  outcome.exit = compared->exit;
  outcome.verdict = verdict_of(*compared);
  outcome.line = outcome.verdict;
  for (const auto& [pair, result] : compared->pairs) {
    if (result.comparison.verdict == VerdictKind::Same) continue;
    const auto& differences = result.comparison.differences;
    std::string why = result.comparison.why;
    if (result.comparison.verdict == VerdictKind::Different && !differences.empty()) {
      why = differences.front().message;
    }
    outcome.line += fmt::format("  {}->{} {}", pair.first, pair.second, why);
    break;
  }
  if (call.json()) outcome.json = dump(file_json(*compared, path), -1);
  return outcome;
}

}  // namespace

CommandResult command_compare(Call& call) {
  const auto& operands = call.command.operands;
  const bool has_glob = std::any_of(operands.begin(), operands.end(),
                                    [](const std::string& operand) { return is_batch({operand}); });
  if (operands.size() == 2 && !has_glob && !call.command.has(Option::Each)) {
    const auto left = resolve_program(call, operands[0]);
    if (!left) return stop_with(call, left.error());
    const auto right = resolve_program(call, operands[1]);
    if (!right) return stop_with(call, right.error());
    return compare_pair(call, *left, *right);
  }
  if (operands.size() > 1 || has_glob) return run_batch(call, expand_globs(operands), compare_one);
  // One file, or the document: each of its phases with the next.
  const auto target = resolve_file(call, operands.empty() ? ":" : operands.front());
  if (!target) return stop_with(call, target.error());
  const auto options = compare_options_of(call.command);
  if (!options) {
    call.fail(options.error());
    return ExitCode::Usage;
  }
  const auto compared = compare_file(call, *target, *options);
  if (!compared) return stop_with(call, compared.error());
  if (compared->pairs.empty()) {
    call.fail(fmt::format("{} holds one computation{}: name two to compare", target->file().name,
                          target->phase == 0 ? "" : " from that phase on"));
    return ExitCode::Usage;
  }
  if (call.json()) {
    call.result(dump(file_json(*compared, target->file().name)) + "\n");
  } else {
    call.result(
        file_text(*compared, target->file().name, call.command.count(Option::Seed), call.paint));
  }
  return compared->exit;
}

}  // namespace tg
