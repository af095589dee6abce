#include "core/pass/pass_sequence.h"

#include "core/pass/all_passes.h"
#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::run_pass;
using testing::trace_of;

constexpr std::string_view kProgram = R"(
def computation(x):
  # x: "cpu f32[2, 3]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 3]"
  t1 = ltorch.cos(x)  # t1: "cpu f32[2, 3]"
  t2 = ltorch.t(t1)  # t2: "cpu f32[3, 2]"
    # t2 = prims.transpose(t1, (1, 0))  # t2: "cpu f32[3, 2]"
  return t2
)";

TEST(PassSequence, StepsOfAllPassesReplayOnTheFirstTrace) {
  // run_pass checks that they do.
  const PassResult result = run_pass("transform_for_execution", trace_of(kProgram));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2, 3]"
  t1 = torch.cos(x)  # t1: "cpu f32[2, 3]"
  t2 = torch.permute(t1, (1, 0))  # t2: "cpu f32[3, 2]"
  return t2
)");
  ASSERT_GE(result.steps.size(), 3U);
  EXPECT_EQ(result.steps.front().rule, "unread");
  EXPECT_EQ(result.steps.front().group, "dead_code");
  EXPECT_EQ(result.steps.front().depth, 1U);
}

TEST(PassSequence, AStepIsSkippedByItsNumberInTheWhole) {
  const Trace before = trace_of(kProgram);
  const PassResult all = run_pass("transform_for_execution", before);
  std::size_t number = 0;
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    if (all.steps[i].rule == "execute") number = i + 1;
  }
  ASSERT_GT(number, 0U);
  PassContext context;
  context.filter.skip_numbers = {number};
  const PassResult result = run_pass("transform_for_execution", before, context);
  EXPECT_TRUE(result.steps[number - 1].reason.starts_with("skipped: "));
  EXPECT_TRUE(result.steps[number - 1].edits.empty());
}

TEST(PassSequence, AnErrorLeavesTheFirstTrace) {
  const Trace before = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
)");
  PassContext context;
  PassSequence sequence(before, context);
  EXPECT_FALSE(sequence.run("dead_code", dead_code));
  const PassResult result = std::move(sequence).finish("never");
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(result.after, before);
}

}  // namespace
}  // namespace tg
