#include "core/eager/strided.h"

#include <array>
#include <cstring>
#include <numeric>

#include "core/base/check.h"
#include "core/eager/element.h"

namespace tg {
namespace {

template <typename S, typename C>
void load_block(const std::byte* first, std::int64_t stride, std::int64_t count, void* out) {
  const S* from = reinterpret_cast<const S*>(first);
  C* to = static_cast<C*>(out);
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = convert_compute<C>(widen(from[i]));
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = convert_compute<C>(widen(from[i * stride]));
  }
}

template <typename C, typename S>
void store_block(std::byte* first, std::int64_t stride, std::int64_t count, const void* in) {
  const C* from = static_cast<const C*>(in);
  S* to = reinterpret_cast<S*>(first);
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = Narrow<S>::from(from[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i * stride] = Narrow<S>::from(from[i]);
  }
}

template <typename S>
LoadBlock loader_to(Compute to) {
  switch (to) {
    case Compute::Float:
      return load_block<S, float>;
    case Compute::Double:
      return load_block<S, double>;
    case Compute::Int:
      return load_block<S, std::int64_t>;
    case Compute::ComplexFloat:
      return load_block<S, Complex<float>>;
    case Compute::ComplexDouble:
      return load_block<S, Complex<double>>;
    case Compute::Bool:
      return load_block<S, bool>;
  }
  return nullptr;
}

template <typename S>
StoreBlock storer_from(Compute from) {
  switch (from) {
    case Compute::Float:
      return store_block<float, S>;
    case Compute::Double:
      return store_block<double, S>;
    case Compute::Int:
      return store_block<std::int64_t, S>;
    case Compute::ComplexFloat:
      return store_block<Complex<float>, S>;
    case Compute::ComplexDouble:
      return store_block<Complex<double>, S>;
    case Compute::Bool:
      return store_block<bool, S>;
  }
  return nullptr;
}

// Elements moved as bits.
template <std::size_t kBytes>
void move_run(const std::byte* from, std::int64_t from_stride, std::byte* to,
              std::int64_t to_stride, std::int64_t count) {
  constexpr auto kStep = static_cast<std::int64_t>(kBytes);
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride * kStep, from + i * from_stride * kStep, kBytes);
  }
}

using MoveRun = void (*)(const std::byte*, std::int64_t, std::byte*, std::int64_t, std::int64_t);

MoveRun mover(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return move_run<1>;
    case 2:
      return move_run<2>;
    case 4:
      return move_run<4>;
    case 8:
      return move_run<8>;
    default:
      return move_run<16>;
  }
}

void copy_same_dtype(const StridedLoop& loop, const Tensor& from, Tensor& to) {
  const std::size_t bytes = size_bytes(from.dtype);
  const auto step = static_cast<std::int64_t>(bytes);
  const std::byte* source = element_address(from);
  std::byte* target = element_address(to);
  const bool plain = loop.inner_stride(0) == 1 && loop.inner_stride(1) == 1;
  const MoveRun move = mover(bytes);
  loop.for_each_run(INT64_MAX, [&](const std::int64_t* offsets, std::int64_t count) {
    std::byte* into = target + offsets[0] * step;
    const std::byte* out_of = source + offsets[1] * step;
    if (plain) {
      std::memcpy(into, out_of, bytes * static_cast<std::size_t>(count));
    } else {
      move(out_of, loop.inner_stride(1), into, loop.inner_stride(0), count);
    }
    return true;
  });
}

constexpr std::int64_t kPiece = 1024;

void copy_converting(const StridedLoop& loop, const Tensor& from, Tensor& to) {
  const Compute middle = natural_compute(from.dtype);
  const LoadBlock load = loader(from.dtype, middle);
  const StoreBlock store = storer(middle, to.dtype);
  TG_CHECK(load != nullptr && store != nullptr);
  const auto from_step = static_cast<std::int64_t>(size_bytes(from.dtype));
  const auto to_step = static_cast<std::int64_t>(size_bytes(to.dtype));
  const std::byte* source = element_address(from);
  std::byte* target = element_address(to);
  alignas(16) std::array<std::byte, kPiece * 16> buffer;
  loop.for_each_run(kPiece, [&](const std::int64_t* offsets, std::int64_t count) {
    load(source + offsets[1] * from_step, loop.inner_stride(1), count, buffer.data());
    store(target + offsets[0] * to_step, loop.inner_stride(0), count, buffer.data());
    return true;
  });
}

}  // namespace

std::size_t compute_bytes(Compute compute) {
  switch (compute) {
    case Compute::Float:
      return sizeof(float);
    case Compute::Double:
      return sizeof(double);
    case Compute::Int:
      return sizeof(std::int64_t);
    case Compute::ComplexFloat:
      return sizeof(Complex<float>);
    case Compute::ComplexDouble:
      return sizeof(Complex<double>);
    case Compute::Bool:
      return sizeof(bool);
  }
  return 0;
}

Compute natural_compute(DType dtype) {
  if (dtype == DType::Complex128) return Compute::ComplexDouble;
  if (is_complex(dtype)) return Compute::ComplexFloat;
  if (dtype == DType::Float64) return Compute::Double;
  return is_float(dtype) ? Compute::Float : Compute::Int;
}

bool is_memory_form(Compute compute, DType dtype) {
  switch (compute) {
    case Compute::Float:
      return dtype == DType::Float32;
    case Compute::Double:
      return dtype == DType::Float64;
    case Compute::Int:
      return dtype == DType::Int64;
    case Compute::ComplexFloat:
      return dtype == DType::Complex64;
    case Compute::ComplexDouble:
      return dtype == DType::Complex128;
    case Compute::Bool:
      return dtype == DType::Bool;
  }
  return false;
}

LoadBlock loader(DType from, Compute to) {
  LoadBlock found = nullptr;
  visit_element(from, [&found, to](auto element) { found = loader_to<decltype(element)>(to); });
  return found;
}

StoreBlock storer(Compute from, DType to) {
  StoreBlock found = nullptr;
  visit_element(to, [&found, from](auto element) { found = storer_from<decltype(element)>(from); });
  return found;
}

StridedLoop::StridedLoop(const std::vector<std::int64_t>& sizes,
                         std::vector<std::vector<std::int64_t>> strides) {
  const std::size_t operands = strides.size();
  strides_.resize(operands);
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  if (operands != 0) {
    std::stable_sort(order.begin(), order.end(), [&strides](std::size_t a, std::size_t b) {
      const std::int64_t stride_a = strides[0][a];
      const std::int64_t stride_b = strides[0][b];
      if (stride_a == 0 || stride_b == 0) return stride_a != 0 && stride_b == 0;
      return stride_a < stride_b;
    });
  }
  for (const std::size_t d : order) {
    if (sizes[d] == 0) empty_ = true;
    if (sizes[d] == 1) continue;
    bool merges = !sizes_.empty();
    for (std::size_t k = 0; k < operands && merges; ++k) {
      merges = strides[k][d] == strides_[k].back() * sizes_.back();
    }
    if (merges) {
      sizes_.back() *= sizes[d];
      continue;
    }
    sizes_.push_back(sizes[d]);
    for (std::size_t k = 0; k < operands; ++k) strides_[k].push_back(strides[k][d]);
  }
}

std::vector<std::int64_t> broadcast_strides(const Geometry& geometry,
                                            const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 0);
  const std::size_t new_dims = sizes.size() - geometry.rank();
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    const bool stretched = geometry.sizes[d] == 1 && sizes[new_dims + d] != 1;
    strides[new_dims + d] = stretched ? 0 : geometry.strides[d];
  }
  return strides;
}

const std::byte* element_address(const Tensor& tensor) {
  return tensor.storage->bytes.data() + tensor.offset_bytes();
}
std::byte* element_address(Tensor& tensor) {
  return tensor.storage->bytes.data() + tensor.offset_bytes();
}

void copy_values(const Tensor& from, Tensor& to) {
  if (to.elements() == 0) return;
  if (from.storage == to.storage) {
    if (from.geometry == to.geometry && from.dtype == to.dtype) return;
    const ElementSpan a = element_span(from.geometry);
    const ElementSpan b = element_span(to.geometry);
    const auto bytes_a = static_cast<std::int64_t>(size_bytes(from.dtype));
    const auto bytes_b = static_cast<std::int64_t>(size_bytes(to.dtype));
    if (a.begin * bytes_a < b.end * bytes_b && b.begin * bytes_b < a.end * bytes_a) {
      copy_values(contiguous_copy(from), to);
      return;
    }
  }
  const StridedLoop loop(to.geometry.sizes, {to.geometry.strides,
                                             broadcast_strides(from.geometry, to.geometry.sizes)});
  if (from.dtype == to.dtype) {
    copy_same_dtype(loop, from, to);
  } else {
    copy_converting(loop, from, to);
  }
}

}  // namespace tg
