#include "core/export/trace_diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sample.h"

namespace tg {
namespace {

Trace body(const std::string& statements) {
  return sample_trace("x", "  # x: \"cpu f32[2]\"\n" + statements);
}

std::string diff_text(const Trace& left, const Trace& right) {
  DiffTextOptions options;
  options.line_numbers = false;
  return render(diff_traces(left, right), left, right, options);
}

TEST(TraceDiff, OfEqualTracesIsEmpty) {
  const Trace trace = body("  a = ltorch.neg(x)\n  return a\n");
  const TraceDiff diff = diff_traces(trace, trace);
  EXPECT_TRUE(diff.identical());
  EXPECT_EQ(diff.same, 3U);
  EXPECT_EQ(render(diff, trace, trace), "");
}

TEST(TraceDiff, ShowsAddedAndRemovedStatements) {
  EXPECT_EQ(diff_text(body("  a = ltorch.neg(x)\n  b = ltorch.exp(x)\n  return a\n"),
                      body("  a = ltorch.neg(x)\n  c = ltorch.sin(a)\n  return a\n")),
            "   # x: \"cpu f32[2]\"\n"
            "   a = ltorch.neg(x)\n"
            "-  b = ltorch.exp(x)\n"
            "+  c = ltorch.sin(a)\n"
            "   return a\n");
}

TEST(TraceDiff, PairsStatementsByOutputName) {
  EXPECT_EQ(diff_text(body("  a = ltorch.neg(x)\n  return a\n"),
                      body("  a = torch.neg(x)\n  return a\n")),
            "   # x: \"cpu f32[2]\"\n"
            "~  a = ltorch.neg(x)  (before)\n"
            "~  a = torch.neg(x)  (after)\n"
            "   return a\n");
}

TEST(TraceDiff, PairsWritesByDestination) {
  const Trace left = body("  a = ltorch.neg(x)\n  prims.copy_(a, x)\n  return a\n");
  const Trace right = body("  b = ltorch.neg(x)\n  copy_(b, x)\n  return b\n");
  const TraceDiff diff = diff_traces(left, right);
  EXPECT_EQ(summary(diff), "1 removed, 1 added, 2 changed, 1 same");
}

TEST(TraceDiff, ShowsAMovedStatementWhereItIsNow) {
  const Trace left = body(
      "  copy_(x, x)\n  a = ltorch.neg(x)\n  b = ltorch.exp(x)\n  c = ltorch.sin(x)\n  return a\n");
  const Trace right = body(
      "  a = ltorch.neg(x)\n  b = ltorch.exp(x)\n  c = ltorch.sin(x)\n  copy_(x, x)\n  return a\n");
  const TraceDiff diff = diff_traces(left, right);
  EXPECT_EQ(summary(diff), "1 moved, 5 same");
  EXPECT_NE(diff_text(left, right).find(">  copy_(x, x)  (was at line 3)\n"), std::string::npos);
}

TEST(TraceDiff, SeesSubStatements) {
  const Trace left = body("  a = ltorch.neg(x)\n    # a = prims.neg(x)\n  return a\n");
  const Trace right = body("  a = ltorch.neg(x)\n    # a = prims.sin(x)\n  return a\n");
  const TraceDiff diff = diff_traces(left, right);
  ASSERT_EQ(diff.changed, 1U);
  EXPECT_TRUE(diff.entries[1].only_inside);
}

TEST(TraceDiff, SeesTypes) {
  const TraceDiff diff =
      diff_traces(body("  a = ltorch.neg(x)  # a: \"cpu f32[2]\"\n  return a\n"),
                  body("  a = ltorch.neg(x)  # a: \"cpu f64[2]\"\n  return a\n"));
  EXPECT_EQ(summary(diff), "1 changed, 2 same");
}

TEST(TraceDiff, LeavesOutFarEqualStatements) {
  std::string many;
  for (int i = 0; i < 50; ++i) many += fmt::format("  t{} = ltorch.neg(x)\n", i);
  const std::string text = diff_text(body(many + "  return t1\n"), body(many + "  return t2\n"));
  EXPECT_EQ(text,
            "   ... 48 statements equal\n"
            "   t47 = ltorch.neg(x)\n"
            "   t48 = ltorch.neg(x)\n"
            "   t49 = ltorch.neg(x)\n"
            "~  return t1  (before)\n"
            "~  return t2  (after)\n");
}

// Two traces without a common line must not take quadratic time.
TEST(TraceDiff, OfUnrelatedLargeTraces) {
  std::string left, right;
  for (int i = 0; i < 30'000; ++i) {
    left += fmt::format("  a{} = ltorch.neg(x)\n", i);
    right += fmt::format("  b{} = ltorch.exp(x)\n", i);
  }
  const TraceDiff diff = diff_traces(body(left + "  return a1\n"), body(right + "  return b1\n"));
  EXPECT_EQ(summary(diff), "30000 removed, 30000 added, 1 changed, 1 same");
}

// Every statement of both sides occurs exactly once.
TEST(TraceDiff, CoversBothSides) {
  const Trace left =
      body("  a = ltorch.neg(x)\n  a = ltorch.neg(a)\n  a = ltorch.neg(a)\n  del a\n  return x\n");
  const Trace right =
      body("  a = ltorch.neg(a)\n  del a\n  a = ltorch.neg(x)\n  c = ltorch.exp(a)\n  return x\n");
  const TraceDiff diff = diff_traces(left, right);
  std::vector<int> seen_left(left.bound_symbols.size(), 0);
  std::vector<int> seen_right(right.bound_symbols.size(), 0);
  for (const DiffEntry& entry : diff.entries) {
    if (entry.left) ++seen_left[*entry.left];
    if (entry.right) ++seen_right[*entry.right];
  }
  EXPECT_EQ(seen_left, std::vector<int>(left.bound_symbols.size(), 1));
  EXPECT_EQ(seen_right, std::vector<int>(right.bound_symbols.size(), 1));
}

}  // namespace
}  // namespace tg
