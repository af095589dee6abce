// Prologues: on the recorded inputs every check of the text holds, and what it hands to the
// computation are those inputs.
#include "core/golden/prologue_checks.h"

#include <algorithm>

#include <fmt/format.h>

namespace tg::golden {
namespace {

// One step of "args[0]['w']": an index or a key.
struct PathStep {
  std::optional<std::size_t> index;
  std::string key;
};

// "args[0]['w']" without its first word; empty optional: not understood.
std::optional<std::vector<PathStep>> steps_of(std::string_view path) {
  std::vector<PathStep> steps;
  while (!path.empty()) {
    const std::size_t close = path.find(']');
    if (path.front() != '[' || close == path.npos || close < 2) return std::nullopt;
    const std::string_view inside = path.substr(1, close - 1);
    if (inside.front() == '\'') {
      steps.push_back({std::nullopt, std::string(inside.substr(1, inside.size() - 2))});
    } else {
      if (inside.find_first_not_of("0123456789") != inside.npos) return std::nullopt;
      steps.push_back({static_cast<std::size_t>(std::atoi(std::string(inside).c_str())), {}});
    }
    path.remove_prefix(close + 1);
  }
  return steps;
}

// Puts `value` where the steps lead, making collections on the way. False: the paths contradict.
bool put(RuntimeValue& into, const std::vector<PathStep>& steps, std::size_t next,
         const RuntimeValue& value) {
  if (next == steps.size()) {
    into = value;
    return true;
  }
  const PathStep& step = steps[next];
  if (step.index) {
    if (into.as<NoneValue>() != nullptr) into = {Sequence{}};
    Sequence* sequence = into.as<Sequence>();
    if (sequence == nullptr || *step.index > 1000) return false;
    if (sequence->items.size() <= *step.index) sequence->items.resize(*step.index + 1);
    return put(sequence->items[*step.index], steps, next + 1, value);
  }
  if (into.as<NoneValue>() != nullptr) into = {Mapping{}};
  Mapping* mapping = into.as<Mapping>();
  if (mapping == nullptr) return false;
  for (MappingItem& item : mapping->items) {
    if (item.key == step.key) return put(item.value, steps, next + 1, value);
  }
  mapping->items.push_back({step.key, {}});
  return put(mapping->items.back().value, steps, next + 1, value);
}

// The recorded inputs under the names that a prologue uses.
std::optional<RunInputs> prologue_inputs(const Trace& prologue,
                                         const std::vector<NamedValue>& recorded) {
  RuntimeValue args{Sequence{}};
  RuntimeValue kwargs{Mapping{}};
  RunInputs inputs;
  const auto find = [&recorded](const std::string& name) -> const RuntimeValue* {
    for (const NamedValue& value : recorded) {
      if (value.name == name) return &value.value;
    }
    return nullptr;
  };
  for (const NamedValue& value : recorded) {
    for (const auto& [word, whole] : {std::pair{"args", &args}, std::pair{"kwargs", &kwargs}}) {
      if (!value.name.starts_with(std::string(word) + "[")) continue;
      const auto steps = steps_of(std::string_view(value.name).substr(std::string(word).size()));
      if (!steps || !put(*whole, *steps, 0, value.value)) return std::nullopt;
    }
  }
  for (const BoundSymbolRef& statement : prologue.bound_symbols) {
    const bool access = statement->kind == StatementKind::UnpackAccess && !statement->args.empty();
    if (statement->kind != StatementKind::Call && !access) continue;
    const Value right =
        access ? statement->args.front() : Value::call(statement->callee, statement->args);
    if (right.items.empty()) continue;
    const std::string key = string_content(right.items.back());
    const std::string text = to_text(right);
    std::vector<std::string> names;
    if (text.find(".get_parameter(") != std::string::npos ||
        text.find(".get_buffer(") != std::string::npos) {
      names = {"param:" + key, "buffer:" + key, "module." + key};
    } else if (right.kind == ValueKind::Subscript) {
      names = {"global." + key};
    }
    for (const std::string& name : names) {
      if (const RuntimeValue* value = find(name)) inputs.outside.push_back({text, *value});
    }
  }
  for (const Parameter& parameter : prologue.parameters) {
    if (parameter.prefix == "*") inputs.arguments.push_back({parameter.name, args});
    if (parameter.prefix == "**") inputs.arguments.push_back({parameter.name, kwargs});
  }
  return inputs;
}

void append_flat(const RuntimeValue& value, std::vector<RuntimeValue>& flat) {
  if (const Sequence* sequence = value.as<Sequence>()) {
    for (const RuntimeValue& item : sequence->items) append_flat(item, flat);
  } else {
    flat.push_back(value);
  }
}

bool same_input(const RuntimeValue& a, const RuntimeValue& b) {
  const Tensor* left = a.as<Tensor>();
  const Tensor* right = b.as<Tensor>();
  if ((left == nullptr) != (right == nullptr)) return false;
  if (left == nullptr) return a.value.index() == b.value.index();
  return left->dtype == right->dtype && left->geometry == right->geometry &&
         left->storage->bytes == right->storage->bytes;
}

}  // namespace

void check_prologue(const Trace& prologue, const Trace& computation, const Recording& recording,
                    const std::string& path, Checks& checks) {
  const Result<InputBinding> binding = bind_recording(recording, computation, &prologue);
  if (!binding) return checks.not_supported("prologue", path, binding.error().message);
  std::vector<NamedValue> recorded = binding->unbound;
  for (std::size_t i = 0; i < binding->recorded_names.size(); ++i)
    recorded.push_back({binding->recorded_names[i], binding->inputs.arguments[i].value});
  for (const RecordedValue& input : recording.inputs) {
    if (!input.tensor && input.number) recorded.push_back({input.name, *input.number});
  }
  const std::optional<RunInputs> inputs = prologue_inputs(prologue, recorded);
  if (!inputs)
    return checks.not_supported("prologue", path, "the recorded paths are not understood");
  const Expected<RunResult, RunError> result = run(prologue, *inputs);
  if (!result) {
    const RunError& error = result.error();
    if (error.kind == RunErrorKind::RaisesAsTorch)
      return checks.fail("prologue", path, fmt::format("{}: {}", error.type, error.message));
    return checks.not_supported("prologue", path, error.message);
  }
  const Sequence* pair = result->returned.as<Sequence>();
  if (pair == nullptr || pair->items.empty())
    return checks.fail("prologue", path, "it returns no arguments");
  std::vector<RuntimeValue> flat;
  append_flat(pair->items.front(), flat);
  const std::vector<NamedValue>& arguments = binding->inputs.arguments;
  if (flat.size() != arguments.size()) {
    return checks.fail(
        "prologue", path,
        fmt::format("it returns {} values for {} arguments", flat.size(), arguments.size()));
  }
  for (std::size_t i = 0; i < flat.size(); ++i) {
    if (same_input(flat[i], arguments[i].value)) continue;
    return checks.fail("prologue", path,
                       fmt::format("argument '{}' is not the recorded input '{}'",
                                   arguments[i].name, binding->recorded_names[i]));
  }
  checks.pass("prologue", path);
}

}  // namespace tg::golden
