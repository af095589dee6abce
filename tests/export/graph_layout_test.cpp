#include "core/export/graph_layout.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/export/dot.h"
#include "sample.h"

namespace tg {
namespace {

using ::testing::Contains;

struct Box {
  double left, right, top, bottom;
};

Box box_of(const GraphNode& node) {
  return {node.centre.x - node.width / 2, node.centre.x + node.width / 2,
          node.centre.y - node.height / 2, node.centre.y + node.height / 2};
}

// A random graph: edges go from lower to higher numbers, as build_graph promises.
rc::Gen<Graph> random_graph() {
  return rc::gen::exec([] {
    Graph graph;
    const auto nodes = *rc::gen::inRange<std::uint32_t>(1, 60);
    graph.lanes = *rc::gen::arbitrary<bool>();
    const auto storages = *rc::gen::inRange<std::uint32_t>(0, 4);
    for (std::uint32_t s = 0; s < storages; ++s)
      graph.storages.push_back({fmt::format("s{}", s), "storage", {}, {}});
    for (std::uint32_t n = 0; n < nodes; ++n) {
      GraphNode node;
      node.id = fmt::format("n{}", n);
      node.kind = n % 7 == 0 ? NodeKind::Argument : NodeKind::Statement;
      node.label = {std::string(*rc::gen::inRange<std::size_t>(1, 40), 'a')};
      if (storages > 0 && *rc::gen::inRange(0, 3) == 0)
        node.storage = *rc::gen::inRange(0U, storages);
      graph.nodes.push_back(std::move(node));
    }
    const auto edges = nodes < 2 ? 0 : *rc::gen::inRange<std::uint32_t>(0, 3 * nodes);
    for (std::uint32_t e = 0; e < edges; ++e) {
      const auto to = *rc::gen::inRange<std::uint32_t>(1, nodes);
      GraphEdge edge;
      edge.from = *rc::gen::inRange<std::uint32_t>(0, to);
      edge.to = to;
      graph.edges.push_back(std::move(edge));
    }
    return graph;
  });
}

RC_GTEST_PROP(GraphLayout, BoxesNeverOverlap, ()) {
  Graph graph = *random_graph().as("graph");
  lay_out(graph);
  for (std::size_t a = 0; a < graph.nodes.size(); ++a) {
    for (std::size_t b = a + 1; b < graph.nodes.size(); ++b) {
      const Box p = box_of(graph.nodes[a]);
      const Box q = box_of(graph.nodes[b]);
      const bool apart =
          p.right <= q.left || q.right <= p.left || p.bottom <= q.top || q.bottom <= p.top;
      RC_ASSERT(apart);
    }
  }
}

RC_GTEST_PROP(GraphLayout, EdgesGoDownAndEndAtTheirBoxes, ()) {
  Graph graph = *random_graph().as("graph");
  lay_out(graph);
  for (const GraphEdge& edge : graph.edges) {
    RC_ASSERT(graph.nodes[edge.from].layer < graph.nodes[edge.to].layer);
    RC_ASSERT(edge.route.size() % 3 == 1U);
    const Box from = box_of(graph.nodes[edge.from]);
    const Box to = box_of(graph.nodes[edge.to]);
    RC_ASSERT(std::abs(edge.route.front().y - from.bottom) < 1e-6);
    RC_ASSERT(std::abs(edge.route.back().y - to.top) < 1e-6);
    RC_ASSERT(edge.route.front().x >= from.left && edge.route.front().x <= from.right);
    RC_ASSERT(edge.route.back().x >= to.left && edge.route.back().x <= to.right);
  }
}

RC_GTEST_PROP(GraphLayout, EverythingLiesOnThePage, ()) {
  Graph graph = *random_graph().as("graph");
  lay_out(graph);
  for (const GraphNode& node : graph.nodes) {
    const Box box = box_of(node);
    RC_ASSERT(box.left >= 0 && box.top >= 0 && box.right <= graph.size.x &&
              box.bottom <= graph.size.y);
  }
}

RC_GTEST_PROP(GraphLayout, StoragesNeverOverlap, ()) {
  Graph graph = *random_graph().as("graph");
  graph.lanes = true;
  lay_out(graph);
  std::vector<bool> used(graph.storages.size(), false);
  for (const GraphNode& node : graph.nodes) {
    if (node.storage != kNoGraphStorage) used[node.storage] = true;
  }
  for (std::size_t a = 0; a < graph.storages.size(); ++a) {
    for (std::size_t b = a + 1; b < graph.storages.size(); ++b) {
      if (!used[a] || !used[b]) continue;
      RC_ASSERT(graph.storages[a].bottom_right.x < graph.storages[b].top_left.x);
    }
  }
}

RC_GTEST_PROP(GraphLayout, EqualGraphsGiveEqualPictures, ()) {
  Graph first = *random_graph().as("graph");
  Graph second = first;
  lay_out(first);
  lay_out(second);
  RC_ASSERT(to_dot(first) == to_dot(second));
}

Trace chain(std::uint32_t length, const std::string& last) {
  std::string body = "  # x: \"cpu f32[2]\"\n  t0 = ltorch.neg(x)  # t0: \"cpu f32[2]\"\n";
  for (std::uint32_t i = 1; i <= length; ++i) {
    body += fmt::format("  t{} = ltorch.neg(t{})  # t{}: \"cpu f32[2]\"\n", i, i - 1, i);
  }
  return sample_trace("x", body + last);
}

TEST(GraphLayout, CutsLongEdgesIntoStubsAtBothEnds) {
  Graph graph =
      sample_graph(chain(20, "  r = ltorch.add(t20, t0)  # r: \"cpu f32[2]\"\n  return r\n"));
  lay_out(graph);
  const GraphNode* stub = find_node(graph, "t0@r");
  ASSERT_NE(stub, nullptr);
  EXPECT_EQ(stub->label.front(), "t0 (line 3)");
  EXPECT_EQ(stub->layer + 1, find_node(graph, "r")->layer);
  EXPECT_THAT(find_node(graph, "t0")->label, Contains("also used at line 24"));
  EXPECT_THAT(edge_texts(graph), Contains("value t0@r -> r"));
}

TEST(GraphLayout, KeepsEdgesOfTwelveLayers) {
  Graph graph =
      sample_graph(chain(11, "  r = ltorch.add(t11, t0)  # r: \"cpu f32[2]\"\n  return r\n"));
  lay_out(graph);
  EXPECT_THAT(edge_texts(graph), Contains("value t0 -> r"));
}

TEST(GraphLayout, DrawsAnArgumentWithManyUsesOncePerUse) {
  std::string body = "  # x: \"cpu f32[2]\"\n  # w: \"cpu f32[2]\"\n";
  for (int i = 0; i < 10; ++i)
    body += fmt::format("  t{} = ltorch.mul(x, w)  # t{}: \"cpu f32[2]\"\n", i, i);
  Graph graph = sample_graph(sample_trace("x, w", body + "  return t9\n"));
  lay_out(graph);
  EXPECT_NE(find_node(graph, "w@t3"), nullptr);
  EXPECT_THAT(find_node(graph, "w")->label, Contains("also used at lines 4, 5, 6 and 7 more"));
}

TEST(GraphLayout, PutsArgumentsAboveTheirFirstReader) {
  Graph graph =
      sample_graph(chain(5, "  r = ltorch.add(t5, x)  # r: \"cpu f32[2]\"\n  return r\n"));
  lay_out(graph);
  EXPECT_EQ(find_node(graph, "x")->layer + 1, find_node(graph, "t0")->layer);
}

TEST(GraphLayout, PlacesAnEmptyGraph) {
  Graph graph;
  lay_out(graph);
  EXPECT_GT(graph.size.y, 0);
}

// Linear: no sweep may visit the pairs of a row.
TEST(GraphLayout, LaysOutAVeryWideRow) {
  Graph graph;
  for (std::uint32_t n = 0; n < 40'000; ++n) {
    GraphNode node;
    node.id = std::to_string(n);
    node.label = {"t"};
    graph.nodes.push_back(node);
    if (n >= 20'000) {
      GraphEdge edge;
      edge.from = (n * 7919U) % 20'000U;
      edge.to = n;
      graph.edges.push_back(edge);
    }
  }
  lay_out(graph);
  EXPECT_EQ(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                          [](const GraphNode& node) { return node.width <= 0; }),
            0);
}

}  // namespace
}  // namespace tg
