// AliasBuilder's part that knows storages and what names stand for.
#include <algorithm>
#include <charconv>

#include "core/analysis/alias_builder.h"

namespace tg {
namespace {

constexpr std::size_t kMaxMaybeOf = 16;  // beyond that a value may be anything
// Sizes beyond what any machine stores would overflow byte arithmetic.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

bool storable(const std::vector<std::int64_t>& shape) {
  const std::optional<std::int64_t> elements = element_count(shape);
  return elements && *elements <= kMaxElements;
}

std::uint32_t element_bytes_of(const TypeRef& type) {
  return type && type->dtype ? static_cast<std::uint32_t>(size_bytes(*type->dtype)) : 0;
}

}  // namespace

bool is_number_or_text(const TypeRef& type) {
  if (!type) return false;
  switch (type->kind) {
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Bool:
    case TypeKind::Complex:
    case TypeKind::String:
    case TypeKind::Class:
      return true;
    case TypeKind::Unknown:
    case TypeKind::Tensor:
    case TypeKind::FutureTensor:
    case TypeKind::DistributedTensor:
    case TypeKind::Collection:
    case TypeKind::Any:
    case TypeKind::Opaque:
      return false;
  }
  return false;
}

bool is_tensor_type(const TypeRef& type) {
  return type && type->is_tensor();
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
  Binding binding = fresh(name, type, std::nullopt);
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
    const auto end = static_cast<std::uint64_t>(
        std::max<std::int64_t>(element_span(*placement.geometry).end, 0));
    const std::uint64_t bytes = end * placement.element_bytes;
    if (!is_new && storage.bytes) storage.bytes = std::max(*storage.bytes, bytes);
    if (is_new) storage.bytes = bytes;
  }
  sets_.storages_[placement.storage].is_argument = true;
  return Binding::of_tensor(add_tensor(std::move(placement)));
}

// A name that nothing defines: text was left out, or the program is wrong. What it shares is
// unknown.
Binding AliasBuilder::missing(std::string_view name) {
  const TypeRef type = types_.find_ref(std::string(name));
  Binding binding = fresh(name, type, std::nullopt);
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
      if (const Binding* found = scopes_.find(value.text);
          found && found->kind != Binding::Kind::Unbound) {
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
    case ValueKind::Keyword:
      return evaluate(value.items.front(), expect_tensor);
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
      const auto parsed =
          std::from_chars(key.text.data(), key.text.data() + key.text.size(), index);
      if (parsed.ec != std::errc{} || index >= object.items->size()) return {};
      return (*object.items)[index];
    }
    case ValueKind::Absent:
      return {};
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
    case ValueKind::Opaque:
      return Binding::other();
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
  for (const StorageId storage : placement.maybe_of)
    emit(other, storage, placement, name, at, false);
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

}  // namespace tg
