#include <set>

#include "core/pass/reordered_pairs.h"
#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::body_of;
using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

PassContext nvfuser() {
  PassContext context;
  context.options.fusion_executor = "nvfuser";
  return context;
}

// Law 3 fails here, as it does in Thunder: exp reads x before the copy, and runs behind it.
constexpr std::string_view kReadBeforeCopy = R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = torch.sin(y)  # t0: "cpu f32[2]"
  t1 = torch.exp(t0)  # t1: "cpu f32[2]"
  t2 = torch.add(t1, x, alpha=1)  # t2: "cpu f32[2]"
  t3 = copy_(y, x)  # t3: "cpu f32[2]"
  return {'output': t2, 'flat_args': [t3, y]}
)";

TEST(Fusion, OnACpuThePartitionReordersThoughItFusesNothing) {
  const PassResult result = run_pass("fusion", trace_of(kReadBeforeCopy));
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = torch.sin(y)  # t0: "cpu f32[2]"
  t3 = copy_(y, x)  # t3: "cpu f32[2]"
  t1 = torch.exp(t0)  # t1: "cpu f32[2]"
  t2 = torch.add(t1, x, alpha=1)  # t2: "cpu f32[2]"
  return {'output': t2, 'flat_args': [t3, y]}
)");
}

TEST(Fusion, TheStepNamesTheTwoStatementsAndTheStorage) {
  const PassResult result = run_pass("fusion", trace_of(kReadBeforeCopy));
  ASSERT_EQ(result.steps.size(), 1U);
  EXPECT_EQ(result.steps.front().rule, "reorder-conflict");
  EXPECT_EQ(result.steps.front().reason,
            "copy_ (line 7) is ready before exp (line 5): nothing that it reads by name waits for "
            "it; but add (line 6) read x before copy_ (line 7) wrote it, and now runs behind that "
            "write");
}

TEST(ReorderedPairs, AreFoundBetweenTwoTexts) {
  const Trace before = trace_of(kReadBeforeCopy);
  const Trace after = run_pass("fusion", before).after;
  const std::vector<ReorderedPair> pairs = reordered_pairs(before, after);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs.front(), (ReorderedPair{4, 5, "x", false, true}));
  EXPECT_TRUE(reordered_pairs(before, before).empty());
}

TEST(Fusion, EveryPrefixKeepsProducersBeforeReaders) {
  const Trace before = trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = torch.sin(x)  # t0: "cpu f32[2]"
  t1 = torch.cos(t0)  # t1: "cpu f32[2]"
  t2 = torch.neg(t1)  # t2: "cpu f32[2]"
  t3 = torch.exp(y)  # t3: "cpu f32[2]"
  t4 = torch.neg(t3)  # t4: "cpu f32[2]"
  return (t2, t4)
)");
  const PassResult result = run_pass("fusion", before);
  for (std::size_t count = 0; count <= result.steps.size(); ++count) {
    const Trace prefix = replay(before, std::span(result.steps).first(count));
    std::set<std::string> known = {"x", "y"};
    for (const BoundSymbolRef& statement : prefix.bound_symbols) {
      for (const std::string_view name : argument_names(*statement)) {
        EXPECT_TRUE(known.contains(std::string(name))) << name << " after step " << count;
      }
      for (const std::string_view name : output_names(*statement)) known.insert(std::string(name));
    }
  }
}

TEST(Fusion, ASkippedMoveKeepsItsReadersBehindIt) {
  const Trace before = trace_of(kReadBeforeCopy);
  PassContext context;
  context.filter.skip_rules = {"reorder-conflict"};
  EXPECT_EQ(body_of(run_pass("fusion", before, context).after), body_of(before));
}

TEST(Fusion, RegionsAreMadeAroundWhatCannotBeFused) {
  const PassResult result = run_pass("fusion", trace_of(R"(
def computation(x, y):
  # x: "cuda:0 f32[2, 2]"
  # y: "cuda:0 f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cuda:0 f32[2, 2]"
    # t0 = prims.sin(x)  # t0: "cuda:0 f32[2, 2]"
  t1 = ltorch.cos(y)  # t1: "cuda:0 f32[2, 2]"
    # t1 = prims.cos(y)  # t1: "cuda:0 f32[2, 2]"
  t2 = torch.matmul(t0, t0)  # t2: "cuda:0 f32[2, 2]"
  t3 = ltorch.add(t2, t1, alpha=1)  # t3: "cuda:0 f32[2, 2]"
    # t3 = prims.add(t2, t1)  # t3: "cuda:0 f32[2, 2]"
  return t3
)"),
                                     nvfuser());
  EXPECT_EQ(body_of(result.after, true), R"(
  # x: "cuda:0 f32[2, 2]"
  # y: "cuda:0 f32[2, 2]"
  [t0] = nvFusion0(x)
    # t0 = prims.sin(x)  # t0: "cuda:0 f32[2, 2]"
  t2 = torch.matmul(t0, t0)  # t2: "cuda:0 f32[2, 2]"
  [t3] = nvFusion1(y, t2)
    # t1 = prims.cos(y)  # t1: "cuda:0 f32[2, 2]"
    # t3 = prims.add(t2, t1)  # t3: "cuda:0 f32[2, 2]"
  return t3
)");
}

TEST(Fusion, BookendsStayOutside) {
  PassContext context = nvfuser();
  context.options.bookend = true;
  const PassResult result = run_pass("fusion", trace_of(R"(
def computation(x):
  # x: "cuda:0 f32[2, 2]"
  t0 = prims.reshape(x, (4,))  # t0: "cuda:0 f32[4]"
  t1 = prims.sin(t0)  # t1: "cuda:0 f32[4]"
  return t1
)"),
                                     context);
  EXPECT_EQ(body_of(result.after), R"(
  # x: "cuda:0 f32[2, 2]"
  t0 = prims.reshape(x, (4,))  # t0: "cuda:0 f32[4]"
  [t1] = nvFusion0(t0)
  return t1
)");
}

TEST(Fusion, NvfuserDiesWhereACopyThatNobodyReadsEndsTheTrace) {
  // passes-cases T36: the return is ready before the copy.
  const PassResult result = run_pass("fusion", trace_of(R"(
def computation(x, y):
  # x: "cuda:0 f32[2, 2]"
  # y: "cuda:0 f32[2, 2]"
  t0 = torch.matmul(x, x)  # t0: "cuda:0 f32[2, 2]"
  t1 = torch.matmul(t0, t0)  # t1: "cuda:0 f32[2, 2]"
  prims.copy_(t1, y)
  return {'output': t0, 'flat_args': [x, y]}
)"),
                                     nvfuser());
  EXPECT_EQ(error_of(result), "AssertionError: ");
}

}  // namespace
}  // namespace tg
