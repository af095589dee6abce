// Kernels of elementwise operations of two and three operands: which functor of scalar_ops.h, which
// promotion.
#include <fmt/format.h>

#include "core/eager/elementwise_forms.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

std::string_view python_name(const Number& number) {
  return std::holds_alternative<bool>(number)           ? "bool"
         : std::holds_alternative<std::int64_t>(number) ? "int"
         : std::holds_alternative<double>(number)       ? "float"
                                                        : "complex";
}

bool refuses_number_first(KernelCall& call) {
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (call.failed() || a.tensor != nullptr || b.tensor == nullptr) return call.failed();
  if (call.callee().starts_with("operator.")) return false;
  call.raise(
      fmt::format("{}() received an invalid combination of arguments - got ({}, Tensor), but "
                  "expected one of:\n * (Tensor input, Tensor other, *, Tensor out = None)\n "
                  "* (Tensor input, Number other, *, Tensor out = None)\n",
                  call.name(), python_name(a.number)),
      "TypeError");
  return true;
}

template <template <typename> class Op>
RuntimeValue binary_of_tensors(KernelCall& call, ResultType type) {
  return refuses_number(call) ? RuntimeValue{} : binary<Op>(call, type);
}

bool has_zero(KernelCall& call, const Operand& operand) {
  if (operand.tensor == nullptr) return to_double(operand.number) == 0;
  for (const std::int64_t value : call.all_integers(*operand.tensor)) {
    if (value == 0) return true;
  }
  return false;
}

// Between numbers Python divides.
void raise_zero_number(KernelCall& call, bool is_floating) {
  const OpCode op = call.op().code;
  if (op == OpCode::Fmod) return call.raise("math domain error", "ValueError");
  std::string_view words =
      is_floating ? "float division by zero" : "integer division or modulo by zero";
  if (op == OpCode::Remainder) words = is_floating ? "float modulo" : "integer modulo by zero";
  if (op == OpCode::FloorDivide && is_floating) words = "float floor division by zero";
  call.raise(std::string(words), "ZeroDivisionError");
}

// Integer division by zero stops PyTorch on CPU.
bool refuses_zero_divisor(KernelCall& call) {
  const Operand operands[] = {operand(call, "a"), operand(call, "b")};
  if (call.failed()) return true;
  const DType dtype = result_type(operands);
  if (operands[0].tensor == nullptr && operands[1].tensor == nullptr && !is_complex(dtype) &&
      to_double(operands[1].number) == 0) {
    raise_zero_number(call, is_float(dtype));
    return true;
  }
  if (is_float(dtype) || is_complex(dtype)) return false;
  if (dtype == DType::Bool && operands[0].tensor != nullptr) refuse_dtype(call, dtype);
  if (call.failed()) return true;
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
  if (sign < 0 && (is_bool_tensor(a) || is_bool_tensor(b))) {
    call.raise(
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
        "invert a "
        "mask, use the `~` or `logical_not()` operator instead.");
    return {};
  }
  if (std::holds_alternative<double>(alpha) && !is_float(dtype) && !is_complex(dtype)) {
    call.raise("For integral input tensors, argument alpha must not be a floating point number.");
    return {};
  }
  // a + alpha * b: a complex product, which an infinite b turns into NaN, even where alpha is 1.
  if (to_double(alpha) == 1 && !(is_complex(dtype) && b.tensor == nullptr)) {
    return sign > 0 ? elementwise(call, {a, b}, ResultType::Promoted, plain<scalar::Add>(), dtype)
                    : elementwise(call, {a, b}, ResultType::Promoted, plain<scalar::Sub>(), dtype);
  }
  if (a.tensor != nullptr && b.tensor != nullptr && dtype == DType::Float16) {
    const auto factor = static_cast<float>(sign * to_double(alpha));
    return elementwise(call, {a, b}, ResultType::Promoted,
                       [factor](auto) { return scalar::AddScaledSmall<Float16>{factor}; });
  }
  return elementwise(call, {a, b}, ResultType::Promoted, [&alpha, sign]<typename T>(T) {
    const T value = scalar_as<T>(alpha);
    return scalar::AddScaled<T>{sign > 0 ? value : scalar::minus(T{}, value)};
  });
}

std::int64_t width_of(const Operand& a, const Operand& b) {
  const Operand operands[] = {a, b};
  return static_cast<std::int64_t>(size_bytes(result_type(operands))) * 8;
}

}  // namespace

// PyTorch declares `other` of these as a tensor: a number there is a TypeError.
bool refuses_number(KernelCall& call) {
  const Operand a = operand(call, "a");
  const Operand b = operand(call, "b");
  if (call.failed() || (a.tensor == nullptr) == (b.tensor == nullptr)) return call.failed();
  const bool first = a.tensor == nullptr;
  const Number& number = first ? a.number : b.number;
  const std::string_view type = python_name(number);
  const bool method = call.callee().find("Tensor.") != std::string_view::npos;
  call.raise(fmt::format("{}(): argument '{}' (position {}) must be Tensor, not {}", call.name(),
                         first ? "input" : "other", first || method ? 1 : 2, type),
             "TypeError");
  return true;
}

#define TG_BINARY_KERNEL(NAME, OP, TYPE)               \
  RuntimeValue kernel_##NAME(KernelCall& call) {       \
    return binary<scalar::OP>(call, ResultType::TYPE); \
  }
TG_BINARY_KERNEL(Copysign, Copysign, FloatPromoted)
TG_BINARY_KERNEL(BitwiseAnd, BitwiseAnd, Promoted)
TG_BINARY_KERNEL(BitwiseOr, BitwiseOr, Promoted)
TG_BINARY_KERNEL(BitwiseXor, BitwiseXor, Promoted)
#undef TG_BINARY_KERNEL

// torch.lt(2, a) has no such overload; Python's 2 < a asks the tensor.
#define TG_COMPARISON_KERNEL(NAME)                       \
  RuntimeValue kernel_##NAME(KernelCall& call) {         \
    if (refuses_number_first(call)) return {};           \
    return binary<scalar::NAME>(call, ResultType::Bool); \
  }
TG_COMPARISON_KERNEL(Eq)
TG_COMPARISON_KERNEL(Ne)
TG_COMPARISON_KERNEL(Lt)
TG_COMPARISON_KERNEL(Le)
TG_COMPARISON_KERNEL(Gt)
TG_COMPARISON_KERNEL(Ge)
#undef TG_COMPARISON_KERNEL

#define TG_TENSOR_BINARY_KERNEL(NAME, TYPE)                         \
  RuntimeValue kernel_##NAME(KernelCall& call) {                    \
    return binary_of_tensors<scalar::NAME>(call, ResultType::TYPE); \
  }
TG_TENSOR_BINARY_KERNEL(Atan2, FloatPromoted)
TG_TENSOR_BINARY_KERNEL(LogicalAnd, Bool)
TG_TENSOR_BINARY_KERNEL(LogicalOr, Bool)
TG_TENSOR_BINARY_KERNEL(LogicalXor, Bool)
TG_TENSOR_BINARY_KERNEL(Maximum, Promoted)
TG_TENSOR_BINARY_KERNEL(Minimum, Promoted)
#undef TG_TENSOR_BINARY_KERNEL

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
  if (b.tensor == nullptr && a.tensor == nullptr && type == ResultType::FloatPromoted &&
      !is_complex(dtype) && to_double(b.number) == 0) {
    call.raise(is_float(dtype) ? "float division by zero" : "division by zero",
               "ZeroDivisionError");
    return {};
  }
  if (type == ResultType::FloatPromoted && dtype == DType::Complex32) {
    refuse_dtype(call, dtype);
    return {};
  }
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
// A number divisor is rounded to f16 or bf16 first.
RuntimeValue kernel_Fmod(KernelCall& call) {
  Operand b = operand(call, "b");
  const Operand a = operand(call, "a");
  const Operand operands[] = {a, b};
  if (call.failed()) return {};
  const DType dtype = result_type(operands);
  if (a.tensor != nullptr && b.tensor == nullptr &&
      (dtype == DType::Float16 || dtype == DType::BFloat16)) {
    Tensor rounded = make_tensor(dtype, {});
    fill_from_double(rounded, {to_double(b.number)});
    b.number = values_as_double(rounded).front();
    return elementwise(call, {a, b}, ResultType::Promoted, plain<scalar::Fmod>());
  }
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
  if (refuses_number(call)) return {};
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
  if (a.tensor != nullptr && b.tensor != nullptr &&
      (dtype == DType::Bool || dtype == DType::Complex32)) {
    refuse_dtype(call, dtype);
    return {};
  }
  if (b.tensor == nullptr && a.tensor != nullptr && is_complex(dtype) &&
      !std::holds_alternative<std::complex<double>>(b.number) && to_double(b.number) == 0) {
    return elementwise(call, {{nullptr, Number{std::int64_t{1}}}, a}, ResultType::Promoted,
                       plain<scalar::First>(), dtype);
  }
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
  // A fractional value truncates for integer tensors, as PyTorch does it.
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
  if (!call.failed() && is_complex(result_type({&a, 1}))) {
    call.raise("clamp is not supported for complex types", "NotImplementedError");
    return {};
  }
  if (has_low && has_high) {
    return elementwise(call, {a, operand(call, "min"), operand(call, "max")}, ResultType::Promoted,
                       plain<scalar::Clamp>());
  }
  // The vector kernels keep `a` where a lone number bound is NaN.
  const std::string_view only = has_low ? "min" : "max";
  if (const std::optional<Number> bound = number_of(call.arg(only));
      has_low && bound && std::isnan(to_double(*bound)) && a.tensor != nullptr) {
    return elementwise(call, {a}, ResultType::Promoted, plain<scalar::Same>());
  }
  if (has_low)
    return elementwise(call, {a, operand(call, "min")}, ResultType::Promoted,
                       plain<scalar::Maximum>());
  return elementwise(call, {a, operand(call, "max")}, ResultType::Promoted,
                     plain<scalar::Minimum>());
}

}  // namespace tg
