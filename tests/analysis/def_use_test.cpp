#include "core/analysis/def_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/trace_text.h"

namespace tg {
namespace {

using testing::ElementsAre;

TEST(DefUse, AnnotationsDefineArguments) {
  const Trace trace = test::make_trace("x: f32[2]", "t0 = ltorch.sin(x)\nreturn (t0,)");
  const DefUse def_use(trace);
  EXPECT_EQ(def_use.definitions()[0].name, "x");
  EXPECT_EQ(def_use.definitions()[0].statement, 0U);
  EXPECT_EQ(def_use.reaching("x", 1), 0U);
}

TEST(DefUse, ParametersWithoutAnnotationStandBeforeEverything) {
  const Trace trace = test::make_trace("x", "t0 = ltorch.sin(x)\nreturn (t0,)");
  const DefUse def_use(trace);
  EXPECT_EQ(def_use.definitions()[0].statement, kArgument);
  EXPECT_EQ(def_use.reaching("x", 0), 0U);
  EXPECT_EQ(def_use.reaching("t0", 0), kNoDefinition);
}

TEST(DefUse, ReadersCountEachOccurrenceAndReturn) {
  const Trace trace = test::make_trace("x: f32[2]", "t0 = ltorch.mul(x, x)\nreturn (t0, x)");
  const DefUse def_use(trace);
  EXPECT_THAT(def_use.definitions()[0].readers, ElementsAre(1, 1, 2));
}

TEST(DefUse, DelIsNoReader) {
  const Trace trace = test::make_trace("x: f32[2]", "t0 = ltorch.sin(x)\ndel x\nreturn (t0,)");
  const DefUse def_use(trace);
  EXPECT_THAT(def_use.definitions()[0].readers, ElementsAre(1));
  EXPECT_THAT(def_use.reads_of(2), ElementsAre(0));
}

TEST(DefUse, RebindingStartsANewDefinition) {
  const Trace trace = test::make_trace("t0: f32[2]",
                                       "t1 = ltorch.mul(t0, 2.0)\nt0 = ltorch.add(t1, 1.0)\nt2 = "
                                       "ltorch.add(t0, t1)\nreturn (t0, t2)");
  const DefUse def_use(trace);
  EXPECT_EQ(def_use.reaching("t0", 1), 0U);
  EXPECT_EQ(def_use.reaching("t0", 2),
            0U);  // the second statement reads the argument's successor, not itself
  EXPECT_EQ(def_use.definitions()[def_use.reaching("t0", 3)].statement, 2U);
}

TEST(DefUse, InnerNameReadLaterBelongsToTheStatement) {
  const Trace trace = test::make_trace("x: f32[2]",
                                       "ltorch.setitem_(x, 0, 1.0)\n"
                                       "  # t0 = ltorch.setitem(x, 0, 1.0)\n"
                                       "  # t1 = prims.copy_(t0, x)\n"
                                       "t2 = ltorch.sin(t1)\nreturn (t2,)");
  const DefUse def_use(trace);
  const DefinitionId inner = def_use.reaching("t1", 2);
  ASSERT_NE(inner, kNoDefinition);
  EXPECT_EQ(def_use.definitions()[inner].statement, 1U);
  EXPECT_TRUE(def_use.undefined_names().contains("t1"));
}

}  // namespace
}  // namespace tg
