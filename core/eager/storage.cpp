#include "core/eager/storage.h"

#include "core/base/check.h"
#include "core/eager/element.h"
#include "core/eager/strided.h"

namespace tg {
namespace {

// All elements in row-major order as an array of C.
template <typename C>
std::vector<C> all_values(const Tensor& tensor, Compute compute) {
  std::vector<C> values(static_cast<std::size_t>(tensor.elements()));
  if (values.empty()) return values;
  const Tensor plain = is_contiguous(tensor.geometry) ? tensor : contiguous_copy(tensor);
  const LoadBlock load = loader(tensor.dtype, compute);
  TG_CHECK(load != nullptr);
  load(element_address(plain), 1, tensor.elements(), values.data());
  return values;
}

template <typename C>
void fill(Tensor& tensor, const std::vector<C>& values, Compute compute) {
  TG_CHECK(static_cast<std::int64_t>(values.size()) == tensor.elements());
  if (values.empty()) return;
  Tensor plain = make_tensor(tensor.dtype, tensor.geometry.sizes);
  const StoreBlock store = storer(compute, tensor.dtype);
  TG_CHECK(store != nullptr);
  store(element_address(plain), 1, tensor.elements(), values.data());
  copy_values(plain, tensor);
}

}  // namespace

Tensor make_tensor(DType dtype, const std::vector<std::int64_t>& sizes) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.geometry = contiguous_geometry(sizes);
  tensor.storage = std::make_shared<Storage>();
  tensor.storage->bytes.resize(static_cast<std::size_t>(tensor.elements()) * size_bytes(dtype));
  return tensor;
}

Tensor contiguous_copy(const Tensor& tensor) {
  Tensor copy = make_tensor(tensor.dtype, tensor.geometry.sizes);
  copy_values(tensor, copy);
  return copy;
}

Geometry without_expansion(const Geometry& geometry) {
  Geometry result = geometry;
  for (std::size_t d = 0; d < result.rank(); ++d) {
    if (result.strides[d] == 0 && result.sizes[d] > 1) result.sizes[d] = 1;
  }
  return result;
}

Tensor detached_copy(const Tensor& tensor) {
  Tensor cells = tensor;
  cells.geometry = without_expansion(tensor.geometry);
  const std::int64_t in_storage =
      static_cast<std::int64_t>(tensor.storage->bytes.size() / size_bytes(tensor.dtype));
  Tensor copy;
  if (cells.elements() <= in_storage) {
    copy = contiguous_copy(cells);
    for (std::size_t d = 0; d < copy.geometry.rank(); ++d) {
      if (copy.geometry.sizes[d] == tensor.geometry.sizes[d]) continue;
      copy.geometry.sizes[d] = tensor.geometry.sizes[d];
      copy.geometry.strides[d] = 0;
    }
    return copy;
  }
  copy = tensor;
  copy.storage = std::make_shared<Storage>(*tensor.storage);
  return copy;
}

std::vector<double> values_as_double(const Tensor& tensor) {
  if (!is_complex(tensor.dtype)) return all_values<double>(tensor, Compute::Double);
  std::vector<double> pairs;
  for (const Complex<double>& value : all_values<Complex<double>>(tensor, Compute::ComplexDouble)) {
    pairs.push_back(value.re);
    pairs.push_back(value.im);
  }
  return pairs;
}

std::vector<std::int64_t> values_as_int(const Tensor& tensor) {
  return all_values<std::int64_t>(tensor, Compute::Int);
}

void fill_from_double(Tensor& tensor, const std::vector<double>& values) {
  if (!is_complex(tensor.dtype)) {
    fill(tensor, values, Compute::Double);
    return;
  }
  std::vector<Complex<double>> pairs;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2)
    pairs.push_back({values[i], values[i + 1]});
  fill(tensor, pairs, Compute::ComplexDouble);
}

void fill_from_int(Tensor& tensor, const std::vector<std::int64_t>& values) {
  fill(tensor, values, Compute::Int);
}

}  // namespace tg
