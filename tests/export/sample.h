// Traces and graphs for the tests of this room.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "core/export/graph.h"
#include "core/text/parser.h"

namespace tg {

// "def computation(x):" with the annotation of each argument and the statements, one a line.
inline Trace sample_trace(const std::string& parameters, const std::string& body) {
  TraceFile file = parse_trace_file("sample.txt", "def computation(" + parameters + "):\n" + body);
  EXPECT_EQ(file.phases.size(), 1U);
  return file.phases.empty() ? Trace{} : file.phases.front().trace;
}

inline Graph sample_graph(const Trace& trace, const GraphOptions& options = {},
                          const ArgumentFacts& facts = {}) {
  const DefUse def_use(trace);
  const AliasSets sets(trace, def_use, facts);
  return build_graph(trace, def_use, sets, "sample", options);
}

inline const GraphNode* find_node(const Graph& graph, const std::string& id) {
  for (const GraphNode& node : graph.nodes) {
    if (node.id == id) return &node;
  }
  return nullptr;
}

// "kind from -> to label", kinds as words.
inline std::string edge_text(const Graph& graph, const GraphEdge& edge) {
  std::string text;
  switch (edge.kind) {
    case EdgeKind::Value:
      text = "value ";
      break;
    case EdgeKind::Alias:
      text = "alias ";
      break;
    case EdgeKind::Write:
      text = "write ";
      break;
    case EdgeKind::Newer:
      text = "newer ";
      break;
  }
  text += graph.nodes[edge.from].id + " -> " + graph.nodes[edge.to].id;
  return edge.label.empty() ? text : text + " [" + edge.label + "]";
}

inline std::vector<std::string> edge_texts(const Graph& graph) {
  std::vector<std::string> texts;
  for (const GraphEdge& edge : graph.edges) texts.push_back(edge_text(graph, edge));
  return texts;
}

// x is written, then a view of it and x itself are read.
inline Trace written_argument() {
  return sample_trace("x, y",
                      "  # x: \"cpu f32[2, 3]\"\n"
                      "  # y: \"cpu f32[2, 3]\"\n"
                      "  t0 = ltorch.mul(x, y)  # t0: \"cpu f32[2, 3]\"\n"
                      "  v = ltorch.view(x, 6)  # v: \"cpu f32[6]\"\n"
                      "  t1 = prims.copy_(t0, x)  # t1: \"cpu f32[2, 3]\"\n"
                      "  t2 = ltorch.add(x, 1.0)  # t2: \"cpu f32[2, 3]\"\n"
                      "  t3 = ltorch.sum(v)  # t3: \"cpu f32[]\"\n"
                      "  return (t2, t3)\n");
}

}  // namespace tg
