// StatementList: the statements of a trace while edits are applied to it. Ids are stable: statement
// i of the trace has id i, an inserted statement gets the next free id.
#pragma once

#include <vector>

#include "core/pass/step.h"

namespace tg {

class StatementList {
 public:
  explicit StatementList(const std::vector<BoundSymbolRef>& statements);

  // False, and nothing done, when the edit points to a statement that is not there.
  bool apply(const Edit& edit);

  [[nodiscard]] bool contains(StatementId id) const {
    return id < nodes_.size() && nodes_[id].statement != nullptr;
  }
  [[nodiscard]] BoundSymbolRef statement(StatementId id) const {
    return contains(id) ? nodes_[id].statement : nullptr;
  }
  [[nodiscard]] StatementId first() const { return first_; }
  [[nodiscard]] StatementId last() const { return last_; }
  [[nodiscard]] StatementId next(StatementId id) const { return nodes_[id].next; }
  [[nodiscard]] StatementId previous(StatementId id) const { return nodes_[id].previous; }
  // The id that the next insertion gets.
  [[nodiscard]] StatementId next_id() const { return static_cast<StatementId>(nodes_.size()); }
  [[nodiscard]] std::vector<BoundSymbolRef> statements() const;  // in order

 private:
  struct Node {
    BoundSymbolRef statement;  // null once erased
    StatementId previous = kNoStatement;
    StatementId next = kNoStatement;
  };
  std::vector<Node> nodes_;
  StatementId first_ = kNoStatement;
  StatementId last_ = kNoStatement;
};

}  // namespace tg
