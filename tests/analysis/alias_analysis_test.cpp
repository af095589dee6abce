#include "core/analysis/alias_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/trace_text.h"

namespace tg {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

// A trace with its analyses; names stand for their last definition.
class Analysed {
 public:
  Analysed(std::string_view arguments, std::string_view statements, const ArgumentFacts& facts = {})
      : trace(test::make_trace(arguments, statements)),
        def_use(trace),
        aliases(trace, def_use, facts) {}

  DefinitionId id(std::string_view name) const {
    return def_use.reaching(name, static_cast<std::uint32_t>(trace.bound_symbols.size()));
  }
  bool must(std::string_view a, std::string_view b) const {
    return aliases.must_alias(id(a), id(b));
  }
  bool may(std::string_view a, std::string_view b) const { return aliases.may_alias(id(a), id(b)); }
  const Placement& at(std::string_view name) const { return *aliases.placement(id(name)); }

  Trace trace;
  DefUse def_use;
  AliasSets aliases;
};

TEST(AliasAnalysis, FunctionalResultIsFresh) {
  const Analysed a("x: f32[2]", "t0 = ltorch.sin(x)\nreturn (t0,)");
  EXPECT_FALSE(a.may("x", "t0"));
}

TEST(AliasAnalysis, ViewHasItsWindow) {
  const Analysed a("x: f32[2, 3]", "t0 = prims.slice_prim(x, [0, 1], [2, 3])\nreturn (t0,)");
  EXPECT_TRUE(a.must("x", "t0"));
  EXPECT_THAT(a.at("t0").geometry, Optional(Eq(Geometry{{2, 2}, {3, 1}, 1})));
  EXPECT_EQ(a.aliases.windows_overlap(a.id("x"), a.id("t0")), Overlap::Partial);
}

TEST(AliasAnalysis, DisjointSlicesShareStorageButNoBytes) {
  const Analysed a(
      "x: f32[4]",
      "t0 = prims.slice_prim(x, [0], [2])\nt1 = prims.slice_prim(x, [2], [4])\nreturn (t0, t1)");
  EXPECT_TRUE(a.must("t0", "t1"));
  EXPECT_EQ(a.aliases.windows_overlap(a.id("t0"), a.id("t1")), Overlap::None);
}

TEST(AliasAnalysis, ReshapeIsDecidedByStrides) {
  const Analysed a("x: f32[2, 3]",
                   "t0 = ltorch.reshape(x, (6,))  # t0: \"cpu f32[6]\"\n"
                   "t1 = ltorch.transpose(x, 0, 1)  # t1: \"cpu f32[3, 2]\"\n"
                   "t2 = ltorch.reshape(t1, (6,))  # t2: \"cpu f32[6]\"\nreturn (t0, t2)");
  EXPECT_TRUE(a.must("x", "t0"));
  EXPECT_TRUE(a.must("x", "t1"));
  EXPECT_FALSE(a.may("x", "t2"));
}

TEST(AliasAnalysis, ReshapeOfUnknownStridesIsMaybe) {
  const Analysed a("x", "t0 = ltorch.reshape(x, (6,))\nreturn (t0,)");
  EXPECT_FALSE(a.must("x", "t0"));
  EXPECT_TRUE(a.may("x", "t0"));
}

TEST(AliasAnalysis, CastsToAnotherDtypeCopy) {
  const Analysed a("x: f32[2]",
                   "t0 = ltorch.to(x, torch.float64)  # t0: \"cpu f64[2]\"\n"
                   "t1 = ltorch.to(x, torch.float32)  # t1: \"cpu f32[2]\"\nreturn (t0, t1)");
  EXPECT_FALSE(a.may("x", "t0"));
  EXPECT_TRUE(a.must("x", "t1"));
}

TEST(AliasAnalysis, IndexByTensorCopies) {
  const Analysed a("x: f32[4]; i: i64[2]",
                   "t0 = ltorch.getitem(x, (i,))  # t0: \"cpu f32[2]\"\n"
                   "t1 = ltorch.getitem(x, 1)  # t1: \"cpu f32[]\"\nreturn (t0, t1)");
  EXPECT_FALSE(a.may("x", "t0"));
  EXPECT_TRUE(a.must("x", "t1"));
}

TEST(AliasAnalysis, CopyResultIsTheDestination) {
  const Analysed a("x: f32[2]; y: f32[2]", "t0 = prims.copy_(y, x)\nreturn (t0,)");
  EXPECT_TRUE(a.must("t0", "x"));
  EXPECT_FALSE(a.may("t0", "y"));
}

TEST(AliasAnalysis, EverySpellingOfCopyWritesItsDestination) {
  for (const std::string_view copy :
       {"prims.copy_(y, x)", "copy_(y, x)", "ltorch.copy_(x, y)", "Tensor.copy_(x, y)"}) {
    const Analysed a("x: f32[2]; y: f32[2]",
                     std::string("t0 = ") + std::string(copy) + "\nreturn (t0,)");
    EXPECT_TRUE(a.must("t0", "x")) << copy;
    EXPECT_EQ(a.aliases.writes_to(a.at("x").storage).size(), 1U) << copy;
    EXPECT_TRUE(a.aliases.writes_to(a.at("y").storage).empty()) << copy;
  }
}

TEST(AliasAnalysis, InPlaceResultIsTheArgument) {
  const Analysed a("x: f32[2]",
                   "t1 = ltorch.exp_(x)  # t1: \"cpu f32[2]\"\n"
                   "  # t0 = ltorch.exp(x)  # t0: \"cpu f32[2]\"\n"
                   "  # t1 = prims.copy_(t0, x)  # t1: \"cpu f32[2]\"\nreturn (t1,)");
  EXPECT_TRUE(a.must("t1", "x"));
  const auto writes = a.aliases.writes_to(a.at("x").storage);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_THAT(writes[0]->path, ElementsAre(1, 1));  // the printed copy_ is where it writes
}

TEST(AliasAnalysis, InplaceFlagWrites) {
  const Analysed on("x: f32[2]", "t0 = ltorch.relu(x, True)\nreturn (t0,)");
  EXPECT_TRUE(on.must("t0", "x"));
  const Analysed off("x: f32[2]", "t0 = ltorch.relu(x, False)\nreturn (t0,)");
  EXPECT_FALSE(off.may("t0", "x"));
}

TEST(AliasAnalysis, SetitemWritesTheSelectedPart) {
  const Analysed a("x: f32[2, 2]", "ltorch.setitem_(x, 1, 5.0)\nreturn (x,)");
  const auto writes = a.aliases.writes_to(a.at("x").storage);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0]->kind, AccessKind::Write);
  EXPECT_THAT(writes[0]->geometry, Optional(Eq(Geometry{{2}, {1}, 2})));
}

TEST(AliasAnalysis, SetitemByTensorMayWriteAnything) {
  const Analysed a("x: f32[2]; i: i64[1]", "ltorch.setitem_(x, (i,), 5.0)\nreturn (x,)");
  ASSERT_EQ(a.aliases.writes_to(a.at("x").storage).size(), 1U);
  EXPECT_EQ(a.aliases.writes_to(a.at("x").storage)[0]->kind, AccessKind::MayWrite);
}

TEST(AliasAnalysis, VersionsCountWrites) {
  const Analysed a(
      "x: f32[2]; y: f32[2]",
      "t0 = ltorch.sin(x)\nt1 = prims.copy_(y, x)\nt2 = ltorch.sin(x)\nreturn (t0, t2)");
  std::vector<std::uint32_t> versions;
  for (const Access* access : a.aliases.history_of(a.at("x").storage))
    versions.push_back(access->version);
  EXPECT_THAT(versions, ElementsAre(0, 1, 1));
}

TEST(AliasAnalysis, BatchNormHidesItsWrites) {
  const TraceFile file =
      parse_trace_file("t", test::file_text(std::string(TG_SOURCE_DIR) +
                                            "/assets/traces/seed/batch-norm-running-stats.txt"));
  const Trace& trace = file.phases.front().trace;
  const DefUse def_use(trace);
  const AliasSets aliases(trace, def_use);
  EXPECT_EQ(aliases.writes_to(aliases.placement(def_use.reaching("mean", 99))->storage).size(), 1U);
  EXPECT_EQ(aliases.writes_to(aliases.placement(def_use.reaching("x", 99))->storage).size(), 0U);
}

TEST(AliasAnalysis, BatchNormInEvaluationWritesNothing) {
  const Analysed a("x: f32[2, 2]; m: f32[2]; v: f32[2]",
                   "y = ltorch.batch_norm(x, m, v, None, None, False, 0.1, 1e-05)\nreturn (y,)");
  EXPECT_TRUE(a.aliases.writes_to(a.at("m").storage).empty());
}

TEST(AliasAnalysis, RegionResultsComeFromItsStatements) {
  const Analysed a("p: f32[2]; q: f32[2]",
                   "[t1, t2] = nvFusion0(p, q)\n"
                   "  # t0 = prims.neg(p)  # t0: \"cpu f32[2]\"\n"
                   "  # t1 = prims.copy_(t0, p)  # t1: \"cpu f32[2]\"\n"
                   "  # t2 = prims.add(t0, q)  # t2: \"cpu f32[2]\"\nreturn (t1, t2)");
  EXPECT_TRUE(a.must("t1", "p"));
  EXPECT_FALSE(a.may("t2", "p"));
}

TEST(AliasAnalysis, UpdateAliasesGivesItsArguments) {
  const Analysed a("p: f32[2]; q: f32[2]",
                   "(t0, t1) = prims.update_aliases((p, q))\nreturn (t0, t1)");
  EXPECT_TRUE(a.must("t0", "p"));
  EXPECT_TRUE(a.must("t1", "q"));
  EXPECT_FALSE(a.may("t0", "q"));
}

TEST(AliasAnalysis, UnknownCalleeMayGiveItsArgument) {
  const Analysed a("x: f32[2]", "t0 = mylib.frobnicate(x)  # t0: \"cpu f32[2]\"\nreturn (t0,)");
  EXPECT_TRUE(a.may("t0", "x"));
  EXPECT_FALSE(a.must("t0", "x"));
  EXPECT_TRUE(a.aliases.writes_to(a.at("x").storage).empty());
}

TEST(AliasAnalysis, UnknownCalleeWithUnderscoreMayWrite) {
  const Analysed a("x: f32[2]; y: f32[2]", "mylib.frobnicate_([x], y)\nreturn (x,)");
  EXPECT_EQ(a.aliases.writes_to(a.at("x").storage).size(), 1U);
  EXPECT_TRUE(a.aliases.writes_to(a.at("y").storage).empty());
}

TEST(AliasAnalysis, RebindingIsNoWrite) {
  const Analysed a("t0: f32[2]",
                   "t1 = ltorch.mul(t0, 2.0)\nt0 = ltorch.add(t1, 1.0)\nreturn (t0,)");
  EXPECT_FALSE(a.aliases.may_alias(0, a.id("t0")));
  EXPECT_TRUE(a.aliases.writes_to(a.aliases.placement(0)->storage).empty());
}

TEST(AliasAnalysis, FactsPlaceArguments) {
  const Trace trace = test::make_trace("a: f32[4]; b: f32[2]", "return (a, b)");
  const Result<ArgumentFacts> facts = parse_alias_options(trace, {"b=a[1:3]"});
  ASSERT_TRUE(facts.has_value());
  const DefUse def_use(trace);
  const AliasSets aliases(trace, def_use, *facts);
  EXPECT_TRUE(aliases.must_alias(0, 1));
  EXPECT_EQ(aliases.storages().size(), 1U);
  EXPECT_EQ(aliases.storages()[0].label, "a");
  EXPECT_EQ(aliases.windows_overlap(0, 1), Overlap::Partial);
}

TEST(AliasAnalysis, ArgumentsMayAliasWhenNothingIsKnown) {
  ArgumentFacts facts;
  facts.may_alias_each_other = true;
  const Analysed a("x: f32[2]; y: f32[2]", "t0 = ltorch.sin(x)\nreturn (t0,)", facts);
  EXPECT_TRUE(a.may("x", "y"));
  EXPECT_FALSE(a.must("x", "y"));
  EXPECT_FALSE(a.may("x", "t0"));
}

TEST(AliasAnalysis, ElementwiseKeepsMemoryOrder) {
  const Analysed a("x: f32[2, 3]",
                   "t0 = ltorch.transpose(x, 0, 1)  # t0: \"cpu f32[3, 2]\"\n"
                   "t1 = ltorch.sin(t0)  # t1: \"cpu f32[3, 2]\"\nreturn (t1,)");
  EXPECT_THAT(a.at("t1").geometry, Optional(Eq(Geometry{{3, 2}, {1, 3}, 0})));
}

TEST(AliasAnalysis, NothingRunsAfterReturn) {
  const Analysed a("x: f32[2]; y: f32[2]", "return (x,)\nt0 = prims.copy_(y, x)");
  EXPECT_TRUE(a.aliases.writes_to(a.at("x").storage).empty());
  ASSERT_EQ(a.aliases.copies().size(), 1U);
  EXPECT_EQ(a.aliases.copies()[0].write, kNoAccess);
}

}  // namespace
}  // namespace tg
