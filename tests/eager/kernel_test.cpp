#include "core/eager/kernel.h"

#include <cmath>
#include <limits>

#include "eager_support.h"

namespace tg {
namespace {

TEST(Kernels, EveryRowWithoutKNoKernelHasOne) {
  for (const OpInfo& op : all_ops()) {
    const bool runs_otherwise = op.has(kNoKernel | kGuard | kContextManager) ||
                                op.code == OpCode::Opaque || op.code == OpCode::Fusion;
    const bool twin_runs = !op.has(kInPlace) || !info(op.twin).has(kNoKernel);
    if (runs_otherwise || !twin_runs) continue;
    EXPECT_NE(kernel_of(op.code), nullptr) << op.name;
  }
}

TEST(Kernels, NumbersAreWeakAndZeroDimTensorsYield) {
  const RunResult result = must_run(
      "t0 = ltorch.add(x, 0.5, alpha=1)\nt1 = ltorch.add(i, 0.5, alpha=1)\nt2 = ltorch.mul(x, "
      "s)\nreturn (t0, t1, t2)",
      {{"x", {vector_of({1}, DType::BFloat16)}},
       {"i", {vector_of({1}, DType::Int64)}},
       {"s", {tensor_of({2}, {}, DType::Float64)}}});
  EXPECT_EQ(output_tensor(result, 0).dtype, DType::BFloat16);
  EXPECT_EQ(output_tensor(result, 1).dtype, DType::Float32);
  EXPECT_EQ(output_tensor(result, 2).dtype, DType::BFloat16);
}

TEST(Kernels, NarrowFloatsAreComputedWideAndRoundedOnce) {
  // 1 + 2^-8 + 2^-9 lies above the half way point that rounding each step would fall back from.
  const RunResult result = must_run("t0 = ltorch.addcmul(x, y, z, value=1)\nreturn (t0,)",
                                    {{"x", {vector_of({1}, DType::BFloat16)}},
                                     {"y", {vector_of({0.00390625}, DType::BFloat16)}},
                                     {"z", {vector_of({1.5}, DType::BFloat16)}}});
  EXPECT_EQ(output(result, 0), (Doubles{1.0078125}));
}

TEST(Kernels, IntegersWrap) {
  const RunResult result =
      must_run("t0 = ltorch.mul(x, x)\nreturn (t0,)", {{"x", {vector_of({100}, DType::Int8)}}});
  EXPECT_EQ(output(result, 0), (Doubles{16}));
}

TEST(Kernels, IntegerDivisionByZeroRaises) {
  const RunError error = must_fail("t0 = ltorch.remainder(x, 0)\nreturn (t0,)",
                                   {{"x", {vector_of({1}, DType::Int64)}}});
  EXPECT_EQ(error.kind, RunErrorKind::RaisesAsTorch);
  EXPECT_EQ(error.message, "ZeroDivisionError");
}

TEST(Kernels, PythonNumbersStayPython) {
  const RunResult result = must_run(
      "n = prims.add(2, 3)\nf = prims.mul(n, 0.5)\nb = prims.lt(f, n)\nreturn (n, f, b)", {});
  ASSERT_EQ(result.outputs.size(), 3U);
  EXPECT_EQ(*result.outputs[0].value.as<std::int64_t>(), 5);
  EXPECT_EQ(*result.outputs[1].value.as<double>(), 2.5);
  EXPECT_EQ(*result.outputs[2].value.as<bool>(), true);
}

TEST(Kernels, NanWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const RunResult result = must_run(
      "t0 = ltorch.maximum(x, y)\nt1 = ltorch.amax(x, 0, False)\nt2 = ltorch.argmax(x, 0, "
      "False)\nreturn (t0, t1, t2)",
      {{"x", {vector_of({1, nan})}}, {"y", {vector_of({5, 5})}}});
  EXPECT_EQ(output(result, 0)[0], 5);
  EXPECT_TRUE(std::isnan(output(result, 0)[1]));
  EXPECT_TRUE(std::isnan(output(result, 1)[0]));
  EXPECT_EQ(output(result, 2), (Doubles{1}));
}

TEST(Kernels, SumsOfIntegersAreInt64AndPrimsDropTheDims) {
  const RunResult result = must_run(
      "t0 = ltorch.sum(x, 0, True, dtype=None)\nt1 = prims.sum(x, (0, 1))\nreturn (t0, t1)",
      {{"x", {tensor_of({100, 100, 100, 100}, {2, 2}, DType::Int8)}}});
  EXPECT_EQ(output_tensor(result, 0).dtype, DType::Int64);
  EXPECT_EQ(output_tensor(result, 0).geometry.sizes, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(output(result, 1), (Doubles{400}));
}

TEST(Kernels, MatmulBroadcastsBatches) {
  const RunResult result = must_run(
      "t0 = ltorch.matmul(a, b)\nreturn (t0,)",
      {{"a", {tensor_of({1, 2, 3, 4}, {2, 1, 2})}}, {"b", {tensor_of({1, 1, 0, 1}, {2, 2})}}});
  EXPECT_EQ(output_tensor(result, 0).geometry.sizes, (std::vector<std::int64_t>{2, 1, 2}));
  EXPECT_EQ(output(result, 0), (Doubles{1, 3, 3, 7}));
}

TEST(Kernels, PrimDivisionOfIntegersTruncates) {
  const RunResult result = must_run(
      "t0 = prims.div(x, y)\nt1 = ltorch.floor_divide(x, y)\nt2 = ltorch.true_divide(x, y)\nreturn "
      "(t0, t1, t2)",
      {{"x", {vector_of({-7}, DType::Int64)}}, {"y", {vector_of({2}, DType::Int64)}}});
  EXPECT_EQ(output(result, 0), (Doubles{-3}));
  EXPECT_EQ(output(result, 1), (Doubles{-4}));
  EXPECT_EQ(output(result, 2), (Doubles{-3.5}));
}

TEST(Kernels, GatherAndScatterArgumentOrders) {
  const RunResult result = must_run(
      "t0 = prims.gather(x, i, 0)\nt1 = ltorch.gather(x, 0, i)\nt2 = ltorch.scatter_add(x, 0, i, "
      "x)\nreturn (t0, t1, t2)",
      {{"x", {vector_of({10, 20})}}, {"i", {vector_of({1, 1}, DType::Int64)}}});
  EXPECT_EQ(output(result, 0), (Doubles{20, 20}));
  EXPECT_EQ(output(result, 1), (Doubles{20, 20}));
  EXPECT_EQ(output(result, 2), (Doubles{10, 50}));
}

TEST(Kernels, RandomNumbersFollowTheSeedAndAreDeclared) {
  RunInputs inputs;
  inputs.seed = 7;
  const Trace trace =
      program("t0 = ltorch.uniform((3,), 0.0, 1.0, device=None, dtype=None)\nreturn (t0,)", {});
  const auto first = run(trace, inputs);
  const auto second = run(trace, inputs);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_TRUE(first->used_random);
  EXPECT_EQ(output(*first, 0), output(*second, 0));
}

}  // namespace
}  // namespace tg
