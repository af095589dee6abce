#include "core/analysis/alias_builder.h"

namespace tg {

bool returns_tensor(const OpInfo& op) {
  const std::size_t arrow = op.schema.rfind("-> ");
  if (arrow == std::string_view::npos) return true;
  const std::string_view result = op.schema.substr(arrow + 3);
  return result.find("Tensor") != std::string_view::npos || result.starts_with("any");
}

AliasBuilder::AliasBuilder(const Trace& trace, const DefUse& def_use, const ArgumentFacts& facts,
                           AliasSets& sets)
    : trace_(trace), def_use_(def_use), facts_(facts), sets_(sets), types_(trace) {
  for (const ArgumentFacts::Window& window : facts_.windows) windows_[window.name] = &window;
}

void AliasBuilder::build() {
  const std::vector<Definition>& definitions = def_use_.definitions();
  scopes_.reserve(definitions.size());
  tensors_.reserve(definitions.size());
  sets_.storages_.reserve(definitions.size());
  sets_.accesses_.reserve(3 * definitions.size());
  for (DefinitionId id = 0; id < definitions.size(); ++id) {
    if (definitions[id].statement != kArgument) continue;
    scopes_.bind(definitions[id].name, argument(definitions[id].name, nullptr));
    record(id, *scopes_.find(definitions[id].name));
  }
  const auto count = static_cast<std::uint32_t>(trace_.bound_symbols.size());
  for (std::uint32_t index = 0; index < count; ++index) {
    path_ = {index};
    walk(*trace_.bound_symbols[index]);
    record_definitions(index);
    if (trace_.bound_symbols[index]->kind == StatementKind::Return) {
      sets_.return_statement_ = index;
      add_copies_after_return(index + 1);
      return;
    }
  }
}

// ---- statements

void AliasBuilder::walk(const BoundSymbol& statement) {
  switch (statement.kind) {
    case StatementKind::Call:
      call(statement);
      return;
    case StatementKind::UnpackTrivial:
      annotate(statement);
      return;
    case StatementKind::UnpackSequence:
    case StatementKind::UnpackAccess:
      unpack(statement);
      return;
    case StatementKind::EmptyCollection:
      return;
    case StatementKind::PackList:
      if (!statement.args.empty())
        bind_output(statement.output, evaluate(statement.args.front(), false));
      return;
    case StatementKind::PackAssign:
      for (const Value& arg : statement.args) {
        for (const TensorIndex tensor : tensors_in(arg, false)) {
          sets_.storages_[tensors_[tensor].storage].escapes = true;
        }
      }
      return;
    case StatementKind::Del:
      for (const std::string_view name : argument_names(statement)) scopes_.unbind(name);
      return;
    case StatementKind::Return:
      return_from(statement);
      return;
    case StatementKind::Print:
      for (const Value& arg : statement.args) read_value(arg, statement.at, false);
      return;
    case StatementKind::Comment:
      return;
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      touch_everything(statement.at);
      return;
  }
}

void AliasBuilder::annotate(const BoundSymbol& statement) {
  if (!statement.output.is_name()) return;
  const std::string_view name = statement.output.text;
  if (scopes_.depth() != 0) return;
  scopes_.bind(name, argument(name, statement.type));
}

// Targets of an unpacked collection that the caller handed in are the caller's tensors.
void AliasBuilder::unpack(const BoundSymbol& statement) {
  const Binding source =
      statement.args.empty() ? Binding{} : evaluate(statement.args.front(), false);
  if (source.is_tensor() || source.kind == Binding::Kind::Sequence) {
    bind_output(statement.output, source);
    return;
  }
  for (const std::string_view name : output_names(statement)) {
    scopes_.bind(name, argument(name, type_of(name, statement)));
  }
}

void AliasBuilder::return_from(const BoundSymbol& statement) {
  for (const Value& arg : statement.args) read_value(arg, statement.at, false);
}

void AliasBuilder::call(const BoundSymbol& call) {
  const OpInfo& op = call.op_info();
  const WrittenParameters written = written_parameters(call);
  if (runs_by_substatements(call, written)) {
    descend(call);
  } else if (op.code == OpCode::Opaque || op.code == OpCode::Fusion) {
    unknown(call);
  } else if (op.has(kCopyInto)) {
    copy_into(call);
  } else if (op.has(kIdentity)) {
    identity(call);
  } else if (!written.parameters.empty()) {
    write_in_place(call, written);
  } else if (op.has(kView | kMaybeView)) {
    view(call);
  } else {
    pure(call);
  }
}

bool AliasBuilder::runs_by_substatements(const BoundSymbol& call,
                                         const WrittenParameters& written) const {
  if (call.subsymbols.empty() || path_.size() > kMaxDepth) return false;
  const OpInfo& op = call.op_info();
  if (op.code == OpCode::Opaque || op.code == OpCode::Fusion || op.has(kHidesWrites)) return true;
  if (op.has(kCopyInto | kIdentity)) return false;
  // A name that only its sub-statements define is read later.
  if (path_.size() == 1) {
    const std::size_t outputs = output_names(call).size();
    if (def_use_.definitions_of(path_.front()).size() > outputs) return true;
  }
  return written.parameters.empty() && contains_copy(call);
}

void AliasBuilder::descend(const BoundSymbol& call) {
  const bool is_region = call.op == OpCode::Fusion;
  const std::vector<TensorIndex> inputs = tensors_in_arguments(call);
  const auto first = static_cast<std::uint32_t>(sets_.accesses_.size());
  const auto first_storage = static_cast<StorageId>(sets_.storages_.size());
  scopes_.open();
  if (is_region) ++region_depth_;
  for (std::uint32_t i = 0; i < call.subsymbols.size(); ++i) {
    path_.push_back(i);
    walk(*call.subsymbols[i]);
    path_.pop_back();
  }
  std::vector<std::pair<std::string_view, Binding>> results;
  for (const std::string_view name : output_names(call)) {
    const Binding* found = scopes_.find(name);
    results.emplace_back(name, found != nullptr ? *found : Binding{});
  }
  const auto inner = scopes_.close();
  if (is_region) {
    --region_depth_;
    if (region_depth_ == 0) {
      sets_.regions_.push_back({path_.front(), first,
                                static_cast<std::uint32_t>(sets_.accesses_.size()), first_storage});
    }
  }
  if (!def_use_.undefined_names().empty()) {
    for (const auto& [name, binding] : inner) {
      if (def_use_.undefined_names().contains(name) && scopes_.find(name) == nullptr) {
        scopes_.bind(name, binding);
      }
    }
  }
  for (auto& [name, binding] : results) {
    if (binding.kind == Binding::Kind::Unbound) {
      const TypeRef type = type_of(name, call);
      binding = is_number_or_text(type) ? Binding::other() : fresh_or_alias(name, type, inputs);
    }
    scopes_.bind(name, std::move(binding));
  }
}

void AliasBuilder::identity(const BoundSymbol& call) {
  std::vector<Binding> inputs;
  for (const Value& arg : call.args) {
    for_each_leaf(arg, [&](const Value& leaf) {
      inputs.push_back(evaluate(leaf, true));
      if (inputs.back().is_tensor()) {
        touch(AccessKind::MakeView, inputs.back().tensor, leaf.text, call.at);
      }
    });
  }
  std::size_t next = 0;
  for_each_leaf(call.output, [&](const Value& leaf) {
    if (leaf.is_name() && next < inputs.size()) bind_output(leaf, inputs[next]);
    ++next;
  });
}

void AliasBuilder::pure(const BoundSymbol& call) {
  const OpInfo& op = call.op_info();
  std::vector<TensorIndex> inputs;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const Value& arg = call.args[i];
    const bool expect = arg.kind != ValueKind::Keyword && i < op.params.size() &&
                        op.params[i].type.starts_with("Tensor") && op.params[i].type != "Tensor?";
    const std::vector<TensorIndex> tensors = tensors_in(arg, expect);
    inputs.insert(inputs.end(), tensors.begin(), tensors.end());
    read_value(arg, call.at, expect);
  }
  bind_outputs(call, inputs, false);
}

void AliasBuilder::unknown(const BoundSymbol& call) {
  const std::vector<TensorIndex> inputs = tensors_in_arguments(call);
  for (const Value& arg : call.args) read_value(arg, call.at, false);
  const std::string_view name = base_name(call.callee);
  const bool writes = name.ends_with('_') && !name.ends_with("__") && !call.args.empty();
  if (writes) {
    for_each_leaf(call.args.front(), [&](const Value& leaf) {
      for (const TensorIndex tensor : tensors_in(leaf, false)) {
        touch(AccessKind::MayWrite, tensor, leaf.text, call.at);
      }
    });
  }
  bind_outputs(call, inputs, true);
}

void AliasBuilder::bind_outputs(const BoundSymbol& call, const std::vector<TensorIndex>& inputs,
                                bool may_alias) {
  const bool tensor_result = call.op == OpCode::Opaque || returns_tensor(call.op_info());
  for (const std::string_view name : output_names(call)) {
    const TypeRef type = type_of(name, call);
    const bool is_tensor = is_tensor_type(type) || (!type && tensor_result);
    if (!is_tensor) {
      scopes_.bind(name, Binding::other());
    } else if (may_alias && !inputs.empty()) {
      scopes_.bind(name, fresh_or_alias(name, type, inputs));
    } else {
      scopes_.bind(name, fresh(name, type, fresh_geometry(call, type, inputs)));
    }
    const Binding* bound = scopes_.find(name);
    if (bound->is_tensor()) touch(AccessKind::Allocate, bound->tensor, name, call.at);
  }
}

void AliasBuilder::bind_output(const Value& output, const Binding& binding) {
  if (output.is_name()) {
    if (output.text != "_") scopes_.bind(output.text, binding);
    return;
  }
  if (!output.is_collection() || output.kind == ValueKind::Dict) return;
  for (std::size_t i = 0; i < output.items.size(); ++i) {
    const bool has_item = binding.kind == Binding::Kind::Sequence && i < binding.items->size();
    const bool alone = output.items.size() == 1 && binding.is_tensor();
    bind_output(output.items[i], has_item ? (*binding.items)[i] : alone ? binding : Binding{});
  }
}

// ---- what the rest of the product asks for

void AliasBuilder::record(DefinitionId definition, const Binding& binding) {
  if (!binding.is_tensor()) return;
  const Placement& placement = tensors_[binding.tensor];
  sets_.placements_[definition] = placement;
  StorageFacts& storage = sets_.storages_[placement.storage];
  storage.names.emplace_back(def_use_.definitions()[definition].name);
  storage.definitions.push_back(definition);
}

void AliasBuilder::record_definitions(std::uint32_t statement) {
  for (const DefinitionId definition : def_use_.definitions_of(statement)) {
    if (const Binding* binding = scopes_.find(def_use_.definitions()[definition].name)) {
      record(definition, *binding);
    }
  }
}

}  // namespace tg
