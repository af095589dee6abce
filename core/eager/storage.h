// Storage and Tensor: bytes, and windows onto bytes, with PyTorch's meaning of sharing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/ir/dtype.h"
#include "core/ir/geometry.h"

namespace tg {

// One block of bytes. Tensors share it; its address stands for data_ptr.
struct Storage {
  std::vector<std::byte> bytes;
  std::uint32_t version = 0;  // bumped by every write statement
  std::uint32_t number = 0;   // order of creation within a run: arguments first
};

// A window onto a storage. Copying a Tensor copies the window, never the bytes.
struct Tensor {
  std::shared_ptr<Storage> storage;
  DType dtype = DType::Float32;
  Geometry geometry;  // in elements of dtype

  [[nodiscard]] std::int64_t elements() const { return element_count(geometry); }
  [[nodiscard]] bool shares_storage_with(const Tensor& other) const {
    return storage == other.storage;
  }
  [[nodiscard]] std::int64_t offset_bytes() const {
    return geometry.offset * static_cast<std::int64_t>(size_bytes(dtype));
  }
};

// A fresh contiguous tensor, zero filled.
Tensor make_tensor(DType dtype, const std::vector<std::int64_t>& sizes);
// Fresh bytes, same values, contiguous. Of an expanded tensor that may be any number of bytes.
Tensor contiguous_copy(const Tensor& tensor);
// Fresh bytes, same values and sizes, strides as convenient: never more bytes than `tensor`'s
// storage has.
Tensor detached_copy(const Tensor& tensor);
// The geometry with one index for each dim whose elements are all one memory cell (stride 0).
Geometry without_expansion(const Geometry& geometry);

// Elements in row-major logical order, widened. Complex gives real, imag pairs, two per element.
std::vector<double> values_as_double(const Tensor& tensor);
std::vector<std::int64_t> values_as_int(const Tensor& tensor);  // bool and integers, exact
// Writes row-major logical values with the dtype's rounding (round to nearest even).
void fill_from_double(Tensor& tensor, const std::vector<double>& values);
void fill_from_int(Tensor& tensor, const std::vector<std::int64_t>& values);

}  // namespace tg
