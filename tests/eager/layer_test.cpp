// Losses, pooling, sorting, composed layers. Expected numbers are worked out by hand or in closed
// form.
#include <cmath>

#include "eager_support.h"

namespace tg {
namespace {

void expect_near(const Doubles& got, const Doubles& expected, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << i;
}

TEST(Losses, CrossEntropyOfClassesLeavesIgnoredOut) {
  const RunResult result = must_run(
      "r = ltorch.cross_entropy(a, t, None, None, -100, None, 'mean', 0.0)\n"
      "s = ltorch.cross_entropy(a, t, None, None, -100, None, 'none', 0.0)\nreturn (r, s)",
      {{"a", {tensor_of({0, 0, 0, std::log(3.0)}, {2, 2})}},
       {"t", {vector_of({1, -100}, DType::Int64)}}});
  expect_near(output(result, 0), {std::log(2.0)});
  expect_near(output(result, 1), {std::log(2.0), 0});
}

TEST(Losses, CrossEntropyWeighsAndSmooths) {
  const double log2 = std::log(2.0);
  const double log4 = std::log(4.0);
  const double low = std::log(4.0 / 3.0);
  const RunResult result = must_run(
      "r = torch.nn.functional.cross_entropy(a, t, weight=w)\n"
      "s = torch.nn.functional.cross_entropy(a, t, label_smoothing=0.5)\n"
      "p = torch.nn.functional.cross_entropy(a, q)\nreturn (r, s, p)",
      {{"a", {tensor_of({0, 0, 0, std::log(3.0)}, {2, 2})}},
       {"t", {vector_of({0, 1}, DType::Int64)}},
       {"w", {vector_of({3, 1})}},
       {"q", {tensor_of({0.5, 0.5, 0.25, 0.75}, {2, 2})}}});
  expect_near(output(result, 0), {(3 * log2 + low) / 4});
  expect_near(output(result, 1),
              {(0.5 * log2 + 0.25 * 2 * log2 + 0.5 * low + 0.25 * (low + log4)) / 2});
  expect_near(output(result, 2), {(log2 + 0.25 * log4 + 0.75 * low) / 2});
}

TEST(Losses, TargetsOutsideTheClassesAreRefused) {
  const RunError error =
      must_fail("r = torch.nn.functional.nll_loss(a, t)\nreturn (r,)",
                {{"a", {tensor_of({0, 0}, {1, 2})}}, {"t", {vector_of({2}, DType::Int64)}}});
  EXPECT_EQ(error.type, "IndexError");
  EXPECT_EQ(error.message, "Target 2 is out of bounds.");
}

TEST(Losses, TheBackwardOfNllSpreadsTheGradient) {
  const RunResult result =
      must_run("r = torch_nll_loss_backward_impl(g, a, t, None, 'mean', -100, w)\nreturn (r,)",
               {{"g", {tensor_of({6}, {})}},
                {"a", {tensor_of({0, 0, 0, 0}, {2, 2})}},
                {"t", {vector_of({1, 0}, DType::Int64)}},
                {"w", {tensor_of({2}, {})}}});
  EXPECT_EQ(output(result, 0), (Doubles{0, -3, -3, 0}));
}

TEST(Losses, NvfusersBackwardIsThatOfCrossEntropy) {
  const RunResult result = must_run(
      "(l, m, e, n) = thunder.executors.nvfuserex_impl.nv_cross_entropy_fwd(a, t, None, None, "
      "-100, "
      "None, 'mean', 0.0)\n"
      "d = thunder.executors.nvfuserex_impl.nv_cross_entropy_bwd(g, a, target=t, a_max=m, "
      "max_log_sum_exp=e, valid_indices=n, ignore_index=-100, label_smoothing=0.0)\n"
      "return (l, n, d)",
      {{"a", {tensor_of({0, std::log(3.0), 5, 5}, {2, 2})}},
       {"t", {vector_of({1, -100}, DType::Int64)}},
       {"g", {tensor_of({2}, {})}}});
  expect_near(output(result, 0), {std::log(4.0 / 3)});
  EXPECT_EQ(output(result, 1), (Doubles{1}));
  expect_near(output(result, 2), {0.5, -0.5, 0, 0});
}

TEST(Losses, PerElementLosses) {
  const std::vector<NamedValue> inputs{{"a", {vector_of({1, 5})}}, {"t", {vector_of({2, 1})}}};
  const RunResult result = must_run(
      "m = torch.nn.functional.mse_loss(a, t)\nl = torch.nn.functional.l1_loss(a, t, "
      "reduction='sum')\nh = torch.nn.functional.huber_loss(a, t, reduction='none', delta=2.0)\n"
      "s = torch.nn.functional.smooth_l1_loss(a, t, reduction='none', beta=2.0)\n"
      "return (m, l, h, s)",
      inputs);
  EXPECT_EQ(output(result, 0), (Doubles{8.5}));
  EXPECT_EQ(output(result, 1), (Doubles{5}));
  EXPECT_EQ(output(result, 2), (Doubles{0.5, 6}));
  EXPECT_EQ(output(result, 3), (Doubles{0.25, 3}));
}

TEST(Pooling, CeilModeAndPaddingCount) {
  const std::vector<NamedValue> inputs{{"a", {tensor_of({1, 2, 3, 4, 5}, {1, 1, 5})}}};
  const RunResult result = must_run(
      "m = torch.nn.functional.max_pool1d(a, 2)\n"
      "c = torch.nn.functional.max_pool1d(a, 2, ceil_mode=True)\n"
      "p = torch.nn.functional.avg_pool1d(a, 3, 2, 1)\n"
      "q = torch.nn.functional.avg_pool1d(a, 3, 2, 1, False, False)\nreturn (m, c, p, q)",
      inputs);
  EXPECT_EQ(output(result, 0), (Doubles{2, 4}));
  EXPECT_EQ(output(result, 1), (Doubles{2, 4, 5}));
  EXPECT_EQ(output(result, 2), (Doubles{1, 3, 3}));
  EXPECT_EQ(output(result, 3), (Doubles{1.5, 3, 4.5}));
}

TEST(Pooling, HugeWindowsAreRefusedNotComputed) {
  const RunError error = must_fail("m = torch.nn.functional.max_pool1d(a, 4000000000)\nreturn (m,)",
                                   {{"a", {tensor_of({1, 2, 3}, {1, 1, 3})}}});
  EXPECT_EQ(error.kind, RunErrorKind::RaisesAsTorch);
}

TEST(Order, SortIsStableAndNanIsLargest) {
  const double nan = std::nan("");
  const RunResult result = must_run(
      "(v, i) = torch.sort(a, descending=True)\n(w, j) = torch.topk(a, 2, 0, False)\n"
      "return (i, w, j)",
      {{"a", {vector_of({1, nan, 3, 1})}}});
  EXPECT_EQ(output(result, 0), (Doubles{1, 2, 0, 3}));
  EXPECT_EQ(output(result, 1), (Doubles{1, 1}));
  EXPECT_EQ(output(result, 2), (Doubles{0, 3}));
}

TEST(Order, SortKeepsTheStridesOfItsInput) {
  Tensor a = tensor_of({4, 3, 2, 1}, {2, 2});
  std::swap(a.geometry.strides[0], a.geometry.strides[1]);
  const RunResult result = must_run("(v, i) = torch.sort(a, dim=1)\nreturn (v, i)", {{"a", {a}}});
  EXPECT_EQ(output_tensor(result, 0).geometry.strides, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(output(result, 0), (Doubles{2, 4, 1, 3}));
  EXPECT_EQ(output(result, 1), (Doubles{1, 0, 1, 0}));
}

TEST(Order, RunningExtremesTakeTheNewestOfEquals) {
  const RunResult result =
      must_run("(v, i) = torch.cummax(a, 0)\nreturn (v, i)", {{"a", {vector_of({1, 3, 3, 2})}}});
  EXPECT_EQ(output(result, 0), (Doubles{1, 3, 3, 3}));
  EXPECT_EQ(output(result, 1), (Doubles{0, 1, 2, 2}));
}

TEST(Reductions, NanIsLeftOut) {
  const RunResult result = must_run(
      "s = torch.nansum(a)\nm = torch.nanmean(a)\nc = torch.count_nonzero(a)\nreturn (s, m, c)",
      {{"a", {vector_of({1, std::nan(""), 3, 0})}}});
  EXPECT_EQ(output(result, 0), (Doubles{4}));
  EXPECT_NEAR(output(result, 1)[0], 4.0 / 3, 1e-6);
  EXPECT_EQ(output(result, 2), (Doubles{3}));
}

TEST(Reductions, LogsumexpOfLargeNumbersStaysFinite) {
  const RunResult result =
      must_run("s = torch.logsumexp(a, 0)\nc = torch.cumprod(i, 0)\nreturn (s, c)",
               {{"a", {vector_of({1000, 1000})}}, {"i", {vector_of({2, 3, 4}, DType::Int32)}}});
  EXPECT_NEAR(output(result, 0)[0], 1000 + std::log(2.0), 1e-3);
  EXPECT_EQ(output(result, 1), (Doubles{2, 6, 24}));
  EXPECT_EQ(output_tensor(result, 1).dtype, DType::Int64);
}

TEST(Layers, GroupAndRmsNorm) {
  const RunResult result = must_run(
      "g = torch.nn.functional.group_norm(a, 2, None, None, 0.0)\n"
      "r = ltorch.rms_norm(b, (2,), None, 0.0)\nreturn (g, r)",
      {{"a", {tensor_of({1, 3, 10, 30}, {1, 2, 2})}}, {"b", {tensor_of({3, 3, 1, 7}, {2, 2})}}});
  expect_near(output(result, 0), {-1, 1, -1, 1});
  expect_near(output(result, 1), {1, 1, 0.2, 1.4});
}

TEST(Layers, ProductsWithABase) {
  const RunResult result = must_run(
      "m = torch.addmm(a, b, b, beta=0.5, alpha=2)\nz = torch.addmm(n, b, b, beta=0)\n"
      "v = torch.mv(b, u)\nd = torch.dot(u, u)\no = torch.outer(u, u)\nreturn (m, z, v, d, o)",
      {{"a", {vector_of({2, 4})}},
       {"b", {tensor_of({1, 2, 3, 4}, {2, 2})}},
       {"n", {vector_of({std::nan(""), 0})}},
       {"u", {vector_of({1, 2})}}});
  EXPECT_EQ(output(result, 0), (Doubles{15, 22, 31, 46}));
  EXPECT_EQ(output(result, 1), (Doubles{7, 10, 15, 22}));
  EXPECT_EQ(output(result, 2), (Doubles{5, 11}));
  EXPECT_EQ(output(result, 3), (Doubles{5}));
  EXPECT_EQ(output(result, 4), (Doubles{1, 2, 2, 4}));
}

TEST(Layers, ScatterReduceWithAndWithoutSelf) {
  const std::vector<NamedValue> inputs{{"a", {vector_of({10, 20, 30})}},
                                       {"i", {vector_of({0, 0, 2}, DType::Int64)}},
                                       {"s", {vector_of({2, 4, 6})}}};
  const RunResult result = must_run(
      "m = torch.scatter_reduce(a, 0, i, s, 'mean')\n"
      "p = torch.scatter_reduce(a, 0, i, s, 'prod', include_self=False)\n"
      "x = torch.scatter_reduce(a, 0, i, s, 'amin')\nreturn (m, p, x)",
      inputs);
  expect_near(output(result, 0), {16.0 / 3, 20, 18});
  EXPECT_EQ(output(result, 1), (Doubles{8, 20, 6}));
  EXPECT_EQ(output(result, 2), (Doubles{2, 20, 6}));
}

TEST(Layers, PartsWrittenIntoACopy) {
  const std::vector<NamedValue> inputs{{"a", {tensor_of({1, 2, 3, 4}, {2, 2})}},
                                       {"v", {vector_of({8, 9})}}};
  const RunResult result = must_run(
      "s = torch.select_scatter(a, v, 0, 1)\nd = torch.diagonal_scatter(a, v)\n"
      "e = torch.diag_embed(v)\nr = torch.repeat_interleave(a, 2, 0)\nreturn (s, d, e, r)",
      inputs);
  EXPECT_EQ(output(result, 0), (Doubles{1, 2, 8, 9}));
  EXPECT_EQ(output(result, 1), (Doubles{8, 2, 3, 9}));
  EXPECT_EQ(output(result, 2), (Doubles{8, 0, 0, 9}));
  EXPECT_EQ(output(result, 3), (Doubles{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(argument(result, 0), (Doubles{1, 2, 3, 4}));
}

TEST(Special, ElementwiseFunctionsOfFewUsers) {
  const RunResult result = must_run(
      "g = torch.gcd(i, j)\nl = torch.lcm(i, j)\nx = torch.xlogy(z, z)\n"
      "f = torch.fmax(n, o)\nh = torch.heaviside(o, z)\np = torch.float_power(i, 0.5)\n"
      "return (g, l, x, f, h, p)",
      {{"i", {vector_of({12, 0}, DType::Int64)}},
       {"j", {vector_of({18, 5}, DType::Int64)}},
       {"z", {vector_of({0, 0})}},
       {"n", {vector_of({std::nan(""), 2})}},
       {"o", {vector_of({1, -1})}}});
  EXPECT_EQ(output(result, 0), (Doubles{6, 5}));
  EXPECT_EQ(output(result, 1), (Doubles{36, 0}));
  EXPECT_EQ(output(result, 2), (Doubles{0, 0}));
  EXPECT_EQ(output(result, 3), (Doubles{1, 2}));
  EXPECT_EQ(output(result, 4), (Doubles{1, 0}));
  EXPECT_EQ(output_tensor(result, 5).dtype, DType::Float64);
  EXPECT_DOUBLE_EQ(output(result, 5)[0], std::sqrt(12.0));
}

TEST(Special, InverseErrorFunctions) {
  const RunResult result =
      must_run("e = prims.erfcinv(a)\nq = prims.ndtri(b)\nreturn (e, q)",
               {{"a", {vector_of({std::erfc(0.3), std::erfc(1.0), 1}, DType::Float64)}},
                {"b", {vector_of({0.5, 0.97724986805182079}, DType::Float64)}}});
  expect_near(output(result, 0), {0.3, 1.0, 0}, 1e-9);
  expect_near(output(result, 1), {0, 2}, 1e-12);
}

TEST(Special, ComplexSpecialValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  const RunResult result =
      must_run("s = torch.sgn(c)\nq = torch.sqrt(c)\nn = torch.nan_to_num(c)\nreturn (s, q, n)",
               {{"c", {tensor_of({0, 0, 3, 4, 1, infinity}, {3}, DType::Complex128)}}});
  const Doubles sign = output(result, 0);
  EXPECT_EQ(Doubles(sign.begin(), sign.begin() + 4), (Doubles{0, 0, 0.6, 0.8}));
  EXPECT_EQ(output(result, 1)[4], infinity);
  EXPECT_EQ(output(result, 2)[5], std::numeric_limits<double>::max());
}

TEST(Special, ALoneNanBoundKeepsTheValue) {
  const RunResult result = must_run(
      "r = torch.clamp(a, float('NaN'), None)\ns = torch.clamp(a, None, float('NaN'))\n"
      "return (r, s)",
      {{"a", {vector_of({1, 2})}}});
  EXPECT_EQ(output(result, 0), (Doubles{1, 2}));
  EXPECT_TRUE(std::isnan(output(result, 1)[0]));
}

}  // namespace
}  // namespace tg
