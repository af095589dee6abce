// Problem: reads and writes of one storage go by several names, so nothing but the order of the
// lines says which read sees which write; later passes move lines. Thunder of January 2026 keeps
// the writes in place and makes their order a matter of data flow.
//
//   t0 = ltorch.sin(x)              t0 = ltorch.sin(x)
//   t2 = ltorch.exp_(t0)            (t4,) = prims.update_aliases((t0,))
//   t3 = ltorch.cos(t0)       =>    t2 = ltorch.exp_(t4)
//   return t3                       (t5,) = prims.update_aliases((t2,))
//                                   t3 = ltorch.cos(t5)
//                                   return t3
// Rules
//   replace-alias-argument, index-out-of-range   as in alias_args; sizes that differ are no error
//   here update-aliases    before a use of a written storage its names so far get new names
//   rename-readers    a reader of a name that has a new one reads that
//   no-write          note: nothing is written in place, the trace goes on unchanged
// Refuses: nothing but what alias_args refuses. Groups are lists of names and are never merged: a
// view of the result of a write starts a group of its own, a reshape made for an aliased argument
// is no view, and the return gets no update, as in Thunder. The order inside a tuple is that of a
// hash set there; here names stand in the order of their first appearance.

#include <algorithm>

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/argument_aliases.h"
#include "core/pass/retrace.h"
#include "core/pass/swap.h"

namespace tg {
namespace {

// Tagged in place, or its last sub-statement copies back: flag forms and ltorch.copy_ count.
bool writes_in_place(const BoundSymbol& statement) {
  if (statement.kind != StatementKind::Call) return false;
  const OpInfo& op = statement.op_info();
  if (op.has(kInPlace) && !op.has(kThunderUntagged)) return true;
  return !statement.subsymbols.empty() && is_raw_copy(*statement.subsymbols.back());
}

bool creates_view(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call &&
         statement.op_info().has(kThunderView | kThunderMayView);
}

// Names that Thunder takes for one storage.
class StorageGroups {
 public:
  void add_group(const std::vector<NameId>& members) {
    for (const NameId name : members) put(name, groups_);
    ++groups_;
  }
  // `results` are views made of `from`.
  void add_views(NameId from, const std::vector<NameId>& results) {
    const std::size_t group = of(from).empty() ? groups_++ : of(from).front();
    put(from, group);
    for (const NameId name : results) put(name, group);
  }
  void mark_written(NameId name) { written_names_.push_back(name); }
  // Drops the groups without a written name.
  void keep_written() {
    members_.resize(groups_);
    std::vector<bool> written(groups_, false);
    for (const NameId name : written_names_) {
      for (const std::size_t group : of(name)) written[group] = true;
    }
    for (NameId name = 0; name < of_name_.size(); ++name) {
      std::erase_if(of_name_[name], [&](std::size_t group) { return !written[group]; });
      for (const std::size_t group : of_name_[name]) members_[group].push_back(name);
    }
  }
  [[nodiscard]] const std::vector<std::size_t>& of(NameId name) const {
    return name < of_name_.size() ? of_name_[name] : none_;
  }
  [[nodiscard]] const std::vector<NameId>& members(std::size_t group) const {
    return members_[group];
  }

 private:
  void put(NameId name, std::size_t group) {
    if (name >= of_name_.size()) of_name_.resize(name + 1);
    std::vector<std::size_t>& list = of_name_[name];
    const auto at = std::lower_bound(list.begin(), list.end(), group);
    if (at == list.end() || *at != group) list.insert(at, group);
  }

  std::size_t groups_ = 0;
  std::vector<std::vector<std::size_t>> of_name_;  // ascending
  std::vector<std::vector<NameId>> members_;
  std::vector<NameId> written_names_;
  std::vector<std::size_t> none_;
};

// oldest name -> ... -> newest name of one tensor object. A chain only grows at its end.
class NameChains {
 public:
  [[nodiscard]] NameId oldest(NameId name) const {
    return name < oldest_.size() && oldest_[name] != kNoName ? oldest_[name] : name;
  }
  [[nodiscard]] NameId newest(NameId name) const {
    const NameId first = oldest(name);
    return first < newest_.size() && newest_[first] != kNoName ? newest_[first] : first;
  }
  // False when the entry closes a cycle.
  [[nodiscard]] bool extend(NameId name, NameId by) {
    const NameId first = oldest(name);
    if (oldest(by) == first) return false;
    const NameId size = std::max(first, by) + 1;
    if (oldest_.size() < size) oldest_.resize(size, kNoName);
    if (newest_.size() < size) newest_.resize(size, kNoName);
    oldest_[by] = first;
    newest_[first] = by;
    return true;
  }

 private:
  std::vector<NameId> oldest_;  // by name
  std::vector<NameId> newest_;  // by oldest name
};

class AliasUpdates {
 public:
  AliasUpdates(Rewriter& rw, NameTable& names) : rw_(rw), names_(names) {}

  // The first error, if any.
  std::optional<PassError> run(const ArgumentAliases& merged) {
    for (const std::vector<NameId>& group : merged.view_groups) {
      groups_.add_group(group);
      for (const NameId name : group) meet(name);
    }
    for (const PlacedStatement& placed : merged.statements) find_groups(*placed.statement);
    groups_.keep_written();
    for (const PlacedStatement& placed : merged.statements) {
      if (!rewrite(placed)) return std::move(error_);
    }
    return std::nullopt;
  }

 private:
  void find_groups(const BoundSymbol& statement) {
    const bool writes = writes_in_place(statement);
    if (!writes && !creates_view(statement)) return;
    const NameId input = first_tensor_arg(statement, names_);
    if (input == kNoName) return;
    if (writes) groups_.mark_written(input);
    groups_.add_views(input, writes ? std::vector<NameId>{} : tensor_outs(statement));
  }

  std::vector<NameId> tensor_outs(const BoundSymbol& statement) const {
    std::vector<NameId> outs = proxy_outs(statement, names_);
    std::erase_if(outs, [this](NameId name) { return !names_.is_tensor(name); });
    return outs;
  }

  void meet(NameId name) {
    if (name >= met_.size()) met_.resize(name + 1, false);
    met_[name] = true;
  }
  [[nodiscard]] bool is_met(NameId name) const { return name < met_.size() && met_[name]; }

  // Names of the storages that `inputs` (oldest names) lie in, as far as the program has come to
  // them.
  std::vector<NameId> names_to_update(const std::vector<NameId>& inputs) const {
    std::vector<std::size_t> met_groups;
    for (const NameId input : inputs) {
      const std::vector<std::size_t>& of_input = groups_.of(input);
      met_groups.insert(met_groups.end(), of_input.begin(), of_input.end());
    }
    std::sort(met_groups.begin(), met_groups.end());
    met_groups.erase(std::unique(met_groups.begin(), met_groups.end()), met_groups.end());
    std::vector<NameId> found;
    for (const std::size_t group : met_groups) {
      for (const NameId name : groups_.members(group)) {
        if (is_met(name)) found.push_back(name);
      }
    }
    std::sort(found.begin(), found.end());  // numbered in order of first appearance
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  bool rewrite(const PlacedStatement& placed) {
    const BoundSymbol& statement = *placed.statement;
    const bool writes = writes_in_place(statement);
    std::vector<NameId> inputs = tensor_args(statement, names_);
    if (writes) inputs.resize(std::min<std::size_t>(inputs.size(), 1));
    std::vector<NameId> oldest;
    for (const NameId input : inputs) oldest.push_back(chains_.oldest(input));
    const bool reads_written = std::any_of(
        oldest.begin(), oldest.end(), [this](NameId name) { return !groups_.of(name).empty(); });
    if (!writes && !creates_view(statement) && (is_return(statement) || !reads_written)) {
      rename(placed);
      return true;
    }
    for (const NameId input : inputs) meet(input);
    const std::vector<NameId> old_names = names_to_update(oldest);
    if (old_names.empty()) {
      rename(placed, {.inputs = true, .output = false, .subsymbols = true});
      return true;
    }
    if (!update(placed, old_names)) return false;
    const std::vector<NameId> outs = tensor_outs(statement);
    for (const NameId out : outs) meet(out);
    if (!writes || outs.size() != 1 || inputs.empty()) return true;
    // A line that gives back the very name that it writes needs no entry.
    if (outs.front() == inputs.front()) return true;
    return extend(inputs.front(), outs.front());
  }

  bool extend(NameId name, NameId by) {
    if (chains_.extend(name, by)) return true;
    error_ = PassError{"ValueError",
                       fmt::format("Cycle detected in swap map for aliases updates: {}",
                                   tensor_repr(name, names_)),
                       kNoStatement};
    return false;
  }

  BoundSymbolRef renamed(const BoundSymbolRef& statement, SwapParts parts = {}) const {
    return swap_names(
        statement, names_, [this](NameId name) { return chains_.newest(name); }, parts);
  }

  void rename(const PlacedStatement& placed, SwapParts parts = {}) {
    const BoundSymbolRef after = renamed(placed.statement, parts);
    if (after == placed.statement) return;
    rw_.step("rename-readers", placed.id,
             [&] {
               return fmt::format("{} reads the newest names of what was written",
                                  describe(*placed.statement, placed.id));
             })
        .replace(placed.id, after);
  }

  bool update(const PlacedStatement& placed, const std::vector<NameId>& old_names) {
    std::vector<Value> from;
    std::vector<Value> to;
    std::vector<NameId> fresh;
    for (const NameId name : old_names) {
      const NameId current = chains_.newest(name);
      from.push_back(Value::name(names_.text(current)));
      fresh.push_back(names_.fresh(names_.type(current)));
      to.push_back(Value::name(names_.text(fresh.back())));
    }
    auto step = rw_.step("update-aliases", placed.id,
                         [&] { return reason(*placed.statement, placed.id, from, to); });
    if (!step.applied()) return true;
    step.insert_before(placed.id, make_call("prims.update_aliases", Value::tuple(std::move(to)),
                                            {Value::tuple(std::move(from))}, nullptr));
    for (std::size_t i = 0; i < old_names.size(); ++i) {
      if (!extend(old_names[i], fresh[i])) return false;
    }
    step.replace(placed.id, renamed(placed.statement));
    return true;
  }

  std::string reason(const BoundSymbol& statement, StatementId id, const std::vector<Value>& from,
                     const std::vector<Value>& to) const {
    const auto listed = [](const std::vector<Value>& values) {
      std::string text;
      for (const Value& value : values) text += (text.empty() ? "" : ", ") + value.text;
      return text;
    };
    return fmt::format("{} {} a storage that is written in place, so {} {} from here on {}",
                       describe(statement, id), writes_in_place(statement) ? "writes" : "uses",
                       listed(from), from.size() == 1 ? "is called" : "are called", listed(to));
  }

  static std::string describe(const BoundSymbol& statement, StatementId id) {
    if (statement.kind == StatementKind::Call) return callee_at(statement, id);
    return "the statement at " + place_of(statement, id);
  }

  Rewriter& rw_;
  NameTable& names_;
  StorageGroups groups_;
  NameChains chains_;
  std::vector<bool> met_;  // by name: the program has come to it
  std::optional<PassError> error_;
};

}  // namespace

PassResult update_aliases(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  if (std::none_of(before.bound_symbols.begin(), before.bound_symbols.end(),
                   [](const BoundSymbolRef& statement) { return writes_in_place(*statement); })) {
    rw.note("no-write", kNoStatement, "no statement writes in place; the trace goes on unchanged");
    return std::move(rw).unchanged();
  }
  NameTable names(before);
  ArgumentAliases merged;
  {
    const auto group = rw.group("alias_args");
    merged = merge_argument_aliases(rw, names, context.options.alias_groups, Era::Thunder2026);
  }
  if (merged.error) return std::move(rw).fail(std::move(*merged.error));
  if (std::optional<PassError> error = AliasUpdates(rw, names).run(merged))
    return std::move(rw).fail(*std::move(error));
  return std::move(rw).finish("Update aliases for in-place ops");
}

}  // namespace tg
