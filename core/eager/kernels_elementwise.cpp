// Kernels of the elementwise operations: which functor of scalar_ops.h, which promotion.
#include <fmt/format.h>

#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

template <template <typename> class Op>
auto plain() {
  return []<typename T>(T) { return Op<T>{}; };
}

template <template <typename> class Op>
RuntimeValue unary(KernelCall& call, ResultType type) {
  return elementwise(call, {operand(call, "a")}, type, plain<Op>());
}

template <template <typename> class Op>
RuntimeValue binary(KernelCall& call, ResultType type) {
  return elementwise(call, {operand(call, "a"), operand(call, "b")}, type, plain<Op>());
}

// Integers and bools are already whole: PyTorch gives a copy.
template <template <typename> class Op>
RuntimeValue rounding(KernelCall& call) {
  const Operand a = operand(call, "a");
  if (call.failed()) return {};
  const DType dtype = result_type({&a, 1});
  if (!is_float(dtype)) return elementwise(call, {a}, ResultType::Promoted, plain<scalar::Same>());
  if (a.tensor != nullptr) return unary<Op>(call, ResultType::Promoted);
  // Python's math.ceil and friends give an int.
  const RuntimeValue rounded = unary<Op>(call, ResultType::Promoted);
  const double* real = rounded.as<double>();
  return real != nullptr ? RuntimeValue{truncate_to_integer(*real)} : rounded;
}

bool has_zero(KernelCall& call, const Operand& operand) {
  if (operand.tensor == nullptr) return to_double(operand.number) == 0;
  for (const std::int64_t value : call.all_integers(*operand.tensor)) {
    if (value == 0) return true;
  }
  return false;
}

// Integer division by zero stops PyTorch on CPU.
bool refuses_zero_divisor(KernelCall& call) {
  const Operand operands[] = {operand(call, "a"), operand(call, "b")};
  if (call.failed()) return true;
  const DType dtype = result_type(operands);
  if (is_float(dtype) || is_complex(dtype)) return false;
  if (has_zero(call, operands[1])) call.raise("ZeroDivisionError");
  return call.failed();
}

template <template <typename> class Op>
RuntimeValue division(KernelCall& call) {
  if (refuses_zero_divisor(call)) return {};
  return binary<Op>(call, ResultType::Promoted);
}

// f16 and bf16 quotients are rounded before they are truncated.
RuntimeValue trunc_division(KernelCall& call) {
  const Operand operands[] = {operand(call, "a"), operand(call, "b")};
  if (call.failed()) return {};
  const DType dtype = result_type(operands);
  if (dtype != DType::Float16 && dtype != DType::BFloat16)
    return division<scalar::TruncDivide>(call);
  const RuntimeValue quotient = binary<scalar::TrueDivide>(call, ResultType::Promoted);
  const Tensor* tensor = quotient.as<Tensor>();
  if (tensor == nullptr) return {};
  return elementwise(call, {{tensor, {}}}, ResultType::Promoted, plain<scalar::Trunc>());
}

// alpha belongs to the second operand.
RuntimeValue add_scaled(KernelCall& call, double sign, std::string_view first,
                        std::string_view second) {
  const Operand a = operand(call, first);
  const Operand b = operand(call, second);
  Number alpha = std::int64_t{1};
  if (const RuntimeValue& value = call.arg("alpha"); number_of(value)) {
    alpha = *number_of(value);
  } else {
    alpha = call.number("alpha");
  }
  if (call.failed()) return {};
  const Operand operands[] = {a, b};
  DType dtype = result_type(operands);
  // Python's True + True is 2; the type of the tensors' sum is bool.
  if (a.tensor == nullptr && b.tensor == nullptr && dtype == DType::Bool) dtype = DType::Int64;
  if (sign < 0 && dtype == DType::Bool) {
    call.raise(
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.");
    return {};
  }
  if (std::holds_alternative<double>(alpha) && !is_float(dtype) && !is_complex(dtype)) {
    call.raise("For integral input tensors, argument alpha must not be a floating point number.");
    return {};
  }
  if (to_double(alpha) == 1) {
    return sign > 0 ? elementwise(call, {a, b}, ResultType::Promoted, plain<scalar::Add>(), dtype)
                    : elementwise(call, {a, b}, ResultType::Promoted, plain<scalar::Sub>(), dtype);
  }
  return elementwise(call, {a, b}, ResultType::Promoted, [&alpha, sign]<typename T>(T) {
    const T value = scalar_as<T>(alpha);
    return scalar::AddScaled<T>{sign > 0 ? value : scalar::minus(T{}, value)};
  });
}

// A parameter as the computation type.
template <typename T>
T parameter(double value) {
  return convert_compute<T>(value);
}

RuntimeValue elu_like(KernelCall& call, double positive, double negative, double input) {
  return elementwise(call, {operand(call, "a")}, ResultType::Promoted, [=]<typename T>(T) {
    return scalar::Elu<T>{parameter<T>(positive), parameter<T>(negative), parameter<T>(input)};
  });
}

std::int64_t width_of(const Operand& a, const Operand& b) {
  const Operand operands[] = {a, b};
  return static_cast<std::int64_t>(size_bytes(result_type(operands))) * 8;
}

}  // namespace

#define TG_UNARY_KERNEL(NAME, OP, TYPE)               \
  RuntimeValue kernel_##NAME(KernelCall& call) {      \
    return unary<scalar::OP>(call, ResultType::TYPE); \
  }
TG_UNARY_KERNEL(Abs, Abs, RealPart)
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
TG_UNARY_KERNEL(Relu, Relu, Promoted)
TG_UNARY_KERNEL(Mish, Mish, Promoted)
TG_UNARY_KERNEL(Hardswish, Hardswish, Promoted)
TG_UNARY_KERNEL(Hardsigmoid, Hardsigmoid, Promoted)
TG_UNARY_KERNEL(Tanhshrink, Tanhshrink, Promoted)
#undef TG_UNARY_KERNEL

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
  if (dtype == DType::Float64) largest = std::numeric_limits<double>::max();
  if (dtype == DType::Float16) largest = 65504;
  if (dtype == DType::BFloat16) largest = static_cast<double>(BFloat16{0x7f7f}.widen());
  const double nan = call.is_none("nan") ? 0 : call.number("nan");
  const double high = call.is_none("posinf") ? largest : call.number("posinf");
  const double low = call.is_none("neginf") ? -largest : call.number("neginf");
  return elementwise(call, {a}, ResultType::Promoted, [=]<typename T>(T) {
    return scalar::NanToNum<T>{parameter<T>(nan), parameter<T>(high), parameter<T>(low)};
  });
}

#define TG_BINARY_KERNEL(NAME, OP, TYPE)               \
  RuntimeValue kernel_##NAME(KernelCall& call) {       \
    return binary<scalar::OP>(call, ResultType::TYPE); \
  }
TG_BINARY_KERNEL(Atan2, Atan2, FloatPromoted)
TG_BINARY_KERNEL(Copysign, Copysign, FloatPromoted)
TG_BINARY_KERNEL(BitwiseAnd, BitwiseAnd, Promoted)
TG_BINARY_KERNEL(BitwiseOr, BitwiseOr, Promoted)
TG_BINARY_KERNEL(BitwiseXor, BitwiseXor, Promoted)
TG_BINARY_KERNEL(Eq, Eq, Bool)
TG_BINARY_KERNEL(Ne, Ne, Bool)
TG_BINARY_KERNEL(Lt, Lt, Bool)
TG_BINARY_KERNEL(Le, Le, Bool)
TG_BINARY_KERNEL(Gt, Gt, Bool)
TG_BINARY_KERNEL(Ge, Ge, Bool)
TG_BINARY_KERNEL(LogicalAnd, LogicalAnd, Bool)
TG_BINARY_KERNEL(LogicalOr, LogicalOr, Bool)
TG_BINARY_KERNEL(LogicalXor, LogicalXor, Bool)
TG_BINARY_KERNEL(Maximum, Maximum, Promoted)
TG_BINARY_KERNEL(Minimum, Minimum, Promoted)
#undef TG_BINARY_KERNEL

// PyTorch's CPU kernels of mul and div take a 0-d second operand in its own precision where the
// result is f16 or bf16; all others round it to the common dtype first.
template <template <typename> class Op>
RuntimeValue binary_with_exact_scalar(KernelCall& call, ResultType type) {
  const Operand a = operand(call, "a");
  Operand b = operand(call, "b");
  if (call.failed()) return {};
  const Operand operands[] = {a, b};
  DType dtype = result_type(operands);
  if (a.tensor == nullptr && b.tensor == nullptr && dtype == DType::Bool) dtype = DType::Int64;
  const bool small = dtype == DType::Float16 || dtype == DType::BFloat16;
  if (small && b.tensor != nullptr && b.tensor->geometry.rank() == 0 && a.tensor != nullptr &&
      a.tensor->geometry.rank() != 0 && is_float(b.tensor->dtype)) {
    b = {nullptr, Number{values_as_double(*b.tensor).front()}};
  }
  return elementwise(call, {a, b}, type, plain<Op>(), dtype);
}

RuntimeValue kernel_Mul(KernelCall& call) {
  return binary_with_exact_scalar<scalar::Mul>(call, ResultType::Promoted);
}
RuntimeValue kernel_TrueDivide(KernelCall& call) {
  return binary_with_exact_scalar<scalar::TrueDivide>(call, ResultType::FloatPromoted);
}
RuntimeValue kernel_Logsigmoid(KernelCall& call) {
  const RuntimeValue result = unary<scalar::Logsigmoid>(call, ResultType::Promoted);
  const Tensor* tensor = result.as<Tensor>();
  if (tensor == nullptr || call.failed() || is_contiguous(tensor->geometry)) return result;
  Tensor plain_result = call.allocate(tensor->dtype, tensor->geometry.sizes);
  if (!call.failed()) copy_values(*tensor, plain_result);
  return {std::move(plain_result)};
}
RuntimeValue kernel_Add(KernelCall& call) {
  return add_scaled(call, 1, "a", "b");
}
RuntimeValue kernel_Sub(KernelCall& call) {
  return add_scaled(call, -1, "a", "b");
}
RuntimeValue kernel_Rsub(KernelCall& call) {
  return add_scaled(call, -1, "b", "a");
}
RuntimeValue kernel_CDiv(KernelCall& call) {
  return division<scalar::CDivide>(call);
}
RuntimeValue kernel_FloorDivide(KernelCall& call) {
  return division<scalar::FloorDivide>(call);
}
RuntimeValue kernel_Fmod(KernelCall& call) {
  return division<scalar::Fmod>(call);
}
RuntimeValue kernel_Remainder(KernelCall& call) {
  return division<scalar::Remainder>(call);
}
RuntimeValue kernel_Div(KernelCall& call) {
  const std::string mode = call.text("rounding_mode");
  if (call.failed()) return {};
  if (mode == "trunc") return trunc_division(call);
  if (mode == "floor") return division<scalar::FloorDivide>(call);
  return kernel_TrueDivide(call);
}
RuntimeValue kernel_Nextafter(KernelCall& call) {
  const Operand operands[] = {operand(call, "a"), operand(call, "b")};
  if (call.failed()) return {};
  const DType dtype = result_type(operands);
  const std::vector<Operand> both{operands[0], operands[1]};
  if (dtype == DType::BFloat16) {
    return elementwise(call, both, ResultType::Promoted,
                       [](auto) { return scalar::NextafterSmall<BFloat16>{}; });
  }
  if (dtype == DType::Float16) {
    return elementwise(call, both, ResultType::Promoted,
                       [](auto) { return scalar::NextafterSmall<Float16>{}; });
  }
  return binary<scalar::Nextafter>(call, ResultType::Promoted);
}

// A Python number as exponent has shortcuts, and a negative one is refused for integers.
RuntimeValue kernel_Pow(KernelCall& call) {
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (call.failed()) return {};
  const Operand operands[] = {a, b};
  const DType dtype = result_type(operands);
  const bool whole = !is_float(dtype) && !is_complex(dtype);
  if (b.tensor == nullptr && whole && to_double(b.number) < 0) {
    if (a.tensor != nullptr) {
      call.raise("Integers to negative integer powers are not allowed.");
      return {};
    }
    return elementwise(call, {a, b}, ResultType::FloatPromoted, plain<scalar::Pow>());
  }
  if (b.tensor == nullptr && a.tensor != nullptr && is_float(dtype)) {
    const double exponent = to_double(b.number);
    return elementwise(
        call, {a}, ResultType::Promoted,
        [exponent]<typename T>(T) { return scalar::PowScalar<T>{exponent}; }, dtype);
  }
  return elementwise(call, {a, b}, ResultType::Promoted, plain<scalar::Pow>());
}

RuntimeValue kernel_ShiftLeft(KernelCall& call) {
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (call.failed()) return {};
  const std::int64_t width = width_of(a, b);
  return elementwise(call, {a, b}, ResultType::Promoted,
                     [width]<typename T>(T) { return scalar::ShiftLeft<T>{width}; });
}
RuntimeValue kernel_ShiftRight(KernelCall& call) {
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (call.failed()) return {};
  const std::int64_t width = width_of(a, b);
  return elementwise(call, {a, b}, ResultType::Promoted,
                     [width]<typename T>(T) { return scalar::ShiftRight<T>{width}; });
}

// ---- three operands

RuntimeValue kernel_Lerp(KernelCall& call) {
  return elementwise(call, {operand(call, "start"), operand(call, "end"), operand(call, "weight")},
                     ResultType::Promoted, plain<scalar::Lerp>());
}

namespace {

template <template <typename> class Op>
RuntimeValue fused(KernelCall& call) {
  Number value = std::int64_t{1};
  if (!call.is_none("value")) {
    if (const std::optional<Number> given = number_of(call.arg("value"))) value = *given;
  }
  return elementwise(call, {operand(call, "a"), operand(call, "b"), operand(call, "c")},
                     ResultType::Promoted,
                     [&value]<typename T>(T) { return Op<T>{scalar_as<T>(value)}; });
}

}  // namespace

RuntimeValue kernel_Addcmul(KernelCall& call) {
  return fused<scalar::Addcmul>(call);
}
RuntimeValue kernel_Addcdiv(KernelCall& call) {
  return fused<scalar::Addcdiv>(call);
}

RuntimeValue kernel_Clamp(KernelCall& call) {
  const Operand a = operand(call, "a");
  const bool has_low = !call.is_none("min");
  const bool has_high = !call.is_none("max");
  if (!has_low && !has_high) {
    call.raise("torch.clamp: At least one of 'min' or 'max' must not be None");
    return {};
  }
  if (has_low && has_high) {
    return elementwise(call, {a, operand(call, "min"), operand(call, "max")}, ResultType::Promoted,
                       plain<scalar::Clamp>());
  }
  if (has_low)
    return elementwise(call, {a, operand(call, "min")}, ResultType::Promoted,
                       plain<scalar::Maximum>());
  return elementwise(call, {a, operand(call, "max")}, ResultType::Promoted,
                     plain<scalar::Minimum>());
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
