// Forward and backward traces: what is saved, and what happens to it before the backward trace.
#include "core/check/backward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/check/check.h"
#include "tests/check/traces.h"

namespace tg {
namespace {

using test::file_of;
using test::trace_text;
using ::testing::HasSubstr;

const char kForwardHead[] =
    "  # w: \"cpu f32[2]\"\n"
    "  # x: \"cpu f32[2]\"\n"
    "  t0 = ltorch.mul(w, x)  # t0: \"cpu f32[2]\"\n"
    "  t1 = ltorch.sub(w, t0)  # t1: \"cpu f32[2]\"\n";
const char kForwardReturn[] =
    "  return {'output': (t0,), 'flat_args': [w, x], 'flat_output': (t0,)}, ((w, x), ())";

std::string backward_text(const std::string& names, const std::string& body) {
  return "# Constructed by Backward pass\nimport thunder.torch as ltorch\n\n"
         "def backward_fn(saved_for_backward, cotangents):\n"
         "  # saved_for_backward: \"Collection\"\n"
         "  # cotangents: \"Collection\"\n"
         "  C0, C1, = saved_for_backward\n"
         "  g, = cotangents\n"
         "  # g: \"cpu f32[2]\"\n"
         "  " +
         names +
         ", = C0\n"
         "  # C1 (empty sequence)\n" +
         body + "\n";
}

const char kGradients[] =
    "  t5 = ltorch.mul(g, x)  # t5: \"cpu f32[2]\"\n"
    "  t6 = ltorch.mul(g, w)  # t6: \"cpu f32[2]\"\n"
    "  return [t5, t6]";

std::string forward_text(const std::string& write) {
  return trace_text("Augmented forward pass", "w, x", kForwardHead + write + kForwardReturn);
}

TEST(Backward, ASavedTensorThatIsWrittenBeforeTheForwardEndsIsFound) {
  const TraceFile file = file_of(forward_text("  t2 = prims.copy_(t1, w)  # t2: \"cpu f32[2]\"\n") +
                                 backward_text("w, x", kGradients));
  const CheckReport report = check(file, {});
  EXPECT_EQ(report.verdict, VerdictKind::Different);
  EXPECT_EQ(report.headline, "w is saved for backward and overwritten before it");
  ASSERT_EQ(report.backward.hazards.size(), 1U);
  EXPECT_TRUE(report.backward.hazards[0].matters.value_or(false));
  EXPECT_THAT(report.backward.hazards[0].witness, HasSubstr("with the value that was read"));
  EXPECT_EQ(exit_code(report), 1);
}

TEST(Backward, ASavedTensorThatNothingWritesIsFine) {
  const TraceFile file = file_of(forward_text("") + backward_text("w, x", kGradients));
  const CheckReport report = check(file, {});
  EXPECT_TRUE(report.backward.hazards.empty());
  ASSERT_EQ(report.backward.phases.size(), 1U);
  EXPECT_TRUE(report.backward.phases[0].ran) << report.backward.phases[0].why_not;
  EXPECT_EQ(report.backward.phases[0].read, 2U);
  EXPECT_EQ(exit_code(report), 0);
}

TEST(Backward, AWriteThatTheGradientsDoNotSeeIsSaidToBeHarmless) {
  const TraceFile file = file_of(forward_text("  t2 = prims.copy_(t1, w)  # t2: \"cpu f32[2]\"\n") +
                                 backward_text("w, x",
                                               "  t5 = ltorch.mul(g, x)  # t5: \"cpu f32[2]\"\n"
                                               "  return [t5, t5]"));
  const CheckReport report = check(file, {});
  ASSERT_EQ(report.backward.hazards.size(), 1U);
  EXPECT_EQ(report.backward.hazards[0].matters, false);
  EXPECT_THAT(one_line(report.backward.hazards[0]), HasSubstr("the same with either value"));
  EXPECT_NE(report.verdict, VerdictKind::Different);
}

TEST(Backward, NamesMayDifferPositionsCount) {
  const TraceFile file =
      file_of(forward_text("") + backward_text("a, b",
                                               "  t5 = ltorch.mul(g, b)  # t5: \"cpu f32[2]\"\n"
                                               "  t6 = ltorch.mul(g, a)  # t6: \"cpu f32[2]\"\n"
                                               "  return [t5, t6]"));
  const auto saved = link_saved(file.phases[0].trace, file.phases[1].trace);
  ASSERT_TRUE(saved.has_value());
  ASSERT_EQ(saved->size(), 2U);
  EXPECT_EQ((*saved)[1].name, "x");
  EXPECT_EQ((*saved)[1].backward_name, "b");
}

TEST(Backward, AnotherNumberOfSavedTensorsIsNoLink) {
  const TraceFile file =
      file_of(forward_text("") + backward_text("a, b, c", "  return [None, None]"));
  EXPECT_FALSE(link_saved(file.phases[0].trace, file.phases[1].trace).has_value());
  const CheckReport report = check(file, {});
  EXPECT_FALSE(report.backward.phases[0].ran);
  EXPECT_THAT(report.not_tested,
              ::testing::Contains(HasSubstr("no forward trace saves what it unpacks")));
}

TEST(Backward, GradientsOfTwoPhasesAreCompared) {
  const TraceFile file = file_of(forward_text("") + backward_text("w, x", kGradients) +
                                 backward_text("w, x",
                                               "  t5 = ltorch.mul(g, x)  # t5: \"cpu f32[2]\"\n"
                                               "  t6 = ltorch.mul(g, x)  # t6: \"cpu f32[2]\"\n"
                                               "  return [t5, t6]") +
                                 backward_text("w, x",
                                               "  t6 = ltorch.mul(g, x)  # t6: \"cpu f32[2]\"\n"
                                               "  return [None, t6]"));
  const CheckReport report = check(file, {});
  ASSERT_EQ(report.backward.pairs.size(), 2U);
  EXPECT_EQ(report.backward.pairs[0].comparison.verdict, VerdictKind::Different);
  EXPECT_EQ(report.backward.pairs[1].comparison.verdict, VerdictKind::Same);
  EXPECT_EQ(report.backward.phases[2].left_out, 1U);
  EXPECT_EQ(report.headline, "gradients differ between phases 1 and 2");
}

}  // namespace
}  // namespace tg
