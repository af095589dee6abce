// Formats: NumPy's .npy version 1 to 3 and .npz (a zip of them), safetensors (8-byte length, JSON
// header, data).
#include "core/run/input_files.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tg {
namespace {

constexpr std::size_t kMaxMemberBytes = std::size_t{1} << 32;
constexpr const char* kSaveAgain = "the file is damaged or truncated: save it again";
constexpr const char* kForms = "values come from .npy, .npz, .safetensors and JSON files";

Unexpected<Diagnostic> bad_file(const std::string& path, std::string what, std::string hint = "") {
  Diagnostic diagnostic;
  diagnostic.hint = std::move(hint);
  diagnostic.code = DiagnosticCode::BadInputFile;
  diagnostic.message = fmt::format("cannot read '{}': {}", path, what);
  diagnostic.subject = path;
  return Unexpected{std::move(diagnostic)};
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The text after `'key':` in a .npy header, up to the next ',' at bracket depth 0.
std::optional<std::string_view> header_field(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size() + 3);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.starts_with('(')) {
    const std::size_t close = rest.find(')');
    if (close == std::string_view::npos) return std::nullopt;
    return rest.substr(1, close - 1);
  }
  return rest.substr(0, rest.find_first_of(",}"));
}

// "'<f4'" -> Float32. Big-endian data is refused.
std::optional<DType> numpy_dtype(std::string_view text) {
  if (text.size() < 5) return std::nullopt;
  const char order = text[1];
  const std::string_view name = text.substr(2, text.size() - 3);
  if (order == '>' || (order != '<' && order != '|' && order != '=')) return std::nullopt;
  struct Row {
    std::string_view numpy;
    DType dtype;
  };
  constexpr Row kRows[] = {
      {"b1", DType::Bool},      {"u1", DType::UInt8},      {"u2", DType::UInt16},
      {"u4", DType::UInt32},    {"u8", DType::UInt64},     {"i1", DType::Int8},
      {"i2", DType::Int16},     {"i4", DType::Int32},      {"i8", DType::Int64},
      {"f2", DType::Float16},   {"f4", DType::Float32},    {"f8", DType::Float64},
      {"c8", DType::Complex64}, {"c16", DType::Complex128}};
  for (const Row& row : kRows) {
    if (row.numpy == name) return row.dtype;
  }
  return std::nullopt;
}

std::optional<DType> safetensors_dtype(std::string_view name) {
  struct Row {
    std::string_view safetensors;
    DType dtype;
  };
  constexpr Row kRows[] = {
      {"BOOL", DType::Bool},    {"U8", DType::UInt8},           {"U16", DType::UInt16},
      {"U32", DType::UInt32},   {"U64", DType::UInt64},         {"I8", DType::Int8},
      {"I16", DType::Int16},    {"I32", DType::Int32},          {"I64", DType::Int64},
      {"F16", DType::Float16},  {"BF16", DType::BFloat16},      {"F32", DType::Float32},
      {"F64", DType::Float64},  {"F8_E5M2", DType::Float8E5M2}, {"F8_E4M3", DType::Float8E4M3Fn},
      {"C64", DType::Complex64}};
  for (const Row& row : kRows) {
    if (row.safetensors == name) return row.dtype;
  }
  return std::nullopt;
}

// A contiguous tensor over a copy of `bytes`; empty when the count does not fit.
std::optional<Tensor> tensor_over(DType dtype, const std::vector<std::int64_t>& shape,
                                  std::string_view bytes) {
  const std::optional<std::int64_t> count = element_count(shape);
  if (!count || static_cast<std::uint64_t>(*count) > bytes.size() ||
      static_cast<std::uint64_t>(*count) * size_bytes(dtype) != bytes.size()) {
    return std::nullopt;
  }
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.geometry = contiguous_geometry(shape);
  tensor.storage = std::make_shared<Storage>();
  tensor.storage->bytes.resize(bytes.size());
  if (!bytes.empty()) std::memcpy(tensor.storage->bytes.data(), bytes.data(), bytes.size());
  return tensor;
}

// Why tensor_over found nothing.
std::string no_fit(DType dtype, const std::vector<std::int64_t>& shape, std::size_t bytes) {
  const std::optional<std::int64_t> count = element_count(shape);
  std::uint64_t needed = 0;
  if (!count ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(*count), size_bytes(dtype), &needed)) {
    return fmt::format("the shape {} is impossible", python_tuple(shape));
  }
  return fmt::format("{} elements of {} take {} bytes, the file has {}", python_tuple(shape),
                     torch_name(dtype), needed, bytes);
}

Result<Tensor> read_npy(const std::string& path, std::string_view bytes) {
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY"))
    return bad_file(path, "no .npy file, its mark is missing", kSaveAgain);
  const bool wide = bytes[6] > 1;
  const std::size_t length_bytes = wide ? 4 : 2;
  if (bytes.size() < 8 + length_bytes) return bad_file(path, "the header is cut off", kSaveAgain);
  const std::uint64_t length = little_endian(bytes.substr(8, length_bytes));
  const std::size_t start = 8 + length_bytes;
  if (length > bytes.size() - start) return bad_file(path, "the header is cut off", kSaveAgain);
  const std::string_view header = bytes.substr(start, length);
  const std::optional<std::string_view> descr = header_field(header, "descr");
  const std::optional<std::string_view> order = header_field(header, "fortran_order");
  const std::optional<std::string_view> dims = header_field(header, "shape");
  if (!descr || !order || !dims) {
    return bad_file(path, "the header lacks 'descr', 'fortran_order' or 'shape'", kSaveAgain);
  }
  const std::optional<DType> dtype = numpy_dtype(*descr);
  if (!dtype) {
    return bad_file(path, fmt::format("arrays of dtype {} cannot be read", *descr),
                    "convert it to a little-endian number type: array.astype('<f4')");
  }
  std::vector<std::int64_t> shape;
  std::string_view rest = *dims;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string digits(rest.substr(0, comma));
    std::erase(digits, ' ');
    if (!digits.empty()) {
      if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) {
        return bad_file(path, fmt::format("'{}' is no dim of a shape", digits), kSaveAgain);
      }
      shape.push_back(std::stoll(digits));
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const bool fortran = order->starts_with("True");
  if (fortran) std::reverse(shape.begin(), shape.end());
  std::optional<Tensor> tensor = tensor_over(*dtype, shape, bytes.substr(start + length));
  if (!tensor)
    return bad_file(path, no_fit(*dtype, shape, bytes.size() - start - length), kSaveAgain);
  if (fortran) {
    std::reverse(tensor->geometry.sizes.begin(), tensor->geometry.sizes.end());
    std::reverse(tensor->geometry.strides.begin(), tensor->geometry.strides.end());
  }
  return std::move(*tensor);
}

// libarchive has no words for some errors.
std::string said_by(archive& reader) {
  const char* const words = archive_error_string(&reader);
  return words != nullptr ? words : "the archive is damaged";
}

Result<std::vector<NamedValue>> read_npz(const std::string& path, const std::string& bytes) {
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  archive_read_support_format_zip(reader.get());
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    return bad_file(path, said_by(*reader), kSaveAgain);
  }
  std::vector<NamedValue> arrays;
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    std::string name = archive_entry_pathname(entry) ? archive_entry_pathname(entry) : "";
    std::string content;
    char buffer[1 << 16];
    la_ssize_t got = 0;
    while ((got = archive_read_data(reader.get(), buffer, sizeof buffer)) > 0) {
      content.append(buffer, static_cast<std::size_t>(got));
      if (content.size() > kMaxMemberBytes)
        return bad_file(path, fmt::format("'{}' is too large", name));
    }
    if (got < 0) return bad_file(path, said_by(*reader), kSaveAgain);
    Result<Tensor> tensor = read_npy(fmt::format("{}:{}", path, name), content);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (!tensor) return Unexpected{tensor.error()};
    arrays.push_back({std::move(name), {std::move(*tensor)}});
  }
  if (status != ARCHIVE_EOF) return bad_file(path, said_by(*reader), kSaveAgain);
  if (arrays.empty()) return bad_file(path, "the archive holds no arrays");
  return arrays;
}

Result<std::vector<NamedValue>> read_safetensors(const std::string& path, std::string_view bytes) {
  if (bytes.size() < 8) return bad_file(path, "too short for a safetensors file", kSaveAgain);
  const std::uint64_t length = little_endian(bytes.substr(0, 8));
  if (length > bytes.size() - 8) return bad_file(path, "the header is cut off", kSaveAgain);
  const nlohmann::json header =
      nlohmann::json::parse(bytes.substr(8, length), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return bad_file(path, "the header is no JSON object");
  const std::string_view data = bytes.substr(8 + length);
  std::vector<NamedValue> arrays;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const bool well_formed =
        entry.is_object() && entry.contains("dtype") && entry["dtype"].is_string() &&
        entry.contains("shape") && entry["shape"].is_array() && entry.contains("data_offsets") &&
        entry["data_offsets"].is_array() && entry["data_offsets"].size() == 2 &&
        entry["data_offsets"][0].is_number_unsigned() &&
        entry["data_offsets"][1].is_number_unsigned();
    if (!well_formed) return bad_file(path, fmt::format("the entry of '{}' is damaged", name));
    const std::optional<DType> dtype = safetensors_dtype(entry["dtype"].get<std::string>());
    if (!dtype)
      return bad_file(path, fmt::format("'{}' has dtype {}, which cannot be read", name,
                                        entry["dtype"].dump()));
    std::vector<std::int64_t> shape;
    for (const nlohmann::json& dim : entry["shape"]) {
      if (!dim.is_number_unsigned())
        return bad_file(path, fmt::format("the shape of '{}' is damaged", name));
      shape.push_back(dim.get<std::int64_t>());
    }
    const std::uint64_t begin = entry["data_offsets"][0].get<std::uint64_t>();
    const std::uint64_t end = entry["data_offsets"][1].get<std::uint64_t>();
    if (begin > end || end > data.size())
      return bad_file(path, fmt::format("the data of '{}' lie outside the file", name), kSaveAgain);
    std::optional<Tensor> tensor = tensor_over(*dtype, shape, data.substr(begin, end - begin));
    if (!tensor) {
      return bad_file(path, fmt::format("'{}': {}", name, no_fit(*dtype, shape, end - begin)),
                      kSaveAgain);
    }
    arrays.push_back({name, {std::move(*tensor)}});
  }
  if (arrays.empty()) return bad_file(path, "the file holds no arrays");
  return arrays;
}

}  // namespace

Result<std::vector<NamedValue>> read_array_file(const std::string& path, const std::string& bytes) {
  if (bytes.empty()) return bad_file(path, "the file is empty", kForms);
  if (bytes.starts_with("\x93NUMPY") || path.ends_with(".npy")) {
    Result<Tensor> tensor = read_npy(path, bytes);
    if (!tensor) return Unexpected{tensor.error()};
    std::vector<NamedValue> arrays;
    arrays.push_back({"", {std::move(*tensor)}});
    return arrays;
  }
  if (bytes.starts_with("PK") || path.ends_with(".npz")) return read_npz(path, bytes);
  // A safetensors file has no mark: eight bytes, then a JSON object.
  if (path.ends_with(".safetensors") || (bytes.size() > 8 && bytes[8] == '{')) {
    return read_safetensors(path, bytes);
  }
  return bad_file(path, "it holds no values of a known form", kForms);
}

}  // namespace tg
