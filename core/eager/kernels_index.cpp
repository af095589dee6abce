// Kernels that move elements: setitem, gather and scatter families, cat, pad, flip, roll, tril, embedding.
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/elementwise.h"
#include "core/eager/indexing.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

using Sizes = std::vector<std::int64_t>;

// Walks all indices of a shape in row-major order, calling f(index).
template <typename F>
void for_each_index(const Sizes& sizes, F&& f) {
  for (const std::int64_t size : sizes) {
    if (size == 0) return;
  }
  Sizes at(sizes.size(), 0);
  while (true) {
    f(at);
    std::size_t d = sizes.size();
    while (d-- > 0) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

std::int64_t address_of(const Geometry& geometry, const Sizes& at) {
  std::int64_t address = geometry.offset;
  for (std::size_t d = 0; d < at.size(); ++d) address += at[d] * geometry.strides[d];
  return address;
}

void move_element(const Tensor& from, std::int64_t from_address, Tensor& to, std::int64_t to_address) {
  const std::size_t bytes = size_bytes(from.dtype);
  std::memcpy(to.storage->bytes.data() + static_cast<std::size_t>(to_address) * bytes,
              from.storage->bytes.data() + static_cast<std::size_t>(from_address) * bytes, bytes);
}

Tensor contiguous_clone(KernelCall& call, const Tensor& tensor) {
  Tensor result = call.allocate(tensor.dtype, tensor.geometry.sizes);
  if (!call.failed()) copy_values(tensor, result);
  return result;
}

Tensor order_keeping_clone(KernelCall& call, const Tensor& tensor) {
  Tensor result = call.allocate(tensor.dtype, dense_like(tensor.geometry));
  if (!call.failed()) copy_values(tensor, result);
  return result;
}

// Checks one index value of the gather and scatter families, which do not wrap.
bool in_range(KernelCall& call, std::int64_t index, std::size_t dim, std::int64_t size) {
  if (index >= 0 && index < size) return true;
  call.raise(fmt::format("index {} is out of bounds for dimension {} with size {}", index, dim, size));
  return false;
}

// Adds one to rank-0 tensors, so that gather and index_select see a dim.
Tensor at_least_1d(const Tensor& tensor) {
  if (tensor.geometry.rank() != 0) return tensor;
  Tensor result = tensor;
  result.geometry.sizes = {1};
  result.geometry.strides = {1};
  return result;
}

RuntimeValue index_select(KernelCall& call, bool scalar_keeps_dim) {
  const Tensor& given = call.tensor("a");
  const Tensor a = at_least_1d(given);
  const Tensor& index = call.tensor("index");
  const std::size_t dim = call.dim("dim", given.geometry.rank());
  if (call.failed()) return {};
  (void)scalar_keeps_dim;
  if (index.geometry.rank() > 1) {
    call.raise("index_select(): Index is supposed to be a vector", "IndexError");
    return {};
  }
  const std::vector<std::int64_t> positions = values_as_int(index);
  Sizes sizes = a.geometry.sizes;
  sizes[dim] = static_cast<std::int64_t>(positions.size());
  Tensor result = call.allocate(a.dtype, sizes);
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= a.geometry.sizes[dim]) call.raise("index out of range in self", "IndexError");
  }
  if (call.failed()) return {};
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Tensor from = a;
    from.geometry.offset += positions[i] * from.geometry.strides[dim];
    from.geometry.sizes[dim] = 1;
    Tensor to = result;
    to.geometry.offset += static_cast<std::int64_t>(i) * to.geometry.strides[dim];
    to.geometry.sizes[dim] = 1;
    copy_values(from, to);
    if ((i & 0xff) == 0xff && call.interrupted()) return {};
  }
  if (given.geometry.rank() == 0) result.geometry = contiguous_geometry({});
  return {std::move(result)};
}

RuntimeValue gather_along(KernelCall& call, const Tensor& a, const Tensor& index, const Tensor& given, std::size_t dim,
                          bool broadcast);

RuntimeValue gather(KernelCall& call, bool broadcast) {
  Tensor a = at_least_1d(call.tensor("a"));
  const Tensor& given = call.tensor("index");
  Tensor index = at_least_1d(given);
  if (broadcast && call.is_none("dim")) {
    a.geometry = contiguous_geometry({a.elements()});
    a.storage = contiguous_copy(call.tensor("a")).storage;
    index.geometry = contiguous_geometry({index.elements()});
    index.storage = contiguous_copy(given).storage;
    return gather_along(call, a, index, index, 0, true);
  }
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  return gather_along(call, a, index, given, dim, broadcast);
}

RuntimeValue gather_along(KernelCall& call, const Tensor& a, const Tensor& index, const Tensor& given, std::size_t dim,
                          bool broadcast) {
  if (index.geometry.rank() != a.geometry.rank()) {
    call.raise("Index tensor must have the same number of dimensions as input tensor");
    return {};
  }
  Sizes sizes = index.geometry.sizes;
  Geometry from = a.geometry;
  Geometry index_geometry = index.geometry;
  if (broadcast) {  // take_along_dim: all other dims broadcast against each other
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (d != dim) sizes[d] = std::max(a.geometry.sizes[d], sizes[d]);
    }
    Geometry wide = a.geometry;
    Sizes wide_sizes = sizes;
    wide_sizes[dim] = a.geometry.sizes[dim];
    from.strides = broadcast_strides(wide, wide_sizes);
    from.sizes = wide_sizes;
    index_geometry.strides = broadcast_strides(index.geometry, sizes);
    index_geometry.sizes = sizes;
  }
  Tensor result = call.allocate(a.dtype, sizes);
  if (call.failed()) return {};
  Tensor wide_index = index;
  wide_index.geometry = index_geometry;
  const std::vector<std::int64_t> positions = values_as_int(wide_index);
  std::size_t next = 0;
  for_each_index(sizes, [&](const Sizes& at) {
    if (call.failed()) return;
    const std::int64_t position = positions[next];
    if (!in_range(call, position, dim, a.geometry.sizes[dim])) return;
    std::int64_t address = from.offset + position * from.strides[dim];
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (d != dim) address += at[d] * from.strides[d];
    }
    move_element(a, address, result, static_cast<std::int64_t>(next++));
  });
  if (given.geometry.rank() == 0) result.geometry = contiguous_geometry({});
  return {std::move(result)};
}

enum class Combine { Replace, Add, Multiply };

void combine_element(Tensor& target, std::int64_t address, const Tensor& source, std::int64_t source_address,
                     Combine how) {
  visit_element(target.dtype, [&](auto zero) {
    using S = decltype(zero);
    S& cell = reinterpret_cast<S*>(target.storage->bytes.data())[address];
    const S value = reinterpret_cast<const S*>(source.storage->bytes.data())[source_address];
    if (how == Combine::Replace) {
      cell = value;
    } else if (how == Combine::Add) {
      cell = Narrow<S>::from(scalar::plus(widen(cell), widen(value)));
    } else {
      cell = Narrow<S>::from(scalar::times(widen(cell), widen(value)));
    }
  });
}

RuntimeValue scatter(KernelCall& call, std::string_view source_name, Combine how) {
  const Tensor& given = call.tensor("a");
  const Tensor index = at_least_1d(call.tensor("index"));
  const std::size_t dim = call.dim("dim", given.geometry.rank());
  if (call.failed()) return {};
  const std::string_view value_name = call.is_none(source_name) ? std::string_view{"value"} : source_name;
  const Tensor* tensor_source = call.arg(value_name).as<Tensor>();
  Tensor source = tensor_source != nullptr ? at_least_1d(*tensor_source)
                                           : number_tensor(call, call.arg(value_name), given.dtype);
  Tensor result = contiguous_clone(call, given);
  if (call.failed()) return {};
  if (source.dtype != given.dtype) {
    call.raise(fmt::format("{}(): Expected self.dtype to be equal to src.dtype", call.name()));
    return {};
  }
  Tensor cells = at_least_1d(result);
  if (index.geometry.rank() != cells.geometry.rank()) {
    call.raise("Index tensor must have the same number of dimensions as self tensor");
    return {};
  }
  if (tensor_source == nullptr) {
    source.geometry.sizes = index.geometry.sizes;
    source.geometry.strides.assign(index.geometry.rank(), 0);
  }
  for (std::size_t d = 0; d < index.geometry.rank(); ++d) {
    if (index.geometry.sizes[d] > source.geometry.sizes[d] || (d != dim && index.geometry.sizes[d] > cells.geometry.sizes[d])) {
      call.raise(fmt::format("Expected index [{}] to be no larger than self [{}] apart from dimension {} and to be no "
                             "larger size than src [{}]",
                             fmt::join(index.geometry.sizes, ", "), fmt::join(cells.geometry.sizes, ", "), dim,
                             fmt::join(source.geometry.sizes, ", ")));
      return {};
    }
  }
  const std::vector<std::int64_t> positions = values_as_int(index);
  std::size_t next = 0;
  for_each_index(index.geometry.sizes, [&](const Sizes& at) {
    if (call.failed()) return;
    const std::int64_t position = positions[next++];
    if (!in_range(call, position, dim, cells.geometry.sizes[dim])) return;
    Sizes to = at;
    to[dim] = position;
    combine_element(cells, address_of(cells.geometry, to), source, address_of(source.geometry, at), how);
  });
  return {std::move(result)};
}

// index_add and index_copy: slice i of the source goes to slice index[i].
RuntimeValue index_slices(KernelCall& call, std::string_view source_name, Combine how) {
  const Tensor& given = call.tensor("a");
  const Tensor& index = call.tensor("index");
  Tensor source = at_least_1d(call.tensor(source_name));
  const std::size_t dim = call.dim("dim", given.geometry.rank());
  if (call.failed()) return {};
  if (source.dtype != given.dtype) {
    call.raise(fmt::format("{}(): self and source expected to have the same dtype, but got (self) {} and (source) {}",
                           call.name(), torch_name(given.dtype), torch_name(source.dtype)));
    return {};
  }
  Tensor result = contiguous_clone(call, given);
  if (call.failed()) return {};
  Tensor cells = at_least_1d(result);
  const std::vector<std::int64_t> positions = values_as_int(index);
  Sizes expected = cells.geometry.sizes;
  expected[dim] = static_cast<std::int64_t>(positions.size());
  if (source.geometry.rank() + 1 == cells.geometry.rank() && positions.size() == 1) {
    source.geometry.sizes.insert(source.geometry.sizes.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    source.geometry.strides.insert(source.geometry.strides.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  }
  if (source.geometry.sizes != expected) {
    call.raise(fmt::format("{}(): Source/destination tensor must have same slice shapes. Destination slice shape: [{}] at "
                           "dimension {} and source slice shape: [{}]",
                           call.name(), fmt::join(cells.geometry.sizes, ", "), dim, fmt::join(source.geometry.sizes, ", ")));
    return {};
  }
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= cells.geometry.sizes[dim]) call.raise("index out of range in self", "IndexError");
  }
  const bool scaled = how == Combine::Add && !call.is_none("alpha") && call.number("alpha") != 1;
  if (scaled) {
    const double alpha = call.number("alpha");
    const RuntimeValue product = elementwise(call, {{&source, {}}, {nullptr, Number{alpha}}}, ResultType::Promoted,
                                             []<typename T>(T) { return scalar::Mul<T>{}; }, source.dtype);
    if (call.failed()) return {};
    source = *product.as<Tensor>();
  }
  for_each_index(expected, [&](const Sizes& at) {
    if (call.failed()) return;
    Sizes to = at;
    to[dim] = positions[static_cast<std::size_t>(at[dim])];
    combine_element(cells, address_of(cells.geometry, to), source, address_of(source.geometry, at), how);
  });
  return {std::move(result)};
}

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
    for (std::size_t d = 0; fits && d < sizes.size(); ++d) fits = d == dim || tensor.geometry.sizes[d] == sizes[d];
    if (!fits) {
      call.raise(fmt::format("Sizes of tensors must match except in dimension {}. Expected [{}] but got [{}]", dim,
                             fmt::join(sizes, ", "), fmt::join(tensor.geometry.sizes, ", ")));
      return tensor;
    }
    length += tensor.geometry.sizes[dim];
  }
  if (sizes.empty()) return call.allocate(dtype.value_or(DType::Float32), Sizes{0});
  sizes[dim] = length;
  Tensor result = call.allocate(*dtype, channels_last ? ordered_geometry(sizes, {1, 3, 2, 0}) : contiguous_geometry(sizes));
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
  const std::int64_t cells = result.elements();
  for (std::int64_t i = 0; i < cells; ++i) {
    const std::int64_t column = i % columns;
    const std::int64_t row = i / columns % rows;
    const bool keep = lower ? column - row <= diagonal : column - row >= diagonal;
    if (!keep) std::memset(result.storage->bytes.data() + static_cast<std::size_t>(i) * bytes, 0, bytes);
  }
  return {std::move(result)};
}

struct Edge {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t dilation = 0;
};

RuntimeValue pad_constant(KernelCall& call, const Tensor& a, const std::vector<Edge>& edges, const RuntimeValue& value) {
  Sizes sizes;
  for (std::size_t d = 0; d < a.geometry.rank(); ++d) {
    const std::int64_t size = a.geometry.sizes[d];
    sizes.push_back(size + std::max<std::int64_t>(0, size - 1) * edges[d].dilation + edges[d].low + edges[d].high);
    if (sizes.back() < 0) {
      call.raise(fmt::format("The input size {}, plus negative padding {} and {}, resulted in a negative output size, "
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
  for_each_index(a.geometry.sizes, [&](const Sizes& at) {
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

// ---- setitem

RuntimeValue kernel_Setitem(KernelCall& call) {
  const Tensor& inp = call.tensor("inp");
  if (call.failed()) return {};
  Tensor target = call.writes_target ? inp : order_keeping_clone(call, inp);
  if (!call.failed()) assign_item(call, target, call.arg("idx"), call.arg("val"));
  return {std::move(target)};
}

RuntimeValue kernel_CopyWithSetitem(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  if (call.failed()) return {};
  Tensor target = order_keeping_clone(call, a);
  if (!call.failed()) assign_item(call, target, call.arg("key"), call.arg("value"));
  return {std::move(target)};
}

RuntimeValue kernel_IndexPut(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& values = call.tensor("values");
  const bool accumulate = call.flag("accumulate");
  if (call.failed()) return {};
  if (values.dtype != a.dtype) {
    call.raise(fmt::format("Index put requires the source and destination dtypes match, got {} for the destination and "
                           "{} for the source.",
                           torch_name(a.dtype), torch_name(values.dtype)));
    return {};
  }
  RuntimeValue key = call.arg("indices");
  if (Sequence* sequence = key.as<Sequence>()) {
    sequence->is_list = false;
    for (RuntimeValue& item : sequence->items) {
      if (item.as<NoneValue>() != nullptr) item = {SliceValue{{{NoneValue{}}, {NoneValue{}}, {NoneValue{}}}}};
      // A 0-d index here is a tensor like any other.
      if (const Tensor* tensor = item.as<Tensor>()) item = {at_least_1d(*tensor)};
    }
  }
  Tensor result = order_keeping_clone(call, a);
  if (call.failed()) return {};
  const Selection selection = select_advanced(call, result, key);
  if (call.failed()) return {};
  put(call, result, selection, values, accumulate ? Accumulate::Yes : Accumulate::No);
  return {std::move(result)};
}

// ---- gather and scatter

RuntimeValue kernel_Take(KernelCall& call) { return index_select(call, true); }
RuntimeValue kernel_IndexSelect(KernelCall& call) { return index_select(call, true); }
RuntimeValue kernel_TakeAlongAxis(KernelCall& call) { return gather(call, true); }
RuntimeValue kernel_TakeAlongDim(KernelCall& call) { return gather(call, true); }
RuntimeValue kernel_GatherPrim(KernelCall& call) { return gather(call, false); }
RuntimeValue kernel_Gather(KernelCall& call) { return gather(call, false); }
RuntimeValue kernel_ScatterPrim(KernelCall& call) { return scatter(call, "src", Combine::Replace); }
RuntimeValue kernel_Scatter(KernelCall& call) {
  const std::string reduce = call.text("reduce");
  if (reduce == "add") return scatter(call, "src", Combine::Add);
  if (reduce == "multiply") return scatter(call, "src", Combine::Multiply);
  return scatter(call, "src", Combine::Replace);
}
RuntimeValue kernel_ScatterAddPrim(KernelCall& call) { return scatter(call, "value", Combine::Add); }
RuntimeValue kernel_ScatterAdd(KernelCall& call) { return scatter(call, "src", Combine::Add); }
RuntimeValue kernel_IndexAddPrim(KernelCall& call) { return index_slices(call, "value", Combine::Add); }
RuntimeValue kernel_IndexAdd(KernelCall& call) { return index_slices(call, "source", Combine::Add); }
RuntimeValue kernel_IndexCopyPrim(KernelCall& call) { return index_slices(call, "value", Combine::Replace); }
RuntimeValue kernel_IndexCopy(KernelCall& call) { return index_slices(call, "source", Combine::Replace); }

// ---- joining, padding, moving

RuntimeValue kernel_Cat(KernelCall& call) {
  const std::vector<Tensor> tensors = call.tensors("tensors");
  if (tensors.empty() && !call.failed()) call.raise("torch.cat(): expected a non-empty list of Tensors");
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
    tensor.geometry.sizes.insert(tensor.geometry.sizes.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    tensor.geometry.strides.insert(tensor.geometry.strides.begin() + static_cast<std::ptrdiff_t>(dim), 1);
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
  if (!call.failed() && edges.size() != a.geometry.rank()) call.bad_program("pad needs (low, high, dilation) per dim");
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
    call.raise(fmt::format("Length of pad should be no more than twice the number of dimensions of the input. Pad length "
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
    if (flipped[wrapped]) call.raise(fmt::format("dim {} appears multiple times in the list of dims", wrapped));
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
    call.raise("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
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
    if (repeats[d] < 0) call.raise(fmt::format("Trying to create tensor with negative dimension {}: [{}]", repeats[d] * from.sizes[d], fmt::join(repeats, ", ")));
    std::int64_t size = 0;
    if (__builtin_mul_overflow(repeats[d], from.sizes[d], &size)) size = INT64_MAX;
    sizes.push_back(size);
  }
  Tensor result = call.allocate(a.dtype, sizes);
  if (call.failed()) return {};
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    target.sizes.insert(target.sizes.end(), {repeats[d], from.sizes[d]});
    target.strides.insert(target.strides.end(), {result.geometry.strides[d] * from.sizes[d], result.geometry.strides[d]});
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
  if (flat) a.geometry = contiguous_geometry({given.elements()});
  const Sizes dims = flat ? Sizes{0} : call.integers("dims");
  if (shifts.size() != dims.size()) {
    call.raise(fmt::format("shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(), dims.size()));
  }
  Sizes shift_of(a.geometry.rank(), 0);
  for (std::size_t i = 0; i < dims.size() && !call.failed(); ++i) {
    const std::size_t dim = call.wrap_dim(dims[i], a.geometry.rank());
    if (dim < shift_of.size()) shift_of[dim] += shifts[i];
  }
  Tensor result = call.allocate(a.dtype, a.geometry.sizes);
  if (call.failed()) return {};
  for_each_index(a.geometry.sizes, [&](const Sizes& at) {
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

RuntimeValue kernel_Tril(KernelCall& call) { return triangle(call, true); }
RuntimeValue kernel_Triu(KernelCall& call) { return triangle(call, false); }

// ---- selection by mask

RuntimeValue kernel_Where(KernelCall& call) {
  const Operand pred = operand(call, "pred");
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (call.failed()) return {};
  const Operand values[] = {a, b};
  DType dtype = result_type(values);
  // Two numbers become tensors of the default dtypes here.
  if (pred.tensor != nullptr && a.tensor == nullptr && b.tensor == nullptr) {
    if (dtype == DType::Float64) dtype = DType::Float32;
    if (dtype == DType::Complex128) dtype = DType::Complex64;
  }
  return elementwise(call, {pred, a, b}, ResultType::Promoted, []<typename T>(T) { return scalar::Select<T>{}; }, dtype);
}

RuntimeValue kernel_MaskedFill(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& mask = call.tensor("mask");
  const Operand value = operand(call, "value");
  if (call.failed()) return {};
  if (mask.dtype != DType::Bool) {
    call.raise(fmt::format("masked_fill_ only supports boolean masks, but got mask with dtype {}", torch_name(mask.dtype)));
    return {};
  }
  const RuntimeValue filled = elementwise(call, {{&mask, {}}, value, {&a, {}}}, ResultType::Promoted,
                                          []<typename T>(T) { return scalar::Select<T>{}; }, a.dtype);
  const Tensor* result = filled.as<Tensor>();
  if (call.failed() || result == nullptr) return {};
  return {is_contiguous(result->geometry) ? *result : contiguous_clone(call, *result)};
}

// ---- embedding

RuntimeValue kernel_Embedding(KernelCall& call) {
  const Tensor& indices = call.tensor("a");
  const Tensor& weight = call.tensor("weight");
  if (call.failed()) return {};
  if (weight.geometry.rank() != 2) {
    call.raise("'weight' must be 2-D");
    return {};
  }
  if (!call.is_none("max_norm")) {
    call.not_supported("embedding with max_norm");
    return {};
  }
  Sizes sizes = indices.geometry.sizes;
  sizes.push_back(weight.geometry.sizes[1]);
  Tensor result = call.allocate(weight.dtype, sizes);
  if (call.failed()) return {};
  Tensor row = weight;
  row.geometry.sizes = {weight.geometry.sizes[1]};
  row.geometry.strides = {weight.geometry.strides[1]};
  Tensor to = result;
  to.geometry = contiguous_geometry(row.geometry.sizes);
  for (const std::int64_t index : values_as_int(indices)) {
    if (index < 0 || index >= weight.geometry.sizes[0]) {
      call.raise("index out of range in self", "IndexError");
      return {};
    }
    row.geometry.offset = weight.geometry.offset + index * weight.geometry.strides[0];
    copy_values(row, to);
    to.geometry.offset += row.geometry.sizes[0];
  }
  return {std::move(result)};
}
RuntimeValue kernel_EmbeddingPrim(KernelCall& call) { return kernel_Embedding(call); }

RuntimeValue kernel_EmbeddingBackward(KernelCall& call) {
  const Tensor& grad = call.tensor("grad");
  const Tensor& indices = call.tensor("indices");
  const std::int64_t rows = call.integer("num_weights");
  const std::int64_t padding = call.integer("padding_idx");
  if (call.flag("scale_grad_by_freq")) call.not_supported("embedding_backward with scale_grad_by_freq");
  if (call.failed() || grad.geometry.rank() == 0) return {};
  const std::int64_t width = grad.geometry.sizes.back();
  Tensor result = call.allocate(grad.dtype, {rows, width});
  if (call.failed()) return {};
  const Tensor plain = contiguous_clone(call, grad);
  std::int64_t from = 0;
  for (const std::int64_t index : values_as_int(indices)) {
    if (index < 0 || index >= rows) {
      call.raise("index out of range in self", "IndexError");
      return {};
    }
    for (std::int64_t i = 0; i < width && index != padding; ++i) {
      combine_element(result, index * width + i, plain, from + i, Combine::Add);
    }
    from += width;
  }
  return {std::move(result)};
}

}  // namespace tg
