// A random program with what the properties need: its trace, the facts on its arguments, inputs.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>

#include "core/eager/interpreter.h"
#include "core/pass/rewriter.h"
#include "core/run/compare.h"
#include "core/run/inputs.h"
#include "core/text/parser.h"
#include "tests/property/arbitrary.h"

namespace tg::test {

struct Program {
  GeneratedProgram source;
  Trace trace;
  ArgumentFacts facts;
  RunInputs inputs;
};

// Grows, parses, resolves the aliases and invents inputs; fails the property when any of these
// fails.
Program make_program(const ProgramGenes& genes, const ProgramKinds& kinds);

// Runs the trace; the run must succeed.
RunResult run_program(const Trace& trace, const RunInputs& inputs);

// Does `trace` do what `reference` did? Values bit by bit, final contents of the arguments'
// storages, alias partition. Empty when it does, else what differs.
std::string difference(const RunResult& reference, const Trace& trace, const RunInputs& inputs,
                       CompareOptions::Contract contract);

// Parameters that share a storage, as passes want them: groups of indices.
AliasGroups alias_groups(const Program& program);

// Runs the property on `cases` programs. The seed is fixed, so that a run of the tests says the
// same twice; TG_SEED=number takes another, RC_PARAMS (what a failure prints to reproduce it)
// replaces all of this.
template <typename F>
bool holds(const std::string& what, int cases, F&& property) {
  rc::detail::TestMetadata metadata;
  metadata.id = what;
  metadata.description = what;
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (std::getenv("RC_PARAMS") == nullptr) {
    const char* seed = std::getenv("TG_SEED");
    params.seed = seed == nullptr ? 20241208U : std::strtoull(seed, nullptr, 10);
    params.maxSuccess = cases;
    params.maxSize = 60;
  }
  const rc::detail::TestResult result =
      rc::detail::checkTestable(std::forward<F>(property), metadata, params);
  std::cout << what << " (seed " << params.seed << "): ";
  rc::detail::printResultMessage(result, std::cout);
  std::cout << std::endl;
  return result.template is<rc::detail::SuccessResult>();
}

}  // namespace tg::test
