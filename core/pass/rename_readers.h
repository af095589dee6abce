// Readers of a name read another one from now on, inside the step that takes the name away.
#pragma once

#include "core/pass/statement_facts.h"
#include "core/pass/swap.h"

namespace tg {

class ReaderRenamer {
 public:
  // Requires that both outlive it.
  ReaderRenamer(Rewriter& rw, const NameTable& names)
      : rw_(rw), names_(names), consumers_(rw.before().bound_symbols, names) {}

  // Statements that read `from` read `to`; `del` statements and what they consist of included.
  void rename(Rewriter::StepHandle& step, NameId from, NameId to) {
    StatementId last = kNoStatement;
    for (const StatementId reader : consumers_.of(from)) {
      if (reader == last) continue;
      last = reader;
      const BoundSymbolRef statement = rw_.statement(reader);
      if (!statement) continue;
      BoundSymbolRef renamed =
          swap_names(statement, names_, [&](NameId name) { return name == from ? to : kNoName; });
      if (renamed != statement) step.replace(reader, std::move(renamed));
    }
  }

 private:
  Rewriter& rw_;
  const NameTable& names_;
  ConsumerMap consumers_;
};

}  // namespace tg
