// Graph: a trace as nodes and edges, ready to be laid out. Statements, arguments and the return are
// nodes; an edge says which value goes where, who shares storage, who writes into what and who
// reads the new value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/analysis/def_use.h"
#include "core/export/trace_diff.h"
#include "core/ir/trace.h"
#include "core/pass/audit_copies.h"

namespace tg {

enum class NodeKind : std::uint8_t {
  Argument,
  Statement,
  View,    // makes a name for bytes that are there already
  Write,   // writes into a tensor: copy_, in-place operations, composites and fusions that hide a
           // write
  Fusion,  // a fusion region that writes nothing
  Return,
  Stub,    // one end of a cut edge: names the value and where it is made
  Remark,  // lines left out or not understood
};

enum class EdgeKind : std::uint8_t {
  Value,  // producer -> consumer
  Alias,  // producer -> consumer whose result shares (or may share) the storage
  Write,  // tensor -> the statement that writes it; drawn with its arrow at the tensor
  Newer,  // writer -> a reader that sees the written bytes, whatever name it reads them by
};

struct GraphPoint {
  double x = 0, y = 0;  // points of 1/72 inch, y grows downwards
};

constexpr std::uint32_t kNoGraphStorage = 0xffffffffU;

struct GraphNode {
  std::string id;  // stable from phase to phase: the name that the statement binds
  NodeKind kind = NodeKind::Statement;
  std::optional<std::uint32_t>
      statement;                   // of the drawn trace; of the other one for DiffKind::Removed
  std::vector<std::string> label;  // lines
  std::string tooltip;             // whole statement, and the user's program line
  std::uint32_t line = 0;          // in the user's file, 0 when not known
  DiffKind change = DiffKind::Same;
  std::uint32_t storage = kNoGraphStorage;  // index into Graph::storages
  std::vector<std::string> names;           // what it defines
  // Filled by lay_out().
  std::uint32_t layer = 0;
  GraphPoint centre;
  double width = 0, height = 0;
};

struct GraphEdge {
  std::uint32_t from = 0, to = 0;  // indices into Graph::nodes, from above to
  EdgeKind kind = EdgeKind::Value;
  bool maybe = false;  // may share, may write
  std::string name;    // the value's name
  std::string label;   // "W", "x v1", "" for most
  DiffKind change = DiffKind::Same;
  std::vector<GraphPoint>
      route;  // filled by lay_out(): cubic Bezier, 3k + 1 points from `from` to `to`
};

// Two arguments that lie in one storage.
struct GraphTie {
  std::uint32_t first = 0, second = 0;
  std::vector<GraphPoint> route;  // filled by lay_out()
};

// A storage that more than one node lives in or writes to.
struct GraphStorage {
  std::string id;
  std::string label;                  // "storage of x, 24 B, 3 versions"
  GraphPoint top_left, bottom_right;  // filled by lay_out() when clusters are wanted
};

struct Graph {
  std::string title;
  std::vector<GraphNode>
      nodes;  // arguments, statements in order, return: edges go from lower to higher
  std::vector<GraphEdge> edges;
  std::vector<GraphStorage> storages;
  std::vector<GraphTie> ties;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      before;          // must stand above: a reader of old bytes, then the writer
  bool lanes = false;  // lay_out() gives each storage a lane of its own
  GraphPoint size;     // filled by lay_out()
};

// Another phase to compare with.
struct GraphBaseline {
  const Trace* trace = nullptr;
  const DefUse* def_use = nullptr;
};

struct GraphOptions {
  bool storages = false;  // keep the storages of one lane together, to be drawn as clusters
  std::size_t label_columns = 56;
  std::optional<GraphBaseline> against;
  std::span<const CopyFinding> copies;  // the audit's answers, shown at the writes they are about
};

// Linear in the trace (and the baseline). `title` is shown above the picture.
Graph build_graph(const Trace& trace, const DefUse& def_use, const AliasSets& alias_sets,
                  std::string title, const GraphOptions& options = {});

// The nodes at most `depth` edges away from those that define or mention `name`.
// Diagnostic: no-such-name.
Result<Graph> neighbourhood(const Graph& graph, const std::string& name, std::uint32_t depth);

// Columns that a UTF-8 text takes.
std::size_t text_columns(std::string_view text);
// At most `columns` columns, with an ellipsis in the middle when cut.
std::string shortened(std::string_view text, std::size_t columns);

}  // namespace tg
