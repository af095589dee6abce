#include "core/pass/pipeline.h"

#include <algorithm>

#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::trace_of;

constexpr std::string_view kProgram = R"(
def computation(x):
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
      # t0 = prims.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  t2 = ltorch.cos(x)  # t2: "cpu f32[2]"
    # t2 = prims.cos(x)  # t2: "cpu f32[2]"
  return (t2,)
)";

TEST(Pipeline, ThunderOfDecember2024) {
  const std::vector<std::string_view> names = named_pipeline("thunder-2024-12");
  const PipelineResult result = run_pipeline(trace_of(kProgram), names, {});
  ASSERT_EQ(result.stages.size(), names.size());
  EXPECT_EQ(body_of(result.stages.back().result.after), R"(
  # x: "cpu f32[2]"
  t0 = torch.exp(x)  # t0: "cpu f32[2]"
  t2 = torch.cos(t0)  # t2: "cpu f32[2]"
  t1 = copy_(t0, x)  # t1: "cpu f32[2]"
  del t0, x
  return (t2,)
)");
  EXPECT_FALSE(result.stages[2].changed);  // check_inplace_views
  EXPECT_TRUE(result.stages[3].changed);   // functionalize
}

TEST(Pipeline, StopsAtTheFirstPassThatRaises) {
  constexpr std::string_view kPasses[] = {"unwrap_return", "dead_code"};
  const PipelineResult result = run_pipeline(trace_of(kProgram), kPasses, {});
  ASSERT_EQ(result.stages.size(), 1U);
  EXPECT_EQ(result.stages.front().result.error->type, "TypeError");
}

TEST(Pipeline, AnUnknownPassIsADiagnostic) {
  constexpr std::string_view kPasses[] = {"wrap_return", "polish"};
  const PipelineResult result = run_pipeline(trace_of(kProgram), kPasses, {});
  EXPECT_EQ(result.stages.size(), 1U);
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(render(result.diagnostics.front(), "trace.txt", ""),
            "trace.txt: error: no pass is called 'polish' [unknown-pass]\n");
}

TEST(Pipeline, PassesAreFoundByBothNames) {
  EXPECT_EQ(find_pass("dead_code"), find_pass("dce"));
  EXPECT_EQ(find_pass("functionalize"), find_pass("functionalize_inplace_ops"));
  EXPECT_EQ(find_pass(""), nullptr);
  for (const PassInfo& pass : all_passes()) {
    EXPECT_EQ(find_pass(pass.name), &pass);
    EXPECT_FALSE(pass.summary.empty());
  }
}

TEST(Pipeline, NamedPipelinesNamePasses) {
  for (const std::string_view name : {"thunder-2024-12", "thunder-2024-12-audit"}) {
    const std::vector<std::string_view> passes = named_pipeline(name);
    EXPECT_FALSE(passes.empty());
    for (const std::string_view pass : passes) EXPECT_NE(find_pass(pass), nullptr) << pass;
  }
  EXPECT_TRUE(named_pipeline("thunder-1999").empty());
}

EraGuess guess(std::string_view text) {
  return guess_era(parse_trace_file("f", std::string(text)));
}

TEST(Era, IsGuessedFromFormsOfTheText) {
  EXPECT_EQ(guess("# Constructed by Functionalize in-place ops\ndef f(x):\n  return x\n").era,
            Era::Thunder2024);
  EXPECT_EQ(guess("def f(x):\n  (t0,) = prims.update_aliases((x,))\n  return x\n").reason,
            "prims.update_aliases");
  EXPECT_EQ(guess("def f(x):\n  prims.copy_(x, x, grad_enabled=True)\n  return x\n").era,
            Era::Thunder2026);
  EXPECT_EQ(guess("def f(x):\n  prims.copy_(x, x)\n  return x\n").reason,
            "prims.copy_ without grad_enabled");
  EXPECT_EQ(guess("").era, Era::Unknown);
  EXPECT_EQ(era_text(Era::Thunder2026), "thunder 2026-01");
}

}  // namespace
}  // namespace tg
