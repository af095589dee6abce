#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

TEST(WrapReturn, TheReturnMentionsTheArguments) {
  const PassResult result = run_pass("wrap_return", trace_of(R"(
def computation(x, w):
  # x: "cpu f32[2]"
  # w: "cpu f32[2]"
  t0 = ltorch.add(x, w, alpha=1)  # t0: "cpu f32[2]"
  return (t0, x)
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # w: "cpu f32[2]"
  t0 = ltorch.add(x, w, alpha=1)  # t0: "cpu f32[2]"
  return {'output': (t0, x), 'flat_args': [x, w]}
)");
  EXPECT_EQ(result.after.provenance, "Return arguments to track copies onto them");
  EXPECT_EQ(steps_of(result), R"(
wrap-return: the return now also mentions the arguments x, w, so that writes to them stay alive
)");
}

TEST(WrapReturn, NoArguments) {
  const PassResult result = run_pass("wrap_return", trace_of(R"(
def computation():
  t0 = ltorch.ones(2)  # t0: "cpu f32[2]"
  return t0
)"));
  EXPECT_EQ(body_of(result.after), R"(
  t0 = ltorch.ones(2)  # t0: "cpu f32[2]"
  return {'output': t0, 'flat_args': []}
)");
}

TEST(WrapReturn, RefusesATraceThatDoesNotEndInAReturn) {
  EXPECT_EQ(error_of(run_pass(
                "wrap_return",
                trace_of("def computation(x):\n  # x: \"cpu f32[2]\"\n  return x\n  del x\n"))),
            "AssertionError: ");
}

TEST(UnwrapReturn, OnlyTheOutputIsReturned) {
  const PassResult result = run_pass("unwrap_return", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  return {'output': (x,), 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after), "\n  # x: \"cpu f32[2]\"\n  return (x,)\n");
  EXPECT_EQ(result.after.provenance, "Unwrap the actual return value");
}

TEST(UnwrapReturn, RefusesAReturnThatIsNotLastOrNotWrapped) {
  const auto error = [](std::string_view lines) {
    return error_of(
        run_pass("unwrap_return",
                 trace_of("def computation(x):\n  # x: \"cpu f32[2]\"\n" + std::string(lines))));
  };
  EXPECT_EQ(error("  return {'output': (x,)}\n  copy_(x, x)\n"), "AssertionError: ");
  EXPECT_EQ(error("  return {'flat_args': [x]}\n"), "KeyError: 'output'");
  EXPECT_EQ(error("  return (x,)\n"),
            "TypeError: tuple indices must be integers or slices, not str");
  EXPECT_EQ(error("  return [x]\n"), "TypeError: list indices must be integers or slices, not str");
  EXPECT_EQ(error("  return None\n"), "TypeError: 'NoneType' object is not subscriptable");
  EXPECT_EQ(error("  return x\n"), "TypeError: the returned value is no dict with 'output'");
}

}  // namespace
}  // namespace tg
