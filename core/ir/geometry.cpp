#include "core/ir/geometry.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tg {
namespace {

constexpr std::int64_t kWorkLimit = 1'000'000;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// Dims that move: size above 1, by ascending stride.
std::vector<std::size_t> moving_dims(const Geometry& geometry) {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    if (geometry.sizes[d] > 1) dims.push_back(d);
  }
  std::sort(dims.begin(), dims.end(), [&geometry](std::size_t a, std::size_t b) {
    return geometry.strides[a] < geometry.strides[b];
  });
  return dims;
}

// Every dim steps over all that the smaller dims reach: no two indices meet.
bool is_nested(const Geometry& geometry) {
  std::int64_t reach = 0;
  for (const std::size_t d : moving_dims(geometry)) {
    if (geometry.strides[d] <= reach) return false;
    reach = saturating_sum(reach, saturating_product(geometry.sizes[d] - 1, geometry.strides[d]));
  }
  return true;
}

// All addressed elements, ascending, repetitions kept. Requires element_count <= kWorkLimit.
std::vector<std::int64_t> addresses(const Geometry& geometry) {
  std::vector<std::int64_t> all{geometry.offset};
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    const std::size_t inner = all.size();
    std::vector<std::int64_t> next;
    next.reserve(inner * static_cast<std::size_t>(std::max<std::int64_t>(geometry.sizes[d], 0)));
    for (std::int64_t i = 0; i < geometry.sizes[d]; ++i) {
      for (std::size_t k = 0; k < inner; ++k) next.push_back(all[k] + i * geometry.strides[d]);
    }
    all = std::move(next);
  }
  std::sort(all.begin(), all.end());
  return all;
}

bool same_map(const Geometry& a, const Geometry& b) {
  if (a.offset != b.offset || a.sizes != b.sizes) return false;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    if (a.sizes[d] > 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

// Addresses of the two never meet modulo the greatest common divisor of all strides.
bool interleaved(const Geometry& a, const Geometry& b) {
  std::int64_t divisor = 0;
  for (const Geometry* g : {&a, &b}) {
    for (const std::size_t d : moving_dims(*g)) divisor = std::gcd(divisor, g->strides[d]);
  }
  return divisor > 1 && (a.offset - b.offset) % divisor != 0;
}

}  // namespace

std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kHuge : product;
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kHuge : sum;
}

Geometry contiguous_geometry(const std::vector<std::int64_t>& sizes) {
  Geometry geometry;
  geometry.sizes = sizes;
  geometry.strides.assign(sizes.size(), 1);
  std::int64_t stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    geometry.strides[d] = stride;
    stride = saturating_product(stride, std::max<std::int64_t>(sizes[d], 1));
  }
  return geometry;
}

bool is_contiguous(const Geometry& geometry) {
  if (element_count(geometry) == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t d = geometry.rank(); d-- > 0;) {
    if (geometry.sizes[d] == 1) continue;
    if (geometry.strides[d] != expected) return false;
    expected = saturating_product(expected, geometry.sizes[d]);
  }
  return true;
}

bool is_channels_last(const Geometry& geometry) {
  if (geometry.rank() != 4) return false;
  std::int64_t expected = 1;
  for (const std::size_t d : {std::size_t{1}, std::size_t{3}, std::size_t{2}, std::size_t{0}}) {
    if (geometry.sizes[d] == 1) continue;
    if (geometry.strides[d] != expected) return false;
    expected = saturating_product(expected, geometry.sizes[d]);
  }
  return true;
}

bool suggests_channels_last(const Geometry& geometry) {
  if (geometry.rank() != 4 || geometry.strides[1] == 0) return false;
  std::int64_t least = 0;
  for (const std::size_t d : {std::size_t{1}, std::size_t{3}, std::size_t{2}, std::size_t{0}}) {
    if (geometry.sizes[d] == 0 || geometry.strides[d] < least) return false;
    if (d == 0 && least == geometry.strides[1]) return false;  // ambiguous: row-major wins
    least = geometry.strides[d];
    if (geometry.sizes[d] > 1) least = saturating_product(least, geometry.sizes[d]);
  }
  return true;
}

bool is_dense(const Geometry& geometry) {
  if (element_count(geometry) == 0) return true;
  std::int64_t expected = 1;
  for (const std::size_t d : moving_dims(geometry)) {
    if (geometry.strides[d] != expected) return false;
    expected = saturating_product(expected, geometry.sizes[d]);
  }
  return true;
}

// at::get_overlap_status: by address range and strides.
bool torch_refuses_overlap(const Geometry& written, std::size_t written_bytes,
                           const Geometry& read, std::size_t read_bytes) {
  const std::int64_t count_w = element_count(written);
  const std::int64_t count_r = element_count(read);
  if (count_w == 0 || count_r == 0 || !is_dense(written) || !is_dense(read)) return false;
  const auto size_w = static_cast<std::int64_t>(written_bytes);
  const auto size_r = static_cast<std::int64_t>(read_bytes);
  const std::int64_t begin_w = saturating_product(written.offset, size_w);
  const std::int64_t begin_r = saturating_product(read.offset, size_r);
  const std::int64_t end_w = saturating_sum(begin_w, saturating_product(count_w, size_w));
  const std::int64_t end_r = saturating_sum(begin_r, saturating_product(count_r, size_r));
  if (begin_w == begin_r && end_w == end_r) return written.strides != read.strides;
  return begin_w < end_r && begin_r < end_w;
}

// at::has_internal_overlap.
bool torch_refuses_self_overlap(const Geometry& written) {
  if (is_dense(written)) return false;
  for (std::size_t d = 0; d < written.rank(); ++d) {
    if (written.strides[d] == 0 && written.sizes[d] > 1) return true;
  }
  return false;
}

Geometry ordered_geometry(const std::vector<std::int64_t>& sizes,
                          const std::vector<std::size_t>& inner_to_outer) {
  Geometry geometry;
  geometry.sizes = sizes;
  geometry.strides.assign(sizes.size(), 1);
  std::int64_t stride = 1;
  for (const std::size_t d : inner_to_outer) {
    geometry.strides[d] = stride;
    stride = saturating_product(stride, std::max<std::int64_t>(sizes[d], 1));
  }
  return geometry;
}

// PyTorch sorts with an insertion sort whose comparison may be undecided; the sequence of
// comparisons is part of the result, so a library sort would differ.
std::vector<std::size_t> memory_order(const std::vector<std::int64_t>& sizes,
                                      std::span<const std::vector<std::int64_t>> operands) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  const auto decide = [&sizes, operands](std::size_t dim0, std::size_t dim1) {
    for (const std::vector<std::int64_t>& strides : operands) {
      const std::int64_t stride0 = strides[dim0];
      const std::int64_t stride1 = strides[dim1];
      if (stride0 == 0 || stride1 == 0) continue;
      if (stride0 != stride1) return stride0 < stride1 ? -1 : 1;
      if (sizes[dim0] > sizes[dim1]) return 1;
    }
    return 0;
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t dim1 = i;
    for (std::size_t dim0 = i; dim0-- > 0;) {
      const int decision = decide(order[dim0], order[dim1]);
      if (decision > 0) {
        std::swap(order[dim0], order[dim1]);
        dim1 = dim0;
      } else if (decision < 0) {
        break;
      }
    }
  }
  return order;
}

Geometry dense_like(const Geometry& geometry) {
  Geometry result = geometry;
  result.offset = 0;
  if (is_dense(geometry)) return result;
  const std::vector<std::int64_t> strides[] = {geometry.strides};
  return ordered_geometry(geometry.sizes, memory_order(geometry.sizes, strides));
}

Geometry cast_like(const Geometry& geometry) {
  Geometry result = geometry;
  result.offset = 0;
  if (is_dense(geometry)) return result;
  if (suggests_channels_last(geometry)) return ordered_geometry(geometry.sizes, {1, 3, 2, 0});
  return contiguous_geometry(geometry.sizes);
}

std::int64_t element_count(const Geometry& geometry) {
  std::int64_t count = 1;
  for (const std::int64_t size : geometry.sizes) {
    if (size <= 0) return 0;
  }
  for (const std::int64_t size : geometry.sizes) count = saturating_product(count, size);
  return count;
}

ElementSpan element_span(const Geometry& geometry) {
  if (element_count(geometry) == 0) return {0, 0};
  ElementSpan span{geometry.offset, geometry.offset};
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    const std::int64_t reach = saturating_product(geometry.sizes[d] - 1, geometry.strides[d]);
    if (reach < 0) {
      span.begin += reach;
    } else {
      span.end = saturating_sum(span.end, reach);
    }
  }
  span.end = saturating_sum(span.end, 1);
  return span;
}

bool overlaps_itself(const Geometry& geometry) {
  if (element_count(geometry) < 2 || is_nested(geometry)) return false;
  for (const std::size_t d : moving_dims(geometry)) {
    if (geometry.strides[d] == 0) return true;
  }
  if (element_count(geometry) > kWorkLimit) return true;
  const std::vector<std::int64_t> all = addresses(geometry);
  return std::adjacent_find(all.begin(), all.end()) != all.end();
}

Overlap overlap(const Geometry& a, const Geometry& b) {
  const ElementSpan span_a = element_span(a);
  const ElementSpan span_b = element_span(b);
  if (span_a.begin == span_a.end || span_b.begin == span_b.end) return Overlap::None;
  if (span_a.end <= span_b.begin || span_b.end <= span_a.begin) return Overlap::None;
  if (same_map(a, b)) return Overlap::Same;
  if (is_dense(a) && is_dense(b)) return Overlap::Partial;
  if (interleaved(a, b)) return Overlap::None;
  if (element_count(a) > kWorkLimit || element_count(b) > kWorkLimit) return Overlap::Unknown;
  const std::vector<std::int64_t> all_a = addresses(a);
  const std::vector<std::int64_t> all_b = addresses(b);
  auto at_a = all_a.begin();
  auto at_b = all_b.begin();
  while (at_a != all_a.end() && at_b != all_b.end()) {
    if (*at_a == *at_b) return Overlap::Partial;
    if (*at_a < *at_b) {
      ++at_a;
    } else {
      ++at_b;
    }
  }
  return Overlap::None;
}

std::optional<bool> covers(const Geometry& outer, const Geometry& inner) {
  const ElementSpan span_outer = element_span(outer);
  const ElementSpan span_inner = element_span(inner);
  if (span_inner.begin == span_inner.end) return true;
  if (span_inner.begin < span_outer.begin || span_inner.end > span_outer.end) return false;
  if (is_dense(outer) || same_map(outer, inner)) return true;
  if (interleaved(outer, inner)) return false;
  if (element_count(outer) > kWorkLimit || element_count(inner) > kWorkLimit) return std::nullopt;
  const std::vector<std::int64_t> all_outer = addresses(outer);
  std::vector<std::int64_t> all_inner = addresses(inner);
  all_inner.erase(std::unique(all_inner.begin(), all_inner.end()), all_inner.end());
  return std::includes(all_outer.begin(), all_outer.end(), all_inner.begin(), all_inner.end());
}

// The rule of at::detail::computeStride: each run of dims that is contiguous in memory must be
// covered by whole new dims.
std::optional<Geometry> viewed_as(const Geometry& geometry,
                                  const std::vector<std::int64_t>& sizes) {
  Geometry view;
  view.sizes = sizes;
  view.offset = geometry.offset;
  view.strides.assign(sizes.size(), 1);
  const std::int64_t count = element_count(geometry);
  if (count == 0) {
    if (sizes == geometry.sizes) {
      view.strides = geometry.strides;
    } else {
      view.strides = contiguous_geometry(sizes).strides;
    }
    return view;
  }
  if (geometry.sizes.empty()) return view;
  std::size_t view_left = sizes.size();
  std::int64_t base_stride = geometry.strides.back();
  std::int64_t tensor_count = 1;
  std::int64_t view_count = 1;
  for (std::size_t d = geometry.rank(); d-- > 0;) {
    tensor_count = saturating_product(tensor_count, geometry.sizes[d]);
    const bool chunk_ends =
        d == 0 || (geometry.sizes[d - 1] != 1 &&
                   geometry.strides[d - 1] != saturating_product(tensor_count, base_stride));
    if (!chunk_ends) continue;
    while (view_left > 0 && (view_count < tensor_count || sizes[view_left - 1] == 1)) {
      --view_left;
      view.strides[view_left] = saturating_product(view_count, base_stride);
      view_count = saturating_product(view_count, sizes[view_left]);
    }
    if (view_count != tensor_count) return std::nullopt;
    if (d > 0) {
      base_stride = geometry.strides[d - 1];
      tensor_count = 1;
      view_count = 1;
    }
  }
  if (view_left != 0) return std::nullopt;
  return view;
}

Expected<std::vector<std::int64_t>, std::string> resolve_reshape(std::int64_t elements,
                                                                 std::vector<std::int64_t> sizes) {
  std::optional<std::size_t> inferred;
  std::int64_t known = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      if (inferred) return Unexpected{std::string("only one dimension can be inferred")};
      inferred = d;
    } else if (sizes[d] >= 0) {
      known = saturating_product(known, sizes[d]);
    } else {
      return Unexpected{fmt::format("invalid shape dimension {}", sizes[d])};
    }
  }
  if (inferred) {
    if (known == 0) {
      return Unexpected{fmt::format(
          "cannot reshape tensor of {} elements into shape [{}] because the unspecified "
          "dimension size -1 can be any value and is ambiguous",
          elements, fmt::join(sizes, ", "))};
    }
    if (elements % known == 0) {
      sizes[*inferred] = elements / known;
      return sizes;
    }
  } else if (known == elements) {
    return sizes;
  }
  return Unexpected{fmt::format("shape '[{}]' is invalid for input of size {}",
                                fmt::join(sizes, ", "), elements)};
}

}  // namespace tg
