// Kernels that make tensors from numbers, random kernels, and questions about metadata.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

// torch.full infers from the number: bool, int64 or f32.
DType dtype_of_number(const Number& number) {
  if (std::holds_alternative<bool>(number)) return DType::Bool;
  if (std::holds_alternative<std::int64_t>(number)) return DType::Int64;
  return std::holds_alternative<double>(number) ? DType::Float32 : DType::Complex64;
}

Number number_argument(KernelCall& call, std::string_view name) {
  if (const std::optional<Number> number = number_of(call.arg(name))) return *number;
  const Tensor& tensor = call.tensor(name);
  if (call.failed() || tensor.elements() != 1) {
    call.bad_program(fmt::format("argument '{}' of '{}' must be a number", name, call.callee()));
    return std::int64_t{0};
  }
  if (is_float(tensor.dtype)) return values_as_double(tensor).front();
  return values_as_int(tensor).front();
}

RuntimeValue filled(KernelCall& call, const Geometry& geometry, DType dtype, const Number& number) {
  Tensor result = call.allocate(dtype, geometry);
  if (call.failed()) return {};
  if (!fits_dtype(number, dtype)) {
    call.raise(
        fmt::format("value cannot be converted to type {} without overflow", cpp_type_name(dtype)));
    return {};
  }
  Tensor one = make_tensor(dtype, {});
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&number)) {
    fill_from_int(one, {*integer});
  } else if (const auto* complex = std::get_if<std::complex<double>>(&number)) {
    if (!is_complex(dtype)) {
      call.raise("value cannot be converted to type without overflow");
      return {};
    }
    fill_from_double(one, {complex->real(), complex->imag()});
  } else if (is_complex(dtype)) {
    fill_from_double(one, {to_double(number), 0});
  } else {
    fill_from_double(one, {to_double(number)});
  }
  copy_values(one, result);
  return {std::move(result)};
}

RuntimeValue filled_sizes(KernelCall& call, std::string_view name, const Number& number,
                          DType fallback) {
  const std::vector<std::int64_t> sizes = call.integers(name);
  const DType dtype = call.dtype("dtype").value_or(fallback);
  if (call.failed()) return {};
  return filled(call, contiguous_geometry(sizes), dtype, number);
}

RuntimeValue filled_like(KernelCall& call, const Number& number) {
  const Tensor& a = call.tensor("a");
  const DType dtype = call.dtype("dtype").value_or(a.dtype);
  if (call.failed()) return {};
  return filled(call, dense_like(a.geometry), dtype, number);
}

RuntimeValue counted(KernelCall& call, double start, double step, std::int64_t count, DType dtype) {
  if (count < 0) count = 0;
  Tensor result = call.allocate(dtype, {count});
  if (!call.reserve(count, sizeof(double))) return {};
  if (is_float(dtype)) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = start + step * static_cast<double>(i);
    fill_from_double(result, values);
  } else {
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t gone =
          scalar::wrap_mul(truncate_to_integer(step), static_cast<std::int64_t>(i));
      values[i] = scalar::wrap_add(truncate_to_integer(start), gone);
    }
    fill_from_int(result, values);
  }
  return {std::move(result)};
}

double unit_random(RunContext& run) {
  return static_cast<double>(run.random_bits() >> 11U) * 0x1.0p-53;
}

template <typename Draw>
RuntimeValue random(KernelCall& call, const Geometry& geometry, DType dtype, Draw&& draw) {
  Tensor result = call.allocate(dtype, geometry);
  if (!call.reserve(result.elements(), sizeof(double))) return {};
  std::vector<double> values(static_cast<std::size_t>(result.elements()));
  for (double& value : values) value = draw();
  fill_from_double(result, values);
  call.run().used_random = true;
  return {std::move(result)};
}

double normal(RunContext& run) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_random(run)));
  return radius * std::cos(2 * std::numbers::pi * unit_random(run));
}

// [[1, 2], [3, 4]] -> (2, 2), by the first item of each level.
std::vector<std::int64_t> sequence_sizes(const RuntimeValue& value) {
  constexpr std::size_t kDeepest = 64;
  std::vector<std::int64_t> sizes;
  const Sequence* sequence = value.as<Sequence>();
  while (sequence != nullptr && sizes.size() < kDeepest) {
    sizes.push_back(static_cast<std::int64_t>(sequence->items.size()));
    sequence = sequence->items.empty() ? nullptr : sequence->items.front().as<Sequence>();
  }
  return sizes;
}

// False when the nesting is irregular or a leaf is no number.
bool collect_numbers(const RuntimeValue& value, std::size_t depth,
                     const std::vector<std::int64_t>& sizes, std::vector<Number>& leaves) {
  if (const std::optional<Number> number = number_of(value)) {
    leaves.push_back(*number);
    return depth == sizes.size();
  }
  const Sequence* sequence = value.as<Sequence>();
  if (sequence == nullptr || depth >= sizes.size()) return false;
  if (static_cast<std::int64_t>(sequence->items.size()) != sizes[depth]) return false;
  return std::all_of(sequence->items.begin(), sequence->items.end(), [&](const RuntimeValue& item) {
    return collect_numbers(item, depth + 1, sizes, leaves);
  });
}

}  // namespace

RuntimeValue kernel_FullPrim(KernelCall& call) {
  const Number number = number_argument(call, "fill_value");
  return filled_sizes(call, "shape", number, dtype_of_number(number));
}
RuntimeValue kernel_Full(KernelCall& call) {
  return kernel_FullPrim(call);
}
RuntimeValue kernel_FullLike(KernelCall& call) {
  return filled_like(call, number_argument(call, "fill_value"));
}
RuntimeValue kernel_Ones(KernelCall& call) {
  return filled_sizes(call, "size", std::int64_t{1}, DType::Float32);
}
RuntimeValue kernel_Zeros(KernelCall& call) {
  return filled_sizes(call, "size", std::int64_t{0}, DType::Float32);
}
RuntimeValue kernel_OnesLike(KernelCall& call) {
  return filled_like(call, std::int64_t{1});
}
// Without a cotangent of the caller's the sum of all outputs is differentiated.
RuntimeValue kernel_GetGrad(KernelCall& call) {
  const Tensor& of = call.tensor("a");
  Tensor ones = call.allocate(of.dtype, of.geometry.sizes);
  if (!call.failed())
    fill_from_double(ones, std::vector<double>(static_cast<std::size_t>(ones.elements()) *
                                                   (is_complex(of.dtype) ? 2U : 1U),
                                               1.0));
  return {ones};
}
RuntimeValue kernel_ZerosLike(KernelCall& call) {
  return filled_like(call, std::int64_t{0});
}
RuntimeValue kernel_Fill(KernelCall& call) {
  return filled_like(call, number_argument(call, "value"));
}
// Zeros: PyTorch's bytes are undefined here, so any bytes are right.
RuntimeValue kernel_Empty(KernelCall& call) {
  return filled_sizes(call, "shape", std::int64_t{0}, DType::Float32);
}

RuntimeValue kernel_Iota(KernelCall& call) {
  const DType dtype = call.dtype("dtype").value_or(DType::Int64);
  const auto start = static_cast<double>(call.integer("start"));
  const auto step = static_cast<double>(call.integer("step"));
  return counted(call, start, step, call.integer("length"), dtype);
}

RuntimeValue kernel_Arange(KernelCall& call) {
  Number start = std::int64_t{0};
  Number end = number_argument(call, "start");
  if (!call.is_none("end")) {
    start = end;
    end = number_argument(call, "end");
  }
  const Number step =
      call.is_none("step") ? Number{std::int64_t{1}} : number_argument(call, "step");
  const bool real = std::holds_alternative<double>(start) || std::holds_alternative<double>(end) ||
                    std::holds_alternative<double>(step);
  const DType dtype = call.dtype("dtype").value_or(real ? DType::Float32 : DType::Int64);
  if (call.failed()) return {};
  const double step_size = to_double(step);
  if (step_size == 0) {
    call.raise("step must be nonzero");
    return {};
  }
  const double count = std::ceil((to_double(end) - to_double(start)) / step_size);
  if (count < 0) {
    call.raise("upper bound and larger bound inconsistent with step sign");
    return {};
  }
  const double most = 1e18;
  return counted(call, to_double(start), step_size,
                 static_cast<std::int64_t>(std::min(count, most)), dtype);
}

RuntimeValue kernel_TensorFromSequence(KernelCall& call) {
  const std::vector<std::int64_t> sizes = sequence_sizes(call.arg("sequence"));
  std::vector<Number> leaves;
  if (!collect_numbers(call.arg("sequence"), 0, sizes, leaves)) {
    call.bad_program(fmt::format("'{}' needs a regular sequence of numbers", call.callee()));
    return {};
  }
  DType inferred = leaves.empty() ? DType::Float32 : DType::Bool;
  for (const Number& leaf : leaves) inferred = promote(inferred, dtype_of_number(leaf));
  Tensor result = call.allocate(call.dtype("dtype").value_or(inferred), sizes);
  if (call.failed()) return {};
  const bool whole = !is_float(inferred) && !is_complex(inferred);
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  for (const Number& leaf : leaves) {
    if (whole) {
      integers.push_back(std::holds_alternative<bool>(leaf) ? (std::get<bool>(leaf) ? 1 : 0)
                                                            : std::get<std::int64_t>(leaf));
    } else {
      reals.push_back(to_double(leaf));
      const auto* complex = std::get_if<std::complex<double>>(&leaf);
      if (is_complex(result.dtype)) reals.push_back(complex != nullptr ? complex->imag() : 0);
    }
  }
  if (whole && is_complex(result.dtype)) {
    for (const std::int64_t value : integers) {
      reals.push_back(static_cast<double>(value));
      reals.push_back(0);
    }
    fill_from_double(result, reals);
  } else if (whole) {
    fill_from_int(result, integers);
  } else {
    fill_from_double(result, reals);
  }
  return {std::move(result)};
}

RuntimeValue kernel_Uniform(KernelCall& call) {
  const double low = call.number("minval");
  const double high = call.number("maxval");
  const std::vector<std::int64_t> sizes = call.integers("shape");
  const DType dtype = call.dtype("dtype").value_or(DType::Float32);
  if (call.failed()) return {};
  return random(call, contiguous_geometry(sizes), dtype,
                [&] { return low + (high - low) * unit_random(call.run()); });
}
RuntimeValue kernel_UniformLike(KernelCall& call) {
  const double low = call.number("minval");
  const double high = call.number("maxval");
  const Tensor& a = call.tensor("a");
  const DType dtype = call.dtype("dtype").value_or(a.dtype);
  if (call.failed()) return {};
  return random(call, dense_like(a.geometry), dtype,
                [&] { return low + (high - low) * unit_random(call.run()); });
}
RuntimeValue kernel_Randn(KernelCall& call) {
  const std::vector<std::int64_t> sizes = call.integers("shape");
  const DType dtype = call.dtype("dtype").value_or(DType::Float32);
  if (call.failed()) return {};
  return random(call, contiguous_geometry(sizes), dtype, [&] { return normal(call.run()); });
}

RuntimeValue kernel_Dropout(KernelCall& call) {
  const Tensor a = call.tensor("a");
  const double p = call.number("p");
  const bool training = call.flag("training");
  if (call.failed()) return {};
  if (p < 0 || p > 1) {
    call.raise(fmt::format("dropout probability has to be between 0 and 1, but got {}", p),
               "ValueError");
    return {};
  }
  if (!training || p == 0) return {a};
  const double keep = 1 - p;
  const RuntimeValue mask = random(call, dense_like(a.geometry), a.dtype,
                                   [&] { return unit_random(call.run()) < keep ? 1 / keep : 0.0; });
  if (call.failed()) return {};
  const Tensor* scale = mask.as<Tensor>();
  return elementwise(call, {{&a, {}}, {scale, {}}}, ResultType::Promoted,
                     []<typename T>(T) { return scalar::Mul<T>{}; });
}

// ---- metadata

RuntimeValue kernel_Shape(KernelCall& call) {
  Sequence sizes;
  for (const std::int64_t size : call.tensor("a").geometry.sizes) sizes.items.push_back({size});
  return {std::move(sizes)};
}
RuntimeValue kernel_Size(KernelCall& call) {
  if (call.is_none("dim")) return kernel_Shape(call);
  const Tensor& a = call.tensor("a");
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed() || dim >= a.geometry.rank()) return {};
  return {a.geometry.sizes[dim]};
}
RuntimeValue kernel_Dim(KernelCall& call) {
  return {static_cast<std::int64_t>(call.tensor("a").geometry.rank())};
}
RuntimeValue kernel_Numel(KernelCall& call) {
  return {call.tensor("a").elements()};
}
RuntimeValue kernel_IsFloatingPoint(KernelCall& call) {
  return {is_float(call.tensor("a").dtype)};
}
RuntimeValue kernel_Item(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  if (call.failed()) return {};
  if (a.elements() != 1) {
    call.raise(
        fmt::format("a Tensor with {} elements cannot be converted to Scalar", a.elements()));
    return {};
  }
  if (a.dtype == DType::Bool) return {values_as_int(a).front() != 0};
  if (is_complex(a.dtype)) {
    const std::vector<double> parts = values_as_double(a);
    return {std::complex<double>(parts[0], parts[1])};
  }
  if (is_float(a.dtype)) return {values_as_double(a).front()};
  return {values_as_int(a).front()};
}

RuntimeValue kernel_ClearMutableCollection(KernelCall&) {
  return {NoneValue{}};
}
RuntimeValue kernel_SetBuffer(KernelCall&) {
  return {NoneValue{}};
}

}  // namespace tg
