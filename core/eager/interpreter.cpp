#include "core/eager/interpreter.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "core/eager/evaluate.h"
#include "core/eager/kernel.h"
#include "core/eager/run_plan.h"

namespace tg {
namespace {

constexpr std::uint32_t kDeepest = 200;

Expected<RunResult, RunError> fail(RunErrorKind kind, std::string message) {
  RunError error;
  error.kind = kind;
  error.message = std::move(message);
  return Unexpected{std::move(error)};
}

// Copies values so that tensors which shared a storage share the copy.
class InputCopier {
 public:
  explicit InputCopier(RunContext& run) : run_(run) {}

  [[nodiscard]] bool copy(RuntimeValue& value) {
    if (Tensor* tensor = value.as<Tensor>()) return copy_tensor(*tensor);
    if (Sequence* sequence = value.as<Sequence>()) {
      return std::all_of(sequence->items.begin(), sequence->items.end(),
                         [this](RuntimeValue& item) { return copy(item); });
    }
    if (Mapping* mapping = value.as<Mapping>()) {
      return std::all_of(mapping->items.begin(), mapping->items.end(),
                         [this](auto& item) { return copy(item.second); });
    }
    return true;
  }

 private:
  bool copy_tensor(Tensor& tensor) {
    if (tensor.storage == nullptr) return false;
    std::shared_ptr<Storage>& copied = copies_[tensor.storage.get()];
    if (copied == nullptr) {
      copied = allocate_storage(run_, tensor.storage->bytes.size());
      if (copied == nullptr) return false;
      copied->bytes = tensor.storage->bytes;
      copied->version = tensor.storage->version;
    }
    tensor.storage = copied;
    return true;
  }

  RunContext& run_;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> copies_;
};

class Interpreter {
 public:
  Interpreter(const Trace& trace, RunContext& run)
      : trace_(trace), run_(run), types_(trace), plan_(trace) {}

  Environment& names() { return names_; }
  [[nodiscard]] bool returned() const { return returned_; }
  RuntimeValue take_result() { return std::move(result_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }

  // False: stopped with error(), at statement `index`.
  bool step(std::uint32_t index) {
    index_ = index;
    const BoundSymbol& statement = *trace_.bound_symbols[index];
    if (!check_limits()) return locate(statement);
    if (!run_statement(statement, names_, 0)) return locate(statement);
    return true;
  }
  [[nodiscard]] const RunError& error() const { return error_; }

 private:
  bool stop(RunErrorKind kind, std::string message, std::string type = {}) {
    error_ = {};
    error_.kind = kind;
    error_.type = std::move(type);
    error_.message = std::move(message);
    return false;
  }

  bool locate(const BoundSymbol& statement) {
    error_.statement = index_;
    if (error_.at.line == 0) error_.at = statement.at;
    return false;
  }

  bool check_limits() {
    if (run_.stop.stop_requested()) return stop(RunErrorKind::Cancelled, "the run was interrupted");
    if (std::chrono::steady_clock::now() > run_.deadline) {
      return stop(RunErrorKind::TimedOut,
                  fmt::format("the run took longer than {} ms", run_.limits.time.count()));
    }
    return true;
  }

  Expected<RuntimeValue, std::string> value_of(const Value& value, const Environment& names,
                                               const BoundSymbol& statement) {
    return evaluate(value, {names, types_, &statement});
  }

  bool run_statement(const BoundSymbol& statement, Environment& names, std::uint32_t depth) {
    if (depth > kDeepest) return stop(RunErrorKind::BadProgram, "sub-statements nest too deep");
    switch (statement.kind) {
      case StatementKind::Call:
        return run_call(statement, names, depth);
      case StatementKind::UnpackTrivial:
      case StatementKind::Print:
      case StatementKind::Comment:
        return true;
      case StatementKind::UnpackSequence:
      case StatementKind::UnpackAccess:
      case StatementKind::PackList:
      case StatementKind::EmptyCollection:
        return run_unpack(statement, names);
      case StatementKind::PackAssign:
        return run_pack(statement, names);
      case StatementKind::Del:
        for_each_leaf(statement.args.empty() ? Value{} : Value::tuple(statement.args),
                      [&names](const Value& leaf) {
                        if (leaf.is_name()) names.unbind(leaf.text);
                      });
        return true;
      case StatementKind::Return:
        return run_return(statement, names, depth);
      case StatementKind::Elision:
        return stop(RunErrorKind::BadProgram, "lines were left out here; what they did is unknown");
      case StatementKind::Unparsed:
        return stop(RunErrorKind::BadProgram, "this line is no statement");
    }
    return true;
  }

  bool run_unpack(const BoundSymbol& statement, Environment& names) {
    if (statement.args.empty()) return true;
    Expected<RuntimeValue, std::string> value = value_of(statement.args.front(), names, statement);
    if (!value) return stop(RunErrorKind::BadProgram, value.error());
    return bind_output(statement.output, std::move(*value), names);
  }

  // `d0['k'] = t3`: collections are values here, so the entry is replaced in the binding.
  bool run_pack(const BoundSymbol& statement, Environment& names) {
    if (statement.args.empty() || statement.output.kind != ValueKind::Subscript) return true;
    const Value& object = statement.output.items.front();
    const RuntimeValue* bound = object.is_name() ? names.find(object.text) : nullptr;
    if (bound == nullptr) return true;
    Expected<RuntimeValue, std::string> key =
        value_of(statement.output.items.back(), names, statement);
    Expected<RuntimeValue, std::string> value = value_of(statement.args.front(), names, statement);
    if (!key) return stop(RunErrorKind::BadProgram, key.error());
    if (!value) return stop(RunErrorKind::BadProgram, value.error());
    RuntimeValue changed = *bound;
    if (Mapping* mapping = changed.as<Mapping>();
        mapping != nullptr && key->as<StringValue>() != nullptr) {
      const std::string& name = key->as<StringValue>()->text;
      const auto found = std::find_if(mapping->items.begin(), mapping->items.end(),
                                      [&name](const auto& item) { return item.first == name; });
      if (found != mapping->items.end()) {
        found->second = std::move(*value);
      } else {
        mapping->items.emplace_back(name, std::move(*value));
      }
    } else if (Sequence* sequence = changed.as<Sequence>();
               sequence != nullptr && key->as<std::int64_t>() != nullptr) {
      const std::int64_t at = *key->as<std::int64_t>();
      if (at >= 0 && at < static_cast<std::int64_t>(sequence->items.size())) {
        sequence->items[static_cast<std::size_t>(at)] = std::move(*value);
      }
    }
    names.bind(object.text, std::move(changed));
    return true;
  }

  bool run_return(const BoundSymbol& statement, Environment& names, std::uint32_t depth) {
    if (depth != 0) return true;
    returned_ = true;
    if (statement.args.empty()) return true;
    const Value all =
        statement.args.size() == 1 ? statement.args.front() : Value::tuple(statement.args);
    Expected<RuntimeValue, std::string> value = value_of(all, names, statement);
    if (!value) return stop(RunErrorKind::BadProgram, value.error());
    result_ = std::move(*value);
    return true;
  }

  bool bind_output(const Value& target, RuntimeValue value, Environment& names) {
    switch (target.kind) {
      case ValueKind::Name:
        if (target.text != "_") names.bind(target.text, std::move(value));
        return true;
      case ValueKind::Tuple:
      case ValueKind::List: {
        Sequence* sequence = value.as<Sequence>();
        if (sequence == nullptr) {
          if (target.items.size() == 1)
            return bind_output(target.items.front(), std::move(value), names);
          return stop(RunErrorKind::BadProgram,
                      fmt::format("'{}' names {} results and there is one", to_text(target),
                                  target.items.size()));
        }
        if (sequence->items.size() != target.items.size()) {
          return stop(RunErrorKind::BadProgram,
                      fmt::format("'{}' names {} results and there are {}", to_text(target),
                                  target.items.size(), sequence->items.size()));
        }
        for (std::size_t i = 0; i < target.items.size(); ++i) {
          if (!bind_output(target.items[i], std::move(sequence->items[i]), names)) return false;
        }
        return true;
      }
      case ValueKind::Dict: {
        const Mapping* mapping = value.as<Mapping>();
        for (std::size_t i = 0; mapping != nullptr && i + 1 < target.items.size(); i += 2) {
          const std::string key = string_content(target.items[i]);
          for (const auto& [name, item] : mapping->items) {
            if (name == key && !bind_output(target.items[i + 1], item, names)) return false;
          }
        }
        return true;
      }
      case ValueKind::Absent:
      case ValueKind::Dotted:
      case ValueKind::Int:
      case ValueKind::Float:
      case ValueKind::Complex:
      case ValueKind::Bool:
      case ValueKind::None:
      case ValueKind::Ellipsis:
      case ValueKind::String:
      case ValueKind::Call:
      case ValueKind::Keyword:
      case ValueKind::Subscript:
      case ValueKind::Attribute:
      case ValueKind::Method:
      case ValueKind::Opaque:
        return true;  // `(None, t1) = f()`: the literal says what comes back
    }
    return true;
  }

  bool run_call(const BoundSymbol& statement, Environment& names, std::uint32_t depth) {
    switch (run_mode(statement)) {
      case RunMode::Nothing:
        return true;
      case RunMode::Operation:
        if (depth == 0 && plan_.runs_by_substatements(index_)) {
          notes_.push_back(fmt::format(
              "'{}' ran by its sub-statements: a later line reads a name that only they define",
              statement.callee));
          return run_substatements(statement, names, depth);
        }
        return run_kernel(statement, names);
      case RunMode::Substatements:
        return run_substatements(statement, names, depth);
      case RunMode::Impossible:
        return stop(RunErrorKind::NotSupported, why_impossible(statement));
    }
    return true;
  }

  bool run_kernel(const BoundSymbol& statement, Environment& names) {
    const Callee callee = callee_of(statement);
    KernelCall call(run_, info(callee.op), statement.callee);
    std::vector<RuntimeValue> positional;
    std::vector<NamedValue> keywords;
    if (!callee.receiver.empty()) {
      const RuntimeValue* receiver = names.find(callee.receiver);
      if (receiver == nullptr) {
        return stop(RunErrorKind::NotSupported,
                    fmt::format("the operation '{}' is unknown", statement.callee));
      }
      positional.push_back(*receiver);
    }
    for (const Value& arg : statement.args) {
      Expected<RuntimeValue, std::string> value = value_of(arg, names, statement);
      if (!value) return stop(RunErrorKind::BadProgram, value.error());
      if (arg.kind == ValueKind::Keyword) {
        keywords.push_back({arg.text, std::move(*value)});
      } else {
        positional.push_back(std::move(*value));
      }
    }
    call.bind(std::move(positional), std::move(keywords));
    RuntimeValue result = run_operation(call);
    if (call.failed()) {
      error_ = *call.error();
      return false;
    }
    return bind_output(statement.output, std::move(result), names);
  }

  // A scope of their own: `# x = ltorch.to(t0, ...)` must not rebind an outer x. Out of it come the
  // statement's own targets, and names that later statements read and nothing else defines.
  bool run_substatements(const BoundSymbol& statement, Environment& names, std::uint32_t depth) {
    Environment inner(&names);
    for (const BoundSymbolRef& sub : statement.subsymbols) {
      if (!check_limits()) return false;
      if (!run_statement(*sub, inner, depth + 1)) {
        if (error_.at.line == 0) error_.at = sub->at;
        return false;
      }
    }
    std::unordered_set<std::string_view> targets;
    for (const std::string_view target : output_names(statement)) {
      const RuntimeValue* value = inner.find(target);
      if (value == nullptr) {
        return stop(RunErrorKind::BadProgram,
                    fmt::format("no sub-statement of '{}' defines '{}'", statement.callee, target));
      }
      targets.insert(target);
      names.bind(target, RuntimeValue(*value));
    }
    for (const auto& [name, value] : inner.bindings()) {
      const bool exported = depth == 0 && !targets.contains(name) && names.find(name) == nullptr &&
                            plan_.read_after(name, index_);
      if (exported) names.bind(name, value);
    }
    return true;
  }

  const Trace& trace_;
  RunContext& run_;
  TypeTable types_;
  RunPlan plan_;
  Environment names_;
  RuntimeValue result_{NoneValue{}};
  bool returned_ = false;
  std::uint32_t index_ = 0;
  std::vector<std::string> notes_;
  RunError error_;
};

// Leaves in Thunder's flattening order: dicts by sorted key.
void collect_leaves(const RuntimeValue& value, std::vector<NamedValue>& leaves) {
  if (const Sequence* sequence = value.as<Sequence>()) {
    for (const RuntimeValue& item : sequence->items) collect_leaves(item, leaves);
  } else if (const Mapping* mapping = value.as<Mapping>()) {
    std::vector<const std::pair<std::string, RuntimeValue>*> sorted;
    for (const auto& item : mapping->items) sorted.push_back(&item);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->first < b->first; });
    for (const auto* item : sorted) collect_leaves(item->second, leaves);
  } else {
    leaves.push_back({fmt::format("out[{}]", leaves.size()), value});
  }
}

const RuntimeValue* entry(const Mapping& mapping, std::string_view key) {
  for (const auto& [name, item] : mapping.items) {
    if (name == key) return &item;
  }
  return nullptr;
}

// What the user gets: {'output': ...} unwrapped, also inside (that, saved_for_backward).
const RuntimeValue& user_result(const RuntimeValue& returned) {
  const RuntimeValue* inner = &returned;
  if (const Sequence* pair = returned.as<Sequence>(); pair != nullptr && !pair->items.empty()) {
    const Mapping* first = pair->items.front().as<Mapping>();
    if (first != nullptr && entry(*first, "output") != nullptr) inner = &pair->items.front();
  }
  if (const Mapping* mapping = inner->as<Mapping>()) {
    if (const RuntimeValue* output = entry(*mapping, "output")) return *output;
  }
  return returned;
}

}  // namespace

const RuntimeValue* Environment::find(std::string_view name) const {
  const auto found = bindings_.find(name);
  if (found != bindings_.end()) return &found->second;
  return outer_ != nullptr ? outer_->find(name) : nullptr;
}

void Environment::bind(std::string_view name, RuntimeValue value) {
  const auto found = bindings_.find(name);
  if (found != bindings_.end()) {
    found->second = std::move(value);
  } else {
    bindings_.emplace(std::string(name), std::move(value));
  }
}

void Environment::unbind(std::string_view name) {
  const auto found = bindings_.find(name);
  if (found != bindings_.end()) bindings_.erase(found);
}

Diagnostic RunError::to_diagnostic() const {
  Diagnostic diagnostic;
  switch (kind) {
    case RunErrorKind::BadProgram:
      diagnostic.code = DiagnosticCode::CannotRun;
      break;
    case RunErrorKind::NotSupported:
      diagnostic.code = DiagnosticCode::NotSupported;
      break;
    case RunErrorKind::OutOfMemory:
      diagnostic.code = DiagnosticCode::MemoryLimit;
      break;
    case RunErrorKind::TimedOut:
      diagnostic.code = DiagnosticCode::TimeLimit;
      break;
    case RunErrorKind::Cancelled:
      diagnostic.code = DiagnosticCode::Cancelled;
      break;
    case RunErrorKind::RaisesAsTorch:
      diagnostic.code = DiagnosticCode::RunRaised;
      break;
  }
  diagnostic.message = type.empty() ? message : fmt::format("{}: {}", type, message);
  diagnostic.at = at;
  return diagnostic;
}

Expected<RunResult, RunError> run(const Trace& trace, const RunInputs& inputs,
                                  const RunLimits& limits, const RunObserver* observer,
                                  std::stop_token stop) {
  RunContext context;
  context.limits = limits;
  context.stop = std::move(stop);
  context.deadline = std::chrono::steady_clock::now() + limits.time;
  context.random_state = inputs.seed;
  Interpreter interpreter(trace, context);

  std::vector<NamedValue> arguments = inputs.arguments;
  InputCopier copier(context);
  for (NamedValue& argument : arguments) {
    if (!copier.copy(argument.value))
      return fail(RunErrorKind::OutOfMemory, "the inputs exceed the memory limit");
    interpreter.names().bind(argument.name, argument.value);
  }
  for (const Parameter& parameter : trace.parameters) {
    if (parameter.default_value.kind == ValueKind::Absent ||
        interpreter.names().find(parameter.name) != nullptr)
      continue;
    Expected<RuntimeValue, std::string> value =
        evaluate(parameter.default_value, {interpreter.names(), TypeTable(Trace{}), nullptr});
    if (value) interpreter.names().bind(parameter.name, std::move(*value));
  }

  RunResult result;
  for (std::uint32_t i = 0; i < trace.bound_symbols.size() && !interpreter.returned(); ++i) {
    if (observer != nullptr && observer->before &&
        observer->before(i, interpreter.names()) == Continue::Stop)
      break;
    if (!interpreter.step(i)) return Unexpected{interpreter.error()};
    ++result.statements_run;
    if (observer != nullptr && observer->after &&
        observer->after(i, interpreter.names()) == Continue::Stop)
      break;
  }
  result.returned = interpreter.take_result();
  result.notes = interpreter.take_notes();
  const RuntimeValue& shown = user_result(result.returned);
  if (shown.as<NoneValue>() == nullptr) collect_leaves(shown, result.outputs);
  std::unordered_map<std::string_view, std::size_t> positions;
  for (const Parameter& parameter : trace.parameters)
    positions.emplace(parameter.name, positions.size());
  const auto parameter_position = [&positions](const std::string& name) {
    const auto found = positions.find(name);
    return found != positions.end() ? found->second : positions.size();
  };
  std::stable_sort(arguments.begin(), arguments.end(),
                   [&parameter_position](const NamedValue& a, const NamedValue& b) {
                     return parameter_position(a.name) < parameter_position(b.name);
                   });
  result.final_arguments = std::move(arguments);
  result.used_random = context.used_random;
  return result;
}

std::optional<std::uint32_t> first_not_runnable(const Trace& trace) {
  for (std::uint32_t i = 0; i < trace.bound_symbols.size(); ++i) {
    const BoundSymbol& statement = *trace.bound_symbols[i];
    if (statement.kind == StatementKind::Return) return std::nullopt;
    if (!can_run(statement)) return i;
  }
  return std::nullopt;
}

}  // namespace tg
