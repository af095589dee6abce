// Scalar functors of the less common elementwise operations, beside scalar_ops.h.
#pragma once

#include "core/eager/scalar_ops.h"

namespace tg::scalar {

constexpr double kPi = 3.14159265358979323846;

// erfc(x) = y by Newton's method from Winitzki's approximation, in (0, 2).
inline double erfcinv(double y) {
  if (!(y >= 0 && y <= 2)) return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  if (y == 0) return infinity;
  if (y == 2) return -infinity;
  if (y > 1) return -erfcinv(2 - y);
  const double a = 0.147;
  const double rest = std::log(y * (2 - y));
  const double b = 2 / (kPi * a) + rest / 2;
  double x = std::sqrt(std::max(0.0, std::sqrt(std::max(0.0, b * b - rest / a)) - b));
  for (int i = 0; i < 8; ++i) {
    const double slope = 1.12837916709551257390 * std::exp(-x * x);
    if (slope == 0) break;
    const double step = (std::erfc(x) - y) / slope;
    x += step / (1 - x * step);
  }
  return x;
}

// The modified Bessel function of order 0: its power series, and for large arguments the asymptotic
// one, whose terms still shrink there.
inline double bessel_i0(double x) {
  const double size = std::fabs(x);
  if (std::isinf(size)) return size;
  if (size > 40) {
    double term = 1;
    double total = 1;
    for (int k = 1; k < 30; ++k) {
      const double odd = 2.0 * k - 1;
      term *= odd * odd / (8.0 * k * size);
      total += term;
      if (term < 1e-17 * total) break;
    }
    return std::exp(size) / std::sqrt(2 * kPi * size) * total;
  }
  const double quarter = size * size / 4;
  double term = 1;
  double total = 1;
  for (int k = 1; k < 200; ++k) {
    term *= quarter / (static_cast<double>(k) * static_cast<double>(k));
    total += term;
    if (term < 1e-17 * total) break;
  }
  return total;
}

#define TG_SPECIAL(NAME, DOMAIN, RESULT, ...)     \
  template <typename T>                           \
  struct NAME {                                   \
    static constexpr unsigned kDomain = DOMAIN;   \
    RESULT operator()(T a) const { __VA_ARGS__; } \
  };
#define TG_SPECIAL_PAIR(NAME, DOMAIN, RESULT, ...)     \
  template <typename T>                                \
  struct NAME {                                        \
    static constexpr unsigned kDomain = DOMAIN;        \
    RESULT operator()(T a, T b) const { __VA_ARGS__; } \
  };

TG_SPECIAL(Frac, kReal, T, return a - std::trunc(a))
TG_SPECIAL(
    Sinc, kReal | kComplex, T,
    if constexpr (kIsComplex<T>) {
      if (a.re == 0 && a.im == 0) return convert_compute<T>(std::int64_t{1});
      const T scaled{a.re * static_cast<decltype(a.re)>(kPi),
                     a.im * static_cast<decltype(a.re)>(kPi)};
      return c_sin(scaled) / scaled;
    } else {
      const T scaled = a * static_cast<T>(kPi);
      return a == 0 ? T{1} : std::sin(scaled) / scaled;
    })
TG_SPECIAL(Deg2rad, kReal, T, return a * static_cast<T>(kPi / 180))
TG_SPECIAL(Rad2deg, kReal, T, return a * static_cast<T>(180 / kPi))
TG_SPECIAL(
    Isneginf, kReal | kInt, bool,
    if constexpr (kIsFloating<T>) { return std::isinf(a) && a < 0; } else { return a != a; })
TG_SPECIAL(
    Isposinf, kReal | kInt, bool,
    if constexpr (kIsFloating<T>) { return std::isinf(a) && a > 0; } else { return a != a; })
TG_SPECIAL(
    Isreal, kReal | kInt | kComplex, bool, if constexpr (kIsComplex<T>) { return a.im == 0; } else {
      static_cast<void>(a);
      return true;
    })
TG_SPECIAL(
    ConjPhysical, kReal | kInt | kComplex, T,
    if constexpr (kIsComplex<T>) {
      return {a.re, -a.im};
    } else { return a; })
template <typename T>
struct Angle {
  static constexpr unsigned kDomain = kReal | kComplex;
  auto operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return std::atan2(a.im, a.re);
    } else {
      if (a != a) return a;
      return a < 0 ? static_cast<T>(kPi) : T{0};
    }
  }
};
// Thunder's torch executor has it as erfinv(1 - a), which has no digits left for small `a`.
TG_SPECIAL(Erfcinv, kReal, T, return static_cast<T>(erfinv(static_cast<double>(T{1} - a))))
// The quantile of the normal distribution.
TG_SPECIAL(Ndtri, kReal, T,
           return static_cast<T>(-1.41421356237309504880 * erfcinv(2 * static_cast<double>(a))))
TG_SPECIAL(I0, kReal, T, return static_cast<T>(bessel_i0(static_cast<double>(a))))
TG_SPECIAL(Softsign, kReal, T, return a / (std::fabs(a) + T{1}))
#undef TG_SPECIAL

template <typename T>
struct Softshrink {
  static constexpr unsigned kDomain = kReal;
  T lambda;
  T operator()(T a) const {
    if (a != a) return a;
    return a > lambda ? a - lambda : (a < -lambda ? a + lambda : T{0});
  }
};
template <typename T>
struct Logit {
  static constexpr unsigned kDomain = kReal;
  bool clamps;
  T low;
  T operator()(T a) const {
    if (clamps) a = a < low ? low : (a > T{1} - low ? T{1} - low : a);
    return std::log(a / (T{1} - a));
  }
};

TG_SPECIAL_PAIR(Hypot, kReal, T, return std::hypot(a, b))
TG_SPECIAL_PAIR(Xlogy, kReal, T, if (b != b) return b; if (a == 0) return T{0};
                return a * std::log(b))
TG_SPECIAL_PAIR(Fmax, kReal | kInt, T, if (is_nan(a)) return b; if (is_nan(b)) return a;
                return a > b ? a : b)
TG_SPECIAL_PAIR(Fmin, kReal | kInt, T, if (is_nan(a)) return b; if (is_nan(b)) return a;
                return a < b ? a : b)
TG_SPECIAL_PAIR(Heaviside, kReal | kInt, T, if (a == 0) return b;
                return static_cast<T>(a > 0 ? 1 : 0))
TG_SPECIAL_PAIR(Gcd, kInt, T, {
  auto left =
      a < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
  auto right =
      b < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(b) : static_cast<std::uint64_t>(b);
  while (right != 0) {
    const std::uint64_t rest = left % right;
    left = right;
    right = rest;
  }
  return static_cast<T>(left);
})
TG_SPECIAL_PAIR(Lcm, kInt, T, {
  const T divisor = Gcd<T>{}(a, b);
  if (divisor == 0) return T{0};
  return Abs<T>{}(wrap_mul(TruncDivide<T>{}(a, divisor), b));
})
TG_SPECIAL_PAIR(Logaddexp, kReal, T, {
  if (std::isinf(a) && a == b) return a;
  const T larger = a > b ? a : b;
  return larger + std::log1p(std::exp(-std::fabs(a - b)));
})
TG_SPECIAL_PAIR(Logaddexp2, kReal, T, {
  if (std::isinf(a) && a == b) return a;
  const T larger = a > b ? a : b;
  return larger + std::log1p(std::exp2(-std::fabs(a - b))) * static_cast<T>(1.44269504088896340736);
})
#undef TG_SPECIAL_PAIR
template <typename T>
struct Prelu {
  static constexpr unsigned kDomain = kReal;
  T operator()(T a, T weight) const { return a > 0 ? a : weight * a; }
};

}  // namespace tg::scalar
