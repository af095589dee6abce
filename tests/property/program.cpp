#include "tests/property/program.h"

#include <map>

#include "core/text/printer.h"

namespace tg::test {

Program make_program(const ProgramGenes& genes, const ProgramKinds& kinds) {
  Program program;
  program.source = grow(genes, kinds);
  RC_LOG() << program.source.text << "\n";
  for (const std::string& alias : program.source.aliases) RC_LOG() << "--alias " << alias << "\n";
  TraceFile file = parse_trace_file("generated", program.source.text);
  RC_ASSERT(file.phases.size() == 1U);
  program.trace = std::move(file.phases.front().trace);
  Result<ArgumentFacts> facts = parse_alias_options(program.trace, program.source.aliases);
  if (!facts) RC_FAIL(facts.error().message);
  program.facts = std::move(*facts);
  Result<RunInputs> inputs = invent_inputs(program.trace, program.facts, 1);
  if (!inputs) RC_FAIL(inputs.error().message);
  program.inputs = std::move(*inputs);
  return program;
}

RunResult run_program(const Trace& trace, const RunInputs& inputs) {
  Expected<RunResult, RunError> result = run(trace, inputs);
  if (!result) RC_FAIL(result.error().type + " " + result.error().message + " in\n" + print(trace));
  return std::move(*result);
}

AliasGroups alias_groups(const Program& program) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_storage;
  for (std::size_t i = 0; i < program.trace.parameters.size(); ++i) {
    for (const ArgumentFacts::Window& window : program.facts.windows) {
      if (window.name == program.trace.parameters[i].name) by_storage[window.storage].push_back(i);
    }
  }
  AliasGroups groups;
  for (auto& [storage, indices] : by_storage) groups.push_back(std::move(indices));
  return groups;
}

std::string difference(const RunResult& reference, const Trace& trace, const RunInputs& inputs,
                       CompareOptions::Contract contract) {
  const Expected<RunResult, RunError> result = run(trace, inputs);
  if (!result)
    return "raises " + result.error().type + ": " + result.error().message + "\n" + print(trace);
  CompareOptions options;
  options.contract = contract;
  options.tolerance = Tolerance{0, 0, std::nullopt, true};
  const Comparison comparison = compare(reference, *result, options);
  if (comparison.verdict == VerdictKind::Same) return "";
  std::string text = comparison.why;
  for (const Difference& one : comparison.differences) {
    if (!one.accepted) text += one.message + "\n";
  }
  return text + print(trace);
}

}  // namespace tg::test
