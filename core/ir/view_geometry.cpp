// Geometry after each view operation of PyTorch, once its arguments are plain numbers.
#include "core/ir/view_geometry.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tg::view_geometry {
namespace {

using Kind = ViewOutcome::Kind;

// Outcomes of several results stay below this; beyond it nobody could name them.
constexpr std::int64_t kMostPieces = 1'000'000;

}  // namespace

Unexpected<std::string> refuse(std::string message) {
  return Unexpected{std::move(message)};
}
Outcome view(Geometry geometry) {
  return ViewOutcome{Kind::View, {std::move(geometry)}};
}
Outcome views(std::vector<Geometry> geometries) {
  return ViewOutcome{Kind::View, std::move(geometries)};
}
Outcome copy(Geometry geometry) {
  return ViewOutcome{Kind::Copy, {std::move(geometry)}};
}
Outcome unknown() {
  return ViewOutcome{};
}

// ---- dims

// A dim counted from the end wraps; rank 0 accepts 0 and -1, as PyTorch does.
Expected<std::size_t, std::string> wrap(std::int64_t dim, std::size_t rank) {
  const auto range = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (dim < -range || dim >= range) {
    return refuse(
        fmt::format("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                    -range, range - 1, dim));
  }
  return static_cast<std::size_t>(dim < 0 ? dim + range : dim);
}

void drop_dim(Geometry& geometry, std::size_t dim) {
  geometry.sizes.erase(geometry.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  geometry.strides.erase(geometry.strides.begin() + static_cast<std::ptrdiff_t>(dim));
}

void insert_dim(Geometry& geometry, std::size_t dim) {
  const std::int64_t stride =
      dim < geometry.rank() ? saturating_product(geometry.sizes[dim], geometry.strides[dim]) : 1;
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
  geometry.offset =
      saturating_sum(geometry.offset, saturating_product(start, geometry.strides[dim]));
  geometry.sizes[dim] = (stop - start) / step + ((stop - start) % step != 0 ? 1 : 0);
  geometry.strides[dim] = saturating_product(geometry.strides[dim], step);
}

Outcome select(Geometry geometry, std::size_t dim, std::int64_t index) {
  const std::int64_t size = geometry.sizes[dim];
  if (index < -size || index >= size) {
    return refuse(
        fmt::format("select(): index {} out of range for tensor of size [{}] at dimension {}",
                    index, fmt::join(geometry.sizes, ", "), dim));
  }
  geometry.offset = saturating_sum(
      geometry.offset, saturating_product(index < 0 ? index + size : index, geometry.strides[dim]));
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
    return refuse(fmt::format(
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length "
        "of the desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = "
        "{}",
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
    return refuse(fmt::format(
        "movedim: Invalid source or destination dims: source ([{}] dims) should contain "
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
    if (used[*from])
      return refuse(
          fmt::format("movedim: repeated dim in `source` ({{{}}})", fmt::join(source, ", ")));
    if (order[*to] != kFree) {
      return refuse(fmt::format("movedim: repeated dim in `destination` ({{{}}})",
                                fmt::join(destination, ", ")));
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
  Expected<Sizes, std::string> resolved =
      resolve_reshape(element_count(geometry), std::move(sizes));
  if (!resolved) return refuse(resolved.error());
  if (std::optional<Geometry> result = viewed_as(geometry, *resolved))
    return view(std::move(*result));
  if (must_view) {
    return refuse(
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans "
        "across two contiguous subspaces). Use .reshape(...) instead.");
  }
  return copy(contiguous_geometry(*resolved));
}

Outcome expand(const Geometry& geometry, const Sizes& sizes) {
  const std::size_t rank = geometry.rank();
  if (sizes.size() < rank) {
    return refuse(fmt::format(
        "expand(torch.FloatTensor{{[{}]}}, size=[{}]): the number of sizes provided ({}) must be "
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
      stride = saturating_product(result.sizes[i + 1], result.strides[i + 1]);
    }
    std::int64_t target = sizes[i];
    if (target == -1) {
      if (!exists) {
        return refuse(
            fmt::format("The expanded size of the tensor (-1) isn't allowed in a leading, "
                        "non-existing dimension {}",
                        i));
      }
      target = size;
    }
    if (size != target) {
      if (size != 1) {
        return refuse(
            fmt::format("The expanded size of the tensor ({}) must match the existing size ({}) at "
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
  if (*start > *end)
    return refuse("flatten() has invalid args: start_dim cannot come after end_dim");
  if (geometry.rank() == 0) return reshape(geometry, {1}, false);
  if (*start == *end) return view(geometry);
  Sizes sizes(geometry.sizes.begin(), geometry.sizes.begin() + static_cast<std::ptrdiff_t>(*start));
  std::int64_t merged = 1;
  for (std::size_t d = *start; d <= *end; ++d)
    merged = saturating_product(merged, geometry.sizes[d]);
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
    return refuse(fmt::format(
        "unflatten: Provided sizes [{}] don't multiply up to the size of dim {} ({}) in the "
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
    return refuse(
        fmt::format("start out of range (expected to be in range of [-{}, {}], but got {})", size,
                    size, start));
  }
  if (start < 0) start += size;
  if (start > size - length) {
    return refuse(
        fmt::format("start ({}) + length ({}) exceeds dimension size ({}).", start, length, size));
  }
  slice_dim(geometry, *wrapped, start, start + length, 1);
  return view(std::move(geometry));
}

Outcome unfold(Geometry geometry, std::int64_t dim, std::int64_t size, std::int64_t step) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  const std::int64_t available = geometry.rank() == 0 ? 1 : geometry.sizes[*wrapped];
  if (size > available) {
    return refuse(fmt::format("maximum size for tensor at dimension {} is {} but size is {}",
                              *wrapped, available, size));
  }
  if (size < 0) return refuse(fmt::format("size is {} but must be >= 0", size));
  if (step <= 0) return refuse(fmt::format("step is {} but must be > 0", step));
  const std::int64_t stride = geometry.rank() == 0 ? 1 : geometry.strides[*wrapped];
  if (geometry.rank() != 0) {
    geometry.sizes[*wrapped] = (available - size) / step + 1;
    geometry.strides[*wrapped] = saturating_product(stride, step);
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
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  if (offset > kFar || offset < -kFar) return unknown();
  const std::int64_t rows = geometry.sizes[*a];
  const std::int64_t columns = geometry.sizes[*b];
  const std::int64_t length = std::max<std::int64_t>(
      offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns), 0);
  const std::int64_t stride = saturating_sum(geometry.strides[*a], geometry.strides[*b]);
  if (length > 0) {
    const std::int64_t skipped = offset >= 0 ? saturating_product(offset, geometry.strides[*b])
                                             : saturating_product(-offset, geometry.strides[*a]);
    geometry.offset = saturating_sum(geometry.offset, skipped);
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
    if (size < 0)
      return refuse(fmt::format("Storage size calculation overflowed with sizes=[{}]",
                                fmt::join(sizes, ", ")));
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
    return refuse(
        fmt::format("split expects split_size be non-negative, but got split_size={}", length));
  }
  if (length > 0 && size / length > kMostPieces) return unknown();
  if (length == 0 && size != 0) {
    return refuse(fmt::format(
        "split_size can only be 0 if dimension size is 0, but got dimension size of {}", size));
  }
  Sizes bounds{0};
  do {
    bounds.push_back(std::min(size, length > size - bounds.back() ? size : bounds.back() + length));
  } while (bounds.back() < size);
  return pieces(geometry, dim, bounds);
}

Outcome chunk(const Geometry& geometry, std::int64_t chunks, std::int64_t dim) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) return refuse("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0)
    return refuse(fmt::format("chunk expects `chunks` to be greater than 0, got: {}", chunks));
  const std::int64_t size = geometry.sizes[*wrapped];
  const std::int64_t length = size / chunks + (size % chunks != 0 ? 1 : 0);
  if (length == 0) {
    return pieces(geometry, *wrapped,
                  Sizes(static_cast<std::size_t>(std::min(chunks, kMostPieces)) + 1, 0));
  }
  return split_every(geometry, *wrapped, length);
}

Outcome unbind(const Geometry& geometry, std::int64_t dim) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) return refuse("Dimension specified as 0 but tensor has no dimensions");
  if (geometry.sizes[*wrapped] > kMostPieces) return unknown();
  std::vector<Geometry> parts;
  for (std::int64_t i = 0; i < geometry.sizes[*wrapped]; ++i) {
    Geometry part = geometry;
    part.offset = saturating_sum(part.offset, saturating_product(i, part.strides[*wrapped]));
    drop_dim(part, *wrapped);
    parts.push_back(std::move(part));
  }
  return views(std::move(parts));
}

// ---- layout and element type

// order[d] is the rank of dim d's stride, 0 the innermost.
Outcome stride_order(const Geometry& geometry, const std::optional<Sizes>& order) {
  if (!order) return copy(contiguous_geometry(geometry.sizes));
  if (order->size() != geometry.rank())
    return refuse("stride_order: order and tensor differ in rank");
  std::vector<std::size_t> inner_to_outer(order->size());
  std::iota(inner_to_outer.begin(), inner_to_outer.end(), std::size_t{0});
  std::stable_sort(inner_to_outer.begin(), inner_to_outer.end(),
                   [&order](std::size_t a, std::size_t b) { return (*order)[a] < (*order)[b]; });
  Geometry ordered = ordered_geometry(geometry.sizes, inner_to_outer);
  // Thunder's executor asks for the two channels_last orders by contiguous(), which may give its
  // argument back.
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
    return refuse(fmt::format("self.dim() cannot be 0 to view {} as {} (different element sizes)",
                              "this dtype", torch_name(to)));
  }
  if (from_bytes > to_bytes) {
    const std::int64_t ratio = from_bytes / to_bytes;
    if (geometry.strides.back() != 1) {
      return refuse(fmt::format(
          "self.stride(-1) must be 1 to view this dtype as {} (different element sizes), but "
          "got {}",
          torch_name(to), geometry.strides.back()));
    }
    for (std::int64_t& stride : geometry.strides) stride = saturating_product(stride, ratio);
    geometry.strides.back() = 1;
    geometry.sizes.back() = saturating_product(geometry.sizes.back(), ratio);
    geometry.offset = saturating_product(geometry.offset, ratio);
    return view(std::move(geometry));
  }
  const std::int64_t ratio = to_bytes / from_bytes;
  bool fits = geometry.sizes.back() % ratio == 0 && geometry.offset % ratio == 0 &&
              geometry.strides.back() == 1;
  for (std::size_t d = 0; d + 1 < geometry.rank(); ++d)
    fits = fits && geometry.strides[d] % ratio == 0;
  if (!fits) {
    return refuse(fmt::format(
        "self.size(-1), strides and storage_offset must be divisible by {} to view this dtype as "
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
  for (std::int64_t& stride : geometry.strides) stride = saturating_product(stride, 2);
  geometry.offset = saturating_sum(saturating_product(geometry.offset, 2), part == 1 ? 1 : 0);
  if (part < 0) {
    geometry.sizes.push_back(2);
    geometry.strides.push_back(1);
  }
  return view(std::move(geometry));
}

Outcome view_as_complex(Geometry geometry) {
  if (geometry.rank() == 0 || geometry.sizes.back() != 2)
    return refuse("Tensor must have a last dimension of size 2");
  if (geometry.strides.back() != 1)
    return refuse("Tensor must have a last dimension with stride 1");
  if (geometry.offset % 2 != 0) return refuse("Tensor must have a storage_offset divisible by 2");
  drop_dim(geometry, geometry.rank() - 1);
  for (std::int64_t& stride : geometry.strides) {
    if (stride % 2 != 0)
      return refuse("Tensor must have a stride divisible by 2 for all but last dimension");
    stride /= 2;
  }
  geometry.offset /= 2;
  return view(std::move(geometry));
}

}  // namespace tg::view_geometry
