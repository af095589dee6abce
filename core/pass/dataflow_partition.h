// Groups of statements that one fusion may hold, and the order in which they run: Thunder's
// partition by data flow. Edges exist between names only, so reads and writes of one storage under
// two names may change places.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/pass/statement_facts.h"

namespace tg {

// Two groups became one, or could not.
struct PartitionMerge {
  StatementId first = kNoStatement;  // a statement of each group: the one that stands first
  StatementId second = kNoStatement;
  bool horizontal = false;  // neither reads the other; both were ready at the same time
  bool refused = false;     // a path between the two leads through other statements
};

struct Partition {
  std::vector<std::vector<StatementId>> groups;  // in order of execution; each in order of the text
  std::vector<PartitionMerge> merges;
  std::optional<PassError> error;
};

// `fusable` by statement. Linear when nothing merges.
Partition partition_by_dataflow(Statements statements, const NameTable& names,
                                const std::vector<bool>& fusable);

// Neighbours in the text are one group: Thunder of January 2026. Nothing moves.
Partition partition_by_text(const std::vector<bool>& fusable);

// The order of execution: all groups one after another.
std::vector<StatementId> execution_order(const Partition& partition);

}  // namespace tg
