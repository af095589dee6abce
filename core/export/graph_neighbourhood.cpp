#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/export/graph.h"

namespace tg {
namespace {

constexpr std::uint32_t kNoNode = 0xffffffffU;

}  // namespace

Result<Graph> neighbourhood(const Graph& graph, const std::string& name, std::uint32_t depth) {
  std::vector<std::uint32_t> distance(graph.nodes.size(), kNoNode);
  std::deque<std::uint32_t> front;
  const auto start = [&](std::uint32_t node) {
    if (distance[node] == 0) return;
    distance[node] = 0;
    front.push_back(node);
  };
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode& node = graph.nodes[n];
    if (node.id == name || std::count(node.names.begin(), node.names.end(), name) > 0) start(n);
  }
  if (front.empty()) {
    for (const GraphEdge& edge : graph.edges) {
      if (edge.name == name) start(edge.to);
    }
  }
  if (front.empty()) {
    std::vector<std::string_view> names;
    for (const GraphNode& node : graph.nodes)
      names.insert(names.end(), node.names.begin(), node.names.end());
    Diagnostic diagnostic{DiagnosticCode::NoSuchName,
                          Severity::Error,
                          fmt::format("nothing in this graph is called '{}'", name),
                          {},
                          name,
                          {},
                          {}};
    if (const std::string_view near = nearest(name, names); !near.empty()) {
      diagnostic.hint = fmt::format("did you mean '{}'?", near);
    }
    return Unexpected{std::move(diagnostic)};
  }
  std::vector<std::vector<std::uint32_t>> neighbours(graph.nodes.size());
  for (const GraphEdge& edge : graph.edges) {
    neighbours[edge.from].push_back(edge.to);
    neighbours[edge.to].push_back(edge.from);
  }
  while (!front.empty()) {
    const std::uint32_t node = front.front();
    front.pop_front();
    if (distance[node] == depth) continue;
    for (const std::uint32_t other : neighbours[node]) {
      if (distance[other] != kNoNode) continue;
      distance[other] = distance[node] + 1;
      front.push_back(other);
    }
  }
  Graph part;
  part.title = fmt::format("{}, {} around {}", graph.title, count_of(depth, "step", "steps"), name);
  part.lanes = graph.lanes;
  part.storages = graph.storages;
  std::vector<std::uint32_t> moved(graph.nodes.size(), kNoNode);
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    if (distance[n] == kNoNode) continue;
    moved[n] = static_cast<std::uint32_t>(part.nodes.size());
    part.nodes.push_back(graph.nodes[n]);
  }
  for (const GraphEdge& edge : graph.edges) {
    if (moved[edge.from] == kNoNode || moved[edge.to] == kNoNode) continue;
    part.edges.push_back(edge);
    part.edges.back().from = moved[edge.from];
    part.edges.back().to = moved[edge.to];
  }
  for (const GraphTie& tie : graph.ties) {
    if (moved[tie.first] != kNoNode && moved[tie.second] != kNoNode) {
      part.ties.push_back({moved[tie.first], moved[tie.second], {}});
    }
  }
  for (const auto& [first, second] : graph.before) {
    if (moved[first] != kNoNode && moved[second] != kNoNode)
      part.before.emplace_back(moved[first], moved[second]);
  }
  return part;
}

std::size_t text_columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (text_columns(text) <= columns || columns < 5) return std::string(text);
  // Bytes at which each column starts; a cut never splits a character.
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) starts.push_back(i);
  }
  const std::size_t tail = columns / 3;
  const std::size_t head = columns - tail - 1;
  return std::string(text.substr(0, starts[head])) + "\u2026" +
         std::string(text.substr(starts[starts.size() - tail]));
}

}  // namespace tg
