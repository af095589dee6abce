// Differences of two alias partitions. Internal to core/run.
#pragma once

#include "core/run/compare.h"

namespace tg {

// Members are matched by name; names that only one side has are ignored. Linear in the members: of
// each group that falls apart or merges one pair is reported, an argument's if there is one.
void compare_partitions(const AliasPartition& left, const AliasPartition& right,
                        const CompareOptions& options, std::vector<Difference>& out);

}  // namespace tg
