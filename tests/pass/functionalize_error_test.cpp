// Every message of functionalize, whole.

#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::error_of;
using testing::run_pass;
using testing::trace_of;

TEST(FunctionalizeErrors, WritesToWhatMayBeAView) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.reshape(x, (4,))  # t0: "cpu f32[4]"
    # t0 = prims.reshape(x, (4,))  # t0: "cpu f32[4]"
  t2 = ltorch.exp_(t0)  # t2: "cpu f32[4]"
    # t1 = ltorch.exp(t0)  # t1: "cpu f32[4]"
    # t2 = prims.copy_(t1, t0)  # t2: "cpu f32[4]"
  return {'output': t2, 'flat_args': [x]}
)"));
  EXPECT_EQ(error_of(result),
            "NotImplementedError: in-place op of `torch.exp_` to `torch.reshape` output `t0` is "
            "not supported. It's "
            "unclear if `t0`, the output of ('torch.Tensor.to', 'torch.Tensor.contiguous', "
            "'torch.reshape', "
            "'Tensor.reshape_as', 'torch.flatten') is a copy, a view, or the input itself, as per "
            "https://pytorch.org/docs/stable/tensor_view.html\n"
            "Please use `torch.view` to create a view. Cloning the reshaped tensor before the "
            "in-place op is not "
            "currently supported.\n"
            "This error can be skipped with `skip_inplace_functionalization=True` passed to "
            "`thunder.jit`.\n"
            "If you believe this is a bug, please report it to the Lightning Thunder team in "
            "https://github.com/Lightning-AI/lightning-thunder/issues/957.");
  EXPECT_EQ(result.error->statement, 2U);
  EXPECT_EQ(result.intermediate.size(), 1U);
  ASSERT_EQ(result.steps.size(), 1U);
  EXPECT_EQ(result.steps.front().rule, "raises");
  EXPECT_EQ(result.steps.front().at.line, 5U);
}

TEST(FunctionalizeErrors, ToCountsAsAViewOnlyIfItReturnsItsInput) {
  const auto error = [](std::string_view to, std::string_view dtype) {
    const std::string text =
        "def computation(x):\n  # x: \"cpu f32[2]\"\n  t0 = ltorch.to(x, " + std::string(to) +
        ")  # t0: \"cpu " + std::string(dtype) +
        "[2]\"\n"
        "  t2 = ltorch.exp_(t0)  # t2: \"cpu " +
        std::string(dtype) + "[2]\"\n    # t1 = ltorch.exp(t0)  # t1: \"cpu " + std::string(dtype) +
        "[2]\"\n    # t2 = prims.copy_(t1, t0)  # t2: \"cpu " + std::string(dtype) +
        "[2]\"\n  return {'output': t2, 'flat_args': [x]}\n";
    const PassResult result = run_pass("functionalize", trace_of(text));
    return result.after.bound_symbols.size();
  };
  // A view of x: the write is copied back.
  EXPECT_EQ(
      error("torch.float32, None, device=None, dtype=None, copy=False, memory_format=None", "f32"),
      5U);
  EXPECT_EQ(
      error("None, None, device=None, dtype=dtypes.float32, copy=False, memory_format=None", "f32"),
      5U);
  EXPECT_EQ(error("'cpu', None, device=None, dtype=None, copy=False, memory_format=None", "f32"),
            5U);
  // A copy: a temporary.
  EXPECT_EQ(
      error("torch.float64, None, device=None, dtype=None, copy=False, memory_format=None", "f64"),
      4U);
  EXPECT_EQ(
      error("torch.float32, None, device=None, dtype=None, copy=True, memory_format=None", "f32"),
      4U);
  EXPECT_EQ(error("'cuda:0', None, device=None, dtype=None, copy=False, memory_format=None", "f32"),
            4U);
}

TEST(FunctionalizeErrors, ASiblingViewOfAnotherSize) {
  EXPECT_EQ(error_of(run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.getitem(t0, 0)  # t1: "cpu f32[2]"
  t4 = ltorch.exp_(t0)  # t4: "cpu f32[2, 2]"
    # t3 = ltorch.exp(t0)  # t3: "cpu f32[2, 2]"
    # t4 = prims.copy_(t3, t0)  # t4: "cpu f32[2, 2]"
  t5 = ltorch.neg(t1)  # t5: "cpu f32[2]"
  return {'output': t5, 'flat_args': [x]}
)"))),
            "RuntimeError: Fail to propagate the in-place change of `t3` to `t1` because of the "
            "different number of "
            "elements: 4 and 2");
}

TEST(FunctionalizeErrors, ThundersOwnNameError) {
  EXPECT_EQ(error_of(run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.view(t0, 4)  # t1: "cpu f32[4]"
  t3 = ltorch.relu(t1, True)  # t3: "cpu f32[4]"
    # t2 = ltorch.relu(t1, False)  # t2: "cpu f32[4]"
    # t3 = prims.copy_(t2, t1)  # t3: "cpu f32[4]"
  t4 = ltorch.neg(t0)  # t4: "cpu f32[2, 2]"
  return {'output': t4, 'flat_args': [x]}
)"))),
            "NameError: cannot access free variable 'new_t' where it is not associated with a "
            "value in enclosing scope");
}

TEST(FunctionalizeErrors, ABaseThatNothingReadsByNameIsAKeyError) {
  EXPECT_EQ(error_of(run_pass("functionalize_copies", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t2 = ltorch.exp_(t0)  # t2: "cpu f32[2]"
    # t1 = ltorch.exp(t0)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, t0)  # t2: "cpu f32[2]"
  t3 = ltorch.view(t2, (2, 1))  # t3: "cpu f32[2, 1]"
  t5 = ltorch.exp_(t3)  # t5: "cpu f32[2, 1]"
    # t4 = ltorch.exp(t3)  # t4: "cpu f32[2, 1]"
    # t5 = prims.copy_(t4, t3)  # t5: "cpu f32[2, 1]"
  return {'output': t5, 'flat_args': [x]}
)"))),
            "KeyError: 't1'");
}

TEST(FunctionalizeErrors, ARawCopyOfTheValueItself) {
  EXPECT_EQ(error_of(run_pass("functionalize", trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  t2 = ltorch.cos(t1)  # t2: "cpu f32[2]"
  t3 = prims.copy_(x, y)  # t3: "cpu f32[2]"
  return {'output': t2, 'flat_args': [x, y]}
)"))),
            "RuntimeError: Unexpected `prims.copy_` found in [[Symbol name=cos], [Symbol "
            "name=copy_]] for "
            "<TensorProxy(name=\"t0\", dtype=thunder.dtypes.float32, shape=(2,))>");
}

TEST(FunctionalizeErrors, WhereThunderNeverEndsWeSaySo) {
  // Two siblings of equal shape: a, b = t.unbind(0); a.mul_(2); return a + b
  const PassResult siblings = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t = ltorch.sin(x)  # t: "cpu f32[2, 2]"
  (a, b) = ltorch.unbind(t, 0)
    # a = prims.squeeze(t, (0,))  # a: "cpu f32[2]"
    # b = prims.squeeze(t, (0,))  # b: "cpu f32[2]"
  t3 = ltorch.mul_(a, 2)  # t3: "cpu f32[2]"
    # t2 = ltorch.mul(a, 2)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, a)  # t3: "cpu f32[2]"
  t4 = ltorch.add(a, b, alpha=1)  # t4: "cpu f32[2]"
  return {'output': t4, 'flat_args': [x]}
)"));
  EXPECT_EQ(error_of(siblings),
            "DoesNotTerminate: Thunder does not terminate on this trace: `b` is replaced by itself "
            "when it shortens "
            "its renaming map, because the write to `a` is carried on to `b` of equal shape");
  EXPECT_EQ(siblings.error->statement, 3U);

  const PassResult base = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.t(t0)  # t1: "cpu f32[2, 2]"
  t3 = ltorch.exp_(t0)  # t3: "cpu f32[2, 2]"
    # t2 = ltorch.exp(t0)  # t2: "cpu f32[2, 2]"
    # t3 = prims.copy_(t2, t0)  # t3: "cpu f32[2, 2]"
  t4 = ltorch.neg(t1)  # t4: "cpu f32[2, 2]"
  return {'output': t4, 'flat_args': [x]}
)"));
  EXPECT_EQ(base.error->type, "DoesNotTerminate");
}

TEST(FunctionalizeErrors, ACopyBackOfAnotherDtype) {
  EXPECT_EQ(error_of(run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.view(x, (2, 1))  # t0: "cpu i32[2, 1]"
  t2 = ltorch.neg_(t0)  # t2: "cpu i32[2, 1]"
    # t1 = ltorch.neg(t0)  # t1: "cpu i32[2, 1]"
    # t2 = prims.copy_(t1, t0)  # t2: "cpu i32[2, 1]"
  return {'output': t2, 'flat_args': [x]}
)"))),
            "RuntimeError: Expected dtype thunder.dtypes.int32 but found thunder.dtypes.float32!");
}

TEST(FunctionalizeErrors, NamesThatMakeEachOtherDoNotLoop) {
  const PassResult result = run_pass("functionalize_copies", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  a = ltorch.view(b, 2)  # a: "cpu f32[2]"
  b = ltorch.view(a, 2)  # b: "cpu f32[2]"
  t2 = ltorch.exp_(a)  # t2: "cpu f32[2]"
    # t1 = ltorch.exp(a)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, a)  # t2: "cpu f32[2]"
  return {'output': t2, 'flat_args': [x]}
)"));
  EXPECT_EQ(error_of(result), "none");
}

}  // namespace
}  // namespace tg
