#include "core/check/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/check/traces.h"

namespace tg {
namespace {

using test::file_of;
using test::trace_text;
using ::testing::HasSubstr;

Trace trace_of(const std::string& body) {
  return file_of(trace_text("", "x, y", "  # x: \"cpu f32[2]\"\n  # y: \"cpu f32[2]\"\n" + body))
      .phases.at(0)
      .trace;
}

const char kRead[] = "  t0 = ltorch.cos(y)  # t0: \"cpu f32[2]\"\n";
const char kSource[] = "  t1 = ltorch.sin(x)  # t1: \"cpu f32[2]\"\n";
const char kCopy[] = "  prims.copy_(t1, y)\n";
const char kReturn[] = "  return (t0,)";

TEST(Reorder, AReadThatMovedBehindTheCopyIsNamed) {
  const Trace left = trace_of(std::string(kRead) + kSource + kCopy + kReturn);
  const Trace right = trace_of(std::string(kSource) + kCopy + kRead + kReturn);
  const auto reorder = find_reorder(left, right, {});
  ASSERT_TRUE(reorder.has_value());
  EXPECT_THAT(reorder->sentence, HasSubstr("prims.copy_(t1, y)"));
  EXPECT_THAT(reorder->sentence, HasSubstr("now stands before t0 = ltorch.cos(y)"));
  EXPECT_THAT(reorder->sentence, HasSubstr("reads the storage of 'y'"));
}

TEST(Reorder, MovesThatTouchDifferentStoragesAreNone) {
  const Trace left = trace_of(std::string(kRead) + kSource + kCopy + kReturn);
  const Trace right = trace_of(std::string(kSource) + kRead + kCopy + kReturn);
  EXPECT_FALSE(find_reorder(left, right, {}).has_value());
}

TEST(Reorder, ACopyBehindTheReturnIsNamed) {
  const Trace left = trace_of(std::string(kRead) + kSource + kCopy + kReturn);
  const Trace right = trace_of(std::string(kRead) + kSource + kReturn + "\n" + kCopy);
  const auto reorder = find_reorder(left, right, {});
  ASSERT_TRUE(reorder.has_value());
  EXPECT_THAT(reorder->sentence, HasSubstr("so it is never executed"));
}

TEST(AliasGroups, ComeFromWindowsOnOneStorage) {
  const Trace trace = trace_of(std::string(kRead) + kReturn);
  const Result<ArgumentFacts> facts = parse_alias_options(trace, {"y=x"});
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(alias_groups_of(trace, *facts), (AliasGroups{{0, 1}}));
  EXPECT_TRUE(alias_groups_of(trace, ArgumentFacts{}).empty());
}

}  // namespace
}  // namespace tg
