#include "core/eager/interpreter.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/evaluate.h"
#include "core/eager/guards.h"
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
                         [this](auto& item) { return copy(item.value); });
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
  Interpreter(const Trace& trace, RunContext& run, RegionReads regions)
      : trace_(trace), run_(run), regions_(regions), types_(trace), plan_(trace) {}

  Environment& names() { return names_; }
  void give_outside(std::string_view text, RuntimeValue value) {
    outside_.emplace(text, std::move(value));
  }
  void give_cotangent(std::string_view name, RuntimeValue value) {
    cotangents_.emplace(name, std::move(value));
  }
  [[nodiscard]] bool returned() const { return returned_; }
  RuntimeValue take_result() { return std::move(result_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }
  std::vector<std::string> take_wrong_types() { return std::move(wrong_types_); }

  // False: stopped with error(), at statement `index`.
  bool step(std::uint32_t index) {
    index_ = index;
    const BoundSymbol& statement = *trace_.bound_symbols[index];
    if (!check_limits()) return locate(statement);
    if (!run_statement(statement, names_, 0)) return locate(statement);
    hold_against_type(statement);
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

  void hold_against_type(const BoundSymbol& statement) {
    if (statement.type == nullptr || !statement.output.is_name() ||
        !statement.type->is_concrete_tensor())
      return;
    const RuntimeValue* value = names_.find(statement.output.text);
    const Tensor* tensor = value == nullptr ? nullptr : value->as<Tensor>();
    const Type& type = *statement.type;
    if (tensor == nullptr ||
        (tensor->dtype == *type.dtype && tensor->geometry.sizes == *type.shape))
      return;
    wrong_types_.push_back(fmt::format(
        "{}{} is {}[{}] where the text says {}[{}]",
        statement.at.line == 0 ? "" : fmt::format("line {}: ", statement.at.line),
        statement.output.text, short_name(tensor->dtype), fmt::join(tensor->geometry.sizes, ", "),
        short_name(*type.dtype), fmt::join(*type.shape, ", ")));
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
    const Value& right = statement.args.front();
    if (right.kind == ValueKind::Subscript && right.items.size() == 2)
      return run_subscript(statement, right, names);
    Expected<RuntimeValue, std::string> value = value_of(right, names, statement);
    if (!value) return stop(RunErrorKind::BadProgram, value.error());
    if (value->as<OpaqueValue>() != nullptr && statement.kind == StatementKind::UnpackAccess)
      return bind_outside(statement, to_text(right), names);
    return bind_output(statement.output, std::move(*value), names);
  }

  // `x = args[0]`, `k = kwargs['k']`; of a tensor it is indexing.
  bool run_subscript(const BoundSymbol& statement, const Value& right, Environment& names) {
    Expected<RuntimeValue, std::string> object = value_of(right.items.front(), names, statement);
    if (!object) return stop(RunErrorKind::BadProgram, object.error());
    if (object->as<OpaqueValue>() != nullptr) return bind_outside(statement, to_text(right), names);
    Expected<RuntimeValue, std::string> key = value_of(right.items.back(), names, statement);
    if (!key) return stop(RunErrorKind::BadProgram, key.error());
    if (object->as<Tensor>() != nullptr) {
      KernelCall call(run_, info(OpCode::Getitem), "Tensor.__getitem__");
      call.bind({std::move(*object), std::move(*key)}, {});
      RuntimeValue result = run_operation(call);
      if (!call.failed()) return bind_output(statement.output, std::move(result), names);
      error_ = *call.error();
      return false;
    }
    Expected<RuntimeValue, std::string> value = value_of(right, names, statement);
    if (value) return bind_output(statement.output, std::move(*value), names);
    if (const Sequence* sequence = object->as<Sequence>(); sequence != nullptr) {
      return stop(RunErrorKind::RaisesAsTorch,
                  fmt::format("{} index out of range", sequence->is_list ? "list" : "tuple"),
                  "IndexError");
    }
    if (object->as<Mapping>() != nullptr)
      return stop(RunErrorKind::RaisesAsTorch, python_text(*key), "KeyError");
    return stop(RunErrorKind::BadProgram, value.error());
  }

  // What a prologue takes from outside the call: a module's parameter, a global, cache facts.
  bool bind_outside(const BoundSymbol& statement, const std::string& text, Environment& names) {
    if (const auto given = outside_.find(text); given != outside_.end())
      return bind_output(statement.output, given->second, names);
    if (statement.type != nullptr) {
      if (std::optional<RuntimeValue> number = number_of_type(*statement.type))
        return bind_output(statement.output, std::move(*number), names);
    }
    return bind_output(statement.output, {OpaqueValue{text}}, names);
  }

  bool run_guard(const BoundSymbol& statement, OpCode op, Environment& names) {
    std::vector<RuntimeValue> args;
    bool known = true;
    for (const Value& arg : statement.args) {
      Expected<RuntimeValue, std::string> value = value_of(arg, names, statement);
      known = known && value.has_value();
      args.push_back(value ? std::move(*value) : RuntimeValue{OpaqueValue{to_text(arg)}});
    }
    GuardResult guard;
    guard.checked = false;
    if (known) guard = check_guard(op, args);
    if (!guard.checked && !noted_unchecked_) {
      noted_unchecked_ = true;
      notes_.push_back(fmt::format("'{}' asks for what is not known here, so it was not asked",
                                   statement.callee));
    }
    if (!guard.refused) return true;
    return stop(RunErrorKind::RaisesAsTorch, *guard.refused,
                guard.asserts ? "AssertionError" : "RuntimeError");
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
                                      [&name](const auto& item) { return item.key == name; });
      if (found != mapping->items.end()) {
        found->value = std::move(*value);
      } else {
        mapping->items.push_back({name, std::move(*value)});
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
        names.bind(target.text, std::move(value));  // `_` too: Python binds it like any name
        return true;
      case ValueKind::Tuple:
      case ValueKind::List: {
        Sequence* sequence = value.as<Sequence>();
        if (sequence == nullptr) {
          if (target.items.size() == 1)
            return bind_output(target.items.front(), std::move(value), names);
          if (value.as<OpaqueValue>() != nullptr) {
            return stop(RunErrorKind::BadProgram,
                        fmt::format("'{}' are taken out of a value whose contents are not known",
                                    to_text(target)));
          }
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
        if (const OpCode op = callee_of(statement).op; info(op).has(kGuard))
          return run_guard(statement, op, names);
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
        if (regions_ == RegionReads::AtEntry && statement.op == OpCode::Fusion)
          return run_as_one_kernel(statement, names, depth);
        return run_substatements(statement, names, depth);
      case RunMode::Impossible:
        if (is_outside_call(statement, names))
          return bind_outside(statement, outside_text(statement), names);
        return stop(RunErrorKind::NotSupported, why_impossible(statement));
    }
    return true;
  }

  // `module = thunder.core.module.get_thunder_module(p0)`, `w = module.get_parameter('w')` in a
  // prologue: the unknown call of something that is not known itself.
  bool is_outside_call(const BoundSymbol& statement, const Environment& names) const {
    if (statement.op != OpCode::Opaque || statement.output.kind != ValueKind::Name) return false;
    if (outside_.contains(outside_text(statement))) return true;
    if (guess_kind(trace_) != TraceKind::Prologue) return false;
    const std::string_view callee = statement.callee;
    if (callee.starts_with("thunder.")) return true;
    const RuntimeValue* receiver = names.find(callee.substr(0, callee.find('.')));
    return receiver != nullptr && receiver->as<OpaqueValue>() != nullptr;
  }
  static std::string outside_text(const BoundSymbol& statement) {
    return to_text(Value::call(statement.callee, statement.args));
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
    if (callee.op == OpCode::GetGrad && !statement.args.empty()) {
      const auto given = cotangents_.find(statement.args.front().text);
      if (given != cotangents_.end()) return bind_output(statement.output, given->second, names);
    }
    for (const Value& arg : statement.args) {
      Expected<RuntimeValue, std::string> value = value_of(arg, names, statement);
      if (!value) {
        // A split into forward and backward leaves statements on numbers whose unpacking it drops;
        // the type comment still says what came out: `b131 = prims.eq(dim, dim)  # b131: "bool
        // True"`.
        std::optional<RuntimeValue> stated;
        if (statement.type != nullptr) stated = number_of_type(*statement.type);
        if (!stated) return stop(RunErrorKind::BadProgram, value.error());
        notes_.push_back(
            fmt::format("'{}' took its value from its type comment", to_text(statement.output)));
        return bind_output(statement.output, std::move(*stated), names);
      }
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

  // Fresh bytes for every tensor; false when there is no memory for them.
  bool detach(RuntimeValue& value) { return InputCopier(run_).copy(value); }
  bool out_of_memory() {
    return stop(RunErrorKind::OutOfMemory, "a region's inputs exceed the memory limit");
  }

  bool copy_into(const RuntimeValue& source, const RuntimeValue& destination) {
    KernelCall call(run_, info(OpCode::CopyInto), "prims.copy_");
    call.bind({source, destination}, {});
    run_operation(call);
    if (!call.failed()) return true;
    error_ = *call.error();
    return false;
  }

  // RegionReads::AtEntry. Every input is a copy of its own, so that no line sees what another
  // wrote.
  bool run_as_one_kernel(const BoundSymbol& region, Environment& names, std::uint32_t depth) {
    struct Write {
      RuntimeValue value;
      RuntimeValue destination;
    };
    std::vector<Write> writes;
    // The tensors outside that a name of the region stands for: inputs, and results of copies.
    Environment outside;
    Environment inner(&names);
    for (const Value& arg : region.args) {
      const RuntimeValue* value = arg.is_name() ? names.find(arg.text) : nullptr;
      if (value == nullptr) continue;
      RuntimeValue copy = *value;
      outside.bind(arg.text, copy);
      if (!detach(copy)) return out_of_memory();
      inner.bind(arg.text, std::move(copy));
    }
    for (const BoundSymbolRef& part : region.subsymbols) {
      if (!check_limits()) return false;
      if (part->is_call(OpCode::CopyInto) && part->args.size() >= 2 && part->args[1].is_name()) {
        const RuntimeValue* destination = outside.find(part->args[1].text);
        const RuntimeValue* seen = inner.find(part->args[1].text);
        if (destination == nullptr || seen == nullptr) {
          return stop(RunErrorKind::NotSupported,
                      fmt::format("'{}' copies onto '{}', which is none of its inputs",
                                  region.callee, part->args[1].text));
        }
        RuntimeValue value = *seen;
        if (!detach(value)) return out_of_memory();
        Environment scope(&inner);
        scope.bind(part->args[1].text, value);
        if (!run_statement(*part, scope, depth + 1)) return false;
        if (part->output.is_name()) {
          inner.bind(part->output.text, value);
          outside.bind(part->output.text, *destination);
        }
        writes.push_back({std::move(value), *destination});
        continue;
      }
      if (!run_statement(*part, inner, depth + 1)) return false;
    }
    for (const Write& write : writes) {
      if (!copy_into(write.value, write.destination)) return false;
    }
    for (const std::string_view target : output_names(region)) {
      const RuntimeValue* written = outside.find(target);
      const RuntimeValue* value = written != nullptr ? written : inner.find(target);
      if (value == nullptr) {
        return stop(RunErrorKind::BadProgram,
                    fmt::format("no sub-statement of '{}' defines '{}'", region.callee, target));
      }
      names.bind(target, RuntimeValue(*value));
    }
    return true;
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
  RegionReads regions_;
  std::unordered_map<std::string_view, RuntimeValue> cotangents_;
  std::unordered_map<std::string, RuntimeValue, NameHash, std::equal_to<>> outside_;
  bool noted_unchecked_ = false;
  TypeTable types_;
  RunPlan plan_;
  Environment names_;
  RuntimeValue result_{NoneValue{}};
  bool returned_ = false;
  std::uint32_t index_ = 0;
  std::vector<std::string> notes_;
  std::vector<std::string> wrong_types_;
  RunError error_;
};

// Leaves in Thunder's flattening order: dicts by sorted key.
void collect_leaves(const RuntimeValue& value, std::vector<NamedValue>& leaves) {
  if (const Sequence* sequence = value.as<Sequence>()) {
    for (const RuntimeValue& item : sequence->items) collect_leaves(item, leaves);
  } else if (const Mapping* mapping = value.as<Mapping>()) {
    std::vector<const MappingItem*> sorted;
    for (const MappingItem& item : mapping->items) sorted.push_back(&item);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->key < b->key; });
    for (const MappingItem* item : sorted) collect_leaves(item->value, leaves);
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

// What the user gets: {'output': ...} unwrapped, also inside (that, saved_for_backward); of a
// joint trace the outputs of its forward part.
const RuntimeValue& user_result(const RuntimeValue& returned) {
  const RuntimeValue* inner = &returned;
  if (const Sequence* pair = returned.as<Sequence>(); pair != nullptr && !pair->items.empty()) {
    const Mapping* first = pair->items.front().as<Mapping>();
    if (first != nullptr && entry(*first, "output") != nullptr) inner = &pair->items.front();
  }
  if (const Mapping* mapping = inner->as<Mapping>()) {
    // A joint forward and backward trace: 'output' holds the gradients.
    if (const RuntimeValue* forward = entry(*mapping, "fw_flat_out")) return *forward;
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
      diagnostic.hint = "show, audit and dot work without running";
      break;
    case RunErrorKind::OutOfMemory:
      diagnostic.code = DiagnosticCode::MemoryLimit;
      diagnostic.hint = "--max-memory raises the limit; show, audit and dot work without running";
      break;
    case RunErrorKind::TimedOut:
      diagnostic.code = DiagnosticCode::TimeLimit;
      diagnostic.hint = "--timeout raises the limit; show, audit and dot work without running";
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
                                  std::stop_token stop, RegionReads regions) {
  RunContext context;
  context.limits = limits;
  context.stop = std::move(stop);
  context.deadline = std::chrono::steady_clock::now() + limits.time;
  context.random_state = inputs.seed;
  Interpreter interpreter(trace, context, regions);

  std::vector<NamedValue> arguments = inputs.arguments;
  InputCopier copier(context);
  for (NamedValue& argument : arguments) {
    if (!copier.copy(argument.value))
      return fail(RunErrorKind::OutOfMemory, "the inputs exceed the memory limit");
    interpreter.names().bind(argument.name, argument.value);
  }
  for (const NamedValue& cotangent : inputs.cotangents) {
    RuntimeValue value = cotangent.value;
    if (!copier.copy(value))
      return fail(RunErrorKind::OutOfMemory, "the inputs exceed the memory limit");
    interpreter.give_cotangent(cotangent.name, std::move(value));
  }
  for (const NamedValue& outside : inputs.outside) {
    RuntimeValue value = outside.value;
    if (!copier.copy(value))
      return fail(RunErrorKind::OutOfMemory, "the inputs exceed the memory limit");
    interpreter.give_outside(outside.name, std::move(value));
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
  result.wrong_types = interpreter.take_wrong_types();
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
  result.limits = limits;
  result.stop = context.stop;
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
