#include "core/export/graph_layers.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace tg {
namespace {

constexpr std::uint32_t kLonelyPerRow = 6;
constexpr std::size_t kShownReaders = 3;
constexpr std::uint32_t kNoLayer = 0xffffffffU;

std::vector<std::uint32_t> count_uses(const Graph& graph) {
  std::vector<std::uint32_t> uses(graph.nodes.size(), 0);
  for (const GraphEdge& edge : graph.edges) ++uses[edge.from];
  return uses;
}

// Sources float at the top although they are needed only where their first reader stands.
void sink_sources(Graph& graph) {
  std::vector<std::uint32_t> first_reader(graph.nodes.size(), kNoLayer);
  std::vector<bool> has_input(graph.nodes.size(), false);
  const auto constrain = [&](std::uint32_t from, std::uint32_t to) {
    first_reader[from] = std::min(first_reader[from], graph.nodes[to].layer);
    has_input[to] = true;
  };
  for (const GraphEdge& edge : graph.edges) constrain(edge.from, edge.to);
  for (const auto& [first, second] : graph.before) constrain(first, second);
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    if (!has_input[n] && first_reader[n] != kNoLayer) graph.nodes[n].layer = first_reader[n] - 1;
  }
  // Arguments in one storage stand side by side. Both are sources, so the higher of the two places
  // fits.
  for (const GraphTie& tie : graph.ties) {
    GraphNode& second = graph.nodes[tie.second];
    second.layer = std::min(second.layer, graph.nodes[tie.first].layer);
  }
  for (auto tie = graph.ties.rbegin(); tie != graph.ties.rend(); ++tie) {
    graph.nodes[tie->first].layer = graph.nodes[tie->second].layer;
  }
}

// What is computed early but needed late (a slice of a table, say) stands near its readers: its one
// input then is the long edge, which becomes a stub. A statement that nothing reads stands near its
// neighbours in the text.
void pull_down(Graph& graph, const std::vector<std::uint32_t>& begin,
               const std::vector<std::uint32_t>& successors) {
  std::vector<std::uint32_t> inputs(graph.nodes.size(), 0);
  std::vector<std::uint32_t> outputs(graph.nodes.size(), 0);
  for (const GraphEdge& edge : graph.edges) {
    ++inputs[edge.to];
    ++outputs[edge.from];
  }
  std::uint32_t neighbour = 0;
  for (std::uint32_t n = static_cast<std::uint32_t>(graph.nodes.size()); n-- > 0;) {
    GraphNode& node = graph.nodes[n];
    if (node.kind == NodeKind::Return || inputs[n] == 0) continue;
    std::uint32_t lowest = kNoLayer;
    for (std::uint32_t i = begin[n]; i < begin[n + 1]; ++i) {
      lowest = std::min(lowest, graph.nodes[successors[i]].layer - 1);
    }
    if (lowest == kNoLayer) {
      if (node.kind != NodeKind::Write) node.layer = std::max(node.layer, neighbour);
    } else if (outputs[n] >= inputs[n]) {
      node.layer = std::max(node.layer, lowest);
    }
    if (outputs[n] > 0) neighbour = node.layer;
  }
}

std::string place_text(const GraphNode& node) {
  if (node.kind == NodeKind::Return) return "return";
  if (node.line > 0) return fmt::format("{}", node.line);
  return node.id;
}

// "also read at lines 80, 91, 93 and 5 more"
std::string other_readers(const Graph& graph, const std::vector<std::uint32_t>& readers) {
  std::string lines, names;
  std::size_t shown = 0;
  bool returned = false;
  for (const std::uint32_t reader : readers) {
    const GraphNode& node = graph.nodes[reader];
    if (node.kind == NodeKind::Return) {
      returned = true;
    } else if (shown < kShownReaders) {
      std::string& list = node.line > 0 ? lines : names;
      if (!list.empty()) list += ", ";
      list += place_text(node);
      ++shown;
    }
  }
  std::string out;
  if (!lines.empty() || !names.empty()) {
    const bool one_line_only = lines.find(',') == std::string::npos;
    out = "also used ";
    if (!lines.empty()) out += fmt::format("at line{} {}", one_line_only ? "" : "s", lines);
    if (!names.empty()) out += fmt::format("{}by {}", lines.empty() ? "" : " and ", names);
    const std::size_t rest = readers.size() - shown - (returned ? 1 : 0);
    if (rest > 0) out += fmt::format(" and {} more", rest);
  }
  if (returned) out += out.empty() ? "returned" : ", returned";
  return out;
}

}  // namespace

void assign_layers(Graph& graph) {
  const auto nodes = static_cast<std::uint32_t>(graph.nodes.size());
  std::vector<std::uint32_t> begin(nodes + 1, 0);
  for (const GraphEdge& edge : graph.edges) ++begin[edge.from + 1];
  for (const auto& [first, second] : graph.before) ++begin[first + 1];
  for (std::uint32_t n = 0; n < nodes; ++n) begin[n + 1] += begin[n];
  std::vector<std::uint32_t> successors(begin[nodes]);
  std::vector<std::uint32_t> fill(begin.begin(), begin.end() - 1);
  for (const GraphEdge& edge : graph.edges) successors[fill[edge.from]++] = edge.to;
  for (const auto& [first, second] : graph.before) successors[fill[first]++] = second;
  for (GraphNode& node : graph.nodes) node.layer = 0;
  std::uint32_t deepest = 0;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if (graph.nodes[n].kind == NodeKind::Return)
      graph.nodes[n].layer = std::max(graph.nodes[n].layer, deepest + 1);
    deepest = std::max(deepest, graph.nodes[n].layer);
    for (std::uint32_t i = begin[n]; i < begin[n + 1]; ++i) {
      std::uint32_t& layer = graph.nodes[successors[i]].layer;
      layer = std::max(layer, graph.nodes[n].layer + 1);
    }
  }
  pull_down(graph, begin, successors);
  sink_sources(graph);
}

void cut_long_edges(Graph& graph, const LayoutOptions& options) {
  const std::vector<std::uint32_t> uses = count_uses(graph);
  const std::size_t real_nodes = graph.nodes.size();
  std::vector<std::vector<std::uint32_t>> elsewhere(real_nodes);
  std::vector<GraphEdge> kept;
  kept.reserve(graph.edges.size());
  for (GraphEdge& edge : graph.edges) {
    const GraphNode& from = graph.nodes[edge.from];
    const GraphNode& to = graph.nodes[edge.to];
    const bool hub = from.kind == NodeKind::Argument && uses[edge.from] > options.argument_uses;
    if (!hub && to.layer - from.layer <= options.cut_length) {
      kept.push_back(std::move(edge));
      continue;
    }
    elsewhere[edge.from].push_back(edge.to);
    // The return's own text names what it returns; a stub per value would only be a wide row.
    if (to.kind == NodeKind::Return) continue;
    GraphNode stub;
    stub.kind = NodeKind::Stub;
    stub.id = fmt::format("{}@{}", from.id, to.id);
    const std::string& value = edge.name.empty() ? from.id : edge.name;
    stub.label = {from.line > 0 ? fmt::format("{} (line {})", value, from.line) : value};
    stub.tooltip = from.tooltip;
    stub.line = from.line;
    stub.statement = from.statement;
    stub.change = from.change;
    stub.layer = to.layer - 1;
    if (edge.kind == EdgeKind::Newer) edge.label.clear();
    edge.from = static_cast<std::uint32_t>(graph.nodes.size());
    graph.nodes.push_back(std::move(stub));
    kept.push_back(std::move(edge));
  }
  graph.edges = std::move(kept);
  for (std::uint32_t n = 0; n < real_nodes; ++n) {
    if (elsewhere[n].empty()) continue;
    std::string text = other_readers(graph, elsewhere[n]);
    if (!text.empty()) graph.nodes[n].label.push_back(std::move(text));
  }
  sink_sources(graph);
}

void settle_layers(Graph& graph) {
  std::vector<bool> connected(graph.nodes.size(), false);
  for (const GraphEdge& edge : graph.edges) connected[edge.from] = connected[edge.to] = true;
  for (const GraphTie& tie : graph.ties) connected[tie.first] = connected[tie.second] = true;
  std::uint32_t lonely = 0;
  std::uint32_t deepest = 0;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    deepest = std::max(deepest, graph.nodes[n].layer);
    if (graph.nodes[n].kind == NodeKind::Return) connected[n] = true;
    if (!connected[n]) graph.nodes[n].layer = lonely++ / kLonelyPerRow;
  }
  const std::uint32_t rows = (lonely + kLonelyPerRow - 1) / kLonelyPerRow;
  std::vector<std::uint32_t> number(deepest + rows + 1, kNoLayer);
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    if (connected[n]) graph.nodes[n].layer += rows;
    number[graph.nodes[n].layer] = 0;
  }
  std::uint32_t next = 0;
  for (std::uint32_t& layer : number) {
    if (layer != kNoLayer) layer = next++;
  }
  for (GraphNode& node : graph.nodes) node.layer = number[node.layer];
}

}  // namespace tg
