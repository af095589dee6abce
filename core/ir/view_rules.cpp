// The stride rules of PyTorch's view operations, on geometries alone.
#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/ir/geometry.h"

namespace tg {
namespace {

using Sizes = std::vector<std::int64_t>;
using Outcome = Expected<ViewOutcome, std::string>;
using Kind = ViewOutcome::Kind;

Unexpected<std::string> refuse(std::string message) { return Unexpected{std::move(message)}; }

Outcome view(Geometry geometry) { return ViewOutcome{Kind::View, {std::move(geometry)}}; }
Outcome views(std::vector<Geometry> geometries) {
  return ViewOutcome{Kind::View, std::move(geometries)};
}
Outcome copy(Geometry geometry) { return ViewOutcome{Kind::Copy, {std::move(geometry)}}; }
Outcome unknown() { return ViewOutcome{}; }

// ---- reading arguments

std::optional<std::int64_t> integer(const Value& value) {
  if (value.kind == ValueKind::Bool) return value.text == "True" ? 1 : 0;
  if (value.kind != ValueKind::Int) return std::nullopt;
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// (2, 3), [2, 3], torch.Size([2, 3]) or a lone 2
std::optional<Sizes> integers(const Value& value) {
  if (const std::optional<std::int64_t> one = integer(value)) return Sizes{*one};
  if (value.kind == ValueKind::Call && value.items.size() == 1) return integers(value.items.front());
  if (value.kind != ValueKind::Tuple && value.kind != ValueKind::List) return std::nullopt;
  Sizes all;
  for (const Value& item : value.items) {
    const std::optional<std::int64_t> number = integer(item);
    if (!number) return std::nullopt;
    all.push_back(*number);
  }
  return all;
}

// The arguments of one statement by the parameter names of its schema.
class ViewArguments {
 public:
  ViewArguments(const OpInfo& op, std::span<const Value> args) : op_(op), args_(args) {}

  // Null when not given or None.
  [[nodiscard]] const Value* find(std::string_view name) const {
    const Value* found = find_given(name);
    return found != nullptr && found->kind != ValueKind::None ? found : nullptr;
  }

  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const {
    if (const Value* value = find(name)) return integer(*value);
    if (find_given(name) != nullptr) return std::nullopt;
    for (const Param& param : op_.params) {
      if (param.name != name) continue;
      return integer(Value::leaf(ValueKind::Int, param.default_text));
    }
    return std::nullopt;
  }

  // A sequence parameter; view(x, 2, 3) spreads it over the remaining positional arguments.
  [[nodiscard]] std::optional<Sizes> sequence(std::string_view name) const {
    const Value* value = find(name);
    if (value == nullptr) return std::nullopt;
    const std::size_t first = position(name);
    if (integer(*value) && first < args_.size() && value == &args_[first]) {
      Sizes all;
      for (std::size_t i = first; i < args_.size() && args_[i].kind != ValueKind::Keyword; ++i) {
        const std::optional<std::int64_t> one = integer(args_[i]);
        if (!one) return std::nullopt;
        all.push_back(*one);
      }
      return all;
    }
    return integers(*value);
  }

 private:
  [[nodiscard]] std::size_t position(std::string_view name) const {
    std::size_t index = 0;
    for (const Param& param : op_.params) {
      if (param.name == name && !param.keyword_only) return index;
      ++index;
    }
    return args_.size();
  }

  [[nodiscard]] const Value* find_given(std::string_view name) const {
    for (const Value& arg : args_) {
      if (arg.kind == ValueKind::Keyword && arg.text == name) return &arg.items.front();
    }
    const std::size_t index = position(name);
    if (index < args_.size() && args_[index].kind != ValueKind::Keyword) return &args_[index];
    return nullptr;
  }

  const OpInfo& op_;
  std::span<const Value> args_;
};

// ---- dims

// A dim counted from the end wraps; rank 0 accepts 0 and -1, as PyTorch does.
Expected<std::size_t, std::string> wrap(std::int64_t dim, std::size_t rank) {
  const auto range = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (dim < -range || dim >= range) {
    return refuse(fmt::format("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                              -range, range - 1, dim));
  }
  return static_cast<std::size_t>(dim < 0 ? dim + range : dim);
}

void drop_dim(Geometry& geometry, std::size_t dim) {
  geometry.sizes.erase(geometry.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  geometry.strides.erase(geometry.strides.begin() + static_cast<std::ptrdiff_t>(dim));
}

void insert_dim(Geometry& geometry, std::size_t dim) {
  const std::int64_t stride = dim < geometry.rank() ? geometry.sizes[dim] * geometry.strides[dim] : 1;
  geometry.sizes.insert(geometry.sizes.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  geometry.strides.insert(geometry.strides.begin() + static_cast<std::ptrdiff_t>(dim), stride);
}

// Python's slice rule for start:stop:step on dim `dim`; step > 0.
void slice_dim(Geometry& geometry, std::size_t dim, std::int64_t start, std::int64_t stop,
               std::int64_t step) {
  const std::int64_t size = geometry.sizes[dim];
  if (start < 0) start += size;
  if (stop < 0) stop += size;
  start = std::clamp<std::int64_t>(start, 0, size);
  stop = std::clamp<std::int64_t>(stop, start, size);
  geometry.offset += start * geometry.strides[dim];
  geometry.sizes[dim] = (stop - start) / step + ((stop - start) % step != 0 ? 1 : 0);
  geometry.strides[dim] *= step;
}

Outcome select(Geometry geometry, std::size_t dim, std::int64_t index) {
  const std::int64_t size = geometry.sizes[dim];
  if (index < -size || index >= size) {
    return refuse(fmt::format("select(): index {} out of range for tensor of size [{}] at dimension {}",
                              index, fmt::join(geometry.sizes, ", "), dim));
  }
  geometry.offset += (index < 0 ? index + size : index) * geometry.strides[dim];
  drop_dim(geometry, dim);
  return view(std::move(geometry));
}

Outcome permuted(const Geometry& geometry, const std::vector<std::size_t>& dims) {
  Geometry result;
  result.offset = geometry.offset;
  for (const std::size_t d : dims) {
    result.sizes.push_back(geometry.sizes[d]);
    result.strides.push_back(geometry.strides[d]);
  }
  return view(std::move(result));
}

Outcome permute(const Geometry& geometry, const Sizes& dims) {
  if (dims.size() != geometry.rank()) {
    return refuse(
        fmt::format("permute(sparse_coo): number of dimensions in the tensor input does not match the length "
                    "of the desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
                    geometry.rank(), dims.size()));
  }
  std::vector<std::size_t> wrapped;
  for (const std::int64_t dim : dims) {
    const Expected<std::size_t, std::string> one = wrap(dim, geometry.rank());
    if (!one) return refuse(one.error());
    if (std::find(wrapped.begin(), wrapped.end(), *one) != wrapped.end()) {
      return refuse("permute(): duplicate dims are not allowed.");
    }
    wrapped.push_back(*one);
  }
  return permuted(geometry, wrapped);
}

Outcome transpose(Geometry geometry, std::int64_t dim0, std::int64_t dim1) {
  const Expected<std::size_t, std::string> a = wrap(dim0, geometry.rank());
  if (!a) return refuse(a.error());
  const Expected<std::size_t, std::string> b = wrap(dim1, geometry.rank());
  if (!b) return refuse(b.error());
  if (geometry.rank() != 0) {
    std::swap(geometry.sizes[*a], geometry.sizes[*b]);
    std::swap(geometry.strides[*a], geometry.strides[*b]);
  }
  return view(std::move(geometry));
}

Outcome movedim(const Geometry& geometry, const Sizes& source, const Sizes& destination) {
  const std::size_t rank = geometry.rank();
  if (source.size() != destination.size()) {
    return refuse(fmt::format("movedim: Invalid source or destination dims: source ([{}] dims) should contain "
                              "the same number of dims as destination ([{}] dims)",
                              fmt::join(source, ", "), fmt::join(destination, ", ")));
  }
  constexpr std::size_t kFree = static_cast<std::size_t>(-1);
  std::vector<std::size_t> order(rank, kFree);
  std::vector<bool> used(rank, false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const Expected<std::size_t, std::string> from = wrap(source[i], rank);
    if (!from) return refuse(from.error());
    const Expected<std::size_t, std::string> to = wrap(destination[i], rank);
    if (!to) return refuse(to.error());
    if (rank == 0) return view(geometry);
    if (used[*from]) return refuse(fmt::format("movedim: repeated dim in `source` ({{{}}})", fmt::join(source, ", ")));
    if (order[*to] != kFree) {
      return refuse(fmt::format("movedim: repeated dim in `destination` ({{{}}})", fmt::join(destination, ", ")));
    }
    order[*to] = *from;
    used[*from] = true;
  }
  std::size_t next = 0;
  for (std::size_t& dim : order) {
    if (dim != kFree) continue;
    while (used[next]) ++next;
    dim = next++;
  }
  return permuted(geometry, order);
}

// ---- sizes

Outcome reshape(const Geometry& geometry, Sizes sizes, bool must_view) {
  Expected<Sizes, std::string> resolved = resolve_reshape(element_count(geometry), std::move(sizes));
  if (!resolved) return refuse(resolved.error());
  if (std::optional<Geometry> result = viewed_as(geometry, *resolved)) return view(std::move(*result));
  if (must_view) {
    return refuse(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans "
        "across two contiguous subspaces). Use .reshape(...) instead.");
  }
  return copy(contiguous_geometry(*resolved));
}

Outcome expand(const Geometry& geometry, const Sizes& sizes) {
  const std::size_t rank = geometry.rank();
  if (sizes.size() < rank) {
    return refuse(fmt::format("expand(torch.FloatTensor{{[{}]}}, size=[{}]): the number of sizes provided ({}) must be "
                              "greater or equal to the number of dimensions in the tensor ({})",
                              fmt::join(geometry.sizes, ", "), fmt::join(sizes, ", "), sizes.size(), rank));
  }
  Geometry result;
  result.offset = geometry.offset;
  result.sizes = sizes;
  result.strides.assign(sizes.size(), 0);
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::size_t new_dims = sizes.size() - rank;
    const bool exists = i >= new_dims;
    const std::int64_t size = exists ? geometry.sizes[i - new_dims] : 1;
    std::int64_t stride = 0;
    if (exists) {
      stride = geometry.strides[i - new_dims];
    } else if (rank != 0) {
      stride = result.sizes[i + 1] * result.strides[i + 1];
    }
    std::int64_t target = sizes[i];
    if (target == -1) {
      if (!exists) {
        return refuse(fmt::format("The expanded size of the tensor (-1) isn't allowed in a leading, "
                                  "non-existing dimension {}",
                                  i));
      }
      target = size;
    }
    if (size != target) {
      if (size != 1) {
        return refuse(fmt::format("The expanded size of the tensor ({}) must match the existing size ({}) at "
                                  "non-singleton dimension {}.  Target sizes: [{}].  Tensor sizes: [{}]",
                                  target, size, i, fmt::join(sizes, ", "), fmt::join(geometry.sizes, ", ")));
      }
      stride = 0;
    }
    result.sizes[i] = target;
    result.strides[i] = stride;
  }
  return view(std::move(result));
}

// Thunder's torch executor runs it as unsqueeze at every new dim, then expand.
Outcome broadcast_in_dim(Geometry geometry, const Sizes& sizes, const Sizes& dims) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool kept =
        std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(i)) != dims.end();
    if (kept) continue;
    if (i > geometry.rank()) return refuse("broadcast_in_dim: broadcast_dims do not fit the shape");
    insert_dim(geometry, i);
  }
  return expand(geometry, sizes);
}

Outcome squeeze(const Geometry& geometry, const std::optional<Sizes>& dims) {
  std::vector<bool> drop(geometry.rank(), !dims.has_value());
  if (dims) {
    for (const std::int64_t dim : *dims) {
      const Expected<std::size_t, std::string> one = wrap(dim, geometry.rank());
      if (!one) return refuse(one.error());
      if (geometry.rank() != 0) drop[*one] = true;
    }
  }
  Geometry result;
  result.offset = geometry.offset;
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    if (drop[d] && geometry.sizes[d] == 1) continue;
    result.sizes.push_back(geometry.sizes[d]);
    result.strides.push_back(geometry.strides[d]);
  }
  return view(std::move(result));
}

Outcome unsqueeze(Geometry geometry, const Sizes& dims) {
  const std::size_t rank = geometry.rank() + dims.size();
  std::vector<std::size_t> wrapped;
  for (const std::int64_t dim : dims) {
    const Expected<std::size_t, std::string> one = wrap(dim, rank);
    if (!one) return refuse(one.error());
    wrapped.push_back(*one);
  }
  std::sort(wrapped.begin(), wrapped.end());
  for (const std::size_t dim : wrapped) {
    if (dim > geometry.rank()) return refuse("unsqueeze: repeated dim");
    insert_dim(geometry, dim);
  }
  return view(std::move(geometry));
}

Outcome flatten(const Geometry& geometry, std::int64_t start_dim, std::int64_t end_dim) {
  const Expected<std::size_t, std::string> start = wrap(start_dim, geometry.rank());
  if (!start) return refuse(start.error());
  const Expected<std::size_t, std::string> end = wrap(end_dim, geometry.rank());
  if (!end) return refuse(end.error());
  if (*start > *end) return refuse("flatten() has invalid args: start_dim cannot come after end_dim");
  if (geometry.rank() == 0) return reshape(geometry, {1}, false);
  if (*start == *end) return view(geometry);
  Sizes sizes(geometry.sizes.begin(), geometry.sizes.begin() + static_cast<std::ptrdiff_t>(*start));
  std::int64_t merged = 1;
  for (std::size_t d = *start; d <= *end; ++d) merged *= geometry.sizes[d];
  sizes.push_back(merged);
  sizes.insert(sizes.end(), geometry.sizes.begin() + static_cast<std::ptrdiff_t>(*end) + 1,
               geometry.sizes.end());
  return reshape(geometry, std::move(sizes), false);
}

Outcome unflatten(const Geometry& geometry, std::int64_t dim, const Sizes& parts) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) return refuse("unflatten: a 0-d tensor has no dim to split");
  Expected<Sizes, std::string> resolved = resolve_reshape(geometry.sizes[*wrapped], parts);
  if (!resolved) {
    return refuse(fmt::format("unflatten: Provided sizes [{}] don't multiply up to the size of dim {} ({}) in the "
                              "input tensor",
                              fmt::join(parts, ", "), *wrapped, geometry.sizes[*wrapped]));
  }
  Sizes sizes = geometry.sizes;
  const auto at = sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(*wrapped));
  sizes.insert(at, resolved->begin(), resolved->end());
  return reshape(geometry, std::move(sizes), true);
}

// ---- windows

Outcome narrow(Geometry geometry, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) return refuse("narrow() cannot be applied to a 0-dim tensor.");
  const std::int64_t size = geometry.sizes[*wrapped];
  if (length < 0) return refuse("narrow(): length must be non-negative.");
  if (start < -size || start > size) {
    return refuse(fmt::format("start out of range (expected to be in range of [-{}, {}], but got {})", size,
                              size, start));
  }
  if (start < 0) start += size;
  if (start > size - length) {
    return refuse(fmt::format("start ({}) + length ({}) exceeds dimension size ({}).", start, length, size));
  }
  slice_dim(geometry, *wrapped, start, start + length, 1);
  return view(std::move(geometry));
}

Outcome unfold(Geometry geometry, std::int64_t dim, std::int64_t size, std::int64_t step) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  const std::int64_t available = geometry.rank() == 0 ? 1 : geometry.sizes[*wrapped];
  if (size > available) {
    return refuse(fmt::format("maximum size for tensor at dimension {} is {} but size is {}", *wrapped,
                              available, size));
  }
  if (size < 0) return refuse(fmt::format("size is {} but must be >= 0", size));
  if (step <= 0) return refuse(fmt::format("step is {} but must be > 0", step));
  const std::int64_t stride = geometry.rank() == 0 ? 1 : geometry.strides[*wrapped];
  if (geometry.rank() != 0) {
    geometry.sizes[*wrapped] = (available - size) / step + 1;
    geometry.strides[*wrapped] = stride * step;
  }
  geometry.sizes.push_back(size);
  geometry.strides.push_back(stride);
  return view(std::move(geometry));
}

Outcome diagonal(Geometry geometry, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const Expected<std::size_t, std::string> a = wrap(dim1, geometry.rank());
  if (!a) return refuse(a.error());
  const Expected<std::size_t, std::string> b = wrap(dim2, geometry.rank());
  if (!b) return refuse(b.error());
  if (*a == *b || geometry.rank() < 2) {
    return refuse(fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  }
  const std::int64_t rows = geometry.sizes[*a];
  const std::int64_t columns = geometry.sizes[*b];
  const std::int64_t length =
      std::max<std::int64_t>(offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns), 0);
  const std::int64_t stride = geometry.strides[*a] + geometry.strides[*b];
  if (length > 0) {
    geometry.offset += offset >= 0 ? offset * geometry.strides[*b] : -offset * geometry.strides[*a];
  }
  drop_dim(geometry, std::max(*a, *b));
  drop_dim(geometry, std::min(*a, *b));
  geometry.sizes.push_back(length);
  geometry.strides.push_back(stride);
  return view(std::move(geometry));
}

Outcome as_strided(const Geometry& geometry, const Sizes& sizes, const Sizes& strides,
                   std::optional<std::int64_t> offset) {
  if (sizes.size() != strides.size()) return refuse("mismatch in length of strides and shape");
  for (const std::int64_t stride : strides) {
    if (stride < 0) {
      return refuse(fmt::format(
          "as_strided: Negative strides are not supported at the moment, got strides: [{}]",
          fmt::join(strides, ", ")));
    }
  }
  for (const std::int64_t size : sizes) {
    if (size < 0) return refuse(fmt::format("Storage size calculation overflowed with sizes=[{}]", fmt::join(sizes, ", ")));
  }
  return view({sizes, strides, offset.value_or(geometry.offset)});
}

// ---- several results

Outcome pieces(const Geometry& geometry, std::size_t dim, const Sizes& bounds) {
  std::vector<Geometry> parts;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    Geometry part = geometry;
    slice_dim(part, dim, bounds[i], bounds[i + 1], 1);
    parts.push_back(std::move(part));
  }
  return views(std::move(parts));
}

Outcome split_every(const Geometry& geometry, std::size_t dim, std::int64_t length) {
  const std::int64_t size = geometry.sizes[dim];
  if (length < 0) {
    return refuse(fmt::format("split expects split_size be non-negative, but got split_size={}", length));
  }
  if (length == 0 && size != 0) {
    return refuse(fmt::format("split_size can only be 0 if dimension size is 0, but got dimension size of {}",
                              size));
  }
  Sizes bounds{0};
  do {
    bounds.push_back(std::min(size, length > size - bounds.back() ? size : bounds.back() + length));
  } while (bounds.back() < size);
  return pieces(geometry, dim, bounds);
}

Outcome split(const Geometry& geometry, const Value* sections, std::int64_t dim) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) return refuse("split expects at least a 1-dimensional tensor");
  if (sections == nullptr) return unknown();
  if (const std::optional<std::int64_t> length = integer(*sections)) {
    return split_every(geometry, *wrapped, *length);
  }
  const std::optional<Sizes> lengths = integers(*sections);
  if (!lengths) return unknown();
  Sizes bounds{0};
  for (const std::int64_t length : *lengths) bounds.push_back(bounds.back() + length);
  if (bounds.back() != geometry.sizes[*wrapped]) {
    return refuse(fmt::format("split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at "
                              "dimension {}), but got split_sizes=[{}]",
                              geometry.sizes[*wrapped], *wrapped, fmt::join(*lengths, ", ")));
  }
  return pieces(geometry, *wrapped, bounds);
}

Outcome chunk(const Geometry& geometry, std::int64_t chunks, std::int64_t dim) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) return refuse("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0) return refuse(fmt::format("chunk expects `chunks` to be greater than 0, got: {}", chunks));
  const std::int64_t size = geometry.sizes[*wrapped];
  const std::int64_t length = size / chunks + (size % chunks != 0 ? 1 : 0);
  if (length == 0) {
    return pieces(geometry, *wrapped, Sizes(static_cast<std::size_t>(std::min<std::int64_t>(chunks, 4096)) + 1, 0));
  }
  return split_every(geometry, *wrapped, length);
}

Outcome tensor_split(const Geometry& geometry, const Value* sections, std::int64_t dim) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) {
    return refuse("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  }
  if (sections == nullptr) return unknown();
  const std::int64_t size = geometry.sizes[*wrapped];
  if (const std::optional<std::int64_t> count = integer(*sections)) {
    if (*count <= 0) return refuse(fmt::format("number of sections must be larger than 0, got {}", *count));
    if (*count > 1'000'000) return unknown();
    Sizes bounds{0};
    for (std::int64_t i = 0; i < *count; ++i) {
      bounds.push_back(bounds.back() + size / *count + (i < size % *count ? 1 : 0));
    }
    return pieces(geometry, *wrapped, bounds);
  }
  const std::optional<Sizes> indices = integers(*sections);
  if (!indices) return unknown();
  std::vector<Geometry> parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i <= indices->size(); ++i) {
    const std::int64_t stop = i < indices->size() ? (*indices)[i] : size;
    Geometry part = geometry;
    slice_dim(part, *wrapped, start, stop, 1);
    parts.push_back(std::move(part));
    start = stop;
  }
  return views(std::move(parts));
}

Outcome unbind(const Geometry& geometry, std::int64_t dim) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) return refuse("Dimension specified as 0 but tensor has no dimensions");
  if (geometry.sizes[*wrapped] > 1'000'000) return unknown();
  std::vector<Geometry> parts;
  for (std::int64_t i = 0; i < geometry.sizes[*wrapped]; ++i) {
    Geometry part = geometry;
    part.offset += i * part.strides[*wrapped];
    drop_dim(part, *wrapped);
    parts.push_back(std::move(part));
  }
  return views(std::move(parts));
}

// ---- keys

std::size_t consumed_dims(std::span<const Value> keys) {
  std::size_t count = 0;
  for (const Value& key : keys) {
    if (key.kind != ValueKind::None && key.kind != ValueKind::Ellipsis && key.kind != ValueKind::Bool) ++count;
  }
  return count;
}

std::optional<std::int64_t> bound(const Value& call, std::size_t index, std::int64_t fallback) {
  if (index >= call.items.size() || call.items[index].kind == ValueKind::None) return fallback;
  return integer(call.items[index]);
}

// int, slice, None and Ellipsis keys view; tensors, lists and bools gather into a copy.
Outcome getitem(const Geometry& geometry, const Value* key) {
  std::vector<Value> keys{key != nullptr ? *key : Value::none()};
  if (keys.front().kind == ValueKind::Tuple) keys = std::vector<Value>(key->items);
  for (const Value& one : keys) {
    switch (one.kind) {
      case ValueKind::Int:
      case ValueKind::None:
      case ValueKind::Ellipsis: break;
      case ValueKind::Call:
        if (one.text != "slice") return unknown();
        break;
      case ValueKind::Tuple:
      case ValueKind::List:
      case ValueKind::Bool: return ViewOutcome{Kind::Copy, {}};
      case ValueKind::Absent:
      case ValueKind::Name:
      case ValueKind::Dotted:
      case ValueKind::Float:
      case ValueKind::Complex:
      case ValueKind::String:
      case ValueKind::Dict:
      case ValueKind::Keyword:
      case ValueKind::Subscript:
      case ValueKind::Attribute:
      case ValueKind::Method:
      case ValueKind::Opaque: return unknown();
    }
  }
  const std::size_t used = consumed_dims(keys);
  if (used > geometry.rank()) {
    return refuse(fmt::format("too many indices for tensor of dimension {}", geometry.rank()));
  }
  Geometry result = geometry;
  std::size_t dim = 0;
  for (const Value& one : keys) {
    if (one.kind == ValueKind::None) {
      insert_dim(result, dim++);
    } else if (one.kind == ValueKind::Ellipsis) {
      dim += geometry.rank() - used;
    } else if (one.kind == ValueKind::Int) {
      const std::optional<std::int64_t> index = integer(one);
      if (!index) return unknown();
      const std::int64_t size = result.sizes[dim];
      if (*index < -size || *index >= size) {
        return refuse(fmt::format("index {} is out of bounds for dimension {} with size {}", *index, dim, size));
      }
      Outcome selected = select(result, dim, *index);
      if (!selected) return selected;
      result = std::move(selected->outputs.front());
    } else {
      const bool lone_stop = one.items.size() == 1;
      const std::optional<std::int64_t> start = lone_stop ? 0 : bound(one, 0, 0);
      const std::optional<std::int64_t> stop =
          bound(one, lone_stop ? 0 : 1, std::numeric_limits<std::int64_t>::max());
      const std::optional<std::int64_t> step = bound(one, 2, 1);
      if (!start || !stop || !step) return unknown();
      if (*step <= 0) return refuse("step must be greater than zero");
      slice_dim(result, dim++, *start, *stop, *step);
    }
  }
  return view(std::move(result));
}

// ---- dtype, device, layout

Outcome cast(const Geometry& geometry, const ViewedFacts& facts, DType to) {
  if (!facts.dtype) return ViewOutcome{Kind::Unknown, {geometry}};
  return *facts.dtype == to ? view(geometry) : copy(cast_like(geometry));
}

std::string content(const Value& value) {
  if (value.kind == ValueKind::String) return string_content(value);
  if (value.kind == ValueKind::Call && !value.items.empty()) return content(value.items.front());
  return {};
}

bool same_device(std::string_view a, std::string_view b) {
  if (a.empty()) a = "cpu";
  if (a == b) return true;
  const auto kind = [](std::string_view device) { return device.substr(0, device.find(':')); };
  return kind(a) == kind(b) && (a.find(':') == a.npos || b.find(':') == b.npos);
}

Outcome to(const Geometry& geometry, const ViewArguments& args, const ViewedFacts& facts) {
  std::optional<DType> dtype;
  std::string device;
  for (const std::string_view name : {"tensor_dtype_or_device", "optional_positional_dtype", "device", "dtype"}) {
    const Value* value = args.find(name);
    if (value == nullptr) continue;
    if (value->kind == ValueKind::Dotted || value->kind == ValueKind::Name) {
      const std::optional<DType> named = parse_dtype(value->text);
      if (!named) return ViewOutcome{Kind::Unknown, {geometry}};
      dtype = named;
    } else if (const std::string text = content(*value); !text.empty()) {
      device = text;
    } else {
      return ViewOutcome{Kind::Unknown, {geometry}};
    }
  }
  const Value* forced = args.find("copy");
  const Value* format = args.find("memory_format");
  const bool channels_last = format != nullptr && format->text == "torch.channels_last";
  const bool contiguous = format != nullptr && format->text == "torch.contiguous_format";
  const bool same_layout = channels_last ? is_channels_last(geometry)
                                         : (!contiguous || is_contiguous(geometry));
  if (dtype && !facts.dtype) return ViewOutcome{Kind::Unknown, {geometry}};
  const bool stays = (!dtype || *dtype == *facts.dtype) && (device.empty() || same_device(facts.device, device));
  if (stays && same_layout && (forced == nullptr || forced->text != "True")) return view(geometry);
  if (channels_last && geometry.rank() == 4) return copy(ordered_geometry(geometry.sizes, {1, 3, 2, 0}));
  if (contiguous) return copy(contiguous_geometry(geometry.sizes));
  return copy(cast_like(geometry));
}

Outcome contiguous(const Geometry& geometry, const Value* format) {
  if (format != nullptr && format->text == "torch.channels_last") {
    if (geometry.rank() != 4) return refuse("required rank 4 tensor to use channels_last format");
    return is_channels_last(geometry) ? view(geometry) : copy(ordered_geometry(geometry.sizes, {1, 3, 2, 0}));
  }
  if (format != nullptr && format->text == "torch.preserve_format") return view(geometry);
  return is_contiguous(geometry) ? view(geometry) : copy(contiguous_geometry(geometry.sizes));
}

// order[d] is the rank of dim d's stride, 0 the innermost.
Outcome stride_order(const Geometry& geometry, const std::optional<Sizes>& order) {
  if (!order) return copy(contiguous_geometry(geometry.sizes));
  if (order->size() != geometry.rank()) return refuse("stride_order: order and tensor differ in rank");
  std::vector<std::size_t> inner_to_outer(order->size());
  std::iota(inner_to_outer.begin(), inner_to_outer.end(), std::size_t{0});
  std::stable_sort(inner_to_outer.begin(), inner_to_outer.end(),
                   [&order](std::size_t a, std::size_t b) { return (*order)[a] < (*order)[b]; });
  Geometry ordered = ordered_geometry(geometry.sizes, inner_to_outer);
  // Thunder's executor asks for the two channels_last orders by contiguous(), which may give its argument back.
  const bool channels_last = *order == Sizes{3, 0, 2, 1} || *order == Sizes{4, 0, 3, 2, 1};
  bool lies_so = channels_last;
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    lies_so = lies_so && (geometry.sizes[d] == 1 || geometry.strides[d] == ordered.strides[d]);
  }
  return lies_so ? view(geometry) : copy(std::move(ordered));
}

Outcome bit_cast(Geometry geometry, std::size_t element_bytes, DType to) {
  const auto from_bytes = static_cast<std::int64_t>(element_bytes);
  const auto to_bytes = static_cast<std::int64_t>(size_bytes(to));
  if (from_bytes == to_bytes) return view(std::move(geometry));
  if (geometry.rank() == 0) {
    return refuse(fmt::format("self.dim() cannot be 0 to view {} as {} (different element sizes)", "this dtype",
                              torch_name(to)));
  }
  if (from_bytes > to_bytes) {
    const std::int64_t ratio = from_bytes / to_bytes;
    if (geometry.strides.back() != 1) {
      return refuse(fmt::format("self.stride(-1) must be 1 to view this dtype as {} (different element sizes), but "
                                "got {}",
                                torch_name(to), geometry.strides.back()));
    }
    for (std::int64_t& stride : geometry.strides) stride *= ratio;
    geometry.strides.back() = 1;
    geometry.sizes.back() *= ratio;
    geometry.offset *= ratio;
    return view(std::move(geometry));
  }
  const std::int64_t ratio = to_bytes / from_bytes;
  bool fits = geometry.sizes.back() % ratio == 0 && geometry.offset % ratio == 0 && geometry.strides.back() == 1;
  for (std::size_t d = 0; d + 1 < geometry.rank(); ++d) fits = fits && geometry.strides[d] % ratio == 0;
  if (!fits) {
    return refuse(fmt::format("self.size(-1), strides and storage_offset must be divisible by {} to view this dtype as "
                              "{} (different element sizes)",
                              ratio, torch_name(to)));
  }
  for (std::int64_t& stride : geometry.strides) stride /= ratio;
  geometry.strides.back() = 1;
  geometry.sizes.back() /= ratio;
  geometry.offset /= ratio;
  return view(std::move(geometry));
}

// Complex elements as pairs of reals: `part` 0 or 1 picks one, -1 keeps both as a new last dim.
Outcome complex_parts(Geometry geometry, int part) {
  for (std::int64_t& stride : geometry.strides) stride *= 2;
  geometry.offset = geometry.offset * 2 + (part == 1 ? 1 : 0);
  if (part < 0) {
    geometry.sizes.push_back(2);
    geometry.strides.push_back(1);
  }
  return view(std::move(geometry));
}

Outcome view_as_complex(Geometry geometry) {
  if (geometry.rank() == 0 || geometry.sizes.back() != 2) return refuse("Tensor must have a last dimension of size 2");
  if (geometry.strides.back() != 1) return refuse("Tensor must have a last dimension with stride 1");
  if (geometry.offset % 2 != 0) return refuse("Tensor must have a storage_offset divisible by 2");
  drop_dim(geometry, geometry.rank() - 1);
  for (std::int64_t& stride : geometry.strides) {
    if (stride % 2 != 0) return refuse("Tensor must have a stride divisible by 2 for all but last dimension");
    stride /= 2;
  }
  geometry.offset /= 2;
  return view(std::move(geometry));
}

Outcome dropout(const Geometry& geometry, const ViewArguments& args) {
  const Value* p = args.find("p");
  const Value* training = args.find("training");
  const bool off = training != nullptr && training->text == "False";
  const bool keeps_all = p != nullptr && (p->text == "0" || p->text == "0.0");
  return off || keeps_all ? view(geometry) : copy(dense_like(geometry));
}

Outcome apply(OpCode op, const Geometry& viewed, const ViewArguments& args, std::size_t element_bytes,
              const ViewedFacts& facts);

}  // namespace

Expected<ViewOutcome, std::string> view_outcome(OpCode op, const Geometry& viewed,
                                                std::span<const Value> args, std::size_t element_bytes,
                                                const ViewedFacts& facts) {
  return apply(op, viewed, ViewArguments(info(op), args), element_bytes, facts);
}

namespace {

Outcome apply_sizes(const Geometry& viewed, const std::optional<Sizes>& sizes, bool must_view) {
  return sizes ? reshape(viewed, *sizes, must_view) : unknown();
}

// A switch over all of OpCode would list five hundred rows that are no views; the table's traits say which
// rows arrive here, and a test walks them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wswitch-enum"
Outcome apply(OpCode op, const Geometry& viewed, const ViewArguments& args, std::size_t element_bytes,
              const ViewedFacts& facts) {
  switch (op) {
    case OpCode::View: {
      const Value* first = args.find("shape");
      if (first != nullptr && (first->kind == ValueKind::Dotted || first->kind == ValueKind::Name)) {
        const std::optional<DType> dtype = parse_dtype(first->text);
        return dtype ? bit_cast(viewed, element_bytes, *dtype) : unknown();
      }
      return apply_sizes(viewed, args.sequence("shape"), true);
    }
    case OpCode::Reshape:
    case OpCode::ReshapePrim: return apply_sizes(viewed, args.sequence("shape"), false);
    case OpCode::ViewAs: return apply_sizes(viewed, args.sequence("b"), true);
    case OpCode::ReshapeAs: return apply_sizes(viewed, args.sequence("b"), false);
    case OpCode::Flatten: {
      const auto start = args.number("start_dim");
      const auto end = args.number("end_dim");
      return start && end ? flatten(viewed, *start, *end) : unknown();
    }
    case OpCode::Unflatten: {
      const auto dim = args.number("dim");
      const auto sizes = args.sequence("sizes");
      return dim && sizes ? unflatten(viewed, *dim, *sizes) : unknown();
    }
    case OpCode::Expand: {
      const auto sizes = args.sequence("shape");
      return sizes ? expand(viewed, *sizes) : unknown();
    }
    case OpCode::ExpandAs: {
      const auto sizes = args.sequence("b");
      return sizes ? expand(viewed, *sizes) : unknown();
    }
    case OpCode::BroadcastInDim: {
      const auto sizes = args.sequence("shape");
      const auto dims = args.sequence("broadcast_dims");
      return sizes && dims ? broadcast_in_dim(viewed, *sizes, *dims) : unknown();
    }
    case OpCode::Permute: {
      const auto dims = args.sequence("dims");
      return dims ? permute(viewed, *dims) : unknown();
    }
    case OpCode::TransposePrim: {
      const auto dims = args.sequence("permutation");
      return dims ? permute(viewed, *dims) : unknown();
    }
    case OpCode::Movedim: {
      const Value* source = args.find("source");
      const Value* destination = args.find("destination");
      if (source == nullptr || destination == nullptr) return unknown();
      const auto from = integers(*source);
      const auto into = integers(*destination);
      return from && into ? movedim(viewed, *from, *into) : unknown();
    }
    case OpCode::Transpose: {
      const auto dim0 = args.number("dim0");
      const auto dim1 = args.number("dim1");
      return dim0 && dim1 ? transpose(viewed, *dim0, *dim1) : unknown();
    }
    case OpCode::T:
      if (viewed.rank() > 2) {
        return refuse(fmt::format("t() expects a tensor with <= 2 dimensions, but self is {}D", viewed.rank()));
      }
      return viewed.rank() < 2 ? view(viewed) : transpose(viewed, 0, 1);
    case OpCode::MatrixTranspose:
      if (viewed.rank() < 2) return viewed.rank() == 0 ? view(viewed) : refuse("tensor.mT is only supported on matrices or batches of matrices");
      return transpose(viewed, -2, -1);
    case OpCode::Select: {
      const auto dim = args.number("dim");
      const auto index = args.number("index");
      if (!dim || !index) return unknown();
      if (viewed.rank() == 0) return refuse("select() cannot be applied to a 0-dim tensor.");
      const Expected<std::size_t, std::string> wrapped = wrap(*dim, viewed.rank());
      if (!wrapped) return refuse(wrapped.error());
      return select(viewed, *wrapped, *index);
    }
    case OpCode::Squeeze: {
      if (args.find("dim") == nullptr) return squeeze(viewed, std::nullopt);
      const auto dims = args.sequence("dim");
      return dims ? squeeze(viewed, dims) : unknown();
    }
    case OpCode::SqueezePrim: {
      const auto dims = args.sequence("dims");
      return dims ? squeeze(viewed, dims) : unknown();
    }
    case OpCode::Unsqueeze: {
      const auto dims = args.sequence("dim");
      return dims ? unsqueeze(viewed, *dims) : unknown();
    }
    case OpCode::Narrow: {
      const auto dim = args.number("dim");
      const auto start = args.number("start");
      const auto length = args.number("length");
      return dim && start && length ? narrow(viewed, *dim, *start, *length) : unknown();
    }
    case OpCode::SlicePrim: {
      const auto starts = args.sequence("start_indices");
      const auto ends = args.sequence("end_indices");
      if (!starts || !ends || starts->size() != viewed.rank() || ends->size() != viewed.rank()) return unknown();
      Sizes steps(viewed.rank(), 1);
      if (args.find("strides") != nullptr) {
        const auto given = args.sequence("strides");
        if (!given || given->size() != viewed.rank()) return unknown();
        steps = *given;
      }
      Geometry result = viewed;
      for (std::size_t d = 0; d < viewed.rank(); ++d) {
        if (steps[d] <= 0) return refuse("slice step must be positive");
        slice_dim(result, d, (*starts)[d], (*ends)[d], steps[d]);
      }
      return view(std::move(result));
    }
    case OpCode::Unfold: {
      const auto dim = args.number("dim");
      const auto size = args.number("size");
      const auto step = args.number("step");
      return dim && size && step ? unfold(viewed, *dim, *size, *step) : unknown();
    }
    case OpCode::Diagonal: {
      const auto offset = args.number("offset");
      const auto dim1 = args.number("dim1");
      const auto dim2 = args.number("dim2");
      return offset && dim1 && dim2 ? diagonal(viewed, *offset, *dim1, *dim2) : unknown();
    }
    case OpCode::AsStrided: {
      const auto sizes = args.sequence("size");
      const auto strides = args.sequence("stride");
      return sizes && strides ? as_strided(viewed, *sizes, *strides, args.number("storage_offset")) : unknown();
    }
    case OpCode::Getitem: {
      const Value* key = args.find("key");
      return getitem(viewed, key);
    }
    case OpCode::Real:
    case OpCode::RealPrim:
    case OpCode::Imag:
    case OpCode::ImagPrim:
    case OpCode::ViewAsReal:
      if (!facts.dtype) return unknown();
      if (!is_complex(*facts.dtype)) {
        if (op == OpCode::Real || op == OpCode::RealPrim) return view(viewed);
        return refuse(op == OpCode::Imag || op == OpCode::ImagPrim
                          ? "imag is not implemented for tensors with non-complex dtypes."
                          : "view_as_real is only supported for complex tensors");
      }
      return complex_parts(viewed, op == OpCode::ViewAsReal ? -1 : (op == OpCode::Imag || op == OpCode::ImagPrim ? 1 : 0));
    case OpCode::ViewAsComplex: return view_as_complex(viewed);
    case OpCode::Chunk: {
      const auto chunks = args.number("chunks");
      const auto dim = args.number("dim");
      return chunks && dim ? chunk(viewed, *chunks, *dim) : unknown();
    }
    case OpCode::Split: {
      const auto dim = args.number("dim");
      return dim ? split(viewed, args.find("size_or_sections"), *dim) : unknown();
    }
    case OpCode::TensorSplit: {
      const auto dim = args.number("dim");
      return dim ? tensor_split(viewed, args.find("indices_or_sections"), *dim) : unknown();
    }
    case OpCode::Unbind: {
      const auto dim = args.number("dim");
      return dim ? unbind(viewed, *dim) : unknown();
    }
    case OpCode::To: return to(viewed, args, facts);
    case OpCode::TypeAs: return ViewOutcome{Kind::Unknown, {viewed}};
    case OpCode::ToFloat: return cast(viewed, facts, DType::Float32);
    case OpCode::ToDouble: return cast(viewed, facts, DType::Float64);
    case OpCode::ToHalf: return cast(viewed, facts, DType::Float16);
    case OpCode::ToBfloat16: return cast(viewed, facts, DType::BFloat16);
    case OpCode::ToLong: return cast(viewed, facts, DType::Int64);
    case OpCode::ToInt: return cast(viewed, facts, DType::Int32);
    case OpCode::Contiguous: return contiguous(viewed, args.find("memory_format"));
    case OpCode::StrideOrder: return stride_order(viewed, args.sequence("order"));
    case OpCode::DevicePut: {
      const Value* device = args.find("device");
      if (device == nullptr) return unknown();
      return same_device(facts.device, content(*device)) ? view(viewed) : copy(cast_like(viewed));
    }
    case OpCode::Bitcast: {
      const Value* value = args.find("dtype");
      const std::optional<DType> dtype = value != nullptr ? parse_dtype(value->text) : std::nullopt;
      return dtype ? bit_cast(viewed, element_bytes, *dtype) : unknown();
    }
    case OpCode::Dropout: return dropout(viewed, args);
    case OpCode::Detach:
    case OpCode::ShallowCopy:
    case OpCode::UpdateAliases: return view(viewed);
    default: return unknown();
  }
}
#pragma GCC diagnostic pop

}  // namespace
}  // namespace tg
