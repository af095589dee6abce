#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

TEST(Canonicalize, ReadersReadTheResultOfTheWrite) {
  const PassResult result = run_pass("canonicalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  t3 = ltorch.sin_(x)  # t3: "cpu f32[2]"
    # t2 = ltorch.sin(x)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, x)  # t3: "cpu f32[2]"
  t4 = ltorch.add(x, t1, alpha=1)  # t4: "cpu f32[2]"
  return {'output': t4, 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  # `x` is replaced by `t1`
  t3 = ltorch.sin_(t1)  # t3: "cpu f32[2]"
    # t2 = ltorch.sin(t1)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, t1)  # t3: "cpu f32[2]"
  # `x` is replaced by `t3`
  t4 = ltorch.add(t3, t1, alpha=1)  # t4: "cpu f32[2]"
  return {'output': t4, 'flat_args': [t3]}
)");
  EXPECT_EQ(result.after.provenance, "Intermediate trace of `functionalize_inplace_ops`");
  EXPECT_EQ(steps_of(result), R"(
rename-readers: x was overwritten by exp_ (line 3); 1 reader of it after that now read t1
rename-readers: x was overwritten by sin_ (line 6); 2 readers of it after that now read t3
)");
}

TEST(Canonicalize, ABaseIsRebuiltFromItsWrittenView) {
  const PassResult result = run_pass("canonicalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.view(t0, 4)  # t1: "cpu f32[4]"
  t3 = ltorch.exp_(t1)  # t3: "cpu f32[4]"
    # t2 = ltorch.exp(t1)  # t2: "cpu f32[4]"
    # t3 = prims.copy_(t2, t1)  # t3: "cpu f32[4]"
  t4 = ltorch.cos(t0)  # t4: "cpu f32[2, 2]"
  t5 = ltorch.neg(t1)  # t5: "cpu f32[4]"
  return {'output': (t4, t5), 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.view(t0, 4)  # t1: "cpu f32[4]"
  t3 = ltorch.exp_(t1)  # t3: "cpu f32[4]"
  t6 = prims.reshape(t3, (2, 2))  # t6: "cpu f32[2, 2]"
  # Replace [<TensorProxy(name="t0", dtype=thunder.dtypes.float32, shape=(2, 2))>] with [[<TensorProxy(name="t6", dtype=thunder.dtypes.float32, shape=(2, 2))>]]
  t4 = ltorch.cos(t6)  # t4: "cpu f32[2, 2]"
  # `t1` is replaced by `t3`
  t5 = ltorch.neg(t3)  # t5: "cpu f32[4]"
  return {'output': (t4, t5), 'flat_args': [x]}
)");
  EXPECT_EQ(steps_of(result), R"(
rebuild-base-from-view: t1 was overwritten by exp_ (line 5); 2 readers of it after that now read t3, or a base rebuilt from it by a reshape
)");
}

TEST(Canonicalize, RefusesASecondReadOfABaseBeforeTheWriteToItsView) {
  EXPECT_EQ(error_of(run_pass("canonicalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.view(t0, 4)  # t1: "cpu f32[4]"
  t2 = ltorch.view(t0, (4, 1))  # t2: "cpu f32[4, 1]"
  t4 = ltorch.exp_(t1)  # t4: "cpu f32[4]"
    # t3 = ltorch.exp(t1)  # t3: "cpu f32[4]"
    # t4 = prims.copy_(t3, t1)  # t4: "cpu f32[4]"
  return {'output': (t2, t4), 'flat_args': [x]}
)"))),
            "RuntimeError: <TensorProxy(name=\"t1\", dtype=thunder.dtypes.float32, shape=(4,))> "
            "not in {}, "
            "orig_to_view_swap_map = {<TensorProxy(name=\"t0\", dtype=thunder.dtypes.float32, "
            "shape=(2, 2))>: "
            "<TensorProxy(name=\"t1\", dtype=thunder.dtypes.float32, shape=(4,))>}");
}

TEST(Canonicalize, ARenamingThatComesBackToItselfIsARuntimeError) {
  EXPECT_EQ(
      error_of(run_pass("canonicalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  x = ltorch.exp_(x)  # x: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
    # x = prims.copy_(t0, x)  # x: "cpu f32[2]"
  return x
)"))),
      "RuntimeError: Detected a cycle while swapping; the cycle includes {<TensorProxy(name=\"x\", "
      "dtype=thunder.dtypes.float32, shape=(2,))>}");
}

}  // namespace
}  // namespace tg
