#include "core/pass/audit_copies.h"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/trace_text.h"

namespace tg {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "t1 = prims.copy_(a, x)" -> "prims.copy_(a, x): overwritten_later -"; '-' marks what can go.
std::vector<std::string> answers(const Trace& trace, const ArgumentFacts& facts = {}) {
  std::vector<std::string> texts;
  for (const CopyFinding& finding : audit(trace, facts)) {
    texts.push_back(fmt::format("{}: {}{}", finding.text, answer_text(finding.answer),
                                finding.removable ? " -" : ""));
  }
  return texts;
}

std::vector<std::string> answers(std::string_view arguments, std::string_view statements) {
  return answers(test::make_trace(arguments, statements));
}

std::string audited(std::string_view arguments, std::string_view statements) {
  PassContext context;
  return test::body_text(audit_copies(test::make_trace(arguments, statements), context).after);
}

constexpr std::string_view kXyz = "x: f32[2, 2]; y: f32[2, 2]; z: f32[2, 2]";

// ---- the programs of the sound table of passes.md P22

TEST(AuditCopies, A01DropsTheFirstOfTwo) {
  EXPECT_EQ(audited(kXyz, "t0 = prims.copy_(y, x)\nt1 = prims.copy_(z, x)\nreturn z"),
            "t1 = prims.copy_(z, x)\nreturn z\n");
}

TEST(AuditCopies, A02CopyThatReadsTheDestinationIsAReader) {
  EXPECT_THAT(answers(kXyz, "t0 = prims.copy_(y, x)\nt1 = prims.copy_(x, z)\nreturn y"),
              ElementsAre("prims.copy_(y, x): needed_by_argument",
                          "prims.copy_(x, z): needed_by_argument"));
}

TEST(AuditCopies, A03ReadThroughAnOlderView) {
  EXPECT_THAT(answers(kXyz,
                      "t0 = ltorch.view(x, 4)  # t0: \"cpu f32[4]\"\n"
                      "t1 = prims.copy_(y, x)\n"
                      "t2 = ltorch.cos(t0)  # t2: \"cpu f32[4]\"\n"
                      "t3 = prims.copy_(z, x)\nreturn t2"),
              ElementsAre("prims.copy_(y, x): needed_by_later_read",
                          "prims.copy_(z, x): needed_by_argument"));
}

constexpr std::string_view kA04 =
    "t0 = prims.copy_(y, a)\n"
    "t1 = ltorch.cos(b)  # t1: \"cpu f32[2, 2]\"\n"
    "t2 = prims.copy_(z, a)\nreturn t1";

TEST(AuditCopies, A04ReadThroughAnAliasedArgument) {
  const Trace trace =
      test::make_trace("a: f32[2, 2]; b: f32[2, 2]; y: f32[2, 2]; z: f32[2, 2]", kA04);
  EXPECT_THAT(answers(trace), ElementsAre("prims.copy_(y, a): overwritten_later -",
                                          "prims.copy_(z, a): needed_by_argument"));
  EXPECT_THAT(answers(trace, *parse_alias_options(trace, {"b=a"})),
              ElementsAre("prims.copy_(y, a): needed_by_later_read",
                          "prims.copy_(z, a): needed_by_argument"));
  ArgumentFacts unknown;
  unknown.may_alias_each_other = true;
  EXPECT_THAT(answers(trace, unknown), ElementsAre("prims.copy_(y, a): may_alias_unknown",
                                                   "prims.copy_(z, a): needed_by_argument"));
}

TEST(AuditCopies, A05ReturnedResultIsNoError) {
  EXPECT_THAT(answers("x: f32[2, 2]; y: f32[2, 2]", "t0 = prims.copy_(y, x)\nreturn t0"),
              ElementsAre("prims.copy_(y, x): needed_by_argument"));
}

TEST(AuditCopies, A07DropsOnlyTheSelfCopy) {
  EXPECT_EQ(audited("x: f32[2, 2]; y: f32[2, 2]",
                    "t0 = prims.copy_(y, x)\nt1 = prims.copy_(x, x)\nreturn y"),
            "t0 = prims.copy_(y, x)\nreturn y\n");
}

TEST(AuditCopies, A08KeepsTheLastOfThree) {
  EXPECT_THAT(answers(kXyz,
                      "t0 = prims.copy_(y, x)\nt1 = ltorch.cos(z)  # t1: \"cpu f32[2, 2]\"\n"
                      "t2 = prims.copy_(t1, x)\nt3 = prims.copy_(z, x)\nreturn x"),
              ElementsAre("prims.copy_(y, x): overwritten_later -",
                          "prims.copy_(t1, x): overwritten_later -",
                          "prims.copy_(z, x): needed_by_argument"));
}

TEST(AuditCopies, A09PartIsReadBetween) {
  EXPECT_THAT(
      answers("x: f32[2, 2]; y: f32[2, 2]; z: f32[2, 2]; w: f32[1, 2]",
              "t0 = ltorch.getitem(x, (slice(0, 1, None), slice(None, None, None)))  # t0: \"cpu "
              "f32[1, 2]\"\n"
              "t1 = prims.copy_(y, x)\nt2 = prims.copy_(t0, w)\nt3 = prims.copy_(z, x)\nreturn z"),
      ElementsAre("prims.copy_(y, x): needed_by_later_read",
                  "prims.copy_(t0, w): needed_by_argument",
                  "prims.copy_(z, x): needed_by_argument"));
}

TEST(AuditCopies, A10CopyThroughAViewIsOverwritten) {
  EXPECT_THAT(answers(kXyz,
                      "t0 = ltorch.view(x, 4)  # t0: \"cpu f32[4]\"\nt1 = ltorch.view(y, 4)  # t1: "
                      "\"cpu f32[4]\"\n"
                      "t2 = prims.copy_(t1, t0)\nt3 = prims.copy_(z, x)\nreturn z"),
              ElementsAre("prims.copy_(t1, t0): overwritten_later -",
                          "prims.copy_(z, x): needed_by_argument"));
}

// ---- footprints

TEST(AuditCopies, PartialOverwriteKeepsTheCopy) {
  EXPECT_THAT(answers("x: f32[4]; y: f32[4]; z: f32[2]",
                      "t0 = prims.slice_prim(x, [0], [2])  # t0: \"cpu f32[2]\"\n"
                      "t1 = prims.copy_(y, x)\nt2 = prims.copy_(z, t0)\nreturn z"),
              ElementsAre("prims.copy_(y, x): needed_by_argument",
                          "prims.copy_(z, t0): needed_by_argument"));
}

TEST(AuditCopies, TwoHalvesOverwriteTheWhole) {
  EXPECT_THAT(
      answers("x: f32[4]; y: f32[4]; z: f32[2]",
              "t0 = prims.slice_prim(x, [0], [2])  # t0: \"cpu f32[2]\"\n"
              "t1 = prims.slice_prim(x, [2], [4])  # t1: \"cpu f32[2]\"\n"
              "t2 = prims.copy_(y, x)\nt3 = prims.copy_(z, t0)\nt4 = prims.copy_(z, t1)\nreturn z"),
      ElementsAre("prims.copy_(y, x): overwritten_later -",
                  "prims.copy_(z, t0): needed_by_argument",
                  "prims.copy_(z, t1): needed_by_argument"));
}

TEST(AuditCopies, DisjointReadDoesNotHoldTheCopy) {
  EXPECT_THAT(answers("x: f32[4]; y: f32[2]",
                      "t0 = prims.slice_prim(x, [0], [2])  # t0: \"cpu f32[2]\"\n"
                      "t1 = prims.slice_prim(x, [2], [4])  # t1: \"cpu f32[2]\"\n"
                      "t2 = prims.copy_(y, t0)\nt3 = ltorch.sin(t1)  # t3: \"cpu f32[2]\"\nt4 = "
                      "prims.copy_(y, t0)\nreturn t3"),
              ElementsAre("prims.copy_(y, t0): overwritten_later -",
                          "prims.copy_(y, t0): needed_by_argument"));
}

TEST(AuditCopies, SetitemOverwritesOnlyItsPart) {
  EXPECT_THAT(
      answers(
          "x: f32[2, 2]; y: f32[2]; z: f32[2, 2]",
          "t0 = ltorch.select(x, 0, 1)  # t0: \"cpu f32[2]\"\n"
          "t1 = prims.copy_(y, t0)\nt2 = prims.copy_(z, x)\nltorch.setitem_(x, 0, 1.0)\nreturn z"),
      ElementsAre("prims.copy_(y, t0): overwritten_later -",
                  "prims.copy_(z, x): needed_by_argument"));
}

TEST(AuditCopies, ExpandedDestinationIsNeverRemoved) {
  EXPECT_THAT(answers("y: f32[2, 3]; p: f32[3]",
                      "t9 = ltorch.sin(p)  # t9: \"cpu f32[3]\"\n"
                      "t0 = ltorch.expand(t9, 2, 3)  # t0: \"cpu f32[2, 3]\"\nt1 = prims.copy_(y, "
                      "t0)\nreturn y"),
              ElementsAre("prims.copy_(y, t0): may_alias_unknown"));
}

TEST(AuditCopies, UnknownStridesKeepTheCopy) {
  EXPECT_THAT(
      answers("x: f32[4]; y: f32[4]",
              "t0 = mylib.window(x)  # t0: \"cpu f32[4]\"\n"
              "t1 = prims.copy_(y, x)\nt2 = ltorch.sin(t0)  # t2: \"cpu f32[4]\"\nt3 = "
              "prims.copy_(y, x)\nreturn t2"),
      ElementsAre("prims.copy_(y, x): may_alias_unknown", "prims.copy_(y, x): needed_by_argument"));
}

TEST(AuditCopies, ZeroElementsMoveNothing) {
  EXPECT_THAT(answers("x: f32[0]; y: f32[0]", "t0 = prims.copy_(y, x)\nreturn y"),
              ElementsAre("prims.copy_(y, x): no_op -"));
}

TEST(AuditCopies, ViewOfTheSameElementsIsASelfCopy) {
  EXPECT_THAT(
      answers("x: f32[4]",
              "t0 = ltorch.view(x, 4)  # t0: \"cpu f32[4]\"\nt1 = prims.copy_(t0, x)\nreturn x"),
      ElementsAre("prims.copy_(t0, x): no_op -"));
}

TEST(AuditCopies, BitViewIsNoSelfCopy) {
  EXPECT_THAT(answers("x: f32[2]",
                      "t0 = Tensor.view(x, torch.int32)  # t0: \"cpu i32[2]\"\nt1 = "
                      "prims.copy_(t0, x)\nreturn x"),
              ElementsAre("prims.copy_(t0, x): needed_by_argument"));
}

TEST(AuditCopies, ArgumentsWithoutTypesAreWholeStorages) {
  EXPECT_THAT(answers("x; y", "t0 = prims.copy_(y, x)\nt1 = prims.copy_(y, x)\nreturn y"),
              ElementsAre("prims.copy_(y, x): overwritten_later -",
                          "prims.copy_(y, x): needed_by_argument"));
}

// ---- temporaries

TEST(AuditCopies, TemporaryNobodyReads) {
  EXPECT_THAT(
      answers("x: f32[2]; y: f32[2]",
              "t0 = ltorch.sin(x)  # t0: \"cpu f32[2]\"\nt1 = prims.copy_(y, t0)\nreturn y"),
      ElementsAre("prims.copy_(y, t0): never_read -"));
}

TEST(AuditCopies, TemporaryWhoseSourceChangesNeedsItsBuffer) {
  EXPECT_THAT(answers("x: f32[2]; y: f32[2]",
                      "t0 = ltorch.sin(x)  # t0: \"cpu f32[2]\"\nt1 = prims.copy_(y, t0)\n"
                      "t2 = ltorch.exp_(y)  # t2: \"cpu f32[2]\"\nt3 = ltorch.cos(t0)  # t3: \"cpu "
                      "f32[2]\"\nreturn t3"),
              ElementsAre("prims.copy_(y, t0): needed_separate_buffer"));
}

TEST(AuditCopies, TemporaryOfAnotherDtype) {
  EXPECT_THAT(answers("x: f64[2]; y: f32[2]",
                      "t0 = ltorch.sin(x)  # t0: \"cpu f64[2]\"\nt1 = prims.copy_(y, t0)\n"
                      "t3 = ltorch.cos(t0)  # t3: \"cpu f64[2]\"\nreturn t3"),
              ElementsAre("prims.copy_(y, t0): layout_or_dtype_change"));
}

TEST(AuditCopies, TemporaryThatTheSourceCouldServe) {
  EXPECT_THAT(answers("x: f32[2]; y: f32[2]",
                      "t0 = ltorch.sin(x)  # t0: \"cpu f32[2]\"\nt1 = prims.copy_(y, t0)\n"
                      "t3 = ltorch.cos(t0)  # t3: \"cpu f32[2]\"\nreturn t3"),
              ElementsAre("prims.copy_(y, t0): needed_by_later_read"));
}

TEST(AuditCopies, ReturnReadsAfterTheWholeBody) {
  EXPECT_THAT(
      answers("x: f32[2]; y: f32[2]",
              "t0 = ltorch.sin(x)  # t0: \"cpu f32[2]\"\nt1 = prims.copy_(y, t0)\nreturn (t0,)"),
      ElementsAre("prims.copy_(y, t0): needed_by_later_read"));
}

TEST(AuditCopies, TextWithoutReturnKeepsTemporaries) {
  EXPECT_THAT(answers("x: f32[2]; y: f32[2]",
                      "t0 = ltorch.sin(x)  # t0: \"cpu f32[2]\"\nt1 = prims.copy_(y, t0)"),
              ElementsAre("prims.copy_(y, t0): may_alias_unknown"));
}

TEST(AuditCopies, LeftOutLinesMayRead) {
  EXPECT_THAT(
      answers("x: f32[2]; y: f32[2]",
              "t1 = prims.copy_(y, x)\n...\nt2 = prims.copy_(y, x)\nreturn y"),
      ElementsAre("prims.copy_(y, x): may_alias_unknown", "prims.copy_(y, x): needed_by_argument"));
}

// ---- inside composites and regions

TEST(AuditCopies, DeadCopyInsideARegionStays) {
  const std::string_view statements =
      "[t1, t3] = nvFusion0(p)\n"
      "  # t0 = prims.sin(p)  # t0: \"cpu f32[2]\"\n"
      "  # t1 = prims.copy_(t0, p)  # t1: \"cpu f32[2]\"\n"
      "  # t2 = prims.cos(t0)  # t2: \"cpu f32[2]\"\n"
      "  # t3 = prims.copy_(t2, p)  # t3: \"cpu f32[2]\"\nreturn (t2,)";
  EXPECT_THAT(answers("p: f32[2]", statements),
              ElementsAre("prims.copy_(t0, p): overwritten_later -",
                          "prims.copy_(t2, p): needed_by_argument"));
  PassContext context;
  const Trace before = test::make_trace("p: f32[2]", statements);
  const PassResult result = audit_copies(before, context);
  EXPECT_EQ(test::body_text(result.after), test::body_text(before));
  ASSERT_EQ(result.steps.size(), 2U);
  EXPECT_EQ(result.steps[0].rule, "inside");
  EXPECT_EQ(result.steps[1].rule, "kept");
}

TEST(AuditCopies, RegionReadsItsInputsBeforeItWrites) {
  EXPECT_THAT(answers("p: f32[2]; y: f32[2]",
                      "t9 = prims.copy_(y, p)\n"
                      "[t1, t2] = nvFusion0(p)\n"
                      "  # t0 = prims.sin(y)  # t0: \"cpu f32[2]\"\n"
                      "  # t1 = prims.copy_(t0, p)  # t1: \"cpu f32[2]\"\n"
                      "  # t2 = prims.cos(p)  # t2: \"cpu f32[2]\"\nreturn (t2,)")[0],
              "prims.copy_(y, p): needed_by_later_read");
}

TEST(AuditCopies, RegionThatOnlyWritesFreesTheEarlierCopy) {
  EXPECT_THAT(answers("p: f32[2]; y: f32[2]",
                      "t9 = prims.copy_(y, p)\n"
                      "[t1] = nvFusion0(y, p)\n"
                      "  # t0 = prims.sin(y)  # t0: \"cpu f32[2]\"\n"
                      "  # t1 = prims.copy_(t0, p)  # t1: \"cpu f32[2]\"\nreturn (y,)")[0],
              "prims.copy_(y, p): overwritten_later -");
}

TEST(AuditCopies, InPlaceOperationReadsItsArgument) {
  EXPECT_THAT(answers("x: f32[2]; y: f32[2]",
                      "t9 = prims.copy_(y, x)\n"
                      "t1 = ltorch.exp_(x)  # t1: \"cpu f32[2]\"\n"
                      "  # t0 = ltorch.exp(x)  # t0: \"cpu f32[2]\"\n"
                      "  # t1 = prims.copy_(t0, x)  # t1: \"cpu f32[2]\"\nreturn (y,)"),
              ElementsAre("prims.copy_(y, x): needed_by_later_read",
                          "prims.copy_(t0, x): needed_by_argument"));
}

TEST(AuditCopies, ZeroOverwritesWithoutReading) {
  EXPECT_THAT(
      answers("x: f32[2]; y: f32[2]",
              "t9 = prims.copy_(y, x)\nt1 = ltorch.zero_(x)  # t1: \"cpu f32[2]\"\nreturn (y,)"),
      ElementsAre("prims.copy_(y, x): overwritten_later -"));
}

TEST(AuditCopies, LtorchCopyIsOneCopy) {
  EXPECT_THAT(answers("x: f32[2]; y: f32[2]",
                      "t0 = ltorch.copy_(x, y)  # t0: \"cpu f32[2]\"\n"
                      "  # t0 = prims.copy_(y, x)  # t0: \"cpu f32[2]\"\nreturn (y,)"),
              ElementsAre("ltorch.copy_(x, y): needed_by_argument"));
}

// ---- rewriting

TEST(AuditCopies, ReadersOfTheResultReadTheDestination) {
  EXPECT_EQ(
      audited(
          "x: f32[2]; y: f32[2]; z: f32[2]",
          "t0 = prims.copy_(y, x)\nt1 = prims.copy_(z, t0)\nt2 = ltorch.sin(t1)\nreturn (t0, t2)"),
      "t1 = prims.copy_(z, x)\nt2 = ltorch.sin(t1)\nreturn (x, t2)\n");
}

TEST(AuditCopies, ChainOfResultsEndsAtTheArgument) {
  EXPECT_EQ(
      audited(
          "x: f32[2]",
          "t0 = prims.copy_(x, x)\nt1 = prims.copy_(t0, t0)\nt2 = ltorch.sin(t1)\nreturn (t2,)"),
      "t2 = ltorch.sin(x)\nreturn (t2,)\n");
}

TEST(AuditCopies, DelOfTheResultGoes) {
  EXPECT_EQ(
      audited("x: f32[2]; y: f32[2]; z: f32[2]",
              "t0 = prims.copy_(y, x)\ndel t0\nt1 = prims.copy_(z, x)\ndel t1, y\nreturn (z,)"),
      "t1 = prims.copy_(z, x)\ndel t1, y\nreturn (z,)\n");
}

TEST(AuditCopies, DestinationLivesAsLongAsTheResultDid) {
  EXPECT_EQ(audited("x: f32[2]",
                    "t0 = prims.copy_(x, x)\ndel x\nt1 = ltorch.sin(t0)\ndel t0\nreturn (t1,)"),
            "t1 = ltorch.sin(x)\nreturn (t1,)\n");
}

TEST(AuditCopies, ResultReadWhereTheNameIsRebound) {
  const std::string_view statements =
      "t0 = prims.copy_(x, x)\nx = ltorch.cos(t0)\nt1 = ltorch.sin(t0)\nreturn (t1, x)";
  EXPECT_EQ(audited("x: f32[2]", statements), std::string(statements) + "\n");
  EXPECT_THAT(answers("x: f32[2]", statements), ElementsAre("prims.copy_(x, x): no_op"));
}

TEST(AuditCopies, SetitemByTensorIsNeededByItsArgument) {
  EXPECT_THAT(answers("x: f32[4]; i: i64[2]",
                      "ltorch.setitem_(x, (i,), 5.0)\n  # t0 = ltorch.setitem(x, (i,), 5.0)  # t0: "
                      "\"cpu f32[4]\"\n"
                      "  # t1 = prims.copy_(t0, x)  # t1: \"cpu f32[4]\"\nreturn ()"),
              ElementsAre("prims.copy_(t0, x): needed_by_argument"));
}

TEST(AuditCopies, SkippedStepKeepsWhatDependsOnIt) {
  // The first copy is dead only because the second is.
  const std::string_view statements =
      "t8 = ltorch.sin(y)  # t8: \"cpu f32[2]\"\nt9 = ltorch.cos(y)  # t9: \"cpu f32[2]\"\n"
      "t0 = prims.copy_(y, t8)\nt1 = prims.copy_(t8, t9)\nreturn (y,)";
  EXPECT_THAT(answers("y: f32[2]", statements),
              ElementsAre("prims.copy_(y, t8): never_read -", "prims.copy_(t8, t9): never_read -"));
  PassContext context;
  context.filter.skip_numbers = {1};
  const PassResult result = audit_copies(test::make_trace("y: f32[2]", statements), context);
  EXPECT_THAT(test::body_text(result.after), testing::HasSubstr("t0 = prims.copy_(y, t8)"));
  EXPECT_THAT(test::body_text(result.after), testing::HasSubstr("t1 = prims.copy_(t8, t9)"));
}

TEST(AuditCopies, CopyAfterReturnIsAnsweredLast) {
  const auto findings =
      audit(test::make_trace("x: f32[2]; y: f32[2]", "return (y,)\nt0 = prims.copy_(y, x)"), {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].answer, CopyAnswer::NeverRead);
  EXPECT_FALSE(findings[0].removable);
  EXPECT_EQ(findings[0].reason,
            "it stands after `return` and is never executed: `x` does not get the value");
}

// ---- words

TEST(AuditCopies, LineNamesBytesAndStaleness) {
  const Trace trace = test::make_trace("x: f32[4]",
                                       "# Functionalized from `t1 = exp_(x)`\n"
                                       "t0 = ltorch.exp(x)  # t0: \"cpu f32[4]\"\n"
                                       "# Functionalized from `t3 = sin_(t1)`\n"
                                       "t2 = ltorch.sin(t0)  # t2: \"cpu f32[4]\"\n"
                                       "t4 = copy_(t0, x)  # t4: \"cpu f32[4]\"\nreturn (t2,)");
  const auto findings = audit(trace, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(one_line(findings[0]),
            "line 7 copy_(t0, x) 16 B: needed_by_argument, but stale: the newest x is t2");
}

struct Reason {
  const char* statements;
  const char* reason;
};

class CopyReason : public testing::TestWithParam<Reason> {};

TEST_P(CopyReason, NamesWhatForcesIt) {
  const auto findings =
      audit(test::make_trace("x: f32[2]; y: f32[2]; z: f32[2]", GetParam().statements), {});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].reason, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Answers, CopyReason,
    testing::Values(
        Reason{"t0 = prims.copy_(x, x)\nreturn y",
               "`x` and `x` are the same elements of one storage"},
        Reason{"t0 = prims.copy_(y, x)\nreturn y",
               "the caller sees argument `x` after the program, and nothing overwrites it later"},
        Reason{"v = ltorch.view(x, 2)  # v: \"cpu f32[2]\"\nt0 = prims.copy_(y, v)\nreturn y",
               "the caller sees `v` (in the storage of `x`) after the program, and nothing "
               "overwrites it later"},
        Reason{"t0 = ltorch.sin(x)  # t0: \"cpu f32[2]\"\nt1 = prims.copy_(y, t0)\nt2 = "
               "ltorch.exp_(y)\nreturn (t0,)",
               "line 8 returns `t0`, and line 7 changes the storage of `y`"},
        Reason{"t0 = prims.copy_(y, x)\nt1 = ltorch.cos(x)\nt2 = prims.copy_(z, x)\nreturn t1",
               "line 6 (ltorch.cos) reads `x`"},
        Reason{"t0 = prims.copy_(y, x)\nt1 = prims.copy_(z, x)\nreturn z",
               "line 6 (prims.copy_) overwrites `x` before anything reads `x`"},
        Reason{"t0 = prims.copy_(y, x)\nv = ltorch.getitem(x, slice(0, 1, None))\n"
               "w = ltorch.getitem(x, slice(1, 2, None))\nu = ltorch.getitem(z, slice(0, 1, "
               "None))\nt1 = prims.copy_(u, v)\nt2 = prims.copy_(u, w)\nreturn z",
               "line 9 (prims.copy_) and line 10 (prims.copy_) together overwrite `x` before "
               "anything reads it"},
        Reason{"t0 = ltorch.sin(x)\nt1 = prims.copy_(y, t0)\nreturn y",
               "nothing reads `t0` afterwards, and the caller cannot see it"},
        Reason{"t0 = mylib.f(x)\nt1 = prims.copy_(y, x)\nt2 = ltorch.sin(t0)\nt3 = prims.copy_(z, "
               "x)\nreturn t2",
               "line 7 (ltorch.sin) reads `t0`, which may be the same bytes"}));

TEST(CopyAnswers, TextsAreUniqueAndExplained) {
  std::set<std::string_view> texts;
  for (const CopyAnswer answer : all_copy_answers()) {
    EXPECT_TRUE(texts.insert(answer_text(answer)).second);
    EXPECT_TRUE(answer_help(answer).ends_with('.'));
  }
  EXPECT_EQ(texts.size(), 8U);
}

}  // namespace
}  // namespace tg
