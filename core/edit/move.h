// Moves: where else could a statement stand without changing what the program computes?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/analysis/alias_analysis.h"
#include "core/analysis/def_use.h"
#include "core/ir/trace.h"

namespace tg {

// What stops a statement on its way, and why.
struct MoveObstacle {
  std::uint32_t statement = 0;
  std::string reason;  // "it reads p, which line 14 writes": full sentence with lines
};

// The statement may stand anywhere after statement `earliest - 1` and before statement `latest + 1`
// (indices of the trace as it is). By storage: a reader of the old value must stay before the
// writer, through whatever name it reads. What is not known for certain stops the move.
struct MoveRange {
  std::uint32_t earliest = 0;
  std::uint32_t latest = 0;
  std::optional<MoveObstacle> above, below;  // empty: the program's end is the limit
};

MoveRange legal_moves(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
                      std::uint32_t statement);

// Why the statement must not pass `other`; empty when the two can change places.
std::optional<std::string> conflict(const Trace& trace, const DefUse& def_use,
                                    const AliasSets& aliases, std::uint32_t statement,
                                    std::uint32_t other);

}  // namespace tg
