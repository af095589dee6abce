#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

PassContext aliased(AliasGroups groups) {
  PassContext context;
  context.options.alias_groups = std::move(groups);
  return context;
}

TEST(UpdateAliases, AWriteAndItsReadersGetNewNames) {
  const PassResult result = run_pass("update_aliases", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t2 = ltorch.exp_(t0)  # t2: "cpu f32[2]"
    # t1 = ltorch.exp(t0)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, t0, grad_enabled=True)  # t2: "cpu f32[2]"
  t3 = ltorch.cos(t0)  # t3: "cpu f32[2]"
  return {'output': (t3,), 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  (t4,) = prims.update_aliases((t0,))
  t2 = ltorch.exp_(t4)  # t2: "cpu f32[2]"
    # t1 = ltorch.exp(t4)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, t4, grad_enabled=True)  # t2: "cpu f32[2]"
  (t5,) = prims.update_aliases((t2,))
  t3 = ltorch.cos(t5)  # t3: "cpu f32[2]"
  return {'output': (t3,), 'flat_args': [x]}
)");
  EXPECT_EQ(result.after.provenance, "Update aliases for in-place ops");
  EXPECT_EQ(steps_of(result), R"(
update-aliases: exp_ (line 4) writes a storage that is written in place, so t0 is called from here on t4
update-aliases: cos (line 7) uses a storage that is written in place, so t2 is called from here on t5
)");
}

TEST(UpdateAliases, ViewsOfAWrittenStorageAreRenamedTogether) {
  const PassResult result = run_pass("update_aliases", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  v = ltorch.view(x, 4)  # v: "cpu f32[4]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2, 2]"
  t2 = ltorch.cos(v)  # t2: "cpu f32[4]"
  return {'output': (t2,), 'flat_args': [x]}
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2, 2]"
  (t3,) = prims.update_aliases((x,))
  v = ltorch.view(t3, 4)  # v: "cpu f32[4]"
  (t4, t5) = prims.update_aliases((t3, v))
  t1 = ltorch.exp_(t4)  # t1: "cpu f32[2, 2]"
  (t6, t7) = prims.update_aliases((t1, t5))
  t2 = ltorch.cos(t7)  # t2: "cpu f32[4]"
  return {'output': (t2,), 'flat_args': [t6]}
)");
}

// passes.md H07: what is made of a result of a write starts a group of its own.
TEST(UpdateAliases, AViewOfTheResultOfAWriteIsNotOrdered) {
  const PassResult result = run_pass("update_aliases", trace_of(R"(
def computation(x):
  # x: "cpu f32[2, 2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2, 2]"
  v = ltorch.view(t1, 4)  # v: "cpu f32[4]"
  t2 = ltorch.sin_(x)  # t2: "cpu f32[2, 2]"
  t3 = ltorch.cos(v)  # t3: "cpu f32[4]"
  return {'output': (t3,), 'flat_args': [x]}
)"));
  EXPECT_NE(body_of(result.after).find("t3 = ltorch.cos(v)"), std::string::npos)
      << body_of(result.after);
}

TEST(UpdateAliases, CopiesAndFlagFormsAreWrites) {
  const PassResult result = run_pass("update_aliases", trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = ltorch.copy_(y, x)  # t0: "cpu f32[2]"
    # t0 = prims.copy_(x, y, grad_enabled=True)  # t0: "cpu f32[2]"
  t2 = ltorch.relu(x, True)  # t2: "cpu f32[2]"
    # t1 = prims.relu(x)  # t1: "cpu f32[2]"
    # t2 = prims.copy_(t1, x, grad_enabled=True)  # t2: "cpu f32[2]"
  return {'output': (t0,), 'flat_args': [x, y]}
)"));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  (t3,) = prims.update_aliases((y,))
  t0 = ltorch.copy_(t3, x)  # t0: "cpu f32[2]"
  (t4,) = prims.update_aliases((x,))
  t2 = ltorch.relu(t4, True)  # t2: "cpu f32[2]"
  return {'output': (t0,), 'flat_args': [t2, t0]}
)");
}

TEST(UpdateAliases, AliasedArgumentsOfTheSameSizeMergeAndOthersFormAGroup) {
  const Trace same = trace_of(R"(
def computation(a, b):
  # a: "cpu f32[2, 2]"
  # b: "cpu f32[4]"
  t1 = ltorch.exp_(a)  # t1: "cpu f32[2, 2]"
  t2 = ltorch.sin(b)  # t2: "cpu f32[4]"
  return {'output': (t2,), 'flat_args': [a, b]}
)");
  EXPECT_EQ(body_of(run_pass("update_aliases", same, aliased({{0, 1}})).after), R"(
  # a: "cpu f32[2, 2]"
  # b: "cpu f32[4]"
  (t4,) = prims.update_aliases((a,))
  t1 = ltorch.exp_(t4)  # t1: "cpu f32[2, 2]"
  (t5,) = prims.update_aliases((t1,))
  t3 = prims.reshape(t5, (4,))  # t3: "cpu f32[4]"
  # [alias tensor args] `b` is replaced by `t3`
  t2 = ltorch.sin(t3)  # t2: "cpu f32[4]"
  # [alias tensor args] `b` is replaced by `t3`
  return {'output': (t2,), 'flat_args': [t5, t3]}
)");
  const Trace smaller = trace_of(R"(
def computation(a, b):
  # a: "cpu f32[2, 2]"
  # b: "cpu f32[2]"
  t1 = ltorch.exp_(a)  # t1: "cpu f32[2, 2]"
  t2 = ltorch.sin(b)  # t2: "cpu f32[2]"
  return {'output': (t2,), 'flat_args': [a, b]}
)");
  EXPECT_EQ(body_of(run_pass("update_aliases", smaller, aliased({{0, 1}})).after), R"(
  # a: "cpu f32[2, 2]"
  # b: "cpu f32[2]"
  (t3, t4) = prims.update_aliases((a, b))
  t1 = ltorch.exp_(t3)  # t1: "cpu f32[2, 2]"
  (t5, t6) = prims.update_aliases((t1, t4))
  t2 = ltorch.sin(t6)  # t2: "cpu f32[2]"
  return {'output': (t2,), 'flat_args': [t5, t6]}
)");
}

TEST(UpdateAliases, WithoutAWriteTheTraceGoesOnUnchanged) {
  const Trace before = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t0 = ltorch.view(x, 2)  # t0: "cpu f32[2]"
  return {'output': (t0,), 'flat_args': [x]}
)");
  const PassResult result = run_pass("update_aliases", before);
  EXPECT_EQ(result.after, before);
  EXPECT_EQ(steps_of(result), R"(
no-write: no statement writes in place; the trace goes on unchanged
)");
}

TEST(UpdateAliases, ARefusedStepLeavesItsStatementAlone) {
  PassContext context;
  context.filter.skip_numbers = {1};
  const PassResult result = run_pass("update_aliases", trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
  t2 = ltorch.cos(x)  # t2: "cpu f32[2]"
  return {'output': (t2,), 'flat_args': [x]}
)"),
                                     context);
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  t1 = ltorch.exp_(x)  # t1: "cpu f32[2]"
  (t4,) = prims.update_aliases((t1,))
  t2 = ltorch.cos(t4)  # t2: "cpu f32[2]"
  return {'output': (t2,), 'flat_args': [t4]}
)");
}

// The chains of names grow with every line; no line may cost their length.
TEST(UpdateAliases, ManyWritesOfOneTensorStayLinear) {
  std::string text = "def computation(x):\n  # x: \"cpu f32[2]\"\n";
  constexpr int kWrites = 20000;
  for (int i = 0; i < kWrites; ++i) text += "  t" + std::to_string(i) + " = ltorch.exp_(x)\n";
  text += "  return {'output': (x,), 'flat_args': [x]}\n";
  const PassResult result = run_pass("update_aliases", trace_of(text));
  EXPECT_EQ(result.after.bound_symbols.size(), 2U * kWrites + 2U);
}

// What the other passes do in the era of this one.

PassContext in_2026() {
  PassContext context;
  context.options.era = Era::Thunder2026;
  return context;
}

constexpr std::string_view kCopyInRegion = R"(
def computation(x, y):
  # x: "cuda:0 f32[2]"
  # y: "cuda:0 f32[2]"
  nvFusion0(x, y)
    # t0 = prims.exp(x)  # t0: "cuda:0 f32[2]"
    # t1 = prims.copy_(t0, y, grad_enabled=True)  # t1: "cuda:0 f32[2]"
  (t2, t3) = ltorch.chunk(x, 2, 0)
  return {'output': (t2,), 'flat_args': [x, y]}
)";

// passes.md H08: the write is lost.
TEST(DeadCodeOf2026, RegionsWithoutOutputsGoAndUnreadOutputsStay) {
  const PassResult result = run_pass("dead_code", trace_of(kCopyInRegion), in_2026());
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cuda:0 f32[2]"
  # y: "cuda:0 f32[2]"
  (t2, t3) = ltorch.chunk(x, 2, 0)
  return {'output': (t2,), 'flat_args': [x, y]}
)");
  EXPECT_NE(steps_of(result).find("nothing-new: nvFusion0 (line 4) gives an empty list, so Thunder "
                                  "drops it, its write included"),
            std::string::npos)
      << steps_of(result);
}

TEST(DeadCodeOf2024, RegionsWithoutOutputsStay) {
  const PassResult result = run_pass("dead_code", trace_of(kCopyInRegion));
  EXPECT_NE(body_of(result.after).find("nvFusion0(x, y)"), std::string::npos);
}

TEST(ExecutionOf2026, ExecutedLinesHaveNewNamesAndRegionsHoldNeighbours) {
  PassContext context = in_2026();
  context.options.executors = {"nvfuser", "torch", "python"};
  const PassResult result = run_pass("transform_for_execution", trace_of(R"(
def computation(x, y):
  # x: "cuda:0 f32[2, 2]"
  # y: "cuda:0 f32[2, 2]"
  (t5,) = prims.update_aliases((y,))
  t0 = ltorch.cos(t5)  # t0: "cuda:0 f32[2, 2]"
    # t0 = prims.cos(t5)  # t0: "cuda:0 f32[2, 2]"
  t1 = ltorch.matmul(x, x)  # t1: "cuda:0 f32[2, 2]"
    # t1 = prims.matmul(x, x)  # t1: "cuda:0 f32[2, 2]"
  t2 = ltorch.view(t1, 4)  # t2: "cuda:0 f32[4]"
    # t2 = ltorch.reshape(t1, (4,))  # t2: "cuda:0 f32[4]"
      # t2 = prims.reshape(t1, (4,))  # t2: "cuda:0 f32[4]"
  return {'output': (t0, t2), 'flat_args': [x, t5]}
)"),
                                     context);
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cuda:0 f32[2, 2]"
  # y: "cuda:0 f32[2, 2]"
  (t6,) = update_aliases((y,))
  [t0] = nvFusion0(t6)
  t7 = torch.matmul(x, x)  # t7: "cuda:0 f32[2, 2]"
  t8 = Tensor.view(t7, 4)  # t8: "cuda:0 f32[4]"
  return {'output': (t0, t8), 'flat_args': [x, t6]}
)");
  EXPECT_NE(steps_of(result).find("shapes-only: view"), std::string::npos) << steps_of(result);
}

}  // namespace
}  // namespace tg
