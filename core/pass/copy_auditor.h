// CopyAuditor: one answer for every copy, and the copies that can go. Internal to core/pass.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/pass/audit_copies.h"

namespace tg {

// A copy at depth 0 that can go.
struct CopyRemoval {
  std::size_t copy = 0;
  std::uint32_t statement = 0;
  std::string_view result;  // empty: not read afterwards
  std::string_view destination;
  std::vector<std::uint32_t> readers;  // statements that must read the destination instead
  std::vector<std::uint32_t> dels;     // `del` statements that drop the result
  // `del` statements that drop the destination before such a reader.
  std::vector<std::uint32_t> too_early;
};

// Asked for every removal, from the last copy to the first: each prefix of this order is sound,
// since a copy may only be dead because a later one is gone. False: the copy stays.
using RemoveCopy = std::function<bool(const CopyRemoval&, const CopyFinding&)>;

// The findings in execution order. `remove` may be empty: then every removable copy counts as gone.
std::vector<CopyFinding> audit_with(const Trace& trace, const ArgumentFacts& facts,
                                    const Trace* earlier, RemoveCopy remove);

}  // namespace tg
