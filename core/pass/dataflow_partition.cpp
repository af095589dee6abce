#include "core/pass/dataflow_partition.h"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include <fmt/format.h>

namespace tg {
namespace {

using NodeId = std::uint32_t;

struct Node {
  std::vector<StatementId> statements;  // in order of the text
  StatementId start = 0;
  StatementId stop = 0;
  std::vector<NodeId> parents;  // no repetitions, in order of the arguments
  std::vector<NodeId> children;
};

class Partitioner {
 public:
  Partitioner(Statements statements, const NameTable& names, const std::vector<bool>& fusable)
      : statements_(statements), fusable_(fusable) {
    connect(names);
  }

  Partition run() && {
    if (partition_.error) return std::move(partition_);
    if (std::find(fusable_.begin(), fusable_.end(), true) != fusable_.end()) {
      while (merge_down()) {
      }
    }
    merge_sideways();
    return std::move(partition_);
  }

 private:
  void connect(const NameTable& names) {
    const ProducerMap producers(statements_, names);
    nodes_.resize(statements_.size());
    std::vector<NodeId> marked(statements_.size(), kNoStatement);  // by statement: its last reader
    bool has_return = false;
    for (StatementId id = 0; id < statements_.size(); ++id) {
      const BoundSymbol& statement = *statements_[id];
      if (is_return(statement)) {
        if (has_return) {
          partition_.error = PassError{
              "RuntimeError",
              "Found multiple RETURN nodes while converting a list of bound symbols to a dag", id};
          return;
        }
        has_return = true;
      }
      Node& node = nodes_[id];
      node.statements = {id};
      node.start = node.stop = id;
      for (const NameId name : proxy_args(statement, names)) {
        const StatementId parent = producers.of(name);
        if (parent == kNoStatement) {
          partition_.error =
              PassError{"KeyError", fmt::format("Variable({})", names.text(name)), id};
          return;
        }
        if (marked[parent] == id) continue;
        marked[parent] = id;
        node.parents.push_back(parent);
      }
      if (node.parents.empty()) roots_.push_back(id);
    }
    connect_children(names);
  }

  // A statement's children are the readers of what it makes, output by output.
  void connect_children(const NameTable& names) {
    const ConsumerMap consumers(statements_, names);
    std::vector<NodeId> marked(statements_.size(), kNoStatement);  // by reader: its last parent
    for (StatementId id = 0; id < statements_.size(); ++id) {
      const std::vector<NameId> outs = proxy_outs(*statements_[id], names);
      if (outs.empty()) continue;
      const std::vector<NameId> inputs = proxy_args(*statements_[id], names);
      for (const NameId out : outs) {
        if (std::find(inputs.begin(), inputs.end(), out) != inputs.end()) continue;
        for (const StatementId reader : consumers.of(out)) {
          if (marked[reader] == id) continue;
          marked[reader] = id;
          nodes_[id].children.push_back(reader);
        }
      }
    }
  }

  [[nodiscard]] bool is_fusable(NodeId node) const {
    const std::vector<StatementId>& group = nodes_[node].statements;
    return group.size() > 1 || fusable_[group.front()];
  }

  // Another way from one to the other: one group would have to run before and after it.
  [[nodiscard]] bool closes_cycle(NodeId a, NodeId b) const {
    const std::vector<NodeId>& parents = nodes_[b].parents;
    if (parents.size() == 1 && parents.front() == a) return false;
    const StatementId last = std::max(nodes_[a].stop, nodes_[b].stop);
    std::deque<NodeId> queue;
    std::unordered_set<NodeId> seen;
    const auto reach = [&](NodeId node) {
      if (seen.insert(node).second) queue.push_back(node);
    };
    for (const NodeId child : nodes_[a].children) {
      if (child != b) reach(child);
    }
    for (const NodeId child : nodes_[b].children) {
      if (child != a) reach(child);
    }
    while (!queue.empty()) {
      const NodeId node = queue.front();
      queue.pop_front();
      if (node == a || node == b) return true;
      if (nodes_[node].start > last) continue;
      for (const NodeId child : nodes_[node].children) reach(child);
    }
    return false;
  }

  // The new node, or kNoStatement.
  NodeId merge(NodeId a, NodeId b) {
    PartitionMerge merge = {nodes_[a].start, nodes_[b].start, false, closes_cycle(a, b)};
    partition_.merges.push_back(merge);
    if (merge.refused) return kNoStatement;
    const auto id = static_cast<NodeId>(nodes_.size());
    Node node;
    std::merge(nodes_[a].statements.begin(), nodes_[a].statements.end(),
               nodes_[b].statements.begin(), nodes_[b].statements.end(),
               std::back_inserter(node.statements));
    node.start = std::min(nodes_[a].start, nodes_[b].start);
    node.stop = std::max(nodes_[a].stop, nodes_[b].stop);
    const auto both = [&](const std::vector<NodeId>& of_a, const std::vector<NodeId>& of_b) {
      std::vector<NodeId> all;
      std::unordered_set<NodeId> taken = {a, b};
      for (const std::vector<NodeId>* list : {&of_a, &of_b}) {
        for (const NodeId other : *list) {
          if (taken.insert(other).second) all.push_back(other);
        }
      }
      return all;
    };
    node.parents = both(nodes_[a].parents, nodes_[b].parents);
    node.children = both(nodes_[a].children, nodes_[b].children);
    const auto relink = [&](std::vector<NodeId>& list) {
      std::erase_if(list, [&](NodeId other) { return other == a || other == b; });
      list.push_back(id);
    };
    for (const NodeId parent : node.parents) relink(nodes_[parent].children);
    for (const NodeId child : node.children) relink(nodes_[child].parents);
    const auto root = std::find(roots_.begin(), roots_.end(), a);
    if (root != roots_.end()) {
      if (node.parents.empty()) {
        *root = id;
      } else {
        roots_.erase(root);
      }
    }
    nodes_.push_back(std::move(node));
    return id;
  }

  // One sweep from the roots: every node swallows the children that it may.
  bool merge_down() {
    bool any = false;
    std::vector<bool> visited(nodes_.size(), false);
    const auto visit = [&visited](NodeId node) {
      if (node >= visited.size()) visited.resize(node + 1, false);
      visited[node] = true;
    };
    std::deque<NodeId> queue(roots_.begin(), roots_.end());
    while (!queue.empty()) {
      NodeId current = queue.front();
      queue.pop_front();
      if (current < visited.size() && visited[current]) continue;
      bool merged = is_fusable(current);
      while (merged) {
        merged = false;
        const std::vector<NodeId> snapshot = nodes_[current].children;
        for (const NodeId child : snapshot) {
          if (!is_fusable(child)) continue;
          const NodeId both = merge(current, child);
          if (both == kNoStatement) continue;
          visit(current);
          visit(child);
          current = both;
          merged = any = true;
        }
      }
      visit(current);
      const std::vector<NodeId>& children = nodes_[current].children;
      queue.insert(queue.end(), children.begin(), children.end());
    }
    return any;
  }

  // The order of execution: a node is ready when its parents have run, and takes along what is
  // ready at the same time and may be fused with it.
  void merge_sideways() {
    std::vector<std::size_t> waits(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) waits[i] = nodes_[i].parents.size();
    std::deque<NodeId> ready(roots_.begin(), roots_.end());
    const auto schedule = [&](NodeId node) {
      for (const NodeId child : nodes_[node].children) {
        if (--waits[child] == 0) ready.push_back(child);
      }
    };
    while (!ready.empty()) {
      const NodeId current = ready.front();
      ready.pop_front();
      std::vector<StatementId> group = nodes_[current].statements;
      schedule(current);
      if (is_fusable(current)) {
        for (std::size_t k = 0; k < ready.size();) {
          if (!is_fusable(ready[k])) {
            ++k;
            continue;
          }
          const NodeId other = ready[k];
          ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(k));
          partition_.merges.push_back({nodes_[current].start, nodes_[other].start, true, false});
          group.insert(group.end(), nodes_[other].statements.begin(),
                       nodes_[other].statements.end());
          schedule(other);
        }
        std::sort(group.begin(), group.end());
      }
      partition_.groups.push_back(std::move(group));
    }
  }

  Statements statements_;
  const std::vector<bool>& fusable_;
  std::vector<Node> nodes_;
  std::vector<NodeId> roots_;
  Partition partition_;
};

}  // namespace

Partition partition_by_dataflow(Statements statements, const NameTable& names,
                                const std::vector<bool>& fusable) {
  return Partitioner(statements, names, fusable).run();
}

Partition partition_by_text(const std::vector<bool>& fusable) {
  Partition partition;
  for (StatementId id = 0; id < fusable.size(); ++id) {
    const bool joins = id > 0 && fusable[id] && fusable[id - 1];
    if (!joins) partition.groups.emplace_back();
    partition.groups.back().push_back(id);
  }
  return partition;
}

std::vector<StatementId> execution_order(const Partition& partition) {
  std::vector<StatementId> order;
  for (const std::vector<StatementId>& group : partition.groups) {
    order.insert(order.end(), group.begin(), group.end());
  }
  return order;
}

}  // namespace tg
