// Complex arithmetic and the special functions that <cmath> lacks. Inverse functions after W.
// Kahan, "Branch Cuts for Complex Elementary Functions" (1987). Everything is computed in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/eager/element.h"

namespace tg {

template <typename T>
constexpr Complex<T> operator-(Complex<T> a) {
  return {-a.re, -a.im};
}
template <typename T>
constexpr Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T>
constexpr Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename T>
constexpr Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
// Scaled, so that large parts do not overflow.
template <typename T>
Complex<T> operator/(Complex<T> a, Complex<T> b) {
  const T abs_re = std::fabs(b.re);
  const T abs_im = std::fabs(b.im);
  if (abs_re == 0 && abs_im == 0) return {a.re / abs_re, a.im / abs_im};
  if (abs_re >= abs_im) {
    const T ratio = b.im / b.re;
    const T scale = T(1) / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const T ratio = b.re / b.im;
  const T scale = T(1) / (b.re * ratio + b.im);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

namespace scalar {

using Z = Complex<double>;

inline Z times_i(Z z) {
  return {-z.im, z.re};
}
inline Z over_i(Z z) {
  return {z.im, -z.re};
}
inline Z conjugate(Z z) {
  return {z.re, -z.im};
}

inline Z c_exp(Z z) {
  const double size = std::exp(z.re);
  // C99 annex G: infinite real parts decide.
  if (std::isinf(z.re) && !std::isfinite(z.im)) {
    return z.re < 0 ? Z{0, 0} : Z{size, std::numeric_limits<double>::quiet_NaN()};
  }
  return z.im == 0 ? Z{size, z.im} : Z{size * std::cos(z.im), size * std::sin(z.im)};
}
inline Z c_log(Z z) {
  return {std::log(std::hypot(z.re, z.im)), std::atan2(z.im, z.re)};
}
inline Z c_sqrt(Z z) {
  if (z.re == 0 && z.im == 0) return {0, z.im};
  if (std::isinf(z.im)) return {std::numeric_limits<double>::infinity(), z.im};
  const double size = std::sqrt((std::fabs(z.re) + std::hypot(z.re, z.im)) / 2);
  if (z.re >= 0) return {size, z.im / (2 * size)};
  return {std::fabs(z.im) / (2 * size), std::copysign(size, z.im)};
}
inline Z c_sinh(Z z) {
  return {std::sinh(z.re) * std::cos(z.im), std::cosh(z.re) * std::sin(z.im)};
}
inline Z c_cosh(Z z) {
  return {std::cosh(z.re) * std::cos(z.im), std::sinh(z.re) * std::sin(z.im)};
}
inline Z c_tanh(Z z) {
  if (std::fabs(z.re) > 22) {  // cosh^2 would lose the imaginary part, then overflow
    return {std::copysign(1.0, z.re),
            4 * std::sin(z.im) * std::cos(z.im) * std::exp(-2 * std::fabs(z.re))};
  }
  const double tangent = std::tan(z.im);
  const double beta = 1 + tangent * tangent;
  const double sine = std::sinh(z.re);
  const double rho = std::sqrt(1 + sine * sine);
  const double below = 1 + beta * sine * sine;
  return {beta * rho * sine / below, tangent / below};
}
inline Z c_sin(Z z) {
  return over_i(c_sinh(times_i(z)));
}
inline Z c_cos(Z z) {
  return c_cosh(times_i(z));
}
inline Z c_tan(Z z) {
  return over_i(c_tanh(times_i(z)));
}
inline Z c_acos(Z z) {
  const Z below = c_sqrt(Z{1, 0} - z);
  const Z above = c_sqrt(Z{1 + z.re, z.im});
  return {2 * std::atan2(below.re, above.re), std::asinh((conjugate(above) * below).im)};
}
inline Z c_asin(Z z) {
  const Z below = c_sqrt(Z{1 - z.re, -z.im});
  const Z above = c_sqrt(Z{1 + z.re, z.im});
  return {std::atan2(z.re, (below * above).re), std::asinh((conjugate(below) * above).im)};
}
inline Z c_acosh(Z z) {
  const Z below = c_sqrt(Z{z.re - 1, z.im});
  const Z above = c_sqrt(Z{z.re + 1, z.im});
  return {std::asinh((conjugate(below) * above).re), 2 * std::atan2(below.im, above.re)};
}
inline Z c_asinh(Z z) {
  return over_i(c_asin(times_i(z)));
}
inline Z c_atanh(Z z) {
  const double gap = (1 - z.re) * (1 - z.re) + z.im * z.im;
  return {0.25 * std::log1p(4 * z.re / gap),
          0.5 * std::atan2(2 * z.im, (1 - z.re) * (1 + z.re) - z.im * z.im)};
}
inline Z c_atan(Z z) {
  return over_i(c_atanh(times_i(z)));
}
inline Z c_exp2(Z z) {
  return c_exp({z.re * 0.69314718055994530942, z.im * 0.69314718055994530942});
}
inline Z c_expm1(Z z) {
  const double half = std::sin(z.im / 2);
  const double grown = std::expm1(z.re);
  return {grown * std::cos(z.im) - 2 * half * half, std::exp(z.re) * std::sin(z.im)};
}
inline Z c_log10(Z z) {
  const Z natural = c_log(z);
  return {natural.re / 2.30258509299404568402, natural.im / 2.30258509299404568402};
}
inline Z c_log2(Z z) {
  const Z natural = c_log(z);
  return {natural.re / 0.69314718055994530942, natural.im / 0.69314718055994530942};
}
inline Z c_log1p(Z z) {
  return {0.5 * std::log1p(z.re * (2 + z.re) + z.im * z.im), std::atan2(z.im, 1 + z.re)};
}
inline Z c_pow(Z a, Z b) {
  return c_exp(b * c_log(a));
}

#define TG_COMPLEX_FLOAT(FUNCTION)                                       \
  inline Complex<float> c_##FUNCTION(Complex<float> z) {                 \
    return convert_compute<Complex<float>>(c_##FUNCTION(Z{z.re, z.im})); \
  }
TG_COMPLEX_FLOAT(sin)
TG_COMPLEX_FLOAT(cos)
TG_COMPLEX_FLOAT(tan)
TG_COMPLEX_FLOAT(asin)
TG_COMPLEX_FLOAT(acos)
TG_COMPLEX_FLOAT(atan)
TG_COMPLEX_FLOAT(sinh)
TG_COMPLEX_FLOAT(cosh)
TG_COMPLEX_FLOAT(tanh)
TG_COMPLEX_FLOAT(asinh)
TG_COMPLEX_FLOAT(acosh)
TG_COMPLEX_FLOAT(atanh)
TG_COMPLEX_FLOAT(exp)
TG_COMPLEX_FLOAT(exp2)
TG_COMPLEX_FLOAT(expm1)
TG_COMPLEX_FLOAT(log)
TG_COMPLEX_FLOAT(log10)
TG_COMPLEX_FLOAT(log1p)
TG_COMPLEX_FLOAT(log2)
TG_COMPLEX_FLOAT(sqrt)
#undef TG_COMPLEX_FLOAT
inline Complex<float> c_pow(Complex<float> a, Complex<float> b) {
  return convert_compute<Complex<float>>(c_pow(Z{a.re, a.im}, Z{b.re, b.im}));
}

// Negative exponents: only 1 and -1 have integer reciprocals; the rest truncate to 0. Wraps.
inline std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  std::uint64_t result = 1;
  auto factor = static_cast<std::uint64_t>(base);
  for (auto left = static_cast<std::uint64_t>(exponent); left != 0; left >>= 1U) {
    if ((left & 1U) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<std::int64_t>(result);
}

// Solves erf(x) = y by Newton's method from Winitzki's approximation; near 1 on erfc, where erf has
// no digits left.
inline double erfinv(double y) {
  const double size = std::fabs(y);
  if (!(size <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (size == 1) return std::copysign(std::numeric_limits<double>::infinity(), y);
  if (size < 1e-10) return y * 0.88622692545275801365;
  const double a = 0.147;
  const double rest = std::log1p(-size * size);
  const double b = 2 / (3.14159265358979323846 * a) + rest / 2;
  double x = std::sqrt(std::sqrt(b * b - rest / a) - b);
  for (int i = 0; i < 4; ++i) {
    const double miss = size > 0.5 ? (1 - size) - std::erfc(x) : std::erf(x) - size;
    const double slope = 1.12837916709551257390 * std::exp(-x * x);
    if (slope == 0) break;
    const double step = miss / slope;
    x -= step / (1 + x * step);
  }
  return std::copysign(x, y);
}

inline double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// Poles: 0 gives -inf with the sign turned, negative integers NaN, as PyTorch has it.
inline double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0) {
    if (x == std::trunc(x)) return std::numeric_limits<double>::quiet_NaN();
    double whole = 0;
    const double fraction = std::modf(x, &whole);
    constexpr double kPi = 3.14159265358979323846;
    return digamma(1 - x) - kPi / std::tan(kPi * fraction);
  }
  double result = 0;
  while (x < 10) {
    result -= 1 / x;
    x += 1;
  }
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

}  // namespace scalar
}  // namespace tg
