// Problem: after a write in place, the old name and the result name mean the same tensor;
// functionalization needs readers to say which version they read.
//
//   t2 = ltorch.exp_(t0)                       t2 = ltorch.exp_(t0)
//   t3 = ltorch.cos(t0)                  =>    # `t0` is replaced by `t2`
//   return {'output': t3, 'flat_args': [x]}    t3 = ltorch.cos(t2) ...
//
// Rules
//   rename-readers           readers of a written name read the result of the write
//   rebuild-base-from-view   a base that was written through its view is read as a reshape of the
//   view's new value
// Refuses: a second read of such a base while no write to its view was seen (RuntimeError). Keeps
// Thunder's unsound corners: any second read counts as "after the write"; the result of an earlier
// write is not renamed when the old name is written again; a reshape undoes every kind of view,
// transposes included.

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/pass/all_passes.h"
#include "core/pass/canonical.h"
#include "core/pass/swap.h"
#include "core/pass/view_writes.h"

namespace tg {
namespace {

class Canonicalizer {
 public:
  Canonicalizer(Statements statements, const StatementNames& names_of, NameTable& names,
                const std::vector<std::pair<NameId, NameId>>& base_to_view)
      : statements_(statements), names_of_(names_of), names_(names), base_to_view_(base_to_view) {
    for (const auto& [base, view] : base_to_view) {
      if (base >= view_of_.size()) view_of_.resize(base + 1, kNoName);
      view_of_[base] = view;
    }
  }

  CanonicalForm run() {
    form_.statements.reserve(statements_.size());
    for (std::uint32_t i = 0; i < statements_.size(); ++i) {
      if (!rewrite(i)) return std::move(form_);
    }
    if (!form_.statements.empty()) {
      BoundSymbolRef& last = form_.statements.back().statement;
      last = swap(last, {});
    }
    for (const CanonicalStatement& item : form_.statements) {
      form_.names.append(*item.statement, names_);
    }
    if (cycle_) fail_with_cycle(static_cast<std::uint32_t>(statements_.size() - 1));
    return std::move(form_);
  }

 private:
  BoundSymbolRef swap(const BoundSymbolRef& statement, SwapParts parts) {
    if (map_.empty()) return statement;
    return swap_names(
        statement, names_, [this](NameId name) { return map_.end(name, &cycle_); }, parts);
  }

  void fail_with_cycle(std::uint32_t origin) {
    std::string listed;
    for (const NameId key : map_.keys()) {
      bool cycle = false;
      static_cast<void>(map_.end(key, &cycle));
      if (cycle) listed += (listed.empty() ? "" : ", ") + tensor_repr(key, names_);
    }
    form_.error = PassError{
        "RuntimeError",
        fmt::format("Detected a cycle while swapping; the cycle includes {{{}}}", listed), origin};
  }

  bool seen(NameId name) {
    if (name >= seen_.size()) seen_.resize(names_.size(), false);
    const bool was = seen_[name];
    seen_[name] = true;
    return was;
  }

  bool rewrite(std::uint32_t i) {
    const BoundSymbolRef& original = statements_[i];
    BoundSymbolRef current = swap(original, {.inputs = true, .output = false, .subsymbols = true});
    if (cycle_) {
      fail_with_cycle(i);
      return false;
    }
    if (!map_.empty()) current = with_replaced_header(i, current);

    // Bases that are rebuilt for this statement: base -> the newest value of its view.
    std::vector<std::pair<NameId, NameId>> rebuilt;
    const std::vector<NameId> read =
        base_to_view_.empty() ? std::vector<NameId>() : tensor_args(*current, names_);
    for (const NameId name : read) {
      if (!seen(name)) continue;
      const NameId view = name < view_of_.size() ? view_of_[name] : kNoName;
      if (view == kNoName) continue;
      const NameId value = map_.direct(view);
      if (value == kNoName) return fail_view_not_written(view, i);
      const bool listed = std::any_of(rebuilt.begin(), rebuilt.end(),
                                      [name](const auto& entry) { return entry.first == name; });
      if (!listed) rebuilt.emplace_back(name, value);
    }
    if (!rebuilt.empty()) {
      current = rebuild(std::move(current), rebuilt, i);
      if (!current) return false;
    }

    const bool is_write = is_functionalizable(*current);
    if (is_write) {
      const BoundSymbol& copy = *original->subsymbols.back();
      const std::vector<NameId> outs = proxy_outs(copy, names_);
      const std::vector<NameId> args = proxy_args(copy, names_);
      if (!outs.empty() && args.size() > 1) map_.set(args[1], outs.front());
      current = swap(current, {.inputs = false, .output = true, .subsymbols = false});
    }
    if (!rebuilt.empty() && current->kind == StatementKind::Call) {
      current = with_header(current, rebuilt_header(rebuilt));
    }
    form_.statements.push_back({std::move(current), i, false});
    return true;
  }

  BoundSymbolRef with_header(const BoundSymbolRef& statement, std::string header) const {
    auto copy = std::make_shared<BoundSymbol>(*statement);
    copy->header = {std::move(header)};
    return copy;
  }

  BoundSymbolRef with_replaced_header(std::uint32_t i, const BoundSymbolRef& current) const {
    const BoundSymbolRef& original = statements_[i];
    std::vector<NameId> keys;
    std::vector<NameId> values;
    for (const NameId name : names_of_.args(i)) {
      const NameId value = map_.direct(name);
      if (value == kNoName || !names_.is_tensor(name) ||
          std::find(keys.begin(), keys.end(), name) != keys.end())
        continue;
      keys.push_back(name);
      values.push_back(value);
    }
    if (keys.empty() || current->kind != StatementKind::Call) return current;
    std::string header = replaced_header(keys, values, names_);
    if (current == original) return with_header(current, std::move(header));
    // A renamed statement is ours alone.
    const auto own = std::const_pointer_cast<BoundSymbol>(current);
    own->header = {std::move(header)};
    return own;
  }

  // Appends a reshape for every base and returns the statement that reads them; null on error.
  // `rebuilt` gets the reshapes as values.
  BoundSymbolRef rebuild(BoundSymbolRef statement, std::vector<std::pair<NameId, NameId>>& rebuilt,
                         std::uint32_t i) {
    SwapMap bases;
    for (auto& [base, value] : rebuilt) {
      const std::vector<std::int64_t>* shape = names_.shape(base);
      const std::vector<std::int64_t> target = shape ? *shape : std::vector<std::int64_t>{};
      if (auto error = reshape_error(value, target, names_); error && shape) {
        error->statement = i;
        form_.error = std::move(error);
        return nullptr;
      }
      const NameId reshaped = names_.fresh(reshaped_type(names_.type(value), target));
      form_.statements.push_back(
          {make_reshape(value, target, reshaped, names_, statements_[i]->at), i, true});
      value = reshaped;
      bases.set(base, reshaped);
    }
    return swap_names(statement, names_, [&bases](NameId name) { return bases.end(name, nullptr); },
                      {.inputs = true, .output = false, .subsymbols = true});
  }

  // The doubled bracket is Thunder's.
  std::string rebuilt_header(const std::vector<std::pair<NameId, NameId>>& rebuilt) const {
    std::string bases;
    std::string values;
    for (const auto& [base, value] : rebuilt) {
      bases += (bases.empty() ? "" : ", ") + tensor_repr(base, names_);
      values += (values.empty() ? "" : ", ") + tensor_repr(value, names_);
    }
    return fmt::format("Replace [{}] with [[{}]]", bases, values);
  }

  bool fail_view_not_written(NameId view, std::uint32_t i) {
    std::string written;
    for (const NameId key : map_.keys()) {
      written += fmt::format("{}{}: {}", written.empty() ? "" : ", ", tensor_repr(key, names_),
                             tensor_repr(map_.direct(key), names_));
    }
    std::string pairs;
    for (const auto& [base, base_view] : base_to_view_) {
      pairs += fmt::format("{}{}: {}", pairs.empty() ? "" : ", ", tensor_repr(base, names_),
                           tensor_repr(base_view, names_));
    }
    form_.error = PassError{"RuntimeError",
                            fmt::format("{} not in {{{}}}, orig_to_view_swap_map = {{{}}}",
                                        tensor_repr(view, names_), written, pairs),
                            i};
    return false;
  }

  Statements statements_;
  const StatementNames& names_of_;
  NameTable& names_;
  const std::vector<std::pair<NameId, NameId>>& base_to_view_;
  std::vector<NameId> view_of_;  // by name of the base
  std::vector<bool> seen_;
  SwapMap map_;
  bool cycle_ = false;
  CanonicalForm form_;
};

// Which write (1-based, in order) a statement waits for: the latest whose names it reads.
class WriteOrder {
 public:
  explicit WriteOrder(const NameTable& names) : write_of_(names.size(), 0) {}

  void add_write(const BoundSymbol& statement, const NameTable& names) {
    writes_.push_back(&statement);
    for (const NameId out : proxy_outs(*statement.subsymbols.back(), names)) {
      write_of_[out] = static_cast<std::uint32_t>(writes_.size());
    }
  }
  void add_name(NameId name, std::uint32_t write) { write_of_[name] = write; }

  [[nodiscard]] std::uint32_t latest(const BoundSymbol& statement, const NameTable& names) const {
    std::uint32_t latest = 0;
    for (const NameId name : proxy_args(statement, names)) {
      latest = std::max(latest, write_of_[name]);
    }
    return latest;
  }
  [[nodiscard]] const std::vector<const BoundSymbol*>& writes() const { return writes_; }

 private:
  std::vector<std::uint32_t> write_of_;
  std::vector<const BoundSymbol*> writes_;
};

// Statement `origin` gets the form items[first..last): reshapes, then itself.
struct Change {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

void record_changes(Rewriter& rw, const CanonicalForm& form, const NameTable& names) {
  const Trace& before = rw.before();
  WriteOrder order(names);
  std::vector<StatementId> write_ids;
  std::vector<std::vector<Change>> changes(1);
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < form.statements.size(); ++i) {
    const CanonicalStatement& item = form.statements[i];
    if (item.rebuild) {
      order.add_name(proxy_outs(*item.statement, names).front(),
                     order.latest(*item.statement, names));
      continue;
    }
    const BoundSymbolRef& original = before.bound_symbols[item.origin];
    if (item.statement != original) {
      changes[order.latest(*item.statement, names)].push_back({first, i + 1});
    }
    first = i + 1;
    if (is_functionalizable(*original)) {
      order.add_write(*original, names);
      write_ids.push_back(item.origin);
      changes.emplace_back();
    }
  }
  for (std::uint32_t write = 0; write < changes.size(); ++write) {
    if (changes[write].empty()) continue;
    const StatementId subject =
        write == 0 ? form.statements[changes[write].front().last - 1].origin : write_ids[write - 1];
    const bool rebuilds =
        std::any_of(changes[write].begin(), changes[write].end(),
                    [](const Change& change) { return change.last - change.first > 1; });
    auto step = rw.step(rebuilds ? "rebuild-base-from-view" : "rename-readers", subject, [&] {
      const BoundSymbol& statement = *before.bound_symbols[subject];
      if (write == 0) {
        return fmt::format("{} reads the newest names", callee_at(statement, subject));
      }
      const BoundSymbol& copy = *statement.subsymbols.back();
      const std::vector<NameId> args = proxy_args(copy, names);
      const std::vector<NameId> outs = proxy_outs(copy, names);
      return fmt::format("{} was overwritten by {}; {} of it after that now read {}{}",
                         args.size() > 1 ? names.text(args[1]) : "its operand",
                         callee_at(statement, subject),
                         count_of(changes[write].size(), "reader", "readers"),
                         outs.empty() ? "the result" : names.text(outs.front()),
                         rebuilds ? ", or a base rebuilt from it by a reshape" : "");
    });
    for (const Change& change : changes[write]) {
      const StatementId id = form.statements[change.last - 1].origin;
      for (std::uint32_t i = change.first; i + 1 < change.last; ++i) {
        step.insert_before(id, form.statements[i].statement);
      }
      step.replace(id, form.statements[change.last - 1].statement);
    }
  }
}

}  // namespace

CanonicalForm canonical_form(Statements statements, const StatementNames& names_of,
                             NameTable& names,
                             const std::vector<std::pair<NameId, NameId>>& base_to_view) {
  return Canonicalizer(statements, names_of, names, base_to_view).run();
}

BoundSymbolRef copy_back_of(const BoundSymbol& statement) {
  auto copy = std::make_shared<BoundSymbol>(*statement.subsymbols.back());
  copy->program_line = statement.program_line;
  copy->at = statement.at;
  copy->header.clear();
  copy->verbatim.reset();
  return copy;
}

PassResult canonicalize(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  NameTable names(before);
  const StatementNames names_of(before.bound_symbols, names);
  std::vector<std::pair<NameId, NameId>> base_to_view;
  if (context.options.base_to_view.empty()) {
    ViewWrites writes = find_view_writes(before, names_of, names, nullptr);
    if (writes.error) return std::move(rw).fail(std::move(*writes.error));
    base_to_view = std::move(writes.base_to_view);
  }
  for (const auto& [base, view] : context.options.base_to_view) {
    const NameId base_name = names.find(base);
    const NameId view_name = names.find(view);
    if (base_name != kNoName && view_name != kNoName) {
      base_to_view.emplace_back(base_name, view_name);
    }
  }
  CanonicalForm form = canonical_form(before.bound_symbols, names_of, names, base_to_view);
  if (form.error) return std::move(rw).fail(std::move(*form.error));
  record_changes(rw, form, names);
  return std::move(rw).finish("Intermediate trace of `functionalize_inplace_ops`");
}

}  // namespace tg
