#include "core/export/graph.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/export/storage_touches.h"
#include "core/text/printer.h"

namespace tg {
namespace {

constexpr std::uint32_t kNoNode = 0xffffffffU;

bool is_drawn(const BoundSymbol& statement) {
  switch (statement.kind) {
    case StatementKind::Call:
    case StatementKind::UnpackTrivial:
    case StatementKind::UnpackSequence:
    case StatementKind::UnpackAccess:
    case StatementKind::EmptyCollection:
    case StatementKind::PackList:
    case StatementKind::PackAssign:
    case StatementKind::Return:
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      return true;
    case StatementKind::Del:
    case StatementKind::Print:
    case StatementKind::Comment:
      return false;
  }
  return false;
}

NodeKind plain_kind(const BoundSymbol& statement) {
  switch (statement.kind) {
    case StatementKind::UnpackTrivial:
      return NodeKind::Argument;
    case StatementKind::Return:
      return NodeKind::Return;
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      return NodeKind::Remark;
    case StatementKind::Call:
      return statement.op == OpCode::Fusion ? NodeKind::Fusion : NodeKind::Statement;
    case StatementKind::UnpackSequence:
    case StatementKind::UnpackAccess:
    case StatementKind::EmptyCollection:
    case StatementKind::PackList:
    case StatementKind::PackAssign:
    case StatementKind::Del:
    case StatementKind::Print:
    case StatementKind::Comment:
      return NodeKind::Statement;
  }
  return NodeKind::Statement;
}

// The one device of all tensors, so that labels need not repeat it; empty when there are several.
std::string common_device(const Trace& trace) {
  std::string device;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (!statement->type || !statement->type->is_tensor()) continue;
    if (device.empty()) device = statement->type->device;
    if (statement->type->device != device) return {};
  }
  return device;
}

class GraphBuilder {
 public:
  GraphBuilder(const Trace& trace, const DefUse& def_use, const AliasSets& sets,
               const GraphOptions& options)
      : trace_(trace),
        def_use_(def_use),
        sets_(sets),
        options_(options),
        touches_(storage_touches(sets, trace.bound_symbols.size())),
        node_of_statement_(trace.bound_symbols.size(), kNoNode),
        node_of_definition_(def_use.definitions().size(), kNoNode),
        last_reader_(def_use.definitions().size(), kNoNode),
        device_(common_device(trace)) {}

  Graph build(std::string title) && {
    graph_.title = std::move(title);
    graph_.lanes = options_.storages;
    for (std::size_t i = 0; i < options_.copies.size(); ++i) {
      if (!options_.copies[i].path.empty())
        answers_.emplace_back(options_.copies[i].path.front(), i);
    }
    std::sort(answers_.begin(), answers_.end());
    if (options_.against) diff_ = diff_traces(*options_.against->trace, trace_);
    add_nodes();
    add_edges();
    add_ties();
    if (options_.against) add_removed_edges();
    name_storages();
    return std::move(graph_);
  }

 private:
  void add_nodes() {
    for (DefinitionId d = 0; d < def_use_.definitions().size(); ++d) {
      if (def_use_.definitions()[d].statement == kArgument) add_bare_argument(d);
    }
    if (!diff_) {
      for (std::uint32_t s = 0; s < trace_.bound_symbols.size(); ++s)
        add_statement(s, DiffKind::Same, nullptr);
      return;
    }
    const Trace& old = *options_.against->trace;
    removed_node_.assign(old.bound_symbols.size(), kNoNode);
    right_of_.assign(old.bound_symbols.size(), kNoNode);
    for (const DiffEntry& entry : diff_->entries) {
      if (entry.left && entry.right) right_of_[*entry.left] = *entry.right;
      if (entry.right) {
        const BoundSymbol* before = entry.left ? old.bound_symbols[*entry.left].get() : nullptr;
        add_statement(*entry.right, entry.kind, before);
      } else {
        add_removed(*entry.left);
      }
    }
  }

  std::uint32_t push(GraphNode node) {
    const std::uint32_t number = ++ids_[node.id];
    if (number > 1) node.id += fmt::format("#{}", number);
    graph_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(graph_.nodes.size() - 1);
  }

  void add_bare_argument(DefinitionId definition) {
    GraphNode node;
    node.kind = NodeKind::Argument;
    node.id = def_use_.definitions()[definition].name;
    node.names = {node.id};
    node.label = {node.id};
    node.tooltip = node.id + ": argument without annotation";
    node_of_definition_[definition] = push(std::move(node));
  }

  [[nodiscard]] std::string type_text(const BoundSymbol& statement) const {
    if (!statement.type) return {};
    std::string_view text = statement.type->text;
    if (!device_.empty() && statement.type->is_tensor() && text.starts_with(device_ + " ")) {
      text.remove_prefix(device_.size() + 1);
    }
    return shortened(text, options_.label_columns / 2);
  }

  [[nodiscard]] std::string storage_label(StorageId storage) const {
    return sets_.storages()[storage].label;
  }

  static void fill_common(GraphNode& node, const BoundSymbol& statement) {
    const std::vector<std::string_view> names = output_names(statement);
    node.names.assign(names.begin(), names.end());
    if (statement.kind == StatementKind::Return) {
      node.id = "return";
    } else if (!node.names.empty()) {
      node.id = node.names.front();
    } else {
      node.id =
          statement.kind == StatementKind::Call ? std::string(base_name(statement.callee)) : "line";
    }
    node.line = statement.at.line;
    node.tooltip = one_line(statement);
    if (statement.type) node.tooltip += "  # " + statement.type->text;
    if (statement.program_line) {
      node.tooltip += fmt::format("\n{}:{}: {}", statement.program_line->file,
                                  statement.program_line->line, trim(statement.program_line->text));
    }
  }

  void add_statement(std::uint32_t index, DiffKind change, const BoundSymbol* before) {
    const BoundSymbol& statement = *trace_.bound_symbols[index];
    if (!is_drawn(statement)) return;
    GraphNode node;
    fill_common(node, statement);
    node.kind = plain_kind(statement);
    node.statement = index;
    node.change = change;
    std::vector<std::string> facts;
    if (const std::string type = type_text(statement); !type.empty()) facts.push_back(type);
    describe_sharing(node, index, facts);
    if (statement.op == OpCode::Fusion) {
      facts.push_back(
          count_of(statement.subsymbols.size(), "statement inside", "statements inside"));
    }
    if (statement.is_call(OpCode::Opaque)) facts.emplace_back("unknown operation");
    if (node.line > 0) facts.push_back(fmt::format("line {}", node.line));

    std::string mark = change == DiffKind::Same ? "" : fmt::format("{} ", diff_mark(change));
    if (node.kind == NodeKind::Write) mark += "W ";
    const bool argument = node.kind == NodeKind::Argument;
    const std::string text =
        argument && !node.names.empty() ? node.names.front() : one_line(statement);
    node.label.push_back(mark + shortened(text, options_.label_columns));
    if (change == DiffKind::Changed && before != nullptr) {
      const std::string was = one_line(*before);
      if (was != text && !argument)
        node.label.push_back("was " + shortened(was, options_.label_columns));
      node.tooltip += "\nwas: " + was;
    }
    if (!facts.empty()) node.label.push_back(joined(facts));
    add_answers(node, index);
    const std::uint32_t number = push(std::move(node));
    node_of_statement_[index] = number;
    for (const DefinitionId d : def_use_.definitions_of(index)) node_of_definition_[d] = number;
  }

  // Sets kind and storage of the node and says in words what it shares or writes.
  void describe_sharing(GraphNode& node, std::uint32_t index, std::vector<std::string>& facts) {
    for (const Touch& touch : touches_[index]) {
      if (!touch.made_version) continue;
      if (node.kind != NodeKind::Write) {
        node.kind = NodeKind::Write;
        node.storage = touch.storage;
      }
      facts.push_back(fmt::format("{} {} v{}", touch.may_write ? "may make" : "makes",
                                  storage_label(touch.storage), *touch.made_version));
    }
    for (const DefinitionId made : def_use_.definitions_of(index)) {
      const Placement* placement = sets_.placement(made);
      if (placement == nullptr) continue;
      if (node.storage == kNoGraphStorage) node.storage = placement->storage;
      if (node.kind != NodeKind::Statement) continue;
      if (placement->maybe && !placement->maybe_of.empty()) {
        node.kind = NodeKind::View;
        facts.push_back("may be a view of " + storage_label(placement->maybe_of.front()));
      } else if (shares_with_a_read(index, made)) {
        node.kind = NodeKind::View;
        facts.push_back("view of " + storage_label(placement->storage));
      }
    }
  }

  void add_answers(GraphNode& node, std::uint32_t index) {
    for (auto at =
             std::lower_bound(answers_.begin(), answers_.end(), std::pair{index, std::size_t{0}});
         at != answers_.end() && at->first == index; ++at) {
      const CopyFinding& finding = options_.copies[at->second];
      std::string text =
          fmt::format("copy to {}: {}", finding.destination, answer_text(finding.answer));
      if (finding.removable) text += ", removable";
      if (finding.stale) text += ", stale";
      node.label.push_back(std::move(text));
      node.tooltip += "\n" + finding.reason;
    }
  }

  [[nodiscard]] bool shares_with_a_read(std::uint32_t index, DefinitionId made) const {
    const std::vector<DefinitionId>& reads = def_use_.reads_of(index);
    return std::any_of(reads.begin(), reads.end(),
                       [&](DefinitionId read) { return sets_.must_alias(read, made); });
  }

  static std::string joined(const std::vector<std::string>& facts) {
    std::string out;
    for (const std::string& fact : facts) {
      if (!out.empty()) out += " \u00b7 ";
      out += fact;
    }
    return out;
  }

  void add_removed(std::uint32_t old_index) {
    const BoundSymbol& statement = *options_.against->trace->bound_symbols[old_index];
    if (!is_drawn(statement)) return;
    GraphNode node;
    fill_common(node, statement);
    node.id = "-" + node.id;
    node.kind = plain_kind(statement);
    if (statement.op_info().has(kInPlace | kCopyInto)) node.kind = NodeKind::Write;
    node.statement = old_index;
    node.change = DiffKind::Removed;
    node.label.push_back(fmt::format("{} {}{}", diff_mark(DiffKind::Removed),
                                     node.kind == NodeKind::Write ? "W " : "",
                                     shortened(one_line(statement), options_.label_columns)));
    node.label.push_back(node.line > 0 ? fmt::format("only before \u00b7 line {}", node.line)
                                       : std::string("only before"));
    removed_node_[old_index] = push(std::move(node));
  }

  void add_edge(GraphEdge edge) {
    if (edge.from == kNoNode || edge.to == kNoNode || edge.from >= edge.to) return;
    const DiffKind from = graph_.nodes[edge.from].change;
    const DiffKind to = graph_.nodes[edge.to].change;
    if (edge.change == DiffKind::Same && (from == DiffKind::Added || to == DiffKind::Added)) {
      edge.change = DiffKind::Added;
    }
    graph_.edges.push_back(std::move(edge));
  }

  void add_edges() {
    writers_.assign(sets_.storages().size(), {});
    readers_.assign(sets_.storages().size(), {});
    for (std::uint32_t s = 0; s < trace_.bound_symbols.size(); ++s) {
      if (node_of_statement_[s] != kNoNode) add_edges_of(s);
    }
  }

  // The definition, among those the statement reads, that a write goes through.
  [[nodiscard]] DefinitionId written_definition(std::uint32_t index, const Touch& touch) const {
    DefinitionId found = kNoDefinition;
    for (const DefinitionId read : def_use_.reads_of(index)) {
      if (read == kNoDefinition) continue;
      const Placement* placement = sets_.placement(read);
      if (placement == nullptr) continue;
      const bool here =
          placement->storage == touch.storage ||
          std::count(placement->maybe_of.begin(), placement->maybe_of.end(), touch.storage) > 0;
      if (!here) continue;
      if (def_use_.definitions()[read].name == touch.written_name) return read;
      if (found == kNoDefinition) found = read;
    }
    return found;
  }

  void add_edges_of(std::uint32_t index) {
    const std::uint32_t node = node_of_statement_[index];
    std::vector<DefinitionId> written;
    for (const Touch& touch : touches_[index]) {
      if (!touch.made_version) continue;
      const DefinitionId target = written_definition(index, touch);
      if (target == kNoDefinition || std::count(written.begin(), written.end(), target) > 0)
        continue;
      written.push_back(target);
      add_edge({node_of_definition_[target],
                node,
                EdgeKind::Write,
                touch.may_write,
                std::string(def_use_.definitions()[target].name),
                touch.may_write ? "W?" : "W",
                DiffKind::Same,
                {}});
    }
    for (const DefinitionId read : def_use_.reads_of(index)) {
      if (read == kNoDefinition || last_reader_[read] == index) continue;
      last_reader_[read] = index;
      const bool is_written = std::count(written.begin(), written.end(), read) > 0;
      if (add_newer_edge(index, read) && !is_written) continue;
      if (!is_written) add_value_edge(index, read);
    }
    remember_order(index);
  }

  void add_value_edge(std::uint32_t index, DefinitionId read) {
    GraphEdge edge{node_of_definition_[read],
                   node_of_statement_[index],
                   EdgeKind::Value,
                   false,
                   std::string(def_use_.definitions()[read].name),
                   "",
                   DiffKind::Same,
                   {}};
    for (const DefinitionId made : def_use_.definitions_of(index)) {
      if (sets_.must_alias(read, made)) {
        edge.kind = EdgeKind::Alias;
      } else if (edge.kind == EdgeKind::Value && sets_.may_alias(read, made)) {
        edge.kind = EdgeKind::Alias;
        edge.maybe = true;
      }
    }
    if (edge.maybe) edge.label = "may share";
    // A producer with several results: say which one goes here.
    if (edge.from != kNoNode && graph_.nodes[edge.from].names.size() > 1 && edge.label.empty()) {
      edge.label = edge.name;
    }
    add_edge(std::move(edge));
  }

  // Adds the edge from the statement that wrote what is read here. True when it replaces the edge
  // from the definition: the write went through the same name.
  bool add_newer_edge(std::uint32_t index, DefinitionId read) {
    const Placement* placement = sets_.placement(read);
    if (placement == nullptr) return false;
    const StorageId storage = placement->storage;
    const std::vector<Writer>& writers = writers_[storage];
    std::uint32_t version = writers.empty() ? 0 : writers.back().version;
    if (const Touch* touch = touch_of(touches_[index], storage)) {
      if (!touch->read_version) return false;
      version = *touch->read_version;
    } else if (trace_.bound_symbols[index]->kind != StatementKind::Return) {
      return false;
    }
    const auto writer = std::find_if(writers.rbegin(), writers.rend(),
                                     [&](const Writer& w) { return w.version <= version; });
    if (writer == writers.rend()) return false;
    const std::uint32_t from = node_of_statement_[writer->statement];
    if (from == kNoNode || from == node_of_definition_[read]) return false;
    const std::string_view name = def_use_.definitions()[read].name;
    add_edge({from,
              node_of_statement_[index],
              EdgeKind::Newer,
              false,
              std::string(name),
              fmt::format("{} v{}", storage_label(storage), writer->version),
              DiffKind::Same,
              {}});
    return writer->name == name;
  }

  void add_ties() {
    std::vector<std::uint32_t> last(sets_.storages().size(), kNoNode);
    for (DefinitionId d = 0; d < def_use_.definitions().size(); ++d) {
      const std::uint32_t node = node_of_definition_[d];
      const Placement* placement = sets_.placement(d);
      if (node == kNoNode || placement == nullptr || graph_.nodes[node].kind != NodeKind::Argument)
        continue;
      std::uint32_t& previous = last[placement->storage];
      if (previous != kNoNode && previous != node) graph_.ties.push_back({previous, node, {}});
      previous = node;
    }
  }

  // Readers of old bytes stand above the statement that overwrites them.
  void remember_order(std::uint32_t index) {
    const std::uint32_t node = node_of_statement_[index];
    for (const Touch& touch : touches_[index]) {
      std::vector<std::uint32_t>& readers = readers_[touch.storage];
      if (touch.made_version) {
        for (const std::uint32_t reader : readers) graph_.before.emplace_back(reader, node);
        readers.clear();
        std::vector<Writer>& writers = writers_[touch.storage];
        if (!writers.empty()) {
          graph_.before.emplace_back(node_of_statement_[writers.back().statement], node);
        }
        writers.push_back({*touch.made_version, index, std::string(touch.written_name)});
      } else if (touch.read_version) {
        readers.push_back(node);
      }
    }
  }

  // Ghost edges: what fed a removed statement, and what it fed.
  void add_removed_edges() {
    const DefUse& old = *options_.against->def_use;
    const auto source = [&](DefinitionId read) {
      const Definition& definition = old.definitions()[read];
      if (definition.statement == kArgument) {
        const DefinitionId now = def_use_.reaching(definition.name, 0);
        return now == kNoDefinition ? kNoNode : node_of_definition_[now];
      }
      if (right_of_[definition.statement] != kNoNode)
        return node_of_statement_[right_of_[definition.statement]];
      return removed_node_[definition.statement];
    };
    for (std::uint32_t s = 0; s < removed_node_.size(); ++s) {
      const bool removed = removed_node_[s] != kNoNode;
      const std::uint32_t to =
          removed ? removed_node_[s]
                  : (right_of_[s] == kNoNode ? kNoNode : node_of_statement_[right_of_[s]]);
      for (const DefinitionId read : old.reads_of(s)) {
        if (read == kNoDefinition) continue;
        const std::uint32_t from = source(read);
        if (from == kNoNode || (!removed && graph_.nodes[from].change != DiffKind::Removed))
          continue;
        add_edge({from,
                  to,
                  EdgeKind::Value,
                  false,
                  std::string(old.definitions()[read].name),
                  "",
                  DiffKind::Removed,
                  {}});
      }
    }
  }

  // Keeps the storages that say something (two nodes, or written) and renumbers the nodes'
  // references.
  void name_storages() {
    std::vector<std::uint32_t> uses(sets_.storages().size(), 0);
    for (const GraphNode& node : graph_.nodes) {
      if (node.storage != kNoGraphStorage && node.change != DiffKind::Removed) ++uses[node.storage];
    }
    std::vector<std::uint32_t> number(sets_.storages().size(), kNoGraphStorage);
    for (StorageId s = 0; s < sets_.storages().size(); ++s) {
      const StorageFacts& facts = sets_.storages()[s];
      if (uses[s] < 2 && !(uses[s] == 1 && facts.versions > 1)) continue;
      number[s] = static_cast<std::uint32_t>(graph_.storages.size());
      std::string label = "storage of " + facts.label;
      if (facts.bytes) label += ", " + bytes_text(*facts.bytes);
      if (facts.versions > 1) label += ", " + count_of(facts.versions - 1, "write", "writes");
      graph_.storages.push_back({fmt::format("storage {}", facts.label), std::move(label), {}, {}});
    }
    for (GraphNode& node : graph_.nodes) {
      if (node.storage != kNoGraphStorage) node.storage = number[node.storage];
    }
  }

  struct Writer {
    std::uint32_t version = 0;
    std::uint32_t statement = 0;
    std::string name;
  };

  const Trace& trace_;
  const DefUse& def_use_;
  const AliasSets& sets_;
  const GraphOptions& options_;
  std::vector<std::vector<Touch>> touches_;
  std::vector<std::uint32_t> node_of_statement_;
  std::vector<std::uint32_t> node_of_definition_;
  std::vector<std::uint32_t>
      last_reader_;  // by definition: the statement whose edge was drawn last
  std::string device_;
  std::vector<std::pair<std::uint32_t, std::size_t>>
      answers_;  // statement, index into options_.copies
  std::optional<TraceDiff> diff_;
  std::vector<std::uint32_t> removed_node_;          // by statement of the other trace
  std::vector<std::uint32_t> right_of_;              // by statement of the other trace
  std::vector<std::vector<Writer>> writers_;         // by storage, in order
  std::vector<std::vector<std::uint32_t>> readers_;  // by storage: nodes since the last write
  std::unordered_map<std::string, std::uint32_t> ids_;
  Graph graph_;
};

}  // namespace

Graph build_graph(const Trace& trace, const DefUse& def_use, const AliasSets& alias_sets,
                  std::string title, const GraphOptions& options) {
  return GraphBuilder(trace, def_use, alias_sets, options).build(std::move(title));
}

}  // namespace tg
