// The canonical form of a trace: later readers of a written tensor read the result of the write.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/pass/statement_facts.h"

namespace tg {

struct CanonicalStatement {
  BoundSymbolRef statement;
  std::uint32_t origin = 0;  // index of the statement it comes from, or that it was inserted before
  bool rebuild = false;      // a reshape that rebuilds a base from its view's new value
};

struct CanonicalForm {
  std::vector<CanonicalStatement> statements;
  StatementNames names;            // of these statements
  std::optional<PassError> error;  // its statement is an index into the input
};

// `base_to_view` is what check_inplace_views found.
// `names_of` are the names of the statements.
CanonicalForm canonical_form(Statements statements, const StatementNames& names_of,
                             NameTable& names,
                             const std::vector<std::pair<NameId, NameId>>& base_to_view);

// The form of a functionalizable statement's copy back, as a statement of its own: it stands where
// its parent stands in the user's program.
BoundSymbolRef copy_back_of(const BoundSymbol& statement);

}  // namespace tg
