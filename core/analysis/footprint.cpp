#include "core/analysis/footprint.h"

#include <algorithm>
#include <numeric>

namespace tg {
namespace {

struct Dim {
  std::uint64_t size;
  std::uint64_t stride_bytes;
};

Footprint span_footprint(const Geometry& geometry, std::uint64_t element_bytes) {
  const ElementSpan span = element_span(geometry);
  Footprint result;
  result.exact = false;
  result.intervals.push_back({static_cast<std::uint64_t>(span.begin) * element_bytes,
                              static_cast<std::uint64_t>(span.end) * element_bytes});
  return result;
}

// Sorts and joins; intervals that run into each other mean that some byte is addressed twice.
void normalise(Footprint& footprint) {
  std::vector<ByteInterval>& all = footprint.intervals;
  std::sort(all.begin(), all.end(),
            [](const ByteInterval& a, const ByteInterval& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].begin < all[kept].end) footprint.overlaps_itself = true;
    if (all[i].begin <= all[kept].end) {
      all[kept].end = std::max(all[kept].end, all[i].end);
    } else {
      all[++kept] = all[i];
    }
  }
  if (!all.empty()) all.resize(kept + 1);
}

}  // namespace

std::uint64_t Footprint::bytes() const {
  return std::accumulate(
      intervals.begin(), intervals.end(), std::uint64_t{0},
      [](std::uint64_t sum, const ByteInterval& piece) { return sum + (piece.end - piece.begin); });
}

Footprint whole_footprint() {
  return {{{0, kEndOfStorage}}, true, false};
}

Footprint unknown_footprint() {
  return {{{0, kEndOfStorage}}, false, false};
}

Footprint footprint(const Geometry& geometry, std::uint64_t element_bytes, std::size_t max_pieces) {
  Footprint result;
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < geometry.rank(); ++i) {
    if (geometry.sizes[i] <= 0) return result;
    if (geometry.sizes[i] == 1) continue;
    if (geometry.strides[i] < 0) return unknown_footprint();
    if (geometry.strides[i] == 0) {
      result.overlaps_itself = true;
      continue;
    }
    dims.push_back({static_cast<std::uint64_t>(geometry.sizes[i]),
                    static_cast<std::uint64_t>(geometry.strides[i]) * element_bytes});
  }
  std::sort(dims.begin(), dims.end(),
            [](const Dim& a, const Dim& b) { return a.stride_bytes < b.stride_bytes; });
  std::uint64_t block = element_bytes;
  std::size_t inner = 0;
  while (inner < dims.size() && dims[inner].stride_bytes == block) block *= dims[inner++].size;
  std::uint64_t pieces = 1;
  for (std::size_t i = inner; i < dims.size(); ++i) {
    if (dims[i].size > max_pieces / pieces) {
      return span_footprint(geometry, element_bytes);
    }
    pieces *= dims[i].size;
  }
  const std::uint64_t start = static_cast<std::uint64_t>(geometry.offset) * element_bytes;
  result.intervals.push_back({start, start + block});
  for (std::size_t i = inner; i < dims.size(); ++i) {
    const std::size_t count = result.intervals.size();
    for (std::uint64_t k = 1; k < dims[i].size; ++k) {
      for (std::size_t j = 0; j < count; ++j) {
        const ByteInterval base = result.intervals[j];
        const std::uint64_t shift = k * dims[i].stride_bytes;
        result.intervals.push_back({base.begin + shift, base.end + shift});
      }
    }
  }
  normalise(result);
  return result;
}

}  // namespace tg
