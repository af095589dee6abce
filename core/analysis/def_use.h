// Producers and consumers. Names may be bound more than once: a definition is (name, statement).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

using DefinitionId = std::uint32_t;
constexpr DefinitionId kNoDefinition = 0xffffffffU;
constexpr std::uint32_t kArgument = 0xffffffffU;  // "statement" of a parameter without annotation

struct Definition {
  std::string_view name;       // into the trace
  std::uint32_t statement = 0; // index into trace.bound_symbols; annotations define parameters
  std::vector<std::uint32_t> readers;  // statement indices in order, one per occurrence
};

// Depth 0 only. Requires the trace to outlive it.
class DefUse {
 public:
  explicit DefUse(const Trace& trace);
  [[nodiscard]] const std::vector<Definition>& definitions() const { return definitions_; }
  // The definition that statement `statement` sees when it reads `name`; kNoDefinition if none before it.
  [[nodiscard]] DefinitionId reaching(std::string_view name, std::uint32_t statement) const;
  // Definitions read by / made by a statement, in argument / output order.
  [[nodiscard]] const std::vector<DefinitionId>& reads_of(std::uint32_t statement) const;
  [[nodiscard]] const std::vector<DefinitionId>& definitions_of(std::uint32_t statement) const;

 private:
  std::vector<Definition> definitions_;
  std::vector<std::vector<DefinitionId>> reads_;
  std::vector<std::vector<DefinitionId>> makes_;
  std::unordered_map<std::string_view, std::vector<DefinitionId>> by_name_;
};

}  // namespace tg
