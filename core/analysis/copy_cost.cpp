#include "core/analysis/copy_cost.h"

namespace tg {

std::optional<std::uint64_t> bytes_moved(const CopySite& copy) {
  const TypeRef& type = copy.destination_at.type;
  if (type && type->is_concrete_tensor()) return type_bytes(*type);
  const Placement& at = copy.destination_at;
  if (!at.geometry || at.element_bytes == 0) return std::nullopt;
  return static_cast<std::uint64_t>(element_count(*at.geometry)) * at.element_bytes;
}

CopyTotals copy_totals(const AliasSets& aliases) {
  CopyTotals totals;
  for (const CopySite& copy : aliases.copies()) {
    if (copy.write == kNoAccess) continue;
    ++totals.copies;
    if (const std::optional<std::uint64_t> bytes = bytes_moved(copy)) {
      totals.bytes += *bytes;
    } else {
      ++totals.unknown;
    }
  }
  return totals;
}

}  // namespace tg
