// Bindings: what names stand for while the alias analysis walks a trace. Internal to core/analysis.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/value.h"

namespace tg {

using TensorIndex = std::uint32_t;  // into the builder's list of placements

struct Binding {
  enum class Kind : std::uint8_t { Unbound, Tensor, Sequence, Other };
  Kind kind = Kind::Unbound;
  TensorIndex tensor = 0;
  std::shared_ptr<const std::vector<Binding>> items;  // Sequence; dicts in sorted key order

  static Binding of_tensor(TensorIndex index) { return {Kind::Tensor, index, nullptr}; }
  static Binding other() { return {Kind::Other, 0, nullptr}; }
  static Binding sequence(std::vector<Binding> items) {
    return {Kind::Sequence, 0, std::make_shared<const std::vector<Binding>>(std::move(items))};
  }
  [[nodiscard]] bool is_tensor() const { return kind == Kind::Tensor; }
};

// Calls f(TensorIndex) for every tensor inside.
template <typename F>
void for_each_tensor_in(const Binding& binding, F&& f) {
  if (binding.is_tensor()) {
    f(binding.tensor);
  } else if (binding.kind == Binding::Kind::Sequence) {
    for (const Binding& item : *binding.items) for_each_tensor_in(item, f);
  }
}

// Names of nested scopes: the trace, and one for each composite or region that runs by its
// sub-statements.
class Scopes {
 public:
  Scopes() { levels_.emplace_back(); }
  [[nodiscard]] const Binding* find(std::string_view name) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      const auto found = level->find(name);
      if (found != level->end()) return &found->second;
    }
    return nullptr;
  }
  // In the innermost scope alone.
  [[nodiscard]] const Binding* find_here(std::string_view name) const {
    const auto found = levels_.back().find(name);
    return found == levels_.back().end() ? nullptr : &found->second;
  }
  // Room for that many names in the outermost scope.
  void reserve(std::size_t names) { levels_.front().reserve(names); }
  void bind(std::string_view name, Binding binding) { levels_.back()[name] = std::move(binding); }
  void unbind(std::string_view name) { levels_.back().erase(name); }
  void open() { levels_.emplace_back(); }
  std::unordered_map<std::string_view, Binding> close() {
    auto level = std::move(levels_.back());
    levels_.pop_back();
    return level;
  }
  [[nodiscard]] std::size_t depth() const { return levels_.size() - 1; }
  [[nodiscard]] const std::unordered_map<std::string_view, Binding>& outermost() const {
    return levels_.front();
  }

 private:
  std::vector<std::unordered_map<std::string_view, Binding>> levels_;
};

}  // namespace tg
