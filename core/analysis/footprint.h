// Footprint: the bytes of its storage that a tensor addresses, and a map from bytes to what is
// known of them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "core/ir/geometry.h"

namespace tg {

constexpr std::uint64_t kEndOfStorage = std::numeric_limits<std::uint64_t>::max();

struct ByteInterval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const ByteInterval&, const ByteInterval&) = default;
};

struct Footprint {
  std::vector<ByteInterval> intervals;  // sorted, disjoint
  bool exact = true;                    // false: the intervals cover more than the tensor addresses
  bool overlaps_itself = false;         // one byte is addressed by two indices
  [[nodiscard]] bool empty() const { return intervals.empty(); }
  [[nodiscard]] std::uint64_t bytes() const;
};

// All of a storage, exactly.
Footprint whole_footprint();
// Somewhere in a storage.
Footprint unknown_footprint();
// Exact up to `max_pieces` separate intervals, beyond that the enclosing span, inexact.
Footprint footprint(const Geometry& geometry, std::uint64_t element_bytes,
                    std::size_t max_pieces = 4096);

// Every byte of a storage, [0, kEndOfStorage), carries a value of T; equal neighbours are one
// piece.
template <typename T>
class ByteMap {
 public:
  explicit ByteMap(T all) { pieces_.emplace(0, std::move(all)); }

  // Calls f(T&) for the pieces that make up the interval, cutting pieces at its ends.
  template <typename F>
  void change(const ByteInterval& interval, F&& f) {
    if (interval.begin >= interval.end) return;
    const auto first = cut(interval.begin);
    const auto last = interval.end == kEndOfStorage ? pieces_.end() : cut(interval.end);
    for (auto piece = first; piece != last; ++piece) f(piece->second);
    merge(first, last);
  }
  // Calls f(const T&) for the pieces that touch the interval.
  template <typename F>
  void look(const ByteInterval& interval, F&& f) const {
    if (interval.begin >= interval.end) return;
    auto piece = pieces_.upper_bound(interval.begin);
    --piece;
    for (; piece != pieces_.end() && piece->first < interval.end; ++piece) f(piece->second);
  }
  [[nodiscard]] std::size_t pieces() const { return pieces_.size(); }

 private:
  using Iterator = typename std::map<std::uint64_t, T>::iterator;

  Iterator cut(std::uint64_t at) {
    auto next = pieces_.lower_bound(at);
    if (next != pieces_.end() && next->first == at) return next;
    return pieces_.emplace_hint(next, at, std::prev(next)->second);
  }
  void merge(Iterator first, Iterator last) {
    if (first != pieces_.begin()) --first;
    for (auto piece = first; piece != last;) {
      auto next = std::next(piece);
      if (next == pieces_.end()) return;
      if (piece->second == next->second) {
        if (next == last) {
          pieces_.erase(next);
          return;
        }
        pieces_.erase(next);
      } else {
        piece = next;
      }
    }
  }

  std::map<std::uint64_t, T> pieces_;
};

}  // namespace tg
