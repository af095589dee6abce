// Every place that a move check allows gives the same results: any program, any statement.
#include <gtest/gtest.h>

#include "core/edit/move.h"
#include "tests/property/program.h"

namespace tg {
namespace {

Trace moved(const Trace& trace, std::uint32_t statement, std::uint32_t to) {
  Trace after = trace;
  auto& list = after.bound_symbols;
  const BoundSymbolRef symbol = list[statement];
  list.erase(list.begin() + statement);
  list.insert(list.begin() + to, symbol);
  return after;
}

TEST(MoveProperty, WhatIsAllowedChangesNothing) {
  std::size_t tried = 0;
  EXPECT_TRUE(
      test::holds("legal moves keep the results", 300, [&](const test::ProgramGenes& genes) {
        const test::Program program = test::make_program(genes, {});
        const RunResult reference = test::run_program(program.trace, program.inputs);
        const DefUse def_use(program.trace);
        const AliasSets aliases(program.trace, def_use, program.facts);
        for (std::uint32_t i = 0; i < program.trace.bound_symbols.size(); ++i) {
          const MoveRange range = legal_moves(program.trace, def_use, aliases, i);
          for (const std::uint32_t to : {range.earliest, range.latest}) {
            if (to == i) continue;
            ++tried;
            const std::string problem =
                test::difference(reference, moved(program.trace, i, to), program.inputs,
                                 CompareOptions::Contract::Torch);
            if (!problem.empty())
              RC_FAIL("statement " + std::to_string(i) + " to " + std::to_string(to) + ": " +
                      problem);
          }
        }
      }));
  EXPECT_GT(tried, 300U);
}

}  // namespace
}  // namespace tg
