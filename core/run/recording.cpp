#include "core/run/recording.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/run/recording_json.h"

namespace tg {
namespace recording_json {
namespace {

// Tensors have few dims; deeper nesting is damage, and recursion on it must end.
constexpr int kMaxDepth = 70;

std::optional<double> special(const std::string& text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<std::string> append_value(const Json& node, RecordedTensor& tensor, int depth) {
  if (node.is_array()) {
    if (depth > kMaxDepth) return "values nest too deep";
    for (const Json& item : node) {
      if (std::optional<std::string> wrong = append_value(item, tensor, depth + 1)) return wrong;
    }
    return std::nullopt;
  }
  if (node.is_boolean()) {
    tensor.values.push_back(node.get<bool>() ? 1.0 : 0.0);
    tensor.integers.push_back(node.get<bool>() ? 1 : 0);
    return std::nullopt;
  }
  if (node.is_number_unsigned()) {
    tensor.values.push_back(static_cast<double>(node.get<std::uint64_t>()));
    // uint64 values above 2**63 keep their bits, as values_as_int does.
    tensor.integers.push_back(static_cast<std::int64_t>(node.get<std::uint64_t>()));
    return std::nullopt;
  }
  if (node.is_number_integer()) {
    tensor.values.push_back(static_cast<double>(node.get<std::int64_t>()));
    tensor.integers.push_back(node.get<std::int64_t>());
    return std::nullopt;
  }
  if (node.is_number_float()) {
    tensor.values.push_back(node.get<double>());
    return std::nullopt;
  }
  if (node.is_string()) {
    const std::optional<double> value = special(node.get<std::string>());
    if (!value) return fmt::format("'{}' is no number", node.get<std::string>());
    tensor.values.push_back(*value);
    return std::nullopt;
  }
  return "a value is neither a number nor a list";
}

// The last element that the window can touch fits into 2**48: larger numbers are damage, and sums
// of them overflow.
bool is_possible_window(const Geometry& geometry) {
  constexpr __int128 kLimit = static_cast<__int128>(1) << 48U;
  __int128 last = geometry.offset;
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    if (geometry.sizes[d] > 1)
      last += static_cast<__int128>(geometry.sizes[d] - 1) * geometry.strides[d];
    if (last > kLimit) return false;
  }
  return true;
}

}  // namespace

Diagnostic bad_recording(std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::BadRecording;
  diagnostic.message = std::move(message);
  return diagnostic;
}

const Json* member(const Json& node, const char* key) {
  if (!node.is_object()) return nullptr;
  const auto found = node.find(key);
  return found == node.end() ? nullptr : &*found;
}

std::string text_of(const Json& node, const char* key) {
  const Json* found = member(node, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::vector<std::int64_t>> integers_of(const Json& node, const char* key) {
  const Json* found = member(node, key);
  if (found == nullptr || !found->is_array()) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Json& item : *found) {
    if (!item.is_number_integer()) return std::nullopt;
    numbers.push_back(item.get<std::int64_t>());
  }
  return numbers;
}

std::optional<std::string> read_values(const Json& node, RecordedTensor& tensor) {
  tensor.values.clear();
  tensor.integers.clear();
  if (std::optional<std::string> wrong = append_value(node, tensor, 0)) return wrong;
  const bool counts_exactly = is_integer(tensor.dtype) || tensor.dtype == DType::Bool;
  if (!counts_exactly) tensor.integers.clear();
  if (counts_exactly && tensor.integers.size() != tensor.values.size()) {
    return fmt::format("a value of a {} tensor is no integer", torch_name(tensor.dtype));
  }
  const auto elements = static_cast<std::uint64_t>(element_count(tensor.geometry));
  const std::uint64_t expected = elements * (is_complex(tensor.dtype) ? 2 : 1);
  if (tensor.values.size() != expected) {
    return fmt::format("expected {} values, found {}", expected, tensor.values.size());
  }
  return std::nullopt;
}

Result<RecordedTensor> tensor_of(const Json& node, const TensorKeys& keys,
                                 const std::string& where) {
  RecordedTensor tensor;
  const std::string dtype_text = text_of(node, "dtype");
  const std::optional<DType> dtype = parse_dtype(dtype_text);
  if (!dtype) {
    return Unexpected{bad_recording(
        dtype_text.empty() ? fmt::format("{}: no 'dtype'", where)
                           : fmt::format("{}: unknown dtype '{}'", where, dtype_text))};
  }
  tensor.dtype = *dtype;
  const std::optional<std::vector<std::int64_t>> shape = integers_of(node, keys.shape);
  if (!shape) return Unexpected{bad_recording(fmt::format("{}: no list '{}'", where, keys.shape))};
  if (!element_count(*shape)) {
    return Unexpected{
        bad_recording(fmt::format("{}: impossible shape {}", where, python_tuple(*shape)))};
  }
  tensor.geometry = contiguous_geometry(*shape);
  if (const std::optional<std::vector<std::int64_t>> strides = integers_of(node, keys.strides)) {
    if (strides->size() != shape->size()) {
      return Unexpected{bad_recording(
          fmt::format("{}: {} strides for {} dims", where, strides->size(), shape->size()))};
    }
    for (const std::int64_t stride : *strides) {
      if (stride < 0) return Unexpected{bad_recording(fmt::format("{}: negative stride", where))};
    }
    tensor.geometry.strides = *strides;
  }
  if (const Json* offset = member(node, keys.offset); offset != nullptr) {
    if (!offset->is_number_integer() || offset->get<std::int64_t>() < 0) {
      return Unexpected{bad_recording(fmt::format("{}: '{}' is no offset", where, keys.offset))};
    }
    tensor.geometry.offset = offset->get<std::int64_t>();
  }
  if (!is_possible_window(tensor.geometry)) {
    return Unexpected{bad_recording(fmt::format("{}: reaches further than any memory", where))};
  }
  tensor.storage = text_of(node, "storage");
  if (const Json* values = member(node, keys.values); values != nullptr && !values->is_null()) {
    if (const std::optional<std::string> wrong = read_values(*values, tensor)) {
      return Unexpected{bad_recording(fmt::format("{}: {}", where, *wrong))};
    }
  }
  return tensor;
}

RuntimeValue number_of(const Json& node) {
  if (node.is_boolean()) return {node.get<bool>()};
  if (node.is_number_integer()) return {node.get<std::int64_t>()};
  if (node.is_number_float()) return {node.get<double>()};
  if (node.is_string()) {
    const std::string text = node.get<std::string>();
    if (const std::optional<double> value = special(text)) return {*value};
    return {StringValue{text}};
  }
  if (node.is_array() && node.size() == 2 && node[0].is_number() && node[1].is_number()) {
    return {std::complex<double>(node[0].get<double>(), node[1].get<double>())};
  }
  return {NoneValue{}};
}

}  // namespace recording_json

Result<Recording> read_recording(std::string id, std::string_view json) {
  using recording_json::bad_recording;
  using recording_json::Json;
  using recording_json::member;
  Json root;
  try {
    root = Json::parse(json);
  } catch (const Json::exception& error) {
    return Unexpected{bad_recording(fmt::format("{}: not JSON: {}", id, error.what()))};
  }
  if (!root.is_object()) return Unexpected{bad_recording(fmt::format("{}: no JSON object", id))};
  if (member(root, "runs") != nullptr) return recording_json::read_case(std::move(id), root);
  if (member(root, "op") != nullptr && member(root, "call") != nullptr) {
    return recording_json::read_call(std::move(id), root);
  }
  if (member(root, "slug") != nullptr) return recording_json::read_definition(std::move(id), root);
  const Json* inputs = member(root, "inputs");
  if (inputs != nullptr && inputs->is_object())
    return recording_json::read_named(std::move(id), root);
  if (inputs != nullptr && inputs->is_array()) {
    return member(root, "input_sharing") != nullptr
               ? recording_json::read_sharing(std::move(id), root)
               : recording_json::read_paths(std::move(id), root);
  }
  return Unexpected{bad_recording(
      fmt::format("{}: of no known schema: neither 'inputs', 'runs', 'slug' nor 'op'", id))};
}

std::string_view json_block(std::string_view markdown) {
  constexpr std::string_view kFence = "\n```json\n";
  const std::size_t open = markdown.rfind(kFence);
  if (open == std::string_view::npos) return {};
  const std::size_t begin = open + kFence.size();
  const std::size_t end = markdown.find("\n```", begin);
  if (end == std::string_view::npos) return {};
  return markdown.substr(begin, end - begin);
}

}  // namespace tg
