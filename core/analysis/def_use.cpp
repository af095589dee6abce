#include "core/analysis/def_use.h"

#include <algorithm>

namespace tg {
namespace {

// Names that a statement's sub-statements bind, at any depth.
void collect_inner_names(const BoundSymbol& statement, std::vector<std::string_view>& names) {
  std::vector<const BoundSymbol*> open;
  for (const BoundSymbolRef& child : statement.subsymbols) open.push_back(child.get());
  while (!open.empty()) {
    const BoundSymbol* inner = open.back();
    open.pop_back();
    for (const std::string_view name : output_names(*inner)) names.push_back(name);
    for (const BoundSymbolRef& child : inner->subsymbols) open.push_back(child.get());
  }
}

std::unordered_set<std::string_view> annotated_names(const Trace& trace) {
  std::unordered_set<std::string_view> names;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::UnpackTrivial && statement->output.is_name()) {
      names.insert(statement->output.text);
    }
  }
  return names;
}

// Python binds parameters and earlier statements; what is left over is the work of sub-statements,
// or wrong.
std::unordered_set<std::string_view> names_without_definition(const Trace& trace) {
  std::unordered_set<std::string_view> defined;
  std::unordered_set<std::string_view> undefined;
  defined.reserve(2 * trace.bound_symbols.size());
  for (const Parameter& parameter : trace.parameters) defined.insert(parameter.name);
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    for (const std::string_view name : names_read(*statement)) {
      if (!defined.contains(name)) undefined.insert(name);
    }
    for (const std::string_view name : output_names(*statement)) defined.insert(name);
  }
  return undefined;
}

}  // namespace

std::vector<std::string_view> names_read(const BoundSymbol& statement) {
  std::vector<std::string_view> names = argument_names(statement);
  if (statement.kind == StatementKind::PackAssign) {
    for_each_leaf(statement.output, [&names](const Value& leaf) {
      if (leaf.is_name()) names.push_back(leaf.text);
    });
  }
  return names;
}

DefUse::DefUse(const Trace& trace) {
  const std::size_t count = trace.bound_symbols.size();
  reads_.resize(count);
  makes_.resize(count);
  by_name_.reserve(count * 2);
  undefined_ = names_without_definition(trace);
  const auto annotated = annotated_names(trace);
  for (const Parameter& parameter : trace.parameters) {
    if (!parameter.name.empty() && !annotated.contains(parameter.name)) {
      define(parameter.name, kArgument);
    }
  }
  std::vector<std::string_view> inner;
  for (std::uint32_t index = 0; index < count; ++index) {
    const BoundSymbol& statement = *trace.bound_symbols[index];
    for (const std::string_view name : names_read(statement)) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) continue;
      const DefinitionId definition = found->second.back();
      reads_[index].push_back(definition);
      if (statement.kind != StatementKind::Del) definitions_[definition].readers.push_back(index);
    }
    for (const std::string_view name : output_names(statement)) define(name, index);
    if (undefined_.empty() || statement.subsymbols.empty()) continue;
    inner.clear();
    collect_inner_names(statement, inner);
    for (const std::string_view name : inner) {
      if (undefined_.contains(name) && !by_name_.contains(name)) define(name, index);
    }
  }
}

void DefUse::define(std::string_view name, std::uint32_t statement) {
  const auto id = static_cast<DefinitionId>(definitions_.size());
  definitions_.push_back({name, statement, {}});
  if (statement != kArgument) makes_[statement].push_back(id);
  by_name_[name].push_back(id);
}

DefinitionId DefUse::reaching(std::string_view name, std::uint32_t statement) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return kNoDefinition;
  const std::vector<DefinitionId>& ids = found->second;
  // A parameter stands before everything.
  const auto is_before = [this, statement](DefinitionId id) {
    const std::uint32_t at = definitions_[id].statement;
    return at == kArgument || at < statement;
  };
  const auto end = std::partition_point(ids.begin(), ids.end(), is_before);
  return end == ids.begin() ? kNoDefinition : *(end - 1);
}

const std::vector<DefinitionId>& DefUse::reads_of(std::uint32_t statement) const {
  return reads_[statement];
}

const std::vector<DefinitionId>& DefUse::definitions_of(std::uint32_t statement) const {
  return makes_[statement];
}

}  // namespace tg
