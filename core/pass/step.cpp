#include "core/pass/step.h"

#include <algorithm>

#include "core/pass/statement_list.h"

namespace tg {

bool operator==(const Edit& a, const Edit& b) {
  if (a.kind != b.kind || a.at != b.at || a.inserted != b.inserted) return false;
  if (a.statement == b.statement) return true;
  return a.statement && b.statement && *a.statement == *b.statement &&
         a.statement->at == b.statement->at;
}

Trace replay(const Trace& before, std::span<const Step> steps) {
  StatementList list(before.bound_symbols);
  for (const Step& step : steps) {
    for (const Edit& edit : step.edits) list.apply(edit);
  }
  Trace after = before;
  after.bound_symbols = list.statements();
  return after;
}

bool same_body(const Trace& a, const Trace& b) {
  return a.name == b.name && a.parameters == b.parameters &&
         std::equal(a.bound_symbols.begin(), a.bound_symbols.end(), b.bound_symbols.begin(),
                    b.bound_symbols.end(), [](const BoundSymbolRef& x, const BoundSymbolRef& y) {
                      return x == y || *x == *y;
                    });
}

}  // namespace tg
