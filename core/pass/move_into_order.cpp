#include "core/pass/move_into_order.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/pass/reordered_pairs.h"
#include "core/pass/statement_facts.h"

namespace tg {
namespace {

class Mover {
 public:
  Mover(Rewriter& rw, const std::vector<StatementId>& order, const ArgumentFacts& facts)
      : rw_(rw),
        order_(order),
        statements_(rw.before().bound_symbols),
        names_(rw.before()),
        producers_(statements_, names_),
        target_(order.size()),
        id_of_(order.size()),
        statement_of_(order.size()),
        done_(order.size(), false),
        stays_(order.size(), false) {
    for (StatementId i = 0; i < order.size(); ++i) {
      target_[order[i]] = i;
      id_of_[i] = statement_of_[i] = i;
    }
    pairs_ = reordered_pairs(rw.before(), target_, facts);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      pairs_of_[pairs_[i].first].push_back(i);
      pairs_of_[pairs_[i].second].push_back(i);
    }
    told_.assign(pairs_.size(), false);
  }

  std::vector<StatementId> run() && {
    StatementId cursor = rw_.first();
    for (const StatementId next : order_) {
      while (cursor != kNoStatement && done_[statement_of_[cursor]]) cursor = rw_.next(cursor);
      if (cursor == kNoStatement) break;
      if (done_[next]) continue;
      if (statement_of_[cursor] != next) cursor = place(cursor, next);
      done_[next] = true;
    }
    return std::move(id_of_);
  }

 private:
  // Brings `next` to the cursor. Returns where the search goes on.
  StatementId place(StatementId cursor, StatementId next) {
    if (waits_for_one_that_stays(next)) {
      stays_[next] = true;
      return cursor;
    }
    const StatementId behind = rw_.next(cursor);
    if (behind != kNoStatement && statement_of_[behind] == next) return delay(cursor, behind);
    const StatementId waiting = statement_of_[cursor];
    const std::vector<std::size_t> conflicts = conflicts_of(
        next, [&](const ReorderedPair& pair) { return pair.second == next && !done_[pair.first]; });
    auto step = rw_.step(conflicts.empty() ? "reorder" : "reorder-conflict", id_of_[next], [&] {
      return fmt::format("{} is ready before {}: nothing that it reads by name waits for it{}",
                         at(next), at(waiting), told(conflicts));
    });
    if (!step.applied()) {
      stays_[next] = true;
      return cursor;
    }
    const BoundSymbolRef statement = rw_.statement(id_of_[next]);
    step.erase(id_of_[next]);
    moved(next, step.insert_before(cursor, statement));
    return cursor;
  }

  // Moves the statement at the cursor behind everything that goes before it.
  StatementId delay(StatementId cursor, StatementId behind) {
    const StatementId late = statement_of_[cursor];
    StatementId stop = behind;
    StatementId last = behind;
    std::vector<StatementId> passed;
    while (stop != kNoStatement && target_[statement_of_[stop]] < target_[late]) {
      passed.push_back(statement_of_[stop]);
      last = stop;
      stop = rw_.next(stop);
    }
    const std::vector<std::size_t> conflicts = conflicts_of(late, [&](const ReorderedPair& pair) {
      return pair.first == late &&
             std::find(passed.begin(), passed.end(), pair.second) != passed.end();
    });
    auto step = rw_.step(conflicts.empty() ? "reorder" : "reorder-conflict", cursor, [&] {
      return fmt::format("{} runs behind {}: by name nothing before that waits for it{}", at(late),
                         at(statement_of_[last]), told(conflicts));
    });
    if (!step.applied()) {
      stays_[statement_of_[behind]] = true;
      return cursor;
    }
    const BoundSymbolRef statement = rw_.statement(cursor);
    step.erase(cursor);
    moved(late, step.insert_after(last, statement));
    return behind;
  }

  void moved(StatementId statement, StatementId id) {
    id_of_[statement] = id;
    statement_of_.resize(std::max<std::size_t>(statement_of_.size(), id + 1), kNoStatement);
    statement_of_[id] = statement;
  }

  [[nodiscard]] bool waits_for_one_that_stays(StatementId statement) const {
    if (std::find(stays_.begin(), stays_.end(), true) == stays_.end()) return false;
    const std::vector<NameId> inputs = proxy_args(*statements_[statement], names_);
    return std::any_of(inputs.begin(), inputs.end(), [this](NameId name) {
      const StatementId producer = producers_.of(name);
      return producer != kNoStatement && stays_[producer];
    });
  }

  template <typename F>
  std::vector<std::size_t> conflicts_of(StatementId statement, F&& happens) {
    std::vector<std::size_t> found;
    const auto list = pairs_of_.find(statement);
    if (list == pairs_of_.end()) return found;
    for (const std::size_t index : list->second) {
      if (told_[index] || !happens(pairs_[index])) continue;
      told_[index] = true;
      found.push_back(index);
    }
    return found;
  }

  [[nodiscard]] std::string at(StatementId statement) const {
    return callee_at(*statements_[statement], statement);
  }

  [[nodiscard]] std::string told(const std::vector<std::size_t>& conflicts) const {
    std::string text;
    for (const std::size_t index : conflicts) {
      text += "; but " + reordered_text(rw_.before(), pairs_[index]);
    }
    return text;
  }

  Rewriter& rw_;
  const std::vector<StatementId>& order_;
  const std::vector<BoundSymbolRef>& statements_;
  NameTable names_;
  ProducerMap producers_;
  std::vector<StatementId> target_;        // by statement: its index in `order_`
  std::vector<StatementId> id_of_;         // by statement: its current id
  std::vector<StatementId> statement_of_;  // by id
  std::vector<bool> done_;                 // by statement: it stands where it belongs, or stays
  std::vector<bool> stays_;                // by statement: its move was refused
  std::vector<ReorderedPair> pairs_;
  std::unordered_map<StatementId, std::vector<std::size_t>> pairs_of_;
  std::vector<bool> told_;
};

}  // namespace

std::vector<StatementId> move_into_order(Rewriter& rw, const std::vector<StatementId>& order,
                                         const ArgumentFacts& facts) {
  return Mover(rw, order, facts).run();
}

}  // namespace tg
