#include "core/analysis/alias_builder.h"

#include <algorithm>
#include <charconv>

namespace tg {
namespace {

constexpr std::size_t kMaxDepth = 64;      // of composites inside composites
constexpr std::size_t kMaxMaybeOf = 16;    // beyond that a value may be anything
// Sizes beyond what any machine stores would overflow byte arithmetic.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

bool storable(const std::vector<std::int64_t>& shape) {
  const std::optional<std::int64_t> elements = element_count(shape);
  return elements && *elements <= kMaxElements;
}

std::uint32_t element_bytes_of(const TypeRef& type) {
  return type && type->dtype ? static_cast<std::uint32_t>(size_bytes(*type->dtype)) : 0;
}

bool is_number_or_text(const TypeRef& type) {
  if (!type) return false;
  switch (type->kind) {
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Bool:
    case TypeKind::Complex:
    case TypeKind::String:
    case TypeKind::Class: return true;
    case TypeKind::Unknown:
    case TypeKind::Tensor:
    case TypeKind::FutureTensor:
    case TypeKind::DistributedTensor:
    case TypeKind::Collection:
    case TypeKind::Any:
    case TypeKind::Opaque: return false;
  }
  return false;
}

bool is_tensor_type(const TypeRef& type) { return type && type->is_tensor(); }

bool is_tensor_param(const Param& param) { return param.type.starts_with("Tensor"); }

// Destination name -> the last printed copy_ onto it: where the write of an in-place operation happens.
using InnerCopies = std::unordered_map<std::string_view, std::uint32_t>;

InnerCopies inner_copies(const BoundSymbol& call) {
  InnerCopies copies;
  for (std::uint32_t i = 0; i < call.subsymbols.size(); ++i) {
    const BoundSymbol& child = *call.subsymbols[i];
    if (child.kind != StatementKind::Call || !child.op_info().has(kCopyInto)) continue;
    const auto target = arguments_for(child, static_cast<std::size_t>(child.op_info().mutated_param));
    if (!target.empty() && target.front()->is_name()) copies[target.front()->text] = i;
  }
  return copies;
}

}  // namespace

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

// ---- storages and tensors

StorageId AliasBuilder::add_storage(std::string_view label, const TypeRef& type) {
  StorageFacts facts;
  facts.label = std::string(label);
  if (type) {
    facts.bytes = type_bytes(*type);
    facts.device = type->device;
  }
  sets_.storages_.push_back(std::move(facts));
  return static_cast<StorageId>(sets_.storages_.size() - 1);
}

TensorIndex AliasBuilder::add_tensor(Placement placement) {
  if (placement.geometry && !storable(placement.geometry->sizes)) placement.geometry.reset();
  tensors_.push_back(std::move(placement));
  return static_cast<TensorIndex>(tensors_.size() - 1);
}

Binding AliasBuilder::fresh(std::string_view name, const TypeRef& type,
                            std::optional<Geometry> geometry) {
  Placement placement;
  placement.storage = add_storage(name, type);
  placement.geometry = std::move(geometry);
  placement.whole = true;
  placement.type = type;
  placement.element_bytes = element_bytes_of(type);
  return Binding::of_tensor(add_tensor(std::move(placement)));
}

Binding AliasBuilder::fresh_or_alias(std::string_view name, const TypeRef& type,
                                     const std::vector<TensorIndex>& inputs) {
  const Binding binding = fresh(name, type, std::nullopt);
  Placement& placement = tensors_[binding.tensor];
  for (const TensorIndex input : inputs) {
    const Placement& from = tensors_[input];
    placement.may_be_anything = placement.may_be_anything || from.may_be_anything;
    placement.maybe_of.push_back(from.storage);
    placement.maybe_of.insert(placement.maybe_of.end(), from.maybe_of.begin(), from.maybe_of.end());
  }
  std::sort(placement.maybe_of.begin(), placement.maybe_of.end());
  placement.maybe_of.erase(std::unique(placement.maybe_of.begin(), placement.maybe_of.end()),
                           placement.maybe_of.end());
  if (placement.maybe_of.size() > kMaxMaybeOf) {
    placement.maybe_of.clear();
    placement.may_be_anything = true;
  }
  placement.maybe = !placement.maybe_of.empty() || placement.may_be_anything;
  return binding;
}

Binding AliasBuilder::argument(std::string_view name, const TypeRef& type) {
  if (is_number_or_text(type)) return Binding::other();
  if (type && (type->kind == TypeKind::Collection || type->kind == TypeKind::Any ||
               type->kind == TypeKind::Opaque)) {
    return {};
  }
  Placement placement;
  placement.type = type;
  placement.element_bytes = element_bytes_of(type);
  const auto window = windows_.find(name);
  if (window == windows_.end()) {
    placement.storage = add_storage(name, type);
    placement.whole = true;
    // An argument that may be a window onto another may have any strides.
    if (type && type->shape && storable(*type->shape) && !facts_.may_alias_each_other) {
      placement.geometry = contiguous_geometry(*type->shape);
    }
  } else {
    const auto [shared, is_new] = shared_storages_.emplace(window->second->storage, 0);
    if (is_new) shared->second = add_storage(name, type);
    placement.storage = shared->second;
    placement.geometry = window->second->geometry;
    StorageFacts& storage = sets_.storages_[placement.storage];
    const auto end = static_cast<std::uint64_t>(std::max<std::int64_t>(element_span(*placement.geometry).end, 0));
    const std::uint64_t bytes = end * placement.element_bytes;
    if (!is_new && storage.bytes) storage.bytes = std::max(*storage.bytes, bytes);
    if (is_new) storage.bytes = bytes;
  }
  sets_.storages_[placement.storage].is_argument = true;
  return Binding::of_tensor(add_tensor(std::move(placement)));
}

// A name that nothing defines: text was left out, or the program is wrong. What it shares is unknown.
Binding AliasBuilder::missing(std::string_view name) {
  const TypeRef type = types_.find_ref(std::string(name));
  const Binding binding = fresh(name, type, std::nullopt);
  tensors_[binding.tensor].may_be_anything = true;
  tensors_[binding.tensor].maybe = true;
  tensors_[binding.tensor].whole = false;
  return binding;
}

TypeRef AliasBuilder::type_of(std::string_view name, const BoundSymbol& statement) const {
  if (statement.type && statement.output.is_name(name)) return statement.type;
  return types_.find_ref(std::string(name));
}

// ---- reading values

Binding AliasBuilder::evaluate(const Value& value, bool expect_tensor) {
  switch (value.kind) {
    case ValueKind::Name: {
      if (const Binding* found = scopes_.find(value.text); found && found->kind != Binding::Kind::Unbound) {
        return *found;
      }
      const TypeRef type = types_.find_ref(value.text);
      if (!is_tensor_type(type) && !(expect_tensor && !type)) return {};
      Binding binding = missing(value.text);
      scopes_.bind(value.text, binding);
      return binding;
    }
    case ValueKind::Tuple:
    case ValueKind::List:
    case ValueKind::Call: {
      std::vector<Binding> items;
      for (const Value& item : value.items) items.push_back(evaluate(item, expect_tensor));
      return Binding::sequence(std::move(items));
    }
    case ValueKind::Keyword: return evaluate(value.items.front(), expect_tensor);
    case ValueKind::Dict: {
      std::vector<Binding> items;
      for (const std::size_t index : sorted_dict_values(value)) {
        items.push_back(evaluate(value.items[index], expect_tensor));
      }
      return Binding::sequence(std::move(items));
    }
    case ValueKind::Subscript: {
      const Binding object = evaluate(value.items.front(), false);
      const Value& key = value.items.back();
      std::size_t index = 0;
      if (object.kind != Binding::Kind::Sequence || key.kind != ValueKind::Int) return {};
      const auto parsed = std::from_chars(key.text.data(), key.text.data() + key.text.size(), index);
      if (parsed.ec != std::errc{} || index >= object.items->size()) return {};
      return (*object.items)[index];
    }
    case ValueKind::Absent: return {};
    case ValueKind::Dotted:
    case ValueKind::Int:
    case ValueKind::Float:
    case ValueKind::Complex:
    case ValueKind::Bool:
    case ValueKind::None:
    case ValueKind::Ellipsis:
    case ValueKind::String:
    case ValueKind::Attribute:
    case ValueKind::Method:
    case ValueKind::Opaque: return Binding::other();
  }
  return {};
}

std::vector<TensorIndex> AliasBuilder::tensors_in(const Value& value, bool expect_tensor) {
  std::vector<TensorIndex> tensors;
  for_each_tensor_in(evaluate(value, expect_tensor),
                     [&tensors](TensorIndex tensor) { tensors.push_back(tensor); });
  return tensors;
}

std::vector<TensorIndex> AliasBuilder::tensors_in_arguments(const BoundSymbol& call) {
  std::vector<TensorIndex> tensors;
  for (const Value& arg : call.args) {
    const std::vector<TensorIndex> inner = tensors_in(arg, false);
    tensors.insert(tensors.end(), inner.begin(), inner.end());
  }
  return tensors;
}

// The form that view_outcome wants: numbers by value, other tensors by their sizes.
Value AliasBuilder::with_numbers(const Value& value, std::string_view viewed) {
  if (value.is_name() && value.text != viewed) {
    const Binding* binding = scopes_.find(value.text);
    if (binding != nullptr && binding->is_tensor()) {
      const std::optional<Geometry>& geometry = tensors_[binding->tensor].geometry;
      return geometry ? Value::int_tuple(geometry->sizes) : value;
    }
    const TypeRef type = types_.find_ref(value.text);
    if (type && type->kind == TypeKind::Int && !type->value.empty() && type->value != "?") {
      return Value::leaf(ValueKind::Int, type->value);
    }
    return value;
  }
  Value result = value;
  for (Value& item : result.items) item = with_numbers(item, viewed);
  return result;
}

// ---- touching storages

void AliasBuilder::emit(AccessKind kind, StorageId storage, const Placement& placement,
                        std::string_view name, SourceRange at, bool own) {
  Access access;
  access.path = path_;
  access.kind = kind;
  access.storage = storage;
  access.name = name;
  access.at = at;
  access.element_bytes = placement.element_bytes;
  if (own) {
    access.geometry = placement.geometry;
    access.whole = placement.whole;
  }
  StorageFacts& facts = sets_.storages_[storage];
  if (kind == AccessKind::Write || kind == AccessKind::MayWrite) ++facts.versions;
  access.version = facts.versions - 1;
  access.maybe = !own;
  sets_.accesses_.push_back(std::move(access));
}

void AliasBuilder::touch(AccessKind kind, TensorIndex tensor, std::string_view name, SourceRange at,
                         bool maybe) {
  const Placement& placement = tensors_[tensor];
  emit(kind, placement.storage, placement, name, at, true);
  if (maybe) sets_.accesses_.back().maybe = true;
  const AccessKind other = kind == AccessKind::Write ? AccessKind::MayWrite : kind;
  for (const StorageId storage : placement.maybe_of) emit(other, storage, placement, name, at, false);
  if (placement.may_be_anything && kind != AccessKind::MakeView) {
    emit(other, placement.storage, placement, name, at, false);
    sets_.accesses_.back().everything = true;
  }
}

void AliasBuilder::touch_everything(SourceRange at) {
  text_is_missing_ = true;
  Access access;
  access.path = path_;
  access.kind = AccessKind::Read;
  access.name = "...";
  access.at = at;
  access.maybe = true;
  access.everything = true;
  sets_.accesses_.push_back(std::move(access));
}

void AliasBuilder::read_value(const Value& value, SourceRange at, bool expect_tensor) {
  const auto read_leaf = [&](const Value& leaf) {
    for (const TensorIndex tensor : tensors_in(leaf, expect_tensor)) {
      touch(AccessKind::Read, tensor, leaf.text, at);
    }
  };
  for_each_leaf(value, read_leaf);
}

// ---- statements

void AliasBuilder::walk(const BoundSymbol& statement) {
  switch (statement.kind) {
    case StatementKind::Call: call(statement); return;
    case StatementKind::UnpackTrivial: annotate(statement); return;
    case StatementKind::UnpackSequence:
    case StatementKind::UnpackAccess: unpack(statement); return;
    case StatementKind::EmptyCollection: return;
    case StatementKind::PackList:
      if (!statement.args.empty()) bind_output(statement.output, evaluate(statement.args.front(), false));
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
    case StatementKind::Return: return_from(statement); return;
    case StatementKind::Print:
      for (const Value& arg : statement.args) read_value(arg, statement.at, false);
      return;
    case StatementKind::Comment: return;
    case StatementKind::Elision:
    case StatementKind::Unparsed: touch_everything(statement.at); return;
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
      sets_.regions_.push_back(
          {path_.front(), first, static_cast<std::uint32_t>(sets_.accesses_.size()), first_storage});
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

CopySite& AliasBuilder::add_site(const BoundSymbol& statement, CopySite::Form form,
                                 TensorIndex destination, std::string_view destination_name) {
  CopySite site;
  site.path = path_;
  site.statement = &statement;
  site.form = region_depth_ > 0 ? CopySite::Form::Region : form;
  site.destination = destination_name;
  site.destination_at = tensors_[destination];
  sets_.copies_.push_back(std::move(site));
  return sets_.copies_.back();
}

void AliasBuilder::copy_into(const BoundSymbol& call) {
  const OpInfo& op = call.op_info();
  const auto written = static_cast<std::size_t>(op.mutated_param);
  const std::size_t read = written == 0 ? 1 : 0;
  const std::vector<const Value*> destination_value = arguments_for(call, written);
  const std::vector<const Value*> source_value = arguments_for(call, read);
  if (destination_value.empty() || source_value.empty()) return unknown(call);
  const Binding destination = evaluate(*destination_value.front(), true);
  const Binding source = evaluate(*source_value.front(), source_value.front()->is_name());
  if (!destination.is_tensor()) return unknown(call);
  const auto first = static_cast<std::uint32_t>(sets_.accesses_.size());
  if (source.is_tensor()) {
    touch(AccessKind::Read, source.tensor, source_value.front()->text, call.at);
  }
  const auto write = static_cast<std::uint32_t>(sets_.accesses_.size());
  touch(AccessKind::Write, destination.tensor, destination_value.front()->text, call.at);
  CopySite& site = add_site(
      call, path_.size() == 1 ? CopySite::Form::Statement : CopySite::Form::Inner, destination.tensor,
      destination_value.front()->text);
  site.first_access = first;
  site.write = write;
  site.end_access = static_cast<std::uint32_t>(sets_.accesses_.size());
  if (source.is_tensor()) {
    site.source = source_value.front()->text;
    site.source_at = tensors_[source.tensor];
  }
  bind_output(call.output, destination);
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

void AliasBuilder::write_in_place(const BoundSymbol& call, const WrittenParameters& written) {
  const OpInfo& op = call.op_info();
  const bool keyed = info(op.twin).has(kKeyedWrite);
  const auto is_written = [&written](std::size_t param) {
    return std::find(written.parameters.begin(), written.parameters.end(), param) !=
           written.parameters.end();
  };
  const auto first = static_cast<std::uint32_t>(sets_.accesses_.size());
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    if (is_written(i) && (keyed || !reads_written_argument(op))) continue;
    for (const Value* value : arguments_for(call, i)) {
      read_value(*value, call.at, is_tensor_param(op.params[i]));
    }
  }
  const AccessKind kind = written.sure ? AccessKind::Write : AccessKind::MayWrite;
  const InnerCopies copies = inner_copies(call);
  Binding result;
  const auto write_leaf = [&](const Value& leaf) {
    for (const TensorIndex tensor : tensors_in(leaf, leaf.is_name())) {
      if (result.kind == Binding::Kind::Unbound) result = Binding::of_tensor(tensor);
      const auto copy = copies.find(leaf.text);
      const BoundSymbol& writer = copy == copies.end() ? call : *call.subsymbols[copy->second];
      if (copy != copies.end()) path_.push_back(copy->second);
      const auto write = static_cast<std::uint32_t>(sets_.accesses_.size());
      if (keyed) {
        write_keyed(call, tensor, leaf.text, kind);
      } else {
        touch(kind, tensor, leaf.text, call.at);
      }
      CopySite& site = add_site(writer, CopySite::Form::InPlace, tensor, leaf.text);
      site.first_access = first;
      site.write = write;
      site.end_access = static_cast<std::uint32_t>(sets_.accesses_.size());
      if (copy == copies.end()) continue;
      path_.pop_back();
      const auto source = arguments_for(writer, writer.op_info().mutated_param == 0 ? 1 : 0);
      if (!source.empty() && source.front()->is_name()) site.source = source.front()->text;
    }
  };
  for (const std::size_t param : written.parameters) {
    for (const Value* value : arguments_for(call, param)) for_each_leaf(*value, write_leaf);
  }
  if (result.is_tensor() && !op.has(kHidesWrites) && call.output.is_name()) {
    if (written.sure) {
      bind_output(call.output, result);
    } else {
      scopes_.bind(call.output.text,
                   fresh_or_alias(call.output.text, type_of(call.output.text, call), {result.tensor}));
    }
    return;
  }
  bind_outputs(call, tensors_in_arguments(call), false);
}

// x[key] = value: with an integer or slice key the window is known, otherwise some elements are written.
void AliasBuilder::write_keyed(const BoundSymbol& call, TensorIndex written, std::string_view name,
                               AccessKind kind) {
  const Placement& base = tensors_[written];
  const std::vector<const Value*> key = arguments_for(call, 1);
  bool by_tensor = key.empty();
  for (const Value* part : key) by_tensor = by_tensor || !tensors_in(*part, false).empty();
  if (base.geometry && !by_tensor) {
    const std::vector<Value> args = {Value::name(name), with_numbers(*key.front(), name)};
    const auto outcome = view_outcome(OpCode::Getitem, *base.geometry, args, base.element_bytes);
    if (outcome && outcome->kind == ViewOutcome::Kind::View && outcome->outputs.size() == 1) {
      Placement window = base;
      window.geometry = outcome->outputs.front();
      window.whole = false;
      touch(kind, add_tensor(std::move(window)), name, call.at);
      return;
    }
  }
  touch(AccessKind::MayWrite, written, name, call.at);
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

void AliasBuilder::add_copies_after_return(std::uint32_t first_statement) {
  for (std::uint32_t i = first_statement; i < trace_.bound_symbols.size(); ++i) {
    path_ = {i};
    add_unexecuted(*trace_.bound_symbols[i]);
  }
}

void AliasBuilder::add_unexecuted(const BoundSymbol& statement) {
  const bool is_copy = statement.kind == StatementKind::Call && statement.op_info().has(kCopyInto);
  if (is_copy) {
    const OpInfo& op = statement.op_info();
    CopySite site;
    site.path = path_;
    site.statement = &statement;
    site.form = path_.size() == 1 ? CopySite::Form::Statement : CopySite::Form::Inner;
    const auto written = static_cast<std::size_t>(op.mutated_param);
    const auto destination = arguments_for(statement, written);
    const auto source = arguments_for(statement, written == 0 ? 1 : 0);
    if (!destination.empty() && destination.front()->is_name()) {
      site.destination = destination.front()->text;
      if (const Binding* binding = scopes_.find(site.destination); binding && binding->is_tensor()) {
        site.destination_at = tensors_[binding->tensor];
      }
    }
    if (!source.empty() && source.front()->is_name()) site.source = source.front()->text;
    sets_.copies_.push_back(std::move(site));
    return;
  }
  if (path_.size() > kMaxDepth) return;
  for (std::uint32_t i = 0; i < statement.subsymbols.size(); ++i) {
    path_.push_back(i);
    add_unexecuted(*statement.subsymbols[i]);
    path_.pop_back();
  }
}

}  // namespace tg
