// Recordings of small things: one nvFuser definition, one bug case, one operator call.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/run/recording_json.h"

namespace tg::recording_json {
namespace {

constexpr TensorKeys kDefinitionKeys{"size", "stride", "offset", "data"};
constexpr TensorKeys kInitialKeys{"shape", "strides", "offset", "initial"};
constexpr TensorKeys kFinalKeys{"shape", "strides", "offset", "final"};
constexpr TensorKeys kOutputKeys{"shape", "strides", "offset", "values"};

std::optional<Diagnostic> append(std::vector<RecordedValue>& to, const Json& node,
                                 const TensorKeys& keys, std::string name, const std::string& id) {
  Result<RecordedTensor> tensor = tensor_of(node, keys, fmt::format("{}: {}", id, name));
  if (!tensor) return tensor.error();
  to.push_back({std::move(name), *std::move(tensor), std::nullopt});
  return std::nullopt;
}

std::optional<Diagnostic> read_case_block(const Json& block, const Recording& recording,
                                          RecordedRun& run) {
  if (const Json* args = member(block, "args"); args != nullptr && args->is_object()) {
    for (const auto& [name, node] : args->items()) {
      if (auto wrong = append(run.final_inputs, node, kFinalKeys, name, recording.id)) return wrong;
    }
  }
  if (const Json* outputs = member(block, "outputs"); outputs != nullptr && outputs->is_array()) {
    std::size_t index = 0;
    for (const Json& node : *outputs) {
      if (auto wrong = append(run.outputs, node, kOutputKeys, fmt::format("out[{}]", index++),
                              recording.id)) {
        return wrong;
      }
    }
  }
  run.has_sharing = true;
  return std::nullopt;
}

// ---- base64 of little-endian bytes (ops)

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<std::byte>((bits >> static_cast<unsigned>(count)) & 0xffU));
    }
  }
  return bytes;
}

// A contiguous tensor that holds exactly these bytes; empty if the count does not fit.
std::optional<Tensor> tensor_of_bytes(DType dtype, const std::vector<std::int64_t>& sizes,
                                      const std::string& base64) {
  const std::optional<std::vector<std::byte>> bytes = from_base64(base64);
  if (!bytes) return std::nullopt;
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.geometry = contiguous_geometry(sizes);
  const auto expected =
      static_cast<std::size_t>(element_count(tensor.geometry)) * size_bytes(dtype);
  if (bytes->size() != expected) return std::nullopt;
  tensor.storage = std::make_shared<Storage>();
  tensor.storage->bytes = *bytes;
  return tensor;
}

void set_values(RecordedTensor& to, const Tensor& from) {
  to.values = values_as_double(from);
  if (is_integer(from.dtype) || from.dtype == DType::Bool) to.integers = values_as_int(from);
}

std::optional<RuntimeValue> plain_of(const Json& node) {
  if (member(node, "none") != nullptr) return RuntimeValue{NoneValue{}};
  if (const std::string text = text_of(node, "torch_dtype"); !text.empty()) {
    const std::optional<DType> dtype = parse_dtype(text);
    if (!dtype) return std::nullopt;
    return RuntimeValue{DTypeValue{*dtype}};
  }
  if (member(node, "string") != nullptr) return RuntimeValue{StringValue{text_of(node, "string")}};
  const std::string kind = text_of(node, "number");
  const Json* value = member(node, "value");
  if (kind.empty() || value == nullptr) return std::nullopt;
  if (kind == "complex" && value->is_array() && value->size() == 2) {
    const auto part = [&](std::size_t i) {
      const Json& text = (*value)[i];
      return text.is_string() ? std::strtod(text.get<std::string>().c_str(), nullptr)
                              : text.get<double>();
    };
    return RuntimeValue{std::complex<double>(part(0), part(1))};
  }
  if (!value->is_string()) return number_of(*value);
  const std::string text = value->get<std::string>();
  char* end = nullptr;
  if (kind == "bool") return RuntimeValue{text == "True" || text == "true" || text == "1"};
  if (kind == "int")
    return RuntimeValue{static_cast<std::int64_t>(std::strtoll(text.c_str(), &end, 10))};
  return RuntimeValue{std::strtod(text.c_str(), &end)};
}

// Whole storages of a call, decoded once each.
using Buffers = std::map<std::string, Tensor>;

std::optional<Diagnostic> decode_buffers(const Json& root, const char* key, const std::string& id,
                                         const Json& dtypes, Buffers& buffers) {
  const Json* storages = member(root, key);
  if (storages == nullptr || !storages->is_object()) return std::nullopt;
  for (const auto& [name, node] : storages->items()) {
    const Json* declared = member(dtypes, name.c_str());
    const Json& facts = declared != nullptr ? *declared : node;
    const std::optional<DType> dtype = parse_dtype(text_of(facts, "dtype"));
    const Json* size = member(facts, "size_elements");
    if (!dtype || size == nullptr || !size->is_number_integer() || size->get<std::int64_t>() < 0) {
      return bad_recording(fmt::format("{}: storage {}: no dtype or size", id, name));
    }
    const std::string base64 = node.is_string() ? node.get<std::string>() : text_of(node, "data");
    std::optional<Tensor> whole = tensor_of_bytes(*dtype, {size->get<std::int64_t>()}, base64);
    if (!whole) return bad_recording(fmt::format("{}: storage {}: bytes do not fit", id, name));
    buffers.insert_or_assign(name, *std::move(whole));
  }
  return std::nullopt;
}

// The window that `node` describes onto its buffer.
Result<RecordedTensor> window_of(const Json& node, const Buffers& buffers,
                                 const std::string& where) {
  Result<RecordedTensor> tensor =
      tensor_of(node, TensorKeys{"shape", "strides", "offset", "-"}, where);
  if (!tensor) return tensor;
  const auto buffer = buffers.find(tensor->storage);
  if (buffer == buffers.end()) return tensor;
  const ElementSpan span = element_span(tensor->geometry);
  if (buffer->second.dtype != tensor->dtype || span.end > buffer->second.elements()) {
    return Unexpected{bad_recording(fmt::format("{}: outside its storage", where))};
  }
  Tensor window = buffer->second;
  window.geometry = tensor->geometry;
  set_values(*tensor, window);
  tensor->storage_values = values_as_double(buffer->second);
  return tensor;
}

std::optional<Diagnostic> append_result(const Json& node, RecordedRun& run, const std::string& id) {
  const std::string name = fmt::format("out[{}]", run.outputs.size());
  if (member(node, "dtype") == nullptr) {
    std::optional<RuntimeValue> plain = plain_of(node);
    if (!plain) return bad_recording(fmt::format("{}: {}: not understood", id, name));
    run.outputs.push_back({name, std::nullopt, std::move(plain)});
    return std::nullopt;
  }
  Result<RecordedTensor> tensor = tensor_of(node, TensorKeys{"shape", "strides", "offset", "-"},
                                            fmt::format("{}: {}", id, name));
  if (!tensor) return tensor.error();
  if (const Json* bytes = member(node, "data"); bytes != nullptr && bytes->is_string()) {
    const std::optional<Tensor> whole =
        tensor_of_bytes(tensor->dtype, tensor->geometry.sizes, bytes->get<std::string>());
    if (!whole) return bad_recording(fmt::format("{}: {}: bytes do not fit", id, name));
    set_values(*tensor, *whole);
  }
  run.outputs.push_back({name, *std::move(tensor), std::nullopt});
  return std::nullopt;
}

}  // namespace

Result<Recording> read_definition(std::string id, const Json& root) {
  Recording recording;
  recording.id = std::move(id);
  recording.tolerance = {{"f16", 1e-2}, {"bf16", 1e-2}, {"f32", 1e-5}};
  RecordedRun& run = recording.runs["eager"];
  const auto list = [&](const char* key) {
    const Json* found = member(root, key);
    return found != nullptr && found->is_array() ? *found : Json::array();
  };
  for (const Json& node : list("inputs")) {
    const std::string name = fmt::format("T{}", recording.inputs.size());
    if (text_of(node, "kind") == "scalar") {
      const Json* value = member(node, "value");
      recording.inputs.push_back(
          {name, std::nullopt, value != nullptr ? number_of(*value) : RuntimeValue{NoneValue{}}});
      continue;
    }
    if (auto wrong = append(recording.inputs, node, kDefinitionKeys, name, recording.id)) {
      return Unexpected{*wrong};
    }
    recording.inputs.back().tensor->storage = fmt::format("S{}", recording.inputs.size() - 1);
  }
  const Json* after = member(root, "inputs_after");
  for (std::size_t i = 0; i < recording.inputs.size(); ++i) {
    RecordedValue last = recording.inputs[i];
    const Json* node = after != nullptr ? member(*after, std::to_string(i).c_str()) : nullptr;
    if (node != nullptr && last.tensor) {
      const Json* values = member(*node, "data");
      const std::optional<std::string> wrong =
          values != nullptr ? read_values(*values, *last.tensor) : "no 'data'";
      if (wrong) {
        return Unexpected{
            bad_recording(fmt::format("{}: final {}: {}", recording.id, last.name, *wrong))};
      }
    }
    run.final_inputs.push_back(std::move(last));
  }
  for (const Json& node : list("outputs")) {
    const std::size_t index = run.outputs.size();
    if (auto wrong = append(run.outputs, node, kDefinitionKeys, fmt::format("out[{}]", index),
                            recording.id)) {
      return Unexpected{*wrong};
    }
    // "fresh", "input:2", "output:0"
    const std::string shares = text_of(node, "shares");
    const std::size_t number = static_cast<std::size_t>(
        std::strtoull(shares.c_str() + std::min(shares.size(), shares.find(':') + 1), nullptr, 10));
    std::string& storage = run.outputs.back().tensor->storage;
    storage = fmt::format("fresh{}", index);
    if (shares.starts_with("input:") && number < recording.inputs.size() &&
        recording.inputs[number].tensor) {
      storage = recording.inputs[number].tensor->storage;
    } else if (shares.starts_with("output:") && number < index) {
      storage = run.outputs[number].tensor->storage;
    }
  }
  run.has_sharing = true;
  return recording;
}

Result<Recording> read_case(std::string id, const Json& root) {
  Recording recording;
  recording.id = std::move(id);
  const Json* runs = member(root, "runs");
  if (runs == nullptr || !runs->is_array() || runs->size() != 1 || !(*runs)[0].is_object()) {
    return Unexpected{bad_recording(fmt::format("{}: expected one run", recording.id))};
  }
  const Json& block = (*runs)[0];
  const Json* args = member(block, "args");
  if (const Json* call = member(block, "call");
      call != nullptr && call->is_array() && args != nullptr) {
    for (const Json& name : *call) {
      const Json* node =
          name.is_string() ? member(*args, name.get<std::string>().c_str()) : nullptr;
      if (node == nullptr) {
        return Unexpected{
            bad_recording(fmt::format("{}: no argument {}", recording.id, name.dump()))};
      }
      if (auto wrong = append(recording.inputs, *node, kInitialKeys, name.get<std::string>(),
                              recording.id)) {
        return Unexpected{*wrong};
      }
    }
  }
  if (auto wrong = read_case_block(block, recording, recording.runs["eager"]))
    return Unexpected{*wrong};
  if (const Json* bad = member(block, "wrong"); bad != nullptr) {
    if (auto wrong = read_case_block(*bad, recording, recording.runs["wrong"]))
      return Unexpected{*wrong};
  }
  return recording;
}

Result<Recording> read_call(std::string id, const Json& root) {
  Recording recording;
  recording.id = std::move(id);
  recording.call = text_of(root, "call");
  recording.exactness = text_of(root, "tolerance");
  const Json nothing = Json::object();
  const Json* storages = member(root, "storages");
  const Json& dtypes = storages != nullptr ? *storages : nothing;
  Buffers first;
  if (auto wrong = decode_buffers(root, "storages", recording.id, dtypes, first))
    return Unexpected{*wrong};
  Buffers last = first;
  if (auto wrong = decode_buffers(root, "final_storages", recording.id, dtypes, last)) {
    return Unexpected{*wrong};
  }
  RecordedRun& run = recording.runs["eager"];
  if (const Json* inputs = member(root, "inputs"); inputs != nullptr && inputs->is_object()) {
    for (const auto& [name, node] : inputs->items()) {
      if (member(node, "dtype") == nullptr) {
        std::optional<RuntimeValue> plain = plain_of(node);
        if (!plain) {
          return Unexpected{
              bad_recording(fmt::format("{}: {}: not understood", recording.id, name))};
        }
        recording.inputs.push_back({name, std::nullopt, std::move(plain)});
        continue;
      }
      const std::string where = fmt::format("{}: {}", recording.id, name);
      Result<RecordedTensor> before = window_of(node, first, where);
      if (!before) return Unexpected{before.error()};
      Result<RecordedTensor> after = window_of(node, last, where);
      if (!after) return Unexpected{after.error()};
      recording.inputs.push_back({name, *std::move(before), std::nullopt});
      run.final_inputs.push_back({name, *std::move(after), std::nullopt});
    }
  }
  if (const Json* error = member(root, "error"); error != nullptr && error->is_object()) {
    run.error = std::pair{text_of(*error, "type"), text_of(*error, "message")};
  }
  if (const Json* outputs = member(root, "outputs"); outputs != nullptr && outputs->is_array()) {
    for (const Json& node : *outputs) {
      if (auto wrong = append_result(node, run, recording.id)) return Unexpected{*wrong};
    }
  }
  run.has_sharing = true;
  return recording;
}

}  // namespace tg::recording_json
