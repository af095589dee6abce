#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

TEST(OperatorExecutors, TorchRunsTheCompositeThatDocumentsTheLine) {
  const PassResult result = run_pass("operator_executors", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  # `a` is replaced by `x`
  t0 = ltorch.add(x, 1, alpha=1)  # t0: "cpu f32[2]"
    # t0 = prims.add(x, 1.0)  # t0: "cpu f32[2]"
  return t0
)"));
  // Traced again: the literal changes its type, and the header is gone.
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cpu f32[2]"
  t0 = torch.add(x, 1, alpha=1)  # t0: "cpu f32[2]"
    # t0 = ltorch.add(x, 1, alpha=1)  # t0: "cpu f32[2]"
      # _ = prims.convert_element_type(1, float)
      # t0 = prims.add(x, 1.0)  # t0: "cpu f32[2]"
  return t0
)");
  EXPECT_EQ(steps_of(result), R"(
execute: add (line 4) runs as torch.add, by the torch executor
)");
}

TEST(OperatorExecutors, ACompositeThatNobodyTakesRunsByItsParts) {
  const PassResult result = run_pass("operator_executors", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 3]"
  v = ltorch.t(x)  # v: "cpu f32[3, 2]"
    # v = prims.transpose(x, (1, 0))  # v: "cpu f32[3, 2]"
  return v
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2, 3]"
  v = torch.permute(x, (1, 0))  # v: "cpu f32[3, 2]"
  return v
)");
  EXPECT_EQ(steps_of(result), R"(
decompose: no executor takes t (line 3) whole, so its sub-statements run: torch.permute
)");
}

TEST(OperatorExecutors, BroadcastingIsUnsqueezeAndExpand) {
  const PassResult result = run_pass("operator_executors", trace_of(R"(
def computation(x):
  # x: "cpu f32[3]"
  t0 = prims.broadcast_in_dim(x, (2, 3), (1,))  # t0: "cpu f32[2, 3]"
  return t0
)"));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cpu f32[3]"
  t1 = torch.unsqueeze(x, 0)  # t1: "cpu f32[1, 3]"
    # t1 = ltorch.unsqueeze(x, 0)  # t1: "cpu f32[1, 3]"
      # t1 = prims.broadcast_in_dim(x, [1, 3], [1])  # t1: "cpu f32[1, 3]"
  t0 = Tensor.expand(t1, (2, 3))  # t0: "cpu f32[2, 3]"
    # t0 = ltorch.expand(t1, (2, 3))  # t0: "cpu f32[2, 3]"
      # t0 = prims.broadcast_in_dim(t1, (2, 3), (0, 1))  # t0: "cpu f32[2, 3]"
  return t0
)");
}

TEST(OperatorExecutors, AnOutputThatWasLeftOutIsBack) {
  const PassResult result = run_pass("operator_executors", trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  prims.copy_(y, x)
  return x
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = copy_(y, x)  # t0: "cpu f32[2]"
  return x
)");
}

TEST(OperatorExecutors, AFactoryWaitsForAFusionOnlyIfThereIsAFusionExecutor) {
  const Trace before = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = prims.full((2,), 0.0, device=devices.Device("cpu"), dtype=dtypes.float32)  # t0: "cpu f32[2]"
  return t0
)");
  EXPECT_EQ(body_of(run_pass("operator_executors", before).after), body_of(before));
  PassContext torch_only;
  torch_only.options.executors = {"torch", "python"};
  EXPECT_EQ(body_of(run_pass("operator_executors", before, torch_only).after), R"(
  # x: "cpu f32[2]"
  t0 = torch.full((2,), 0.0, device=torch.device("cpu"), dtype=torch.float32)  # t0: "cpu f32[2]"
  return t0
)");
}

TEST(OperatorExecutors, PythonAloneRunsGuards) {
  PassContext python;
  python.options.executors = {"python"};
  const PassResult result = run_pass("operator_executors", trace_of(R"(
def prologue(*args, **kwargs):
  # args: "Any"
  prims.check_len(args, 1)
  return ((), ())
)"),
                                     python);
  EXPECT_EQ(body_of(result.after, true), R"(
  # args: "Any"
  check_len(args, 1)
    # prims.check_len(args, 1)
  return ((), ())
)");
}

TEST(OperatorExecutors, APrimitiveWithoutExecutorIsRefused) {
  PassContext python;
  python.options.executors = {"python"};
  const PassResult result = run_pass("operator_executors", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = prims.sin(x)  # t0: "cpu f32[2]"
  return t0
)"),
                                     python);
  EXPECT_TRUE(error_of(result).starts_with(
      "RuntimeError: Failed to find an executor for bound symbol bsym="))
      << error_of(result);
}

TEST(OperatorExecutors, ASkippedStatementStays) {
  PassContext context;
  context.filter.skip_subjects = {1};
  const PassResult result = run_pass("operator_executors", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t1 = ltorch.cos(t0)  # t1: "cpu f32[2]"
  return t1
)"),
                                     context);
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t1 = torch.cos(t0)  # t1: "cpu f32[2]"
  return t1
)");
}

}  // namespace
}  // namespace tg
