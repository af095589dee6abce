#include "core/export/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.h"

namespace tg {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(Graph, HasValuesViewsWritesAndReadersOfNewBytes) {
  const Graph graph = sample_graph(written_argument());
  EXPECT_THAT(
      edge_texts(graph),
      UnorderedElementsAre("value x -> t0", "value y -> t0", "alias x -> v", "value t0 -> t1",
                           "write x -> t1 [W]", "newer t1 -> t2 [x v1]", "newer t1 -> t3 [x v1]",
                           "value v -> t3", "value t2 -> return", "value t3 -> return"));
}

TEST(Graph, TellsKindsOfNodes) {
  const Graph graph = sample_graph(written_argument());
  EXPECT_EQ(find_node(graph, "x")->kind, NodeKind::Argument);
  EXPECT_EQ(find_node(graph, "t0")->kind, NodeKind::Statement);
  EXPECT_EQ(find_node(graph, "v")->kind, NodeKind::View);
  EXPECT_EQ(find_node(graph, "t1")->kind, NodeKind::Write);
  EXPECT_EQ(find_node(graph, "return")->kind, NodeKind::Return);
}

TEST(Graph, LabelsNameTypeSharingAndLine) {
  const Graph graph = sample_graph(written_argument());
  EXPECT_THAT(find_node(graph, "v")->label,
              ElementsAre("v = ltorch.view(x, 6)", "f32[6] \u00b7 view of x \u00b7 line 5"));
  EXPECT_THAT(
      find_node(graph, "t1")->label,
      ElementsAre("W t1 = prims.copy_(t0, x)", "f32[2, 3] \u00b7 makes x v1 \u00b7 line 6"));
}

TEST(Graph, AReaderOfOldBytesStandsBeforeTheWriter) {
  const Trace trace = sample_trace("x",
                                   "  # x: \"cpu f32[2]\"\n"
                                   "  t0 = ltorch.neg(x)  # t0: \"cpu f32[2]\"\n"
                                   "  ltorch.mul_(x, 2.0)\n"
                                   "  return t0\n");
  const Graph graph = sample_graph(trace);
  const auto index = [&](const std::string& id) {
    return static_cast<std::uint32_t>(find_node(graph, id) - graph.nodes.data());
  };
  EXPECT_THAT(graph.before, Contains(std::pair(index("t0"), index("mul_"))));
}

TEST(Graph, KeepsStoragesWithMoreThanOneName) {
  GraphOptions options;
  options.storages = true;
  const Graph graph = sample_graph(written_argument(), options);
  ASSERT_EQ(graph.storages.size(), 1U);
  EXPECT_EQ(graph.storages[0].label, "storage of x, 24 B, 1 write");
  EXPECT_EQ(find_node(graph, "x")->storage, 0U);
  EXPECT_EQ(find_node(graph, "v")->storage, 0U);
  EXPECT_EQ(find_node(graph, "t1")->storage, 0U);
  EXPECT_EQ(find_node(graph, "t0")->storage, kNoGraphStorage);
}

TEST(Graph, TiesArgumentsInOneStorage) {
  const Trace trace = written_argument();
  const Result<ArgumentFacts> facts = parse_alias_options(trace, {"y=x"});
  ASSERT_TRUE(facts.has_value());
  const Graph graph = sample_graph(trace, {}, *facts);
  ASSERT_EQ(graph.ties.size(), 1U);
  EXPECT_EQ(graph.nodes[graph.ties[0].first].id, "x");
  EXPECT_EQ(graph.nodes[graph.ties[0].second].id, "y");
}

TEST(Graph, ANameBoundTwiceIsTwoNodes) {
  const Trace trace = sample_trace("x",
                                   "  # x: \"cpu f32[2]\"\n"
                                   "  a = ltorch.neg(x)  # a: \"cpu f32[2]\"\n"
                                   "  a = ltorch.exp(a)  # a: \"cpu f32[2]\"\n"
                                   "  return a\n");
  EXPECT_THAT(edge_texts(sample_graph(trace)),
              UnorderedElementsAre("value x -> a", "value a -> a#2", "value a#2 -> return"));
}

TEST(Graph, MarksWhatChangedAgainstAnotherPhase) {
  const Trace before = sample_trace("x",
                                    "  # x: \"cpu f32[2]\"\n"
                                    "  ltorch.mul_(x, 2.0)\n"
                                    "  t1 = ltorch.neg(x)  # t1: \"cpu f32[2]\"\n"
                                    "  return t1\n");
  const Trace after = sample_trace("x",
                                   "  # x: \"cpu f32[2]\"\n"
                                   "  t0 = ltorch.mul(x, 2.0)  # t0: \"cpu f32[2]\"\n"
                                   "  t1 = ltorch.neg(t0)  # t1: \"cpu f32[2]\"\n"
                                   "  return t1\n");
  const DefUse old(before);
  GraphOptions options;
  options.against = GraphBaseline{&before, &old};
  const Graph graph = sample_graph(after, options);
  EXPECT_EQ(find_node(graph, "t0")->change, DiffKind::Added);
  EXPECT_EQ(find_node(graph, "t1")->change, DiffKind::Changed);
  EXPECT_EQ(find_node(graph, "return")->change, DiffKind::Same);
  ASSERT_NE(find_node(graph, "-mul_"), nullptr);
  EXPECT_EQ(find_node(graph, "-mul_")->change, DiffKind::Removed);
  EXPECT_EQ(find_node(graph, "t0")->label.front(), "+ t0 = ltorch.mul(x, 2.0)");
  EXPECT_EQ(find_node(graph, "-mul_")->label.front(), "- W ltorch.mul_(x, 2.0)");
  EXPECT_THAT(find_node(graph, "t1")->label, Contains("was t1 = ltorch.neg(x)"));
  EXPECT_THAT(edge_texts(graph), Contains("value x -> -mul_"));
}

TEST(Graph, ShowsTheAuditsAnswers) {
  const Trace trace = written_argument();
  CopyFinding finding;
  finding.path = {4};
  finding.answer = CopyAnswer::OverwrittenLater;
  finding.destination = "x";
  finding.removable = true;
  const std::vector<CopyFinding> findings = {finding};
  GraphOptions options;
  options.copies = findings;
  const Graph graph = sample_graph(trace, options);
  EXPECT_THAT(find_node(graph, "t1")->label, Contains("copy to x: overwritten_later, removable"));
  EXPECT_THAT(find_node(graph, "t2")->label, Not(Contains(HasSubstr("copy to"))));
}

TEST(Neighbourhood, KeepsWhatIsNear) {
  const Graph graph = sample_graph(written_argument());
  const Result<Graph> near = neighbourhood(graph, "v", 1);
  ASSERT_TRUE(near.has_value());
  std::vector<std::string> ids;
  for (const GraphNode& node : near->nodes) ids.push_back(node.id);
  EXPECT_THAT(ids, ElementsAre("x", "v", "t3"));
  EXPECT_THAT(edge_texts(*near), UnorderedElementsAre("alias x -> v", "value v -> t3"));
  EXPECT_EQ(near->title, "sample, 1 step around v");
}

TEST(Neighbourhood, OfAnUnknownNameSuggestsOne) {
  const Result<Graph> near = neighbourhood(sample_graph(written_argument()), "t33", 1);
  ASSERT_FALSE(near.has_value());
  EXPECT_EQ(render(near.error(), "sample.txt", ""),
            "sample.txt: error: nothing in this graph is called 't33' [no-such-name]\n"
            "hint: did you mean 't3'?\n");
}

TEST(Shortened, CutsInTheMiddleAndNeverInsideACharacter) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghijk", 10), "abcdef\u2026ijk");
  EXPECT_EQ(text_columns(
                shortened("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6", 7)),
            7U);
}

}  // namespace
}  // namespace tg
