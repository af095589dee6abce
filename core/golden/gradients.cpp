#include "core/golden/gradients.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/golden/stage_run.h"

namespace tg::golden {
namespace {

const Value* return_value(const Trace& trace) {
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind != StatementKind::Return) continue;
    if (statement->args.empty()) return nullptr;
    return &statement->args.front();
  }
  return nullptr;
}

const Value* dict_entry(const Value& dict, std::string_view key) {
  if (dict.kind != ValueKind::Dict) return nullptr;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (string_content(dict.items[i]) == key) return &dict.items[i + 1];
  }
  return nullptr;
}

std::vector<std::string> leaf_texts(const Value& value) {
  std::vector<std::string> texts;
  for_each_leaf(value, [&texts](const Value& leaf) { texts.push_back(leaf.text); });
  return texts;
}

// `return a, (b, c)` may be read as one tuple or as two values.
std::vector<const Value*> returned_parts(const Trace& trace) {
  std::vector<const Value*> parts;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind != StatementKind::Return) continue;
    if (statement->args.size() == 1 && statement->args.front().kind == ValueKind::Tuple) {
      for (const Value& item : statement->args.front().items) parts.push_back(&item);
    } else {
      for (const Value& item : statement->args) parts.push_back(&item);
    }
    break;
  }
  return parts;
}

const BoundSymbol* unpacking_of(const Trace& trace, std::string_view sequence) {
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::UnpackSequence && !statement->args.empty() &&
        statement->args.front().is_name(sequence)) {
      return statement.get();
    }
  }
  return nullptr;
}

const RecordedTensor* input_of(const Recording& recording, const std::string& name) {
  for (const RecordedValue& input : recording.inputs) {
    if (input.name == name && input.tensor) return &*input.tensor;
  }
  return nullptr;
}

// The gradient of an input; of one object that was passed twice, the sum over its places.
std::optional<Tensor> gradient_of(const std::string& name, const std::vector<NamedValue>& gradients,
                                  const Recording& recording) {
  const RecordedTensor* input = input_of(recording, name);
  std::optional<Tensor> total;
  for (const NamedValue& gradient : gradients) {
    const Tensor* tensor = gradient.value.as<Tensor>();
    const RecordedTensor* other = input_of(recording, gradient.name);
    const bool same = gradient.name == name ||
                      (input != nullptr && other != nullptr && !input->storage.empty() &&
                       input->storage == other->storage && input->geometry == other->geometry);
    if (tensor == nullptr || !same) continue;
    if (!total) {
      total = contiguous_copy(*tensor);
      continue;
    }
    std::vector<double> sum = values_as_double(*total);
    const std::vector<double> more = values_as_double(*tensor);
    for (std::size_t i = 0; i < sum.size() && i < more.size(); ++i) sum[i] += more[i];
    fill_from_double(*total, sum);
  }
  return total;
}

}  // namespace

RuntimeValue cotangent_of(const RuntimeValue& output, std::size_t position, Loss loss) {
  const Tensor* tensor = output.as<Tensor>();
  if (tensor == nullptr || !(is_float(tensor->dtype) || is_complex(tensor->dtype))) return {};
  Tensor result = make_tensor(tensor->dtype, tensor->geometry.sizes);
  const std::size_t parts = is_complex(tensor->dtype) ? 2 : 1;
  std::vector<double> values;
  for (std::int64_t k = 0; k < result.elements(); ++k) {
    values.push_back(
        loss == Loss::Sum ? 1.0 : static_cast<double>(k % 3 + 1) + static_cast<double>(position));
    if (parts == 2) values.push_back(0.0);
  }
  fill_from_double(result, values);
  return {std::move(result)};
}

std::optional<ForwardReturn> forward_return(const Trace& trace) {
  const std::vector<const Value*> parts = returned_parts(trace);
  if (parts.size() != 2 || parts[0]->kind != ValueKind::Dict) return std::nullopt;
  const Value* arguments = dict_entry(*parts[0], "flat_args");
  if (arguments == nullptr || !parts[1]->is_collection()) return std::nullopt;
  ForwardReturn result;
  result.flat_args = leaf_texts(*arguments);
  for (const Value& group : parts[1]->items) result.saved.push_back(leaf_texts(group));
  return result;
}

std::optional<JointReturn> joint_return(const Trace& trace) {
  const Value* value = return_value(trace);
  if (value == nullptr) return std::nullopt;
  const Value* outputs = dict_entry(*value, "fw_flat_out");
  const Value* arguments = dict_entry(*value, "flat_args");
  if (outputs == nullptr || arguments == nullptr) return std::nullopt;
  return JointReturn{leaf_texts(*arguments), leaf_texts(*outputs)};
}

bool saves_for(const ForwardReturn& forward, const Trace& backward) {
  if (backward.parameters.empty()) return false;
  const BoundSymbol* groups = unpacking_of(backward, backward.parameters.front().name);
  if (groups == nullptr) return true;  // nothing is unpacked
  if (groups->output.items.size() != forward.saved.size()) return false;
  for (std::size_t g = 0; g < forward.saved.size(); ++g) {
    const BoundSymbol* unpacked = unpacking_of(backward, groups->output.items[g].text);
    if (unpacked == nullptr) continue;  // nothing of it is read
    const std::vector<Value>& targets = unpacked->output.items;
    if (targets.size() != forward.saved[g].size()) return false;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i].text != "_" && targets[i].text != forward.saved[g][i]) return false;
    }
  }
  return true;
}

const RuntimeValue* returned_entry(const RuntimeValue& returned, std::string_view key) {
  const Mapping* mapping = returned.as<Mapping>();
  if (const Sequence* pair = returned.as<Sequence>(); pair != nullptr && !pair->items.empty()) {
    mapping = pair->items.front().as<Mapping>();
  }
  if (mapping == nullptr) return nullptr;
  for (const MappingItem& item : mapping->items) {
    if (item.key == key) return &item.value;
  }
  return nullptr;
}

std::vector<NamedValue> named_gradients(const RuntimeValue& gradients,
                                        const std::vector<std::string>& flat_args,
                                        const InputBinding& binding) {
  std::vector<RuntimeValue> flat;
  if (const Sequence* sequence = gradients.as<Sequence>()) {
    flat = sequence->items;
  } else {
    flat.push_back(gradients);
  }
  std::unordered_map<std::string_view, std::size_t> positions;
  const std::vector<NamedValue>& arguments = binding.inputs.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) positions.emplace(arguments[i].name, i);
  std::vector<NamedValue> named;
  for (std::size_t i = 0; i < flat.size() && i < flat_args.size(); ++i) {
    // An argument that is written has a newer name in the list: then its place tells.
    std::size_t position = flat_args.size() == arguments.size() ? i : arguments.size();
    if (const auto found = positions.find(flat_args[i]); found != positions.end()) {
      position = found->second;
    }
    if (position >= arguments.size()) continue;
    named.push_back({binding.recorded_names[position], std::move(flat[i])});
  }
  return named;
}

std::vector<std::string> gradient_differences(const std::vector<NamedValue>& gradients,
                                              const RecordedRun& recorded,
                                              const Recording& recording) {
  std::vector<std::string> out;
  RunResult here;
  RecordedRun there;
  for (const RecordedValue& expected : recorded.gradients) {
    const std::optional<Tensor> tensor = gradient_of(expected.name, gradients, recording);
    if (!tensor) {
      if (expected.tensor) out.push_back(fmt::format("gradient of {}: none here", expected.name));
      continue;
    }
    if (!expected.tensor) {
      out.push_back(fmt::format("gradient of {}: only here", expected.name));
      continue;
    }
    RecordedValue renamed = expected;
    renamed.name = "gradient of " + expected.name;
    renamed.tensor->geometry = contiguous_geometry(expected.tensor->geometry.sizes);
    renamed.tensor->storage = fmt::format("gradient{}", there.outputs.size());
    here.outputs.push_back(
        {fmt::format("out[{}]", here.outputs.size()), {contiguous_copy(*tensor)}});
    there.outputs.push_back(std::move(renamed));
  }
  for (std::string& part : differences(here, there, recording)) out.push_back(std::move(part));
  return out;
}

}  // namespace tg::golden
