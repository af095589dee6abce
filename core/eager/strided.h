// Loops over strided memory: blocks of elements are widened into a computation type, worked on as
// plain arrays, and narrowed back. No call per element.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/eager/storage.h"

namespace tg {

// The types that arithmetic happens in. Bool is only a result type.
enum class Compute : std::uint8_t { Float, Double, Int, ComplexFloat, ComplexDouble, Bool };

std::size_t compute_bytes(Compute compute);
// The type that holds every value of `dtype` exactly (uint64 wraps).
Compute natural_compute(DType dtype);
// Arrays of this computation type lie in memory as elements of `dtype` do.
bool is_memory_form(Compute compute, DType dtype);

// Reads `count` elements, `stride` elements apart, into an array of the computation type.
using LoadBlock = void (*)(const std::byte* first, std::int64_t stride, std::int64_t count,
                           void* out);
// Null for dtypes without elements of their own (f4, f8_e8m0fnu).
LoadBlock loader(DType from, Compute to);
using StoreBlock = void (*)(std::byte* first, std::int64_t stride, std::int64_t count,
                            const void* in);
StoreBlock storer(Compute from, DType to);

// A loop nest over several operands of one shape: dims merged where all operands allow it,
// innermost the one with the smallest stride of the first operand.
class StridedLoop {
 public:
  // `strides[k]` are the strides of operand k under `sizes` (0 where broadcast).
  StridedLoop(const std::vector<std::int64_t>& sizes,
              std::vector<std::vector<std::int64_t>> strides);

  // Calls run(offsets, count) for each innermost run, cut into pieces of at most `piece` elements.
  // `offsets` has one element offset per operand. Stops early when run gives false.
  template <typename F>
  void for_each_run(std::int64_t piece, F&& run) const;

  // Stride of operand `k` within a run.
  [[nodiscard]] std::int64_t inner_stride(std::size_t k) const {
    return strides_[k].empty() ? 0 : strides_[k][0];
  }

 private:
  std::vector<std::int64_t> sizes_;                 // innermost first; empty product is one element
  std::vector<std::vector<std::int64_t>> strides_;  // per operand, innermost first
  bool empty_ = false;
};

// Strides of `geometry` under the wider `sizes`. Requires that it broadcasts.
std::vector<std::int64_t> broadcast_strides(const Geometry& geometry,
                                            const std::vector<std::int64_t>& sizes);

const std::byte* element_address(const Tensor& tensor);
std::byte* element_address(Tensor& tensor);

// to[...] = from[...] with conversion and broadcast; as if `from` were read completely first.
void copy_values(const Tensor& from, Tensor& to);

// ---- template definitions

template <typename F>
void StridedLoop::for_each_run(std::int64_t piece, F&& run) const {
  if (empty_) return;
  const std::size_t operands = strides_.size();
  std::vector<std::int64_t> offsets(operands, 0);
  std::vector<std::int64_t> at(sizes_.size(), 0);
  const std::int64_t length = sizes_.empty() ? 1 : sizes_[0];
  std::vector<std::int64_t> cut(operands);
  while (true) {
    for (std::int64_t begin = 0; begin < length; begin += piece) {
      for (std::size_t k = 0; k < operands; ++k) cut[k] = offsets[k] + begin * inner_stride(k);
      if (!run(cut.data(), std::min(piece, length - begin))) return;
    }
    std::size_t d = 1;
    for (; d < sizes_.size(); ++d) {
      for (std::size_t k = 0; k < operands; ++k) offsets[k] += strides_[k][d];
      if (++at[d] < sizes_[d]) break;
      for (std::size_t k = 0; k < operands; ++k) offsets[k] -= strides_[k][d] * sizes_[d];
      at[d] = 0;
    }
    if (d >= sizes_.size()) return;
  }
}

}  // namespace tg
