#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

TEST(CommonSubexpressions, EqualExpressionsAreComputedOnce) {
  const PassResult result = run_pass("common_subexpressions", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.add(x, 1, alpha=1)  # t0: "cpu f32[2]"
  t1 = ltorch.add(x, 1.0, alpha=True)  # t1: "cpu f32[2]"
  t2 = ltorch.neg(t0)  # t2: "cpu f32[2]"
  t3 = ltorch.neg(t1)  # t3: "cpu f32[2]"
  return (t0, t1, t2, t3)
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  t0 = ltorch.add(x, 1, alpha=1)  # t0: "cpu f32[2]"
  t2 = ltorch.neg(t0)  # t2: "cpu f32[2]"
  return (t0, t0, t2, t2)
)");
  EXPECT_EQ(steps_of(result), R"(
same-expression: add (line 4) computes what add (line 3) has computed
same-expression: neg (line 6) computes what neg (line 5) has computed
)");
}

TEST(CommonSubexpressions, ReadersAreRenamedInTheStepThatErases) {
  const Trace before = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.neg(x)  # t0: "cpu f32[2]"
  t1 = ltorch.neg(x)  # t1: "cpu f32[2]"
  t2 = ltorch.exp(t1)  # t2: "cpu f32[2]"
  return (t1, t2)
)");
  const PassResult result = run_pass("common_subexpressions", before);
  ASSERT_EQ(result.steps.size(), 1U);
  EXPECT_EQ(result.steps.front().edits.size(), 3U);  // t1 goes; exp and the return read t0
}

TEST(CommonSubexpressions, RandomNumbersAreDrawnAnew) {
  const Trace before = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.uniform_like(x, 0.0, 1.0, device=None, dtype=None)  # t0: "cpu f32[2]"
  t1 = ltorch.uniform_like(x, 0.0, 1.0, device=None, dtype=None)  # t1: "cpu f32[2]"
  return (t0, t1)
)");
  EXPECT_EQ(body_of(run_pass("common_subexpressions", before).after), body_of(before));
}

TEST(CommonSubexpressions, AWriteInBetweenIsNotSeen) {
  // Thunder's unsound corner: both reads of x become one.
  const PassResult result = run_pass("common_subexpressions", trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = ltorch.neg(x)  # t0: "cpu f32[2]"
  t1 = ltorch.copy_(x, y)  # t1: "cpu f32[2]"
  t2 = ltorch.neg(x)  # t2: "cpu f32[2]"
  return (t0, t2)
)"));
  EXPECT_EQ(result.after.bound_symbols.size(), 5U);
}

}  // namespace
}  // namespace tg
