// The facts that check_inplace_views establishes and canonicalize works with.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/pass/statement_facts.h"

namespace tg {

// base -> view through which it is written, in order of first entry. A later write through another
// view of the same base replaces the entry.
struct ViewWrites {
  std::vector<std::pair<NameId, NameId>> base_to_view;
  std::optional<PassError> error;
};

// `names_of` are the names of the trace's statements. `rw`, when given, gets a note for every write
// through a view.
ViewWrites find_view_writes(const Trace& trace, const StatementNames& names_of,
                            const NameTable& names, Rewriter* rw);

}  // namespace tg
