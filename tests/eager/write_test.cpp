#include "eager_support.h"

namespace tg {
namespace {

constexpr const char* kSelfOverlap =
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. "
    "Please clone() the tensor before performing the operation.";

TEST(Write, CopyIntoConvertsAndBroadcasts) {
  const RunResult result = must_run(
      "t0 = ltorch.copy_(x, y)\nreturn (t0,)",
      {{"x", {tensor_of({0, 0, 0, 0}, {2, 2}, DType::Int32)}}, {"y", {vector_of({1.9, -2.9})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{1, -2, 1, -2}));
  EXPECT_EQ(output_tensor(result, 0).dtype, DType::Int32);
}

TEST(Write, PrimCopyTakesTheSourceFirst) {
  const RunResult result = must_run("t0 = prims.copy_(x, y)\nreturn (t0,)",
                                    {{"x", {vector_of({1, 2})}}, {"y", {vector_of({0, 0})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{1, 2}));
  EXPECT_EQ(argument(result, 1), (Doubles{1, 2}));
}

TEST(Write, InPlaceResultIsRoundedToTheTargetsType) {
  const RunResult result =
      must_run("t0 = ltorch.add_(x, y, alpha=1)\nreturn (t0,)",
               {{"x", {vector_of({1}, DType::BFloat16)}}, {"y", {vector_of({0.00390625})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{1}));
  EXPECT_EQ(output_tensor(result, 0).dtype, DType::BFloat16);
}

TEST(Write, FloatResultDoesNotFitAnIntegerTarget) {
  const RunError error =
      must_fail("t0 = ltorch.mul_(x, 2.5)\nreturn (t0,)", {{"x", {vector_of({1}, DType::Int64)}}});
  EXPECT_EQ(error.kind, RunErrorKind::RaisesAsTorch);
  EXPECT_EQ(error.type, "RuntimeError");
  EXPECT_EQ(error.message, "result type Float can't be cast to the desired output type Long");
}

TEST(Write, ExpandedTargetIsRefusedExceptForOneValue) {
  const std::vector<NamedValue> inputs{{"x", {vector_of({1})}}};
  EXPECT_EQ(
      must_fail("t0 = ltorch.expand(x, (3,))\nt1 = ltorch.mul_(t0, 2.0)\nreturn (t1,)", inputs)
          .message,
      kSelfOverlap);
  const RunResult filled =
      must_run("t0 = ltorch.expand(x, (3,))\nt1 = ltorch.zero_(t0)\nreturn (t1,)", inputs);
  EXPECT_EQ(argument(filled, 0), (Doubles{0}));
}

TEST(Write, OneElementOfAnExpandedViewMayBeSet) {
  const RunResult result =
      must_run("t0 = ltorch.expand(p, 2, 3)\nltorch.setitem_(t0, (0, 0), 50.0)\nreturn (t0,)",
               {{"p", {vector_of({1, 2, 3})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{50, 2, 3}));
  EXPECT_EQ(output(result, 0), (Doubles{50, 2, 3, 50, 2, 3}));
}

TEST(Write, PartlyOverlappingOperandIsRefused) {
  const RunError error = must_fail(
      "t0 = prims.slice_prim(x, (0,), (3,), (1,))\n"
      "t1 = prims.slice_prim(x, (1,), (4,), (1,))\n"
      "t2 = prims.copy_(t0, t1)\n"
      "return (t2,)",
      {{"x", {vector_of({1, 2, 3, 4})}}});
  EXPECT_EQ(error.kind, RunErrorKind::RaisesAsTorch);
  EXPECT_EQ(error.statement, 2U);
}

TEST(Write, TransposedOperandIsReadBeforeTheWrite) {
  const RunResult result = must_run(
      "t0 = ltorch.view(x, (2, 2))\nt1 = ltorch.transpose(t0, 0, 1)\nt2 = ltorch.clone(t1)\n"
      "t3 = prims.copy_(t2, t0)\nreturn (x,)",
      {{"x", {vector_of({1, 2, 3, 4})}}});
  EXPECT_EQ(output(result, 0), (Doubles{1, 3, 2, 4}));
}

TEST(Write, FlagFormWritesOnlyWithTheFlag) {
  const std::vector<NamedValue> inputs{{"x", {vector_of({-1, 2})}}};
  EXPECT_EQ(argument(must_run("t0 = ltorch.relu(x, True)\nreturn (t0,)", inputs), 0),
            (Doubles{0, 2}));
  EXPECT_EQ(argument(must_run("t0 = ltorch.relu(x, False)\nreturn (t0,)", inputs), 0),
            (Doubles{-1, 2}));
}

TEST(Write, SetitemWithSliceTensorAndMaskKeys) {
  const RunResult result = must_run(
      "ltorch.setitem_(x, slice(0, 2, None), 7.0)\n"
      "ltorch.setitem_(x, i, 8.0)\n"
      "ltorch.setitem_(x, m, 9.0)\n"
      "return (x,)",
      {{"x", {vector_of({0, 0, 0, 0})}},
       {"i", {vector_of({-1}, DType::Int64)}},
       {"m", {vector_of({0, 1, 0, 0}, DType::Bool)}}});
  EXPECT_EQ(output(result, 0), (Doubles{7, 9, 0, 8}));
}

TEST(Write, BatchNormUpdatesItsStatisticsInTheCall) {
  const RunResult result = must_run(
      "t0 = ltorch.batch_norm(x, m, v, None, None, True, 0.5, 0.0)\nreturn (t0,)",
      {{"x", {tensor_of({1, 3}, {2, 1})}}, {"m", {vector_of({0})}}, {"v", {vector_of({1})}}});
  EXPECT_EQ(output(result, 0), (Doubles{-1, 1}));
  EXPECT_EQ(argument(result, 1), (Doubles{1}));    // (0 + 2) / 2
  EXPECT_EQ(argument(result, 2), (Doubles{1.5}));  // (1 + 2) / 2: the unbiased variance
}

TEST(Write, ForeachWritesEveryTensorOfTheList) {
  const RunResult result = must_run("torch._foreach_add_([p, q], [q, q], alpha=2)\nreturn ()",
                                    {{"p", {vector_of({1})}}, {"q", {vector_of({10})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{21}));
  EXPECT_EQ(argument(result, 1), (Doubles{30}));
}

}  // namespace
}  // namespace tg
