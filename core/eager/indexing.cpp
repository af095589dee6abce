#include "core/eager/indexing.h"

#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/elementwise.h"
#include "core/eager/guards.h"

namespace tg {
namespace {

bool is_index_tensor(const RuntimeValue& value) {
  const Tensor* tensor = value.as<Tensor>();
  if (tensor == nullptr) return false;
  return tensor->geometry.rank() != 0 || tensor->dtype == DType::Bool ||
         tensor->dtype == DType::UInt8;
}

bool gathers(const RuntimeValue& item) {
  if (is_index_tensor(item) || item.as<bool>() != nullptr) return true;
  return item.as<Sequence>() != nullptr;
}

// The items of a key; a lone key is one item, a list is one gathering item.
std::vector<RuntimeValue> key_items(const RuntimeValue& key) {
  const Sequence* sequence = key.as<Sequence>();
  if (sequence == nullptr || sequence->is_list) return {key};
  return sequence->items;
}

// An int key that came as a 0-d tensor.
RuntimeValue plain_item(const RuntimeValue& item) {
  const Tensor* tensor = item.as<Tensor>();
  if (tensor == nullptr || is_index_tensor(item)) return item;
  return {values_as_int(*tensor).front()};
}

// One gathered dim: its positions and their shape.
struct Positions {
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> sizes;
};

Tensor list_tensor(KernelCall& call, const RuntimeValue& item) {
  std::vector<std::int64_t> values;
  const Sequence* sequence = item.as<Sequence>();
  bool truth = !sequence->items.empty();
  for (const RuntimeValue& one : sequence->items) {
    if (const bool* flag = one.as<bool>()) {
      values.push_back(*flag ? 1 : 0);
    } else if (const std::int64_t* integer = one.as<std::int64_t>()) {
      values.push_back(*integer);
      truth = false;
    } else {
      call.not_supported("a key with a nested list");
    }
  }
  Tensor tensor =
      call.allocate(truth ? DType::Bool : DType::Int64, {static_cast<std::int64_t>(values.size())});
  if (!call.failed()) fill_from_int(tensor, values);
  return tensor;
}

// A mask gathers by the positions of its true elements, one list per dim of the mask.
std::vector<Positions> mask_positions(KernelCall& call, const Tensor& mask) {
  const std::size_t rank = mask.geometry.rank();
  std::vector<Positions> all(rank);
  const std::vector<std::int64_t> truth = call.all_integers(mask);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == 0) continue;
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = rank; d-- > 0;) {
      all[d].values.push_back(rest % mask.geometry.sizes[d]);
      rest /= mask.geometry.sizes[d];
    }
  }
  for (Positions& one : all) one.sizes = {static_cast<std::int64_t>(one.values.size())};
  return all;
}

std::vector<std::int64_t> broadcast_positions(const Positions& from,
                                              const std::vector<std::int64_t>& sizes) {
  Tensor shaped;
  shaped.geometry = contiguous_geometry(from.sizes);
  const std::vector<std::int64_t> strides = broadcast_strides(shaped.geometry, sizes);
  std::vector<std::int64_t> result{0};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(result.size() * static_cast<std::size_t>(sizes[d]));
    for (const std::int64_t base : result) {
      for (std::int64_t i = 0; i < sizes[d]; ++i) next.push_back(base + i * strides[d]);
    }
    result = std::move(next);
  }
  for (std::int64_t& at : result) at = from.values[static_cast<std::size_t>(at)];
  return result;
}

// Adds one dim to a list of addresses in row-major order.
void extend(std::vector<std::int64_t>& addresses, std::int64_t size, std::int64_t stride) {
  std::vector<std::int64_t> next;
  next.reserve(addresses.size() * static_cast<std::size_t>(size));
  for (const std::int64_t base : addresses) {
    for (std::int64_t i = 0; i < size; ++i) next.push_back(base + i * stride);
  }
  addresses = std::move(next);
}

// The key after its basic parts were applied: which dims of `view` are gathered.
struct Resolved {
  Tensor view;
  std::vector<std::optional<Positions>> gathered;  // per dim of view
};

std::size_t dims_used(const RuntimeValue& item) {
  if (item.as<NoneValue>() != nullptr || item.as<EllipsisValue>() != nullptr ||
      item.as<bool>() != nullptr)
    return 0;
  const Tensor* tensor = item.as<Tensor>();
  if (tensor != nullptr && (tensor->dtype == DType::Bool || tensor->dtype == DType::UInt8))
    return tensor->geometry.rank();
  return 1;
}

bool check_mask(KernelCall& call, const Tensor& mask, const Tensor& tensor, std::size_t dim) {
  for (std::size_t d = 0; d < mask.geometry.rank(); ++d) {
    if (dim + d < tensor.geometry.rank() &&
        mask.geometry.sizes[d] == tensor.geometry.sizes[dim + d])
      continue;
    call.raise(fmt::format("The shape of the mask [{}] at index {} does not match the shape of the "
                           "indexed tensor [{}] at index {}",
                           fmt::join(mask.geometry.sizes, ", "), d,
                           fmt::join(tensor.geometry.sizes, ", "), dim + d),
               "IndexError");
    return false;
  }
  return true;
}

Resolved resolve(KernelCall& call, const Tensor& tensor, const std::vector<RuntimeValue>& items) {
  Resolved result;
  std::size_t used = 0;
  for (const RuntimeValue& item : items) used += dims_used(item);
  if (used > tensor.geometry.rank()) {
    call.raise(fmt::format("too many indices for tensor of dimension {}", tensor.geometry.rank()),
               "IndexError");
    return result;
  }
  // Gathering items stand as full slices while the basic ones make a view.
  Sequence basic;
  struct Gather {
    std::size_t dim;
    Positions positions;
  };
  std::vector<Gather> gathers_at;
  std::size_t dim = 0;
  std::size_t source_dim = 0;  // of `tensor`
  const RuntimeValue everything{SliceValue{{{NoneValue{}}, {NoneValue{}}, {NoneValue{}}}}};
  for (const RuntimeValue& raw : items) {
    const RuntimeValue item = plain_item(raw);
    if (item.as<EllipsisValue>() != nullptr) {
      basic.items.push_back(item);
      dim += tensor.geometry.rank() - used;
      source_dim += tensor.geometry.rank() - used;
    } else if (item.as<NoneValue>() != nullptr || item.as<SliceValue>() != nullptr) {
      basic.items.push_back(item);
      ++dim;
      source_dim += item.as<SliceValue>() != nullptr ? 1 : 0;
    } else if (const bool* flag = item.as<bool>()) {
      basic.items.push_back({NoneValue{}});
      Positions one;
      if (*flag) one.values.push_back(0);
      one.sizes = {*flag ? 1 : 0};
      gathers_at.push_back({dim++, std::move(one)});
    } else if (item.as<Tensor>() != nullptr || item.as<Sequence>() != nullptr) {
      const Tensor index =
          item.as<Tensor>() != nullptr ? *item.as<Tensor>() : list_tensor(call, item);
      if (!call.reserve(index.elements(), sizeof(std::int64_t))) return result;
      if (index.dtype == DType::Bool || index.dtype == DType::UInt8) {
        if (!check_mask(call, index, tensor, source_dim)) return result;
        source_dim += index.geometry.rank();
        for (Positions& one : mask_positions(call, index)) {
          basic.items.push_back(everything);
          gathers_at.push_back({dim++, std::move(one)});
        }
      } else if (index.dtype != DType::Int64 && index.dtype != DType::Int32) {
        call.raise("tensors used as indices must be long, int, byte or bool tensors", "IndexError");
        return result;
      } else {
        ++source_dim;
        basic.items.push_back(everything);
        gathers_at.push_back({dim++, Positions{call.all_integers(index), index.geometry.sizes}});
      }
    } else {
      basic.items.push_back(item);  // an int: its dim goes away
      ++source_dim;
    }
  }
  result.view = basic_getitem(call, tensor, {std::move(basic)});
  if (call.failed()) return result;
  result.gathered.resize(result.view.geometry.rank());
  for (Gather& one : gathers_at) {
    if (one.dim < result.gathered.size()) result.gathered[one.dim] = std::move(one.positions);
  }
  return result;
}

}  // namespace

bool check_key(KernelCall& call, const RuntimeValue& key) {
  for (const RuntimeValue& item : key_items(key)) {
    if (item.as<std::int64_t>() != nullptr || item.as<bool>() != nullptr ||
        item.as<NoneValue>() != nullptr || item.as<EllipsisValue>() != nullptr ||
        item.as<SliceValue>() != nullptr || item.as<Tensor>() != nullptr ||
        item.as<Sequence>() != nullptr) {
      continue;
    }
    if (item.as<double>() != nullptr) {
      call.raise(
          "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
          "valid indices (got float)",
          "IndexError");
    } else {
      call.bad_program(fmt::format(
          "'{}' cannot index a tensor with {}: a key is made of integers, slices, `...`, None, "
          "tensors and lists",
          call.callee(), python_text(item)));
    }
    return false;
  }
  return true;
}

bool has_advanced_key(const RuntimeValue& key) {
  for (const RuntimeValue& item : key_items(key)) {
    if (gathers(item)) return true;
  }
  return false;
}

Tensor basic_getitem(KernelCall& call, const Tensor& tensor, const RuntimeValue& key) {
  KernelCall inner(call.run(), info(OpCode::Getitem), call.callee());
  RuntimeValue plain = plain_item(key);
  if (Sequence* sequence = plain.as<Sequence>()) {
    for (RuntimeValue& item : sequence->items) item = plain_item(item);
  }
  inner.bind({{tensor}, std::move(plain)}, {});
  const RuntimeValue result = kernel_of(OpCode::Getitem)(inner);
  if (inner.failed()) {
    call.adopt(inner);
    return tensor;
  }
  return *result.as<Tensor>();
}

Selection select_advanced(KernelCall& call, const Tensor& tensor, const RuntimeValue& key) {
  Selection selection;
  Resolved resolved = resolve(call, tensor, key_items(key));
  if (call.failed()) return selection;
  const Geometry& geometry = resolved.view.geometry;
  std::vector<std::size_t> dims;
  std::vector<Tensor> shapes;
  for (std::size_t d = 0; d < resolved.gathered.size(); ++d) {
    if (!resolved.gathered[d]) continue;
    dims.push_back(d);
    Tensor shape;
    shape.geometry = contiguous_geometry(resolved.gathered[d]->sizes);
    shapes.push_back(std::move(shape));
  }
  std::vector<Operand> operands;
  for (const Tensor& shape : shapes) operands.push_back({&shape, {}});
  KernelCall trial(call.run(), call.op(), call.callee());
  const std::vector<std::int64_t> index_sizes = broadcast_shape(trial, operands);
  if (trial.failed()) {
    std::string shown;
    for (const Tensor& shape : shapes) {
      shown +=
          fmt::format("{}[{}]", shown.empty() ? "" : ", ", fmt::join(shape.geometry.sizes, ", "));
    }
    call.raise(fmt::format("shape mismatch: indexing tensors could not be broadcast together with "
                           "shapes {}",
                           shown),
               "IndexError");
    return selection;
  }
  if (!call.reserve(element_count(contiguous_geometry(index_sizes)), 4 * sizeof(std::int64_t)))
    return selection;
  std::vector<std::int64_t> offsets;
  for (const std::size_t d : dims) {
    std::vector<std::int64_t> positions = broadcast_positions(*resolved.gathered[d], index_sizes);
    offsets.resize(positions.size(), 0);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      std::int64_t at = positions[i];
      if (at < -geometry.sizes[d] || at >= geometry.sizes[d]) {
        call.raise(fmt::format("index {} is out of bounds for dimension {} with size {}", at, d,
                               geometry.sizes[d]),
                   "IndexError");
        return selection;
      }
      if (at < 0) at += geometry.sizes[d];
      offsets[i] += at * geometry.strides[d];
    }
  }
  // Neighbouring gathered dims stay where they are; scattered ones move to the front.
  const bool adjacent = dims.back() - dims.front() + 1 == dims.size();
  const std::size_t index_at = adjacent ? dims.front() : 0;
  auto count = static_cast<std::int64_t>(offsets.size());
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    if (!resolved.gathered[d]) count = saturating_product(count, geometry.sizes[d]);
  }
  if (!call.reserve(count, 2 * sizeof(std::int64_t))) return selection;
  std::vector<std::int64_t> addresses{geometry.offset};
  const auto add_index = [&] {
    std::vector<std::int64_t> next;
    next.reserve(addresses.size() * offsets.size());
    for (const std::int64_t base : addresses) {
      for (const std::int64_t offset : offsets) next.push_back(base + offset);
    }
    addresses = std::move(next);
    selection.sizes.insert(selection.sizes.end(), index_sizes.begin(), index_sizes.end());
  };
  if (index_at == 0 && (!adjacent || dims.front() == 0)) add_index();
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    if (adjacent && d == dims.front() && d != 0) add_index();
    if (resolved.gathered[d]) continue;
    extend(addresses, geometry.sizes[d], geometry.strides[d]);
    selection.sizes.push_back(geometry.sizes[d]);
  }
  selection.addresses = std::move(addresses);
  return selection;
}

RuntimeValue advanced_getitem(KernelCall& call, const Tensor& tensor, const RuntimeValue& key) {
  const Selection selection = select_advanced(call, tensor, key);
  if (call.failed()) return {};
  Tensor result = call.allocate(tensor.dtype, selection.sizes);
  if (call.failed()) return {};
  const std::size_t bytes = size_bytes(tensor.dtype);
  std::byte* to = result.storage->bytes.data();
  const std::byte* from = tensor.storage->bytes.data();
  for (const std::int64_t address : selection.addresses) {
    std::memcpy(to, from + static_cast<std::size_t>(address) * bytes, bytes);
    to += bytes;
  }
  return {std::move(result)};
}

void put(KernelCall& call, Tensor& target, const Selection& selection, const Tensor& values,
         Accumulate accumulate) {
  if (call.failed()) return;
  Tensor full = call.allocate(target.dtype, selection.sizes);
  if (call.failed()) return;
  bool fits = values.geometry.rank() <= selection.sizes.size();
  for (std::size_t d = 0; fits && d < values.geometry.rank(); ++d) {
    const std::int64_t size = values.geometry.sizes[values.geometry.rank() - 1 - d];
    fits = size == 1 || size == selection.sizes[selection.sizes.size() - 1 - d];
  }
  if (!fits) {
    call.raise(
        fmt::format("shape mismatch: value tensor of shape [{}] cannot be broadcast to indexing "
                    "result of shape "
                    "[{}]",
                    fmt::join(values.geometry.sizes, ", "), fmt::join(selection.sizes, ", ")));
    return;
  }
  copy_values(values, full);
  const std::size_t bytes = size_bytes(target.dtype);
  const std::byte* from = full.storage->bytes.data();
  std::byte* base = target.storage->bytes.data();
  if (accumulate == Accumulate::No) {
    for (const std::int64_t address : selection.addresses) {
      std::memcpy(base + static_cast<std::size_t>(address) * bytes, from, bytes);
      from += bytes;
    }
    return;
  }
  visit_element(target.dtype, [&](auto zero) {
    using S = decltype(zero);
    const S* added = reinterpret_cast<const S*>(from);
    S* cells = reinterpret_cast<S*>(base);
    for (const std::int64_t address : selection.addresses) {
      cells[address] = Narrow<S>::from(scalar::plus(widen(cells[address]), widen(*added++)));
    }
  });
}

Tensor number_tensor(KernelCall& call, const RuntimeValue& number, DType dtype) {
  Tensor tensor = call.allocate(dtype, std::vector<std::int64_t>{});
  if (call.failed()) return tensor;
  const std::optional<Number> value = number_of(number);
  if (!value) {
    call.bad_program(fmt::format("'{}' needs a tensor or a number as value", call.callee()));
  } else if (const std::int64_t* integer = std::get_if<std::int64_t>(&*value)) {
    fill_from_int(tensor, {*integer});
  } else if (is_complex(dtype)) {
    const auto* complex = std::get_if<std::complex<double>>(&*value);
    fill_from_double(tensor, {to_double(*value), complex != nullptr ? complex->imag() : 0});
  } else {
    fill_from_double(tensor, {to_double(*value)});
  }
  return tensor;
}

void assign_item(KernelCall& call, Tensor target, const RuntimeValue& key,
                 const RuntimeValue& value) {
  const Tensor* given = value.as<Tensor>();
  Tensor from = given != nullptr ? *given : number_tensor(call, value, target.dtype);
  if (call.failed()) return;
  if (has_advanced_key(key)) {
    if (given != nullptr && given->dtype != target.dtype) {
      call.raise(fmt::format(
          "Index put requires the source and destination dtypes match, got {} for the destination "
          "and {} for the source.",
          torch_name(target.dtype), torch_name(given->dtype)));
      return;
    }
    const Selection selection = select_advanced(call, target, key);
    if (call.failed()) return;
    put(call, target, selection, from, Accumulate::No);
    return;
  }
  Tensor window = basic_getitem(call, target, key);
  if (call.failed()) return;
  if (from.geometry.rank() == 0 && window.geometry.rank() != 0) {
    // fill_: elements that share a cell get the same value, so each cell is written once.
    for (std::size_t d = 0; d < window.geometry.rank(); ++d) {
      if (window.geometry.strides[d] == 0 && window.geometry.sizes[d] > 1)
        window.geometry.sizes[d] = 1;
    }
    copy_values(from, window);
    return;
  }
  // Leading dims of size 1 are dropped from the value.
  Geometry& geometry = from.geometry;
  while (geometry.rank() > window.geometry.rank() && geometry.sizes.front() == 1) {
    geometry.sizes.erase(geometry.sizes.begin());
    geometry.strides.erase(geometry.strides.begin());
  }
  copy_into(call, from, window);
}

}  // namespace tg
