// The five laws of passes, for every pass of the table, on random programs.
//   1. replay of the steps gives the result   2. every prefix of the steps verifies
//   3. every prefix computes the same   4. a second application changes nothing   5. steps print and parse back
#include <gtest/gtest.h>

#include "core/ir/verifier.h"
#include "core/pass/pass.h"
#include "core/text/printer.h"
#include "tests/property/program.h"

namespace tg {
namespace {

using test::ProgramKinds;

bool verifies(const Trace& trace, std::string& why) {
  DiagnosticSink sink;
  verify(trace, sink);
  for (const Diagnostic& diagnostic : sink.all()) {
    if (diagnostic.severity == Severity::Error) why += diagnostic.message + "\n";
  }
  return why.empty();
}

// Programs on which Thunder's passes are sound. What is left out, and why (passes.md section 1): writes
// through views and reads of a written tensor by an older name (P5, P6: stale names, lost writes, wrong
// element order), aliased arguments (P4: same storage taken as same elements), copy_ that broadcasts or
// converts, raw copies among reads (P16 merges reads across a write).
ProgramKinds kinds_for(const PassInfo& pass) {
  ProgramKinds kinds;
  if (!pass.faithful) return kinds;
  kinds.aliased_arguments = false;
  kinds.writes_through_views = false;
  kinds.raw_copies = false;
  kinds.torch_copies = false;
  kinds.converting_copies = false;
  kinds.setitem = false;
  kinds.regions = false;
  kinds.updates = false;
  kinds.reads_of_written_bases = false;
  kinds.maybe_views = false;
  return kinds;
}

class PassLaws : public testing::TestWithParam<PassInfo> {};

TEST_P(PassLaws, Hold) {
  const PassInfo pass = GetParam();
  std::size_t steps = 0;
  std::size_t raised = 0;
  EXPECT_TRUE(test::holds(std::string(pass.name), 120, [&](const test::ProgramGenes& genes) {
    const test::Program program = test::make_program(genes, kinds_for(pass));
    const RunResult reference = test::run_program(program.trace, program.inputs);
    PassContext context;
    context.options.argument_facts = program.facts;
    const PassResult result = pass.run(program.trace, context);
    if (result.error) {
      ++raised;
      RC_ASSERT(result.after == program.trace);
      return;
    }
    const std::span<const Step> all(result.steps);
    RC_ASSERT(replay(program.trace, all).bound_symbols.size() == result.after.bound_symbols.size());
    const Trace replayed = replay(program.trace, all);
    for (std::size_t i = 0; i < replayed.bound_symbols.size(); ++i) {
      RC_ASSERT(*replayed.bound_symbols[i] == *result.after.bound_symbols[i]);
    }
    for (std::size_t count = 1; count <= all.size(); ++count) {
      if (all[count - 1].edits.empty()) continue;
      ++steps;
      const Trace prefix = replay(program.trace, all.first(count));
      RC_LOG() << "after step " << count << " (" << all[count - 1].rule << ")\n";
      std::string why;
      if (!verifies(prefix, why)) RC_FAIL(why + print(prefix));
      const std::string problem =
          test::difference(reference, prefix, program.inputs, CompareOptions::Contract::Thunder);
      if (!problem.empty()) RC_FAIL(problem);
    }
    if (pass.idempotent) {
      PassContext again_context;
      again_context.options.argument_facts = program.facts;
      const PassResult again = pass.run(result.after, again_context);
      RC_ASSERT(again.after.bound_symbols.size() == result.after.bound_symbols.size());
      for (std::size_t i = 0; i < again.after.bound_symbols.size(); ++i) {
        RC_ASSERT(*again.after.bound_symbols[i] == *result.after.bound_symbols[i]);
      }
    }
    const std::string text = print_steps(all);
    const Result<std::vector<Step>> parsed = parse_steps(text);
    if (!parsed) RC_FAIL(parsed.error().message + "\n" + text);
    RC_ASSERT(print_steps(*parsed) == text);
    RC_ASSERT(replay(program.trace, *parsed).bound_symbols.size() == replayed.bound_symbols.size());
  }));
  std::cout << pass.name << ": " << steps << " steps checked, raised " << raised << " times\n";
}

std::vector<PassInfo> passes() { return {all_passes().begin(), all_passes().end()}; }

INSTANTIATE_TEST_SUITE_P(Table, PassLaws, testing::ValuesIn(passes()),
                         [](const testing::TestParamInfo<PassInfo>& pass) { return std::string(pass.param.name); });

}  // namespace
}  // namespace tg
