#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

TEST(DeadCode, UnreadStatementsAndOutputsGo) {
  const PassResult result = run_pass("dead_code", trace_of(R"(
def computation(x, unused):
  # x: "cpu f32[2, 2]"
  # unused: "cpu f32[2]"
  (t0, t1) = ltorch.chunk(x, 2, 0)
    # t0 = prims.slice_prim(x, [0, 0], [1, 2], [1, 1])  # t0: "cpu f32[1, 2]"
    # t1 = prims.slice_prim(x, [1, 0], [2, 2], [1, 1])  # t1: "cpu f32[1, 2]"
  t2 = ltorch.cos(x)  # t2: "cpu f32[2, 2]"
  del t2
  return t1
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2, 2]"
  (_, t1) = ltorch.chunk(x, 2, 0)
  return t1
)");
  EXPECT_EQ(result.after.provenance, "Dead Code Elimination (took 0 milliseconds)");
  EXPECT_EQ(steps_of(result), R"(
unread: the statement at line 8 gives no value and has no effect
unread: no one needs t2, made by cos (line 7)
unread-output: chunk (line 4) stays, but no one needs its output t0
unread: no one needs unused, made by the statement at line 3
)");
  EXPECT_FALSE(result.before_edited.has_value());
}

TEST(DeadCode, WritesStayWithoutTheirOutputs) {
  const PassResult result = run_pass("dead_code", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
      # t0 = prims.exp(x)  # t0: "cpu f32[2]"
    # t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  t2 = prims.copy_(x, x)  # t2: "cpu f32[2]"
  return {'output': x, 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  ltorch.exp_(x)
  prims.copy_(x, x)
  return {'output': x, 'flat_args': [x]}
)");
}

TEST(DeadCode, SubStatementsThatDoNothingGoFromTheInputToo) {
  const Trace before = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t1 = ltorch.mul(x, 2)  # t1: "cpu f32[2]"
    # _ = prims.convert_element_type(2, float)
    # x = ltorch.to(x, dtypes.float32, None, device=None, dtype=None, copy=False, memory_format=None)  # x: "cpu f32[2]"
    # t1 = prims.mul(x, 2.0)  # t1: "cpu f32[2]"
  return t1
)");
  const PassResult result = run_pass("dead_code", before);
  constexpr std::string_view kCleaned = R"(
  # x: "cpu f32[2]"
  t1 = ltorch.mul(x, 2)  # t1: "cpu f32[2]"
    # t1 = prims.mul(x, 2.0)  # t1: "cpu f32[2]"
  return t1
)";
  EXPECT_EQ(body_of(result.after, true), kCleaned);
  ASSERT_TRUE(result.before_edited.has_value());
  EXPECT_EQ(body_of(*result.before_edited, true), kCleaned);
  EXPECT_EQ(result.before_edited->provenance, before.provenance);
}

TEST(DeadCode, AStatementThatLosesAnOutputIsACopyWhoseInputKeepsItsList) {
  const PassResult result = run_pass("dead_code", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  (t0, t1) = ltorch.chunk(x, 2, 0)
    # _ = prims.convert_element_type(2, float)
    # t0 = ltorch.neg(x)  # t0: "cpu f32[2]"
      # _ = prims.convert_element_type(3, float)
      # t0 = prims.neg(x)  # t0: "cpu f32[2]"
    # t1 = prims.neg(x)  # t1: "cpu f32[2]"
  return t1
)"));
  ASSERT_TRUE(result.before_edited.has_value());
  EXPECT_EQ(body_of(*result.before_edited, true), R"(
  # x: "cpu f32[2]"
  (t0, t1) = ltorch.chunk(x, 2, 0)
    # _ = prims.convert_element_type(2, float)
    # t0 = ltorch.neg(x)  # t0: "cpu f32[2]"
      # t0 = prims.neg(x)  # t0: "cpu f32[2]"
    # t1 = prims.neg(x)  # t1: "cpu f32[2]"
  return t1
)");
}

TEST(DeadCode, ARenamedNoOpIsStillOne) {
  const PassResult result = run_pass("dead_code", trace_of(R"(
def computation(v):
  # v: "cpu f32[2]"
  t1 = ltorch.exp(v)  # t1: "cpu f32[2]"
    # t1 = prims.exp(v)  # t1: "cpu f32[2]"
  t2 = ltorch.sum(t1, None, False, dtype=None)  # t2: "cpu f32[]"
    # v = ltorch.to(t1, dtypes.float32, None, device=None, dtype=None, copy=False, memory_format=None)  # v: "cpu f32[2]"
    # t2 = prims.sum(t1, (0,))  # t2: "cpu f32[]"
  return t2
)"));
  EXPECT_EQ(result.after.bound_symbols[2]->subsymbols.size(), 1U);
}

TEST(DeadCode, ACompositeThatIsAPrimitiveStays) {
  const PassResult result = run_pass("dead_code", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t1 = ltorch.cumprod(x, 0)  # t1: "cpu f32[2]"
    # t0 = ltorch.cumsum(x, 0, dtype=None)  # t0: "cpu f32[2]"
    # t1 = prims.exp(t0)  # t1: "cpu f32[2]"
  return t1
)"));
  EXPECT_EQ(result.after.bound_symbols[1]->subsymbols.size(), 2U);
}

TEST(DeadCode, UnpackingOfAPrologue) {
  const PassResult result = run_pass("dead_code", trace_of(R"(
def prologue(*args, **kwargs):
  # args: "Any"
  prims.check_len(args, 1)
  # kwargs: "Any"
  x: "cpu f32[2]" = args[0]
  obj: "Any" = globals()['__function_obj']
  defaults: "tuple" = obj.__defaults__
  dead: "tuple" = obj.__closure__
  prims.check_empty(defaults)
  return ((x,), ())
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # args: "Any"
  prims.check_len(args, 1)
  x: "cpu f32[2]" = args[0]
  obj: "Any" = globals()['__function_obj']
  defaults: "tuple" = obj.__defaults__
  prims.check_empty(defaults)
  return ((x,), ())
)");
}

TEST(DeadCode, ANumberThatIsKnownIsLeftOut) {
  const PassResult result = run_pass("dead_code", trace_of(R"(
def prologue(x):
  # x: "cpu f32[2]"
  i0: "int 2" = x.a
  (i0, i1) = prims.shape(x)
    # i0: "int 2" = x.b
    # i1: "int 3" = x.c
  return (i0, i1)
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  i0: "int 2" = x.a
  (_, i1) = prims.shape(x)
  return (i0, i1)
)");
}

TEST(DeadCode, NamesThatTheCallerNeedsStay) {
  PassContext context;
  context.options.needed_names = {"t0"};
  const PassResult result = run_pass("dead_code", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  return x
)"),
                                     context);
  EXPECT_EQ(result.after.bound_symbols.size(), 3U);
}

TEST(DeadCode, RefusesATraceWithoutReturn) {
  EXPECT_EQ(
      error_of(run_pass("dead_code", trace_of("def computation(x):\n  t0 = ltorch.sin(x)\n"))),
      "AssertionError: Trace has no return, and so no output");
}

TEST(DeadCode, ASkippedStatementKeepsWhatItReads) {
  PassContext context;
  context.filter.skip_subjects = {2};
  const PassResult result = run_pass("dead_code", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t1 = ltorch.cos(t0)  # t1: "cpu f32[2]"
  return x
)"),
                                     context);
  EXPECT_EQ(result.after.bound_symbols.size(), 4U);
}

TEST(DeadCode, IsIdempotent) {
  const PassResult once = run_pass("dead_code", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  (t0, t1) = ltorch.chunk(x, 2, 0)
  t2 = ltorch.mul(t1, 2)  # t2: "cpu f32[2]"
    # _ = prims.convert_element_type(2, float)
    # t2 = prims.mul(t1, 2.0)  # t2: "cpu f32[2]"
  return t2
)"));
  const PassResult twice = run_pass("dead_code", once.after);
  EXPECT_EQ(twice.after, once.after);
  EXPECT_TRUE(twice.steps.empty());
}

}  // namespace
}  // namespace tg
