// Recorded tensors become tensors: inputs for a run, and recorded runs in the shape of a run's
// result.
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/run/recording.h"

namespace tg {
namespace {

// A recording is small; more than this is damage.
constexpr std::int64_t kMaxStorageBytes = std::int64_t{1} << 32;

// Makes one Storage per storage id, large enough for every window that is declared before the first
// use.
class StoragePool {
 public:
  // False: the window is impossibly large.
  bool declare(const RecordedTensor& tensor) {
    const auto bytes_each = static_cast<std::int64_t>(size_bytes(tensor.dtype));
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(element_span(tensor.geometry).end, bytes_each, &bytes)) return false;
    if (tensor.storage_values) {
      const std::int64_t parts = is_complex(tensor.dtype) ? 2 : 1;
      bytes = std::max(
          bytes, static_cast<std::int64_t>(tensor.storage_values->size()) / parts * bytes_each);
    }
    if (bytes > kMaxStorageBytes) return false;
    if (!tensor.storage.empty()) {
      std::int64_t& known = sizes_[tensor.storage];
      known = std::max(known, bytes);
    }
    return true;
  }

  // Requires that every tensor of the pool was declared. Whole-storage values are written first,
  // the window's own values last.
  Tensor place(const RecordedTensor& recorded) {
    Tensor tensor;
    tensor.dtype = recorded.dtype;
    tensor.geometry = recorded.geometry;
    tensor.storage = storage_of(recorded);
    if (recorded.storage_values) write_whole(recorded, tensor.storage);
    if (!recorded.integers.empty()) {
      fill_from_int(tensor, recorded.integers);
    } else if (!recorded.values.empty()) {
      fill_from_double(tensor, recorded.values);
    }
    return tensor;
  }

 private:
  std::shared_ptr<Storage> storage_of(const RecordedTensor& recorded) {
    if (recorded.storage.empty()) {
      auto fresh = std::make_shared<Storage>();
      fresh->bytes.resize(static_cast<std::size_t>(element_span(recorded.geometry).end) *
                          size_bytes(recorded.dtype));
      fresh->number = count_++;
      return fresh;
    }
    std::shared_ptr<Storage>& storage = storages_[recorded.storage];
    if (!storage) {
      storage = std::make_shared<Storage>();
      storage->bytes.resize(static_cast<std::size_t>(sizes_[recorded.storage]));
      storage->number = count_++;
    }
    return storage;
  }

  static void write_whole(const RecordedTensor& recorded, const std::shared_ptr<Storage>& storage) {
    Tensor whole;
    whole.dtype = recorded.dtype;
    const std::size_t parts = is_complex(recorded.dtype) ? 2 : 1;
    whole.geometry =
        contiguous_geometry({static_cast<std::int64_t>(recorded.storage_values->size() / parts)});
    whole.storage = storage;
    fill_from_double(whole, *recorded.storage_values);
  }

  std::unordered_map<std::string, std::int64_t> sizes_;
  std::unordered_map<std::string, std::shared_ptr<Storage>> storages_;
  std::uint32_t count_ = 0;
};

Diagnostic mismatch(DiagnosticCode code, std::string message, std::string subject) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.subject = std::move(subject);
  return diagnostic;
}

// ---- the prologue: which path is which name

class PrologueReader {
 public:
  explicit PrologueReader(const Trace& prologue) {
    for (const Parameter& parameter : prologue.parameters) paths_[parameter.name] = parameter.name;
    for (const BoundSymbolRef& statement : prologue.bound_symbols) read(*statement);
  }

  [[nodiscard]] const std::string* path(std::string_view name) const {
    const auto found = paths_.find(std::string(name));
    return found == paths_.end() ? nullptr : &found->second;
  }
  // The computation's parameters in order, as the prologue calls them.
  [[nodiscard]] const std::vector<std::string>& returned() const { return returned_; }

 private:
  void read(const BoundSymbol& statement) {
    if (statement.kind == StatementKind::Return && !statement.args.empty()) {
      const Value& value = statement.args.front();
      if (!value.is_collection() || value.items.empty()) return;
      for (const Value& item : value.items.front().items) returned_.push_back(item.text);
      return;
    }
    if (statement.kind == StatementKind::UnpackSequence && !statement.args.empty()) {
      const std::string sequence = path_text(statement.args.front());
      for (std::size_t i = 0; i < statement.output.items.size(); ++i) {
        paths_[statement.output.items[i].text] = fmt::format("{}[{}]", sequence, i);
      }
      return;
    }
    if (!statement.output.is_name()) return;
    if (statement.kind == StatementKind::UnpackAccess && !statement.args.empty()) {
      paths_[statement.output.text] = path_text(statement.args.front());
    } else if (statement.kind == StatementKind::Call) {
      paths_[statement.output.text] = path_text(Value::call(statement.callee, statement.args));
    }
  }

  [[nodiscard]] std::string path_text(const Value& value) const {
    if (value.is_name()) {
      const std::string* known = path(value.text);
      return known != nullptr ? *known : value.text;
    }
    if (value.kind == ValueKind::Subscript && value.items.size() == 2) {
      const std::string object = path_text(value.items[0]);
      // `globals()['STATE']` and `fn.__globals__['STATE']` are recorded as global.STATE
      if (object == "globals()" || object.ends_with(".__globals__")) {
        return "global." + string_content(value.items[1]);
      }
      return fmt::format("{}[{}]", object, to_text(value.items[1]));
    }
    if (value.kind == ValueKind::Call && !value.items.empty()) {
      // get_parameter and get_buffer give tensors of the module, whatever the module is called.
      const std::string_view called = base_name(value.text);
      if (called == "get_parameter" || called == "get_buffer") {
        return "module:" + string_content(value.items.front());
      }
    }
    if (value.kind == ValueKind::Attribute && !value.items.empty()) {
      return fmt::format("{}.{}", path_text(value.items.front()), value.text);
    }
    return to_text(value);
  }

  std::unordered_map<std::string, std::string> paths_;
  std::vector<std::string> returned_;
};

class InputFinder {
 public:
  explicit InputFinder(const Recording& recording) {
    for (const RecordedValue& input : recording.inputs) by_name_.emplace(input.name, &input);
  }
  [[nodiscard]] const RecordedValue* find(const std::string& path) const {
    if (const RecordedValue* exact = exactly(path)) return exact;
    constexpr std::string_view kModule = "module:";
    if (!path.starts_with(kModule)) return nullptr;
    const std::string rest = path.substr(kModule.size());
    for (const char* prefix : {"param:", "buffer:", "module."}) {
      if (const RecordedValue* found = exactly(prefix + rest)) return found;
    }
    return nullptr;
  }

 private:
  [[nodiscard]] const RecordedValue* exactly(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  std::unordered_map<std::string, const RecordedValue*> by_name_;
};

// A number that is written into the annotation: "int 3", "float 0.5", "bool True".
std::optional<RuntimeValue> annotated_number(const Type* type) {
  if (type == nullptr || type->value.empty() || type->value == "?") return std::nullopt;
  char* end = nullptr;
  switch (type->kind) {
    case TypeKind::Bool:
      return RuntimeValue{type->value == "True"};
    case TypeKind::Int:
      return RuntimeValue{static_cast<std::int64_t>(std::strtoll(type->value.c_str(), &end, 10))};
    case TypeKind::Float:
      return RuntimeValue{std::strtod(type->value.c_str(), &end)};
    case TypeKind::Unknown:
    case TypeKind::Tensor:
    case TypeKind::FutureTensor:
    case TypeKind::DistributedTensor:
    case TypeKind::Complex:
    case TypeKind::String:
    case TypeKind::Collection:
    case TypeKind::Any:
    case TypeKind::Class:
    case TypeKind::Opaque:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Diagnostic> check_annotation(const std::string& parameter, const Type* type,
                                           const RecordedTensor& tensor) {
  if (type == nullptr || !type->is_concrete_tensor()) return std::nullopt;
  if (*type->shape == tensor.geometry.sizes && *type->dtype == tensor.dtype) return std::nullopt;
  return mismatch(DiagnosticCode::InputMismatch,
                  fmt::format("argument '{}' is annotated {}{}, the recording gives {}{}",
                              parameter, short_name(*type->dtype), python_tuple(*type->shape),
                              short_name(tensor.dtype), python_tuple(tensor.geometry.sizes)),
                  parameter);
}

}  // namespace

Result<InputBinding> bind_recording(const Recording& recording, const Trace& trace,
                                    const Trace* prologue) {
  const InputFinder finder(recording);
  std::optional<PrologueReader> reader;
  if (prologue != nullptr) reader.emplace(*prologue);
  const TypeTable types(trace);

  StoragePool pool;
  for (const RecordedValue& input : recording.inputs) {
    if (input.tensor && !pool.declare(*input.tensor)) {
      return Unexpected{mismatch(DiagnosticCode::TooLarge,
                                 fmt::format("{}: '{}' is too large", recording.id, input.name),
                                 input.name)};
    }
  }

  InputBinding binding;
  std::unordered_set<const RecordedValue*> bound;
  for (std::size_t i = 0; i < trace.parameters.size(); ++i) {
    const std::string& name = trace.parameters[i].name;
    const RecordedValue* found = finder.find(name);
    std::string path = name;
    if (reader) {
      const bool positional = reader->returned().size() == trace.parameters.size();
      const std::string* known = reader->path(name);
      if (known == nullptr && positional) known = reader->path(reader->returned()[i]);
      if (known != nullptr) {
        path = *known;
        found = finder.find(path);
      }
    }
    const Type* type = types.find(name);
    if (found == nullptr) {
      const std::optional<RuntimeValue> number = annotated_number(type);
      if (!number) {
        return Unexpected{mismatch(
            DiagnosticCode::UnknownArgument,
            fmt::format("{}: no recorded input for argument '{}' ({})", recording.id, name, path),
            name)};
      }
      binding.inputs.arguments.push_back({name, *number});
      binding.recorded_names.push_back(path);
      continue;
    }
    binding.recorded_names.push_back(found->name);
    if (!found->tensor) {
      binding.inputs.arguments.push_back({name, found->number.value_or(RuntimeValue{NoneValue{}})});
      continue;
    }
    if (std::optional<Diagnostic> wrong = check_annotation(name, type, *found->tensor)) {
      return Unexpected{*std::move(wrong)};
    }
    if (found->tensor->values.empty() && element_count(found->tensor->geometry) > 0) {
      return Unexpected{mismatch(
          DiagnosticCode::InputMismatch,
          fmt::format("{}: the values of '{}' were not recorded", recording.id, found->name),
          name)};
    }
    bound.insert(found);
    binding.inputs.arguments.push_back({name, RuntimeValue{pool.place(*found->tensor)}});
  }
  for (const RecordedValue& input : recording.inputs) {
    if (!input.tensor || bound.contains(&input)) continue;
    binding.unbound.push_back({input.name, RuntimeValue{pool.place(*input.tensor)}});
  }
  return binding;
}

Result<RunInputs> inputs_from_recording(const Recording& recording, const Trace& trace,
                                        const Trace* prologue) {
  Result<InputBinding> binding = bind_recording(recording, trace, prologue);
  if (!binding) return Unexpected{binding.error()};
  return std::move(binding->inputs);
}

RunResult with_recorded_names(RunResult result, const InputBinding& binding) {
  std::unordered_map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < binding.inputs.arguments.size(); ++i) {
    positions.emplace(binding.inputs.arguments[i].name, i);
  }
  // A run works on copies of the storages: which copy belongs to which.
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> copies;
  for (NamedValue& argument : result.final_arguments) {
    const auto found = positions.find(argument.name);
    if (found == positions.end()) continue;
    const Tensor* before = binding.inputs.arguments[found->second].value.as<Tensor>();
    const Tensor* after = argument.value.as<Tensor>();
    if (before != nullptr && after != nullptr) copies[before->storage.get()] = after->storage;
    argument.name = binding.recorded_names[found->second];
  }
  for (const NamedValue& value : binding.unbound) {
    NamedValue last = value;
    if (Tensor* tensor = last.value.as<Tensor>()) {
      const auto copy = copies.find(tensor->storage.get());
      if (copy != copies.end()) tensor->storage = copy->second;
    }
    result.final_arguments.push_back(std::move(last));
  }
  return result;
}

RunResult as_run_result(const RecordedRun& recorded) {
  StoragePool pool;
  bool possible = true;
  for (const std::vector<RecordedValue>* list : {&recorded.final_inputs, &recorded.outputs}) {
    for (const RecordedValue& value : *list) {
      if (value.tensor) possible = pool.declare(*value.tensor) && possible;
    }
  }
  RunResult result;
  if (!possible) return result;
  const auto place = [&](const RecordedValue& value) {
    if (value.tensor) return RuntimeValue{pool.place(*value.tensor)};
    return value.number.value_or(RuntimeValue{NoneValue{}});
  };
  for (const RecordedValue& value : recorded.final_inputs) {
    result.final_arguments.push_back({value.name, place(value)});
  }
  Sequence returned;
  for (std::size_t i = 0; i < recorded.outputs.size(); ++i) {
    RuntimeValue value = place(recorded.outputs[i]);
    returned.items.push_back(value);
    result.outputs.push_back({fmt::format("out[{}]", i), std::move(value)});
  }
  result.returned = {std::move(returned)};
  return result;
}

}  // namespace tg
