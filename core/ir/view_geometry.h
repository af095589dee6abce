// Geometry after each view operation of PyTorch, once its arguments are plain numbers. The error of
// each is PyTorch's message. view_outcome (geometry.h) reads the arguments and asks here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/geometry.h"

namespace tg::view_geometry {

using Sizes = std::vector<std::int64_t>;
using Outcome = Expected<ViewOutcome, std::string>;

Unexpected<std::string> refuse(std::string message);
Outcome view(Geometry geometry);
Outcome views(std::vector<Geometry> geometries);
Outcome copy(Geometry geometry);
Outcome unknown();

// A dim counted from the end wraps; rank 0 accepts 0 and -1, as PyTorch does.
Expected<std::size_t, std::string> wrap(std::int64_t dim, std::size_t rank);
void insert_dim(Geometry& geometry, std::size_t dim);
// Python's slice rule for start:stop:step; step > 0.
void slice_dim(Geometry& geometry, std::size_t dim, std::int64_t start, std::int64_t stop,
               std::int64_t step);

Outcome select(Geometry geometry, std::size_t dim, std::int64_t index);
Outcome permute(const Geometry& geometry, const Sizes& dims);
Outcome transpose(Geometry geometry, std::int64_t dim0, std::int64_t dim1);
Outcome movedim(const Geometry& geometry, const Sizes& source, const Sizes& destination);
Outcome reshape(const Geometry& geometry, Sizes sizes, bool must_view);
Outcome expand(const Geometry& geometry, const Sizes& sizes);
Outcome broadcast_in_dim(Geometry geometry, const Sizes& sizes, const Sizes& dims);
Outcome squeeze(const Geometry& geometry, const std::optional<Sizes>& dims);
Outcome unsqueeze(Geometry geometry, const Sizes& dims);
Outcome flatten(const Geometry& geometry, std::int64_t start_dim, std::int64_t end_dim);
Outcome unflatten(const Geometry& geometry, std::int64_t dim, const Sizes& parts);
Outcome narrow(Geometry geometry, std::int64_t dim, std::int64_t start, std::int64_t length);
Outcome unfold(Geometry geometry, std::int64_t dim, std::int64_t size, std::int64_t step);
Outcome diagonal(Geometry geometry, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
Outcome as_strided(const Geometry& geometry, const Sizes& sizes, const Sizes& strides,
                   std::optional<std::int64_t> offset);

// Consecutive parts of a dim: part i is [bounds[i], bounds[i + 1]).
Outcome pieces(const Geometry& geometry, std::size_t dim, const Sizes& bounds);
Outcome split_every(const Geometry& geometry, std::size_t dim, std::int64_t length);
Outcome chunk(const Geometry& geometry, std::int64_t chunks, std::int64_t dim);
Outcome unbind(const Geometry& geometry, std::int64_t dim);

Outcome stride_order(const Geometry& geometry, const std::optional<Sizes>& order);
Outcome bit_cast(Geometry geometry, std::size_t element_bytes, DType to);
// Complex elements as pairs of reals: `part` 0 or 1 picks one, -1 keeps both as a new last dim.
Outcome complex_parts(Geometry geometry, int part);
Outcome view_as_complex(Geometry geometry);

}  // namespace tg::view_geometry
