// The arithmetic of every elementwise operation on one element, written once. T is float, double,
// int64 (all integers and bool, widened) or a Complex. Only <math.h>-like calls, so that device
// code can include it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/eager/complex_ops.h"
#include "core/eager/element.h"

namespace tg::scalar {

// Which computation types an operation has.
enum Domain : unsigned { kReal = 1U, kInt = 2U, kComplex = 4U };

// ---- integers wrap

inline std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrap_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

template <typename T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return wrap_add(a, b);
  } else {
    return a + b;
  }
}
template <typename T>
T minus(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return wrap_sub(a, b);
  } else {
    return a - b;
  }
}
template <typename T>
T times(T a, T b) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return wrap_mul(a, b);
  } else {
    return a * b;
  }
}

template <typename T>
bool is_nan(T a) {
  if constexpr (kIsComplex<T>) {
    return a.re != a.re || a.im != a.im;
  } else {
    return a != a;
  }
}

// ---- one operand

// One struct per operation; the body sees the operand `a`.
#define TG_UNARY(NAME, DOMAIN, RESULT, ...)       \
  template <typename T>                           \
  struct NAME {                                   \
    static constexpr unsigned kDomain = DOMAIN;   \
    RESULT operator()(T a) const { __VA_ARGS__; } \
  };
// A function that <cmath> has under the same name for floats, and complex_ops.h for complex
// numbers.
#define TG_FLOAT_FUNCTION(NAME, FUNCTION) \
  TG_UNARY(                               \
      NAME, kReal | kComplex, T,          \
      if constexpr (kIsComplex<T>) { return c_##FUNCTION(a); } else { return std::FUNCTION(a); })

TG_FLOAT_FUNCTION(Sin, sin)
TG_FLOAT_FUNCTION(Cos, cos)
TG_FLOAT_FUNCTION(Tan, tan)
TG_FLOAT_FUNCTION(Asin, asin)
TG_FLOAT_FUNCTION(Acos, acos)
TG_FLOAT_FUNCTION(Atan, atan)
TG_FLOAT_FUNCTION(Sinh, sinh)
TG_FLOAT_FUNCTION(Cosh, cosh)
TG_FLOAT_FUNCTION(Tanh, tanh)
TG_FLOAT_FUNCTION(Asinh, asinh)
TG_FLOAT_FUNCTION(Acosh, acosh)
TG_FLOAT_FUNCTION(Atanh, atanh)
TG_FLOAT_FUNCTION(Exp, exp)
TG_FLOAT_FUNCTION(Exp2, exp2)
TG_FLOAT_FUNCTION(Expm1, expm1)
TG_FLOAT_FUNCTION(Log, log)
TG_FLOAT_FUNCTION(Log10, log10)
TG_FLOAT_FUNCTION(Log1p, log1p)
TG_FLOAT_FUNCTION(Log2, log2)
TG_FLOAT_FUNCTION(Sqrt, sqrt)
#undef TG_FLOAT_FUNCTION

template <typename T>
struct Abs {
  static constexpr unsigned kDomain = kReal | kInt | kComplex;
  auto operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return std::hypot(a.re, a.im);
    } else if constexpr (kIsFloating<T>) {
      return std::fabs(a);
    } else {
      return a < 0 ? wrap_sub(0, a) : a;
    }
  }
};
TG_UNARY(
    Neg, kReal | kInt | kComplex, T,
    if constexpr (std::is_same_v<T, std::int64_t>) { return wrap_sub(0, a); } else { return -a; })
TG_UNARY(
    Rsqrt, kReal | kComplex, T,
    if constexpr (kIsComplex<T>) {
      return convert_compute<T>(Z{1, 0} / c_sqrt(convert_compute<Z>(a)));
    } else { return T{1} / std::sqrt(a); })
TG_UNARY(
    Reciprocal, kReal | kComplex, T,
    if constexpr (kIsComplex<T>) {
      return convert_compute<T>(Z{1, 0} / convert_compute<Z>(a));
    } else { return T{1} / a; })
TG_UNARY(Ceil, kReal, T, return std::ceil(a))
TG_UNARY(Floor, kReal, T, return std::floor(a))
TG_UNARY(Round, kReal, T, return std::nearbyint(a))
TG_UNARY(Trunc, kReal, T, return std::trunc(a))
TG_UNARY(Erf, kReal, T, return std::erf(a))
TG_UNARY(Erfc, kReal, T, return std::erfc(a))
TG_UNARY(Erfinv, kReal, T, return static_cast<T>(erfinv(static_cast<double>(a))))
TG_UNARY(Lgamma, kReal, T, return static_cast<T>(log_gamma(static_cast<double>(a))))
TG_UNARY(Digamma, kReal, T, return static_cast<T>(digamma(static_cast<double>(a))))
// NaN and -0.0 give +0.0.
TG_UNARY(Sign, kReal | kInt, T, return static_cast<T>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0)))
TG_UNARY(
    Sgn, kReal | kInt | kComplex, T,
    if constexpr (kIsComplex<T>) {
      const auto size = std::hypot(a.re, a.im);
      // Infinite parts have no direction; the f32 kernel says so in both parts.
      if constexpr (std::is_same_v<T, Complex<float>>) {
        const auto nan = size - size;
        if (!(nan == 0)) return T{nan, nan};
      }
      return size == 0 ? T{} : T{a.re / size, a.im / size};
    } else { return Sign<T>{}(a); })
TG_UNARY(BitwiseNot, kInt, T, return ~a)
TG_UNARY(LogicalNot, kReal | kInt | kComplex, bool, return !convert_compute<bool>(a))
TG_UNARY(Isnan, kReal | kInt | kComplex, bool, return is_nan(a))
TG_UNARY(
    Isinf, kReal | kInt | kComplex, bool,
    if constexpr (kIsComplex<T>) { return std::isinf(a.re) || std::isinf(a.im); } else {
      return std::isinf(static_cast<double>(a));
    })
TG_UNARY(
    Isfinite, kReal | kInt | kComplex, bool,
    if constexpr (kIsComplex<T>) { return std::isfinite(a.re) && std::isfinite(a.im); } else {
      return std::isfinite(static_cast<double>(a));
    })
TG_UNARY(
    Signbit, kReal | kInt, bool,
    if constexpr (kIsFloating<T>) { return std::signbit(a); } else { return a < 0; })
TG_UNARY(Square, kReal | kInt | kComplex, T, return times(a, a))
TG_UNARY(Same, kReal | kInt | kComplex, T, return a)

TG_UNARY(Sigmoid, kReal | kComplex, T, return T{1} / (T{1} + Exp<T>{}(-a)))
TG_UNARY(Silu, kReal | kComplex, T, return a / (T{1} + Exp<T>{}(-a)))
TG_UNARY(Relu, kReal | kInt, T, return a < 0 ? T{0} : a)
TG_UNARY(Mish, kReal, T, return a * std::tanh(std::log1p(std::exp(a))))
TG_UNARY(Hardswish, kReal, T, {
  const T lifted = a + T{3};
  const T low = lifted < T{0} ? T{0} : lifted;
  return a * (low > T{6} ? T{6} : low) / T{6};
})
TG_UNARY(Hardsigmoid, kReal, T, {
  const T lifted = a + T{3};
  const T low = lifted < T{0} ? T{0} : lifted;
  return (low > T{6} ? T{6} : low) / T{6};
})
TG_UNARY(Tanhshrink, kReal | kComplex, T, return a - Tanh<T>{}(a))
TG_UNARY(Logsigmoid, kReal, T, return (a < T{0} ? a : T{0}) - std::log1p(std::exp(-std::fabs(a))))
TG_UNARY(GeluErf, kReal, T, return a * T(0.5) * (T{1} + std::erf(a * T(0.70710678118654752440))))
TG_UNARY(GeluTanh, kReal, T, {
  const T inner = T(0.79788456080286535588) * (a + T(0.044715) * (a * a * a));
  return T(0.5) * a * (T{1} + std::tanh(inner));
})
#undef TG_UNARY

template <typename T>
struct Elu {  // selu and celu are elu with other constants
  static constexpr unsigned kDomain = kReal;
  T positive_scale;
  T negative_scale;
  T input_scale;
  T operator()(T a) const {
    return a <= 0 ? std::expm1(a * input_scale) * negative_scale : a * positive_scale;
  }
};
template <typename T>
struct LeakyRelu {
  static constexpr unsigned kDomain = kReal;
  T slope;
  T operator()(T a) const { return a > 0 ? a : a * slope; }
};
template <typename T>
struct Hardshrink {
  static constexpr unsigned kDomain = kReal;
  T lambda;
  T operator()(T a) const { return a >= -lambda && a <= lambda ? T{0} : a; }
};
template <typename T>
struct Softplus {
  static constexpr unsigned kDomain = kReal;
  T beta;
  T threshold;
  T operator()(T a) const {
    return a * beta > threshold ? a : std::log1p(std::exp(a * beta)) / beta;
  }
};
template <typename T>
struct RealOf {
  using Type = T;
};
template <typename T>
struct RealOf<Complex<T>> {
  using Type = T;
};
template <typename T>
struct NanToNum {  // complex numbers part by part
  static constexpr unsigned kDomain = kReal | kInt | kComplex;
  using Part = typename RealOf<T>::Type;
  Part nan;
  Part positive_infinity;
  Part negative_infinity;
  Part part(Part a) const {
    if constexpr (kIsFloating<Part>) {
      if (a != a) return nan;
      if (a == std::numeric_limits<Part>::infinity()) return positive_infinity;
      if (a == -std::numeric_limits<Part>::infinity()) return negative_infinity;
    }
    return a;
  }
  T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return {part(a.re), part(a.im)};
    } else {
      return part(a);
    }
  }
};
// min > max gives max; NaN in `a` stays.
template <typename T>
struct ClampBetween {
  static constexpr unsigned kDomain = kReal | kInt;
  T low;
  T high;
  T operator()(T a) const {
    if (is_nan(a)) return a;
    const T raised = a < low ? low : a;
    return raised > high ? high : raised;
  }
};
template <typename T>
struct Threshold {
  static constexpr unsigned kDomain = kReal | kInt;
  T threshold;
  T value;
  T operator()(T a) const { return a <= threshold ? value : a; }
};
// The exponents that PyTorch computes without pow.
template <typename T>
struct PowScalar {
  static constexpr unsigned kDomain = kReal;
  double exponent;
  T operator()(T a) const {
    if (exponent == 2.0) return a * a;
    if (exponent == 3.0) return a * a * a;
    if (exponent == 0.5) return std::sqrt(a);
    if (exponent == -0.5) return T{1} / std::sqrt(a);
    if (exponent == -1.0) return T{1} / a;
    if (exponent == -2.0) return T{1} / (a * a);
    return std::pow(a, static_cast<T>(exponent));
  }
};
template <typename T>
struct RoundDecimals {
  static constexpr unsigned kDomain = kReal;
  T scale;
  bool divide_first;
  T operator()(T a) const {
    return divide_first ? std::nearbyint(a / scale) * scale : std::nearbyint(a * scale) / scale;
  }
};

// ---- two operands

#define TG_BINARY(NAME, DOMAIN, RESULT, ...)           \
  template <typename T>                                \
  struct NAME {                                        \
    static constexpr unsigned kDomain = DOMAIN;        \
    RESULT operator()(T a, T b) const { __VA_ARGS__; } \
  };

TG_BINARY(First, kReal | kInt | kComplex, T, static_cast<void>(b); return a)
TG_BINARY(Add, kReal | kInt | kComplex, T, return plus(a, b))
TG_BINARY(Sub, kReal | kInt | kComplex, T, return minus(a, b))
TG_BINARY(Mul, kReal | kInt | kComplex, T, return times(a, b))
TG_BINARY(TrueDivide, kReal | kComplex, T, return a / b)
// The processor traps on INT64_MIN / -1; PyTorch's result there is the wrapped one.
TG_BINARY(
    TruncDivide, kReal | kInt, T, if constexpr (kIsFloating<T>) { return std::trunc(a / b); } else {
      return b == -1 ? wrap_sub(0, a) : a / b;
    })
// C division, prims.div: integers truncate.
TG_BINARY(
    CDivide, kReal | kInt | kComplex, T,
    if constexpr (std::is_same_v<T, std::int64_t>) {
      return b == -1 ? wrap_sub(0, a) : a / b;
    } else { return a / b; })
TG_BINARY(
    Fmod, kReal | kInt, T, if constexpr (kIsFloating<T>) { return std::fmod(a, b); } else {
      return b == -1 ? T{0} : a % b;
    })
TG_BINARY(Remainder, kReal | kInt, T, {
  T rest = Fmod<T>{}(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return rest;
})
TG_BINARY(
    FloorDivide, kReal | kInt, T,
    if constexpr (kIsFloating<T>) {
      if (b == 0) return a / b;
      const T rest = std::fmod(a, b);
      T quotient = (a - rest) / b;
      if (rest != 0 && (b < 0) != (rest < 0)) quotient -= T{1};
      if (quotient == 0) return std::copysign(T{0}, a / b);
      T whole = std::floor(quotient);
      if (quotient - whole > T(0.5)) whole += T{1};
      return whole;
    } else {
      const T quotient = TruncDivide<T>{}(a, b);
      const T rest = Fmod<T>{}(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
    })
TG_BINARY(Atan2, kReal, T, return std::atan2(a, b))
TG_BINARY(Copysign, kReal, T, return std::copysign(a, b))
TG_BINARY(Nextafter, kReal, T, return std::nextafter(a, b))
TG_BINARY(BitwiseAnd, kInt, T, return a & b)
TG_BINARY(BitwiseOr, kInt, T, return a | b)
TG_BINARY(BitwiseXor, kInt, T, return a ^ b)
TG_BINARY(Eq, kReal | kInt | kComplex, bool, return a == b)
TG_BINARY(Ne, kReal | kInt | kComplex, bool, return !(a == b))
TG_BINARY(Lt, kReal | kInt, bool, return a < b)
TG_BINARY(Le, kReal | kInt, bool, return a <= b)
TG_BINARY(Gt, kReal | kInt, bool, return a > b)
TG_BINARY(Ge, kReal | kInt, bool, return a >= b)
TG_BINARY(LogicalAnd, kReal | kInt | kComplex, bool,
          return convert_compute<bool>(a) && convert_compute<bool>(b))
TG_BINARY(LogicalOr, kReal | kInt | kComplex, bool,
          return convert_compute<bool>(a) || convert_compute<bool>(b))
TG_BINARY(LogicalXor, kReal | kInt | kComplex, bool,
          return convert_compute<bool>(a) != convert_compute<bool>(b))
TG_BINARY(Maximum, kReal | kInt, T, return is_nan(a) || a > b ? a : b)
TG_BINARY(Minimum, kReal | kInt, T, return is_nan(a) || a < b ? a : b)
TG_BINARY(
    Pow, kReal | kInt | kComplex, T,
    if constexpr (kIsComplex<T>) { return c_pow(a, b); } else if constexpr (kIsFloating<T>) {
      return std::pow(a, b);
    } else { return integer_power(a, b); })
#undef TG_BINARY

// Shifts need the width of the element type: beyond it, left gives 0 and right the sign.
template <typename T>
struct ShiftLeft {
  static constexpr unsigned kDomain = kInt;
  std::int64_t width;
  T operator()(T a, T b) const {
    return b < 0 || b >= width
               ? T{0}
               : static_cast<T>(static_cast<std::uint64_t>(a) << static_cast<std::uint64_t>(b));
  }
};
template <typename T>
struct ShiftRight {
  static constexpr unsigned kDomain = kInt;
  std::int64_t width;
  T operator()(T a, T b) const { return b < 0 || b >= width ? (a < 0 ? T{-1} : T{0}) : a >> b; }
};
// factor * value + base in one rounding, as PyTorch's vector kernels do.
inline float multiply_add(float factor, float value, float base) {
  return static_cast<float>(static_cast<double>(factor) * static_cast<double>(value) +
                            static_cast<double>(base));
}
inline double multiply_add(double factor, double value, double base) {
  return std::fma(factor, value, base);
}

template <typename T>
struct AddScaled {
  static constexpr unsigned kDomain = kReal | kInt | kComplex;
  T alpha;
  T operator()(T a, T b) const {
    if constexpr (kIsFloating<T>) {
      return multiply_add(alpha, b, a);
    } else {
      return plus(a, times(alpha, b));
    }
  }
};

// The same between tensors of a 16-bit float: the product is rounded before the sum.
template <typename Small>
struct AddScaledSmall {
  static constexpr unsigned kDomain = kReal;
  float alpha;
  template <typename T>
  T operator()(T a, T b) const {
    const float product = Small::round(alpha * static_cast<float>(b)).widen();
    return a + static_cast<T>(product);
  }
};

// On the grid of a 16-bit float, where T (float) only carries the values.
template <typename Small>
struct NextafterSmall {
  static constexpr unsigned kDomain = kReal;
  template <typename T>
  T operator()(T a, T b) const {
    if (a != a || b != b) return a + b;
    if (a == b) return b;
    Small from = Small::round(static_cast<float>(a));
    if (a == 0) {
      from.bits = static_cast<std::uint16_t>(b > 0 ? 0x0001U : 0x8001U);
    } else {
      const bool away = (a < b) == (a > 0);
      from.bits = static_cast<std::uint16_t>(from.bits + (away ? 1U : 0xffffU));
    }
    return static_cast<T>(from.widen());
  }
};

// ---- three operands

template <typename T>
struct Select {  // where; the condition comes converted to T
  static constexpr unsigned kDomain = kReal | kInt | kComplex;
  T operator()(T condition, T a, T b) const { return convert_compute<bool>(condition) ? a : b; }
};
template <typename T>
struct Lerp {
  static constexpr unsigned kDomain = kReal | kComplex;
  T operator()(T start, T end, T weight) const {
    if constexpr (kIsComplex<T>) {
      const bool small = weight.re * weight.re + weight.im * weight.im < decltype(weight.re)(0.25);
      return small ? start + weight * (end - start) : end - (end - start) * (T{1} - weight);
    } else {
      const bool small = std::fabs(weight) < T(0.5);
      return multiply_add(small ? weight : weight - T{1}, end - start, small ? start : end);
    }
  }
};
template <typename T>
struct Addcmul {
  static constexpr unsigned kDomain = kReal | kInt | kComplex;
  T value;
  T operator()(T a, T b, T c) const { return plus(a, times(times(value, b), c)); }
};
template <typename T>
struct Addcdiv {
  static constexpr unsigned kDomain = kReal | kComplex;
  T value;
  T operator()(T a, T b, T c) const { return a + value * b / c; }
};
template <typename T>
struct Clamp {  // tensor bounds: NaN anywhere stays
  static constexpr unsigned kDomain = kReal | kInt;
  T operator()(T a, T low, T high) const {
    if (is_nan(a)) return a;
    if (is_nan(low)) return low;
    if (is_nan(high)) return high;
    const T raised = a < low ? low : a;
    return raised > high ? high : raised;
  }
};

}  // namespace tg::scalar
