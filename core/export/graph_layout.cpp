#include "core/export/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/export/graph_layers.h"
#include "core/export/graph_routes.h"

namespace tg {
namespace {

constexpr double kBoxPaddingX = 9;
constexpr double kBoxPaddingY = 5;
constexpr double kBoxGap = 22;
constexpr double kThreadWidth = 6;  // of a long edge where it passes a layer
constexpr double kRowGapLimit = 130;
constexpr double kLaneGap = 44;
constexpr double kLanePadding = 10;
constexpr double kMargin = 12;
constexpr double kTitleHeight = 22;
constexpr std::uint32_t kNoNode = 0xffffffffU;

// A node, or the place where a long edge passes a layer.
struct Item {
  std::uint32_t node = kNoNode;
  std::uint32_t lane = 0;
  double half_width = kThreadWidth / 2;
  double key = 0;  // statement order, for the first arrangement and for ties
};

struct Segment {
  std::uint32_t upper = 0, lower = 0;  // items in neighbouring layers
  double weight = 1;
};

// Segments of each item on one side.
struct Adjacency {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> other;
  std::vector<double> weight;
};

enum class Side : std::uint8_t { Above, Below };

class Layout {
 public:
  Layout(Graph& graph, const LayoutOptions& options) : graph_(graph), options_(options) {}

  void run() {
    make_items();
    above_ = adjacency(Side::Above);
    below_ = adjacency(Side::Below);
    order();
    place();
    set_rows();
    route_edges(graph_, {x_, chains_, tops_, bottoms_});
  }

 private:
  void make_items() {
    std::uint32_t layers = 0;
    for (const GraphNode& node : graph_.nodes) layers = std::max(layers, node.layer + 1);
    rows_.resize(layers);
    lanes_ = graph_.lanes ? static_cast<std::uint32_t>(graph_.storages.size()) + 1 : 1;
    const std::vector<double> keys = order_keys();
    for (std::uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      GraphNode& node = graph_.nodes[n];
      const GraphPoint size = box_size(node);
      node.width = size.x;
      node.height = size.y;
      add_item({n, lane_of(node), node.width / 2, keys[n]}, node.layer);
    }
    chains_.resize(graph_.edges.size());
    for (std::uint32_t e = 0; e < graph_.edges.size(); ++e) {
      const GraphEdge& edge = graph_.edges[e];
      const GraphNode& from = graph_.nodes[edge.from];
      const GraphNode& to = graph_.nodes[edge.to];
      const std::uint32_t lane = lane_of(from) == lane_of(to) ? lane_of(from) : lanes_ - 1;
      std::uint32_t previous = edge.from;
      for (std::uint32_t layer = from.layer + 1; layer < to.layer; ++layer) {
        const double part = static_cast<double>(layer - from.layer) / (to.layer - from.layer);
        const double key = keys[edge.from] + (keys[edge.to] - keys[edge.from]) * part;
        const std::uint32_t thread = add_item({kNoNode, lane, kThreadWidth / 2, key}, layer);
        // Threads are kept straight, as Graphviz does: a bend in the middle of an edge is worse
        // than at a box.
        segments_.push_back({previous, thread, previous == edge.from ? 2.0 : 8.0});
        chains_[e].push_back(thread);
        previous = thread;
      }
      segments_.push_back({previous, edge.to, previous == edge.from ? 1.0 : 2.0});
    }
  }

  // Statement order; a stub stands just before the statement it feeds.
  [[nodiscard]] std::vector<double> order_keys() const {
    std::vector<double> keys(graph_.nodes.size());
    for (std::uint32_t n = 0; n < keys.size(); ++n) keys[n] = n;
    for (const GraphEdge& edge : graph_.edges) {
      if (graph_.nodes[edge.from].kind == NodeKind::Stub) keys[edge.from] = edge.to - 0.5;
    }
    return keys;
  }

  [[nodiscard]] std::uint32_t lane_of(const GraphNode& node) const {
    if (!graph_.lanes || node.storage == kNoGraphStorage) return lanes_ - 1;
    return node.storage;
  }

  std::uint32_t add_item(Item item, std::uint32_t layer) {
    items_.push_back(item);
    const auto id = static_cast<std::uint32_t>(items_.size() - 1);
    rows_[layer].push_back(id);
    return id;
  }

  [[nodiscard]] Adjacency adjacency(Side side) const {
    Adjacency result;
    result.begin.assign(items_.size() + 1, 0);
    const auto owner = [&](const Segment& s) { return side == Side::Above ? s.lower : s.upper; };
    const auto other = [&](const Segment& s) { return side == Side::Above ? s.upper : s.lower; };
    for (const Segment& segment : segments_) ++result.begin[owner(segment) + 1];
    for (std::size_t i = 0; i < items_.size(); ++i) result.begin[i + 1] += result.begin[i];
    std::vector<std::uint32_t> fill(result.begin.begin(), result.begin.end() - 1);
    result.other.resize(segments_.size());
    result.weight.resize(segments_.size());
    for (const Segment& segment : segments_) {
      const std::uint32_t at = fill[owner(segment)]++;
      result.other[at] = other(segment);
      result.weight[at] = segment.weight;
    }
    return result;
  }

  // ---- order inside layers

  // Packs the row around 0 in its present order.
  void pack(const std::vector<std::uint32_t>& row) {
    double width = 0;
    for (const std::uint32_t item : row) width += 2 * items_[item].half_width + kBoxGap;
    double at = -width / 2;
    for (const std::uint32_t item : row) {
      x_[item] = at + kBoxGap / 2 + items_[item].half_width;
      at += 2 * items_[item].half_width + kBoxGap;
    }
  }

  void order() {
    x_.assign(items_.size(), 0);
    for (std::vector<std::uint32_t>& row : rows_) {
      std::stable_sort(row.begin(), row.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (items_[a].lane != items_[b].lane) return items_[a].lane < items_[b].lane;
        return items_[a].key < items_[b].key;
      });
      pack(row);
    }
    std::vector<std::vector<std::uint32_t>> best = rows_;
    std::uint64_t best_crossings = crossings();
    for (std::uint32_t sweep = 0; sweep < options_.order_sweeps && best_crossings > 0; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        std::vector<std::uint32_t>& row = rows_[down ? k : rows_.size() - 1 - k];
        sort_by_neighbours(row, down ? above_ : below_);
      }
      const std::uint64_t now = crossings();
      if (now < best_crossings) {
        best_crossings = now;
        best = rows_;
      }
    }
    rows_ = std::move(best);
    for (const std::vector<std::uint32_t>& row : rows_) pack(row);
  }

  void sort_by_neighbours(std::vector<std::uint32_t>& row, const Adjacency& side) {
    std::vector<std::pair<double, std::uint32_t>> ranked;
    ranked.reserve(row.size());
    for (const std::uint32_t item : row) {
      double sum = 0;
      const std::uint32_t count = side.begin[item + 1] - side.begin[item];
      for (std::uint32_t i = side.begin[item]; i < side.begin[item + 1]; ++i)
        sum += x_[side.other[i]];
      ranked.emplace_back(count > 0 ? sum / count : x_[item], item);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
      const std::uint32_t lane_a = items_[a.second].lane;
      const std::uint32_t lane_b = items_[b.second].lane;
      return lane_a != lane_b ? lane_a < lane_b : a.first < b.first;
    });
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = ranked[i].second;
    pack(row);
  }

  // Crossings between all neighbouring layers, by a Fenwick tree over positions (Barth, Juenger,
  // Mutzel 2002).
  std::uint64_t crossings() {
    std::vector<std::uint32_t> position(items_.size(), 0);
    for (const std::vector<std::uint32_t>& row : rows_) {
      for (std::uint32_t i = 0; i < row.size(); ++i) position[row[i]] = i;
    }
    std::uint64_t total = 0;
    std::vector<std::uint32_t> tree;
    std::vector<std::uint32_t> ends;
    for (std::size_t k = 0; k + 1 < rows_.size(); ++k) {
      const auto size = static_cast<std::uint32_t>(rows_[k + 1].size());
      tree.assign(size + 1, 0);
      std::uint32_t seen = 0;
      for (const std::uint32_t upper : rows_[k]) {
        ends.clear();
        for (std::uint32_t i = below_.begin[upper]; i < below_.begin[upper + 1]; ++i) {
          ends.push_back(position[below_.other[i]]);
        }
        for (const std::uint32_t end : ends) {
          std::uint32_t not_right = 0;
          for (std::uint32_t i = end + 1; i > 0; i &= i - 1) not_right += tree[i];
          total += seen - not_right;
        }
        for (const std::uint32_t end : ends) {
          for (std::uint32_t i = end + 1; i <= size; i += i & (~i + 1)) ++tree[i];
          ++seen;
        }
      }
    }
    return total;
  }

  // ---- places inside layers

  struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
  };

  // A lane is as wide as its fullest row, so lanes never reach into one another.
  std::vector<Bounds> lane_bounds() const {
    std::vector<Bounds> bounds(lanes_);
    if (lanes_ == 1) return bounds;
    std::vector<double> width(lanes_, 0);
    for (const std::vector<std::uint32_t>& row : rows_) {
      std::vector<double> used(lanes_, 0);
      for (const std::uint32_t item : row) {
        double& lane = used[items_[item].lane];
        lane += 2 * items_[item].half_width + (lane > 0 ? kBoxGap : 0);
      }
      for (std::uint32_t l = 0; l < lanes_; ++l) width[l] = std::max(width[l], used[l]);
    }
    double at = 0;
    for (std::uint32_t l = 0; l + 1 < lanes_; ++l) {
      if (width[l] <= 0) continue;
      const double label =
          static_cast<double>(text_columns(graph_.storages[l].label)) * kColumnWidth;
      bounds[l] = {at, at + std::max(width[l], label)};
      at = bounds[l].high + kLaneGap;
    }
    bounds[lanes_ - 1].low = at;
    return bounds;
  }

  void place() {
    const std::vector<Bounds> bounds = lane_bounds();
    for (std::uint32_t sweep = 0; sweep < options_.place_sweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      // The last sweeps listen to both sides, so that a box ends up between what it reads and what
      // reads it.
      const bool both = sweep + 2 >= options_.place_sweeps;
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        place_row(rows_[down ? k : rows_.size() - 1 - k], both || down, both || !down, bounds);
      }
    }
  }

  void place_row(const std::vector<std::uint32_t>& row, bool use_above, bool use_below,
                 const std::vector<Bounds>& bounds) {
    for (std::size_t begin = 0; begin < row.size();) {
      std::size_t end = begin;
      while (end < row.size() && items_[row[end]].lane == items_[row[begin]].lane) ++end;
      place_run(row, begin, end, use_above, use_below, bounds[items_[row[begin]].lane]);
      begin = end;
    }
  }

  // Isotonic regression: the places nearest to the wishes that keep order and distances (pool
  // adjacent violators), then clamped into the lane.
  void place_run(const std::vector<std::uint32_t>& row, std::size_t begin, std::size_t end,
                 bool use_above, bool use_below, const Bounds& bounds) {
    blocks_.clear();
    offsets_.clear();
    double offset = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Item& item = items_[row[i]];
      if (i > begin)
        offset += items_[row[i - 1]].half_width + gap(row[i - 1], row[i]) + item.half_width;
      offsets_.push_back(offset);
      double weight = 0;
      double sum = 0;
      if (use_above) add_wish(above_, row[i], sum, weight);
      if (use_below) add_wish(below_, row[i], sum, weight);
      if (weight <= 0) {
        weight = 0.05;
        sum = x_[row[i]] * weight;
      }
      blocks_.push_back({sum - offset * weight, weight, 1});
      while (blocks_.size() > 1) {
        Block& left = blocks_[blocks_.size() - 2];
        const Block& right = blocks_.back();
        if (left.sum * right.weight <= right.sum * left.weight) break;
        left.sum += right.sum;
        left.weight += right.weight;
        left.count += right.count;
        blocks_.pop_back();
      }
    }
    const double low = bounds.low + items_[row[begin]].half_width;
    const double high = bounds.high - items_[row[end - 1]].half_width - offset;
    std::size_t i = begin;
    for (const Block& block : blocks_) {
      const double base = std::max(low, std::min(high, block.sum / block.weight));
      for (std::size_t k = 0; k < block.count; ++k, ++i) x_[row[i]] = base + offsets_[i - begin];
    }
  }

  [[nodiscard]] double gap(std::uint32_t left, std::uint32_t right) const {
    return items_[left].node == kNoNode && items_[right].node == kNoNode ? kBoxGap / 2 : kBoxGap;
  }

  void add_wish(const Adjacency& side, std::uint32_t item, double& sum, double& weight) const {
    for (std::uint32_t i = side.begin[item]; i < side.begin[item + 1]; ++i) {
      sum += x_[side.other[i]] * side.weight[i];
      weight += side.weight[i];
    }
  }

  // ---- coordinates and routes

  void set_rows() {
    double left = std::numeric_limits<double>::infinity();
    double right = -left;
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      left = std::min(left, x_[i] - items_[i].half_width);
      right = std::max(right, x_[i] + items_[i].half_width);
    }
    if (items_.empty()) left = right = 0;
    const double lane_margin = graph_.lanes ? kLanePadding : 0;
    const double shift = kMargin + lane_margin - left;
    for (double& x : x_) x += shift;
    std::vector<double> sideways(rows_.size(), 0);
    std::vector<std::uint32_t> row_of(items_.size(), 0);
    for (std::uint32_t r = 0; r < rows_.size(); ++r) {
      for (const std::uint32_t item : rows_[r]) row_of[item] = r;
    }
    for (const Segment& s : segments_) {
      double& most = sideways[row_of[s.upper]];
      most = std::max(most, std::abs(x_[s.upper] - x_[s.lower]));
    }
    double y =
        kMargin + (graph_.title.empty() ? 0 : kTitleHeight) + (graph_.lanes ? kTitleHeight : 0);
    tops_.clear();
    bottoms_.clear();
    for (std::uint32_t r = 0; r < rows_.size(); ++r) {
      double height = 0;
      for (const std::uint32_t item : rows_[r]) {
        if (items_[item].node != kNoNode)
          height = std::max(height, graph_.nodes[items_[item].node].height);
      }
      for (const std::uint32_t item : rows_[r]) {
        if (items_[item].node != kNoNode)
          graph_.nodes[items_[item].node].centre = {x_[item], y + height / 2};
      }
      tops_.push_back(y);
      bottoms_.push_back(y + height);
      // Flat lines are hard to follow: wide jumps get more height.
      y += height + std::min(kRowGapLimit, kRowGap + 0.06 * sideways[r]);
    }
    const double title = static_cast<double>(text_columns(graph_.title)) * kColumnWidth;
    graph_.size = {std::max(right + shift + kMargin + lane_margin, title + 2 * kMargin),
                   (bottoms_.empty() ? kTitleHeight : bottoms_.back()) + kMargin + lane_margin};
    if (graph_.lanes) set_lanes();
  }

  void set_lanes() {
    std::vector<bool> used(graph_.storages.size(), false);
    for (const GraphNode& node : graph_.nodes) {
      if (node.storage == kNoGraphStorage) continue;
      GraphStorage& storage = graph_.storages[node.storage];
      const GraphPoint low{node.centre.x - node.width / 2 - kLanePadding,
                           node.centre.y - node.height / 2 - kLanePadding - kTitleHeight / 2};
      const GraphPoint high{node.centre.x + node.width / 2 + kLanePadding,
                            node.centre.y + node.height / 2 + kLanePadding};
      if (!used[node.storage]) {
        storage.top_left = low;
        storage.bottom_right = high;
        used[node.storage] = true;
      }
      storage.top_left = {std::min(storage.top_left.x, low.x), std::min(storage.top_left.y, low.y)};
      storage.bottom_right = {std::max(storage.bottom_right.x, high.x),
                              std::max(storage.bottom_right.y, high.y)};
    }
    for (std::uint32_t i = static_cast<std::uint32_t>(graph_.nodes.size()); i < items_.size();
         ++i) {
      if (items_[i].lane + 1 == lanes_) continue;
      GraphStorage& storage = graph_.storages[items_[i].lane];
      storage.top_left.x = std::min(storage.top_left.x, x_[i] - kLanePadding);
      storage.bottom_right.x = std::max(storage.bottom_right.x, x_[i] + kLanePadding);
    }
    for (GraphStorage& storage : graph_.storages) {
      const double label =
          static_cast<double>(text_columns(storage.label)) * kColumnWidth + 2 * kLanePadding;
      const double missing = label - (storage.bottom_right.x - storage.top_left.x);
      if (missing > 0) storage.bottom_right.x += missing;
      graph_.size.x = std::max(graph_.size.x, storage.bottom_right.x + kMargin);
    }
  }

  struct Block {
    double sum = 0, weight = 0;
    std::size_t count = 0;
  };

  Graph& graph_;
  const LayoutOptions& options_;
  std::uint32_t lanes_ = 1;
  std::vector<Item> items_;  // the graph's nodes first, by number
  std::vector<Segment> segments_;
  std::vector<std::vector<std::uint32_t>> rows_;    // items of each layer, left to right
  std::vector<std::vector<std::uint32_t>> chains_;  // by edge: its threads
  Adjacency above_, below_;
  std::vector<double> x_;               // centre of each item
  std::vector<double> tops_, bottoms_;  // of each row
  std::vector<Block> blocks_;
  std::vector<double> offsets_;
};

}  // namespace

GraphPoint box_size(const GraphNode& node) {
  std::size_t columns = 1;
  for (const std::string& line : node.label) columns = std::max(columns, text_columns(line));
  const double lines = static_cast<double>(std::max<std::size_t>(node.label.size(), 1));
  const bool stub = node.kind == NodeKind::Stub;
  const double padding_x = stub ? kBoxPaddingX / 2 : kBoxPaddingX;
  const double padding_y = stub ? kBoxPaddingY / 2 : kBoxPaddingY;
  // The lid of a cylinder, the lugs of a component.
  const double lid = node.kind == NodeKind::Argument ? 10 : 0;
  const double lugs = node.kind == NodeKind::Fusion ? 10 : 0;
  return {static_cast<double>(columns) * kColumnWidth + 2 * padding_x + lugs,
          lines * kLineHeight + 2 * padding_y + lid};
}

void lay_out(Graph& graph, const LayoutOptions& options) {
  assign_layers(graph);
  cut_long_edges(graph, options);
  settle_layers(graph);
  Layout(graph, options).run();
}

}  // namespace tg
