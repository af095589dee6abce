#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

constexpr std::string_view kTwoArguments = R"(
def computation(a, b):
  # a: "cpu f32[2, 2]"
  # b: "cpu f32[4]"
  t1 = ltorch.exp_(a)  # t1: "cpu f32[2, 2]"
    # t0 = ltorch.exp(a)  # t0: "cpu f32[2, 2]"
    # t1 = prims.copy_(t0, a)  # t1: "cpu f32[2, 2]"
  t2 = ltorch.sin(b)  # t2: "cpu f32[4]"
    # t2 = prims.sin(b)  # t2: "cpu f32[4]"
  return {'output': t2, 'flat_args': [a, b]}
)";

PassContext groups(AliasGroups alias_groups) {
  PassContext context;
  context.options.alias_groups = std::move(alias_groups);
  return context;
}

TEST(AliasArgs, AnArgumentOfAnotherShapeIsReadAsAReshape) {
  const PassResult result = run_pass("alias_args", trace_of(kTwoArguments), groups({{0, 1}}));
  EXPECT_EQ(body_of(result.after, true), R"(
  # a: "cpu f32[2, 2]"
  # b: "cpu f32[4]"
  t1 = ltorch.exp_(a)  # t1: "cpu f32[2, 2]"
    # t0 = ltorch.exp(a)  # t0: "cpu f32[2, 2]"
    # t1 = prims.copy_(t0, a)  # t1: "cpu f32[2, 2]"
  t3 = prims.reshape(a, (4,))  # t3: "cpu f32[4]"
  # [alias tensor args] `b` is replaced by `t3`
  t2 = ltorch.sin(t3)  # t2: "cpu f32[4]"
    # t2 = prims.sin(t3)  # t2: "cpu f32[4]"
  return {'output': t2, 'flat_args': [a, t3]}
)");
  EXPECT_EQ(result.after.provenance, "Duplicate alias args using {'b': 't3'}");
  EXPECT_EQ(result.facts, (std::vector<std::pair<std::string, std::string>>{{"b", "t3"}}));
  EXPECT_EQ(steps_of(result), R"(
replace-alias-argument: argument b shares its storage with a, so sin (line 7) reads t3, a reshape of a
replace-alias-argument: argument b shares its storage with a, so return (line 9) reads t3, a reshape of a
)");
}

TEST(AliasArgs, SeveralReplacementsShareOneHeader) {
  const PassResult result = run_pass("alias_args", trace_of(R"(
def computation(a, b, c):
  # a: "cpu f32[2]"
  # b: "cpu f32[2]"
  # c: "cpu f32[2]"
  t0 = ltorch.add(c, b, alpha=1)  # t0: "cpu f32[2]"
  return t0
)"),
                                     groups({{0, 1, 2}}));
  EXPECT_EQ(body_of(result.after), R"(
  # a: "cpu f32[2]"
  # b: "cpu f32[2]"
  # c: "cpu f32[2]"
  # [alias tensor args] ['c', 'b'] are replaced by ['a', 'a'], respectively
  t0 = ltorch.add(a, a, alpha=1)  # t0: "cpu f32[2]"
  return t0
)");
  EXPECT_EQ(result.after.provenance, "Duplicate alias args using {'b': 'a', 'c': 'a'}");
}

TEST(AliasArgs, WithoutGroupsNothingChanges) {
  const Trace before = trace_of(kTwoArguments);
  EXPECT_EQ(run_pass("alias_args", before).after, before);
}

TEST(AliasArgs, AnIndexBeyondTheArgumentsIsCut) {
  const PassResult result = run_pass("alias_args", trace_of(kTwoArguments), groups({{1, 2}}));
  EXPECT_EQ(result.after.provenance, "Duplicate alias args using {}");
  EXPECT_EQ(steps_of(result), R"(
index-out-of-range: argument number 2 of the call is none of the 2 arguments of this trace
)");
}

TEST(AliasArgs, AFirstIndexBeyondTheArgumentsRaises) {
  EXPECT_EQ(error_of(run_pass("alias_args", trace_of(kTwoArguments), groups({{2, 3}}))),
            "IndexError: list index out of range");
}

TEST(AliasArgs, RefusesArgumentsOfAnotherSize) {
  EXPECT_EQ(error_of(run_pass("alias_args", trace_of(R"(
def computation(a, b):
  # a: "cpu f32[2, 2]"
  # b: "cpu f32[2]"
  return b
)"),
                              groups({{0, 1}}))),
            "RuntimeError: Attempting to reshape a.shape=(2, 2) to shape=(2,), but a.numel=4 is "
            "different from "
            "the number of elements in shape, 2");
}

}  // namespace
}  // namespace tg
