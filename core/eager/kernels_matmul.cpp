// Matrix products and convolution. Everything is carried in double (integers in int64), so that a
// result does not depend on the order of summation; blocks keep the operands in cache.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

template <typename F>
void with_wide_type(DType dtype, F&& f) {
  if (is_complex(dtype)) {
    f(Complex<double>{});
  } else if (is_float(dtype)) {
    f(double{});
  } else {
    f(std::int64_t{});
  }
}

template <typename C>
std::vector<C> load_all(KernelCall& call, const Tensor& tensor) {
  std::vector<C> values;
  if (!call.reserve(tensor.elements(), sizeof(C) + size_bytes(tensor.dtype))) return values;
  const auto count = static_cast<std::size_t>(tensor.elements());
  const LoadBlock load = loader(tensor.dtype, compute_of<C>());
  if (load == nullptr) {
    call.not_supported(fmt::format("'{}' on {} tensors", call.callee(), short_name(tensor.dtype)));
    return values;
  }
  values.resize(count);
  if (count == 0) return values;
  const Tensor plain = is_contiguous(tensor.geometry) ? tensor : contiguous_copy(tensor);
  load(element_address(plain), 1, tensor.elements(), values.data());
  return values;
}

// c[m, n] += a[m, k] * b[k, n], row-major.
template <typename C>
void multiply_add(KernelCall& call, const C* a, const C* b, C* c, std::int64_t m, std::int64_t n,
                  std::int64_t k) {
  constexpr std::int64_t kBlock = 64;
  for (std::int64_t k0 = 0; k0 < k; k0 += kBlock) {
    const std::int64_t k1 = std::min(k, k0 + kBlock);
    for (std::int64_t i = 0; i < m; ++i) {
      C* row = c + i * n;
      if ((i & 0xff) == 0xff && call.interrupted()) return;
      for (std::int64_t p = k0; p < k1; ++p) {
        const C factor = a[i * k + p];
        const C* other = b + p * n;
        for (std::int64_t j = 0; j < n; ++j)
          row[j] = scalar::plus(row[j], scalar::times(factor, other[j]));
      }
    }
    if (call.interrupted()) return;
  }
}

template <typename C>
Tensor store_all(KernelCall& call, DType dtype, const std::vector<std::int64_t>& sizes,
                 const std::vector<C>& values) {
  Tensor result = call.allocate(dtype, sizes);
  if (call.failed() || values.empty()) return result;
  storer(compute_of<C>(), dtype)(element_address(result), 1, result.elements(), values.data());
  return result;
}

std::string shape_text(const Tensor& tensor) {
  return fmt::format("{}", fmt::join(tensor.geometry.sizes, ", "));
}

Tensor with_geometry(const Tensor& tensor, Geometry geometry) {
  Tensor result = tensor;
  result.geometry = std::move(geometry);
  return result;
}

// A vector operand becomes a row or a column.
Tensor as_matrix(const Tensor& tensor, bool column) {
  if (tensor.geometry.rank() != 1) return tensor;
  Geometry geometry = tensor.geometry;
  const auto at = column ? geometry.sizes.end() : geometry.sizes.begin();
  geometry.sizes.insert(at, 1);
  geometry.strides.insert(column ? geometry.strides.end() : geometry.strides.begin(), 1);
  return with_geometry(tensor, std::move(geometry));
}

Tensor expanded(const Tensor& tensor, const std::vector<std::int64_t>& batch) {
  std::vector<std::int64_t> sizes = batch;
  sizes.insert(sizes.end(), tensor.geometry.sizes.end() - 2, tensor.geometry.sizes.end());
  Geometry geometry;
  geometry.sizes = sizes;
  geometry.strides = broadcast_strides(tensor.geometry, sizes);
  geometry.offset = tensor.geometry.offset;
  return with_geometry(tensor, std::move(geometry));
}

std::vector<std::int64_t> batch_shape(KernelCall& call, const Tensor& a, const Tensor& b) {
  const auto batch_of = [](const Tensor& tensor) {
    Tensor batch = tensor;
    batch.geometry.sizes.resize(tensor.geometry.rank() - 2);
    batch.geometry.strides.resize(tensor.geometry.rank() - 2);
    return batch;
  };
  const Tensor batch_a = batch_of(a);
  const Tensor batch_b = batch_of(b);
  const Operand operands[] = {{&batch_a, {}}, {&batch_b, {}}};
  return broadcast_shape(call, operands);
}

Tensor matmul(KernelCall& call, const Tensor& left, const Tensor& right, const Tensor* bias) {
  if (left.geometry.rank() == 0 || right.geometry.rank() == 0) {
    call.raise(
        fmt::format("both arguments to matmul need to be at least 1D, but they are {}D and {}D",
                    left.geometry.rank(), right.geometry.rank()));
    return left;
  }
  if (left.dtype != right.dtype) {
    call.raise(fmt::format("expected m1 and m2 to have the same dtype, but got: {} != {}",
                           torch_name(left.dtype), torch_name(right.dtype)));
    return left;
  }
  const Tensor a = as_matrix(left, false);
  const Tensor b = as_matrix(right, true);
  const std::int64_t m = *(a.geometry.sizes.end() - 2);
  const std::int64_t k = a.geometry.sizes.back();
  const std::int64_t n = b.geometry.sizes.back();
  if (*(b.geometry.sizes.end() - 2) != k) {
    call.raise(fmt::format("mat1 and mat2 shapes cannot be multiplied ({} and {})",
                           shape_text(left), shape_text(right)));
    return left;
  }
  const std::vector<std::int64_t> batch = batch_shape(call, a, b);
  if (call.failed()) return left;
  std::vector<std::int64_t> sizes = batch;
  if (left.geometry.rank() != 1) sizes.push_back(m);
  if (right.geometry.rank() != 1) sizes.push_back(n);
  Tensor result = left;
  with_wide_type(left.dtype, [&]<typename C>(C) {
    const std::vector<C> values_a = load_all<C>(call, expanded(a, batch));
    const std::vector<C> values_b = load_all<C>(call, expanded(b, batch));
    const std::int64_t batches = element_count(contiguous_geometry(batch));
    const std::int64_t cells = saturating_product(saturating_product(m, n), batches);
    if (!call.reserve(cells, sizeof(C))) return;
    std::vector<C> values(static_cast<std::size_t>(cells));
    if (bias != nullptr) {
      const std::vector<C> added = load_all<C>(call, *bias);
      for (std::size_t i = 0; i < values.size() && !added.empty(); ++i)
        values[i] = added[i % added.size()];
    }
    for (std::int64_t i = 0; i < batches && !call.failed(); ++i) {
      multiply_add(call, values_a.data() + i * m * k, values_b.data() + i * k * n,
                   values.data() + i * m * n, m, n, k);
    }
    result = store_all(call, left.dtype, sizes, values);
  });
  return result;
}

Tensor transposed(const Tensor& tensor) {
  Tensor result = tensor;
  if (tensor.geometry.rank() == 2) {
    std::swap(result.geometry.sizes[0], result.geometry.sizes[1]);
    std::swap(result.geometry.strides[0], result.geometry.strides[1]);
  }
  return result;
}

// One number for all spatial dims, or one each.
std::vector<std::int64_t> per_dim(std::vector<std::int64_t> given, std::size_t dims) {
  if (given.size() == 1) given.assign(dims, given.front());
  given.resize(dims, 1);
  return given;
}

struct ConvolutionShape {
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  std::vector<std::int64_t> dilation;
  std::int64_t groups = 1;
};

// Column matrix of one image and group: [channels * kernel, output positions].
template <typename C>
std::vector<C> columns(const C* image, std::int64_t channels, const std::vector<std::int64_t>& in,
                       const std::vector<std::int64_t>& kernel,
                       const std::vector<std::int64_t>& out, const ConvolutionShape& shape) {
  const std::size_t dims = in.size();
  std::int64_t in_count = 1, kernel_count = 1, out_count = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    in_count *= in[d];
    kernel_count *= kernel[d];
    out_count *= out[d];
  }
  std::vector<C> result(static_cast<std::size_t>(channels * kernel_count * out_count));
  std::size_t cell = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t tap = 0; tap < kernel_count; ++tap) {
      for (std::int64_t position = 0; position < out_count; ++position, ++cell) {
        std::int64_t rest_tap = tap, rest_position = position, index = 0, scale = 1;
        bool inside = true;
        for (std::size_t d = dims; d-- > 0;) {
          const std::int64_t at = rest_position % out[d] * shape.stride[d] +
                                  rest_tap % kernel[d] * shape.dilation[d] - shape.padding[d];
          rest_position /= out[d];
          rest_tap /= kernel[d];
          inside = inside && at >= 0 && at < in[d];
          index += at * scale;
          scale *= in[d];
        }
        if (inside) result[cell] = image[c * in_count + index];
      }
    }
  }
  return result;
}

Tensor convolve(KernelCall& call, const Tensor& input, const Tensor& weight, const Tensor* bias,
                const ConvolutionShape& shape) {
  if (is_complex(input.dtype)) {
    refuse_dtype(call, input.dtype);
    return input;
  }
  const std::size_t dims = weight.geometry.rank() < 2 ? 0 : weight.geometry.rank() - 2;
  const bool batched = input.geometry.rank() == dims + 2;
  if (dims == 0 || (!batched && input.geometry.rank() != dims + 1)) {
    call.raise(fmt::format("Expected {}D or {}D input to convolution, but got input of size: [{}]",
                           dims + 1, dims + 2, shape_text(input)));
    return input;
  }
  std::vector<std::int64_t> in(input.geometry.sizes.end() - static_cast<std::ptrdiff_t>(dims),
                               input.geometry.sizes.end());
  std::vector<std::int64_t> kernel(weight.geometry.sizes.begin() + 2, weight.geometry.sizes.end());
  const std::int64_t batch = batched ? input.geometry.sizes[0] : 1;
  const std::int64_t in_channels = input.geometry.sizes[batched ? 1 : 0];
  const std::int64_t out_channels = weight.geometry.sizes[0];
  const std::int64_t group_in = weight.geometry.sizes[1];
  if (shape.groups <= 0 || in_channels != group_in * shape.groups ||
      out_channels % shape.groups != 0) {
    call.raise(fmt::format(
        "Given groups={}, weight of size [{}], expected input[{}] to have {} channels, but got {} "
        "channels instead",
        shape.groups, shape_text(weight), shape_text(input), group_in * shape.groups, in_channels));
    return input;
  }
  constexpr std::int64_t kFarthest = std::int64_t{1} << 31;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t most =
        std::max({shape.stride[d], shape.padding[d], shape.dilation[d], kernel[d], in[d]});
    if (most > kFarthest || shape.padding[d] < 0 || shape.dilation[d] <= 0) {
      call.raise("negative padding, non-positive dilation or oversized argument is not supported");
      return input;
    }
  }
  std::vector<std::int64_t> out(dims);
  std::int64_t in_count = 1, kernel_count = 1, out_count = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t room =
        in[d] + 2 * shape.padding[d] - shape.dilation[d] * (kernel[d] - 1) - 1;
    if (room < 0 || shape.stride[d] <= 0) {
      call.raise(
          "Calculated padded input size per channel is smaller than the kernel size. Kernel size "
          "can't be "
          "greater than actual input size");
      return input;
    }
    out[d] = room / shape.stride[d] + 1;
    in_count = saturating_product(in_count, in[d]);
    kernel_count = saturating_product(kernel_count, kernel[d]);
    out_count = saturating_product(out_count, out[d]);
  }
  std::vector<std::int64_t> sizes;
  if (batched) sizes.push_back(batch);
  sizes.push_back(out_channels);
  sizes.insert(sizes.end(), out.begin(), out.end());
  Tensor result = input;
  with_wide_type(input.dtype, [&]<typename C>(C) {
    const std::vector<C> image = load_all<C>(call, input);
    const std::vector<C> taps = load_all<C>(call, weight);
    const std::vector<C> added = bias != nullptr ? load_all<C>(call, *bias) : std::vector<C>{};
    const std::int64_t group_out = out_channels / shape.groups;
    const std::int64_t depth = group_in * kernel_count;
    const std::int64_t cells = saturating_product(batch * out_channels, out_count);
    if (!call.reserve(saturating_sum(cells, saturating_product(depth, out_count)), sizeof(C)))
      return;
    std::vector<C> values(static_cast<std::size_t>(cells));
    for (std::int64_t image_index = 0; image_index < batch; ++image_index) {
      for (std::int64_t group = 0; group < shape.groups; ++group) {
        const C* from = image.data() + (image_index * in_channels + group * group_in) * in_count;
        const std::vector<C> matrix = columns(from, group_in, in, kernel, out, shape);
        C* to = values.data() + (image_index * out_channels + group * group_out) * out_count;
        for (std::int64_t c = 0; c < group_out && !added.empty(); ++c) {
          std::fill(to + c * out_count, to + (c + 1) * out_count,
                    added[static_cast<std::size_t>(group * group_out + c)]);
        }
        multiply_add(call, taps.data() + group * group_out * depth, matrix.data(), to, group_out,
                     out_count, depth);
        if (call.failed()) return;
      }
    }
    result = store_all(call, input.dtype, sizes, values);
  });
  // Kernels on CPU answer in channels_last when an operand lies so.
  if (!call.failed() &&
      (suggests_channels_last(input.geometry) || suggests_channels_last(weight.geometry))) {
    if (sizes.size() == 4) {
      Tensor turned = call.allocate(input.dtype, ordered_geometry(sizes, {1, 3, 2, 0}));
      if (!call.failed()) copy_values(result, turned);
      return turned;
    }
  }
  return result;
}

}  // namespace

namespace {

// mm and bmm take no other ranks, and do not broadcast.
bool refuses_rank(KernelCall& call, const Tensor& a, const Tensor& b) {
  if (call.name() == "mm") {
    if (a.geometry.rank() != 2) call.raise("self must be a matrix");
    if (b.geometry.rank() != 2) call.raise("mat2 must be a matrix");
  }
  if (call.name() == "bmm") {
    if (a.geometry.rank() != 3) call.raise("batch1 must be a 3D tensor");
    if (b.geometry.rank() != 3) call.raise("batch2 must be a 3D tensor");
    if (!call.failed() && (a.geometry.sizes[0] != b.geometry.sizes[0] ||
                           a.geometry.sizes[2] != b.geometry.sizes[1])) {
      call.raise(fmt::format(
          "Expected size for first two dimensions of batch2 tensor to be: [{}, "
          "{}] but got: [{}, {}].",
          a.geometry.sizes[0], a.geometry.sizes[2], b.geometry.sizes[0], b.geometry.sizes[1]));
    }
  }
  return call.failed();
}

}  // namespace

RuntimeValue kernel_Matmul(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& b = call.tensor("b");
  if (call.failed() || refuses_rank(call, a, b)) return {};
  return {matmul(call, a, b, nullptr)};
}

RuntimeValue kernel_Linear(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& w = call.tensor("w");
  const Tensor* bias = call.optional_tensor("bias");
  if (call.failed()) return {};
  return {matmul(call, a, transposed(w), bias)};
}

RuntimeValue kernel_Convolution(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& weight = call.tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  if (call.flag("transposed")) call.not_supported("transposed convolution");
  const std::size_t dims = weight.geometry.rank() < 2 ? 0 : weight.geometry.rank() - 2;
  const ConvolutionShape shape{per_dim(call.integers("stride"), dims),
                               per_dim(call.integers("padding"), dims),
                               per_dim(call.integers("dilation"), dims), call.integer("groups")};
  if (call.failed()) return {};
  return {convolve(call, a, weight, bias, shape)};
}

namespace {

// conv1d, conv2d and conv3d: `padding` may be a word.
RuntimeValue convolution_of_rank(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& weight = call.tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  const std::size_t dims = weight.geometry.rank() < 2 ? 0 : weight.geometry.rank() - 2;
  ConvolutionShape shape{per_dim(call.integers("stride"), dims),
                         {},
                         per_dim(call.integers("dilation"), dims),
                         call.integer("groups")};
  if (call.arg("padding").as<StringValue>() != nullptr) {
    const std::string word = call.text("padding");
    shape.padding.assign(dims, 0);
    for (std::size_t d = 0; d < dims && word == "same"; ++d) {
      const std::int64_t total = shape.dilation[d] * (weight.geometry.sizes[d + 2] - 1);
      if (total % 2 != 0) call.not_supported("padding='same' with an even kernel");
      shape.padding[d] = total / 2;
    }
  } else {
    shape.padding = per_dim(call.integers("padding"), dims);
  }
  if (call.failed()) return {};
  return {convolve(call, a, weight, bias, shape)};
}

}  // namespace

RuntimeValue kernel_Conv1d(KernelCall& call) {
  return convolution_of_rank(call);
}
RuntimeValue kernel_Conv2d(KernelCall& call) {
  return convolution_of_rank(call);
}
RuntimeValue kernel_Conv3d(KernelCall& call) {
  return convolution_of_rank(call);
}

}  // namespace tg
