#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

std::string program(std::string_view lines) {
  return "def computation(x, y, z):\n  # x: \"cpu f32[2]\"\n  # y: \"cpu f32[2]\"\n  # z: \"cpu "
         "f32[2]\"\n" +
         std::string(lines);
}

TEST(AuditRawCopy, OnlyTheLastCopyOfAChainStays) {
  const PassResult result =
      run_pass("audit_raw_copy", trace_of(program(R"(  t0 = prims.copy_(y, x)  # t0: "cpu f32[2]"
  t1 = prims.copy_(z, x)  # t1: "cpu f32[2]"
  return {'output': z, 'flat_args': [x, y, z]}
)")));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  # z: "cpu f32[2]"
  t1 = prims.copy_(z, x)  # t1: "cpu f32[2]"
  return {'output': z, 'flat_args': [x, y, z]}
)");
  EXPECT_EQ(result.after.provenance, "`prims.copy_` audit");
  EXPECT_EQ(steps_of(result), R"(
superseded-copy: copy_ (line 6) names x again after copy_ (line 5)
kept: nothing names x after copy_ (line 6)
)");
}

TEST(AuditRawCopy, ACopyThatReadsTheDestinationCountsAsOverwrite) {
  // The unsound corner: z should get the old x.
  const PassResult result =
      run_pass("audit_raw_copy", trace_of(program(R"(  t0 = prims.copy_(y, x)  # t0: "cpu f32[2]"
  t1 = prims.copy_(x, z)  # t1: "cpu f32[2]"
  return {'output': z, 'flat_args': [x, y, z]}
)")));
  EXPECT_EQ(result.after.bound_symbols.size(), 5U);
}

TEST(AuditRawCopy, RefusesAUsedResult) {
  const PassResult result =
      run_pass("audit_raw_copy", trace_of(program(R"(  t0 = prims.copy_(y, x)  # t0: "cpu f32[2]"
  return {'output': t0, 'flat_args': [x, y, z]}
)")));
  EXPECT_EQ(error_of(result),
            "RuntimeError: `prims.copy_` output out=<TensorProxy(name=\"t0\", "
            "dtype=thunder.dtypes.float32, "
            "shape=(2,))> is used inside a trace");
  EXPECT_EQ(result.error->statement, 3U);
}

TEST(AuditRawCopy, RefusesAReadDestination) {
  EXPECT_EQ(error_of(run_pass("audit_raw_copy",
                              trace_of(program(R"(  t0 = prims.copy_(y, x)  # t0: "cpu f32[2]"
  t1 = ltorch.cos(x)  # t1: "cpu f32[2]"
  return {'output': t1, 'flat_args': [x, y, z]}
)")))),
            "RuntimeError: copy destination of <TensorProxy(name=\"x\", "
            "dtype=thunder.dtypes.float32, shape=(2,))> has "
            "consumers other than PrimIDs.RETURN and PrimIDs.COPY_");
}

TEST(AuditRawCopy, EqualCopiesWithoutResultShareTheLastPlace) {
  // copy a, copy b, copy a again: the first is taken to stand where the third stands, and is kept.
  const PassResult result = run_pass("audit_raw_copy", trace_of(program(R"(  prims.copy_(y, x)
  prims.copy_(z, x)
  prims.copy_(y, x)
  return {'output': y, 'flat_args': [x, y, z]}
)")));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  # z: "cpu f32[2]"
  prims.copy_(y, x)
  prims.copy_(y, x)
  return {'output': y, 'flat_args': [x, y, z]}
)");
}

TEST(AuditRawCopy, DoesNotApplyWhereFunctionalizationDoes) {
  const Trace before = trace_of(program(R"(  t0 = prims.copy_(y, x)  # t0: "cpu f32[2]"
  t2 = ltorch.exp_(z)  # t2: "cpu f32[2]"
    # t1 = ltorch.exp(z)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, z)  # t2: "cpu f32[2]"
  return {'output': y, 'flat_args': [x, y, z]}
)"));
  const PassResult result = run_pass("audit_raw_copy", before);
  EXPECT_EQ(result.after, before);
  EXPECT_EQ(result.steps.front().rule, "not-applicable");
}

}  // namespace
}  // namespace tg
