#include <algorithm>
#include <cmath>

#include "core/eager/kernel.h"

namespace tg {
namespace {

bool is_small_float(DType dtype) {
  return is_float(dtype) && size_bytes(dtype) == 1;
}

DType promote_floats(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::Float64 || b == DType::Float64) return DType::Float64;
  if (is_small_float(a)) return b;
  if (is_small_float(b)) return a;
  return DType::Float32;  // f16 with bf16, and anything with f32
}

DType promote_integers(DType a, DType b) {
  if (a == DType::Bool) return b;
  if (b == DType::Bool) return a;
  const std::size_t bytes_a = size_bytes(a);
  const std::size_t bytes_b = size_bytes(b);
  if (is_signed(a) == is_signed(b)) return bytes_a >= bytes_b ? a : b;
  const DType with_sign = is_signed(a) ? a : b;
  const DType without = is_signed(a) ? b : a;
  if (size_bytes(with_sign) > size_bytes(without)) return with_sign;
  switch (size_bytes(without)) {
    case 1:
      return DType::Int16;
    case 2:
      return DType::Int32;
    default:
      return DType::Int64;
  }
}

}  // namespace

DType real_of(DType dtype) {
  if (dtype == DType::Complex32) return DType::Float16;
  if (dtype == DType::Complex64) return DType::Float32;
  return dtype == DType::Complex128 ? DType::Float64 : dtype;
}

DType complex_of(DType real) {
  if (is_complex(real)) return real;
  if (real == DType::Float16) return DType::Complex32;
  return real == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_complex(a) || is_complex(b)) {
    const DType real_a = real_of(a);
    const DType real_b = real_of(b);
    if (is_float(real_a) && is_float(real_b)) return complex_of(promote_floats(real_a, real_b));
    return is_complex(a) ? a : b;
  }
  if (is_float(a) || is_float(b)) {
    if (is_float(a) && is_float(b)) return promote_floats(a, b);
    return is_float(a) ? a : b;
  }
  return promote_integers(a, b);
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_float(from) && !is_float(to) && !is_complex(to)) return false;
  return from == DType::Bool || to != DType::Bool;
}

bool fits_dtype(const Number& number, DType dtype) {
  if (const auto* complex = std::get_if<std::complex<double>>(&number))
    return is_complex(dtype) || complex->imag() == 0;
  if (dtype == DType::Bool || is_complex(dtype)) return true;
  const double value = to_double(number);
  if (is_float(dtype)) {
    // Beyond the largest finite number of the type there is only infinity itself.
    if (std::isinf(value) || std::isnan(value)) return true;
    if (dtype == DType::Float32) return std::fabs(value) <= 3.4028234663852886e38;
    if (dtype == DType::Float16) return std::fabs(value) <= 65504;
    return true;
  }
  if (std::isinf(value) || std::isnan(value)) return false;
  const auto bits = static_cast<int>(size_bytes(dtype)) * 8;
  const bool is_unsigned = dtype == DType::UInt8 || dtype == DType::UInt16 ||
                           dtype == DType::UInt32 || dtype == DType::UInt64;
  if (is_unsigned) {
    const double limit = std::ldexp(1.0, bits);
    return value < limit && value > -limit;
  }
  const double limit = std::ldexp(1.0, bits - 1);
  return value < limit && value >= -limit;
}

std::string_view cpp_type_name(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "bool";
    case DType::UInt8:
      return "uint8_t";
    case DType::UInt16:
      return "uint16_t";
    case DType::UInt32:
      return "uint32_t";
    case DType::UInt64:
      return "uint64_t";
    case DType::Int8:
      return "int8_t";
    case DType::Int16:
      return "int16_t";
    case DType::Int32:
      return "int";
    case DType::Int64:
      return "int64_t";
    case DType::Float16:
      return "c10::Half";
    case DType::BFloat16:
      return "c10::BFloat16";
    case DType::Float32:
      return "float";
    case DType::Float64:
      return "double";
    case DType::Float8E5M2:
    case DType::Float8E5M2Fnuz:
    case DType::Float8E4M3Fn:
    case DType::Float8E4M3Fnuz:
    case DType::Float8E8M0Fnu:
    case DType::Float4E2M1FnX2:
    case DType::Complex32:
    case DType::Complex64:
    case DType::Complex128:
      return torch_name(dtype);
  }
  return "";
}

}  // namespace tg
