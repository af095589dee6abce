#include "core/pass/statement_list.h"

namespace tg {

StatementList::StatementList(const std::vector<BoundSymbolRef>& statements) {
  nodes_.reserve(statements.size() + statements.size() / 2);
  for (const BoundSymbolRef& statement : statements) {
    const StatementId id = next_id();
    nodes_.push_back({statement, last_, kNoStatement});
    if (last_ == kNoStatement) {
      first_ = id;
    } else {
      nodes_[last_].next = id;
    }
    last_ = id;
  }
}

bool StatementList::apply(const Edit& edit) {
  if (!contains(edit.at)) return false;
  switch (edit.kind) {
    case Edit::Kind::Erase: {
      Node& node = nodes_[edit.at];
      node.statement = nullptr;
      (node.previous == kNoStatement ? first_ : nodes_[node.previous].next) = node.next;
      (node.next == kNoStatement ? last_ : nodes_[node.next].previous) = node.previous;
      return true;
    }
    case Edit::Kind::Replace:
      if (!edit.statement) return false;
      nodes_[edit.at].statement = edit.statement;
      return true;
    case Edit::Kind::InsertBefore:
    case Edit::Kind::InsertAfter: {
      if (!edit.statement || edit.inserted != next_id()) return false;
      const bool before = edit.kind == Edit::Kind::InsertBefore;
      const StatementId previous = before ? nodes_[edit.at].previous : edit.at;
      const StatementId next = before ? edit.at : nodes_[edit.at].next;
      nodes_.push_back({edit.statement, previous, next});
      (previous == kNoStatement ? first_ : nodes_[previous].next) = edit.inserted;
      (next == kNoStatement ? last_ : nodes_[next].previous) = edit.inserted;
      return true;
    }
  }
  return false;
}

std::vector<BoundSymbolRef> StatementList::statements() const {
  std::vector<BoundSymbolRef> all;
  all.reserve(nodes_.size());
  for (StatementId id = first_; id != kNoStatement; id = nodes_[id].next) {
    all.push_back(nodes_[id].statement);
  }
  return all;
}

}  // namespace tg
