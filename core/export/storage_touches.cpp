#include "core/export/storage_touches.h"

#include <algorithm>

namespace tg {
namespace {

constexpr std::uint32_t kNoStatement = 0xffffffffU;

}  // namespace

std::vector<std::vector<Touch>> storage_touches(const AliasSets& sets, std::size_t statements) {
  std::vector<std::vector<Touch>> result(statements);
  struct Slot {
    std::uint32_t statement = kNoStatement;
    std::size_t index = 0;
  };
  std::vector<Slot> slots(
      sets.storages().size());  // where the storage's touch of the statement at hand is
  for (const Access& access : sets.accesses()) {
    // Missing text may touch everything; an edge to every tensor would say nothing.
    if (access.path.empty() || access.path.front() >= statements || access.everything) continue;
    std::vector<Touch>& touches = result[access.path.front()];
    Slot& slot = slots[access.storage];
    if (slot.statement != access.path.front()) {
      slot = {access.path.front(), touches.size()};
      touches.push_back(Touch{access.storage, {}, {}, false, {}});
    }
    Touch& touch = touches[slot.index];
    switch (access.kind) {
      case AccessKind::Read:
        // Later reads of a composite see what the composite itself wrote.
        if (!touch.read_version) touch.read_version = access.version;
        break;
      case AccessKind::Write:
      case AccessKind::MayWrite:
        touch.may_write =
            access.kind == AccessKind::MayWrite && (!touch.made_version || touch.may_write);
        touch.made_version = access.version;
        if (touch.written_name.empty()) touch.written_name = access.name;
        break;
      case AccessKind::MakeView:
      case AccessKind::Allocate:
        break;
    }
  }
  for (std::vector<Touch>& touches : result) {
    std::sort(touches.begin(), touches.end(),
              [](const Touch& a, const Touch& b) { return a.storage < b.storage; });
  }
  return result;
}

const Touch* touch_of(const std::vector<Touch>& touches, StorageId storage) {
  const auto found = std::lower_bound(touches.begin(), touches.end(), storage,
                                      [](const Touch& t, StorageId s) { return t.storage < s; });
  return found != touches.end() && found->storage == storage ? &*found : nullptr;
}

}  // namespace tg
