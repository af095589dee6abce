#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

constexpr std::string_view kWriteThroughView = R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.view(t0, 4)  # t1: "cpu f32[4]"
  t3 = ltorch.exp_(t1)  # t3: "cpu f32[4]"
    # t2 = ltorch.exp(t1)  # t2: "cpu f32[4]"
    # t3 = prims.copy_(t2, t1)  # t3: "cpu f32[4]"
  t4 = ltorch.cos(t0)  # t4: "cpu f32[2, 2]"
  return {'output': t4, 'flat_args': [x]}
)";

TEST(CheckInplaceViews, NamesTheBaseOfAWrittenView) {
  const Trace before = trace_of(kWriteThroughView);
  const PassResult result = run_pass("check_inplace_views", before);
  EXPECT_EQ(result.after, before);
  EXPECT_EQ(result.facts, (std::vector<std::pair<std::string, std::string>>{{"t0", "t1"}}));
  EXPECT_EQ(steps_of(result), R"(
write-through-view: exp_ (line 5) writes t1, a view of t0 made by view (line 4); t0 is also used by cos (line 8)
)");
}

TEST(CheckInplaceViews, ABaseWithoutOtherUseIsNoMatter) {
  const PassResult result = run_pass("check_inplace_views", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.getitem(t0, 0)  # t1: "cpu f32[2]"
  t3 = ltorch.exp_(t1)  # t3: "cpu f32[2]"
    # t2 = ltorch.exp(t1)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, t1)  # t3: "cpu f32[2]"
  return {'output': t1, 'flat_args': [x]}
)"));
  EXPECT_TRUE(result.facts.empty());
  EXPECT_EQ(steps_of(result), R"(
base-unused: exp_ (line 5) writes t1, a view of t0 made by getitem (line 4); nothing else uses t0
)");
}

TEST(CheckInplaceViews, RefusesAViewOfAnotherSizeWhoseBaseIsUsed) {
  EXPECT_EQ(
      error_of(run_pass("check_inplace_views", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t1 = ltorch.getitem(x, 0)  # t1: "cpu f32[2]"
  t3 = ltorch.add_(t1, 1, alpha=1)  # t3: "cpu f32[2]"
    # t2 = ltorch.add(t1, 1, alpha=1)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, t1)  # t3: "cpu f32[2]"
  return {'output': t3, 'flat_args': [x]}
)"))),
      "NotImplementedError: in-place op of `torch.Tensor.add_` to `<TensorProxy(name=\"t1\", "
      "dtype=thunder.dtypes.float32, shape=(2,))>`, a view tensor of `<TensorProxy(name=\"x\", "
      "dtype=thunder.dtypes.float32, shape=(2, 2))>` is not supported because 2 != 4");
}

TEST(CheckInplaceViews, DoesNotSeeTheFlagForms) {
  const PassResult result = run_pass("check_inplace_views", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t1 = ltorch.getitem(x, 0)  # t1: "cpu f32[2]"
  t3 = ltorch.relu(t1, True)  # t3: "cpu f32[2]"
    # t2 = ltorch.relu(t1, False)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, t1)  # t3: "cpu f32[2]"
  return {'output': t3, 'flat_args': [x]}
)"));
  EXPECT_EQ(error_of(result), "none");
  EXPECT_TRUE(result.steps.empty());
}

TEST(CheckInplaceViews, ATemporaryWithoutProducerIsAKeyError) {
  EXPECT_EQ(error_of(run_pass("check_inplace_views", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  ltorch.setitem_(x, 0, 1.0)
    # t0 = ltorch.setitem(x, 0, 1.0)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  ltorch.setitem_(t1, 1, 2.0)
    # t2 = ltorch.setitem(t1, 1, 2.0)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, t1)  # t3: "cpu f32[2]"
  return {'output': x, 'flat_args': [x]}
)"))),
            "KeyError: 't1'");
}

}  // namespace
}  // namespace tg
