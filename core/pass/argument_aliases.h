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
  // Thunder of 2026: arguments that share a storage but differ in size, by the first of them.
  std::vector<std::vector<NameId>> view_groups;
  std::optional<PassError> error;
  [[nodiscard]] std::string provenance() const;  // Duplicate alias args using {'b': 'a'}
};

// In the era of 2026 arguments of different size are no error but a view group, and headers stand
// on every statement that was renamed, the return included.
ArgumentAliases merge_argument_aliases(Rewriter& rw, NameTable& names, const AliasGroups& groups,
                                       Era era = Era::Thunder2024);

}  // namespace tg
