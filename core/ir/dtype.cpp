#include "core/ir/dtype.h"

#include <iterator>

namespace tg {
namespace {

enum class Class { Bool, Unsigned, Signed, Float, Complex };

struct Row {
  DType dtype;
  std::string_view short_name;
  std::string_view thunder_name;
  std::string_view torch_name;
  std::size_t bytes;
  Class kind;
};

constexpr Row kRows[] = {
    {DType::Bool, "b8", "bool8", "bool", 1, Class::Bool},
    {DType::UInt8, "ui8", "uint8", "uint8", 1, Class::Unsigned},
    {DType::UInt16, "ui16", "uint16", "uint16", 2, Class::Unsigned},
    {DType::UInt32, "ui32", "uint32", "uint32", 4, Class::Unsigned},
    {DType::UInt64, "ui64", "uint64", "uint64", 8, Class::Unsigned},
    {DType::Int8, "i8", "int8", "int8", 1, Class::Signed},
    {DType::Int16, "i16", "int16", "int16", 2, Class::Signed},
    {DType::Int32, "i32", "int32", "int32", 4, Class::Signed},
    {DType::Int64, "i64", "int64", "int64", 8, Class::Signed},
    {DType::Float16, "f16", "float16", "float16", 2, Class::Float},
    {DType::BFloat16, "bf16", "bfloat16", "bfloat16", 2, Class::Float},
    {DType::Float32, "f32", "float32", "float32", 4, Class::Float},
    {DType::Float64, "f64", "float64", "float64", 8, Class::Float},
    {DType::Float8E5M2, "f8_e5m2", "float8_e5m2", "float8_e5m2", 1, Class::Float},
    {DType::Float8E5M2Fnuz, "f8_e5m2fnuz", "float8_e5m2fnuz", "float8_e5m2fnuz", 1, Class::Float},
    {DType::Float8E4M3Fn, "f8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn", 1, Class::Float},
    {DType::Float8E4M3Fnuz, "f8_e4m3fnuz", "float8_e4m3fnuz", "float8_e4m3fnuz", 1, Class::Float},
    {DType::Float8E8M0Fnu, "f8_e8m0fnu", "float8_e8m0fnu", "float8_e8m0fnu", 1, Class::Float},
    {DType::Float4E2M1FnX2, "f4_e2m1fn_x2", "float4_e2m1fn_x2", "float4_e2m1fn_x2", 1, Class::Float},
    {DType::Complex32, "c32", "complex32", "complex32", 4, Class::Complex},
    {DType::Complex64, "c64", "complex64", "complex64", 8, Class::Complex},
    {DType::Complex128, "c128", "complex128", "complex128", 16, Class::Complex},
};

const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

bool strip_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::string_view short_name(DType dtype) { return row(dtype).short_name; }
std::string_view thunder_name(DType dtype) { return row(dtype).thunder_name; }
std::string_view torch_name(DType dtype) { return row(dtype).torch_name; }
std::size_t size_bytes(DType dtype) { return row(dtype).bytes; }
bool is_float(DType dtype) { return row(dtype).kind == Class::Float; }
bool is_complex(DType dtype) { return row(dtype).kind == Class::Complex; }
bool is_integer(DType dtype) {
  return row(dtype).kind == Class::Signed || row(dtype).kind == Class::Unsigned;
}
bool is_signed(DType dtype) {
  return row(dtype).kind != Class::Bool && row(dtype).kind != Class::Unsigned;
}

std::optional<DType> parse_dtype(std::string_view text) {
  strip_prefix(text, "dtypes.");
  strip_prefix(text, "thunder.dtypes.");
  strip_prefix(text, "torch.");
  if (text.ends_with('_')) text.remove_suffix(1);
  for (const Row& candidate : kRows) {
    if (text == candidate.short_name || text == candidate.thunder_name ||
        text == candidate.torch_name) {
      return candidate.dtype;
    }
  }
  return std::nullopt;
}

}  // namespace tg
