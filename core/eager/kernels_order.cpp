// Sorting and what is near it: sort, argsort, topk, running extremes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/eager/compose.h"
#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"
#include "core/eager/rows.h"

namespace tg {
namespace {

// NaN counts as the largest number.
template <typename C>
bool less(C a, C b) {
  if constexpr (std::is_same_v<C, double>) {
    if (a != a) return false;
    if (b != b) return true;
  }
  return a < b;
}

// Writes rows of values and of positions along `dim` of two results.
class RowWriter {
 public:
  RowWriter(Tensor& tensor, std::size_t dim)
      : tensor_(tensor), has_dim_(tensor.geometry.rank() != 0), dim_(dim) {
    if (has_dim_) {
      length_ = tensor.geometry.sizes[dim];
      stride_ = tensor.geometry.strides[dim];
    }
    outer_ = tensor.geometry;
    if (has_dim_) {
      outer_.sizes.erase(outer_.sizes.begin() + static_cast<std::ptrdiff_t>(dim_));
      outer_.strides.erase(outer_.strides.begin() + static_cast<std::ptrdiff_t>(dim_));
    }
    at_.assign(outer_.sizes.size(), 0);
  }

  template <typename C>
  void next(const C* row) {
    std::int64_t offset = outer_.offset;
    for (std::size_t d = 0; d < at_.size(); ++d) offset += at_[d] * outer_.strides[d];
    const auto bytes = static_cast<std::int64_t>(size_bytes(tensor_.dtype));
    if (length_ > 0) {
      storer(compute_of<C>(), tensor_.dtype)(
          tensor_.storage->bytes.data() + static_cast<std::size_t>(offset * bytes), stride_,
          length_, row);
    }
    for (std::size_t d = at_.size(); d-- > 0;) {
      if (++at_[d] < outer_.sizes[d]) break;
      at_[d] = 0;
    }
  }

 private:
  Tensor& tensor_;
  bool has_dim_;
  std::size_t dim_;
  std::int64_t length_ = 1;
  std::int64_t stride_ = 1;
  Geometry outer_;
  std::vector<std::int64_t> at_;
};

struct Ordered {
  Tensor values;
  Tensor positions;
};

// `arrange(row, positions)` makes the positions of a row's elements in result order.
template <typename C, typename F>
Ordered arrange_rows(KernelCall& call, const Tensor& a, std::size_t dim, const Geometry& geometry,
                     F&& arrange) {
  Ordered result{call.allocate(a.dtype, geometry), call.allocate(DType::Int64, geometry)};
  std::vector<std::size_t> dims;
  if (a.geometry.rank() != 0) dims.push_back(dim);
  RowReader reader(a, dims, compute_of<C>());
  if (call.failed() || !call.reserve(reader.row_length(), 2 * sizeof(C) + 16)) return result;
  RowWriter values(result.values, dim);
  RowWriter positions(result.positions, dim);
  std::vector<C> row(static_cast<std::size_t>(reader.row_length()));
  std::vector<C> chosen;
  for (std::int64_t r = 0; r < reader.rows(); ++r) {
    reader.next(row.data());
    const std::vector<std::int64_t> order = arrange(row);
    chosen.clear();
    for (const std::int64_t position : order)
      chosen.push_back(row[static_cast<std::size_t>(position)]);
    values.next(chosen.data());
    positions.next(order.data());
    if ((r & 0xff) == 0xff && call.interrupted()) return result;
  }
  return result;
}

template <typename C>
std::vector<std::int64_t> sorted_positions(const std::vector<C>& row, bool descending) {
  std::vector<std::int64_t> order(row.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const C left = row[static_cast<std::size_t>(a)];
    const C right = row[static_cast<std::size_t>(b)];
    return descending ? less(right, left) : less(left, right);
  });
  return order;
}

template <typename F>
RuntimeValue with_ordered(KernelCall& call, DType dtype, F&& f) {
  if (is_complex(dtype)) {
    refuse_dtype(call, dtype);
    return {};
  }
  if (is_float(dtype)) return f(double{});
  return f(std::int64_t{});
}

RuntimeValue pair_of(Ordered ordered) {
  Sequence pair;
  pair.items.push_back({std::move(ordered.values)});
  pair.items.push_back({std::move(ordered.positions)});
  return {std::move(pair)};
}

std::size_t last_dim_by_default(KernelCall& call, std::size_t rank) {
  return call.is_none("dim") ? (rank == 0 ? 0 : rank - 1) : call.dim("dim", rank);
}

RuntimeValue sort(KernelCall& call, bool positions_only) {
  const Tensor& a = call.tensor("a");
  const std::size_t dim = last_dim_by_default(call, a.geometry.rank());
  const bool descending = call.flag("descending");
  if (call.failed()) return {};
  return with_ordered(call, a.dtype, [&]<typename C>(C) -> RuntimeValue {
    Ordered ordered = arrange_rows<C>(
        call, a, dim, dense_like(a.geometry),
        [&](const std::vector<C>& row) { return sorted_positions(row, descending); });
    if (call.failed()) return {};
    return positions_only ? RuntimeValue{std::move(ordered.positions)}
                          : pair_of(std::move(ordered));
  });
}

// The newest of equal elements wins; NaN stays.
RuntimeValue running_extreme(KernelCall& call, bool largest) {
  const Tensor& a = call.tensor("a");
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  return with_ordered(call, a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return pair_of(arrange_rows<C>(
        call, a, dim, contiguous_geometry(a.geometry.sizes), [&](const std::vector<C>& row) {
          std::vector<std::int64_t> order(row.size());
          std::size_t best = 0;
          for (std::size_t i = 0; i < row.size(); ++i) {
            const bool keeps = scalar::is_nan(row[best]) && !scalar::is_nan(row[i]);
            if (!keeps &&
                (scalar::is_nan(row[i]) || (largest ? row[i] >= row[best] : row[i] <= row[best])))
              best = i;
            order[i] = static_cast<std::int64_t>(best);
          }
          return order;
        }));
  });
}

}  // namespace

RuntimeValue kernel_Sort(KernelCall& call) {
  return sort(call, false);
}
RuntimeValue kernel_Argsort(KernelCall& call) {
  return sort(call, true);
}
RuntimeValue kernel_Cummax(KernelCall& call) {
  return running_extreme(call, true);
}
RuntimeValue kernel_Cummin(KernelCall& call) {
  return running_extreme(call, false);
}

RuntimeValue kernel_Topk(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::size_t dim = last_dim_by_default(call, a.geometry.rank());
  const std::int64_t k = call.integer("k");
  const bool largest = call.flag("largest");
  if (call.failed()) return {};
  const std::int64_t length = a.geometry.rank() == 0 ? 1 : a.geometry.sizes[dim];
  if (k < 0 || k > length) {
    call.raise("selected index k out of range");
    return {};
  }
  std::vector<std::int64_t> sizes = a.geometry.sizes;
  if (!sizes.empty()) sizes[dim] = k;
  return with_ordered(call, a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return pair_of(
        arrange_rows<C>(call, a, dim, contiguous_geometry(sizes), [&](const std::vector<C>& row) {
          std::vector<std::int64_t> order = sorted_positions(row, largest);
          order.resize(static_cast<std::size_t>(k));
          return order;
        }));
  });
}

// ---- sums that leave NaN out

namespace {

// `a` with 0 where it is NaN.
RuntimeValue without_nan(KernelCall& call) {
  const RuntimeValue missing = invoke(call, OpCode::Isnan, {call.arg("a")});
  return invoke(call, OpCode::Where, {missing, whole_number(0), call.arg("a")});
}

std::vector<NamedValue> reduction_keywords(KernelCall& call, bool with_dtype) {
  std::vector<NamedValue> keywords{{"dim", call.arg("dim")}, {"keepdim", call.arg("keepdim")}};
  if (with_dtype) keywords.push_back({"dtype", call.arg("dtype")});
  return keywords;
}

}  // namespace

RuntimeValue kernel_Nansum(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  if (!call.failed() && is_complex(a.dtype)) {
    call.raise("nansum does not support complex inputs", "RuntimeError");
    return {};
  }
  if (!call.failed() && !is_float(a.dtype))
    return invoke(call, OpCode::Sum, {call.arg("a")}, reduction_keywords(call, true));
  return invoke(call, OpCode::Sum, {without_nan(call)}, reduction_keywords(call, true));
}
RuntimeValue kernel_Nanmean(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  if (!call.failed() && !is_float(a.dtype)) {
    call.not_supported(fmt::format("nanmean of {} tensors", short_name(a.dtype)));
    return {};
  }
  const RuntimeValue total =
      invoke(call, OpCode::Sum, {without_nan(call)}, reduction_keywords(call, true));
  const RuntimeValue present =
      invoke(call, OpCode::LogicalNot, {invoke(call, OpCode::Isnan, {call.arg("a")})});
  const RuntimeValue count = invoke(call, OpCode::Sum, {present}, reduction_keywords(call, false));
  return invoke(call, OpCode::TrueDivide, {total, count});
}
RuntimeValue kernel_CountNonzero(KernelCall& call) {
  const RuntimeValue present = invoke(call, OpCode::Ne, {call.arg("a"), whole_number(0)});
  return invoke(call, OpCode::Sum, {present}, {{"dim", call.arg("dim")}});
}
RuntimeValue kernel_StdMean(KernelCall& call) {
  std::vector<NamedValue> keywords{{"dim", call.arg("dim")},
                                   {"unbiased", call.arg("unbiased")},
                                   {"keepdim", call.arg("keepdim")},
                                   {"correction", call.arg("correction")}};
  Sequence pair;
  pair.items.push_back(invoke(call, OpCode::Std, {call.arg("a")}, std::move(keywords)));
  pair.items.push_back(invoke(call, OpCode::Mean, {call.arg("a")},
                              {{"dim", call.arg("dim")}, {"keepdim", call.arg("keepdim")}}));
  return {std::move(pair)};
}

}  // namespace tg
