// Layers and matrix products that PyTorch builds from others.
#include <cmath>

#include <fmt/format.h>

#include "core/eager/compose.h"
#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

Tensor with_sizes(const Tensor& tensor, const std::vector<std::int64_t>& sizes) {
  Tensor result = tensor;
  result.geometry = contiguous_geometry(sizes);
  result.geometry.offset = tensor.geometry.offset;
  return result;
}

bool is_one(const RuntimeValue& value) {
  const std::optional<Number> number = number_of(value);
  return number && !std::holds_alternative<std::complex<double>>(*number) &&
         to_double(*number) == 1;
}

bool is_zero(const RuntimeValue& value) {
  const std::optional<Number> number = number_of(value);
  return number && !std::holds_alternative<std::complex<double>>(*number) &&
         to_double(*number) == 0;
}

// beta * a + alpha * (b @ c); with beta 0 what is in `a` does not count.
RuntimeValue scaled_product(KernelCall& call, std::size_t rank_b, std::size_t rank_c) {
  const Tensor& b = call.tensor("b");
  const Tensor& c = call.tensor("c");
  if (call.failed()) return {};
  if (b.geometry.rank() != rank_b || c.geometry.rank() != rank_c) {
    call.raise(fmt::format("{}: expected operands of {} and {} dims, got {}D and {}D", call.name(),
                           rank_b, rank_c, b.geometry.rank(), c.geometry.rank()));
    return {};
  }
  RuntimeValue product = invoke(call, OpCode::Matmul, {call.arg("b"), call.arg("c")});
  if (!is_one(call.arg("alpha"))) product = invoke(call, OpCode::Mul, {product, call.arg("alpha")});
  if (is_zero(call.arg("beta"))) return product;
  RuntimeValue base = call.arg("a");
  if (!is_one(call.arg("beta"))) base = invoke(call, OpCode::Mul, {base, call.arg("beta")});
  return invoke(call, OpCode::Add, {product, base});
}

}  // namespace

RuntimeValue kernel_Addmm(KernelCall& call) {
  return scaled_product(call, 2, 2);
}
RuntimeValue kernel_Addmv(KernelCall& call) {
  return scaled_product(call, 2, 1);
}
RuntimeValue kernel_Baddbmm(KernelCall& call) {
  return scaled_product(call, 3, 3);
}
RuntimeValue kernel_Mv(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& b = call.tensor("b");
  if (call.failed()) return {};
  const std::size_t rank = call.name() == "dot" ? 1 : 2;
  if (a.geometry.rank() != rank || b.geometry.rank() != 1) {
    call.raise(rank == 1 ? fmt::format("1D tensors expected, but got {}D and {}D tensors",
                                       a.geometry.rank(), b.geometry.rank())
                         : fmt::format("vector + matrix @ vector expected, got 1, {}, {}",
                                       a.geometry.rank(), b.geometry.rank()));
    return {};
  }
  return invoke(call, OpCode::Matmul, {call.arg("a"), call.arg("b")});
}
RuntimeValue kernel_Outer(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  if (!call.failed() && a.geometry.rank() != 1) {
    call.raise(fmt::format("outer: Expected 1-D argument self, but got {}-D", a.geometry.rank()));
  }
  const RuntimeValue column = invoke(call, OpCode::Unsqueeze, {call.arg("a"), whole_number(1)});
  return invoke(call, OpCode::Mul, {column, call.arg("b")});
}

// Rows are the elements of a group; weight and bias are per channel.
RuntimeValue kernel_GroupNorm(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::int64_t groups = call.integer("num_groups");
  const double eps = call.number("eps");
  const Tensor* weight = call.optional_tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  if (call.failed()) return {};
  if (a.geometry.rank() < 2) {
    call.raise(fmt::format("Expected at least 2 dimensions for input tensor but received {}",
                           a.geometry.rank()));
    return {};
  }
  const std::int64_t channels = a.geometry.sizes[1];
  if (groups <= 0 || channels % groups != 0) {
    call.raise(
        fmt::format("Expected number of channels in input to be divisible by num_groups, but "
                    "got input of shape {} and num_groups={}",
                    python_tuple(a.geometry.sizes), groups));
    return {};
  }
  if (!is_float(a.dtype)) {
    refuse_dtype(call, a.dtype);
    return {};
  }
  const std::vector<double> scales =
      weight != nullptr ? call.all_doubles(*weight) : std::vector<double>{};
  const std::vector<double> shifts =
      bias != nullptr ? call.all_doubles(*bias) : std::vector<double>{};
  std::vector<double> values = call.all_doubles(a);
  Tensor result = call.allocate(a.dtype, a.geometry.sizes);
  if (call.failed() || values.empty()) return {std::move(result)};
  const std::size_t per_channel =
      values.size() / static_cast<std::size_t>(a.geometry.sizes[0] * channels);
  const std::size_t per_group = per_channel * static_cast<std::size_t>(channels / groups);
  for (std::size_t first = 0; first < values.size(); first += per_group) {
    double mean = 0;
    for (std::size_t i = 0; i < per_group; ++i) mean += values[first + i];
    mean /= static_cast<double>(per_group);
    double variance = 0;
    for (std::size_t i = 0; i < per_group; ++i) {
      const double distance = values[first + i] - mean;
      variance += distance * distance;
    }
    variance /= static_cast<double>(per_group);
    const double scale = 1 / std::sqrt(variance + eps);
    for (std::size_t i = 0; i < per_group; ++i) {
      const std::size_t channel = (first + i) / per_channel % static_cast<std::size_t>(channels);
      values[first + i] =
          (values[first + i] - mean) * scale * (scales.empty() ? 1 : scales[channel]) +
          (shifts.empty() ? 0 : shifts[channel]);
    }
    if (call.interrupted()) return {};
  }
  fill_from_double(result, values);
  return {std::move(result)};
}

// a / sqrt(mean(a * a) + eps), each step rounded, as PyTorch composes it.
RuntimeValue kernel_RmsNorm(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::vector<std::int64_t> shape = call.integers("normalized_shape");
  if (call.failed()) return {};
  if (shape.empty() || shape.size() > a.geometry.rank()) {
    call.raise(fmt::format("Given normalized_shape={}, expected input with shape ending in it",
                           python_tuple(shape)));
    return {};
  }
  double eps = std::numeric_limits<float>::epsilon();
  if (a.dtype == DType::Float64) eps = std::numeric_limits<double>::epsilon();
  if (a.dtype == DType::Float16) eps = 0.0009765625;
  if (a.dtype == DType::BFloat16) eps = 0.0078125;
  if (!call.is_none("eps")) eps = call.number("eps");
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < shape.size(); ++i)
    dims.push_back(static_cast<std::int64_t>(a.geometry.rank() - shape.size() + i));
  const DType wide =
      a.dtype == DType::Float16 || a.dtype == DType::BFloat16 ? DType::Float32 : a.dtype;
  const RuntimeValue raised = invoke(call, OpCode::To, {call.arg("a"), {DTypeValue{wide, false}}});
  const RuntimeValue square = invoke(call, OpCode::Mul, {raised, raised});
  const RuntimeValue mean = invoke(call, OpCode::Mean, {square, int_tuple(dims), {true}});
  const RuntimeValue scale =
      invoke(call, OpCode::Rsqrt, {invoke(call, OpCode::Add, {mean, {eps}})});
  RuntimeValue result = invoke(call, OpCode::Mul, {raised, scale});
  result = invoke(call, OpCode::To, {result, {DTypeValue{a.dtype, false}}});
  if (!call.is_none("weight")) result = invoke(call, OpCode::Mul, {result, call.arg("weight")});
  return result;
}

RuntimeValue kernel_Glu(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  if (a.geometry.rank() == 0 || a.geometry.sizes[dim] % 2 != 0) {
    call.raise(fmt::format("Halving dimension must be even, but dimension {} is size {}", dim,
                           a.geometry.rank() == 0 ? 1 : a.geometry.sizes[dim]));
    return {};
  }
  const RuntimeValue halves =
      invoke(call, OpCode::Chunk,
             {call.arg("a"), whole_number(2), whole_number(static_cast<std::int64_t>(dim))});
  const Sequence* parts = halves.as<Sequence>();
  if (parts == nullptr || parts->items.size() != 2) return {};
  const RuntimeValue gate = invoke(call, OpCode::Sigmoid, {parts->items[1]});
  return invoke(call, OpCode::Mul, {parts->items[0], gate});
}

RuntimeValue kernel_OneHot(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  std::int64_t classes = call.integer("num_classes");
  if (call.failed()) return {};
  if (a.dtype != DType::Int64) {
    call.raise("one_hot is only applicable to index tensor of type LongTensor.");
    return {};
  }
  const std::vector<std::int64_t> numbers = call.all_integers(a);
  std::int64_t largest = -1;
  for (const std::int64_t number : numbers) {
    if (number < 0) call.raise("Class values must be non-negative.");
    largest = std::max(largest, number);
  }
  if (classes == -1 && numbers.empty())
    call.raise("Can not infer total number of classes from empty tensor.");
  if (classes == -1) classes = largest + 1;
  if (classes < 0 && !call.failed()) call.raise("num_classes should be positive");
  if (largest >= classes) call.raise("Class values must be smaller than num_classes.");
  std::vector<std::int64_t> sizes = a.geometry.sizes;
  sizes.push_back(classes);
  Tensor result = call.allocate(DType::Int64, sizes);
  if (call.failed()) return {};
  auto* cells = reinterpret_cast<std::int64_t*>(result.storage->bytes.data());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    cells[static_cast<std::int64_t>(i) * classes + numbers[i]] = 1;
  return {std::move(result)};
}

// ---- shapes and selections

RuntimeValue kernel_Tile(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  std::vector<std::int64_t> repeats = call.integers("dims");
  if (call.failed()) return {};
  if (repeats.size() < a.geometry.rank())
    repeats.insert(repeats.begin(), a.geometry.rank() - repeats.size(), 1);
  return invoke(call, OpCode::Repeat, {call.arg("a"), int_tuple(repeats)});
}

namespace {

// Tensors with at least `rank` dims, put side by side along `dim`.
RuntimeValue joined(KernelCall& call, std::size_t rank, std::int64_t dim) {
  Sequence list;
  for (Tensor tensor : call.tensors("tensors")) {
    while (tensor.geometry.rank() < rank) {
      tensor.geometry.sizes.insert(tensor.geometry.sizes.begin(), 1);
      tensor.geometry.strides.insert(tensor.geometry.strides.begin(), 1);
    }
    list.items.push_back({std::move(tensor)});
  }
  return invoke(call, OpCode::Cat, {{std::move(list)}, whole_number(dim)});
}

RuntimeValue flipped(KernelCall& call, std::int64_t dim, std::size_t least_rank) {
  const Tensor& a = call.tensor("a");
  if (!call.failed() && a.geometry.rank() < least_rank)
    call.raise(fmt::format("Input must be >= {}-d.", least_rank));
  return invoke(call, OpCode::Flip, {call.arg("a"), int_tuple({dim})});
}

}  // namespace

RuntimeValue kernel_Hstack(KernelCall& call) {
  bool vectors = true;
  for (const Tensor& tensor : call.tensors("tensors"))
    vectors = vectors && tensor.geometry.rank() <= 1;
  return joined(call, 1, vectors ? 0 : 1);
}
RuntimeValue kernel_Vstack(KernelCall& call) {
  return joined(call, 2, 0);
}
RuntimeValue kernel_Fliplr(KernelCall& call) {
  return flipped(call, 1, 2);
}
RuntimeValue kernel_Flipud(KernelCall& call) {
  return flipped(call, 0, 1);
}

RuntimeValue kernel_RepeatInterleave(KernelCall& call) {
  Tensor a = call.tensor("a");
  if (call.failed()) return {};
  if (call.is_none("dim")) {
    a = with_sizes(contiguous_copy(a), {a.elements()});
  } else if (a.geometry.rank() == 0) {
    a = with_sizes(a, {1});
  }
  const std::size_t dim = call.is_none("dim") ? 0 : call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  const std::int64_t length = a.geometry.sizes[dim];
  std::vector<std::int64_t> repeats;
  if (const Tensor* given = call.arg("repeats").as<Tensor>()) {
    repeats = call.all_integers(*given);
  } else {
    repeats = {call.integer("repeats")};
  }
  if (call.failed()) return {};
  if (repeats.size() == 1) repeats.assign(static_cast<std::size_t>(length), repeats.front());
  if (static_cast<std::int64_t>(repeats.size()) != length) {
    call.raise("repeats must have the same size as input along dim");
    return {};
  }
  std::int64_t total = 0;
  for (const std::int64_t repeat : repeats) {
    if (repeat < 0 || repeat > std::int64_t{1} << 40) {
      call.raise("repeats can not be negative");
      return {};
    }
    total = saturating_sum(total, repeat);
  }
  if (!call.reserve(total, sizeof(std::int64_t))) return {};
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < repeats.size(); ++i)
    positions.insert(positions.end(), static_cast<std::size_t>(repeats[i]),
                     static_cast<std::int64_t>(i));
  Tensor index = call.allocate(DType::Int64, {static_cast<std::int64_t>(positions.size())});
  if (call.failed()) return {};
  fill_from_int(index, positions);
  return invoke(call, OpCode::IndexSelect,
                {{std::move(a)}, whole_number(static_cast<std::int64_t>(dim)), {std::move(index)}});
}

namespace {

// A copy of `a` with `src` written where `view` of the copy lies.
RuntimeValue scattered(KernelCall& call, OpCode view, std::vector<RuntimeValue> where) {
  const Tensor& a = call.tensor("a");
  const Tensor& src = call.tensor("src");
  if (call.failed()) return {};
  const RuntimeValue copy = invoke(call, OpCode::Clone, {call.arg("a")});
  where.insert(where.begin(), copy);
  const RuntimeValue window = invoke(call, view, std::move(where));
  const Tensor* target = window.as<Tensor>();
  if (call.failed() || target == nullptr) return {};
  if (target->geometry.sizes != src.geometry.sizes) {
    call.raise(fmt::format(
        "expected src to have a size equal to the slice of self. src size = {}, slice size = {}",
        python_tuple(src.geometry.sizes), python_tuple(target->geometry.sizes)));
    return {};
  }
  (void)a;
  copy_into(call, src, *target);
  return copy;
}

}  // namespace

RuntimeValue kernel_SelectScatter(KernelCall& call) {
  return scattered(call, OpCode::Select, {call.arg("dim"), call.arg("index")});
}
RuntimeValue kernel_DiagonalScatter(KernelCall& call) {
  return scattered(call, OpCode::Diagonal,
                   {call.arg("offset"), call.arg("dim1"), call.arg("dim2")});
}
RuntimeValue kernel_SliceScatter(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  Sequence key;
  for (std::size_t d = 0; d < dim; ++d) key.items.push_back({SliceValue{{{}, {}, {}}}});
  key.items.push_back({SliceValue{{call.arg("start"), call.arg("end"), call.arg("step")}}});
  return scattered(call, OpCode::Getitem, {{std::move(key)}});
}

// A diagonal matrix, or a stack of them, from the last dim.
RuntimeValue kernel_DiagEmbed(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::int64_t offset = call.integer("offset");
  if (call.failed()) return {};
  const std::size_t rank = a.geometry.rank();
  if (rank == 0 || std::abs(offset) > std::int64_t{1} << 30) {
    call.raise("diag_embed: the input needs at least one dim");
    return {};
  }
  const std::size_t dim1 = call.dim("dim1", rank + 1);
  const std::size_t dim2 = call.dim("dim2", rank + 1);
  if (call.failed()) return {};
  if (dim1 == dim2) {
    call.raise(fmt::format("diagonal dimensions cannot be identical {}, {}", dim1, dim2));
    return {};
  }
  const std::int64_t side = a.geometry.sizes.back() + std::abs(offset);
  std::vector<std::int64_t> sizes(a.geometry.sizes.begin(), a.geometry.sizes.end() - 1);
  const std::size_t low = std::min(dim1, dim2);
  const std::size_t high = std::max(dim1, dim2);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(low), side);
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(high), side);
  Tensor result = call.allocate(a.dtype, sizes);
  if (call.failed()) return {};
  const RuntimeValue whole{result};
  const RuntimeValue window =
      invoke(call, OpCode::Diagonal,
             {whole, whole_number(offset), whole_number(static_cast<std::int64_t>(dim1)),
              whole_number(static_cast<std::int64_t>(dim2))});
  if (const Tensor* target = window.as<Tensor>()) copy_into(call, a, *target);
  return whole;
}

RuntimeValue kernel_IndexFill(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  const Tensor& index = call.tensor("index");
  if (call.failed()) return {};
  const RuntimeValue copy = invoke(call, OpCode::Clone, {call.arg("a")});
  for (const std::int64_t position : call.all_integers(index)) {
    const RuntimeValue window =
        a.geometry.rank() == 0
            ? copy
            : invoke(call, OpCode::Select,
                     {copy, whole_number(static_cast<std::int64_t>(dim)), whole_number(position)});
    invoke(call, OpCode::TensorCopyInto, {window, call.arg("value")});
    if (call.failed()) return {};
  }
  return copy;
}

}  // namespace tg
