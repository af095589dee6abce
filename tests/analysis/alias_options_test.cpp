#include <gtest/gtest.h>

#include "core/analysis/alias_analysis.h"
#include "tests/support/trace_text.h"

namespace tg {
namespace {

struct Accepted {
  const char* option;
  const char* b_type;
  Geometry geometry;
};

class AliasOption : public testing::TestWithParam<Accepted> {};

TEST_P(AliasOption, PlacesTheArgument) {
  const Accepted& row = GetParam();
  const Trace trace =
      test::make_trace(std::string("a: f32[2, 4]; b: ") + row.b_type, "return (a, b)");
  const Result<ArgumentFacts> facts = parse_alias_options(trace, {row.option});
  ASSERT_TRUE(facts.has_value()) << facts.error().message;
  ASSERT_EQ(facts->windows.size(), 2U);
  EXPECT_EQ(facts->windows[1].name, "b");
  EXPECT_EQ(facts->windows[0].storage, facts->windows[1].storage);
  EXPECT_EQ(facts->windows[1].geometry, row.geometry);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, AliasOption,
    testing::Values(Accepted{"b=a", "f32[2, 4]", {{2, 4}, {4, 1}, 0}},
                    Accepted{"b = a[1]", "f32[4]", {{4}, {1}, 4}},
                    Accepted{"b=a[0, 1:3]", "f32[2]", {{2}, {1}, 1}},
                    Accepted{"b=a[:, ::2]", "f32[2, 2]", {{2, 2}, {4, 2}, 0}},
                    Accepted{"b=a[1, 2]", "f32[]", {{}, {}, 6}},
                    Accepted{"b=a.view(8)", "f32[8]", {{8}, {1}, 0}},
                    Accepted{"b=a.view(4, 2)", "f32[4, 2]", {{4, 2}, {2, 1}, 0}},
                    Accepted{"b=a.t()", "f32[4, 2]", {{4, 2}, {1, 4}, 0}},
                    Accepted{"b=a[1].view(2, 2)", "f32[2, 2]", {{2, 2}, {2, 1}, 4}}));

TEST(AliasOptions, ChainsResolveInAnyOrder) {
  const Trace trace = test::make_trace("a: f32[4]; b: f32[3]; c: f32[2]", "return (a, b, c)");
  const Result<ArgumentFacts> facts = parse_alias_options(trace, {"c=b[1:3]", "b=a[1:]"});
  ASSERT_TRUE(facts.has_value()) << facts.error().message;
  EXPECT_EQ(facts->windows.size(), 3U);
  EXPECT_EQ(facts->windows[2].geometry, (Geometry{{2}, {1}, 2}));
}

TEST(AliasOptions, NoneGivesNoFacts) {
  const Trace trace = test::make_trace("a: f32[4]", "return (a,)");
  EXPECT_TRUE(parse_alias_options(trace, {})->windows.empty());
}

struct Refused {
  std::vector<std::string> options;
  DiagnosticCode code;
  const char* message;
};

class AliasOptionRefused : public testing::TestWithParam<Refused> {};

TEST_P(AliasOptionRefused, SaysWhy) {
  const Trace trace = test::make_trace("a: f32[2, 4]; b: f32[4]; c: i64[4]; n", "return (a, b, c)");
  const Result<ArgumentFacts> facts = parse_alias_options(trace, GetParam().options);
  ASSERT_FALSE(facts.has_value());
  EXPECT_EQ(facts.error().code, GetParam().code);
  EXPECT_EQ(facts.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Messages, AliasOptionRefused,
    testing::Values(
        Refused{{"b"}, DiagnosticCode::BadAlias, "'b' is no alias option"},
        Refused{{"b=a["}, DiagnosticCode::BadAlias, "'b=a[' is no alias option"},
        Refused{{"b=((((((((((((((a"},
                DiagnosticCode::BadAlias,
                "'b=((((((((((((((a' is no alias option"},
        Refused{{"b=d[0]"},
                DiagnosticCode::UnknownArgument,
                "the trace has no argument 'd' (in --alias b=d[0])"},
        Refused{{"b=a"}, DiagnosticCode::BadAlias, "'b' has shape (4,), but 'a' has shape (2, 4)"},
        Refused{{"c=a[0]"}, DiagnosticCode::BadAlias, "'c' is i64, but 'a[0]' is f32"},
        Refused{{"b=a.sin()"}, DiagnosticCode::BadAlias, "'sin' is no operation that gives a view"},
        Refused{
            {"n=a"}, DiagnosticCode::BadAlias, "'n' has no tensor type with known dtype and shape"},
        Refused{{"b=a[0]", "b=a[1]"}, DiagnosticCode::BadAlias, "'b' is placed twice"},
        Refused{{"a=a"},
                DiagnosticCode::BadAlias,
                "'a' leads back to itself: the aliases form a cycle"},
        Refused{{"b=c", "c=b"},
                DiagnosticCode::BadAlias,
                "'b' leads back to itself: the aliases form a cycle"}));

}  // namespace
}  // namespace tg
