#include "core/run/element_compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/eager/element.h"
#include "core/eager/strided.h"
#include "core/run/compare_values.h"

namespace tg {
namespace {

constexpr std::int64_t kBlock = 1024;

struct PairDim {
  std::int64_t size;
  std::int64_t left;
  std::int64_t right;
};

// The sizes under which two tensors are looked at: 1 where both repeat one memory cell.
std::vector<std::int64_t> distinct_sizes(const Geometry& left, const Geometry& right) {
  std::vector<std::int64_t> sizes = left.sizes;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (left.strides[d] == 0 && right.strides[d] == 0 && sizes[d] > 1) sizes[d] = 1;
  }
  return sizes;
}

// Row-major order is kept: the first difference is the one that a reader of the tensor meets first.
std::vector<PairDim> joined_dims(const Geometry& left, const Geometry& right,
                                 const std::vector<std::int64_t>& sizes) {
  std::vector<PairDim> dims;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const PairDim dim{sizes[d], left.strides[d], right.strides[d]};
    if (!dims.empty() && dims.back().left == dim.left * dim.size &&
        dims.back().right == dim.right * dim.size) {
      dims.back() = {dims.back().size * dim.size, dim.left, dim.right};
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

// Calls f(left offset, left stride, right offset, right stride, count) for runs of at most kBlock
// elements, in row-major order, until it gives false.
template <typename F>
void for_each_pair_run(const std::vector<PairDim>& dims, F&& f) {
  for (const PairDim& dim : dims) {
    if (dim.size == 0) return;
  }
  const PairDim inner = dims.empty() ? PairDim{1, 0, 0} : dims.back();
  const std::size_t outer = dims.empty() ? 0 : dims.size() - 1;
  std::vector<std::int64_t> at(outer, 0);
  std::int64_t left = 0;
  std::int64_t right = 0;
  while (true) {
    for (std::int64_t begin = 0; begin < inner.size; begin += kBlock) {
      if (!f(left + begin * inner.left, inner.left, right + begin * inner.right, inner.right,
             std::min(kBlock, inner.size - begin)))
        return;
    }
    std::size_t d = outer;
    for (; d > 0; --d) {
      const PairDim& dim = dims[d - 1];
      left += dim.left;
      right += dim.right;
      if (++at[d - 1] < dim.size) break;
      left -= dim.left * dim.size;
      right -= dim.right * dim.size;
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

// Elements without a value of their own (f4, f8_e8m0fnu) are compared as their bits.
DType readable(DType dtype) {
  return loader(dtype, natural_compute(dtype)) != nullptr ? dtype : DType::UInt8;
}

// Widens blocks of both tensors and hands them to f(left, right, count, position of the first).
template <typename C, typename F>
void for_each_block(const Tensor& left, const Tensor& right, const std::vector<std::int64_t>& sizes,
                    Compute compute, CompareClock& clock, F&& f) {
  const LoadBlock load_left = loader(readable(left.dtype), compute);
  const LoadBlock load_right = loader(readable(right.dtype), compute);
  if (load_left == nullptr || load_right == nullptr) return;
  const auto left_bytes = static_cast<std::int64_t>(size_bytes(left.dtype));
  const auto right_bytes = static_cast<std::int64_t>(size_bytes(right.dtype));
  std::array<C, kBlock> a;
  std::array<C, kBlock> b;
  std::uint64_t position = 0;
  for_each_pair_run(
      joined_dims(left.geometry, right.geometry, sizes),
      [&](std::int64_t left_at, std::int64_t left_stride, std::int64_t right_at,
          std::int64_t right_stride, std::int64_t count) {
        load_left(element_address(left) + left_at * left_bytes, left_stride, count, a.data());
        load_right(element_address(right) + right_at * right_bytes, right_stride, count, b.data());
        f(a.data(), b.data(), static_cast<std::size_t>(count), position);
        position += static_cast<std::uint64_t>(count);
        return !clock.expired(static_cast<std::uint64_t>(count));
      });
}

std::vector<std::int64_t> index_of(std::uint64_t linear, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const auto size = static_cast<std::uint64_t>(sizes[d]);
    index[d] = static_cast<std::int64_t>(linear % size);
    linear /= size;
  }
  return index;
}

// A cell that an expanded dim repeats differs as often as it is repeated.
void finish(ElementCount& count, std::uint64_t worst, const Tensor& left,
            const std::vector<std::int64_t>& sizes) {
  if (count.differing == 0) return;
  count.index = index_of(worst, sizes);
  std::int64_t repeated = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != left.geometry.sizes[d])
      repeated = saturating_product(repeated, left.geometry.sizes[d]);
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  count.differing = static_cast<std::uint64_t>(
      saturating_product(static_cast<std::int64_t>(std::min(count.differing, kMost)), repeated));
}

}  // namespace

bool CompareClock::expired(std::uint64_t work) {
  // A short run costs more than its elements.
  constexpr std::uint64_t kRun = 16;
  constexpr std::uint64_t kBetweenLooks = std::uint64_t{1} << 18;
  pending_ += work + kRun;
  if (stopped_ || pending_ < kBetweenLooks) return stopped_;
  pending_ = 0;
  stopped_ = stop_.stop_requested() || std::chrono::steady_clock::now() > deadline_;
  return stopped_;
}

bool close_enough(double left, double right, const Tolerance& tolerance, DType dtype) {
  if (left == right) return true;
  if (std::isnan(left) || std::isnan(right)) {
    return tolerance.equal_nan && std::isnan(left) && std::isnan(right);
  }
  if (std::isinf(left) || std::isinf(right)) return false;
  // torch.testing: |actual - expected| <= atol + rtol * |expected|; the left side is expected.
  if (std::fabs(right - left) <= tolerance.absolute + tolerance.relative * std::fabs(left))
    return true;
  return tolerance.ulp && ulp_distance(left, right, dtype) <= *tolerance.ulp;
}

ElementCount count_elements(const Tensor& left, const Tensor& right, const Tolerance& tolerance,
                            DType dtype, CompareClock& clock) {
  ElementCount count;
  const std::vector<std::int64_t> sizes = distinct_sizes(left.geometry, right.geometry);
  const bool exact = tolerance.relative == 0 && tolerance.absolute == 0 && !tolerance.ulp;
  double worst_weight = -1;
  std::uint64_t worst = 0;
  // What one part of an element adds; the weight of its difference.
  const auto part = [&](double a, double b) {
    const double difference = std::fabs(b - a);
    // NaN against a number, infinity against a number: no distance says how bad that is.
    const double weight =
        std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
    count.max_absolute = std::max(count.max_absolute, weight);
    if (a != 0) count.max_relative = std::max(count.max_relative, weight / std::fabs(a));
    return weight;
  };
  const auto add = [&](double weight, std::uint64_t at, std::complex<double> a,
                       std::complex<double> b) {
    if (count.differing == 0 || (!exact && weight > worst_weight)) {
      worst = at;
      count.left = a;
      count.right = b;
      worst_weight = weight;
    }
    ++count.differing;
  };
  if (is_complex(left.dtype)) {
    using Pair = Complex<double>;
    for_each_block<Pair>(left, right, sizes, Compute::ComplexDouble, clock,
                         [&](const Pair* a, const Pair* b, std::size_t n, std::uint64_t at) {
                           for (std::size_t i = 0; i < n; ++i) {
                             double weight = -1;
                             if (!close_enough(a[i].re, b[i].re, tolerance, dtype))
                               weight = std::max(weight, part(a[i].re, b[i].re));
                             if (!close_enough(a[i].im, b[i].im, tolerance, dtype))
                               weight = std::max(weight, part(a[i].im, b[i].im));
                             if (weight >= 0)
                               add(weight, at + i, {a[i].re, a[i].im}, {b[i].re, b[i].im});
                           }
                         });
  } else {
    for_each_block<double>(left, right, sizes, Compute::Double, clock,
                           [&](const double* a, const double* b, std::size_t n, std::uint64_t at) {
                             for (std::size_t i = 0; i < n; ++i) {
                               if (close_enough(a[i], b[i], tolerance, dtype)) continue;
                               add(part(a[i], b[i]), at + i, a[i], b[i]);
                             }
                           });
  }
  finish(count, worst, left, sizes);
  return count;
}

ElementCount count_integers(const Tensor& left, const Tensor& right, CompareClock& clock) {
  ElementCount count;
  const std::vector<std::int64_t> sizes = distinct_sizes(left.geometry, right.geometry);
  std::uint64_t worst = 0;
  for_each_block<std::int64_t>(
      left, right, sizes, Compute::Int, clock,
      [&](const std::int64_t* a, const std::int64_t* b, std::size_t n, std::uint64_t at) {
        for (std::size_t i = 0; i < n; ++i) {
          if (a[i] == b[i]) continue;
          if (count.differing++ == 0) {
            worst = at + i;
            count.left_integer = a[i];
            count.right_integer = b[i];
          }
          const double expected = static_cast<double>(a[i]);
          const double difference = std::fabs(expected - static_cast<double>(b[i]));
          count.max_absolute = std::max(count.max_absolute, difference);
          if (a[i] != 0)
            count.max_relative = std::max(count.max_relative, difference / std::fabs(expected));
        }
      });
  finish(count, worst, left, sizes);
  return count;
}

bool same_bits(const Tensor& left, const Tensor& right) {
  if (left.dtype != right.dtype || left.geometry.sizes != right.geometry.sizes) return false;
  const std::vector<std::int64_t> sizes = distinct_sizes(left.geometry, right.geometry);
  const std::size_t bytes = size_bytes(left.dtype);
  const auto step = static_cast<std::int64_t>(bytes);
  bool same = true;
  for_each_pair_run(joined_dims(left.geometry, right.geometry, sizes),
                    [&](std::int64_t left_at, std::int64_t left_stride, std::int64_t right_at,
                        std::int64_t right_stride, std::int64_t count) {
                      const std::byte* a = element_address(left) + left_at * step;
                      const std::byte* b = element_address(right) + right_at * step;
                      for (std::int64_t i = 0; same && i < count; ++i) {
                        same = std::equal(a, a + bytes, b);
                        a += left_stride * step;
                        b += right_stride * step;
                      }
                      return same;
                    });
  return same;
}

}  // namespace tg
