#include "core/pass/rewriter.h"

#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::trace_of;

constexpr std::string_view kProgram = R"(
def computation(x):
  # x: "cpu f32[2]"
  a = ltorch.sin(x)  # a: "cpu f32[2]"
  b = ltorch.cos(a)  # b: "cpu f32[2]"
  return b
)";

BoundSymbol call(std::string_view text) {
  Result<BoundSymbol> statement = parse_statement(text);
  EXPECT_TRUE(statement.has_value()) << text;
  return *statement;
}

TEST(Rewriter, EditsApplyAtOnceAndReplay) {
  const Trace before = trace_of(kProgram);
  const PassContext context;
  Rewriter rw(before, context);
  auto step = rw.step("change", 1, "a is made differently");
  step.replace(1, call("a = ltorch.exp(x)"));
  const StatementId inserted = step.insert_after(1, call("c = ltorch.neg(a)"));
  step.insert_before(inserted, call("d = ltorch.abs(a)"));
  EXPECT_EQ(inserted, 4U);
  EXPECT_EQ(rw.next(1), 5U);
  rw.step("drop", 2, "b is not made").erase(2);
  EXPECT_EQ(rw.statement(2), nullptr);
  const PassResult result = std::move(rw).finish("Test");
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  a = ltorch.exp(x)
  d = ltorch.abs(a)
  c = ltorch.neg(a)
  return b
)");
  EXPECT_TRUE(same_body(replay(before, result.steps), result.after));
  EXPECT_EQ(body_of(replay(before, std::span(result.steps).first(1))), R"(
  # x: "cpu f32[2]"
  a = ltorch.exp(x)
  d = ltorch.abs(a)
  c = ltorch.neg(a)
  b = ltorch.cos(a)  # b: "cpu f32[2]"
  return b
)");
}

TEST(Rewriter, FirstAndLastFollowTheEdits) {
  const Trace before = trace_of(kProgram);
  const PassContext context;
  Rewriter rw(before, context);
  auto step = rw.step("ends", 0, "both ends change");
  step.erase(0).erase(3);
  EXPECT_EQ(rw.first(), 1U);
  EXPECT_EQ(rw.last(), 2U);
  const StatementId front = step.insert_before(1, call("p = ltorch.neg(x)"));
  const StatementId back = step.insert_after(2, call("q = ltorch.neg(b)"));
  EXPECT_EQ(rw.first(), front);
  EXPECT_EQ(rw.last(), back);
}

TEST(Rewriter, GroupsNest) {
  const Trace before = trace_of(kProgram);
  const PassContext context;
  Rewriter rw(before, context);
  rw.note("outside", 1, "not in a group");
  {
    const auto outer = rw.group("outer");
    const auto inner = rw.group("inner");
    rw.note("inside", 2, "in two groups");
  }
  rw.note("behind", 2, "out again");
  const PassResult result = std::move(rw).unchanged();
  ASSERT_EQ(result.steps.size(), 3U);
  EXPECT_EQ(result.steps[0].depth, 0U);
  EXPECT_EQ(result.steps[1].depth, 2U);
  EXPECT_EQ(result.steps[1].group, "inner");
  EXPECT_EQ(result.steps[2].group, "");
}

TEST(Rewriter, ARefusedStepDoesNothingAndSaysSo) {
  const Trace before = trace_of(kProgram);
  PassContext context;
  context.filter.skip_numbers = {2};
  context.filter.skip_rules = {"unwanted"};
  context.filter.skip_subjects = {1};
  Rewriter rw(before, context);
  rw.note("unwanted", 2, "a note is never refused");
  EXPECT_FALSE(rw.step("by-number", 2, "second").erase(2).applied());
  EXPECT_FALSE(rw.step("unwanted", 2, "by rule").erase(2).applied());
  auto by_subject = rw.step("by-subject", 1, "by subject");
  EXPECT_EQ(by_subject.insert_after(1, call("c = ltorch.neg(a)")), kNoStatement);
  EXPECT_TRUE(rw.step("wanted", 2, "the fifth").erase(2).applied());
  const PassResult result = std::move(rw).finish("Test");
  EXPECT_EQ(result.steps[0].reason, "a note is never refused");
  EXPECT_EQ(result.steps[1].reason, "skipped: second");
  EXPECT_TRUE(result.steps[1].edits.empty());
  EXPECT_EQ(result.after.bound_symbols.size(), 3U);
}

TEST(Rewriter, WithoutRecordingTheResultIsTheSameAndNoReasonIsBuilt) {
  const Trace before = trace_of(kProgram);
  PassContext context;
  context.record_steps = false;
  Rewriter rw(before, context);
  bool built = false;
  rw.step("drop", 2, [&built] {
      built = true;
      return std::string("costly");
    }).erase(2);
  const PassResult result = std::move(rw).finish("Test");
  EXPECT_FALSE(built);
  EXPECT_TRUE(result.steps.empty());
  EXPECT_EQ(result.after.bound_symbols.size(), 3U);
}

TEST(Rewriter, AFailedPassLeavesTheTraceAndKeepsItsNotes) {
  const Trace before = trace_of(kProgram);
  const PassContext context;
  Rewriter rw(before, context);
  rw.note("seen", 1, "looked at a");
  rw.step("drop", 2, "b goes").erase(2);
  const PassResult result = std::move(rw).fail({"RuntimeError", "no", 2});
  EXPECT_EQ(result.after, before);
  ASSERT_EQ(result.steps.size(), 2U);
  EXPECT_EQ(result.steps[0].rule, "seen");
  EXPECT_EQ(result.steps[1].rule, "raises");
  EXPECT_EQ(result.steps[1].reason, "RuntimeError: no");
}

TEST(Rewriter, ReplayLeavesOutEditsThatPointNowhere) {
  const Trace before = trace_of(kProgram);
  Step step;
  step.rule = "stray";
  step.edits = {{Edit::Kind::Erase, 99, nullptr, kNoStatement},
                {Edit::Kind::InsertAfter, 1, nullptr, 4},
                {Edit::Kind::InsertAfter, 1, before.bound_symbols[2], 77},
                {Edit::Kind::Erase, 2, nullptr, kNoStatement}};
  EXPECT_EQ(replay(before, std::span(&step, 1)).bound_symbols.size(), 3U);
}

TEST(Rewriter, StepsCarryTheLineOfTheirSubject) {
  const Trace before = trace_of(kProgram);
  const PassContext context;
  Rewriter rw(before, context);
  rw.note("look", 2, "at b");
  EXPECT_EQ(std::move(rw).unchanged().steps[0].at.line, 4U);
}

}  // namespace
}  // namespace tg
