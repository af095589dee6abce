// scatter_reduce, and factories that take their dtype from a tensor.
#include <fmt/format.h>

#include "core/eager/compose.h"
#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"
#include "core/eager/moves.h"

namespace tg {
namespace {

enum class Fold { Sum, Product, Mean, Largest, Smallest };

std::optional<Fold> fold_of(KernelCall& call) {
  const std::string word = call.text("reduce");
  if (word == "sum") return Fold::Sum;
  if (word == "prod") return Fold::Product;
  if (word == "mean") return Fold::Mean;
  if (word == "amax") return Fold::Largest;
  if (word == "amin") return Fold::Smallest;
  call.raise("reduce argument must be either sum, prod, mean, amax or amin.");
  return std::nullopt;
}

template <typename C>
C folded(Fold fold, C a, C b) {
  switch (fold) {
    case Fold::Sum:
    case Fold::Mean:
      return scalar::plus(a, b);
    case Fold::Product:
      return scalar::times(a, b);
    case Fold::Largest:
      return scalar::Maximum<C>{}(a, b);
    case Fold::Smallest:
      return scalar::Minimum<C>{}(a, b);
  }
  return a;
}

// Integers divide towards minus infinity.
template <typename C>
C averaged(C total, std::int64_t count) {
  if constexpr (std::is_same_v<C, std::int64_t>) {
    return scalar::FloorDivide<C>{}(total, count);
  } else {
    return total / static_cast<C>(count);
  }
}

// What the cells of `values` become: row-major cell `to[i]` meets `source[i]`.
template <typename C>
void fold_cells(Fold fold, bool include_self, const std::vector<std::int64_t>& to,
                const std::vector<C>& source, std::vector<C>& values) {
  std::vector<std::int64_t> counts(values.size(), include_self ? 1 : 0);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto cell = static_cast<std::size_t>(to[i]);
    values[cell] = counts[cell]++ == 0 ? source[i] : folded(fold, values[cell], source[i]);
  }
  if (fold != Fold::Mean) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (counts[i] > 1) values[i] = averaged(values[i], counts[i]);
  }
}

RuntimeValue new_filled(KernelCall& call, RuntimeValue number) {
  const Tensor& a = call.tensor("a");
  const DType dtype = call.dtype("dtype").value_or(a.dtype);
  return invoke(call, OpCode::Full, {call.arg("size"), std::move(number)},
                {{"dtype", {DTypeValue{dtype, false}}}});
}

}  // namespace

RuntimeValue kernel_ScatterReduce(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& index = call.tensor("index");
  const Tensor& src = call.tensor("src");
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  const std::optional<Fold> fold = fold_of(call);
  const bool include_self = call.flag("include_self");
  if (call.failed()) return {};
  if (src.dtype != a.dtype) {
    call.raise("scatter(): Expected self.dtype to be equal to src.dtype");
    return {};
  }
  const Tensor cells = at_least_1d(a);
  const Tensor places = at_least_1d(index);
  Tensor read = at_least_1d(src);
  bool fits = places.geometry.rank() == cells.geometry.rank() &&
              places.geometry.rank() == read.geometry.rank();
  for (std::size_t d = 0; fits && d < places.geometry.rank(); ++d) {
    fits = places.geometry.sizes[d] <= read.geometry.sizes[d] &&
           (d == dim || places.geometry.sizes[d] <= cells.geometry.sizes[d]);
  }
  if (!fits) {
    call.raise(
        fmt::format("Expected index {} to be no larger than self {} apart from dimension {} "
                    "and to be no larger than src {}",
                    python_tuple(index.geometry.sizes), python_tuple(a.geometry.sizes), dim,
                    python_tuple(src.geometry.sizes)));
    return {};
  }
  read.geometry.sizes = places.geometry.sizes;
  const std::vector<std::int64_t> positions = call.all_integers(places);
  const Geometry plain = contiguous_geometry(cells.geometry.sizes);
  std::vector<std::int64_t> to;
  std::size_t next = 0;
  for_each_index(call, places.geometry.sizes, [&](const Sizes& at) {
    const std::int64_t position = positions[next++];
    if (position < 0 || position >= cells.geometry.sizes[dim]) {
      call.raise(fmt::format("index {} is out of bounds for dimension {} with size {}", position,
                             dim, cells.geometry.sizes[dim]));
      return;
    }
    Sizes target = at;
    target[dim] = position;
    to.push_back(address_of(plain, target));
  });
  Tensor result = call.allocate(a.dtype, a.geometry.sizes);
  if (call.failed()) return {};
  if (is_complex(a.dtype)) {
    call.not_supported("scatter_reduce of complex tensors");
  } else if (is_float(a.dtype)) {
    std::vector<double> values = call.all_doubles(cells);
    fold_cells(*fold, include_self, to, call.all_doubles(read), values);
    if (!call.failed()) fill_from_double(result, values);
  } else {
    std::vector<std::int64_t> values = call.all_integers(cells);
    fold_cells(*fold, include_self, to, call.all_integers(read), values);
    if (!call.failed()) fill_from_int(result, values);
  }
  return {std::move(result)};
}

// PyTorch's bytes are undefined here, so any bytes are right.
RuntimeValue kernel_EmptyLike(KernelCall& call) {
  return invoke(call, OpCode::ZerosLike, {call.arg("a")}, {{"dtype", call.arg("dtype")}});
}
RuntimeValue kernel_NewEmpty(KernelCall& call) {
  return new_filled(call, whole_number(0));
}
RuntimeValue kernel_NewZeros(KernelCall& call) {
  return new_filled(call, whole_number(0));
}
RuntimeValue kernel_NewOnes(KernelCall& call) {
  return new_filled(call, whole_number(1));
}
RuntimeValue kernel_NewFull(KernelCall& call) {
  return new_filled(call, call.arg("fill_value"));
}

}  // namespace tg
