// audit_copies never removes a copy that changes something observable.
#include <gtest/gtest.h>

#include "core/pass/audit_copies.h"
#include "core/text/printer.h"
#include "tests/property/program.h"

namespace tg {
namespace {

PassContext context_for(const test::Program& program) {
  PassContext context;
  context.options.argument_facts = program.facts;
  return context;
}

// Programs in which most statements are copies, so that many of them are dead.
test::ProgramGenes mostly_copies(test::ProgramGenes genes) {
  for (test::Gene& gene : genes.statements) {
    if (gene.a % 2 == 0) gene.kind = 9;
  }
  return genes;
}

TEST(AuditProperty, RemovedCopiesChangeNothingObservable) {
  std::size_t removed = 0;
  std::size_t kept = 0;
  EXPECT_TRUE(
      test::holds("audit_copies keeps outputs, arguments and aliases", 1000,
                  [&](const test::ProgramGenes& genes) {
                    const test::Program program = test::make_program(mostly_copies(genes), {});
                    const RunResult reference = test::run_program(program.trace, program.inputs);
                    PassContext context = context_for(program);
                    const PassResult result = audit_copies(program.trace, context);
                    for (const Step& step : result.steps)
                      (step.edits.empty() ? kept : removed) += 1;
                    const std::string problem = test::difference(
                        reference, result.after, program.inputs, CompareOptions::Contract::Torch);
                    if (!problem.empty()) RC_FAIL(problem);
                  }));
  // The property says nothing when no copy is ever removed.
  EXPECT_GT(removed, 300U);
  EXPECT_GT(kept, 300U);
}

TEST(AuditProperty, EveryCopyGetsOneAnswer) {
  EXPECT_TRUE(test::holds("one answer a copy", 300, [](const test::ProgramGenes& genes) {
    const test::Program program = test::make_program(genes, {});
    std::size_t copies = 0;
    std::vector<const BoundSymbol*> open;
    for (const BoundSymbolRef& statement : program.trace.bound_symbols)
      open.push_back(statement.get());
    while (!open.empty()) {
      const BoundSymbol* statement = open.back();
      open.pop_back();
      if (statement->kind == StatementKind::Call && statement->op_info().has(kCopyInto)) {
        ++copies;  // its sub-statement is the same copy
        continue;
      }
      for (const BoundSymbolRef& child : statement->subsymbols) open.push_back(child.get());
    }
    RC_ASSERT(audit(program.trace, program.facts).size() == copies);
  }));
}

// What is called dead can go alone or together; what is needed for an argument shows when it goes.
TEST(AuditProperty, UnknownAliasingIsMoreCareful) {
  EXPECT_TRUE(
      test::holds("may-alias keeps at least as much", 300, [](const test::ProgramGenes& genes) {
        const test::Program program = test::make_program(mostly_copies(genes), {});
        const std::vector<CopyFinding> known = audit(program.trace, program.facts);
        ArgumentFacts unknown;
        unknown.may_alias_each_other = true;
        const std::vector<CopyFinding> careful = audit(program.trace, unknown);
        RC_ASSERT(known.size() == careful.size());
        // Facts may reveal self copies and overwrites that an auditor without them cannot see,
        // never the reverse.
        for (std::size_t i = 0; i < known.size(); ++i) {
          if (careful[i].removable) RC_ASSERT(known[i].removable);
        }
        PassContext context;
        context.options.may_alias_arguments = true;
        const RunResult reference = test::run_program(program.trace, program.inputs);
        const std::string problem =
            test::difference(reference, audit_copies(program.trace, context).after, program.inputs,
                             CompareOptions::Contract::Torch);
        if (!problem.empty()) RC_FAIL(problem);
      }));
}

}  // namespace
}  // namespace tg
