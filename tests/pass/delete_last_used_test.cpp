#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

TEST(DeleteLastUsed, ValuesDieBehindTheirLastUse) {
  const PassResult result = run_pass("delete_last_used", trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = ltorch.add(x, y, alpha=1)  # t0: "cpu f32[2]"
  t9 = ltorch.sin(y)  # t9: "cpu f32[2]"
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  return t1
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = ltorch.add(x, y, alpha=1)  # t0: "cpu f32[2]"
  t9 = ltorch.sin(y)  # t9: "cpu f32[2]"
  del t9, y
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  del t0, x
  return t1
)");
  EXPECT_EQ(result.after.provenance, "Delete Last Used (took 0 milliseconds)");
  EXPECT_EQ(steps_of(result), R"(
delete: t0, x are not used after copy_ (line 6)
delete: t9, y are not used after sin (line 5)
)");
}

TEST(DeleteLastUsed, OldDelsAreMadeAnew) {
  const Trace before = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  del x
  return t0
)");
  const PassResult result = run_pass("delete_last_used", before);
  EXPECT_EQ(body_of(result.after), body_of(before));
  EXPECT_EQ(steps_of(result), R"(
drop-old-del: the values get a new del behind their last use
delete: x is not used after sin (line 3)
)");
}

TEST(DeleteLastUsed, WordsThatAreNoValuesAreNotDeleted) {
  const PassResult result = run_pass("delete_last_used", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = prims.convert_element_type(x, float)  # t0: "cpu f32[2]"
  t1 = ltorch.to(t0, memory_format=_torch_memory_format_0)  # t1: "cpu f32[2]"
  return (t1, x)
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  t0 = prims.convert_element_type(x, float)  # t0: "cpu f32[2]"
  t1 = ltorch.to(t0, memory_format=_torch_memory_format_0)  # t1: "cpu f32[2]"
  del t0
  return (t1, x)
)");
}

TEST(DeleteLastUsed, BackwardTracesEmptyTheirCollections) {
  PassContext context;
  context.options.clear_mutable_collections = true;
  const PassResult result = run_pass("delete_last_used", trace_of(R"(
def backward_fn(saved_for_backward, cotangents):
  # saved_for_backward: "Collection"
  # cotangents: "Collection"
  C0, _, = saved_for_backward
  t0, = cotangents
  t1, = C0
  t2 = torch.mul(t0, t1)  # t2: "cpu f32[2]"
  return (t2,)
)"),
                                     context);
  EXPECT_EQ(body_of(result.after), R"(
  # saved_for_backward: "Collection"
  # cotangents: "Collection"
  C0, _, = saved_for_backward
  clear_mutable_collection(saved_for_backward)
  del saved_for_backward
  t0, = cotangents
  clear_mutable_collection(cotangents)
  del cotangents
  t1, = C0
  clear_mutable_collection(C0)
  del C0
  t2 = torch.mul(t0, t1)  # t2: "cpu f32[2]"
  del t0, t1
  return (t2,)
)");
}

TEST(DeleteLastUsed, RefusesATraceWithoutReturn) {
  EXPECT_EQ(error_of(run_pass("delete_last_used",
                              trace_of("def computation(x):\n  t0 = ltorch.sin(x)\n"))),
            "AssertionError: Trace has no return, and so no output");
}

}  // namespace
}  // namespace tg
