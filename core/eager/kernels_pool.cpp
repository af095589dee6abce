// Pooling over one to three spatial dims. Sums are carried in double.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Window {
  Sizes kernel;
  Sizes stride;
  Sizes padding;
  Sizes dilation;
  Sizes out;  // spatial sizes of the result
};

Sizes spread_over(Sizes given, std::size_t dims) {
  if (given.size() == 1) given.assign(dims, given.front());
  return given;
}

// The number of windows along a dim; with ceil_mode the last one may stand over the edge, but must
// begin inside.
std::int64_t window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                          std::int64_t padding, std::int64_t dilation, bool ceil_mode) {
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  const std::int64_t free = size + 2 * padding - reach + (ceil_mode ? stride - 1 : 0);
  std::int64_t count = (free >= 0 ? free / stride : -((-free + stride - 1) / stride)) + 1;
  if (ceil_mode && (count - 1) * stride >= size + padding) --count;
  return count;
}

std::optional<Window> window_of(KernelCall& call, const Tensor& a, std::size_t dims,
                                bool has_dilation) {
  const std::size_t rank = a.geometry.rank();
  if (rank != dims + 1 && rank != dims + 2) {
    call.raise(fmt::format("{}: Expected {}D or {}D input tensor, but got {}D", call.name(),
                           dims + 1, dims + 2, rank));
    return std::nullopt;
  }
  Window window;
  window.kernel = spread_over(call.integers("kernel_size"), dims);
  window.stride =
      call.is_none("stride") ? window.kernel : spread_over(call.integers("stride"), dims);
  if (window.stride.empty()) window.stride = window.kernel;
  window.padding = spread_over(call.integers("padding"), dims);
  window.dilation = has_dilation ? spread_over(call.integers("dilation"), dims) : Sizes(dims, 1);
  const bool ceil_mode = call.flag("ceil_mode");
  if (call.failed()) return std::nullopt;
  for (const Sizes* list : {&window.kernel, &window.stride, &window.padding, &window.dilation}) {
    if (list->size() != dims) {
      call.raise(fmt::format("{}: kernel_size, stride, padding and dilation need one number or {}",
                             call.name(), dims));
      return std::nullopt;
    }
  }
  for (std::size_t d = 0; d < dims; ++d) {
    constexpr std::int64_t kLargest = std::int64_t{1} << 30;
    const bool sane = window.kernel[d] > 0 && window.stride[d] > 0 && window.dilation[d] > 0 &&
                      window.padding[d] >= 0 && window.kernel[d] < kLargest &&
                      window.stride[d] < kLargest && window.dilation[d] < kLargest &&
                      window.padding[d] < kLargest &&
                      window.dilation[d] * window.kernel[d] < kLargest;
    if (!sane) {
      call.raise(fmt::format("{}: kernel size, stride and dilation should be greater than zero",
                             call.name()));
      return std::nullopt;
    }
    if (2 * window.padding[d] > window.kernel[d]) {
      call.raise("pad should be at most half of effective kernel size");
      return std::nullopt;
    }
    const std::int64_t count =
        window_count(a.geometry.sizes[rank - dims + d], window.kernel[d], window.stride[d],
                     window.padding[d], window.dilation[d], ceil_mode);
    if (count <= 0) {
      call.raise(fmt::format("Given input size: {}. Calculated output size is too small",
                             python_tuple(a.geometry.sizes)));
      return std::nullopt;
    }
    window.out.push_back(count);
  }
  return window;
}

// Strides of the result: channels innermost where the input has them so.
Geometry pooled_geometry(const Tensor& a, const Sizes& sizes) {
  if (sizes.size() == 4 && suggests_channels_last(a.geometry))
    return ordered_geometry(sizes, {1, 3, 2, 0});
  return contiguous_geometry(sizes);
}

// Visits the cells of the window at `out`: f(offset of the cell in its plane, in elements).
template <typename F>
void visit_window(const Window& window, const Sizes& sizes, const Sizes& plane_strides,
                  const Sizes& out, F&& f) {
  const std::size_t dims = sizes.size();
  Sizes at(dims, 0);
  while (true) {
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t x =
          out[d] * window.stride[d] - window.padding[d] + at[d] * window.dilation[d];
      inside = inside && x >= 0 && x < sizes[d];
      offset += x * plane_strides[d];
    }
    if (inside) f(offset);
    std::size_t d = dims;
    while (d-- > 0) {
      if (++at[d] < window.kernel[d]) break;
      at[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

// PyTorch's divisor: the padded window, cut at the padded edge, or its cells inside.
std::int64_t window_volume(const Window& window, const Sizes& sizes, const Sizes& out,
                           bool with_padding) {
  std::int64_t volume = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t begin = out[d] * window.stride[d] - window.padding[d];
    std::int64_t end = std::min(begin + window.kernel[d], sizes[d] + window.padding[d]);
    if (!with_padding) {
      begin = std::max<std::int64_t>(begin, 0);
      end = std::min(end, sizes[d]);
    }
    volume *= std::max<std::int64_t>(end - begin, 0);
  }
  return volume;
}

// result[plane][out] = f(cells of the plane, its window, out)
template <typename C, typename F>
RuntimeValue pool(KernelCall& call, const Tensor& a, const Window& window, F&& f) {
  const std::size_t dims = window.out.size();
  const std::size_t outer = a.geometry.rank() - dims;
  const Sizes spatial(a.geometry.sizes.begin() + static_cast<std::ptrdiff_t>(outer),
                      a.geometry.sizes.end());
  Sizes sizes(a.geometry.sizes.begin(),
              a.geometry.sizes.begin() + static_cast<std::ptrdiff_t>(outer));
  sizes.insert(sizes.end(), window.out.begin(), window.out.end());
  const Geometry geometry = pooled_geometry(a, sizes);
  Tensor plain = call.allocate(a.dtype, sizes);
  if (call.failed() || plain.elements() == 0) return {std::move(plain)};
  const Tensor dense = contiguous_copy(a);
  std::int64_t plane = 1;
  for (const std::int64_t size : spatial) plane *= size;
  std::int64_t planes = plane == 0 ? 0 : a.elements() / plane;
  Sizes plane_strides(dims, 1);
  for (std::size_t d = dims - 1; d-- > 0;) plane_strides[d] = plane_strides[d + 1] * spatial[d + 1];
  if (!call.reserve(plane, sizeof(C))) return {};
  std::vector<C> cells(static_cast<std::size_t>(plane));
  const LoadBlock load = loader(a.dtype, compute_of<C>());
  const StoreBlock store = storer(compute_of<C>(), a.dtype);
  const auto bytes = static_cast<std::int64_t>(size_bytes(a.dtype));
  std::byte* to = element_address(plain);
  for (std::int64_t p = 0; p < planes; ++p) {
    load(element_address(dense) + p * plane * bytes, 1, plane, cells.data());
    Sizes out(dims, 0);
    while (true) {
      const C value = f(cells, spatial, plane_strides, out);
      store(to, 1, 1, &value);
      to += bytes;
      std::size_t d = dims;
      while (d-- > 0) {
        if (++out[d] < window.out[d]) break;
        out[d] = 0;
      }
      if (d == static_cast<std::size_t>(-1)) break;
    }
    if (call.interrupted()) return {};
  }
  if (geometry.strides == plain.geometry.strides) return {std::move(plain)};
  Tensor result = call.allocate(a.dtype, geometry);
  if (!call.failed()) copy_values(plain, result);
  return {std::move(result)};
}

RuntimeValue max_pool(KernelCall& call, std::size_t dims) {
  const Tensor& a = call.tensor("a");
  if (call.flag("return_indices")) call.not_supported("max pooling that returns indices");
  if (call.failed()) return {};
  const std::optional<Window> window = window_of(call, a, dims, true);
  if (!window) return {};
  const auto run = [&]<typename C>(C) -> RuntimeValue {
    return pool<C>(call, a, *window,
                   [&](const std::vector<C>& cells, const Sizes& spatial, const Sizes& strides,
                       const Sizes& out) {
                     bool any = false;
                     C best{};
                     visit_window(*window, spatial, strides, out, [&](std::int64_t offset) {
                       const C cell = cells[static_cast<std::size_t>(offset)];
                       best = any ? scalar::Maximum<C>{}(best, cell) : cell;
                       any = true;
                     });
                     return best;
                   });
  };
  if (is_complex(a.dtype) || a.dtype == DType::Bool) {
    refuse_dtype(call, a.dtype);
    return {};
  }
  return is_float(a.dtype) ? run(double{}) : run(std::int64_t{});
}

RuntimeValue average_pool(KernelCall& call, std::size_t dims) {
  const Tensor& a = call.tensor("a");
  const bool with_padding = call.flag("count_include_pad");
  const bool fixed = dims > 1 && !call.is_none("divisor_override");
  const std::int64_t divisor = fixed ? call.integer("divisor_override") : 0;
  if (fixed && divisor == 0 && !call.failed()) call.raise("divisor must be not zero");
  if (call.failed()) return {};
  const std::optional<Window> window = window_of(call, a, dims, false);
  if (!window) return {};
  if (!is_float(a.dtype)) {
    refuse_dtype(call, a.dtype);
    return {};
  }
  return pool<double>(call, a, *window,
                      [&](const std::vector<double>& cells, const Sizes& spatial,
                          const Sizes& strides, const Sizes& out) {
                        double total = 0;
                        visit_window(*window, spatial, strides, out, [&](std::int64_t offset) {
                          total += cells[static_cast<std::size_t>(offset)];
                        });
                        const std::int64_t volume =
                            fixed ? divisor : window_volume(*window, spatial, out, with_padding);
                        return volume == 0 ? 0.0 : total / static_cast<double>(volume);
                      });
}

}  // namespace

RuntimeValue kernel_MaxPool1d(KernelCall& call) {
  return max_pool(call, 1);
}
RuntimeValue kernel_MaxPool2d(KernelCall& call) {
  return max_pool(call, 2);
}
RuntimeValue kernel_MaxPool3d(KernelCall& call) {
  return max_pool(call, 3);
}
RuntimeValue kernel_AvgPool1d(KernelCall& call) {
  return average_pool(call, 1);
}
RuntimeValue kernel_AvgPool2d(KernelCall& call) {
  return average_pool(call, 2);
}
RuntimeValue kernel_AvgPool3d(KernelCall& call) {
  return average_pool(call, 3);
}

}  // namespace tg
