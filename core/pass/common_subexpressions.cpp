// Problem: the same expression is computed twice.
//
//   t0 = ltorch.add(x, 1.0, alpha=1)           t0 = ltorch.add(x, 1.0, alpha=1)
//   t1 = ltorch.add(x, 1.0, alpha=1)     =>    return (t0, t0)
//   return (t0, t1)
// Rules
//   same-expression   a statement that computes what an earlier one has computed goes, and its
//                     readers read the earlier result
//   rename-outputs    a statement that makes a redundant name again makes the earlier one
// Refuses nothing, and looks at names only, as Thunder does: two reads of x are "equal" though x
// was written in between, repeated copies are dropped, 0.0 and -0.0 are one number.

#include <optional>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/expression_key.h"
#include "core/pass/rename_readers.h"

namespace tg {
namespace {

// Outputs of two statements position by position, where they are names that differ.
std::vector<std::pair<NameId, NameId>> output_pairs(const BoundSymbol& statement,
                                                    const BoundSymbol& prior,
                                                    const NameTable& names) {
  std::vector<const Value*> sources;
  std::vector<const Value*> targets;
  for_each_leaf(statement.output, [&sources](const Value& leaf) { sources.push_back(&leaf); });
  for_each_leaf(prior.output, [&targets](const Value& leaf) { targets.push_back(&leaf); });
  std::vector<std::pair<NameId, NameId>> pairs;
  for (std::size_t i = 0; i < sources.size() && i < targets.size(); ++i) {
    const NameId from = sources[i]->is_name() ? names.find(sources[i]->text) : kNoName;
    const NameId to = targets[i]->is_name() ? names.find(targets[i]->text) : kNoName;
    if (from != kNoName && to != kNoName && from != to) pairs.emplace_back(from, to);
  }
  return pairs;
}

// Statements by what they compute. Only hashes are kept; the keys of equal ones are made again.
class Expressions {
 public:
  explicit Expressions(std::size_t count) { ids_.reserve(count); }

  // The earlier statement that computes the same, or kNoStatement: then this one is remembered.
  template <typename F>
  StatementId find_or_add(const BoundSymbol& statement, StatementId id, F&& statement_of) {
    key_.clear();
    append_expression_key(key_, statement);
    for (std::size_t hash = std::hash<std::string_view>{}(key_);; ++hash) {
      const auto [found, is_new] = ids_.try_emplace(hash, id);
      if (is_new) return kNoStatement;
      if (expression_key(*statement_of(found->second)) == key_) return found->second;
    }
  }

 private:
  std::unordered_map<std::size_t, StatementId> ids_;
  std::string key_;
};

// What is needed once there is something to rename.
struct Renaming {
  explicit Renaming(Rewriter& rw) : names(rw.before()), readers(rw, names) {}
  NameTable names;
  ReaderRenamer readers;
  SwapMap redundant;
};

}  // namespace

PassResult common_subexpressions(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  Expressions expressions(before.bound_symbols.size());
  std::optional<Renaming> renaming;
  for (StatementId id = 0; id < before.bound_symbols.size(); ++id) {
    const BoundSymbolRef statement = rw.statement(id);
    if (is_never_merged(*statement)) continue;
    const StatementId prior = expressions.find_or_add(
        *statement, id, [&rw](StatementId other) { return rw.statement(other); });
    if (prior == kNoStatement) continue;
    const BoundSymbol& first = *before.bound_symbols[prior];
    auto step = rw.step("same-expression", id, [&] {
      return fmt::format("{} computes what {} has computed", callee_at(*statement, id),
                         callee_at(first, prior));
    });
    if (!step.applied()) continue;
    step.erase(id);
    if (!renaming) renaming.emplace(rw);
    for (const auto& [from, to] : output_pairs(*before.bound_symbols[id], first, renaming->names)) {
      renaming->redundant.set(from, to);
      renaming->readers.rename(step, from, to);
    }
  }
  if (renaming && !renaming->redundant.empty()) {
    const auto end = [&renaming](NameId name) { return renaming->redundant.end(name, nullptr); };
    for (StatementId id = rw.first(); id != kNoStatement; id = rw.next(id)) {
      const BoundSymbolRef statement = rw.statement(id);
      const BoundSymbolRef renamed = swap_names(statement, renaming->names, end);
      if (renamed == statement) continue;
      rw.step("rename-outputs", id, [&] {
          return fmt::format("{} uses a name that an earlier statement's result has replaced",
                             callee_at(*statement, id));
        }).replace(id, renamed);
    }
  }
  return std::move(rw).finish("Common Subexpression Elimination (took 0 milliseconds)");
}

}  // namespace tg
