// Copy cost: how many bytes each copy moves.
#pragma once

#include <cstdint>
#include <optional>

#include "core/analysis/alias_analysis.h"

namespace tg {

// Bytes that the copy writes: elements of the destination times its element size (a broadcast
// source is still written everywhere). Empty when the destination's dtype or shape is unknown.
std::optional<std::uint64_t> bytes_moved(const CopySite& copy);

struct CopyTotals {
  std::size_t copies = 0;
  std::size_t unknown = 0;  // copies whose bytes cannot be told; not in `bytes`
  std::uint64_t bytes = 0;
};
// All copies that the trace executes, at any depth.
CopyTotals copy_totals(const AliasSets& aliases);

}  // namespace tg
