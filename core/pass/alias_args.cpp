// Problem: two arguments share a storage, so a write to one is a write to the other, but names do
// not show it.
//
//   groups [[a, b]]
//   t1 = ltorch.exp_(a)                              t1 = ltorch.exp_(a)
//   t2 = ltorch.sin(b)                         =>    t3 = prims.reshape(a, (4,))
//   return {'output': t2, 'flat_args': [a, b]}       # [alias tensor args] `b` is replaced by `t3`
//                                                    t2 = ltorch.sin(t3) ...
// Rules
//   replace-alias-argument   a reader of b reads a, or a reshape of a, instead
//   index-out-of-range       note: a group names an argument that the trace does not have, and is
//   cut
// Refuses: arguments of different size (RuntimeError). Takes "same storage" for "same elements":
// disjoint slices, transposes and shifted windows of one buffer are merged too, and a reshape goes
// stale after a write, as in Thunder.

#include <algorithm>

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/argument_aliases.h"
#include "core/pass/swap.h"

namespace tg {
namespace {

struct Replacement {
  NameId by = kNoName;
  NameId storage_of = kNoName;  // the argument that it shares its storage with
  BoundSymbolRef reshape;  // to be inserted before the first reader; null when the shapes agree
  bool inserted = false;
};

class AliasMerger {
 public:
  AliasMerger(Rewriter& rw, NameTable& names, Era era) : rw_(rw), names_(names), era_(era) {
    for (const Parameter& parameter : rw.before().parameters) {
      if (!parameter.name.empty()) arguments_.push_back(names.find(parameter.name));
    }
  }

  ArgumentAliases merge(const AliasGroups& groups) {
    for (const std::vector<std::size_t>& group : groups) {
      if (!read_group(group)) return std::move(result_);
    }
    for (const auto& [from, by] : order_) {
      result_.replaced.emplace_back(names_.text(from), names_.text(by));
    }
    for (StatementId id = 0; id < rw_.before().bound_symbols.size(); ++id) rewrite(id);
    return std::move(result_);
  }

 private:
  bool fail(std::string type, std::string message) {
    result_.error = PassError{std::move(type), std::move(message), kNoStatement};
    return false;
  }

  bool read_group(const std::vector<std::size_t>& group) {
    if (group.empty() || group.front() >= arguments_.size()) {
      return fail("IndexError", "list index out of range");
    }
    const NameId kept = arguments_[group.front()];
    for (std::size_t i = 1; i < group.size(); ++i) {
      if (group[i] >= arguments_.size()) {
        rw_.note("index-out-of-range", kNoStatement, [&] {
          return fmt::format(
              "argument number {} of the call is none of the {} arguments of this trace", group[i],
              arguments_.size());
        });
        continue;
      }
      if (!replace(arguments_[group[i]], kept)) return false;
    }
    return true;
  }

  // Thunder of 2026 orders views of another size by update_aliases instead of merging them.
  bool joins_view_group(NameId argument, NameId kept) {
    if (era_ != Era::Thunder2026) return false;
    const std::optional<std::int64_t> size = names_.elements(argument);
    const std::optional<std::int64_t> kept_size = names_.elements(kept);
    if (!size || !kept_size || *size == *kept_size) return false;
    auto group = std::find_if(
        result_.view_groups.begin(), result_.view_groups.end(),
        [kept](const std::vector<NameId>& members) { return members.front() == kept; });
    if (group == result_.view_groups.end())
      group = result_.view_groups.insert(group, std::vector<NameId>{kept});
    group->push_back(argument);
    return true;
  }

  bool replace(NameId argument, NameId kept) {
    if (joins_view_group(argument, kept)) return true;
    Replacement replacement{kept, kept, nullptr, false};
    const auto* shape = names_.shape(argument);
    const auto* kept_shape = names_.shape(kept);
    if (shape && kept_shape && *shape != *kept_shape) {
      if (auto error = reshape_error(kept, *shape, names_)) {
        result_.error = std::move(error);
        return false;
      }
      replacement.by = names_.fresh(reshaped_type(names_.type(kept), *shape));
      replacement.reshape = make_reshape(kept, *shape, replacement.by, names_);
    }
    if (replacements_.size() < names_.size()) replacements_.resize(names_.size());
    if (map_.direct(argument) == kNoName) {
      order_.emplace_back(argument, replacement.by);
    } else {
      for (auto& [from, by] : order_) {
        if (from == argument) by = replacement.by;
      }
    }
    map_.set(argument, replacement.by);
    replacements_[argument] = std::move(replacement);
    return true;
  }

  void rewrite(StatementId id) {
    const BoundSymbolRef& statement = rw_.before().bound_symbols[id];
    std::vector<NameId> keys;
    std::vector<NameId> values;
    std::vector<BoundSymbolRef> reshapes;
    for (const NameId name : tensor_args(*statement, names_)) {
      const NameId by = map_.direct(name);
      if (by == kNoName || std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
      keys.push_back(name);
      values.push_back(by);
      Replacement& replacement = replacements_[name];
      if (replacement.reshape && !replacement.inserted) reshapes.push_back(replacement.reshape);
    }
    if (keys.empty()) {
      result_.statements.push_back({statement, id});
      return;
    }
    bool cycle = false;
    const BoundSymbolRef swapped =
        swap_names(statement, names_, [&](NameId name) { return map_.end(name, &cycle); },
                   {.inputs = true, .output = false, .subsymbols = true});
    auto renamed = std::make_shared<BoundSymbol>(*swapped);
    // Thunder of 2024 shows headers only on ordinary calls.
    if (renamed->kind == StatementKind::Call || era_ == Era::Thunder2026) {
      renamed->header = {"[alias tensor args] " + replaced_header(keys, values, names_)};
    }
    auto step = rw_.step("replace-alias-argument", id,
                         [&] { return reason(*statement, id, keys, values); });
    if (!step.applied()) {
      result_.statements.push_back({statement, id});
      return;
    }
    for (const BoundSymbolRef& reshape : reshapes) {
      result_.statements.push_back({reshape, step.insert_before(id, reshape)});
    }
    for (const NameId key : keys) replacements_[key].inserted = true;
    step.replace(id, BoundSymbolRef(renamed));
    result_.statements.push_back({std::move(renamed), id});
  }

  std::string reason(const BoundSymbol& statement, StatementId id, const std::vector<NameId>& keys,
                     const std::vector<NameId>& values) const {
    std::string text;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const NameId kept = replacements_[keys[i]].storage_of;
      if (!text.empty()) text += "; ";
      text += fmt::format("argument {} shares its storage with {}, so {} reads {}",
                          names_.text(keys[i]), names_.text(kept), callee_at(statement, id),
                          names_.text(values[i]));
      if (values[i] != kept) text += fmt::format(", a reshape of {}", names_.text(kept));
    }
    return text;
  }

  Rewriter& rw_;
  NameTable& names_;
  Era era_;
  std::vector<NameId> arguments_;
  SwapMap map_;
  std::vector<Replacement> replacements_;  // by name of the argument
  std::vector<std::pair<NameId, NameId>> order_;
  ArgumentAliases result_;
};

}  // namespace

std::string ArgumentAliases::provenance() const {
  std::string text = "Duplicate alias args using {";
  for (std::size_t i = 0; i < replaced.size(); ++i) {
    text += fmt::format("{}'{}': '{}'", i == 0 ? "" : ", ", replaced[i].first, replaced[i].second);
  }
  return text + "}";
}

ArgumentAliases merge_argument_aliases(Rewriter& rw, NameTable& names, const AliasGroups& groups,
                                       Era era) {
  return AliasMerger(rw, names, era).merge(groups);
}

PassResult alias_args(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  if (context.options.alias_groups.empty()) return std::move(rw).unchanged();
  NameTable names(before);
  ArgumentAliases merged =
      merge_argument_aliases(rw, names, context.options.alias_groups, context.options.era);
  if (merged.error) return std::move(rw).fail(std::move(*merged.error));
  PassResult result = std::move(rw).finish(merged.provenance());
  result.facts = std::move(merged.replaced);
  return result;
}

}  // namespace tg
