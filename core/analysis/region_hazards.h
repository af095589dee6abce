// Hazards inside one fused kernel. Internal to core/analysis.
#pragma once

#include <vector>

#include "core/analysis/findings.h"

namespace tg {

// write-after-read and read-after-write-in-region for every region that runs as one kernel. Such a
// kernel takes its inputs as they are at its start and gives no order between elements
// (passes.md 3.3).
void find_region_hazards(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
                         std::vector<Finding>& findings);

// The statement that a path leads to.
const BoundSymbol& statement_at(const Trace& trace, const std::vector<std::uint32_t>& path);
// The position of an access: its own, else that of its statement.
SourceRange position_of(const Trace& trace, const Access& access);

}  // namespace tg
