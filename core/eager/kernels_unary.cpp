// Kernels of elementwise operations of one tensor: which functor of scalar_ops.h, which promotion.
#include <fmt/format.h>

#include "core/eager/elementwise_forms.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

bool refuses_bool(KernelCall& call, const Operand& operand) {
  if (is_bool_tensor(operand)) refuse_dtype(call, DType::Bool);
  return call.failed();
}

// Integers are already whole: PyTorch gives a copy.
template <template <typename> class Op>
RuntimeValue rounding(KernelCall& call) {
  const Operand a = operand(call, "a");
  if (call.failed()) return {};
  const DType dtype = result_type({&a, 1});
  if (is_complex(dtype)) {
    call.raise(fmt::format("{} is not supported for complex inputs", call.name()),
               "NotImplementedError");
    return {};
  }
  if (refuses_bool(call, a)) return {};
  if (!is_float(dtype)) return elementwise(call, {a}, ResultType::Promoted, plain<scalar::Same>());
  if (a.tensor != nullptr) return unary<Op>(call, ResultType::Promoted);
  // Python's math.ceil and friends give an int.
  const RuntimeValue rounded = unary<Op>(call, ResultType::Promoted);
  const double* real = rounded.as<double>();
  return real != nullptr ? RuntimeValue{truncate_to_integer(*real)} : rounded;
}

RuntimeValue elu_like(KernelCall& call, double positive, double negative, double input) {
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted, [=]<typename T>(T) {
    return scalar::Elu<T>{parameter<T>(positive), parameter<T>(negative), parameter<T>(input)};
  });
}

}  // namespace

#define TG_UNARY_KERNEL(NAME, OP, TYPE)               \
  RuntimeValue kernel_##NAME(KernelCall& call) {      \
    return unary<scalar::OP>(call, ResultType::TYPE); \
  }
TG_UNARY_KERNEL(Sin, Sin, FloatPromoted)
TG_UNARY_KERNEL(Cos, Cos, FloatPromoted)
TG_UNARY_KERNEL(Tan, Tan, FloatPromoted)
TG_UNARY_KERNEL(Asin, Asin, FloatPromoted)
TG_UNARY_KERNEL(Acos, Acos, FloatPromoted)
TG_UNARY_KERNEL(Atan, Atan, FloatPromoted)
TG_UNARY_KERNEL(Sinh, Sinh, FloatPromoted)
TG_UNARY_KERNEL(Cosh, Cosh, FloatPromoted)
TG_UNARY_KERNEL(Tanh, Tanh, FloatPromoted)
TG_UNARY_KERNEL(Asinh, Asinh, FloatPromoted)
TG_UNARY_KERNEL(Acosh, Acosh, FloatPromoted)
TG_UNARY_KERNEL(Atanh, Atanh, FloatPromoted)
TG_UNARY_KERNEL(Exp, Exp, FloatPromoted)
TG_UNARY_KERNEL(Exp2, Exp2, FloatPromoted)
TG_UNARY_KERNEL(Expm1, Expm1, FloatPromoted)
TG_UNARY_KERNEL(Log, Log, FloatPromoted)
TG_UNARY_KERNEL(Log10, Log10, FloatPromoted)
TG_UNARY_KERNEL(Log1p, Log1p, FloatPromoted)
TG_UNARY_KERNEL(Log2, Log2, FloatPromoted)
TG_UNARY_KERNEL(Sqrt, Sqrt, FloatPromoted)
TG_UNARY_KERNEL(Rsqrt, Rsqrt, FloatPromoted)
TG_UNARY_KERNEL(Reciprocal, Reciprocal, FloatPromoted)
TG_UNARY_KERNEL(Erf, Erf, FloatPromoted)
TG_UNARY_KERNEL(Erfc, Erfc, FloatPromoted)
TG_UNARY_KERNEL(Erfinv, Erfinv, FloatPromoted)
TG_UNARY_KERNEL(Lgamma, Lgamma, FloatPromoted)
TG_UNARY_KERNEL(Digamma, Digamma, FloatPromoted)
TG_UNARY_KERNEL(Sgn, Sgn, Promoted)
TG_UNARY_KERNEL(LogicalNot, LogicalNot, Bool)
TG_UNARY_KERNEL(Isfinite, Isfinite, Bool)
TG_UNARY_KERNEL(Isnan, Isnan, Bool)
TG_UNARY_KERNEL(Isinf, Isinf, Bool)
TG_UNARY_KERNEL(Signbit, Signbit, Bool)
TG_UNARY_KERNEL(Sigmoid, Sigmoid, FloatPromoted)
TG_UNARY_KERNEL(Silu, Silu, Promoted)
TG_UNARY_KERNEL(Mish, Mish, Promoted)
TG_UNARY_KERNEL(Hardswish, Hardswish, Promoted)
TG_UNARY_KERNEL(Hardsigmoid, Hardsigmoid, Promoted)
TG_UNARY_KERNEL(Tanhshrink, Tanhshrink, Promoted)
#undef TG_UNARY_KERNEL

RuntimeValue kernel_Abs(KernelCall& call) {
  if (refuses_bool(call, operand(call, "a"))) return {};
  return unary<scalar::Abs>(call, ResultType::RealPart);
}
RuntimeValue kernel_Relu(KernelCall& call) {
  if (is_bool_tensor(operand(call, "a"))) {
    call.raise("Boolean inputs not supported for relu");
    return {};
  }
  const Operand a = operand(call, "a");
  if (!call.failed() && is_complex(result_type({&a, 1}))) {
    call.raise("clamp is not supported for complex types", "NotImplementedError");
    return {};
  }
  return unary<scalar::Relu>(call, ResultType::Promoted);
}
RuntimeValue kernel_Neg(KernelCall& call) {
  const Operand a = operand(call, "a");
  if (a.tensor != nullptr && a.tensor->dtype == DType::Bool) {
    call.raise(
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
        "invert a "
        "mask, use the `~` or `logical_not()` operator instead.");
    return {};
  }
  return unary<scalar::Neg>(call, ResultType::Promoted);
}
// prims.sign is torch.sgn, and differs from torch.sign on complex numbers only, where torch.sign
// raises.
RuntimeValue kernel_Sign(KernelCall& call) {
  if (call.callee() == "prims.sign") return unary<scalar::Sgn>(call, ResultType::Promoted);
  const Operand a = operand(call, "a");
  if (!call.failed() && is_complex(result_type({&a, 1}))) {
    call.raise(
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn "
        "instead.",
        "NotImplementedError");
    return {};
  }
  return unary<scalar::Sign>(call, ResultType::Promoted);
}
RuntimeValue kernel_Ceil(KernelCall& call) {
  return rounding<scalar::Ceil>(call);
}
RuntimeValue kernel_Floor(KernelCall& call) {
  return rounding<scalar::Floor>(call);
}
RuntimeValue kernel_Round(KernelCall& call) {
  const std::int64_t decimals = call.is_none("decimals") ? 0 : call.integer("decimals");
  if (decimals == 0) return rounding<scalar::Round>(call);
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted,
                     [scale, decimals]<typename T>(T) {
                       return scalar::RoundDecimals<T>{parameter<T>(scale), decimals < 0};
                     });
}
RuntimeValue kernel_Trunc(KernelCall& call) {
  return rounding<scalar::Trunc>(call);
}
RuntimeValue kernel_BitwiseNot(KernelCall& call) {
  const Operand a = operand(call, "a");
  const bool truth = !call.failed() && result_type({&a, 1}) == DType::Bool;
  return truth ? unary<scalar::LogicalNot>(call, ResultType::Bool)
               : unary<scalar::BitwiseNot>(call, ResultType::Promoted);
}
// PyTorch computes square as pow(a, 2): bool gives int64.
RuntimeValue kernel_Square(KernelCall& call) {
  const Operand a = operand(call, "a");
  if (call.failed()) return {};
  const DType dtype = result_type({&a, 1});
  return elementwise(call, {a}, ResultType::Promoted, plain<scalar::Square>(),
                     dtype == DType::Bool ? DType::Int64 : dtype);
}
RuntimeValue kernel_Gelu(KernelCall& call) {
  const std::string form = call.text("approximate");
  if (form != "tanh" && form != "none" && !call.failed()) {
    call.raise("approximate argument must be either none or tanh.");
    return {};
  }
  return form == "tanh" ? unary<scalar::GeluTanh>(call, ResultType::Promoted)
                        : unary<scalar::GeluErf>(call, ResultType::Promoted);
}
RuntimeValue kernel_Relu6(KernelCall& call) {
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted, []<typename T>(T) {
    return scalar::ClampBetween<T>{parameter<T>(0), parameter<T>(6)};
  });
}
RuntimeValue kernel_Selu(KernelCall& call) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  return elu_like(call, kScale, kAlpha * kScale, 1);
}
RuntimeValue kernel_Elu(KernelCall& call) {
  return elu_like(call, 1, call.number("alpha"), 1);
}
RuntimeValue kernel_Celu(KernelCall& call) {
  const double alpha = call.number("alpha");
  return elu_like(call, 1, alpha, 1 / alpha);
}
RuntimeValue kernel_LeakyRelu(KernelCall& call) {
  const double slope = call.number("negative_slope");
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted,
                     [slope]<typename T>(T) { return scalar::LeakyRelu<T>{parameter<T>(slope)}; });
}
RuntimeValue kernel_Hardshrink(KernelCall& call) {
  const double lambda = call.number("lambd");
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted, [lambda]<typename T>(T) {
    return scalar::Hardshrink<T>{parameter<T>(lambda)};
  });
}
RuntimeValue kernel_Softplus(KernelCall& call) {
  const double beta = call.number("beta");
  const double threshold = call.number("threshold");
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted,
                     [beta, threshold]<typename T>(T) {
                       return scalar::Softplus<T>{parameter<T>(beta), parameter<T>(threshold)};
                     });
}
RuntimeValue kernel_NanToNum(KernelCall& call) {
  const Operand a = operand(call, "a");
  if (call.failed()) return {};
  const DType dtype = result_type({&a, 1});
  double largest = static_cast<double>(std::numeric_limits<float>::max());
  if (dtype == DType::Float64 || dtype == DType::Complex128)
    largest = std::numeric_limits<double>::max();
  if (dtype == DType::Float16) largest = 65504;
  if (dtype == DType::BFloat16) largest = static_cast<double>(BFloat16{0x7f7f}.widen());
  const double nan = call.is_none("nan") ? 0 : call.number("nan");
  const double high = call.is_none("posinf") ? largest : call.number("posinf");
  const double low = call.is_none("neginf") ? -largest : call.number("neginf");
  return elementwise(call, {a}, ResultType::Promoted, [=]<typename T>(T) {
    using Part = typename scalar::NanToNum<T>::Part;
    return scalar::NanToNum<T>{parameter<Part>(nan), parameter<Part>(high), parameter<Part>(low)};
  });
}
RuntimeValue kernel_Logsigmoid(KernelCall& call) {
  const RuntimeValue result = unary<scalar::Logsigmoid>(call, ResultType::Promoted);
  const Tensor* tensor = result.as<Tensor>();
  if (tensor == nullptr || call.failed() || is_contiguous(tensor->geometry)) return result;
  Tensor plain_result = call.allocate(tensor->dtype, tensor->geometry.sizes);
  if (!call.failed()) copy_values(*tensor, plain_result);
  return {std::move(plain_result)};
}
RuntimeValue kernel_Hardtanh(KernelCall& call) {
  const double low = call.number("min_val");
  const double high = call.number("max_val");
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted, [low, high]<typename T>(T) {
    return scalar::ClampBetween<T>{parameter<T>(low), parameter<T>(high)};
  });
}
RuntimeValue kernel_Threshold(KernelCall& call) {
  const double threshold = call.number("threshold");
  const double value = call.number("value");
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted,
                     [threshold, value]<typename T>(T) {
                       return scalar::Threshold<T>{parameter<T>(threshold), parameter<T>(value)};
                     });
}

}  // namespace tg
