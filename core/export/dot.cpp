#include "core/export/dot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/export/graph_layout.h"

namespace tg {
namespace {

// Okabe and Ito's palette, which the colour blind can tell apart; fills are the same hues,
// lightened.
constexpr std::string_view kOrange = "#B37400";
constexpr std::string_view kSkyBlue = "#3E93C4";
constexpr std::string_view kGreen = "#007A59";
constexpr std::string_view kBlue = "#0072B2";
constexpr std::string_view kVermilion = "#D55E00";
constexpr std::string_view kPurple = "#A9588A";
constexpr std::string_view kGrey = "#707070";
constexpr std::string_view kInk = "#1A1A1A";

constexpr double kArrowLength = 7;
constexpr std::string_view kFont = "DejaVu Sans Mono";

struct NodeStyle {
  std::string_view shape;
  std::string_view style;
  std::string_view fill;
  std::string_view border;
  double pen = 1;
};

NodeStyle style_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Argument:
      return {"cylinder", "filled", "#E3F3EC", kGreen, 1.3};
    case NodeKind::Statement:
      return {"box", "filled", "#FFFFFF", kGrey, 1};
    case NodeKind::View:
      return {"box", "filled,rounded", "#E6F2FA", kSkyBlue, 1.2};
    case NodeKind::Write:
      return {"box", "filled,bold", "#FCE9DB", kVermilion, 2.2};
    case NodeKind::Fusion:
      return {"component", "filled", "#F6EAF2", kPurple, 1.2};
    case NodeKind::Return:
      return {"box", "filled,diagonals", "#DDECF7", kBlue, 1.6};
    case NodeKind::Stub:
      return {"plaintext", "", "", kGrey, 1};
    case NodeKind::Remark:
      return {"note", "filled", "#FBF7D0", kOrange, 1};
  }
  return {};
}

struct EdgeStyle {
  std::string_view style;
  std::string_view colour;
  double pen = 1;
  std::string_view arrow;
};

EdgeStyle style_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::Value:
      return {"solid", "#4D4D4D", 1, "normal"};
    case EdgeKind::Alias:
      return {"dotted", kSkyBlue, 1.8, "empty"};
    case EdgeKind::Write:
      return {"dashed", kVermilion, 2.6, "normal"};
    case EdgeKind::Newer:
      return {"solid", kVermilion, 1.1, "normal"};
  }
  return {};
}

std::string_view change_colour(DiffKind change) {
  switch (change) {
    case DiffKind::Same:
      return "";
    case DiffKind::Changed:
      return kOrange;
    case DiffKind::Moved:
      return kPurple;
    case DiffKind::Removed:
      return kGrey;
    case DiffKind::Added:
      return kGreen;
  }
  return "";
}

// Inside double quotes. Graphviz reads backslash escapes and HTML entities there; control
// characters would make the SVG invalid XML.
void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += '?';
    } else {
      out += c;
    }
  }
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  append_escaped(out, text);
  out += '"';
  return out;
}

std::string label_text(const GraphNode& node) {
  // Code reads best flush left.
  const bool left = node.kind != NodeKind::Stub && node.kind != NodeKind::Argument &&
                    node.kind != NodeKind::Return;
  std::string out = "\"";
  for (const std::string& line : node.label) {
    append_escaped(out, line);
    out += left ? "\\l" : "\\n";
  }
  out += '"';
  return out;
}

class DotWriter {
 public:
  DotWriter(const Graph& graph, const DotOptions& options) : graph_(graph), options_(options) {}

  std::string write() && {
    head();
    if (graph_.lanes) clusters();
    for (const GraphNode& node : graph_.nodes) {
      if (!graph_.lanes || node.storage == kNoGraphStorage) write_node(node, "  ");
    }
    for (const GraphEdge& edge : graph_.edges) write_edge(edge);
    for (const GraphTie& tie : graph_.ties) write_tie(tie);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string point(GraphPoint p) const {
    // Graphviz counts upwards.
    return fmt::format("{:.1f},{:.1f}", p.x, graph_.size.y - p.y);
  }

  void head() {
    out_ += fmt::format("digraph {} {{\n", quoted(graph_.title.empty() ? "trace" : graph_.title));
    out_ += fmt::format(
        "  graph [bb=\"0,0,{:.1f},{:.1f}\", splines=line, outputorder=edgesfirst, bgcolor=white",
        graph_.size.x, graph_.size.y);
    if (graph_.nodes.size() > 300) {
      // For those who lay it out anew with dot: its defaults take minutes on such graphs.
      out_ += ", nslimit=0.1, nslimit1=0.1, mclimit=0.1";
    }
    if (!graph_.title.empty()) {
      const double half = static_cast<double>(text_columns(graph_.title)) * kColumnWidth / 2;
      out_ += fmt::format(
          ", label={}, labelloc=t, labeljust=l, lp=\"{}\", fontname=\"{}\", fontsize={}",
          quoted(graph_.title), point({half + 12, 14}), kFont, kFontSize);
    }
    out_ += "];\n";
    out_ += fmt::format(
        "  node [fontname=\"{}\", fontsize={}, fontcolor=\"{}\", fixedsize=true, "
        "margin=\"0.08,0.03\"];\n",
        kFont, kFontSize, kInk);
    out_ += fmt::format("  edge [fontname=\"{}\", fontsize={}, arrowsize=0.7];\n", kFont,
                        kFontSize - 1);
  }

  void clusters() {
    std::vector<std::vector<const GraphNode*>> members(graph_.storages.size());
    for (const GraphNode& node : graph_.nodes) {
      if (node.storage != kNoGraphStorage) members[node.storage].push_back(&node);
    }
    for (std::size_t s = 0; s < members.size(); ++s) {
      if (members[s].empty()) continue;
      const GraphStorage& storage = graph_.storages[s];
      const GraphPoint low{storage.top_left.x, storage.bottom_right.y};
      const GraphPoint high{storage.bottom_right.x, storage.top_left.y};
      const double half = static_cast<double>(text_columns(storage.label)) * kColumnWidth / 2;
      out_ += fmt::format("  subgraph {} {{\n", quoted("cluster_" + storage.id));
      out_ += fmt::format(
          "    graph [label={}, labeljust=l, bb=\"{},{}\", lp=\"{}\", style=\"rounded,filled\", "
          "color=\"{}\", fillcolor=\"#F7F7F2\", fontname=\"{}\", fontsize={}];\n",
          quoted(storage.label), point(low), point(high),
          point({storage.top_left.x + half + 8, storage.top_left.y + 9}), kGrey, kFont,
          kFontSize - 1);
      for (const GraphNode* node : members[s]) write_node(*node, "    ");
      out_ += "  }\n";
    }
  }

  void write_link(std::uint32_t line) {
    if (options_.link.empty() || line == 0) return;
    const std::string number = std::to_string(line);
    std::string link = options_.link;
    if (const std::size_t at = link.find("{line}"); at != std::string::npos) {
      link.replace(at, 6, number);
    } else {
      link += "#L" + number;
    }
    out_ += fmt::format(", URL={}", quoted(link));
  }

  void write_node(const GraphNode& node, std::string_view indent) {
    const NodeStyle style = style_of(node.kind);
    const std::string_view changed = change_colour(node.change);
    std::string look(style.style);
    if (node.change == DiffKind::Removed) look += look.empty() ? "dashed" : ",dashed";
    double pen = style.pen;
    if (node.change == DiffKind::Added || node.change == DiffKind::Changed ||
        node.change == DiffKind::Moved) {
      pen = std::max(pen, 2.0);
    }
    out_ += fmt::format("{}{} [label={}, pos=\"{}!\", width={:.4f}, height={:.4f}, shape={}",
                        indent, quoted(node.id), label_text(node), point(node.centre),
                        node.width / 72, node.height / 72, style.shape);
    if (!look.empty()) out_ += fmt::format(", style=\"{}\"", look);
    if (!style.fill.empty()) {
      out_ += fmt::format(", fillcolor=\"{}\"",
                          node.change == DiffKind::Removed ? "#F2F2F2" : style.fill);
    }
    out_ +=
        fmt::format(", color=\"{}\", penwidth={}", changed.empty() ? style.border : changed, pen);
    if (node.kind == NodeKind::Stub || node.change == DiffKind::Removed) {
      out_ += fmt::format(", fontcolor=\"{}\"", kGrey);
    }
    out_ += fmt::format(", tooltip={}", quoted(node.tooltip));
    write_link(node.line);
    out_ += "];\n";
  }

  // Beside the last stretch before the lower box, where every edge runs straight down.
  [[nodiscard]] static GraphPoint label_place(const GraphEdge& edge) {
    const double half = static_cast<double>(text_columns(edge.label)) * kColumnWidth / 2;
    const GraphPoint end = edge.route.back();
    // On the side that the edge does not come from.
    const bool from_right = edge.route[edge.route.size() - 4].x > end.x;
    return {end.x + (from_right ? -1 : 1) * (half + 4), end.y - kArrowLength - 5};
  }

  void write_edge(const GraphEdge& edge) {
    const EdgeStyle style = style_of(edge.kind);
    const bool upwards = edge.kind == EdgeKind::Write;  // the writer acts on the tensor above it
    const std::string& tail = graph_.nodes[upwards ? edge.to : edge.from].id;
    const std::string& head = graph_.nodes[upwards ? edge.from : edge.to].id;
    std::string_view colour = style.colour;
    std::string_view dash = style.style;
    double pen = style.pen;
    if (edge.change == DiffKind::Removed) {
      colour = "#A0A0A0";
      dash = "dashed";
    } else if (edge.change == DiffKind::Added) {
      if (edge.kind == EdgeKind::Value) colour = kGreen;
      pen = std::max(pen, 1.8);
    }
    out_ += fmt::format("  {} -> {} [pos=\"{}\", style={}, color=\"{}\", penwidth={}, arrowhead={}",
                        quoted(tail), quoted(head), edge_position(edge, upwards), dash, colour, pen,
                        style.arrow);
    if (!edge.label.empty()) {
      out_ += fmt::format(", label={}, lp=\"{}\", fontcolor=\"{}\"", quoted(edge.label),
                          point(label_place(edge)), colour);
    }
    if (upwards) out_ += ", constraint=false";
    if (!edge.name.empty()) out_ += fmt::format(", tooltip={}", quoted(edge.name));
    out_ += "];\n";
  }

  void write_tie(const GraphTie& tie) {
    const EdgeStyle style = style_of(EdgeKind::Alias);
    std::string position;
    for (const GraphPoint p : tie.route) position += (position.empty() ? "" : " ") + point(p);
    out_ += fmt::format(
        "  {} -> {} [pos=\"{}\", dir=none, style={}, color=\"{}\", penwidth={}, constraint=false, ",
        quoted(graph_.nodes[tie.first].id), quoted(graph_.nodes[tie.second].id), position,
        style.style, style.colour, style.pen);
    const GraphPoint middle{(tie.route.front().x + tie.route.back().x) / 2, tie.route[1].y - 2};
    out_ += fmt::format("label=\"one storage\", lp=\"{}\", fontcolor=\"{}\"];\n", point(middle),
                        style.colour);
  }

  // A B-spline as Graphviz writes it: the arrow's tip first, then the points up to the arrow's
  // base.
  [[nodiscard]] std::string edge_position(const GraphEdge& edge, bool upwards) const {
    std::vector<GraphPoint> points = edge.route;
    if (upwards) std::reverse(points.begin(), points.end());
    if (points.size() < 4) return {};
    const GraphPoint tip = points.back();
    const double length = std::min(kArrowLength, std::abs(points[points.size() - 4].y - tip.y) / 2);
    points.back().y += upwards ? length : -length;
    std::string out = "e," + point(tip);
    for (const GraphPoint p : points) out += " " + point(p);
    return out;
  }

  const Graph& graph_;
  const DotOptions& options_;
  std::string out_;
};

}  // namespace

std::string to_dot(const Graph& graph, const DotOptions& options) {
  return DotWriter(graph, options).write();
}

std::string dot_legend() {
  return "cylinder     argument            cut corners  return\n"
         "box          statement           round box    view: shares storage with what it reads\n"
         "W, bold box  writes a tensor     box with lugs  fusion region\n"
         "solid edge   value               dotted edge  the result shares (or may share) the "
         "storage\n"
         "thick dashes W: the statement writes into the tensor that the arrow points to\n"
         "x v1         reads what write number 1 into the storage of x left there\n"
         "+ - ~ >      added, removed, changed, moved against the other phase\n"
         "name (line)  the other end of an edge that was cut\n";
}

}  // namespace tg
