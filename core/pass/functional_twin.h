// The functional form of an in-place statement.
#pragma once

#include <memory>

#include "core/pass/name_table.h"

namespace tg {

// `t2 = ltorch.exp_(t0)` with sub-statements `t1 = ltorch.exp(t0)`, `t2 = prims.copy_(t1, t0)`
// becomes `t1 = ltorch.exp(t0)` with the sub-statements of the first. Requires
// is_functionalizable(statement) and that the statement already names the new value as its output.
// The result has no position and no header.
std::shared_ptr<BoundSymbol> functional_twin(const BoundSymbol& statement, const NameTable& names);

}  // namespace tg
