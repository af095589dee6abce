#include "core/ir/type.h"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tg {
namespace {

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "[IntegerProxy name=i0, value=2, static=CONSTRAINT.DYNAMIC]" -> 2
std::optional<std::int64_t> symbolic_dim(std::string_view text) {
  const std::size_t at = text.find("value=");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + 6);
  rest = rest.substr(0, rest.find_first_of(",]"));
  return parse_integer(rest);
}

// Splits "2, [IntegerProxy name=i0, value=3], 4" at the commas outside brackets.
std::vector<std::string_view> split_dims(std::string_view text) {
  std::vector<std::string_view> dims;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(') ++depth;
    if (text[i] == ']' || text[i] == ')') --depth;
    if (text[i] == ',' && depth == 0) {
      dims.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (begin < text.size()) dims.push_back(text.substr(begin));
  for (std::string_view& dim : dims) {
    while (dim.starts_with(' ')) dim.remove_prefix(1);
    while (dim.ends_with(' ')) dim.remove_suffix(1);
  }
  return dims;
}

// A dim that is no number: empty when it may be one of a later Thunder's.
std::string why_no_size(std::string_view dim) {
  const std::size_t digits = dim.starts_with('-') ? 1 : 0;
  if (dim.size() == digits || dim.find_first_not_of("0123456789.", digits) != dim.npos) return {};
  if (dim.find('.') != dim.npos) return fmt::format("size {} is no whole number", dim);
  return fmt::format("size {} is beyond every memory", dim);
}

// Position of the bracket that closes the one at `open`, npos if none.
std::size_t closing_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// "cpu f32[2, 3]" with an optional tail; false when it has another form.
bool parse_tensor(std::string_view text, Type& type) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos || open == 0) return false;
  const std::size_t space = text.rfind(' ', open);
  if (space == std::string_view::npos || space == 0) return false;
  const std::size_t close = closing_bracket(text, open);
  if (close == std::string_view::npos) {
    type.problem = "'[' is not closed";
    return false;
  }
  type.device = std::string(text.substr(0, space));
  const std::string_view dtype = text.substr(space + 1, open - space - 1);
  type.dtype = parse_dtype(dtype);
  if (!type.dtype) type.problem = fmt::format("'{}' is no dtype known here", dtype);
  std::vector<std::int64_t> shape;
  for (const std::string_view dim : split_dims(text.substr(open + 1, close - open - 1))) {
    const std::optional<std::int64_t> value =
        dim.starts_with('[') ? symbolic_dim(dim) : parse_integer(dim);
    if (!value) {
      type.problem = why_no_size(dim);
      return true;
    }
    if (*value < 0) {
      type.problem = fmt::format("size {} is negative", *value);
      return true;
    }
    shape.push_back(*value);
  }
  type.shape = std::move(shape);
  return true;
}

}  // namespace

Type parse_type(std::string_view text) {
  Type type;
  type.text = std::string(text);
  struct NumberWord {
    std::string_view word;
    TypeKind kind;
  };
  constexpr NumberWord kNumbers[] = {{"int ", TypeKind::Int},
                                     {"float ", TypeKind::Float},
                                     {"bool ", TypeKind::Bool},
                                     {"complex ", TypeKind::Complex}};
  for (const NumberWord& number : kNumbers) {
    if (!text.starts_with(number.word)) continue;
    type.kind = number.kind;
    type.value = std::string(text.substr(number.word.size()));
    return type;
  }
  if (text == "str") {
    type.kind = TypeKind::String;
  } else if (text == "tuple" || text == "list" || text == "dict" || text == "Collection") {
    type.kind = TypeKind::Collection;
  } else if (text == "Any") {
    type.kind = TypeKind::Any;
  } else if (text.starts_with("<class ")) {
    type.kind = TypeKind::Class;
  } else if (text.starts_with("FUTURE ")) {
    type.kind = parse_tensor(text.substr(7), type) ? TypeKind::FutureTensor : TypeKind::Opaque;
  } else if (text.starts_with("DTensor ")) {
    type.kind = parse_tensor(text.substr(8), type) ? TypeKind::DistributedTensor : TypeKind::Opaque;
  } else {
    type.kind = parse_tensor(text, type) ? TypeKind::Tensor : TypeKind::Opaque;
  }
  return type;
}

TypeRef tensor_type(std::string_view device, DType dtype, const std::vector<std::int64_t>& shape) {
  auto type = std::make_shared<Type>();
  type->kind = TypeKind::Tensor;
  type->text = fmt::format("{} {}[{}]", device, short_name(dtype), fmt::join(shape, ", "));
  type->device = std::string(device);
  type->dtype = dtype;
  type->shape = shape;
  return type;
}

std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) empty = true;
  }
  if (empty) return 0;
  for (const std::int64_t dim : shape) {
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  return count;
}

std::optional<std::uint64_t> type_bytes(const Type& type) {
  if (!type.is_concrete_tensor()) return std::nullopt;
  const std::optional<std::int64_t> count = element_count(*type.shape);
  if (!count) return std::nullopt;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(*count), size_bytes(*type.dtype), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::string python_tuple(const std::vector<std::int64_t>& shape) {
  if (shape.size() == 1) return fmt::format("({},)", shape[0]);
  return fmt::format("({})", fmt::join(shape, ", "));
}

}  // namespace tg
