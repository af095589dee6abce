#include "core/export/graph_routes.h"

#include <algorithm>

#include "core/export/graph_layout.h"

namespace tg {
namespace {

constexpr double kPortGap = 16;

enum class Side : std::uint8_t { Above, Below };

// Where each edge leaves or enters a box: side by side in the order of what is at the other end.
std::vector<double> ports(const Graph& graph, const GraphPlaces& places, Side side) {
  std::vector<double> at(graph.edges.size(), 0);
  struct End {
    std::uint32_t node;
    double towards;
    std::uint32_t edge;
  };
  std::vector<End> ends;
  ends.reserve(graph.edges.size());
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
    const GraphEdge& edge = graph.edges[e];
    const std::vector<std::uint32_t>& chain = places.chains[e];
    if (side == Side::Below) {
      ends.push_back({edge.from, places.x[chain.empty() ? edge.to : chain.front()], e});
    } else {
      ends.push_back({edge.to, places.x[chain.empty() ? edge.from : chain.back()], e});
    }
  }
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    if (a.node != b.node) return a.node < b.node;
    return a.towards != b.towards ? a.towards < b.towards : a.edge < b.edge;
  });
  for (std::size_t begin = 0; begin < ends.size();) {
    std::size_t end = begin;
    while (end < ends.size() && ends[end].node == ends[begin].node) ++end;
    const GraphNode& node = graph.nodes[ends[begin].node];
    const double count = static_cast<double>(end - begin);
    // Labels stand beside the lower ends, so those need room between them.
    double wanted = kPortGap;
    for (std::size_t i = begin; i < end && side == Side::Above; ++i) {
      const std::string& label = graph.edges[ends[i].edge].label;
      if (label.empty()) continue;
      wanted = std::max(wanted, static_cast<double>(text_columns(label)) * kColumnWidth + kPortGap);
    }
    const double step = std::min(wanted, std::max(0.0, node.width - 16) / count);
    for (std::size_t i = begin; i < end; ++i) {
      at[ends[i].edge] = node.centre.x + (static_cast<double>(i - begin) - (count - 1) / 2) * step;
    }
    begin = end;
  }
  return at;
}

// Bends happen only between rows, so that no curve runs through a box.
void bend(std::vector<GraphPoint>& route, GraphPoint to) {
  const GraphPoint from = route.back();
  const double half = (to.y - from.y) / 2;
  route.push_back({from.x, from.y + half});
  route.push_back({to.x, to.y - half});
  route.push_back(to);
}

// A shallow arc under the two boxes.
void route_tie(const Graph& graph, GraphTie& tie) {
  const GraphNode& first = graph.nodes[tie.first];
  const GraphNode& second = graph.nodes[tie.second];
  const bool swap = first.centre.x > second.centre.x;
  const GraphNode& left = swap ? second : first;
  const GraphNode& right = swap ? first : second;
  const GraphPoint from{left.centre.x + left.width / 4, left.centre.y + left.height / 2};
  const GraphPoint to{right.centre.x - right.width / 4, right.centre.y + right.height / 2};
  const double depth = std::max(from.y, to.y) + kRowGap * 0.6;
  tie.route = {from, {from.x, depth}, {to.x, depth}, to};
}

}  // namespace

void route_edges(Graph& graph, const GraphPlaces& places) {
  const std::vector<double> leaves = ports(graph, places, Side::Below);
  const std::vector<double> enters = ports(graph, places, Side::Above);
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
    GraphEdge& edge = graph.edges[e];
    const GraphNode& from = graph.nodes[edge.from];
    const GraphNode& to = graph.nodes[edge.to];
    edge.route.clear();
    edge.route.push_back({leaves[e], from.centre.y + from.height / 2});
    if (edge.route.back().y < places.bottoms[from.layer] - 0.5)
      bend(edge.route, {leaves[e], places.bottoms[from.layer]});
    std::uint32_t layer = from.layer;
    for (const std::uint32_t thread : places.chains[e]) {
      ++layer;
      bend(edge.route, {places.x[thread], places.tops[layer]});
      bend(edge.route, {places.x[thread], places.bottoms[layer]});
    }
    const double top = to.centre.y - to.height / 2;
    bend(edge.route, {enters[e], places.tops[to.layer]});
    if (top > places.tops[to.layer] + 0.5) bend(edge.route, {enters[e], top});
  }
  for (GraphTie& tie : graph.ties) route_tie(graph, tie);
}

}  // namespace tg
