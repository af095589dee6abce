// Kernels that select elements by keys and index tensors: setitem, gather and scatter, embedding.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/elementwise.h"
#include "core/eager/indexing.h"
#include "core/eager/kernel_table.h"
#include "core/eager/moves.h"

namespace tg {
namespace {

// Checks one index value of the gather and scatter families, which do not wrap.
bool in_range(KernelCall& call, std::int64_t index, std::size_t dim, std::int64_t size) {
  if (index >= 0 && index < size) return true;
  call.raise(
      fmt::format("index {} is out of bounds for dimension {} with size {}", index, dim, size));
  return false;
}

RuntimeValue index_select(KernelCall& call) {
  const Tensor& given = call.tensor("a");
  const Tensor a = at_least_1d(given);
  const Tensor& index = call.tensor("index");
  const std::size_t dim = call.dim("dim", given.geometry.rank());
  if (call.failed()) return {};
  if (index.dtype != DType::Int64 && index.dtype != DType::Int32) {
    call.raise("index_select(): Expected dtype int32 or int64 for index");
    return {};
  }
  if (index.geometry.rank() > 1) {
    call.raise("index_select(): Index is supposed to be a vector", "IndexError");
    return {};
  }
  const std::vector<std::int64_t> positions = call.all_integers(index);
  Sizes sizes = a.geometry.sizes;
  sizes[dim] = static_cast<std::int64_t>(positions.size());
  Tensor result = call.allocate(a.dtype, sizes);
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= a.geometry.sizes[dim])
      call.raise("index out of range in self", "IndexError");
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

RuntimeValue gather_along(KernelCall& call, const Tensor& a, const Tensor& index,
                          const Tensor& given, std::size_t dim, bool broadcast);

RuntimeValue gather(KernelCall& call, bool broadcast) {
  Tensor a = at_least_1d(call.tensor("a"));
  const Tensor& given = call.tensor("index");
  Tensor index = at_least_1d(given);
  if (broadcast && call.is_none("dim")) {
    a = contiguous_clone(call, a);
    index = contiguous_clone(call, index);
    if (call.failed()) return {};
    a.geometry = contiguous_geometry({a.elements()});
    index.geometry = contiguous_geometry({index.elements()});
    return gather_along(call, a, index, index, 0, true);
  }
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  return gather_along(call, a, index, given, dim, broadcast);
}

RuntimeValue gather_along(KernelCall& call, const Tensor& a, const Tensor& index,
                          const Tensor& given, std::size_t dim, bool broadcast) {
  if (index.dtype != DType::Int64 && index.dtype != DType::Int32) {
    call.raise("gather(): Expected dtype int32/int64 for index");
    return {};
  }
  for (std::size_t d = 0; !broadcast && d < a.geometry.rank(); ++d) {
    if (index.geometry.rank() != a.geometry.rank() || d == dim ||
        index.geometry.sizes[d] <= a.geometry.sizes[d])
      continue;
    call.raise(fmt::format(
        "Size does not match at dimension {} expected index [{}] to be no larger "
        "than self [{}] apart from dimension {}",
        d, fmt::join(index.geometry.sizes, ", "), fmt::join(a.geometry.sizes, ", "), dim));
    return {};
  }
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
  const std::vector<std::int64_t> positions = call.all_integers(wide_index);
  std::size_t next = 0;
  for_each_index(call, sizes, [&](const Sizes& at) {
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

void combine_element(Tensor& target, std::int64_t address, const Tensor& source,
                     std::int64_t source_address, Combine how) {
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
  const std::string_view value_name =
      call.is_none(source_name) ? std::string_view{"value"} : source_name;
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
    if (index.geometry.sizes[d] > source.geometry.sizes[d] ||
        (d != dim && index.geometry.sizes[d] > cells.geometry.sizes[d])) {
      call.raise(fmt::format(
          "Expected index [{}] to be no larger than self [{}] apart from dimension {} and to be no "
          "larger size than src [{}]",
          fmt::join(index.geometry.sizes, ", "), fmt::join(cells.geometry.sizes, ", "), dim,
          fmt::join(source.geometry.sizes, ", ")));
      return {};
    }
  }
  const std::vector<std::int64_t> positions = call.all_integers(index);
  std::size_t next = 0;
  for_each_index(call, index.geometry.sizes, [&](const Sizes& at) {
    const std::int64_t position = positions[next++];
    if (!in_range(call, position, dim, cells.geometry.sizes[dim])) return;
    Sizes to = at;
    to[dim] = position;
    combine_element(cells, address_of(cells.geometry, to), source, address_of(source.geometry, at),
                    how);
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
    call.raise(fmt::format(
        "{}(): self and source expected to have the same dtype, but got (self) {} and (source) {}",
        call.name(), torch_name(given.dtype), torch_name(source.dtype)));
    return {};
  }
  Tensor result = contiguous_clone(call, given);
  if (call.failed()) return {};
  Tensor cells = at_least_1d(result);
  const std::vector<std::int64_t> positions = call.all_integers(index);
  Sizes expected = cells.geometry.sizes;
  expected[dim] = static_cast<std::int64_t>(positions.size());
  if (source.geometry.rank() + 1 == cells.geometry.rank() && positions.size() == 1) {
    source.geometry.sizes.insert(source.geometry.sizes.begin() + static_cast<std::ptrdiff_t>(dim),
                                 1);
    source.geometry.strides.insert(
        source.geometry.strides.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  }
  if (source.geometry.sizes != expected) {
    call.raise(
        fmt::format("{}(): Source/destination tensor must have same slice shapes. Destination "
                    "slice shape: [{}] at "
                    "dimension {} and source slice shape: [{}]",
                    call.name(), fmt::join(cells.geometry.sizes, ", "), dim,
                    fmt::join(source.geometry.sizes, ", ")));
    return {};
  }
  for (const std::int64_t position : positions) {
    if (position < 0 || position >= cells.geometry.sizes[dim])
      call.raise("index out of range in self", "IndexError");
  }
  const bool scaled = how == Combine::Add && !call.is_none("alpha") && call.number("alpha") != 1;
  if (scaled) {
    const double alpha = call.number("alpha");
    const RuntimeValue product = elementwise(
        call, {{&source, {}}, {nullptr, Number{alpha}}}, ResultType::Promoted,
        []<typename T>(T) { return scalar::Mul<T>{}; }, source.dtype);
    if (call.failed()) return {};
    source = *product.as<Tensor>();
  }
  for_each_index(call, expected, [&](const Sizes& at) {
    Sizes to = at;
    to[dim] = positions[static_cast<std::size_t>(at[dim])];
    combine_element(cells, address_of(cells.geometry, to), source, address_of(source.geometry, at),
                    how);
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
    call.raise(
        fmt::format("Index put requires the source and destination dtypes match, got {} for the "
                    "destination and "
                    "{} for the source.",
                    torch_name(a.dtype), torch_name(values.dtype)));
    return {};
  }
  RuntimeValue key = call.arg("indices");
  if (Sequence* sequence = key.as<Sequence>()) {
    sequence->is_list = false;
    for (RuntimeValue& item : sequence->items) {
      if (item.as<NoneValue>() != nullptr)
        item = {SliceValue{{{NoneValue{}}, {NoneValue{}}, {NoneValue{}}}}};
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

RuntimeValue kernel_Take(KernelCall& call) {
  return index_select(call);
}
RuntimeValue kernel_IndexSelect(KernelCall& call) {
  return index_select(call);
}
RuntimeValue kernel_TakeAlongAxis(KernelCall& call) {
  return gather(call, true);
}
RuntimeValue kernel_TakeAlongDim(KernelCall& call) {
  return gather(call, true);
}
RuntimeValue kernel_GatherPrim(KernelCall& call) {
  return gather(call, false);
}
RuntimeValue kernel_Gather(KernelCall& call) {
  return gather(call, false);
}
RuntimeValue kernel_ScatterPrim(KernelCall& call) {
  return scatter(call, "src", Combine::Replace);
}
RuntimeValue kernel_Scatter(KernelCall& call) {
  const std::string reduce = call.text("reduce");
  if (reduce == "add") return scatter(call, "src", Combine::Add);
  if (reduce == "multiply") return scatter(call, "src", Combine::Multiply);
  return scatter(call, "src", Combine::Replace);
}
RuntimeValue kernel_ScatterAddPrim(KernelCall& call) {
  return scatter(call, "value", Combine::Add);
}
RuntimeValue kernel_ScatterAdd(KernelCall& call) {
  return scatter(call, "src", Combine::Add);
}
RuntimeValue kernel_IndexAddPrim(KernelCall& call) {
  return index_slices(call, "value", Combine::Add);
}
RuntimeValue kernel_IndexAdd(KernelCall& call) {
  return index_slices(call, "source", Combine::Add);
}
RuntimeValue kernel_IndexCopyPrim(KernelCall& call) {
  return index_slices(call, "value", Combine::Replace);
}
RuntimeValue kernel_IndexCopy(KernelCall& call) {
  return index_slices(call, "source", Combine::Replace);
}

// ---- embedding

RuntimeValue kernel_Embedding(KernelCall& call) {
  const Tensor& indices = call.tensor("a");
  const Tensor& weight = call.tensor("weight");
  if (call.failed()) return {};
  if (indices.dtype != DType::Int64 && indices.dtype != DType::Int32) {
    call.raise(
        fmt::format("Expected tensor for argument #1 'indices' to have one of the following "
                    "scalar types: Long, Int; but got {} instead (while checking arguments "
                    "for embedding)",
                    torch_name(indices.dtype)));
    return {};
  }
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
  for (const std::int64_t index : call.all_integers(indices)) {
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
RuntimeValue kernel_EmbeddingPrim(KernelCall& call) {
  return kernel_Embedding(call);
}

RuntimeValue kernel_EmbeddingBackward(KernelCall& call) {
  const Tensor& grad = call.tensor("grad");
  const Tensor& indices = call.tensor("indices");
  const std::int64_t rows = call.integer("num_weights");
  const std::int64_t padding = call.integer("padding_idx");
  if (call.flag("scale_grad_by_freq"))
    call.not_supported("embedding_backward with scale_grad_by_freq");
  if (call.failed() || grad.geometry.rank() == 0) return {};
  const std::int64_t width = grad.geometry.sizes.back();
  Tensor result = call.allocate(grad.dtype, {rows, width});
  if (call.failed()) return {};
  const Tensor plain = contiguous_clone(call, grad);
  std::int64_t from = 0;
  for (const std::int64_t index : call.all_integers(indices)) {
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
