// One name for arguments that share a storage: what alias_args does, for itself and inside
// functionalize.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/pass/statement_facts.h"

namespace tg {

// A statement of the trace under rewriting: its current form and its id in the Rewriter.
struct PlacedStatement {
  BoundSymbolRef statement;
  StatementId id = kNoStatement;
};

struct ArgumentAliases {
  std::vector<PlacedStatement> statements;                    // all of them, in order
  std::vector<std::pair<std::string, std::string>> replaced;  // argument -> what is read instead
  std::optional<PassError> error;
  [[nodiscard]] std::string provenance() const;  // Duplicate alias args using {'b': 'a'}
};

ArgumentAliases merge_argument_aliases(Rewriter& rw, NameTable& names, const AliasGroups& groups);

}  // namespace tg
