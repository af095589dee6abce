// Kernels of the less common elementwise operations.
#include <fmt/format.h>

#include "core/eager/compose.h"
#include "core/eager/elementwise_forms.h"
#include "core/eager/kernel_table.h"
#include "core/eager/special_ops.h"

namespace tg {

#define TG_SPECIAL_KERNEL(NAME, TYPE)                   \
  RuntimeValue kernel_##NAME(KernelCall& call) {        \
    return unary<scalar::NAME>(call, ResultType::TYPE); \
  }
TG_SPECIAL_KERNEL(Sinc, FloatPromoted)
TG_SPECIAL_KERNEL(Deg2rad, FloatPromoted)
TG_SPECIAL_KERNEL(Rad2deg, FloatPromoted)
TG_SPECIAL_KERNEL(Isneginf, Bool)
TG_SPECIAL_KERNEL(Isposinf, Bool)
TG_SPECIAL_KERNEL(Isreal, Bool)
TG_SPECIAL_KERNEL(Erfcinv, FloatPromoted)
TG_SPECIAL_KERNEL(Ndtri, FloatPromoted)
TG_SPECIAL_KERNEL(I0, FloatPromoted)
TG_SPECIAL_KERNEL(Frac, Promoted)
#undef TG_SPECIAL_KERNEL

#define TG_SPECIAL_PAIR_KERNEL(NAME, TYPE)               \
  RuntimeValue kernel_##NAME(KernelCall& call) {         \
    return binary<scalar::NAME>(call, ResultType::TYPE); \
  }
TG_SPECIAL_PAIR_KERNEL(Xlogy, FloatPromoted)
#undef TG_SPECIAL_PAIR_KERNEL

#define TG_TENSOR_PAIR_KERNEL(NAME)                          \
  RuntimeValue kernel_##NAME(KernelCall& call) {             \
    if (refuses_number(call)) return {};                     \
    return binary<scalar::NAME>(call, ResultType::Promoted); \
  }
TG_TENSOR_PAIR_KERNEL(Fmax)
TG_TENSOR_PAIR_KERNEL(Fmin)
TG_TENSOR_PAIR_KERNEL(Gcd)
TG_TENSOR_PAIR_KERNEL(Lcm)
TG_TENSOR_PAIR_KERNEL(Hypot)
TG_TENSOR_PAIR_KERNEL(Logaddexp)
TG_TENSOR_PAIR_KERNEL(Logaddexp2)
#undef TG_TENSOR_PAIR_KERNEL

// What has no imaginary part is handed back as it is.
RuntimeValue kernel_ConjPhysical(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  if (call.failed()) return {};
  if (!is_complex(a.dtype)) return {a};
  return unary<scalar::ConjPhysical>(call, ResultType::Promoted);
}

// Real numbers have an angle too: 0 or pi, in the default float type for integers.
RuntimeValue kernel_Angle(KernelCall& call) {
  const Operand a = operand(call, "a");
  if (call.failed()) return {};
  const DType dtype = result_type({&a, 1});
  if (is_complex(dtype)) return unary<scalar::Angle>(call, ResultType::RealPart);
  return unary<scalar::Angle>(call, ResultType::FloatPromoted);
}

// PyTorch has it as a / (abs(a) + 1), each step rounded.
RuntimeValue kernel_Softsign(KernelCall& call) {
  const RuntimeValue a = call.arg("a");
  const RuntimeValue size = invoke(call, OpCode::Abs, {a});
  const RuntimeValue below = invoke(call, OpCode::Add, {size, whole_number(1)});
  return invoke(call, OpCode::TrueDivide, {a, below});
}

RuntimeValue kernel_Softshrink(KernelCall& call) {
  const double lambda = call.number("lambd");
  if (lambda < 0) {
    call.raise(fmt::format("lambda must be greater or equal to 0, but found to be {}.", lambda));
    return {};
  }
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted, [lambda]<typename T>(T) {
    return scalar::Softshrink<T>{parameter<T>(lambda)};
  });
}

RuntimeValue kernel_Logit(KernelCall& call) {
  const bool clamps = !call.is_none("eps");
  const double eps = clamps ? call.number("eps") : 0;
  return elementwise(call, {operand(call, "a")}, ResultType::FloatPromoted,
                     [clamps, eps]<typename T>(T) {
                       return scalar::Logit<T>{clamps, parameter<T>(eps)};
                     });
}

RuntimeValue kernel_Heaviside(KernelCall& call) {
  const Operand operands[] = {operand(call, "a"), operand(call, "b")};
  if (call.failed() || refuses_number(call)) return {};
  if (operands[0].tensor != nullptr && operands[1].tensor != nullptr &&
      operands[0].tensor->dtype != operands[1].tensor->dtype) {
    call.raise("heaviside is not yet implemented for tensors with different dtypes.");
    return {};
  }
  return binary<scalar::Heaviside>(call, ResultType::Promoted);
}

// Computed in float64, or complex128.
RuntimeValue kernel_FloatPower(KernelCall& call) {
  const Operand operands[] = {operand(call, "a"), operand(call, "b")};
  if (call.failed()) return {};
  const DType dtype = is_complex(result_type(operands)) ? DType::Complex128 : DType::Float64;
  const auto raised = [&](std::string_view name) -> RuntimeValue {
    const RuntimeValue value = call.arg(name);
    if (value.as<Tensor>() == nullptr) {
      const std::optional<Number> number = number_of(value);
      if (!number || dtype == DType::Complex128) return value;
      return {to_double(*number)};
    }
    return invoke(call, OpCode::To, {value, {DTypeValue{dtype, false}}});
  };
  const RuntimeValue a = raised("a");
  const RuntimeValue b = raised("b");
  return invoke(call, OpCode::Pow, {a, b});
}

// a * 2 ** b, as PyTorch composes it.
RuntimeValue kernel_Ldexp(KernelCall& call) {
  const RuntimeValue power = invoke(call, OpCode::Pow, {{2.0}, call.arg("b")});
  return invoke(call, OpCode::Mul, {call.arg("a"), power});
}

RuntimeValue kernel_ClampMin(KernelCall& call) {
  return invoke(call, OpCode::Clamp, {call.arg("a"), call.arg("min")});
}
RuntimeValue kernel_ClampMax(KernelCall& call) {
  return invoke(call, OpCode::Clamp, {call.arg("a"), {}, call.arg("max")});
}

// One weight, or one per channel: dim 1.
RuntimeValue kernel_Prelu(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  Tensor weight = call.tensor("weight");
  if (call.failed()) return {};
  const std::int64_t channels = a.geometry.rank() > 1 ? a.geometry.sizes[1] : 1;
  if (weight.elements() != 1 && weight.elements() != channels) {
    call.raise(fmt::format(
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = {} and "
        "channel size = {}.",
        weight.elements(), channels));
    return {};
  }
  if (weight.geometry.rank() == 1) {
    std::vector<std::int64_t> sizes(std::max<std::size_t>(a.geometry.rank(), 1), 1);
    std::vector<std::int64_t> strides(sizes.size(), 1);
    const std::size_t dim = a.geometry.rank() > 1 ? 1 : 0;
    sizes[dim] = weight.geometry.sizes[0];
    strides[dim] = weight.geometry.strides[0];
    if (a.geometry.rank() == 0) {
      sizes.clear();
      strides.clear();
    }
    weight.geometry.sizes = sizes;
    weight.geometry.strides = strides;
  }
  return elementwise(call, {{&a, {}}, {&weight, {}}}, ResultType::Promoted, plain<scalar::Prelu>());
}

}  // namespace tg
