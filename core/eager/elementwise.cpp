#include "core/eager/elementwise.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tg {
namespace {

constexpr std::int64_t kPiece = 1024;
constexpr std::size_t kMostOperands = 3;

// Priorities of torch.result_type: a lower category only decides when its kind is higher.
struct Category {
  std::optional<DType> dtype;
  void add(DType more) { dtype = dtype ? promote(*dtype, more) : more; }
};

Category combine(const Category& higher, const Category& lower) {
  if (!higher.dtype) return lower;
  if (!lower.dtype || is_complex(*higher.dtype)) return higher;
  if (is_float(*higher.dtype)) {
    return is_complex(*lower.dtype) ? Category{complex_of(*higher.dtype)} : higher;
  }
  const bool raises =
      *higher.dtype == DType::Bool || is_float(*lower.dtype) || is_complex(*lower.dtype);
  return raises ? Category{promote(*higher.dtype, *lower.dtype)} : higher;
}

// With a tensor among the operands a Python float means f32; alone it stays a double.
DType number_dtype(const Number& number, bool alone) {
  if (std::holds_alternative<bool>(number)) return DType::Bool;
  if (std::holds_alternative<std::int64_t>(number)) return DType::Int64;
  if (std::holds_alternative<double>(number)) return alone ? DType::Float64 : DType::Float32;
  return alone ? DType::Complex128 : DType::Complex64;
}

bool all_numbers(std::span<const Operand> operands) {
  for (const Operand& one : operands) {
    if (one.tensor != nullptr) return false;
  }
  return true;
}

Compute compute_for(DType common) {
  if (common == DType::Float64) return Compute::Double;
  if (common == DType::Complex128) return Compute::ComplexDouble;
  if (is_complex(common)) return Compute::ComplexFloat;
  return is_float(common) ? Compute::Float : Compute::Int;
}

RuntimeValue as_python_number(const Tensor& tensor) {
  if (tensor.dtype == DType::Bool) return {values_as_int(tensor).front() != 0};
  if (is_complex(tensor.dtype)) {
    const std::vector<double> parts = values_as_double(tensor);
    return {std::complex<double>(parts[0], parts[1])};
  }
  if (is_float(tensor.dtype)) return {values_as_double(tensor).front()};
  return {values_as_int(tensor).front()};
}

// An operand as a source of blocks. The buffer is written before it is read, so it is not cleared.
struct Source {
  Source() {}  // NOLINT(modernize-use-equals-default): `= default` would clear the buffer
  const std::byte* first = nullptr;
  std::int64_t element_bytes = 0;
  LoadBlock load = nullptr;
  bool direct = false;    // memory is already an array of the computation type
  bool constant = false;  // one value for the whole run: `buffer` holds it everywhere
  alignas(16) std::array<std::byte, kPiece * 16> buffer;
};

void fill_constant(Source& source, const Number& number, Compute compute) {
  const auto fill = [&source, &number](auto zero) {
    using T = decltype(zero);
    T* to = reinterpret_cast<T*>(source.buffer.data());
    std::fill(to, to + kPiece, scalar_as<T>(number));
  };
  switch (compute) {
    case Compute::Float:
      fill(float{});
      break;
    case Compute::Double:
      fill(double{});
      break;
    case Compute::Bool:
    case Compute::Int:
      fill(std::int64_t{});
      break;
    case Compute::ComplexFloat:
      fill(Complex<float>{});
      break;
    case Compute::ComplexDouble:
      fill(Complex<double>{});
      break;
  }
  source.constant = true;
}

}  // namespace

Operand operand(KernelCall& call, std::string_view name) {
  const RuntimeValue& value = call.arg(name);
  if (const std::optional<Number> number = number_of(value)) return {nullptr, *number};
  return {&call.tensor(name), {}};
}

DType result_type(std::span<const Operand> operands) {
  Category dimensioned;
  Category zero_dim;
  Category wrapped;
  const bool alone = all_numbers(operands);
  for (const Operand& one : operands) {
    if (one.tensor == nullptr) {
      wrapped.add(number_dtype(one.number, alone));
    } else if (one.tensor->geometry.rank() == 0) {
      zero_dim.add(one.tensor->dtype);
    } else {
      dimensioned.add(one.tensor->dtype);
    }
  }
  return combine(dimensioned, combine(zero_dim, wrapped)).dtype.value_or(DType::Float32);
}

std::vector<std::int64_t> broadcast_shape(KernelCall& call, std::span<const Operand> operands) {
  std::vector<std::int64_t> shape;
  for (const Operand& one : operands) {
    if (one.tensor == nullptr) continue;
    const std::vector<std::int64_t>& sizes = one.tensor->geometry.sizes;
    const std::vector<std::int64_t> before = shape;
    if (sizes.size() > shape.size()) shape.insert(shape.begin(), sizes.size() - shape.size(), 1);
    const std::size_t skip = shape.size() - sizes.size();
    for (std::size_t d = sizes.size(); d-- > 0;) {
      std::int64_t& size = shape[skip + d];
      if (size == sizes[d] || sizes[d] == 1) continue;
      if (size != 1) {
        call.raise(
            fmt::format("The size of tensor a ({}) must match the size of tensor b ({}) at "
                        "non-singleton dimension {}",
                        size, sizes[d], skip + d));
        return shape;
      }
      size = sizes[d];
    }
  }
  return shape;
}

Geometry elementwise_geometry(const std::vector<std::int64_t>& sizes,
                              std::span<const Operand> operands) {
  bool same_shape = true;
  bool contiguous = true;
  bool channels_last = true;
  bool dense_alike = true;
  const Geometry* last = nullptr;
  std::vector<std::vector<std::int64_t>> strides;
  for (const Operand& one : operands) {
    if (one.tensor == nullptr) {
      // A number is a 0-d tensor to the iterator.
      if (!sizes.empty()) same_shape = false;
      continue;
    }
    const Geometry& geometry = one.tensor->geometry;
    same_shape = same_shape && geometry.sizes == sizes;
    if (same_shape) {
      contiguous = contiguous && is_contiguous(geometry);
      channels_last = channels_last && is_channels_last(geometry);
      dense_alike = dense_alike && is_dense(geometry) &&
                    (last == nullptr || last->strides == geometry.strides);
      last = &geometry;
    }
    strides.push_back(broadcast_strides(geometry, sizes));
  }
  if (same_shape) {
    if (contiguous) return contiguous_geometry(sizes);
    if (channels_last) return ordered_geometry(sizes, {1, 3, 2, 0});
    if (dense_alike && last != nullptr) {
      Geometry result = *last;
      result.offset = 0;
      return result;
    }
  }
  return ordered_geometry(sizes, memory_order(sizes, strides));
}

ElementwisePlan plan_elementwise(KernelCall& call, std::vector<Operand> operands, ResultType type,
                                 std::optional<DType> computed) {
  ElementwisePlan plan;
  plan.operands = std::move(operands);
  plan.all_numbers = all_numbers(plan.operands);
  plan.common = computed ? *computed : result_type(plan.operands);
  if (type == ResultType::FloatPromoted && !is_float(plan.common) && !is_complex(plan.common)) {
    plan.common = plan.all_numbers ? DType::Float64 : DType::Float32;
  }
  plan.result = plan.common;
  if (type == ResultType::Bool) plan.result = DType::Bool;
  if (type == ResultType::RealPart) plan.result = real_of(plan.common);
  plan.compute = compute_for(plan.common);
  const std::vector<std::int64_t> sizes = broadcast_shape(call, plan.operands);
  if (call.failed()) return plan;
  // A 0-d tensor of a wider dtype does not raise the common one and is rounded to it first.
  for (Operand& one : plan.operands) {
    if (one.tensor == nullptr || one.tensor->geometry.rank() != 0 ||
        one.tensor->dtype == plan.common)
      continue;
    if (loader(one.tensor->dtype, plan.compute) == nullptr) continue;
    plan.converted.push_back(std::make_shared<const Tensor>(call.cast(*one.tensor, plan.common)));
    one.tensor = plan.converted.back().get();
  }
  if (call.failed()) return plan;
  for (const Operand& one : plan.operands) {
    if (one.tensor != nullptr && loader(one.tensor->dtype, plan.compute) == nullptr) {
      call.not_supported(
          fmt::format("'{}' on {} tensors", call.callee(), short_name(one.tensor->dtype)));
      return plan;
    }
  }
  plan.geometry = elementwise_geometry(sizes, plan.operands);
  return plan;
}

void refuse_dtype(KernelCall& call, DType dtype) {
  // The names of PyTorch's kernels differ from its operations' names, so the message is its kind,
  // not its text.
  call.raise(
      fmt::format("\"{}_cpu\" not implemented for '{}'", call.name(), scalar_type_name(dtype)),
      "NotImplementedError");
}

RuntimeValue execute(KernelCall& call, const ElementwisePlan& plan, BlockFunction block,
                     const void* op, Compute result_compute) {
  Tensor result = call.allocate(plan.result, plan.geometry);
  if (call.failed()) return {};
  const std::vector<std::int64_t>& sizes = plan.geometry.sizes;
  std::vector<std::vector<std::int64_t>> strides{plan.geometry.strides};
  std::vector<Source> sources(plan.operands.size());
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const Operand& one = plan.operands[k];
    if (one.tensor == nullptr) {
      fill_constant(sources[k], one.number, plan.compute);
      strides.emplace_back(sizes.size(), 0);
      continue;
    }
    sources[k].first = element_address(*one.tensor);
    sources[k].element_bytes = static_cast<std::int64_t>(size_bytes(one.tensor->dtype));
    sources[k].load = loader(one.tensor->dtype, plan.compute);
    strides.push_back(broadcast_strides(one.tensor->geometry, sizes));
  }
  const StridedLoop loop(sizes, std::move(strides));
  for (std::size_t k = 0; k < sources.size(); ++k) {
    sources[k].direct = !sources[k].constant && loop.inner_stride(k + 1) == 1 &&
                        is_memory_form(plan.compute, plan.operands[k].tensor->dtype);
  }
  const bool direct_result =
      loop.inner_stride(0) == 1 && is_memory_form(result_compute, plan.result);
  const StoreBlock store = storer(result_compute, plan.result);
  const auto result_bytes = static_cast<std::int64_t>(size_bytes(plan.result));
  std::byte* to = element_address(result);
  alignas(16) std::array<std::byte, kPiece * 16> buffer;
  std::array<const void*, kMostOperands> in{};
  std::int64_t pieces = 0;
  loop.for_each_run(kPiece, [&](const std::int64_t* offsets, std::int64_t count) {
    for (std::size_t k = 0; k < sources.size(); ++k) {
      Source& source = sources[k];
      in[k] = source.buffer.data();
      if (source.constant) continue;
      const std::byte* first = source.first + offsets[k + 1] * source.element_bytes;
      if (source.direct) {
        in[k] = first;
      } else {
        source.load(first, loop.inner_stride(k + 1), count, source.buffer.data());
      }
    }
    std::byte* out = to + offsets[0] * result_bytes;
    if (direct_result) {
      block(in.data(), out, count, op);
    } else {
      block(in.data(), buffer.data(), count, op);
      store(out, loop.inner_stride(0), count, buffer.data());
    }
    return (++pieces & 0xfff) != 0 || !call.interrupted();
  });
  if (call.failed()) return {};
  if (plan.all_numbers) return as_python_number(result);
  return {std::move(result)};
}

}  // namespace tg
