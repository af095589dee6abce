#include "core/eager/rows.h"

#include <algorithm>

namespace tg {

RowReader::RowReader(const Tensor& tensor, const std::vector<std::size_t>& row_dims,
                     Compute compute)
    : tensor_(tensor), step_bytes_(compute_bytes(compute)), load_(loader(tensor.dtype, compute)) {
  const Geometry& geometry = tensor.geometry;
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    const bool in_row = std::find(row_dims.begin(), row_dims.end(), d) != row_dims.end();
    if (!in_row) {
      outer_sizes_.push_back(geometry.sizes[d]);
      outer_strides_.push_back(geometry.strides[d]);
      rows_ = saturating_product(rows_, geometry.sizes[d]);
      continue;
    }
    length_ = saturating_product(length_, geometry.sizes[d]);
    // Merge with the dim before where one steps over the other exactly.
    if (!inner_sizes_.empty() &&
        inner_strides_.back() == saturating_product(geometry.strides[d], geometry.sizes[d])) {
      inner_sizes_.back() = saturating_product(inner_sizes_.back(), geometry.sizes[d]);
      inner_strides_.back() = geometry.strides[d];
    } else {
      inner_sizes_.push_back(geometry.sizes[d]);
      inner_strides_.push_back(geometry.strides[d]);
    }
  }
  at_.assign(outer_sizes_.size(), 0);
}

void RowReader::next(void* out) {
  auto* to = static_cast<std::byte*>(out);
  const std::byte* base = element_address(tensor_);
  const auto element = static_cast<std::int64_t>(size_bytes(tensor_.dtype));
  if (length_ > 0) {
    const std::size_t last = inner_sizes_.empty() ? 0 : inner_sizes_.size() - 1;
    const std::int64_t run = inner_sizes_.empty() ? 1 : inner_sizes_[last];
    const std::int64_t stride = inner_sizes_.empty() ? 1 : inner_strides_[last];
    std::vector<std::int64_t> at(last, 0);
    std::int64_t offset = offset_;
    while (true) {
      load_(base + offset * element, stride, run, to);
      to += static_cast<std::size_t>(run) * step_bytes_;
      std::size_t d = last;
      bool more = false;
      while (d-- > 0) {
        offset += inner_strides_[d];
        if (++at[d] < inner_sizes_[d]) {
          more = true;
          break;
        }
        offset -= inner_strides_[d] * inner_sizes_[d];
        at[d] = 0;
      }
      if (!more) break;
    }
  }
  for (std::size_t d = outer_sizes_.size(); d-- > 0;) {
    offset_ += outer_strides_[d];
    if (++at_[d] < outer_sizes_[d]) return;
    offset_ -= outer_strides_[d] * outer_sizes_[d];
    at_[d] = 0;
  }
}

std::vector<std::int64_t> reduced_sizes(const Geometry& geometry,
                                        const std::vector<std::size_t>& dims, bool keepdim) {
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    const bool reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!reduced) {
      sizes.push_back(geometry.sizes[d]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

}  // namespace tg
