// Recordings of complete programs: by argument name (seed, large) and by path (passes-2024-12,
// passes-2026-01, fx).
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "core/run/recording_json.h"

namespace tg::recording_json {
namespace {

constexpr TensorKeys kShortKeys{"shape", "strides", "offset", "values"};
constexpr TensorKeys kLongKeys{"shape", "strides", "storage_offset", "values"};

std::string output_name(std::size_t index) {
  return fmt::format("out[{}]", index);
}

// "out0" of the seed, "out[0]" of everything else.
std::string normalised_name(const std::string& name) {
  if (name.starts_with("out") && name.size() > 3 &&
      name.find_first_not_of("0123456789", 3) == std::string::npos) {
    return fmt::format("out[{}]", name.substr(3));
  }
  return name;
}

std::optional<Diagnostic> append_tensor(std::vector<RecordedValue>& to, const Json& node,
                                        const TensorKeys& keys, std::string name,
                                        const std::string& where) {
  Result<RecordedTensor> tensor = tensor_of(node, keys, where);
  if (!tensor) return tensor.error();
  to.push_back({std::move(name), *std::move(tensor), std::nullopt});
  return std::nullopt;
}

// A value with a `kind`: a tensor, or a number under `value`.
std::optional<Diagnostic> append_kind(std::vector<RecordedValue>& to, const Json& node,
                                      const std::string& id) {
  std::string name = text_of(node, "path");
  const std::string where = fmt::format("{}: {}", id, name);
  if (text_of(node, "kind") == "tensor") {
    return append_tensor(to, node, kLongKeys, std::move(name), where);
  }
  const Json* value = member(node, "value");
  if (value == nullptr) return bad_recording(fmt::format("{}: neither tensor nor 'value'", where));
  to.push_back({std::move(name), std::nullopt, number_of(*value)});
  return std::nullopt;
}

template <typename Append>
std::optional<Diagnostic> append_all(const Json& node, const char* key, Append&& append) {
  const Json* list = member(node, key);
  if (list == nullptr) return std::nullopt;
  for (const Json& item : *list) {
    if (std::optional<Diagnostic> wrong = append(item)) return wrong;
  }
  return std::nullopt;
}

void append_pairs(std::vector<RecordedPair>& to, const Json& node, const char* key,
                  const char* offset_key) {
  const Json* list = member(node, key);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& item : *list) {
    const Json* shares = member(item, "shares_storage");
    if (shares != nullptr && shares->is_boolean() && !shares->get<bool>()) continue;
    RecordedPair pair;
    pair.a = normalised_name(text_of(item, "a"));
    pair.b = normalised_name(text_of(item, "b"));
    if (const Json* offset = member(item, offset_key);
        offset != nullptr && offset->is_number_integer()) {
      pair.offset_bytes = offset->get<std::int64_t>();
    }
    const Json* same = member(item, "same_object");
    pair.same_object = same != nullptr && same->is_boolean() && same->get<bool>();
    to.push_back(std::move(pair));
  }
}

std::optional<std::pair<std::string, std::string>> error_of(const Json& block, const char* key) {
  const Json* error = member(block, key);
  if (error == nullptr || !error->is_object()) return std::nullopt;
  return std::pair{text_of(*error, "type"), text_of(*error, "message")};
}

// final_inputs of large: bare lists of values; shape and storage are those of the input.
using InputsByName = std::unordered_map<std::string_view, const RecordedTensor*>;

std::optional<Diagnostic> append_final_by_name(RecordedRun& run, const std::string& name,
                                               const Json& node, const Recording& recording,
                                               const InputsByName& inputs) {
  const std::string where = fmt::format("{}: final {}", recording.id, name);
  if (node.is_object()) return append_tensor(run.final_inputs, node, kShortKeys, name, where);
  const auto input = inputs.find(name);
  if (input == inputs.end()) return bad_recording(fmt::format("{}: no input of that name", where));
  RecordedTensor tensor = *input->second;
  if (const std::optional<std::string> wrong = read_values(node, tensor)) {
    return bad_recording(fmt::format("{}: {}", where, *wrong));
  }
  run.final_inputs.push_back({name, std::move(tensor), std::nullopt});
  return std::nullopt;
}

// Whole buffers of inputs that do not cover their storage.
std::optional<Diagnostic> read_storages(const Json& root, Recording& recording) {
  const Json* storages = member(root, "input_storages");
  if (storages == nullptr || !storages->is_object()) return std::nullopt;
  for (const auto& [storage, node] : storages->items()) {
    const Json* values = member(node, "values");
    const std::optional<DType> dtype = parse_dtype(text_of(node, "dtype"));
    if (values == nullptr || !values->is_array()) continue;
    if (!dtype)
      return bad_recording(fmt::format("{}: storage {}: no dtype", recording.id, storage));
    RecordedTensor whole;
    whole.dtype = *dtype;
    whole.geometry = contiguous_geometry({static_cast<std::int64_t>(values->size())});
    if (const std::optional<std::string> wrong = read_values(*values, whole)) {
      return bad_recording(fmt::format("{}: storage {}: {}", recording.id, storage, *wrong));
    }
    for (RecordedValue& input : recording.inputs) {
      if (input.tensor && input.tensor->storage == storage && input.tensor->dtype == *dtype) {
        input.tensor->storage_values = whole.values;
      }
    }
  }
  return std::nullopt;
}

// A tensor, or an object with `value` (fx lists numbers and None among the tensors).
std::optional<Diagnostic> append_named(std::vector<RecordedValue>& to, const Json& item,
                                       const std::string& id) {
  std::string name = text_of(item, "name");
  const Json* value = member(item, "value");
  if (value != nullptr && member(item, "dtype") == nullptr) {
    to.push_back({std::move(name), std::nullopt, number_of(*value)});
    return std::nullopt;
  }
  const std::string where = fmt::format("{}: {}", id, name);
  return append_tensor(to, item, kLongKeys, std::move(name), where);
}

// One of "tensor", "int", "float", "bool", "none", "tuple", "list", "dict" as a tree; its leaves in
// Thunder's flattening order (dict keys sorted, which nlohmann::json does by itself).
std::optional<Diagnostic> append_structure(const Json& node, std::vector<RecordedValue>& tensors,
                                           std::vector<RecordedValue>& outputs,
                                           const std::string& name, int depth) {
  if (depth > 60) return bad_recording("output_structure nests too deep");
  if (!node.is_object() || node.size() != 1)
    return bad_recording("output_structure is not understood");
  const auto only = node.begin();
  const std::string& kind = only.key();
  const Json& value = only.value();
  if (kind == "tensor") {
    for (RecordedValue& tensor : tensors) {
      if (tensor.name == value) {
        outputs.push_back(tensor);
        return std::nullopt;
      }
    }
    return bad_recording(fmt::format("no output '{}'", value.dump()));
  }
  if (kind == "tuple" || kind == "list") {
    std::size_t index = 0;
    for (const Json& item : value) {
      if (auto wrong = append_structure(item, tensors, outputs,
                                        fmt::format("{}[{}]", name, index++), depth + 1)) {
        return wrong;
      }
    }
    return std::nullopt;
  }
  if (kind == "dict") {
    for (const auto& [key, item] : value.items()) {
      if (auto wrong = append_structure(item, tensors, outputs, fmt::format("{}['{}']", name, key),
                                        depth + 1)) {
        return wrong;
      }
    }
    return std::nullopt;
  }
  outputs.push_back(
      {name, std::nullopt, kind == "none" ? RuntimeValue{NoneValue{}} : number_of(value)});
  return std::nullopt;
}

std::optional<Diagnostic> read_sharing_block(const Json& block, Recording& recording,
                                             RecordedRun& run) {
  run.error = error_of(block, "raised");
  const auto tensor_into = [&](std::vector<RecordedValue>& to) {
    return [&recording, &to](const Json& item) { return append_named(to, item, recording.id); };
  };
  std::vector<RecordedValue> tensors;
  if (auto wrong = append_all(block, "outputs", tensor_into(tensors))) return wrong;
  if (auto wrong = append_all(block, "final_inputs", tensor_into(run.final_inputs))) return wrong;
  append_pairs(run.sharing, block, "sharing", "data_ptr_difference_bytes");
  run.has_sharing = member(block, "sharing") != nullptr;
  if (const Json* gradients = member(block, "grads");
      gradients != nullptr && gradients->is_object()) {
    for (const auto& [name, node] : gradients->items()) {
      if (!node.is_object()) {
        run.gradients.push_back({name, std::nullopt, std::nullopt});
      } else if (auto wrong =
                     append_tensor(run.gradients, node, kLongKeys, name,
                                   fmt::format("{}: gradient of {}", recording.id, name))) {
        return wrong;
      }
    }
  }
  const Json* structure = member(block, "output_structure");
  if (structure == nullptr || !structure->is_object()) {
    run.outputs = std::move(tensors);
    return std::nullopt;
  }
  if (auto wrong = append_structure(*structure, tensors, run.outputs, "out", 0)) {
    wrong->message = fmt::format("{}: {}", recording.id, wrong->message);
    return wrong;
  }
  return std::nullopt;
}

}  // namespace

Result<Recording> read_named(std::string id, const Json& root) {
  Recording recording;
  recording.id = std::move(id);
  const auto append_input = [&](const std::string& name, const Json& node) {
    return append_tensor(recording.inputs, node, kShortKeys, name,
                         fmt::format("{}: {}", recording.id, name));
  };
  const Json& inputs = *member(root, "inputs");
  // JSON objects do not keep their order here; large says it apart.
  if (const Json* order = member(root, "arguments_in_order");
      order != nullptr && order->is_array()) {
    for (const Json& name : *order) {
      const Json* node =
          name.is_string() ? member(inputs, name.get<std::string>().c_str()) : nullptr;
      if (node == nullptr) {
        return Unexpected{bad_recording(fmt::format("{}: no input {}", recording.id, name.dump()))};
      }
      if (auto wrong = append_input(name.get<std::string>(), *node)) return Unexpected{*wrong};
    }
  } else {
    for (const auto& [name, node] : inputs.items()) {
      if (auto wrong = append_input(name, node)) return Unexpected{*wrong};
    }
  }
  RecordedRun& run = recording.runs["eager"];
  InputsByName by_name;
  for (const RecordedValue& input : recording.inputs) {
    if (input.tensor) by_name.emplace(input.name, &*input.tensor);
  }
  if (const Json* finals = member(root, "final_inputs"); finals != nullptr && finals->is_object()) {
    for (const auto& [name, node] : finals->items()) {
      if (auto wrong = append_final_by_name(run, name, node, recording, by_name))
        return Unexpected{*wrong};
    }
  }
  std::size_t index = 0;
  const auto append_output = [&](const Json& node) {
    const std::string name = output_name(index++);
    return append_tensor(run.outputs, node, kShortKeys, name,
                         fmt::format("{}: {}", recording.id, name));
  };
  if (auto wrong = append_all(root, "outputs", append_output)) return Unexpected{*wrong};
  append_pairs(run.sharing, root, "pairs", "data_ptr_difference_bytes");
  run.has_sharing =
      member(root, "pairs") != nullptr || member(root, "output_is_argument") != nullptr;
  return recording;
}

Result<Recording> read_paths(std::string id, const Json& root) {
  Recording recording;
  recording.id = std::move(id);
  const auto append_input = [&](const Json& item) {
    return append_kind(recording.inputs, item, recording.id);
  };
  if (auto wrong = append_all(root, "inputs", append_input)) return Unexpected{*wrong};
  if (auto wrong = read_storages(root, recording)) return Unexpected{*wrong};
  // The tolerances of a verdict (README of passes-2024-12).
  recording.tolerance = {{"f16", 2e-3}, {"bf16", 2e-2}, {"f32", 2e-5}, {"f64", 1e-10}};
  for (const char* key : {"eager", "thunder", "thunder_torch_executor", "thunder_noinplace"}) {
    const Json* block = member(root, key);
    if (block == nullptr || !block->is_object()) continue;
    RecordedRun& run = recording.runs[key];
    run.error = error_of(*block, "error");
    const auto append_output = [&](const Json& item) {
      return append_kind(run.outputs, item, recording.id);
    };
    const auto append_final = [&](const Json& item) {
      return append_kind(run.final_inputs, item, recording.id);
    };
    if (auto wrong = append_all(*block, "outputs", append_output)) return Unexpected{*wrong};
    if (auto wrong = append_all(*block, "final_inputs", append_final)) return Unexpected{*wrong};
    const auto append_gradient = [&](const Json& item) -> std::optional<Diagnostic> {
      if (text_of(item, "kind") == "tensor") return append_kind(run.gradients, item, recording.id);
      run.gradients.push_back({text_of(item, "path"), std::nullopt, std::nullopt});
      return std::nullopt;
    };
    if (auto wrong = append_all(*block, "grads", append_gradient)) return Unexpected{*wrong};
    append_pairs(run.sharing, *block, "aliases", "ptr_diff_bytes");
    run.has_sharing = member(*block, "aliases") != nullptr;
  }
  return recording;
}

Result<Recording> read_sharing(std::string id, const Json& root) {
  Recording recording;
  recording.id = std::move(id);
  const auto append_input = [&](const Json& item) {
    return append_named(recording.inputs, item, recording.id);
  };
  if (auto wrong = append_all(root, "inputs", append_input)) return Unexpected{*wrong};
  if (const Json* numbers = member(root, "number_inputs");
      numbers != nullptr && numbers->is_object()) {
    for (const auto& [name, node] : numbers->items()) {
      if (!node.is_object() || node.size() != 1) {
        return Unexpected{bad_recording(fmt::format("{}: {}: no number", recording.id, name))};
      }
      recording.inputs.push_back({name, std::nullopt, number_of(*node.begin())});
    }
  }
  recording.tolerance = {{"f16", 2e-3}, {"bf16", 2e-2}, {"f32", 2e-5}, {"f64", 1e-10}};
  for (const char* key : {"eager", "thunder", "aot_eager", "inductor", "dynamo_eager"}) {
    const Json* block = member(root, key);
    if (block == nullptr || !block->is_object()) continue;
    if (auto wrong = read_sharing_block(*block, recording, recording.runs[key])) {
      return Unexpected{*wrong};
    }
  }
  return recording;
}

}  // namespace tg::recording_json
