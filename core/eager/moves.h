// Moving single elements between tensors, for the kernels of kernels_index.cpp and
// kernels_move.cpp.
#pragma once

#include <cstring>

#include "core/eager/kernel.h"

namespace tg {

using Sizes = std::vector<std::int64_t>;

// Walks all indices of a shape in row-major order, calling f(index), until the call fails.
template <typename F>
void for_each_index(KernelCall& call, const Sizes& sizes, F&& f) {
  for (const std::int64_t size : sizes) {
    if (size == 0) return;
  }
  Sizes at(sizes.size(), 0);
  std::uint32_t steps = 0;
  while (!call.failed()) {
    if ((++steps & 0xffffU) == 0 && call.interrupted()) return;
    f(at);
    std::size_t d = sizes.size();
    while (d-- > 0) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

inline std::int64_t address_of(const Geometry& geometry, const Sizes& at) {
  std::int64_t address = geometry.offset;
  for (std::size_t d = 0; d < at.size(); ++d) address += at[d] * geometry.strides[d];
  return address;
}

inline void move_element(const Tensor& from, std::int64_t from_address, Tensor& to,
                         std::int64_t to_address) {
  const std::size_t bytes = size_bytes(from.dtype);
  std::memcpy(to.storage->bytes.data() + static_cast<std::size_t>(to_address) * bytes,
              from.storage->bytes.data() + static_cast<std::size_t>(from_address) * bytes, bytes);
}

inline Tensor contiguous_clone(KernelCall& call, const Tensor& tensor) {
  Tensor result = call.allocate(tensor.dtype, tensor.geometry.sizes);
  if (!call.failed()) copy_values(tensor, result);
  return result;
}

inline Tensor order_keeping_clone(KernelCall& call, const Tensor& tensor) {
  Tensor result = call.allocate(tensor.dtype, dense_like(tensor.geometry));
  if (!call.failed()) copy_values(tensor, result);
  return result;
}

// Adds one to rank-0 tensors, so that gather and index_select see a dim.
inline Tensor at_least_1d(const Tensor& tensor) {
  if (tensor.geometry.rank() != 0) return tensor;
  Tensor result = tensor;
  result.geometry.sizes = {1};
  result.geometry.strides = {1};
  return result;
}

}  // namespace tg
