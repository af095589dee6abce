// Element types: how each dtype lies in memory, and the exact conversions between them. Usable from
// device code: no library types beyond <cstdint>.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/ir/dtype.h"

namespace tg {

// A complex number whose arithmetic is PyTorch's (no recovery of infinities).
template <typename T>
struct Complex {
  T re{};
  T im{};
  friend constexpr bool operator==(const Complex& a, const Complex& b) {
    return a.re == b.re && a.im == b.im;
  }
};

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A binary float of `Exponent` and `Mantissa` bits that is widened to and rounded from f32 (nearest
// even).
template <int Exponent, int Mantissa>
struct SmallFloat {
  using Bits = std::conditional_t<(Exponent + Mantissa > 7), std::uint16_t, std::uint8_t>;
  Bits bits = 0;

  static constexpr std::uint32_t kBias = (1U << (Exponent - 1)) - 1U;
  static constexpr std::uint32_t kExponentMask = (1U << Exponent) - 1U;
  static constexpr std::uint32_t kMantissaMask = (1U << Mantissa) - 1U;

  [[nodiscard]] float widen() const {
    const std::uint32_t all = bits;
    const std::uint32_t sign = (all >> (Exponent + Mantissa)) << 31U;
    const std::uint32_t exponent = (all >> Mantissa) & kExponentMask;
    const std::uint32_t mantissa = all & kMantissaMask;
    if (exponent == kExponentMask) {
      return float_of(sign | 0x7f800000U | (mantissa << (23 - Mantissa)));
    }
    if (exponent != 0) {
      return float_of(sign | ((exponent + 127U - kBias) << 23U) | (mantissa << (23 - Mantissa)));
    }
    if constexpr (Exponent == 8) {
      return float_of(sign | (mantissa << (23 - Mantissa)));
    } else {
      const float unit =
          float_of((127U - kBias + 1U - static_cast<std::uint32_t>(Mantissa)) << 23U);
      const float magnitude = static_cast<float>(mantissa) * unit;
      return float_of(sign | bits_of(magnitude));
    }
  }

  static SmallFloat round(float value) {
    const std::uint32_t all = bits_of(value);
    const std::uint32_t sign = (all >> 31U) << (Exponent + Mantissa);
    const std::uint32_t magnitude = all & 0x7fffffffU;
    SmallFloat result;
    if (magnitude > 0x7f800000U) {  // NaN: keep it quiet
      result.bits = static_cast<Bits>(sign | (kExponentMask << Mantissa) | (1U << (Mantissa - 1)));
      return result;
    }
    constexpr std::uint32_t kDrop = 23U - static_cast<std::uint32_t>(Mantissa);
    constexpr std::uint32_t kSmallestNormal = (127U - kBias + 1U) << 23U;
    std::uint32_t rounded = 0;
    if (Exponent == 8 || magnitude >= kSmallestNormal) {
      const std::uint32_t odd = (magnitude >> kDrop) & 1U;
      rounded = (magnitude + ((1U << (kDrop - 1)) - 1U) + odd) >> kDrop;
      rounded -= (127U - kBias) << Mantissa;
    } else {
      // Adding 2^(23 - Mantissa) units of the last place makes the f32 adder do the rounding.
      const float shifter = float_of((127U - kBias + 1U + kDrop) << 23U);
      rounded = bits_of(float_of(magnitude) + shifter) - bits_of(shifter);
    }
    const std::uint32_t infinity = kExponentMask << Mantissa;
    if (rounded > infinity) rounded = infinity;
    result.bits = static_cast<Bits>(sign | rounded);
    return result;
  }
};

using Float16 = SmallFloat<5, 10>;
using BFloat16 = SmallFloat<8, 7>;
using Float8E5M2 = SmallFloat<5, 2>;

// f8 forms without infinities: one byte pattern (or all mantissa bits set) is NaN.
// `NegativeZeroIsNan` are the fnuz forms. Overflow gives NaN, as PyTorch's non-saturating
// conversion does.
template <int Exponent, int Mantissa, int Bias, bool NegativeZeroIsNan>
struct FiniteFloat8 {
  std::uint8_t bits = 0;

  [[nodiscard]] float widen() const {
    const std::uint32_t sign = bits >> 7U;
    const std::uint32_t exponent = (bits >> Mantissa) & ((1U << Exponent) - 1U);
    const std::uint32_t mantissa = bits & ((1U << Mantissa) - 1U);
    const bool nan = NegativeZeroIsNan ? bits == 0x80U : (bits & 0x7fU) == 0x7fU;
    if (nan) return float_of(0x7fc00000U);
    float value = static_cast<float>(exponent == 0 ? mantissa : (mantissa | (1U << Mantissa)));
    const int power = static_cast<int>(exponent == 0 ? 1U : exponent) - Bias - Mantissa;
    value *= float_of(static_cast<std::uint32_t>(power + 127) << 23U);
    return sign != 0 ? -value : value;
  }

  static FiniteFloat8 round(float value) {
    FiniteFloat8 result;
    const std::uint32_t all = bits_of(value);
    const std::uint8_t sign = static_cast<std::uint8_t>((all >> 31U) << 7U);
    const std::uint8_t nan = NegativeZeroIsNan ? 0x80U : static_cast<std::uint8_t>(sign | 0x7fU);
    if ((all & 0x7fffffffU) > 0x7f800000U) {
      result.bits = NegativeZeroIsNan ? 0x80U : static_cast<std::uint8_t>(0x7fU | sign);
      return result;
    }
    const float magnitude = float_of(all & 0x7fffffffU);
    int exponent = static_cast<int>((all >> 23U) & 0xffU) - 127;
    if (exponent < 1 - Bias) exponent = 1 - Bias;
    const int unit_power = exponent - Mantissa;
    const float unit = float_of(static_cast<std::uint32_t>(unit_power + 127) << 23U);
    const float steps = magnitude / unit;
    if (!(steps < 64.0F)) {
      result.bits = nan;
      return result;
    }
    auto whole = static_cast<std::uint32_t>(steps);
    const float rest = steps - static_cast<float>(whole);
    if (rest > 0.5F || (rest == 0.5F && (whole & 1U) != 0)) ++whole;
    // `whole` counts units of this exponent; the sum carries into the exponent by itself.
    const auto biased = static_cast<std::uint32_t>(exponent + Bias - 1);
    const std::uint32_t code = (biased << Mantissa) + whole;
    const std::uint32_t largest = NegativeZeroIsNan ? 0x7fU : 0x7eU;
    if (code > largest) {
      result.bits = nan;
    } else {
      result.bits = static_cast<std::uint8_t>((NegativeZeroIsNan && code == 0 ? 0U : sign) | code);
    }
    return result;
  }
};

using Float8E4M3Fn = FiniteFloat8<4, 3, 7, false>;
using Float8E4M3Fnuz = FiniteFloat8<4, 3, 8, true>;
using Float8E5M2Fnuz = FiniteFloat8<5, 2, 16, true>;

struct BoolByte {
  std::uint8_t bits = 0;
};
struct ComplexHalf {
  Float16 re;
  Float16 im;
};

// ---- widening: the exact value in the natural computation type

template <typename S>
struct Natural {
  using Type = std::int64_t;
};
template <>
struct Natural<float> {
  using Type = float;
};
template <>
struct Natural<double> {
  using Type = double;
};
template <int E, int M>
struct Natural<SmallFloat<E, M>> {
  using Type = float;
};
template <int E, int M, int B, bool Z>
struct Natural<FiniteFloat8<E, M, B, Z>> {
  using Type = float;
};
template <>
struct Natural<ComplexHalf> {
  using Type = Complex<float>;
};
template <typename T>
struct Natural<Complex<T>> {
  using Type = Complex<T>;
};

template <typename S>
typename Natural<S>::Type widen(S value) {
  return static_cast<typename Natural<S>::Type>(value);
}
inline std::int64_t widen(BoolByte value) {
  return value.bits != 0 ? 1 : 0;
}
inline float widen(float value) {
  return value;
}
inline double widen(double value) {
  return value;
}
template <int E, int M>
float widen(SmallFloat<E, M> value) {
  return value.widen();
}
template <int E, int M, int B, bool Z>
float widen(FiniteFloat8<E, M, B, Z> value) {
  return value.widen();
}
inline Complex<float> widen(ComplexHalf value) {
  return {value.re.widen(), value.im.widen()};
}
template <typename T>
Complex<T> widen(Complex<T> value) {
  return value;
}

// ---- between computation types: float, double, int64, Complex<float>, Complex<double>, bool

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<Complex<T>> = true;
template <typename T>
inline constexpr bool kIsFloating = false;
template <>
inline constexpr bool kIsFloating<float> = true;
template <>
inline constexpr bool kIsFloating<double> = true;

// Toward zero. Out of range and NaN give the smallest integer, as the processor's conversion does.
template <typename F>
std::int64_t truncate_to_integer(F value) {
  constexpr F kLimit = static_cast<F>(9223372036854775808.0);
  if (!(value > -kLimit && value < kLimit)) return INT64_MIN;
  return static_cast<std::int64_t>(value);
}

template <typename To, typename From>
To convert_compute(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (kIsComplex<From>) {
      return value.re != 0 || value.im != 0;
    } else {
      return value != 0;
    }
  } else if constexpr (kIsComplex<To>) {
    using Part = decltype(To{}.re);
    if constexpr (kIsComplex<From>) {
      return To{static_cast<Part>(value.re), static_cast<Part>(value.im)};
    } else {
      return To{static_cast<Part>(value), Part{}};
    }
  } else if constexpr (kIsComplex<From>) {
    return convert_compute<To>(value.re);
  } else if constexpr (std::is_same_v<To, std::int64_t> && kIsFloating<From>) {
    return truncate_to_integer(value);
  } else {
    return static_cast<To>(value);
  }
}

// ---- narrowing: PyTorch's rounding into the element type

template <typename S>
struct Narrow {
  template <typename C>
  static S from(C value) {  // integers wrap
    const auto whole = convert_compute<std::int64_t>(value);
    if constexpr (std::is_same_v<S, std::int32_t> && !std::is_same_v<C, std::int64_t> &&
                  !std::is_same_v<C, bool>) {
      // x86 converts floats to 32 bits at once: what does not fit, NaN too, is the smallest.
      if (whole < INT32_MIN || whole > INT32_MAX) return INT32_MIN;
    }
    return static_cast<S>(whole);
  }
};
template <>
struct Narrow<BoolByte> {
  template <typename C>
  static BoolByte from(C value) {
    return BoolByte{static_cast<std::uint8_t>(convert_compute<bool>(value) ? 1 : 0)};
  }
};
template <>
struct Narrow<float> {
  template <typename C>
  static float from(C value) {
    return convert_compute<float>(value);
  }
};
template <>
struct Narrow<double> {
  template <typename C>
  static double from(C value) {
    return convert_compute<double>(value);
  }
};
template <int E, int M>
struct Narrow<SmallFloat<E, M>> {
  template <typename C>
  static SmallFloat<E, M> from(C value) {  // by way of f32, as PyTorch does from f64 too
    return SmallFloat<E, M>::round(convert_compute<float>(value));
  }
};
template <int E, int M, int B, bool Z>
struct Narrow<FiniteFloat8<E, M, B, Z>> {
  template <typename C>
  static FiniteFloat8<E, M, B, Z> from(C value) {
    return FiniteFloat8<E, M, B, Z>::round(convert_compute<float>(value));
  }
};
template <>
struct Narrow<ComplexHalf> {
  template <typename C>
  static ComplexHalf from(C value) {
    const auto wide = convert_compute<Complex<float>>(value);
    return {Float16::round(wide.re), Float16::round(wide.im)};
  }
};
template <typename T>
struct Narrow<Complex<T>> {
  template <typename C>
  static Complex<T> from(C value) {
    return convert_compute<Complex<T>>(value);
  }
};

// Calls f(S{}) with the element type of `dtype`; false for the packed and scale-only types, which
// have no element of their own.
template <typename F>
bool visit_element(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool:
      f(BoolByte{});
      return true;
    case DType::UInt8:
      f(std::uint8_t{});
      return true;
    case DType::UInt16:
      f(std::uint16_t{});
      return true;
    case DType::UInt32:
      f(std::uint32_t{});
      return true;
    case DType::UInt64:
      f(std::uint64_t{});
      return true;
    case DType::Int8:
      f(std::int8_t{});
      return true;
    case DType::Int16:
      f(std::int16_t{});
      return true;
    case DType::Int32:
      f(std::int32_t{});
      return true;
    case DType::Int64:
      f(std::int64_t{});
      return true;
    case DType::Float16:
      f(Float16{});
      return true;
    case DType::BFloat16:
      f(BFloat16{});
      return true;
    case DType::Float32:
      f(float{});
      return true;
    case DType::Float64:
      f(double{});
      return true;
    case DType::Float8E5M2:
      f(Float8E5M2{});
      return true;
    case DType::Float8E5M2Fnuz:
      f(Float8E5M2Fnuz{});
      return true;
    case DType::Float8E4M3Fn:
      f(Float8E4M3Fn{});
      return true;
    case DType::Float8E4M3Fnuz:
      f(Float8E4M3Fnuz{});
      return true;
    case DType::Complex32:
      f(ComplexHalf{});
      return true;
    case DType::Complex64:
      f(Complex<float>{});
      return true;
    case DType::Complex128:
      f(Complex<double>{});
      return true;
    case DType::Float8E8M0Fnu:
    case DType::Float4E2M1FnX2:
      return false;
  }
  return false;
}

}  // namespace tg
