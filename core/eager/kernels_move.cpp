// Kernels that lay elements out anew: cat, stack, pad, flip, repeat, roll, tril, and selection by
// mask.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/elementwise.h"
#include "core/eager/indexing.h"
#include "core/eager/kernel_table.h"
#include "core/eager/moves.h"

namespace tg {
namespace {

Tensor concatenate(KernelCall& call, const std::vector<Tensor>& tensors, std::size_t dim) {
  std::optional<DType> dtype;
  Sizes sizes;
  std::int64_t length = 0;
  bool channels_last = true;
  // Only the legacy empty 1-d tensor may differ in rank.
  const auto is_skipped = [](const Tensor& tensor) { return tensor.geometry.sizes == Sizes{0}; };
  for (const Tensor& tensor : tensors) {
    dtype = dtype ? promote(*dtype, tensor.dtype) : tensor.dtype;
    if (is_skipped(tensor)) continue;
    if (sizes.empty()) sizes = tensor.geometry.sizes;
    channels_last = channels_last && suggests_channels_last(tensor.geometry);
    bool fits = tensor.geometry.rank() == sizes.size() && dim < sizes.size();
    for (std::size_t d = 0; fits && d < sizes.size(); ++d)
      fits = d == dim || tensor.geometry.sizes[d] == sizes[d];
    if (!fits) {
      call.raise(fmt::format(
          "Sizes of tensors must match except in dimension {}. Expected [{}] but got [{}]", dim,
          fmt::join(sizes, ", "), fmt::join(tensor.geometry.sizes, ", ")));
      return tensor;
    }
    length = saturating_sum(length, tensor.geometry.sizes[dim]);
  }
  if (sizes.empty()) return call.allocate(dtype.value_or(DType::Float32), Sizes{0});
  sizes[dim] = length;
  Tensor result = call.allocate(
      *dtype, channels_last ? ordered_geometry(sizes, {1, 3, 2, 0}) : contiguous_geometry(sizes));
  if (call.failed()) return result;
  std::int64_t begin = 0;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) continue;
    Tensor part = result;
    part.geometry.offset += begin * part.geometry.strides[dim];
    part.geometry.sizes[dim] = tensor.geometry.sizes[dim];
    copy_values(tensor, part);
    begin += tensor.geometry.sizes[dim];
  }
  return result;
}

RuntimeValue triangle(KernelCall& call, bool lower) {
  const Tensor& a = call.tensor("a");
  const std::int64_t diagonal = call.integer("diagonal");
  if (call.failed()) return {};
  if (a.geometry.rank() < 2) {
    call.raise(fmt::format("{}: input tensor must have at least 2 dimensions", call.name()));
    return {};
  }
  Tensor result = contiguous_clone(call, a);
  if (call.failed()) return {};
  const std::int64_t rows = a.geometry.sizes[a.geometry.rank() - 2];
  const std::int64_t columns = a.geometry.sizes.back();
  const std::size_t bytes = size_bytes(a.dtype);
  // Thunder's tril has a fill value; PyTorch's is always zero.
  const RuntimeValue zero{std::int64_t{0}};
  const Tensor fill =
      number_tensor(call, call.is_none("fill_value") ? zero : call.arg("fill_value"), a.dtype);
  if (call.failed()) return {};
  const std::int64_t cells = result.elements();
  for (std::int64_t i = 0; i < cells; ++i) {
    const std::int64_t column = i % columns;
    const std::int64_t row = i / columns % rows;
    const bool keep = lower ? column - row <= diagonal : column - row >= diagonal;
    if (!keep) {
      std::memcpy(result.storage->bytes.data() + static_cast<std::size_t>(i) * bytes,
                  fill.storage->bytes.data(), bytes);
    }
  }
  return {std::move(result)};
}

struct Edge {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t dilation = 0;
};

RuntimeValue pad_constant(KernelCall& call, const Tensor& a, const std::vector<Edge>& edges,
                          const RuntimeValue& value) {
  Sizes sizes;
  for (std::size_t d = 0; d < a.geometry.rank(); ++d) {
    const std::int64_t size = a.geometry.sizes[d];
    const std::int64_t holes =
        saturating_product(std::max<std::int64_t>(0, size - 1), edges[d].dilation);
    sizes.push_back(
        saturating_sum(saturating_sum(size, holes), saturating_sum(edges[d].low, edges[d].high)));
    if (sizes.back() < 0) {
      call.raise(fmt::format(
          "The input size {}, plus negative padding {} and {}, resulted in a negative output size, "
          "which is invalid. Check dimension {} of your input.",
          size, edges[d].low, edges[d].high, d));
      return {};
    }
  }
  const bool crops = std::all_of(edges.begin(), edges.end(), [](const Edge& edge) {
    return edge.low <= 0 && edge.high <= 0 && edge.dilation == 0;
  });
  Geometry geometry = contiguous_geometry(sizes);
  if (suggests_channels_last(a.geometry)) geometry = ordered_geometry(sizes, {1, 3, 2, 0});
  if (crops) {  // PyTorch clones the narrowed tensor
    geometry = a.geometry;
    geometry.sizes = sizes;
    geometry = dense_like(geometry);
  }
  const Tensor filler = number_tensor(call, value, a.dtype);
  Tensor result = call.allocate(a.dtype, geometry);
  if (call.failed()) return {};
  copy_values(filler, result);
  for_each_index(call, a.geometry.sizes, [&](const Sizes& at) {
    Sizes to = at;
    for (std::size_t d = 0; d < to.size(); ++d) {
      to[d] = at[d] * (1 + edges[d].dilation) + edges[d].low;
      if (to[d] < 0 || to[d] >= sizes[d]) return;
    }
    move_element(a, address_of(a.geometry, at), result, address_of(result.geometry, to));
  });
  return {std::move(result)};
}

}  // namespace

// ---- joining, padding, moving

RuntimeValue kernel_Cat(KernelCall& call) {
  const std::vector<Tensor> tensors = call.tensors("tensors");
  if (tensors.empty() && !call.failed())
    call.raise("torch.cat(): expected a non-empty list of Tensors", "ValueError");
  if (call.failed()) return {};
  std::size_t rank = 0;
  for (const Tensor& tensor : tensors) rank = std::max(rank, tensor.geometry.rank());
  const std::size_t dim = call.dim("dim", rank);
  for (std::size_t i = 0; i < tensors.size() && !call.failed(); ++i) {
    if (tensors[i].geometry.rank() == 0) {
      call.raise(fmt::format("zero-dimensional tensor (at position {}) cannot be concatenated", i));
    }
  }
  if (call.failed()) return {};
  return {concatenate(call, tensors, dim)};
}

RuntimeValue kernel_Stack(KernelCall& call) {
  std::vector<Tensor> tensors = call.tensors("tensors");
  if (tensors.empty() && !call.failed()) call.raise("stack expects a non-empty TensorList");
  if (call.failed()) return {};
  const std::size_t dim = call.dim("dim", tensors.front().geometry.rank() + 1);
  if (call.failed()) return {};
  for (Tensor& tensor : tensors) {
    if (tensor.geometry.sizes.size() < dim) {
      call.raise("stack expects each tensor to be equal size");
      return {};
    }
    tensor.geometry.sizes.insert(tensor.geometry.sizes.begin() + static_cast<std::ptrdiff_t>(dim),
                                 1);
    tensor.geometry.strides.insert(
        tensor.geometry.strides.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    if (tensor.geometry.sizes != tensors.front().geometry.sizes) {
      call.raise("stack expects each tensor to be equal size");
      return {};
    }
  }
  return {concatenate(call, tensors, dim)};
}

RuntimeValue kernel_Pad(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Sequence* config = call.arg("padding_config").as<Sequence>();
  std::vector<Edge> edges;
  for (std::size_t d = 0; config != nullptr && d < config->items.size(); ++d) {
    const Sequence* one = config->items[d].as<Sequence>();
    if (one == nullptr || one->items.size() != 3) break;
    Edge edge;
    std::int64_t* const parts[] = {&edge.low, &edge.high, &edge.dilation};
    bool whole = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t* part = one->items[i].as<std::int64_t>();
      whole = whole && part != nullptr;
      if (part != nullptr) *parts[i] = *part;
    }
    if (whole) edges.push_back(edge);
  }
  if (!call.failed() && edges.size() != a.geometry.rank())
    call.bad_program("pad needs (low, high, dilation) per dim");
  if (call.failed()) return {};
  return pad_constant(call, a, edges, call.arg("padding_value"));
}

RuntimeValue kernel_PadNd(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Sizes pad = call.integers("pad");
  const std::string mode = call.text("mode");
  if (call.failed()) return {};
  if (!mode.empty() && mode != "constant") {
    call.not_supported(fmt::format("padding mode '{}'", mode));
    return {};
  }
  if (pad.size() % 2 != 0 || pad.size() / 2 > a.geometry.rank()) {
    call.raise(
        fmt::format("Length of pad should be no more than twice the number of dimensions of the "
                    "input. Pad length "
                    "is {} while the input has {} dimensions.",
                    pad.size(), a.geometry.rank()));
    return {};
  }
  std::vector<Edge> edges(a.geometry.rank());
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    edges[a.geometry.rank() - 1 - i] = {pad[2 * i], pad[2 * i + 1], 0};
  }
  const RuntimeValue zero{std::int64_t{0}};
  return pad_constant(call, a, edges, call.is_none("value") ? zero : call.arg("value"));
}

RuntimeValue kernel_Flip(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  std::vector<bool> flipped(a.geometry.rank(), false);
  for (const std::int64_t dim : call.integers("dims")) {
    const std::size_t wrapped = call.wrap_dim(dim, a.geometry.rank());
    if (call.failed()) return {};
    if (a.geometry.rank() == 0) continue;
    if (flipped[wrapped])
      call.raise(fmt::format("dim {} appears multiple times in the list of dims", wrapped));
    flipped[wrapped] = true;
  }
  Tensor result = call.allocate(a.dtype, dense_like(a.geometry));
  if (call.failed() || result.elements() == 0) return {std::move(result)};
  // The same window read backwards: negative strides exist only here.
  Tensor target = result;
  for (std::size_t d = 0; d < flipped.size(); ++d) {
    if (!flipped[d]) continue;
    target.geometry.offset += (target.geometry.sizes[d] - 1) * target.geometry.strides[d];
    target.geometry.strides[d] = -target.geometry.strides[d];
  }
  copy_values(a, target);
  return {std::move(result)};
}

RuntimeValue kernel_Repeat(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Sizes repeats = call.integers("repeats");
  if (call.failed()) return {};
  if (repeats.size() < a.geometry.rank()) {
    call.raise(
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
        "tensor");
    return {};
  }
  Geometry from = a.geometry;
  const std::size_t new_dims = repeats.size() - from.rank();
  from.sizes.insert(from.sizes.begin(), new_dims, 1);
  from.strides.insert(from.strides.begin(), new_dims, 0);
  // Interleaved dims (repeat, size) make the copies one strided copy.
  Sizes sizes;
  Geometry target;
  Geometry source;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0) {
      call.raise(fmt::format("Trying to create tensor with negative dimension {}: [{}]", repeats[d],
                             fmt::join(repeats, ", ")));
    }
    sizes.push_back(saturating_product(repeats[d], from.sizes[d]));
  }
  Tensor result = call.allocate(a.dtype, sizes);
  if (call.failed() || result.elements() == 0) return {std::move(result)};
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    target.sizes.insert(target.sizes.end(), {repeats[d], from.sizes[d]});
    target.strides.insert(target.strides.end(),
                          {saturating_product(result.geometry.strides[d], from.sizes[d]),
                           result.geometry.strides[d]});
    source.sizes.insert(source.sizes.end(), {repeats[d], from.sizes[d]});
    source.strides.insert(source.strides.end(), {0, from.strides[d]});
  }
  source.offset = from.offset;
  Tensor to = result;
  to.geometry = target;
  Tensor repeated = a;
  repeated.geometry = source;
  copy_values(repeated, to);
  return {std::move(result)};
}

RuntimeValue kernel_Roll(KernelCall& call) {
  const Tensor& given = call.tensor("a");
  const Sizes shifts = call.integers("shifts");
  const bool flat = call.is_none("dims") || call.integers("dims").empty();
  if (call.failed()) return {};
  Tensor a = contiguous_clone(call, given);
  if (call.failed()) return {};
  if (flat) a.geometry = contiguous_geometry({given.elements()});
  const Sizes dims = flat ? Sizes{0} : call.integers("dims");
  if (shifts.size() != dims.size()) {
    call.raise(fmt::format("shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(),
                           dims.size()));
  }
  Sizes shift_of(a.geometry.rank(), 0);
  for (std::size_t i = 0; i < dims.size() && !call.failed(); ++i) {
    const std::size_t dim = call.wrap_dim(dims[i], a.geometry.rank());
    if (dim < shift_of.size()) shift_of[dim] = scalar::wrap_add(shift_of[dim], shifts[i]);
  }
  Tensor result = call.allocate(a.dtype, a.geometry.sizes);
  if (call.failed()) return {};
  for_each_index(call, a.geometry.sizes, [&](const Sizes& at) {
    Sizes to = at;
    for (std::size_t d = 0; d < to.size(); ++d) {
      const std::int64_t size = a.geometry.sizes[d];
      to[d] = ((at[d] + shift_of[d] % size) % size + size) % size;
    }
    move_element(a, address_of(a.geometry, at), result, address_of(result.geometry, to));
  });
  result.geometry = contiguous_geometry(given.geometry.sizes);
  return {std::move(result)};
}

RuntimeValue kernel_Tril(KernelCall& call) {
  return triangle(call, true);
}
RuntimeValue kernel_Triu(KernelCall& call) {
  return triangle(call, false);
}

// ---- selection by mask

RuntimeValue kernel_Where(KernelCall& call) {
  const Operand pred = operand(call, "pred");
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (call.failed()) return {};
  if (pred.tensor != nullptr && pred.tensor->dtype != DType::Bool &&
      pred.tensor->dtype != DType::UInt8) {
    call.raise(fmt::format(
        "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
        torch_name(pred.tensor->dtype)));
    return {};
  }
  const Operand values[] = {a, b};
  DType dtype = result_type(values);
  // Two numbers become tensors of the default dtypes here.
  if (pred.tensor != nullptr && a.tensor == nullptr && b.tensor == nullptr) {
    if (dtype == DType::Float64) dtype = DType::Float32;
    if (dtype == DType::Complex128) dtype = DType::Complex64;
  }
  return elementwise(
      call, {pred, a, b}, ResultType::Promoted, []<typename T>(T) { return scalar::Select<T>{}; },
      dtype);
}

RuntimeValue kernel_MaskedFill(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& mask = call.tensor("mask");
  const Operand value = operand(call, "value");
  if (call.failed()) return {};
  if (mask.dtype != DType::Bool) {
    call.raise(fmt::format("masked_fill_ only supports boolean masks, but got mask with dtype {}",
                           torch_name(mask.dtype)));
    return {};
  }
  if (value.tensor != nullptr && value.tensor->geometry.rank() != 0) {
    call.raise(
        fmt::format("masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
                    "with {} dimension(s).",
                    value.tensor->geometry.rank()));
    return {};
  }
  if (value.tensor == nullptr && !fits_dtype(value.number, a.dtype)) {
    call.raise(fmt::format("value cannot be converted to type {} without overflow",
                           cpp_type_name(a.dtype)));
    return {};
  }
  const RuntimeValue filled = elementwise(
      call, {{&mask, {}}, value, {&a, {}}}, ResultType::Promoted,
      []<typename T>(T) { return scalar::Select<T>{}; }, a.dtype);
  const Tensor* result = filled.as<Tensor>();
  if (call.failed() || result == nullptr) return {};
  return {is_contiguous(result->geometry) ? *result : contiguous_clone(call, *result)};
}

}  // namespace tg
