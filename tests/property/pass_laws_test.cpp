// The five laws of passes, for every pass of the table, on random programs.
//   1. replay of the steps gives the result   2. every prefix of the steps verifies
//   3. every prefix computes the same   4. a second application changes nothing   5. steps print
//   and parse back
#include <algorithm>
#include <set>

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

// What a pass may be given so that law 3 holds, and the passes that stand before it in the
// pipeline.
struct PassSetup {
  ProgramKinds kinds;
  std::vector<std::string_view> before;
};

// Thunder's functionalization is sound where each tensor is written under its own name and read by
// its newest (passes.md P4-P6): no writes through views, no reads of a written tensor by an older
// name, no copy_ among the reads, arguments that alias only as the same elements, no in-place
// operation without Thunder's tag (a write through the result of relu_ is lost). `del` lines come
// later in the pipeline.
ProgramKinds functionalizable() {
  ProgramKinds kinds;
  kinds.partial_windows = false;
  kinds.writes_through_views = false;
  kinds.raw_copies = false;
  kinds.torch_copies = false;
  kinds.setitem = false;
  kinds.regions = false;
  kinds.updates = false;
  kinds.dels = false;
  kinds.reads_of_written_bases = false;
  kinds.wrapped_return = false;
  kinds.untagged_writes = false;
  return kinds;
}

// Merging equal expressions and renaming aliased arguments ignore writes (P16, P4).
ProgramKinds nothing_written() {
  ProgramKinds kinds = functionalizable();
  kinds.in_place = false;
  return kinds;
}

PassSetup setup_for(std::string_view pass) {
  PassSetup setup;
  if (pass == "wrap_return") {
    setup.kinds.wrapped_return = false;
  } else if (pass == "unwrap_return") {
    setup.kinds.wrapped_return = false;
    setup.before = {"wrap_return"};
  } else if (pass == "alias_args" || pass == "common_subexpressions") {
    setup.kinds = nothing_written();
  } else if (pass == "fusion" || pass == "transform_for_execution" || pass == "prepare_execution" ||
             pass == "fused_subexpressions") {
    // The partition orders by names: a read may move behind a write to its storage (P12), and a
    // return before a copy. tests/pass/fusion_test.cpp has programs where that shows.
    setup.kinds = nothing_written();
  } else if (pass == "update_aliases") {
    // Names are only renamed on their own storage. What P4 puts before it takes "same storage" for
    // "same elements" (passes.md H05), and `del` lines come later in the pipeline.
    setup.kinds.partial_windows = false;
    setup.kinds.dels = false;
  } else if (pass == "canonicalize" || pass == "functionalize") {
    setup.kinds = functionalizable();
    setup.before = {"wrap_return"};
  } else if (pass == "functionalize_copies") {
    setup.kinds = functionalizable();
    setup.before = {"wrap_return", "alias_args", "canonicalize"};
  } else if (pass == "audit_raw_copy") {
    // Sound for full overwrites of one name (P22); a copy_ that reads the destination is told apart
    // below.
    setup.kinds = nothing_written();
    setup.kinds.aliased_arguments = false;
    setup.kinds.views = false;
    setup.kinds.raw_copies = true;
    setup.kinds.reads_of_written_bases = true;
  } else if (pass == "dead_code") {
    setup.kinds.dels = false;
  }
  return setup;
}

// The one unsound corner of audit_raw_copy left in its programs (passes.md A02): a later copy_
// reads the destination that the dropped copy should have filled.
bool reads_a_copied_destination(const Trace& trace) {
  std::set<std::string_view> destinations;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind != StatementKind::Call || !statement->op_info().has(kCopyInto)) continue;
    if (destinations.contains(statement->args[0].text)) return true;
    destinations.insert(statement->args[1].text);
  }
  return false;
}

bool same_statements(const Trace& a, const Trace& b) {
  return std::equal(a.bound_symbols.begin(), a.bound_symbols.end(), b.bound_symbols.begin(),
                    b.bound_symbols.end(),
                    [](const BoundSymbolRef& x, const BoundSymbolRef& y) { return *x == *y; });
}

class PassLaws : public testing::TestWithParam<std::string_view> {};

TEST_P(PassLaws, Hold) {
  const PassInfo& pass = *find_pass(GetParam());
  const PassSetup setup = setup_for(pass.name);
  std::size_t steps = 0;
  std::size_t raised = 0;
  std::size_t excused = 0;
  EXPECT_TRUE(test::holds(std::string(pass.name), 150, [&](const test::ProgramGenes& genes) {
    const test::Program program = test::make_program(genes, setup.kinds);
    PassContext context;
    context.options.argument_facts = program.facts;
    context.options.alias_groups = test::alias_groups(program);
    Trace before = program.trace;
    for (const std::string_view name : setup.before) {
      PassResult prepared = find_pass(name)->run(before, context);
      if (prepared.error) {
        ++raised;
        return;
      }
      before = std::move(prepared.after);
    }
    const RunResult reference = test::run_program(before, program.inputs);
    const PassResult result = pass.run(before, context);
    if (result.error) {
      ++raised;
      RC_ASSERT(result.after == before);
      return;
    }
    const std::span<const Step> all(result.steps);
    const Trace replayed = replay(before, all);
    RC_ASSERT(same_statements(replayed, result.after));
    const bool excuse = pass.name == "audit_raw_copy" && reads_a_copied_destination(before);
    for (std::size_t count = 1; count <= all.size(); ++count) {
      if (all[count - 1].edits.empty()) continue;
      ++steps;
      const Trace prefix = replay(before, all.first(count));
      RC_LOG() << "after step " << count << " (" << all[count - 1].rule << ")\n";
      std::string why;
      if (!verifies(prefix, why)) RC_FAIL(why + print(prefix));
      const std::string problem =
          test::difference(reference, prefix, program.inputs, CompareOptions::Contract::Thunder);
      if (!problem.empty() && !excuse) RC_FAIL(problem);
      if (!problem.empty()) ++excused;
    }
    if (pass.idempotent) {
      const PassResult again = pass.run(result.after, context);
      if (!same_statements(again.after, result.after)) RC_FAIL("again:\n" + print(again.after));
    }
    const std::string text = print_steps(all);
    const Result<std::vector<Step>> parsed = parse_steps(text);
    if (!parsed) RC_FAIL(parsed.error().message + "\n" + text);
    RC_ASSERT(print_steps(*parsed) == text);
    RC_ASSERT(same_statements(replay(before, *parsed), replayed));
  }));
  std::cout << pass.name << ": " << steps << " steps checked, raised on " << raised << " programs, "
            << excused << " steps of a known unsound corner\n";
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const PassInfo& pass : all_passes()) names.push_back(pass.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, PassLaws, testing::ValuesIn(pass_names()),
                         [](const testing::TestParamInfo<std::string_view>& pass) {
                           return std::string(pass.param);
                         });

}  // namespace
}  // namespace tg
