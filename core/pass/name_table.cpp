#include "core/pass/name_table.h"

#include <algorithm>
#include <charconv>

namespace tg {
namespace {

// 17 for "t17".
std::optional<std::uint64_t> temporary_number(std::string_view text) {
  if (text.size() < 2 || text.size() > 18 || text[0] != 't') return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

NameTable::NameTable(const Trace& trace) {
  const std::size_t guess = trace.bound_symbols.size() * 3 + trace.parameters.size();
  entries_.reserve(guess);
  ids_.reserve(guess);
  for (const Parameter& parameter : trace.parameters) {
    if (!parameter.name.empty()) define(parameter.name, nullptr);
  }
  for (const BoundSymbolRef& statement : trace.bound_symbols) collect(*statement);
}

NameId NameTable::intern(std::string_view text) {
  const auto [found, is_new] = ids_.try_emplace(text, static_cast<NameId>(entries_.size()));
  if (is_new) {
    entries_.push_back({text, nullptr, false});
    if (const auto number = temporary_number(text)) {
      next_number_ = std::max(next_number_, *number + 1);
    }
  }
  return found->second;
}

void NameTable::define(std::string_view text, const TypeRef& type) {
  if (text == "_") return;
  Entry& entry = entries_[intern(text)];
  entry.defined = true;
  if (!entry.type) entry.type = type;
}

void NameTable::collect(const BoundSymbol& statement) {
  const bool unpacks = statement.kind == StatementKind::UnpackSequence ||
                       statement.kind == StatementKind::EmptyCollection;
  const auto read = [this, unpacks](const Value& leaf) {
    if (!leaf.is_name()) return;
    const NameId id = intern(leaf.text);
    if (unpacks) entries_[id].unpacked = true;
  };
  for (const Value& arg : statement.args) for_each_leaf(arg, read);
  if (statement.kind == StatementKind::PackAssign) {
    for_each_leaf(statement.output, read);
  } else if (statement.output.is_name()) {
    define(statement.output.text, statement.type);
  } else {
    for_each_leaf(statement.output, [this](const Value& leaf) {
      if (leaf.is_name()) define(leaf.text, nullptr);
    });
  }
  for (std::size_t i = 0; i < statement.details.size() && i < statement.detail_types.size(); ++i) {
    if (statement.details[i].is_name()) {
      define(statement.details[i].text, statement.detail_types[i]);
    }
  }
  for (const BoundSymbolRef& child : statement.subsymbols) collect(*child);
}

NameId NameTable::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? kNoName : found->second;
}

bool NameTable::is_tensor(NameId id) const {
  const Entry& entry = entries_[id];
  if (!entry.defined || (!entry.type && entry.unpacked)) return false;
  // Asynchronous results (FUTURE ...) are no tensors to Thunder's passes.
  return !entry.type || entry.type->kind == TypeKind::Tensor ||
         entry.type->kind == TypeKind::DistributedTensor;
}

bool NameTable::is_number(NameId id) const {
  const Entry& entry = entries_[id];
  if (!entry.defined || !entry.type) return false;
  const TypeKind kind = entry.type->kind;
  return kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Bool ||
         kind == TypeKind::Complex;
}

bool NameTable::is_collection(NameId id) const {
  const Entry& entry = entries_[id];
  return entry.type ? entry.type->kind == TypeKind::Collection : entry.unpacked;
}

const std::vector<std::int64_t>* NameTable::shape(NameId id) const {
  const TypeRef& type = entries_[id].type;
  return type && type->shape ? &*type->shape : nullptr;
}

std::optional<std::int64_t> NameTable::elements(NameId id) const {
  const std::vector<std::int64_t>* dims = shape(id);
  return dims ? element_count(*dims) : std::nullopt;
}

NameId NameTable::fresh(TypeRef type) {
  fresh_texts_.push_back("t" + std::to_string(next_number_));
  const NameId id = intern(fresh_texts_.back());
  entries_[id].defined = true;
  entries_[id].type = std::move(type);
  return id;
}

}  // namespace tg
