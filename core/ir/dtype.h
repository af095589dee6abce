// Element types: names, sizes, classes. Source of names: spec trace-format section 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tg {

enum class DType : std::uint8_t {
  Bool, UInt8, UInt16, UInt32, UInt64, Int8, Int16, Int32, Int64,
  Float16, BFloat16, Float32, Float64,
  Float8E5M2, Float8E5M2Fnuz, Float8E4M3Fn, Float8E4M3Fnuz, Float8E8M0Fnu, Float4E2M1FnX2,
  Complex32, Complex64, Complex128,
};

std::string_view short_name(DType dtype);   // "f32", as in type comments
std::string_view thunder_name(DType dtype); // "float32" (bool8 for Bool), as after "dtypes."
std::string_view torch_name(DType dtype);   // "float32" (bool for Bool), as after "torch."
std::size_t size_bytes(DType dtype);        // of one element (of one packed pair for f4)
bool is_float(DType dtype);                 // any floating type, f8 and f4 included; complex is not
bool is_complex(DType dtype);
bool is_integer(DType dtype);               // signed or unsigned, bool excluded
bool is_signed(DType dtype);

// Reads "f32", "float32", "dtypes.float32", weak "dtypes.float32_", "torch.float32", and
// "dtypes.thunder.dtypes.float32" (2024-07-01..04).
std::optional<DType> parse_dtype(std::string_view text);

}  // namespace tg
