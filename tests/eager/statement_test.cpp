#include "eager_support.h"

namespace tg {
namespace {

TEST(Statements, NoneForAParameterWithADefaultMeansTheDefault) {
  const std::vector<NamedValue> inputs{{"x", {vector_of({1, 2})}}, {"y", {vector_of({3, 4})}}};
  EXPECT_EQ(output(must_run("t0 = ltorch.add(x, y, alpha=None)\nreturn (t0,)", inputs), 0),
            (Doubles{4, 6}));
  EXPECT_EQ(output(must_run("t0 = ltorch.sub(y, x, alpha=None)\nreturn (t0,)", inputs), 0),
            (Doubles{2, 2}));
  EXPECT_EQ(argument(must_run("ltorch.add_(x, y, alpha=None)\nreturn (x,)", inputs), 0),
            (Doubles{4, 6}));
  EXPECT_EQ(output(must_run("t0 = ltorch.leaky_relu(x, None)\nreturn (t0,)", inputs), 0),
            (Doubles{1, 2}));
}

TEST(Statements, ResultsThatAreNotWhatTheTextSaysAreNamed) {
  const RunResult result = must_run(
      "t0 = ltorch.neg(x)  # t0: \"cpu f32[5]\"\nt1 = ltorch.neg(x)  # t1: \"cpu f32[2]\"\n"
      "return (t0, t1)",
      {{"x", {vector_of({1, 2})}}});
  EXPECT_EQ(result.wrong_types,
            (std::vector<std::string>{"line 10: t0 is f32[2] where the text says f32[5]"}));
}

TEST(Statements, SubStatementsOfKnownOperationsAreDocumentation) {
  const RunResult result = must_run(
      "t1 = ltorch.add_(x, 1.0, alpha=1)\n"
      "  # t0 = ltorch.add(x, 1.0, alpha=1)\n"
      "  # t1 = prims.copy_(t0, x)\n"
      "return (t1,)",
      {{"x", {vector_of({1})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{2}));
  EXPECT_TRUE(result.notes.empty());
}

TEST(Statements, RegionsRunTheirBodyInAScopeOfTheirOwn) {
  const RunResult result = must_run(
      "[t2] = nvFusion0(x)\n"
      "  # t1 = prims.neg(x)\n"
      "  # x = prims.mul(t1, 3.0)\n"
      "  # t2 = prims.add(x, t1)\n"
      "return (t2, x)",
      {{"x", {vector_of({1})}}});
  EXPECT_EQ(output(result, 0), (Doubles{-4}));
  EXPECT_EQ(output(result, 1), (Doubles{1})) << "the inner x must not replace the argument";
}

TEST(Statements, NameThatOnlyASubStatementDefines) {
  const RunResult result = must_run(
      "ltorch.setitem_(x, 0, 7.0)\n"
      "  # t0 = ltorch.setitem(x, 0, 7.0)\n"
      "  # t1 = prims.copy_(t0, x)\n"
      "t2 = ltorch.mul(t1, 2.0)\n"
      "return (t2,)",
      {{"x", {vector_of({1, 2})}}});
  EXPECT_EQ(output(result, 0), (Doubles{14, 4}));
  EXPECT_EQ(argument(result, 0), (Doubles{7, 2}));
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_NE(result.notes.front().find("ltorch.setitem_"), std::string::npos);
}

TEST(Statements, UnknownOperationNeedsSubStatements) {
  const std::vector<NamedValue> inputs{{"x", {vector_of({1})}}};
  const RunResult result =
      must_run("t0 = my.own_op(x)\n  # t0 = prims.neg(x)\nreturn (t0,)", inputs);
  EXPECT_EQ(output(result, 0), (Doubles{-1}));
  const RunError error = must_fail("t0 = my.own_op(x)\nreturn (t0,)", inputs);
  EXPECT_EQ(error.kind, RunErrorKind::NotSupported);
  EXPECT_NE(error.message.find("my.own_op"), std::string::npos);
  EXPECT_EQ(
      first_not_runnable(program("t0 = prims.neg(x)\nt1 = my.own_op(t0)\nreturn (t1,)", inputs)),
      1U);
}

TEST(Statements, UnboundNumbersComeFromTheirTypes) {
  const RunResult result =
      must_run("t0 = prims.mul(x, f5)\nt1 = prims.add(t0, i0)\nreturn (t1,)\n",
               {{"x", {vector_of({2})}}, {"f5", {3.0}}, {"i0", {std::int64_t{1}}}});
  EXPECT_EQ(output(result, 0), (Doubles{7}));
}

TEST(Statements, CollectionsUnpackAndReturnTrees) {
  const RunResult result = must_run(
      "a, b, = C0\nt0 = ltorch.sub(a, b, alpha=1)\nreturn {'output': (t0, [b]), 'flat_args': [C0]}",
      {{"C0", {Sequence{false, {{vector_of({5})}, {vector_of({2})}}}}}});
  ASSERT_EQ(result.outputs.size(), 2U);
  EXPECT_EQ(result.outputs[1].name, "out[1]");
  EXPECT_EQ(output(result, 0), (Doubles{3}));
  EXPECT_NE(result.returned.as<Mapping>(), nullptr);
}

TEST(Statements, WriteAfterReturnNeverHappens) {
  const RunResult result = must_run("return (x,)\nt0 = prims.copy_(y, x)",
                                    {{"x", {vector_of({1})}}, {"y", {vector_of({9})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{1}));
}

TEST(Statements, MethodsOnTensorsInHandWrittenText) {
  const RunResult result = must_run("t0 = x.contiguous()\nt1 = x.t()\nreturn (t0, t1)",
                                    {{"x", {tensor_of({1, 2}, {1, 2})}}});
  EXPECT_EQ(output_tensor(result, 1).geometry.sizes, (std::vector<std::int64_t>{2, 1}));
}

TEST(Statements, ObserverSeesEveryDepthZeroStatementAndMayStop) {
  std::vector<std::uint32_t> seen;
  RunObserver observer;
  observer.before = [&seen](std::uint32_t statement, const Environment&) {
    seen.push_back(statement);
    return statement == 1 ? Continue::Stop : Continue::Go;
  };
  const std::vector<NamedValue> inputs{{"x", {vector_of({1})}}};
  RunInputs run_inputs;
  run_inputs.arguments = inputs;
  const auto result = run(program("t0 = prims.neg(x)\nt1 = prims.neg(t0)\nreturn (t1,)", inputs),
                          run_inputs, {}, &observer);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(result->statements_run, 1U);
}

TEST(Statements, ErrorsNameTheLine) {
  const RunError error = must_fail("t0 = prims.neg(x)\nt1 = ltorch.view(t0, (3,))\nreturn (t1,)",
                                   {{"x", {vector_of({1, 2})}}});
  EXPECT_EQ(error.message, "shape '[3]' is invalid for input of size 2");
  EXPECT_EQ(error.statement, 1U);
  EXPECT_EQ(error.at.line, 11U);
}

}  // namespace
}  // namespace tg
