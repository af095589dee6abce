#include "core/check/check.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/run/inputs.h"
#include "tests/check/traces.h"

namespace tg {
namespace {

using test::file_of;
using test::trace_text;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

const char kTwoWrites[] =
    "  # x: \"cpu f32[4]\"\n"
    "  a = ltorch.sin(x)  # a: \"cpu f32[4]\"\n"
    "  t1 = prims.copy_(a, x)  # t1: \"cpu f32[4]\"\n"
    "  b = ltorch.cos(a)  # b: \"cpu f32[4]\"\n"
    "  t2 = prims.copy_(b, x)  # t2: \"cpu f32[4]\"\n"
    "  return (b,)";

CheckReport report_of(const std::string& text, CheckOptions options = {}) {
  return check(file_of(text), options);
}

TEST(Check, EqualPhasesAreSame) {
  const CheckReport report =
      report_of(trace_text("", "x", kTwoWrites) + trace_text("Some pass", "x", kTwoWrites));
  EXPECT_EQ(report.verdict, VerdictKind::Same);
  EXPECT_EQ(exit_code(report), 0);
  EXPECT_EQ(report.pairs.size(), 1U);
  ASSERT_EQ(report.copies.size(), 2U);
  EXPECT_EQ(report.copies[0].answer, CopyAnswer::OverwrittenLater);
  EXPECT_EQ(report.copies[1].answer, CopyAnswer::NeededByArgument);
}

TEST(Check, ADroppedCopyIsALostWriteWithWitnessAndRepair) {
  const std::string dropped =
      "  # x: \"cpu f32[4]\"\n"
      "  a = ltorch.sin(x)  # a: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(a, x)  # t1: \"cpu f32[4]\"\n"
      "  b = ltorch.cos(a)  # b: \"cpu f32[4]\"\n"
      "  return (b,)";
  const TraceFile file =
      file_of(trace_text("", "x", kTwoWrites) + trace_text("Some pass", "x", dropped));
  const CheckReport report = check(file, {});
  EXPECT_EQ(report.verdict, VerdictKind::Different);
  EXPECT_EQ(exit_code(report), 1);
  EXPECT_EQ(report.headline, "argument x loses 1 of 2 writes");
  ASSERT_FALSE(report.witnesses.empty());
  EXPECT_THAT(report.witnesses[0].write, HasSubstr("t2 = prims.copy_(b, x)"));
  ASSERT_FALSE(report.repairs.empty());
  EXPECT_THAT(report.repairs[0].what, HasSubstr("insert prims.copy_(b, x)"));
  EXPECT_TRUE(report.repairs[0].helps);
  const std::string text = render(report, file, "trace.txt");
  EXPECT_THAT(text, HasSubstr("DIFFERENT  argument x loses 1 of 2 writes"));
  EXPECT_THAT(text, HasSubstr("not tested GPU"));
}

TEST(Check, ValuesEqualButSharingGainedIsADifferenceOfItsOwn) {
  const std::string separate =
      "  # x: \"cpu f32[4]\"\n"
      "  a = ltorch.neg(x)  # a: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(a, x)  # t1: \"cpu f32[4]\"\n"
      "  return (a,)";
  const std::string shared =
      "  # x: \"cpu f32[4]\"\n"
      "  a = ltorch.neg(x)  # a: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(a, x)  # t1: \"cpu f32[4]\"\n"
      "  return (t1,)";
  const CheckReport report =
      report_of(trace_text("", "x", separate) + trace_text("Some pass", "x", shared));
  EXPECT_EQ(report.verdict, VerdictKind::Different);
  ASSERT_FALSE(report.witnesses.empty());
  EXPECT_EQ(report.witnesses[0].difference.kind, DifferenceKind::AliasGained);
  ASSERT_FALSE(report.repairs.empty());
  EXPECT_TRUE(report.repairs[0].helps) << report.repairs[0].what;
}

TEST(Check, ALossOfSharingIsAcceptedByThunderAndCountsUnderTorch) {
  const std::string returns_argument =
      "  # x: \"cpu f32[4]\"\n"
      "  a = ltorch.neg(x)  # a: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(a, x)  # t1: \"cpu f32[4]\"\n"
      "  return (t1,)";
  const std::string returns_value =
      "  # x: \"cpu f32[4]\"\n"
      "  a = ltorch.neg(x)  # a: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(a, x)  # t1: \"cpu f32[4]\"\n"
      "  return (a,)";
  const std::string text =
      trace_text("", "x", returns_argument) + trace_text("Some pass", "x", returns_value);
  const CheckReport thunder = report_of(text);
  EXPECT_EQ(thunder.verdict, VerdictKind::Same);
  EXPECT_EQ(thunder.accepted.size(), 1U);
  CheckOptions options;
  options.compare.contract = CompareOptions::Contract::Torch;
  EXPECT_EQ(report_of(text, options).verdict, VerdictKind::Different);
}

TEST(Check, WhatDidNotRunIsNotCalledRight) {
  const std::string opaque =
      "  # x: \"cpu f32[4]\"\n"
      "  t0 = my_kernel(x)  # t0: \"cpu f32[4]\"\n"
      "  return (t0,)";
  const CheckReport report =
      report_of(trace_text("", "x", kTwoWrites) + trace_text("Some pass", "x", opaque));
  EXPECT_EQ(report.verdict, VerdictKind::NotEstablished);
  EXPECT_EQ(exit_code(report), 5);
  EXPECT_THAT(report.why, HasSubstr("my_kernel"));
  EXPECT_THAT(report.not_tested, Contains(HasSubstr("Some pass")));
}

TEST(Check, TheErasPassesAreReplayedOnASingleTrace) {
  const std::string body =
      "  # x: \"cpu f32[3, 2]\"\n"
      "  ltorch.setitem_(x, 0, 1.0)\n"
      "    # t0 = ltorch.setitem(x, 0, 1.0)  # t0: \"cpu f32[3, 2]\"\n"
      "      # t0 = prims.copy_with_setitem(x, 0, 1.0)  # t0: \"cpu f32[3, 2]\"\n"
      "    # t1 = prims.copy_(t0, x)  # t1: \"cpu f32[3, 2]\"\n"
      "  ltorch.setitem_(x, 2, 2.0)\n"
      "    # t2 = ltorch.setitem(x, 2, 2.0)  # t2: \"cpu f32[3, 2]\"\n"
      "      # t2 = prims.copy_with_setitem(x, 2, 2.0)  # t2: \"cpu f32[3, 2]\"\n"
      "    # t3 = prims.copy_(t2, x)  # t3: \"cpu f32[3, 2]\"\n"
      "  t4 = ltorch.mul(x, 1)  # t4: \"cpu f32[3, 2]\"\n"
      "    # t4 = prims.mul(x, 1.0)  # t4: \"cpu f32[3, 2]\"\n"
      "  return (t4,)";
  CheckOptions options;
  options.era = Era::Thunder2024;
  const CheckReport report = report_of(trace_text("", "x", body), options);
  EXPECT_EQ(report.headline,
            "argument x loses 1 of 2 writes, as our passes of thunder 2024-12 compile it");
  ASSERT_TRUE(report.explanation.has_value());
  EXPECT_EQ(report.explanation->rule, "keep-one-copy");
  EXPECT_TRUE(report.phases.back().replayed);
  options.replay_passes = false;
  EXPECT_EQ(report_of(trace_text("", "x", body), options).verdict, VerdictKind::Same);
}

TEST(Check, TheErasPassesSayNothingAboutAnOperationThatTheyDoNotKnow) {
  const std::string body =
      "  # p: \"cpu f32[3]\"\n"
      "  t0 = ltorch.flip(p, 0)  # t0: \"cpu f32[3]\"\n"
      "  torch._foreach_add_([p], [t0])\n"
      "  return (p,)";
  CheckOptions options;
  options.era = Era::Thunder2024;
  const CheckReport report = report_of(trace_text("", "p", body), options);
  EXPECT_EQ(report.verdict, VerdictKind::Same);
  EXPECT_EQ(report.phases.size(), 1U);
  EXPECT_THAT(report.not_tested, Contains(HasSubstr("`torch._foreach_add_` does is unknown")));
}

TEST(Check, TheErasPassesSayNothingAboutANameWithTwoMeanings) {
  const std::string body =
      "  # t0: \"cpu f32[2]\"\n"
      "  t1 = ltorch.mul(t0, 2.0)  # t1: \"cpu f32[2]\"\n"
      "  t0 = ltorch.add(t1, 1.0)  # t0: \"cpu f32[2]\"\n"
      "  return (t0,)";
  CheckOptions options;
  options.era = Era::Thunder2024;
  const CheckReport report = report_of(trace_text("", "t0", body), options);
  EXPECT_EQ(report.phases.size(), 1U);
  EXPECT_THAT(report.not_tested, Contains(HasSubstr("'t0' is")));
}

TEST(Check, ValuesThatShareAStorageTellTheAnalysisSo) {
  const std::string body =
      "  # x: \"cpu f32[4]\"\n"
      "  # y: \"cpu f32[2]\"\n"
      "  t0 = prims.copy_(y, y)  # t0: \"cpu f32[2]\"\n"
      "  return (x,)";
  RunInputs inputs;
  Tensor x = make_tensor(DType::Float32, {4});
  Tensor y = x;
  y.geometry = Geometry{{2}, {1}, 2};
  inputs.arguments = {{"x", {x}}, {"y", {y}}};
  const ArgumentFacts facts = facts_of(inputs);
  ASSERT_EQ(facts.windows.size(), 2U);
  EXPECT_EQ(facts.windows[0].storage, facts.windows[1].storage);
  EXPECT_EQ(facts.windows[1].geometry.offset, 2);
  CheckOptions options;
  options.given_inputs = inputs;
  const CheckReport report = report_of(trace_text("", "x, y", body), options);
  EXPECT_THAT(report.aliases, AllOf(HasSubstr("x"), HasSubstr("y")));
}

TEST(Check, AnAcceptedLossOfSharingIsSaidInTheFirstLine) {
  const std::string before =
      "  # x: \"cpu f32[4]\"\n"
      "  a = ltorch.neg(x)  # a: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(a, x)  # t1: \"cpu f32[4]\"\n"
      "  return (t1,)";
  const std::string after =
      "  # x: \"cpu f32[4]\"\n"
      "  a = ltorch.neg(x)  # a: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(a, x)  # t1: \"cpu f32[4]\"\n"
      "  return (a,)";
  const CheckReport report =
      report_of(trace_text("", "x", before) + trace_text("Some pass", "x", after));
  EXPECT_EQ(report.verdict, VerdictKind::Same);
  EXPECT_EQ(report.headline,
            "2 phases agree on values and final arguments; 1 alias or stride change accepted");
}

TEST(Check, TheTraceOfForwardAndBackwardTogetherHasTheOutputsOfItsForward) {
  const std::string forward =
      "  # x: \"cpu f32[2]\"\n"
      "  t0 = ltorch.mul(x, 2.0)  # t0: \"cpu f32[2]\"\n"
      "  return {'output': (t0,), 'flat_args': [x]}";
  const std::string joint =
      "  # x: \"cpu f32[2]\"\n"
      "  t0 = ltorch.mul(x, 2.0)  # t0: \"cpu f32[2]\"\n"
      "  t1 = prims.get_grad(t0)  # t1: \"cpu f32[2]\"\n"
      "  t2 = ltorch.mul(t1, 2.0)  # t2: \"cpu f32[2]\"\n"
      "  return {'output': (t2,), 'flat_args': [x], 'fw_flat_out': (t0,)}";
  const CheckReport report =
      report_of(trace_text("", "x", forward) + trace_text("Grad transform pass", "x", joint));
  EXPECT_EQ(report.verdict, VerdictKind::Same) << report.headline;
}

TEST(Check, AliasesAreReadFromWhatThePassNotedAtTheStatements) {
  const std::string before =
      "  # a: \"cpu f32[2]\"\n"
      "  # b: \"cpu f32[2]\"\n"
      "  t0 = ltorch.neg(a)  # t0: \"cpu f32[2]\"\n"
      "  t1 = prims.copy_(t0, a)  # t1: \"cpu f32[2]\"\n"
      "  t2 = ltorch.mul(b, 2.0)  # t2: \"cpu f32[2]\"\n"
      "  return (t2,)";
  const std::string after =
      "  # a: \"cpu f32[2]\"\n"
      "  # b: \"cpu f32[2]\"\n"
      "  t0 = ltorch.neg(a)  # t0: \"cpu f32[2]\"\n"
      "  t1 = prims.copy_(t0, a)  # t1: \"cpu f32[2]\"\n"
      "\n"
      "  # [alias tensor args] `b` is replaced by `a`\n"
      "  t2 = ltorch.mul(a, 2.0)  # t2: \"cpu f32[2]\"\n"
      "  return (t2,)";
  const CheckReport report =
      report_of(trace_text("", "a, b", before) + trace_text("Some pass", "a, b", after));
  EXPECT_THAT(report.assumed_aliases, ::testing::ElementsAre("b=a"));
  EXPECT_EQ(report.verdict, VerdictKind::Same) << report.headline;
  EXPECT_THAT(report.not_tested, Contains("b elsewhere in memory than a"));
}

TEST(Check, ADumpThatEndsWhereAPassRaisedSaysSo) {
  const std::string body =
      "  # x: \"cpu f32[2, 3]\"\n"
      "  row = ltorch.getitem(x, 0)  # row: \"cpu f32[3]\"\n"
      "  t1 = ltorch.exp_(row)  # t1: \"cpu f32[3]\"\n"
      "    # t0 = ltorch.exp(row)  # t0: \"cpu f32[3]\"\n"
      "      # t0 = prims.exp(row)  # t0: \"cpu f32[3]\"\n"
      "    # t1 = prims.copy_(t0, row)  # t1: \"cpu f32[3]\"\n";
  const std::string plain = body + "  return (t1,)";
  const std::string wrapped = body + "  return {'output': (t1,), 'flat_args': [x]}";
  CheckOptions options;
  options.era = Era::Thunder2024;
  const CheckReport report =
      report_of(trace_text("", "x", plain) +
                    trace_text("Return arguments to track copies onto them", "x", wrapped) +
                    trace_text("Remove context manager prims", "x", wrapped),
                options);
  EXPECT_EQ(report.verdict, VerdictKind::Different);
  ASSERT_TRUE(report.refusal.has_value());
  EXPECT_EQ(report.refusal->error.type, "NotImplementedError");
  EXPECT_THAT(render(report, file_of(plain), "trace.txt"), HasSubstr("sound"));
}

TEST(Check, ARefusalOfTheErasPassIsReported) {
  const std::string body =
      "  # x: \"cpu f32[2, 2]\"\n"
      "  t0 = ltorch.sin(x)  # t0: \"cpu f32[2, 2]\"\n"
      "    # t0 = prims.sin(x)  # t0: \"cpu f32[2, 2]\"\n"
      "  t1 = ltorch.getitem(t0, 0)  # t1: \"cpu f32[2]\"\n"
      "  t3 = ltorch.exp_(t1)  # t3: \"cpu f32[2]\"\n"
      "    # t2 = ltorch.exp(t1)  # t2: \"cpu f32[2]\"\n"
      "    # t3 = prims.copy_(t2, t1)  # t3: \"cpu f32[2]\"\n"
      "  t4 = ltorch.cos(t0)  # t4: \"cpu f32[2, 2]\"\n"
      "  return (t4,)";
  CheckOptions options;
  options.era = Era::Thunder2024;
  const CheckReport report = report_of(trace_text("", "x", body), options);
  ASSERT_TRUE(report.refusal.has_value());
  EXPECT_EQ(report.refusal->error.type, "NotImplementedError");
  EXPECT_THAT(report.refusal->error.message, HasSubstr("is not supported because 2 != 4"));
  EXPECT_EQ(exit_code(report), 1);
}

TEST(Check, ExpectationsDecideTheExitCode) {
  CheckOptions options;
  options.expectations = {"out0.data_ptr != x.data_ptr"};
  EXPECT_EQ(exit_code(report_of(trace_text("", "x", kTwoWrites), options)), 0);
  options.expectations = {"out0.data_ptr == x.data_ptr"};
  EXPECT_EQ(exit_code(report_of(trace_text("", "x", kTwoWrites), options)), 1);
}

TEST(Check, NothingToRunIsSaid) {
  const CheckReport report = report_of("no trace here\n");
  EXPECT_EQ(report.headline, "nothing to run");
  EXPECT_EQ(exit_code(report), 3);
}

TEST(Check, AliasOptionsReachTheRun) {
  const std::string body =
      "  # x: \"cpu f32[4]\"\n"
      "  # y: \"cpu f32[4]\"\n"
      "  t0 = ltorch.neg(x)  # t0: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(t0, x)  # t1: \"cpu f32[4]\"\n"
      "  t2 = ltorch.add(y, 1.0)  # t2: \"cpu f32[4]\"\n"
      "  return (t2,)";
  const std::string moved =
      "  # x: \"cpu f32[4]\"\n"
      "  # y: \"cpu f32[4]\"\n"
      "  t0 = ltorch.neg(x)  # t0: \"cpu f32[4]\"\n"
      "  t2 = ltorch.add(y, 1.0)  # t2: \"cpu f32[4]\"\n"
      "  t1 = prims.copy_(t0, x)  # t1: \"cpu f32[4]\"\n"
      "  return (t2,)";
  const std::string text = trace_text("", "x, y", body) + trace_text("Some pass", "x, y", moved);
  EXPECT_EQ(report_of(text).verdict, VerdictKind::Same);
  CheckOptions options;
  options.aliases = {"y=x"};
  EXPECT_EQ(report_of(text, options).verdict, VerdictKind::Different);
}

}  // namespace
}  // namespace tg
