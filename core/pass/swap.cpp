#include "core/pass/swap.h"

#include <algorithm>

namespace tg {
namespace {

constexpr std::uint32_t kNoNode = 0xffffffffU;

NameId replacement(const Value& leaf, const NameTable& names, const NameLookup& lookup) {
  if (!leaf.is_name()) return kNoName;
  const NameId id = names.find(leaf.text);
  if (id == kNoName || !names.is_proxy(id)) return kNoName;
  const NameId to = lookup(id);
  return to == id ? kNoName : to;
}

// Replacements of the name leaves of a value in order, kNoName for those that stay.
using Replacements = std::vector<NameId>;

// True when some name is replaced.
bool look_up(const Value& value, const NameTable& names, const NameLookup& lookup,
             Replacements& found) {
  if (value.items.empty()) {
    if (!value.is_name()) return false;
    found.push_back(replacement(value, names, lookup));
    return found.back() != kNoName;
  }
  bool any = false;
  for (const Value& item : value.items) any |= look_up(item, names, lookup, found);
  return any;
}

void rename(Value& value, const NameTable& names, const NameId*& next) {
  if (value.items.empty()) {
    if (!value.is_name()) return;
    const NameId to = *next++;
    if (to != kNoName) value.text = std::string(names.text(to));
    return;
  }
  for (Value& item : value.items) rename(item, names, next);
}

}  // namespace

BoundSymbolRef swap_names(const BoundSymbolRef& statement, const NameTable& names,
                          const NameLookup& lookup, SwapParts parts) {
  Replacements inputs;
  Replacements outputs;
  bool swaps_inputs = false;
  if (parts.inputs) {
    for (const Value& arg : statement->args) {
      swaps_inputs |= look_up(arg, names, lookup, inputs);
    }
  }
  const bool swaps_output = parts.output && look_up(statement->output, names, lookup, outputs);
  std::vector<BoundSymbolRef> children;
  bool swaps_children = false;
  if (parts.subsymbols && !statement->subsymbols.empty()) {
    children.reserve(statement->subsymbols.size());
    for (const BoundSymbolRef& child : statement->subsymbols) {
      children.push_back(swap_names(child, names, lookup, parts));
      swaps_children |= children.back() != child;
    }
  }
  if (!swaps_inputs && !swaps_output && !swaps_children) return statement;
  auto swapped = std::make_shared<BoundSymbol>(*statement);
  swapped->verbatim.reset();
  swapped->verbatim_has_program_line = false;
  if (swaps_inputs) {
    const NameId* next = inputs.data();
    for (Value& arg : swapped->args) rename(arg, names, next);
  }
  if (swaps_output) {
    const NameId* next = outputs.data();
    rename(swapped->output, names, next);
    if (swapped->output.is_name()) {
      const TypeRef& type = names.type(names.find(swapped->output.text));
      if (type) swapped->type = type;
    }
  }
  if (swaps_children) swapped->subsymbols = std::move(children);
  return swapped;
}

void SwapMap::set(NameId from, NameId to) {
  if (from >= target_.size()) target_.resize(from + 1, kNoName);
  if (target_[from] == kNoName) {
    order_.push_back(from);
  } else {
    ++epoch_;
  }
  target_[from] = to;
}

NameId SwapMap::direct(NameId name) const {
  return name < target_.size() ? target_[name] : kNoName;
}

NameId SwapMap::end(NameId name, bool* cycle) const {
  if (direct(name) == kNoName) return kNoName;
  if (shortcuts_.size() < target_.size()) shortcuts_.resize(target_.size());
  NameId at = name;
  std::size_t length = 0;
  while (direct(at) != kNoName) {
    const Shortcut& shortcut = shortcuts_[at];
    at = shortcut.epoch == epoch_ ? shortcut.end : target_[at];
    if (++length > order_.size()) {
      if (cycle) *cycle = true;
      return kNoName;
    }
  }
  shortcuts_[name] = {at, epoch_};
  return at;
}

void ShortenedSwapMap::grow(NameId name) {
  if (name < key_node_.size()) return;
  key_node_.resize(name + 1, kNoNode);
  end_node_.resize(name + 1, kNoNode);
}

ShortenedSwapMap::Node ShortenedSwapMap::find(Node node) const {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

ShortenedSwapMap::Node ShortenedSwapMap::root_node(NameId name) {
  grow(name);
  if (end_node_[name] == kNoNode) {
    end_node_[name] = static_cast<Node>(parent_.size());
    parent_.push_back(end_node_[name]);
    end_name_.push_back(name);
  }
  return end_node_[name];
}

NameId ShortenedSwapMap::end(NameId name) const {
  if (name >= key_node_.size() || key_node_[name] == kNoNode) return kNoName;
  return end_name_[find(key_node_[name])];
}

bool ShortenedSwapMap::set(NameId from, NameId to) {
  grow(std::max(from, to));
  const NameId to_end = end(to) == kNoName ? to : end(to);
  // `from` points to `to`, whose chain would come back: a self entry, or an end that is `from`.
  if (to == from || to_end == from) return false;
  const Node target = find(root_node(to_end));
  if (key_node_[from] == kNoNode) {
    // Whatever ended in `from` goes on to the new end.
    const Node own = root_node(from);
    parent_[own] = target;
    key_node_[from] = own;
    ++size_;
  } else {
    // A key that gets another target: names that were shortened past it keep their end.
    const Node own = static_cast<Node>(parent_.size());
    parent_.push_back(target);
    end_name_.push_back(from);
    key_node_[from] = own;
  }
  return true;
}

}  // namespace tg
