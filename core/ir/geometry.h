// Geometry: how a tensor lies in its storage. All counts are in elements of the tensor's dtype.
// One place for the stride rules of PyTorch's views, used by the interpreter (exact) and by the
// alias analysis (before anything runs).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.h"
#include "core/ir/dtype.h"
#include "core/ir/op.h"
#include "core/ir/value.h"

namespace tg {

struct Geometry {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
  friend bool operator==(const Geometry&, const Geometry&) = default;

  [[nodiscard]] std::size_t rank() const { return sizes.size(); }
};

// Row-major strides, offset 0. A dim of size 0 counts as 1 for the strides before it, as in
// PyTorch.
Geometry contiguous_geometry(const std::vector<std::int64_t>& sizes);
bool is_contiguous(const Geometry& geometry);
// Dim 1 innermost of four dims (channels_last).
bool is_channels_last(const Geometry& geometry);
// Strides in the order of channels_last, dense or not: what Tensor.suggest_memory_format calls
// channels_last.
bool suggests_channels_last(const Geometry& geometry);
// Every element of the span is addressed exactly once, in some order of the dims.
bool is_dense(const Geometry& geometry);
// What clone gives: the same strides when dense, else dense strides in the same memory order.
// Offset 0.
Geometry dense_like(const Geometry& geometry);
// What a cast gives: the same strides when dense, else contiguous (or channels_last when it was).
Geometry cast_like(const Geometry& geometry);
// Strides of a dense tensor whose dims, from innermost to outermost, are `inner_to_outer`.
Geometry ordered_geometry(const std::vector<std::int64_t>& sizes,
                          const std::vector<std::size_t>& inner_to_outer);
// The memory order that PyTorch's elementwise kernels choose: dims from innermost to outermost,
// decided by the first operand whose strides tell. `operands` have `sizes.size()` strides each, 0
// where broadcast.
std::vector<std::size_t> memory_order(const std::vector<std::int64_t>& sizes,
                                      std::span<const std::vector<std::int64_t>> operands);
std::int64_t element_count(const Geometry& geometry);
// Two different indices address one element (expand, overlapping as_strided). Exact for up to ~1e6
// elements, "true" is possible beyond that when strides are entangled.
bool overlaps_itself(const Geometry& geometry);

// First and one-past-last element that it can touch, in its storage. {0, 0} when empty.
struct ElementSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
ElementSpan element_span(const Geometry& geometry);

// Products and sums of sizes that a hostile program made: the largest int64 instead of an overflow.
std::int64_t saturating_product(std::int64_t a, std::int64_t b);
std::int64_t saturating_sum(std::int64_t a, std::int64_t b);

enum class Overlap { None, Partial, Same, Unknown };
// Do two windows onto one storage (same element size) address common elements? Same = identical
// element maps. Unknown only above a work limit (about 1e6 elements each).
Overlap overlap(const Geometry& a, const Geometry& b);
// What PyTorch checks before it writes, both decided only where that is cheap. Two windows onto one
// storage: dense ones that meet without being the same elements in the same order.
bool torch_refuses_overlap(const Geometry& written, std::size_t written_bytes,
                           const Geometry& read, std::size_t read_bytes);
// The written window alone: an expanded dim.
bool torch_refuses_self_overlap(const Geometry& written);
// Every element that `inner` addresses is addressed by `outer`. Empty optional above the work
// limit.
std::optional<bool> covers(const Geometry& outer, const Geometry& inner);

// What a view or maybe-view operation gives.
struct ViewOutcome {
  enum class Kind { View, Copy, Unknown } kind = Kind::Unknown;
  // One per output for Kind::View, in the storage of the viewed argument. For Copy and Unknown the
  // sizes are filled with the result's shape where known (strides then are those of the fresh
  // result).
  std::vector<Geometry> outputs;
};

// Facts beside the geometry that some rules need. Unknown facts make the outcome Unknown where it
// depends on them.
struct ViewedFacts {
  std::optional<DType> dtype;  // to(), real(), view(dtype)
  std::string_view device;     // to(device), device_put; empty: unknown, read as "cpu"
};

// The rule of `op` (traits kView, kMaybeView or kIdentity) applied to the geometry of its viewed
// argument. `args` are all arguments of the statement, as printed, with names of numbers replaced
// by their values and tensor arguments other than the viewed one replaced by the tuple of their
// sizes (as or in a getitem key: by the list of their sizes). `element_bytes` is needed by bit
// casts. The error is PyTorch's message, e.g. "shape '[3]' is invalid for input of size 4".
Expected<ViewOutcome, std::string> view_outcome(OpCode op, const Geometry& viewed,
                                                std::span<const Value> args,
                                                std::size_t element_bytes,
                                                const ViewedFacts& facts = {});

// view(): the strides of `geometry` under `sizes`, empty if PyTorch would need a copy. A -1 is
// resolved by the caller (resolve_reshape).
std::optional<Geometry> viewed_as(const Geometry& geometry, const std::vector<std::int64_t>& sizes);
// Replaces one -1. The error is PyTorch's message.
Expected<std::vector<std::int64_t>, std::string> resolve_reshape(std::int64_t elements,
                                                                 std::vector<std::int64_t> sizes);

}  // namespace tg
