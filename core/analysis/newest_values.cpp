#include "core/analysis/newest_values.h"

#include <algorithm>

#include "core/analysis/call_arguments.h"

namespace tg {
namespace {

constexpr std::string_view kHeader = "Functionalized from `";

bool is_functionalized(const BoundSymbol& statement) {
  return std::any_of(statement.header.begin(), statement.header.end(), [](const std::string& line) {
    return std::string_view(line).starts_with(kHeader);
  });
}

bool same_elements(const Placement* a, const Placement* b) {
  if (a == nullptr || b == nullptr || !a->type || !b->type) return true;
  if (!a->type->shape || !b->type->shape) return true;
  return element_count(*a->type->shape) == element_count(*b->type->shape);
}

// The values of each variable (an argument's definition) in the order in which they were made.
class Lineages {
 public:
  Lineages(const Trace& trace, const DefUse& def_use, const AliasSets& aliases)
      : trace_(trace), def_use_(def_use), aliases_(aliases) {
    variable_of_.assign(def_use.definitions().size(), kNoDefinition);
    for (std::uint32_t i = 0; i < trace.bound_symbols.size(); ++i) visit(i);
  }

  // The value behind a reshape or another view; stops where a definition is no view.
  [[nodiscard]] DefinitionId behind_views(DefinitionId definition) const {
    for (int depth = 0; depth < 64; ++depth) {
      const std::uint32_t at = def_use_.definitions()[definition].statement;
      if (at == kArgument) return definition;
      const BoundSymbol& statement = *trace_.bound_symbols[at];
      if (statement.kind != StatementKind::Call ||
          !statement.op_info().has(kView | kMaybeView | kIdentity)) {
        return definition;
      }
      const std::vector<DefinitionId>& reads = def_use_.reads_of(at);
      if (reads.size() != 1) return definition;
      if (!same_elements(aliases_.placement(reads.front()), aliases_.placement(definition)))
        return definition;
      definition = reads.front();
    }
    return definition;
  }

  [[nodiscard]] DefinitionId variable(DefinitionId value) const {
    return variable_of_[value] == kNoDefinition ? value : variable_of_[value];
  }

  // kNoDefinition when no operation on the variable was functionalized.
  [[nodiscard]] DefinitionId newest(DefinitionId variable) const {
    const auto found = newest_.find(variable);
    return found == newest_.end() ? kNoDefinition : found->second;
  }

 private:
  void visit(std::uint32_t index) {
    const BoundSymbol& statement = *trace_.bound_symbols[index];
    if (statement.kind != StatementKind::Call || !is_functionalized(statement)) return;
    const std::vector<DefinitionId>& reads = def_use_.reads_of(index);
    const std::vector<DefinitionId>& makes = def_use_.definitions_of(index);
    if (reads.empty() || makes.empty() || statement.args.empty() ||
        !statement.args.front().is_name())
      return;
    const DefinitionId written = behind_views(reads.front());
    if (!same_elements(aliases_.placement(written), aliases_.placement(makes.front()))) return;
    const DefinitionId root = variable(written);
    variable_of_[makes.front()] = root;
    newest_[root] = makes.front();
  }

  const Trace& trace_;
  const DefUse& def_use_;
  const AliasSets& aliases_;
  std::vector<DefinitionId> variable_of_;
  std::unordered_map<DefinitionId, DefinitionId> newest_;
};

// What `earlier` wrote to each argument: names of the values in order; the last ones are the
// newest.
struct EarlierValues {
  struct Value {
    std::string_view source;  // of the inner copy_
    std::string_view result;  // of the in-place operation
  };
  std::unordered_map<std::string, std::vector<Value>> by_argument;
};

EarlierValues values_of(const Trace& earlier, const AliasSets& aliases) {
  EarlierValues values;
  for (const CopySite& copy : aliases.copies()) {
    if (copy.write == kNoAccess || copy.path.empty()) continue;
    const StorageFacts& storage = aliases.storages()[copy.destination_at.storage];
    if (!storage.is_argument || copy.destination_at.maybe) continue;
    auto& list = values.by_argument[storage.label];
    // A write of a part has no name for the whole value.
    const bool whole = copy.destination_at.whole && aliases.accesses()[copy.write].whole;
    if (copy.form == CopySite::Form::Region || (!whole && copy.source.empty())) {
      list.push_back({});
      continue;
    }
    EarlierValues::Value value;
    if (copy.destination_at.whole) value.source = copy.source;
    const BoundSymbol& statement = *earlier.bound_symbols[copy.path.front()];
    if (whole && statement.output.is_name()) value.result = statement.output.text;
    list.push_back(value);
  }
  return values;
}

std::string_view name_of(const EarlierValues::Value& value) {
  return value.result.empty() ? value.source : value.result;
}

// The newest value's name when `source` names an older value of the argument.
std::optional<std::string> newer_than(const std::vector<EarlierValues::Value>& values,
                                      std::string_view source) {
  if (values.empty()) return std::nullopt;
  const EarlierValues::Value& last = values.back();
  if (name_of(last).empty() || source == last.source || source == last.result) return std::nullopt;
  const bool is_older =
      std::any_of(values.begin(), values.end() - 1, [source](const EarlierValues::Value& value) {
        return !source.empty() && (source == value.source || source == value.result);
      });
  if (!is_older) return std::nullopt;
  return std::string(name_of(last));
}

}  // namespace

std::vector<StaleCopy> stale_copies(const Trace& trace, const DefUse& def_use,
                                    const AliasSets& aliases, const Trace* earlier) {
  std::vector<StaleCopy> stale;
  // The last copy at depth 0 into each argument decides what the caller sees.
  std::unordered_map<StorageId, std::size_t> last_copy;
  for (std::size_t i = 0; i < aliases.copies().size(); ++i) {
    const CopySite& copy = aliases.copies()[i];
    if (copy.write == kNoAccess || copy.form != CopySite::Form::Statement || copy.source.empty())
      continue;
    if (!aliases.storages()[copy.destination_at.storage].is_argument || !copy.destination_at.whole)
      continue;
    last_copy[copy.destination_at.storage] = i;
  }
  if (last_copy.empty()) return stale;
  const Lineages lineages(trace, def_use, aliases);
  EarlierValues before;
  if (earlier != nullptr) {
    const DefUse earlier_names(*earlier);
    before = values_of(*earlier, AliasSets(*earlier, earlier_names));
  }
  for (const auto& [storage, index] : last_copy) {
    const CopySite& copy = aliases.copies()[index];
    const std::uint32_t at = copy.path.front();
    const DefinitionId destination = def_use.reaching(copy.destination, at);
    const DefinitionId source = def_use.reaching(copy.source, at);
    if (destination == kNoDefinition || source == kNoDefinition) continue;
    const std::string& variable = aliases.storages()[storage].label;
    const DefinitionId value = lineages.behind_views(source);
    const DefinitionId root = lineages.variable(lineages.behind_views(destination));
    const DefinitionId newest = lineages.newest(root);
    if (newest != kNoDefinition && newest != value && lineages.variable(value) == root) {
      const Definition& definition = def_use.definitions()[newest];
      stale.push_back({index, variable, std::string(definition.name),
                       definition.statement == kArgument
                           ? SourceRange{}
                           : trace.bound_symbols[definition.statement]->at});
      continue;
    }
    const auto earlier_values = before.by_argument.find(variable);
    if (earlier_values == before.by_argument.end()) continue;
    const std::string_view name = def_use.definitions()[value].name;
    if (std::optional<std::string> newer = newer_than(earlier_values->second, name)) {
      const DefinitionId newest_here =
          def_use.reaching(*newer, static_cast<std::uint32_t>(trace.bound_symbols.size()));
      SourceRange newest_at;
      if (newest_here != kNoDefinition &&
          def_use.definitions()[newest_here].statement != kArgument) {
        newest_at = trace.bound_symbols[def_use.definitions()[newest_here].statement]->at;
      }
      stale.push_back({index, variable, std::move(*newer), newest_at});
    }
  }
  std::sort(stale.begin(), stale.end(),
            [](const StaleCopy& a, const StaleCopy& b) { return a.copy < b.copy; });
  return stale;
}

}  // namespace tg
