// Problem: the same expression is computed twice, in one region or outside the regions.
//
//   [t1, t2] = nvFusion0(x)                    [t1] = nvFusion0(x)
//     # t1 = prims.add(x, 1.0)          =>       # t1 = prims.add(x, 1.0)
//     # t2 = prims.add(x, 1.0)                 return (t1, t1)
//   return (t1, t2)
// Rules
//   same-expression   a statement outside the regions that computes what an earlier one has
//   computed in-region         parts of a region that compute what an earlier part has computed
//   plain-return      the return loses its header line (January 2026, where it may have one)
// Refuses: a trace that does not end with its return (AssertionError, without a text). Looks at
// names only, on the CPU and on the GPU alike: writes in between, the signs of zeros and most
// randomness are not seen.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/expression_key.h"
#include "core/pass/rename_readers.h"

namespace tg {
namespace {

using Pairs = std::vector<std::pair<NameId, NameId>>;

void append_pairs(const BoundSymbol& statement, const BoundSymbol& prior, const NameTable& names,
                  Pairs& pairs) {
  const std::vector<NameId> from = proxy_outs(statement, names);
  const std::vector<NameId> to = proxy_outs(prior, names);
  for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) {
    if (from[i] != to[i]) pairs.emplace_back(from[i], to[i]);
  }
}

Value without_repetitions(const Value& list) {
  Value unique = list;
  unique.items.clear();
  for (const Value& item : list.items) {
    if (std::find(unique.items.begin(), unique.items.end(), item) == unique.items.end()) {
      unique.items.push_back(item);
    }
  }
  return unique;
}

class FusedSubexpressions {
 public:
  FusedSubexpressions(const Trace& before, PassContext& context)
      : rw_(before, context), names_(before), readers_(rw_, names_) {}

  PassResult run() && {
    const std::vector<BoundSymbolRef>& statements = rw_.before().bound_symbols;
    std::unordered_map<std::string, StatementId> seen;
    for (StatementId id = 0; id < statements.size(); ++id) {
      const BoundSymbolRef statement = rw_.statement(id);
      if (statement->kind == StatementKind::Call && statement->op == OpCode::Fusion) {
        visit_region(id, statement);
        continue;
      }
      if (is_never_merged(*statement)) continue;
      const auto [prior, is_new] = seen.try_emplace(expression_key(*statement), id);
      if (!is_new) drop(id, *statement, prior->second);
    }
    if (statements.empty() || !is_return(*statements.back())) {
      return std::move(rw_).fail({"AssertionError", "", kNoStatement});
    }
    make_return_anew();
    return std::move(rw_).finish("Nvfuser Common Subexpression Elimination (took 0 milliseconds)");
  }

 private:
  // Thunder builds the return again from the values that are left.
  void make_return_anew() {
    const StatementId id = rw_.last();
    const BoundSymbolRef last = rw_.statement(id);
    if (last->header.empty()) return;
    auto plain = std::make_shared<BoundSymbol>(*last);
    plain->header.clear();
    plain->verbatim.reset();
    rw_.step("plain-return", id, "the return is made anew and loses its header line")
        .replace(id, BoundSymbolRef(std::move(plain)));
  }

  void drop(StatementId id, const BoundSymbol& statement, StatementId prior) {
    const BoundSymbol& first = *rw_.before().bound_symbols[prior];
    auto step = rw_.step("same-expression", id, [&] {
      return fmt::format("{} computes what {} has computed", callee_at(statement, id),
                         callee_at(first, prior));
    });
    if (!step.applied()) return;
    step.erase(id);
    Pairs pairs;
    append_pairs(*rw_.before().bound_symbols[id], first, names_, pairs);
    for (const auto& [from, to] : pairs) readers_.rename(step, from, to);
  }

  void visit_region(StatementId id, const BoundSymbolRef& region) {
    std::unordered_map<std::string, BoundSymbolRef> seen;
    SwapMap redundant;
    const auto end = [&redundant](NameId name) { return redundant.end(name, nullptr); };
    auto result = std::make_shared<BoundSymbol>(*region);
    result->verbatim.reset();
    result->subsymbols.clear();
    Pairs pairs;
    for (const BoundSymbolRef& part : region->subsymbols) {
      const BoundSymbolRef current = swap_names(part, names_, end);
      if (!is_never_merged(*part)) {
        const auto [prior, is_new] = seen.try_emplace(expression_key(*current), part);
        if (!is_new) {
          Pairs here;
          append_pairs(*part, *prior->second, names_, here);
          for (const auto& [from, to] : here) redundant.set(from, to);
          pairs.insert(pairs.end(), here.begin(), here.end());
          continue;
        }
      }
      result->subsymbols.push_back(current);
    }
    if (result->subsymbols.size() == region->subsymbols.size()) return;
    const BoundSymbolRef renamed =
        swap_names(result, names_, end, {.inputs = true, .output = true, .subsymbols = false});
    auto whole = std::make_shared<BoundSymbol>(*renamed);
    if (whole->output.kind == ValueKind::List) whole->output = without_repetitions(whole->output);
    auto step = rw_.step("in-region", id, [&] {
      return fmt::format("parts of {} compute what an earlier part has computed",
                         callee_at(*region, id));
    });
    if (!step.applied()) return;
    step.replace(id, BoundSymbolRef(whole));
    for (const auto& [from, to] : pairs) readers_.rename(step, from, to);
  }

  Rewriter rw_;
  NameTable names_;
  ReaderRenamer readers_;
};

}  // namespace

PassResult fused_subexpressions(const Trace& before, PassContext& context) {
  return FusedSubexpressions(before, context).run();
}

}  // namespace tg
