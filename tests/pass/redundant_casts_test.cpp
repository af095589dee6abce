#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::run_pass;
using testing::trace_of;

TEST(RedundantCasts, ACastBackGoesAndItsReadersReadTheFirstValue) {
  const PassResult result = run_pass("redundant_casts", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  a = prims.convert_element_type(x, dtypes.bfloat16)  # a: "cpu bf16[2]"
  b = prims.convert_element_type(a, dtypes.float32)  # b: "cpu f32[2]"
  c = prims.sin(b)  # c: "cpu f32[2]"
  return (a, c)
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  a = prims.convert_element_type(x, dtypes.bfloat16)  # a: "cpu bf16[2]"
  c = prims.sin(x)  # c: "cpu f32[2]"
  return (a, c)
)");
}

TEST(RedundantCasts, ACastOfACastCastsTheFirstValue) {
  const PassResult result = run_pass("redundant_casts", trace_of(R"(
def computation(x):
  # x: "cpu f64[2]"
  a = prims.convert_element_type(x, dtypes.float32)  # a: "cpu f32[2]"
  b = prims.convert_element_type(a, dtypes.float16)  # b: "cpu f16[2]"
  return b
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f64[2]"
  a = prims.convert_element_type(x, dtypes.float32)  # a: "cpu f32[2]"
  b = prims.convert_element_type(x, dtypes.float16)  # b: "cpu f16[2]"
  return b
)");
}

TEST(RedundantCasts, IntegersAreLeftAlone) {
  const Trace before = trace_of(R"(
def computation(x):
  # x: "cpu i64[2]"
  a = prims.convert_element_type(x, dtypes.float32)  # a: "cpu f32[2]"
  b = prims.convert_element_type(a, dtypes.int64)  # b: "cpu i64[2]"
  return b
)");
  EXPECT_EQ(body_of(run_pass("redundant_casts", before).after), body_of(before));
}

TEST(RedundantCasts, ARegionGivesTheFirstValueInsteadOfTheCast) {
  const PassResult result = run_pass("redundant_casts", trace_of(R"(
def computation(x):
  # x: "cuda:0 f32[2]"
  [t1, t2] = nvFusion0(x)
    # t0 = prims.convert_element_type(x, dtypes.bfloat16)  # t0: "cuda:0 bf16[2]"
    # t1 = prims.convert_element_type(t0, dtypes.float32)  # t1: "cuda:0 f32[2]"
    # t2 = prims.sin(t1)  # t2: "cuda:0 f32[2]"
  t3 = torch.neg(t1)  # t3: "cuda:0 f32[2]"
  return (t2, t3)
)"));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cuda:0 f32[2]"
  [x, t2] = nvFusion0(x)
    # t0 = prims.convert_element_type(x, dtypes.bfloat16)  # t0: "cuda:0 bf16[2]"
    # t2 = prims.sin(x)  # t2: "cuda:0 f32[2]"
  t3 = torch.neg(x)  # t3: "cuda:0 f32[2]"
  return (t2, t3)
)");
}

TEST(FusedSubexpressions, PartsOfOneRegionAreComputedOnce) {
  const PassResult result = run_pass("fused_subexpressions", trace_of(R"(
def computation(x):
  # x: "cuda:0 f32[2]"
  [t1, t2] = nvFusion0(x)
    # t1 = prims.neg(x)  # t1: "cuda:0 f32[2]"
    # t2 = prims.neg(x)  # t2: "cuda:0 f32[2]"
  return (t1, t2)
)"));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cuda:0 f32[2]"
  [t1] = nvFusion0(x)
    # t1 = prims.neg(x)  # t1: "cuda:0 f32[2]"
  return (t1, t1)
)");
}

}  // namespace
}  // namespace tg
