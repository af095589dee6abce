// Liveness of bytes: walking backward from the end of the run, which bytes of which storage will
// still be read, by whom, and which writes are overwritten before that.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/analysis/alias_analysis.h"

namespace tg {

// Who sees bytes when the run is over.
enum class AtExit : std::uint8_t {
  Nobody,
  Caller,    // the storage is an argument's
  Returned,  // a returned tensor lies in the storage
  Escaped,   // stored into an object: obj.buffer = t3
  Open,      // the text has no return: what happens after it is unknown
};

// What becomes of the bytes that one copy writes. Indices are into AliasSets::accesses().
struct CopyFate {
  bool executed = false;                 // false: it stands after `return`
  bool moves_bytes = true;               // false: the destination has no elements
  bool exact = true;                     // the bytes written are known, and each is written once
  AtExit at_exit = AtExit::Nobody;       // strongest of its bytes
  std::uint32_t reader = kNoAccess;      // nearest later read of some of its bytes, for certain
  std::uint32_t may_reader = kNoAccess;  // nearest later read that may touch its bytes
  std::uint32_t writer = kNoAccess;      // nearest later write that overwrites some of its bytes
  // The nearest later writes that overwrite its bytes between them: the first kWritersNamed, and
  // how many there are.
  std::vector<std::uint32_t> writers;
  std::size_t writer_count = 0;
  static constexpr std::size_t kWritersNamed = 3;
  [[nodiscard]] bool is_needed() const { return at_exit != AtExit::Nobody || reader != kNoAccess; }
  [[nodiscard]] bool may_be_needed() const { return may_reader != kNoAccess || !exact; }
};

// Fates in the order of aliases.copies(). Copies are visited from the last to the first; when
// `removes` says so (index into copies(), its fate), the copy counts as gone: its reads keep
// nothing alive.
std::vector<CopyFate> copy_fates(const AliasSets& aliases,
                                 const std::function<bool(std::size_t, const CopyFate&)>& removes);

}  // namespace tg
