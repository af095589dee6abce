// Producers and consumers. Names may be bound more than once: a definition is (name, statement).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

using DefinitionId = std::uint32_t;
constexpr DefinitionId kNoDefinition = 0xffffffffU;
constexpr std::uint32_t kArgument = 0xffffffffU;  // "statement" of a parameter without annotation

struct Definition {
  std::string_view name;        // into the trace
  std::uint32_t statement = 0;  // index into trace.bound_symbols; annotations define parameters
  std::vector<std::uint32_t>
      readers;  // statement indices in order, one per occurrence; `del` is none
};

// Depth 0 only. Requires the trace to outlive it. A name that only a sub-statement defines and that
// a later statement reads (canonicalized traces read the result of an inner copy_) counts as
// defined by the statement that the sub-statement belongs to.
class DefUse {
 public:
  explicit DefUse(const Trace& trace);
  [[nodiscard]] const std::vector<Definition>& definitions() const { return definitions_; }
  // The definition that statement `statement` sees when it reads `name`; kNoDefinition if none
  // before it.
  [[nodiscard]] DefinitionId reaching(std::string_view name, std::uint32_t statement) const;
  // Definitions read by / made by a statement, in argument / output order. `del` reads what it
  // drops.
  [[nodiscard]] const std::vector<DefinitionId>& reads_of(std::uint32_t statement) const;
  [[nodiscard]] const std::vector<DefinitionId>& definitions_of(std::uint32_t statement) const;
  // Names read at depth 0 that no statement at depth 0 defines before the read.
  [[nodiscard]] const std::unordered_set<std::string_view>& undefined_names() const {
    return undefined_;
  }

 private:
  void define(std::string_view name, std::uint32_t statement);

  std::vector<Definition> definitions_;
  std::vector<std::vector<DefinitionId>> reads_;
  std::vector<std::vector<DefinitionId>> makes_;
  std::unordered_map<std::string_view, std::vector<DefinitionId>> by_name_;
  std::unordered_set<std::string_view> undefined_;
};

// Names that a statement reads: its arguments, and the target object of `obj.attr = t3`.
std::vector<std::string_view> names_read(const BoundSymbol& statement);

}  // namespace tg
