#include "eager_support.h"

namespace tg {
namespace {

TEST(Aliasing, WriteThroughAViewReachesTheArgument) {
  const RunResult result = must_run(
      "t0 = ltorch.view(x, (4,))\n"
      "t1 = ltorch.mul_(t0, 2.0)\n"
      "return (t1, x)",
      {{"x", {tensor_of({1, 2, 3, 4}, {2, 2})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{2, 4, 6, 8}));
  EXPECT_TRUE(output_tensor(result, 0).shares_storage_with(output_tensor(result, 1)));
}

TEST(Aliasing, ArgumentsThatShareAStorageStayTogether) {
  const Tensor base = vector_of({1, 2, 3, 4});
  Tensor window = base;
  window.geometry = {{2}, {1}, 1};
  const RunResult result =
      must_run("t0 = ltorch.add_(w, 10.0, alpha=1)\nreturn (a,)", {{"a", {base}}, {"w", {window}}});
  EXPECT_EQ(output(result, 0), (Doubles{1, 12, 13, 4}));
  EXPECT_EQ(values_as_double(base), (Doubles{1, 2, 3, 4})) << "a run works on copies";
}

TEST(Aliasing, ReshapeSharesOnlyWhereStridesAllow) {
  const RunResult result = must_run(
      "t0 = ltorch.reshape(x, (6,))\n"
      "t1 = ltorch.transpose(x, 0, 1)\n"
      "t2 = ltorch.reshape(t1, (6,))\n"
      "return (x, t0, t2)",
      {{"x", {tensor_of({1, 2, 3, 4, 5, 6}, {2, 3})}}});
  EXPECT_TRUE(output_tensor(result, 1).shares_storage_with(output_tensor(result, 0)));
  EXPECT_FALSE(output_tensor(result, 2).shares_storage_with(output_tensor(result, 0)));
  EXPECT_EQ(output(result, 2), (Doubles{1, 4, 2, 5, 3, 6}));
}

TEST(Aliasing, IdentitiesGiveTheirArgumentsBack) {
  const RunResult result = must_run(
      "(t0, t1) = prims.update_aliases((x, y))\n"
      "t2 = prims.shallow_copy(t1)\n"
      "t3 = ltorch.to(x, torch.float32, None, device=None, dtype=None, copy=False, "
      "memory_format=None)\n"
      "return (x, y, t0, t2, t3)",
      {{"x", {vector_of({1})}}, {"y", {vector_of({2})}}});
  EXPECT_TRUE(output_tensor(result, 2).shares_storage_with(output_tensor(result, 0)));
  EXPECT_TRUE(output_tensor(result, 3).shares_storage_with(output_tensor(result, 1)));
  EXPECT_TRUE(output_tensor(result, 4).shares_storage_with(output_tensor(result, 0)));
}

TEST(Aliasing, CloneAndCastsAreFreshAndKeepDenseStrides) {
  Tensor transposed = tensor_of({1, 2, 3, 4, 5, 6}, {3, 2});
  transposed.geometry = {{2, 3}, {1, 2}, 0};
  const RunResult result = must_run(
      "t0 = ltorch.clone(x)\nt1 = prims.convert_element_type(x, dtypes.float64)\nreturn (x, t0, "
      "t1)",
      {{"x", {transposed}}});
  EXPECT_FALSE(output_tensor(result, 1).shares_storage_with(output_tensor(result, 0)));
  EXPECT_EQ(output_tensor(result, 1).geometry.strides, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(output_tensor(result, 2).geometry.strides, (std::vector<std::int64_t>{1, 2}));
}

TEST(Aliasing, ElementwiseResultTakesTheFirstTellingOperandsOrder) {
  Tensor transposed = tensor_of({1, 2, 3, 4, 5, 6}, {3, 2});
  transposed.geometry = {{2, 3}, {1, 2}, 0};
  const RunResult result =
      must_run("t0 = ltorch.add(x, y, alpha=1)\nreturn (t0,)",
               {{"x", {transposed}}, {"y", {tensor_of({0, 0, 0, 0, 0, 0}, {2, 3})}}});
  EXPECT_EQ(output_tensor(result, 0).geometry.strides, (std::vector<std::int64_t>{1, 2}));
}

TEST(Aliasing, DelUnbindsTheNameAndKeepsTheStorage) {
  const RunResult result =
      must_run("t0 = ltorch.view(x, (2,))\ndel x\nreturn (t0,)", {{"x", {vector_of({5, 6})}}});
  EXPECT_EQ(output(result, 0), (Doubles{5, 6}));
  const RunError error =
      must_fail("del x\nt0 = ltorch.neg(x)\nreturn (t0,)", {{"x", {vector_of({5})}}});
  EXPECT_EQ(error.kind, RunErrorKind::BadProgram);
  EXPECT_EQ(error.message, "name 'x' has no value");
  EXPECT_EQ(error.statement, 1U);
}

}  // namespace
}  // namespace tg
