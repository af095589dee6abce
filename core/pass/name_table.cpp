#include "core/pass/name_table.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>

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

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

std::uint64_t NameIndex::word_of(std::string_view text) {
  std::uint64_t word = 0;
  if (text.size() <= sizeof(word)) {
    std::memcpy(&word, text.data(), text.size());
    return word;
  }
  return std::hash<std::string_view>{}(text);
}

std::size_t NameIndex::slot_of(std::string_view text, std::uint64_t word) const {
  const std::size_t mask = slots_.size() - 1;
  // The high bits of the product depend on every byte of the word.
  auto at = static_cast<std::size_t>((word * 0x9e3779b97f4a7c15ULL) >> shift_);
  for (;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.id == kNoName) return at;
    if (slot.word == word && slot.length == text.size() &&
        (text.size() <= sizeof(word) || texts_[slot.id] == text)) {
      return at;
    }
  }
}

std::optional<NameIndex::Numbered> NameIndex::numbered(std::string_view text) {
  if (text.size() < 2 || text.size() > 8 || text[0] < 'a' || text[0] > 'z') return std::nullopt;
  if (text[1] == '0' && text.size() > 2) return std::nullopt;
  std::size_t number = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + static_cast<std::size_t>(c - '0');
  }
  return Numbered{static_cast<std::size_t>(text[0] - 'a'), number};
}

void NameIndex::reserve(std::size_t count) {
  texts_.reserve(count);
}

NameId NameIndex::find_hashed(std::string_view text) const {
  return slots_.empty() ? kNoName : slots_[slot_of(text, word_of(text))].id;
}

NameId NameIndex::find(std::string_view text) const {
  if (const std::optional<Numbered> name = numbered(text)) {
    const std::vector<NameId>& ids = by_number_[name->letter];
    if (name->number < ids.size() && ids[name->number] != kNoName) return ids[name->number];
  }
  return find_hashed(text);
}

std::pair<NameId, bool> NameIndex::insert(std::string_view text) {
  const auto id = static_cast<NameId>(texts_.size());
  if (const std::optional<Numbered> name = numbered(text)) {
    // Numbers far beyond the count of names are rare, and would only make the array large.
    std::vector<NameId>& ids = by_number_[name->letter];
    const bool fits = name->number < 1024 + 16 * texts_.size();
    if (fits && name->number >= ids.size()) {
      ids.resize(std::max(name->number + 1, 2 * ids.size()), kNoName);
    }
    if (name->number < ids.size()) {
      NameId& known = ids[name->number];
      if (known != kNoName) return {known, false};
      const NameId hashed = hashed_ == 0 ? kNoName : find_hashed(text);
      if (hashed != kNoName) return {hashed, false};
      known = id;
      texts_.push_back(text);
      return {id, true};
    }
  }
  if (2 * (hashed_ + 1) > slots_.size()) {
    const std::vector<Slot> old = std::move(slots_);
    slots_.assign(std::max<std::size_t>(16, 2 * old.size()), Slot{});
    shift_ = old.empty() ? 60 : shift_ - 1;
    for (const Slot& slot : old) {
      if (slot.id != kNoName) slots_[slot_of(texts_[slot.id], slot.word)] = slot;
    }
  }
  const std::uint64_t word = word_of(text);
  Slot& slot = slots_[slot_of(text, word)];
  if (slot.id != kNoName) return {slot.id, false};
  slot = {word, id, static_cast<std::uint32_t>(text.size())};
  ++hashed_;
  texts_.push_back(text);
  return {id, true};
}

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
  const auto [id, is_new] = ids_.insert(text);
  if (is_new) {
    entries_.push_back({text, nullptr, false});
    if (const auto number = temporary_number(text)) {
      next_number_ = std::max(next_number_, *number + 1);
    }
  }
  return id;
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
    if (statement.kind == StatementKind::Call && statement.op_info().has(kIdentity))
      take_types_of_inputs(statement);
  }
  for (std::size_t i = 0; i < statement.details.size() && i < statement.detail_types.size(); ++i) {
    if (statement.details[i].is_name()) {
      define(statement.details[i].text, statement.detail_types[i]);
    }
  }
  for (const std::string& line : statement.header) avoid_names(line);
  for (const BoundSymbolRef& child : statement.subsymbols) collect(*child);
}

// `(t3, t4) = update_aliases((t1, t2))` has no type comment: a result is its argument.
void NameTable::take_types_of_inputs(const BoundSymbol& statement) {
  if (statement.args.size() != 1) return;
  const std::vector<Value>& inputs = statement.args.front().items;
  const std::vector<Value>& outputs = statement.output.items;
  for (std::size_t i = 0; i < inputs.size() && i < outputs.size(); ++i) {
    if (!inputs[i].is_name() || !outputs[i].is_name() || outputs[i].text == "_") continue;
    Entry& entry = entries_[intern(outputs[i].text)];
    if (!entry.type) entry.type = entries_[intern(inputs[i].text)].type;
  }
}

// Headers speak of values that are gone; a fresh name must not look like one of them.
void NameTable::avoid_names(std::string_view header) {
  for (std::size_t at = header.find('t'); at != std::string_view::npos;
       at = header.find('t', at + 1)) {
    if (at > 0 && is_word(header[at - 1])) continue;
    std::size_t end = at + 1;
    while (end < header.size() && is_word(header[end])) ++end;
    if (const auto number = temporary_number(header.substr(at, end - at))) {
      next_number_ = std::max(next_number_, *number + 1);
    }
  }
}

NameId NameTable::find(std::string_view text) const {
  return ids_.find(text);
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
