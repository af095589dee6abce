// One test a rule of functionalize: text in, text and steps out.

#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

// An argument is written, then read.
constexpr std::string_view kWriteArgument = R"(
def computation(x):
  # x: "cpu f32[2]"

  # m.py:3: 	  x.exp_()
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
      # t0 = prims.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"

  # m.py:4: 	  return x.cos()
  t2 = ltorch.cos(x)  # t2: "cpu f32[2]"
    # t2 = prims.cos(x)  # t2: "cpu f32[2]"
  return {'output': t2, 'flat_args': [x]}
)";

TEST(Functionalize, AWriteToAnArgumentBecomesACopyBehindItsLastReader) {
  const PassResult result = run_pass("functionalize", trace_of(kWriteArgument));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cpu f32[2]"
  # Functionalized from `t1 = exp_(x)`
  t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
    # t0 = prims.exp(x)  # t0: "cpu f32[2]"

  # m.py:4: 	  return x.cos()
  # `t1` is replaced by `t0`
  t2 = ltorch.cos(t0)  # t2: "cpu f32[2]"
    # t2 = prims.cos(t0)  # t2: "cpu f32[2]"

  # m.py:3: 	  x.exp_()
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  return {'output': t2, 'flat_args': [t1]}
)");
  EXPECT_EQ(result.after.provenance, "Functionalize in-place ops");
  EXPECT_EQ(steps_of(result), R"(
  functionalize-inplace: exp_ (line 5) writes x; it becomes exp, followed by the copy of t0 back onto x
  rename-readers: t0 is the value of x after exp_ (line 5); cos (line 11), return (line 13) read the new value
place-copy: t1 = prims.copy_(t0, x) moves behind cos (line 11), the last reader of t0
return-names-copies: the return mentions the results of the copies, so that later passes keep the copies before it
)");
}

TEST(Functionalize, TheFirstStepOnlySplitsTheWrite) {
  const Trace before = trace_of(kWriteArgument);
  const PassResult result = run_pass("functionalize", before);
  EXPECT_EQ(body_of(replay(before, std::span(result.steps).first(1))), R"(
  # x: "cpu f32[2]"
  # Functionalized from `t1 = exp_(x)`
  t0 = ltorch.exp(x)  # t0: "cpu f32[2]"

  # m.py:3: 	  x.exp_()
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"

  # m.py:4: 	  return x.cos()
  t2 = ltorch.cos(x)  # t2: "cpu f32[2]"
  return {'output': t2, 'flat_args': [x]}
)");
}

TEST(Functionalize, ItsIntermediateTraceIsTheCanonicalOne) {
  const Trace before = trace_of(kWriteArgument);
  const PassResult result = run_pass("functionalize", before);
  ASSERT_EQ(result.intermediate.size(), 1U);
  const PassResult canonical = run_pass("canonicalize", before);
  EXPECT_EQ(result.intermediate.front(), canonical.after);
  EXPECT_EQ(run_pass("functionalize_copies", canonical.after).after, result.after);
}

TEST(Functionalize, CopiesOntoTemporariesAreDropped) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t2 = ltorch.exp_(t0)  # t2: "cpu f32[2]"
    # t1 = ltorch.exp(t0)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, t0)  # t2: "cpu f32[2]"
  t3 = ltorch.cos(t0)  # t3: "cpu f32[2]"
  return {'output': t3, 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  # Functionalized from `t2 = exp_(t0)`
  t1 = ltorch.exp(t0)  # t1: "cpu f32[2]"
  # `t2` is replaced by `t1`
  t3 = ltorch.cos(t1)  # t3: "cpu f32[2]"
  return {'output': t3, 'flat_args': [x]}
)");
  EXPECT_EQ(steps_of(result), R"(
  functionalize-inplace: exp_ (line 4) writes t0; it becomes exp, followed by the copy of t1 back onto t0
  rename-readers: t1 is the value of t0 after exp_ (line 4); cos (line 7) reads the new value
drop-copy: the copy of t1 onto t0 by exp_ (line 4) is dropped: t0 is a temporary and its readers read t1
)");
}

TEST(Functionalize, ASecondSetitemOnAnArgumentIsNeverCopiedBack) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  ltorch.setitem_(x, 0, 1.0)
    # t0 = ltorch.setitem(x, 0, 1.0)  # t0: "cpu f32[2]"
      # t0 = prims.copy_with_setitem(x, 0, 1.0)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  ltorch.setitem_(x, 1, 2.0)
    # t2 = ltorch.setitem(x, 1, 2.0)  # t2: "cpu f32[2]"
      # t2 = prims.copy_with_setitem(x, 1, 2.0)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, x)  # t3: "cpu f32[2]"
  t4 = ltorch.neg(x)  # t4: "cpu f32[2]"
  return {'output': t4, 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cpu f32[2]"
  # Functionalized from `None = setitem_(x,0,1.0)`
  t0 = ltorch.setitem(x, 0, 1.0)  # t0: "cpu f32[2]"
    # t0 = prims.copy_with_setitem(x, 0, 1.0)  # t0: "cpu f32[2]"
  # Functionalized from `None = setitem_(t1,1,2.0)`
  t2 = ltorch.setitem(t0, 1, 2.0)  # t2: "cpu f32[2]"
    # t2 = prims.copy_with_setitem(t0, 1, 2.0)  # t2: "cpu f32[2]"
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  # `t3` is replaced by `t2`
  t4 = ltorch.neg(t2)  # t4: "cpu f32[2]"
  return {'output': t4, 'flat_args': [t2]}
)");
  EXPECT_EQ(steps_of(result), R"(
  functionalize-inplace: setitem_ (line 3) writes x; it becomes setitem, followed by the copy of t0 back onto x
  functionalize-inplace: setitem_ (line 7) writes x; it becomes setitem, followed by the copy of t2 back onto x
  rename-readers: t2 is the value of x after setitem_ (line 7); neg (line 11), return (line 12) read the new value
keep-one-copy: t1 has no producer line, so the write of setitem_ (line 7) is kept on a temporary only: no copy back, so x keeps what was copied before
place-copy: t1 = prims.copy_(t0, x) moves behind setitem (line 7), the last reader of t0
)");
}

TEST(Functionalize, WritesThroughAViewAreCopiedToTheArgument) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.view(x, 4)  # t0: "cpu f32[4]"
  t2 = ltorch.exp_(t0)  # t2: "cpu f32[4]"
    # t1 = ltorch.exp(t0)  # t1: "cpu f32[4]"
    # t2 = prims.copy_(t1, t0)  # t2: "cpu f32[4]"
  t4 = ltorch.sin_(t0)  # t4: "cpu f32[4]"
    # t3 = ltorch.sin(t0)  # t3: "cpu f32[4]"
    # t4 = prims.copy_(t3, t0)  # t4: "cpu f32[4]"
  t5 = ltorch.cos(t0)  # t5: "cpu f32[4]"
  return {'output': t5, 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2, 2]"
  t0 = ltorch.view(x, 4)  # t0: "cpu f32[4]"
  # Functionalized from `t2 = exp_(t0)`
  t1 = ltorch.exp(t0)  # t1: "cpu f32[4]"
  # Functionalized from `t4 = sin_(t2)`
  t3 = ltorch.sin(t1)  # t3: "cpu f32[4]"
  # `t4` is replaced by `t3`
  t5 = ltorch.cos(t3)  # t5: "cpu f32[4]"
  # `t4` is replaced by `t3`
  t6 = prims.reshape(t3, (2, 2))  # t6: "cpu f32[2, 2]"
  t9 = prims.reshape(t3, (2, 2))  # t9: "cpu f32[2, 2]"
  t10 = prims.copy_(t9, x)  # t10: "cpu f32[2, 2]"
  return {'output': t5, 'flat_args': [t6]}
)");
  EXPECT_EQ(steps_of(result), R"(
  functionalize-inplace: exp_ (line 4) writes t0; it becomes exp, followed by the copy of t1 back onto t0
  functionalize-inplace: sin_ (line 7) writes t0; it becomes sin, followed by the copy of t3 back onto t0
  rebuild-base-from-view: t3 is the value of t0 after sin_ (line 7); cos (line 10), return (line 11) read the new value, the base as a reshape of it
copy-to-base: t0 belongs to argument x, so the value of sin_ (line 7) is copied to the argument instead, through a reshape
keep-one-copy: the copy of t1 onto t0 by exp_ (line 4) is superseded by that of sin_ (line 7): one copy onto x is kept, the last
place-copy: t10 = prims.copy_(t9, x) moves behind reshape (line 11), the last reader of t3
)");
}

TEST(Functionalize, AWriteToABaseIsCarriedOnToItsViews) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.view(t0, 4)  # t1: "cpu f32[4]"
  t4 = ltorch.exp_(t0)  # t4: "cpu f32[2, 2]"
    # t3 = ltorch.exp(t0)  # t3: "cpu f32[2, 2]"
    # t4 = prims.copy_(t3, t0)  # t4: "cpu f32[2, 2]"
  t5 = ltorch.neg(t1)  # t5: "cpu f32[4]"
  return {'output': t5, 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2, 2]"
  t1 = ltorch.view(t0, 4)  # t1: "cpu f32[4]"
  # Functionalized from `t4 = exp_(t0)`
  t3 = ltorch.exp(t0)  # t3: "cpu f32[2, 2]"
  # `t3` replaces `t1` due to in-place op into `t1`
  t6 = prims.reshape(t3, (4,))  # t6: "cpu f32[4]"
  # `t1` is replaced by `t6`
  t5 = ltorch.neg(t6)  # t5: "cpu f32[4]"
  return {'output': t5, 'flat_args': [x]}
)");
  EXPECT_EQ(steps_of(result), R"(
  functionalize-inplace: exp_ (line 5) writes t0; it becomes exp, followed by the copy of t3 back onto t0
  propagate-to-views: t3 is the value of t0 after exp_ (line 5); 1 name of the same storage is rebuilt from it; neg (line 8) reads the new value
drop-copy: the copy of t3 onto t0 by exp_ (line 5) is dropped: t0 is a temporary and its readers read t3
)");
}

TEST(Functionalize, ViewsOfAWrittenArgumentAreTakenOfTheNewValue) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  t2 = ltorch.view(x, (2, 1))  # t2: "cpu f32[2, 1]"
  return {'output': t2, 'flat_args': [x]}
)"));
  EXPECT_EQ(steps_of(result), R"(
  functionalize-inplace: exp_ (line 3) writes x; it becomes exp, followed by the copy of t0 back onto x
  rename-readers: t0 is the value of x after exp_ (line 3); return (line 7) reads the new value
rename-views: every write to x is functional now, the last is exp_ (line 3); view (line 6) becomes a view of the new value
place-copy: t1 = prims.copy_(t0, x) moves behind view (line 6), the last reader of t0
return-names-copies: the return mentions the results of the copies, so that later passes keep the copies before it
)");
}

TEST(Functionalize, AViewTakenBeforeTheWriteReadsTheOldValue) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.view(x, (2, 1))  # t0: "cpu f32[2, 1]"
  t2 = ltorch.exp_(x)  # t2: "cpu f32[2]"
    # t1 = ltorch.exp(x)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, x)  # t2: "cpu f32[2]"
  t3 = ltorch.cos(t0)  # t3: "cpu f32[2, 1]"
  t4 = ltorch.neg(x)  # t4: "cpu f32[2]"
  return {'output': (t3, t4), 'flat_args': [x]}
)"));
  EXPECT_EQ(result.steps[2].rule, "place-copy");
  EXPECT_EQ(result.steps[2].reason,
            "t2 = prims.copy_(t1, x) moves behind neg (line 8), the last reader of t1; cos (line "
            "7) still reads t0, "
            "which shares its storage");
}

TEST(Functionalize, AStaleResultNameIsNamed) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t2 = ltorch.exp_(t0)  # t2: "cpu f32[2]"
    # t1 = ltorch.exp(t0)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, t0)  # t2: "cpu f32[2]"
  t4 = ltorch.neg_(t0)  # t4: "cpu f32[2]"
    # t3 = ltorch.neg(t0)  # t3: "cpu f32[2]"
    # t4 = prims.copy_(t3, t0)  # t4: "cpu f32[2]"
  t5 = ltorch.cos(t2)  # t5: "cpu f32[2]"
  return {'output': t5, 'flat_args': [x]}
)"));
  EXPECT_EQ(result.steps[1].reason,
            "t1 is the value of t0 after exp_ (line 4); cos (line 10) reads the new value; cos "
            "(line 10) reads t1, the "
            "value after exp_ (line 4), although neg_ (line 7) writes the same storage in between");
}

TEST(Functionalize, FlagFormsAndTwinsWithMoreParameters) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t2 = ltorch.relu(t0, True)  # t2: "cpu f32[2]"
    # t1 = ltorch.gt(t0, 0)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, t0)  # t2: "cpu f32[2]"
  t4 = ltorch.relu_(t2)  # t4: "cpu f32[2]"
    # t3 = ltorch.relu(t2, False)  # t3: "cpu f32[2]"
      # t3 = prims.where(t2, t2, t2)  # t3: "cpu f32[2]"
    # t4 = prims.copy_(t3, t2)  # t4: "cpu f32[2]"
  return {'output': t4, 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  # Functionalized from `t2 = relu(t0,True)`
  t1 = ltorch.relu(t0, False)  # t1: "cpu f32[2]"
    # t1 = ltorch.gt(t0, 0)  # t1: "cpu f32[2]"
  # Functionalized from `t4 = relu_(t2)`
  t3 = ltorch.relu(t1, False)  # t3: "cpu f32[2]"
    # t3 = prims.where(t1, t1, t1)  # t3: "cpu f32[2]"
  return {'output': t3, 'flat_args': [x]}
)");
}

TEST(Functionalize, ASliceKeyKeepsTheLineInsideItself) {
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  ltorch.setitem_(x, slice(0,1,None), 1.0)
    # t0 = ltorch.setitem(x, slice(0,1,None), 1.0)  # t0: "cpu f32[2]"
      # t0 = prims.copy_with_setitem(x, slice(0,1,None), 1.0)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  return {'output': x, 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cpu f32[2]"
  # Functionalized from `None = setitem_(x,0,1,None,1.0)`
  t0 = ltorch.setitem(x, slice(0,1,None), 1.0)  # t0: "cpu f32[2]"
    # t0 = ltorch.setitem(x, slice(0,1,None), 1.0)  # t0: "cpu f32[2]"
      # t0 = prims.copy_with_setitem(x, slice(0,1,None), 1.0)  # t0: "cpu f32[2]"
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  return {'output': t1, 'flat_args': [t1]}
)");
}

TEST(Functionalize, AliasedArgumentsComeFirst) {
  PassContext context;
  context.options.alias_groups = {{0, 1}};
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(a, b):
  # a: "cpu f32[2]"
  # b: "cpu f32[2]"
  t1 = ltorch.exp_(a)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(a)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, a)  # t1: "cpu f32[2]"
  t3 = ltorch.exp_(b)  # t3: "cpu f32[2]"
    # t2 = ltorch.exp(b)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, b)  # t3: "cpu f32[2]"
  t4 = ltorch.add(t1, t3, alpha=1)  # t4: "cpu f32[2]"
  return {'output': t4, 'flat_args': [a, b]}
)"),
                                     context);
  ASSERT_EQ(result.intermediate.size(), 2U);
  EXPECT_EQ(result.intermediate[0].provenance, "Duplicate alias args using {'b': 'a'}");
  EXPECT_EQ(body_of(result.after), R"(
  # a: "cpu f32[2]"
  # b: "cpu f32[2]"
  # Functionalized from `t1 = exp_(a)`
  t0 = ltorch.exp(a)  # t0: "cpu f32[2]"
  # Functionalized from `t3 = exp_(t1)`
  t2 = ltorch.exp(t0)  # t2: "cpu f32[2]"
  # ['t1', 't3'] are replaced by ['t2', 't2'], respectively
  t4 = ltorch.add(t2, t2, alpha=1)  # t4: "cpu f32[2]"
  t5 = prims.copy_(t2, a)  # t5: "cpu f32[2]"
  return {'output': t4, 'flat_args': [t5, t5]}
)");
  EXPECT_EQ(result.steps.front().group, "alias_args");
}

TEST(Functionalize, ARenamedRawCopyKeepsTheOldNameInStep) {
  const Trace before = trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  t2 = ltorch.copy_(x, y)  # t2: "cpu f32[2]"
    # t2 = prims.copy_(y, x)  # t2: "cpu f32[2]"
  t3 = ltorch.cos(x)  # t3: "cpu f32[2]"
  return {'output': t3, 'flat_args': [x, y]}
)");
  const PassResult result = run_pass("functionalize", before);
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  # Functionalized from `t1 = exp_(x)`
  t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
  # `t1` is replaced by `t0`
  t2 = ltorch.copy_(t0, y)  # t2: "cpu f32[2]"
  # `t1` is replaced by `t0`
  t3 = ltorch.cos(t0)  # t3: "cpu f32[2]"
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  return {'output': t3, 'flat_args': [t1, y]}
)");
  EXPECT_EQ(body_of(replay(before, std::span(result.steps).first(2))), R"(
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  # Functionalized from `t1 = exp_(x)`
  t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  # `t1` is replaced by `t0`
  t2 = ltorch.copy_(t0, y)  # t2: "cpu f32[2]"
  prims.copy_(t0, x)
  # `t1` is replaced by `t0`
  t3 = ltorch.cos(t0)  # t3: "cpu f32[2]"
  return {'output': t3, 'flat_args': [t0, y]}
)");
}

TEST(Functionalize, NothingToDoLeavesTheTrace) {
  const Trace before = trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = ltorch.copy_(x, y)  # t0: "cpu f32[2]"
    # t0 = prims.copy_(y, x)  # t0: "cpu f32[2]"
  return {'output': x, 'flat_args': [x, y]}
)");
  const PassResult result = run_pass("functionalize", before);
  EXPECT_EQ(result.after, before);
  EXPECT_TRUE(result.intermediate.empty());
  EXPECT_EQ(steps_of(result), R"(
nothing-to-functionalize: no statement writes in place and has a functional twin; the trace goes on unchanged
)");
}

TEST(Functionalize, ASkippedWriteStaysInPlaceAndKeepsItsReaders) {
  PassContext context;
  context.filter.skip_subjects = {1};
  const PassResult result = run_pass("functionalize", trace_of(kWriteArgument), context);
  EXPECT_EQ(body_of(result.after), body_of(trace_of(kWriteArgument)));
  EXPECT_EQ(steps_of(result), R"(
  functionalize-inplace: skipped: exp_ (line 5) writes x; it becomes exp, followed by the copy of t0 back onto x
copies-stay: the copies onto x stay: a statement still reads it by its old names
)");
}

TEST(Functionalize, SkippingTheRenamingKeepsTheCopies) {
  PassContext context;
  context.filter.skip_rules = {"rename-readers"};
  const PassResult result = run_pass("functionalize", trace_of(kWriteArgument), context);
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # Functionalized from `t1 = exp_(x)`
  t0 = ltorch.exp(x)  # t0: "cpu f32[2]"

  # m.py:3: 	  x.exp_()
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"

  # m.py:4: 	  return x.cos()
  t2 = ltorch.cos(x)  # t2: "cpu f32[2]"
  return {'output': t2, 'flat_args': [x]}
)");
}

TEST(Functionalize, AWriteThatReadsASkippedValueIsLeftInPlace) {
  PassContext context;
  context.filter.skip_subjects = {1};
  const PassResult result = run_pass("functionalize", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  t3 = ltorch.sin_(x)  # t3: "cpu f32[2]"
    # t2 = ltorch.sin(x)  # t2: "cpu f32[2]"
    # t3 = prims.copy_(t2, x)  # t3: "cpu f32[2]"
  return {'output': x, 'flat_args': [x]}
)"),
                                     context);
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
  t3 = ltorch.sin_(x)  # t3: "cpu f32[2]"
  return {'output': x, 'flat_args': [x]}
)");
  EXPECT_EQ(result.steps[1].rule, "left-in-place");
}

}  // namespace
}  // namespace tg
