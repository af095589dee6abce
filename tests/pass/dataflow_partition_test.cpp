#include "core/pass/dataflow_partition.h"

#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::trace_of;
using Groups = std::vector<std::vector<StatementId>>;

Partition partition(const Trace& trace, std::vector<StatementId> fusable) {
  std::vector<bool> may_fuse(trace.bound_symbols.size(), false);
  for (const StatementId id : fusable) may_fuse[id] = true;
  return partition_by_dataflow(trace.bound_symbols, NameTable(trace), may_fuse);
}

TEST(DataflowPartition, StatementsRunWhenTheirArgumentsAreReady) {
  // b waits for y alone, so it runs as soon as y is there.
  const Trace trace = trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  t1 = ltorch.cos(t0)  # t1: "cpu f32[2]"
  t2 = ltorch.exp(y)  # t2: "cpu f32[2]"
  return (t1, t2)
)");
  EXPECT_EQ(partition(trace, {}).groups, (Groups{{0}, {1}, {2}, {4}, {3}, {5}}));
}

TEST(DataflowPartition, AChildJoinsUnlessAnotherPathLeadsToIt) {
  const Trace trace = trace_of(R"(
def computation(x):
  # x: "cuda:0 f32[2, 2]"
  t0 = ltorch.sin(x)  # t0: "cuda:0 f32[2, 2]"
  t1 = ltorch.matmul(t0, t0)  # t1: "cuda:0 f32[2, 2]"
  t2 = ltorch.add(t0, t1, alpha=1)  # t2: "cuda:0 f32[2, 2]"
  return t2
)");
  const Partition found = partition(trace, {1, 3});
  EXPECT_EQ(found.groups, (Groups{{0}, {1}, {2}, {3}, {4}}));
  ASSERT_FALSE(found.merges.empty());
  EXPECT_TRUE(found.merges.front().refused);
}

TEST(DataflowPartition, WhatIsReadyAtTheSameTimeJoinsSideways) {
  const Trace trace = trace_of(R"(
def computation(x, y):
  # x: "cuda:0 f32[2]"
  # y: "cuda:0 f32[2]"
  t0 = ltorch.sin(x)  # t0: "cuda:0 f32[2]"
  t1 = ltorch.cos(y)  # t1: "cuda:0 f32[2]"
  return (t0, t1)
)");
  const Partition found = partition(trace, {2, 3});
  EXPECT_EQ(found.groups, (Groups{{0}, {1}, {2, 3}, {4}}));
  ASSERT_EQ(found.merges.size(), 1U);
  EXPECT_TRUE(found.merges.front().horizontal);
}

TEST(DataflowPartition, TwoReturnsAreRefused) {
  const Trace trace = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"
  return x
  return x
)");
  const Partition found = partition(trace, {});
  ASSERT_TRUE(found.error.has_value());
  EXPECT_EQ(found.error->type, "RuntimeError");
}

TEST(DataflowPartition, ANameThatNothingMakesIsRefused) {
  const Trace trace = trace_of(R"(
def computation(x):
  t0 = ltorch.sin(x)  # t0: "cpu f32[2]"
  return t0
)");
  const Partition found = partition(trace, {});
  ASSERT_TRUE(found.error.has_value());
  EXPECT_EQ(found.error->type, "KeyError");
}

}  // namespace
}  // namespace tg
