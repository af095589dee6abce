// What each statement does to each storage, as far as a graph shows it: one entry for all the
// accesses of a statement and its sub-statements.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/analysis/alias_analysis.h"

namespace tg {

// What one statement does to one storage.
struct Touch {
  StorageId storage = 0;
  std::optional<std::uint32_t> read_version;
  std::optional<std::uint32_t> made_version;
  bool may_write = false;  // it only may write
  std::string_view written_name;
};

// Per depth-0 statement, ordered by storage. `sets` must outlive the result.
std::vector<std::vector<Touch>> storage_touches(const AliasSets& sets, std::size_t statements);

// Null when the statement does not touch the storage.
const Touch* touch_of(const std::vector<Touch>& touches, StorageId storage);

}  // namespace tg
