#include "core/export/dot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/export/graph_layout.h"
#include "sample.h"

namespace tg {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string dot_of(const Trace& trace, const GraphOptions& graph_options = {},
                   const DotOptions& options = {}) {
  Graph graph = sample_graph(trace, graph_options);
  lay_out(graph);
  return to_dot(graph, options);
}

// The line of the text that starts with `start`, without indentation.
std::string line_with(const std::string& dot, const std::string& start) {
  const std::size_t at = dot.find("  " + start);
  if (at == std::string::npos) return {};
  return dot.substr(at + 2, dot.find('\n', at) - at - 2);
}

TEST(Dot, WritesPositionsForNodesAndEdges) {
  const std::string dot = dot_of(written_argument());
  EXPECT_THAT(line_with(dot, "\"t0\" ["), HasSubstr("pos=\""));
  EXPECT_THAT(line_with(dot, "\"t0\" ["), HasSubstr("!\""));
  EXPECT_THAT(line_with(dot, "\"x\" -> \"t0\""), HasSubstr("pos=\"e,"));
}

TEST(Dot, DrawsAWriteThickDashedWithALetter) {
  const std::string edge = line_with(dot_of(written_argument()), "\"t1\" -> \"x\"");
  EXPECT_THAT(edge, HasSubstr("style=dashed"));
  EXPECT_THAT(edge, HasSubstr("penwidth=2.6"));
  EXPECT_THAT(edge, HasSubstr("label=\"W\""));
}

TEST(Dot, DrawsSharingDotted) {
  EXPECT_THAT(line_with(dot_of(written_argument()), "\"x\" -> \"v\""), HasSubstr("style=dotted"));
}

TEST(Dot, TellsArgumentsReturnsAndWritesByShape) {
  const std::string dot = dot_of(written_argument());
  EXPECT_THAT(line_with(dot, "\"x\" ["), HasSubstr("shape=cylinder"));
  EXPECT_THAT(line_with(dot, "\"return\" ["), HasSubstr("diagonals"));
  EXPECT_THAT(line_with(dot, "\"t1\" ["), HasSubstr("bold"));
}

TEST(Dot, PutsStoragesIntoClustersWhenAsked) {
  GraphOptions options;
  options.storages = true;
  const std::string dot = dot_of(written_argument(), options);
  EXPECT_THAT(dot, HasSubstr("subgraph \"cluster_storage x\""));
  EXPECT_THAT(dot, HasSubstr("label=\"storage of x, 24 B, 1 write\""));
  EXPECT_THAT(dot_of(written_argument()), Not(HasSubstr("subgraph")));
}

TEST(Dot, LinksToLines) {
  DotOptions options;
  options.link = "trace.html#line-{line}";
  EXPECT_THAT(line_with(dot_of(written_argument(), {}, options), "\"t1\" ["),
              HasSubstr("URL=\"trace.html#line-6\""));
  options.link = "https://example.org/trace.txt";
  EXPECT_THAT(line_with(dot_of(written_argument(), {}, options), "\"t1\" ["),
              HasSubstr("URL=\"https://example.org/trace.txt#L6\""));
  EXPECT_THAT(dot_of(written_argument()), Not(HasSubstr("URL=")));
}

TEST(Dot, EscapesQuotesBackslashesAndEntities) {
  Graph graph;
  graph.nodes.emplace_back();
  graph.nodes[0].id = "a\"b";
  graph.nodes[0].label = {R"(x = f("a\n", <b>, &lt;))"};
  lay_out(graph);
  EXPECT_THAT(to_dot(graph), HasSubstr(R"("a\"b" [label="x = f(\"a\\n\", <b>, &amp;lt;)\l")"));
}

}  // namespace
}  // namespace tg
