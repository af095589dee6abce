// Problem: statements whose results nobody needs cost time, and outputs nobody needs hide what a
// statement is for.
//
//   (t0, t1) = ltorch.chunk(x, 2, 0)           (_, t1) = ltorch.chunk(x, 2, 0)
//   t2 = ltorch.cos(x)                   =>    return t1
//   return t1
// Rules
//   unread              a statement without a needed output goes; writes, checks and the return
//   stay unread-output       an output that nobody needs is left out (the era of December 2024)
//   no-op-subsymbol     sub-statements that compute nothing go; earlier traces share them and lose
//   them too duplicate-number    a number that an earlier statement gave is left out
//   nothing-new         January 2026: a statement whose outputs are all known numbers goes, and
//   with
//                       it every region without outputs, the copies in it included
// Refuses: a trace without return (AssertionError). A write to storage that nobody can observe is
// kept.

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/pass/all_passes.h"
#include "core/pass/statement_facts.h"

namespace tg {
namespace {

// DONT_DCE on the statement or on any statement in it.
bool has_effect(const BoundSymbol& statement) {
  switch (statement.kind) {
    case StatementKind::Return:
    case StatementKind::Print:
    case StatementKind::PackAssign:
      return true;
    case StatementKind::Call:
      if (statement.op_info().has(kDontDce)) return true;
      break;
    case StatementKind::UnpackTrivial:
    case StatementKind::UnpackSequence:
    case StatementKind::UnpackAccess:
    case StatementKind::EmptyCollection:
    case StatementKind::PackList:
    case StatementKind::Del:
    case StatementKind::Comment:
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      break;
  }
  return std::any_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [](const BoundSymbolRef& child) { return has_effect(*child); });
}

// A composite without sub-statements gives back one of its arguments, or a constant: it does
// nothing. What looks like one but makes a value is a primitive that Thunder prints with the
// composites' module; its value is read. Functionalization renames inputs and keeps outputs, so
// "gives back" may read `v = ltorch.to(t1)` (recording 009).
bool does_nothing(const BoundSymbol& parent, std::size_t index, const NameTable& names) {
  const BoundSymbol& statement = *parent.subsymbols[index];
  if (statement.kind != StatementKind::Call || !statement.subsymbols.empty()) return false;
  const std::string_view callee = statement.callee;
  if (!callee.starts_with("ltorch.") && !callee.starts_with("lnp.")) return false;
  const auto holds = [](const std::vector<NameId>& list, NameId name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const std::vector<NameId> inputs = proxy_args(statement, names);
  const std::vector<NameId> outs = proxy_outs(statement, names);
  return std::all_of(outs.begin(), outs.end(), [&](NameId out) {
    if (holds(inputs, out)) return true;
    if (holds(proxy_outs(parent, names), out)) return false;
    return std::none_of(
        parent.subsymbols.begin() + static_cast<std::ptrdiff_t>(index) + 1, parent.subsymbols.end(),
        [&](const BoundSymbolRef& later) { return holds(proxy_args(*later, names), out); });
  });
}

// The statement without sub-statements that do nothing, at any depth; the same object if there are
// none. `counted` gets how many went.
BoundSymbolRef without_noops(const BoundSymbolRef& statement, const NameTable& names,
                             std::size_t& counted);

// What happens to the children of a statement whose own list is not touched: they are edited
// themselves.
std::vector<BoundSymbolRef> cleaned_children(const BoundSymbol& statement, const NameTable& names,
                                             bool drop_own, std::size_t& counted) {
  std::vector<BoundSymbolRef> children;
  const bool effect = has_effect(statement);
  for (std::size_t i = 0; i < statement.subsymbols.size(); ++i) {
    const BoundSymbolRef& child = statement.subsymbols[i];
    const bool drop =
        does_nothing(statement, i, names) || (!effect && proxy_outs(*child, names).empty());
    if (drop) {
      ++counted;
      if (!drop_own) children.push_back(child);
      continue;
    }
    children.push_back(without_noops(child, names, counted));
  }
  return children;
}

BoundSymbolRef with_children(const BoundSymbolRef& statement,
                             std::vector<BoundSymbolRef> children) {
  if (children == statement->subsymbols) return statement;
  auto copy = std::make_shared<BoundSymbol>(*statement);
  copy->subsymbols = std::move(children);
  copy->verbatim.reset();
  return copy;
}

BoundSymbolRef without_noops(const BoundSymbolRef& statement, const NameTable& names,
                             std::size_t& counted) {
  return with_children(statement, cleaned_children(*statement, names, true, counted));
}

class DeadCode {
 public:
  DeadCode(const Trace& before, PassContext& context)
      : rw_(before, context),
        before_(before),
        names_(before),
        producers_(before.bound_symbols, names_),
        needed_(names_.size(), false),
        edited_(before.bound_symbols),
        era_(context.options.era) {
    for (const std::string& name : context.options.needed_names) need(names_.find(name));
  }

  PassResult run() && {
    const auto first_return =
        std::find_if(before_.bound_symbols.begin(), before_.bound_symbols.end(),
                     [](const BoundSymbolRef& statement) { return is_return(*statement); });
    if (first_return == before_.bound_symbols.end()) {
      return std::move(rw_).fail(
          {"AssertionError", "Trace has no return, and so no output", kNoStatement});
    }
    for (const NameId name : proxy_args(**first_return, names_)) need(name);
    for (auto id = static_cast<StatementId>(before_.bound_symbols.size()); id-- > 0;) visit(id);
    drop_duplicate_numbers();
    PassResult result = std::move(rw_).finish("Dead Code Elimination (took 0 milliseconds)");
    if (edited_ != before_.bound_symbols) {
      result.before_edited = before_;
      result.before_edited->bound_symbols = std::move(edited_);
    }
    return result;
  }

 private:
  void need(NameId name) {
    if (name != kNoName) needed_[name] = true;
  }

  // The output is needed, and this statement is the one that makes it.
  bool gives(const BoundSymbol& statement, StatementId id, NameId out) const {
    if (!needed_[out]) return false;
    const StatementId producer = producers_.of(out);
    return producer == id || (producer != kNoStatement && same_statement(producer, statement));
  }

  // Thunder compares statements by value: an equal line made the output just as well.
  bool same_statement(StatementId producer, const BoundSymbol& statement) const {
    const BoundSymbol& other = *before_.bound_symbols[producer];
    const bool has_keywords =
        std::any_of(statement.args.begin(), statement.args.end(),
                    [](const Value& arg) { return arg.kind == ValueKind::Keyword; });
    return !has_keywords && other.kind == statement.kind && other.callee == statement.callee &&
           other.args == statement.args && other.output == statement.output;
  }

  void visit(StatementId id) {
    const BoundSymbolRef& statement = before_.bound_symbols[id];
    const std::vector<NameId> outs = proxy_outs(*statement, names_);
    bool kept = has_effect(*statement);
    std::vector<NameId> unread;
    for (const NameId out : outs) {
      if (gives(*statement, id, out)) {
        kept = true;
      } else {
        unread.push_back(out);
      }
    }
    if (!kept) {
      const bool erased =
          rw_.step("unread", id, [&] { return unread_reason(*statement, id, outs); })
              .erase(id)
              .applied();
      if (!erased) keep_alive(*statement);
      return;
    }
    BoundSymbolRef current = statement;
    if (!unread.empty() && era_ != Era::Thunder2026) current = leave_out(id, current, unread);
    clean(id, current, current != statement);
    keep_alive(*statement);
  }

  void keep_alive(const BoundSymbol& statement) {
    for (const NameId name : proxy_args(statement, names_)) need(name);
  }

  std::string unread_reason(const BoundSymbol& statement, StatementId id,
                            const std::vector<NameId>& outs) const {
    if (outs.empty()) {
      return fmt::format("{} gives no value and has no effect", describe(statement, id));
    }
    std::string listed;
    for (const NameId out : outs) {
      listed += (listed.empty() ? "" : ", ") + std::string(names_.text(out));
    }
    return fmt::format("no one needs {}, made by {}", listed, describe(statement, id));
  }

  static std::string describe(const BoundSymbol& statement, StatementId id) {
    if (statement.kind == StatementKind::Call) return callee_at(statement, id);
    return "the statement at " + place_of(statement, id);
  }

  BoundSymbolRef leave_out(StatementId id, const BoundSymbolRef& statement,
                           const std::vector<NameId>& unread) {
    auto renamed = std::make_shared<BoundSymbol>(*statement);
    renamed->verbatim.reset();
    if (statement->kind == StatementKind::Call && statement->output.is_name()) {
      renamed->output = Value::absent();
      renamed->type = nullptr;
    } else {
      blank(renamed->output, unread);
      if (renamed->output.is_name("_")) renamed->type = nullptr;
    }
    auto step = rw_.step("unread-output", id, [&] {
      std::string listed;
      for (const NameId out : unread) {
        listed += (listed.empty() ? "" : ", ") + std::string(names_.text(out));
      }
      return fmt::format("{} stays, but no one needs its {} {}", describe(*statement, id),
                         unread.size() == 1 ? "output" : "outputs", listed);
    });
    if (!step.applied()) return statement;
    step.replace(id, BoundSymbolRef(renamed));
    return renamed;
  }

  void blank(Value& value, const std::vector<NameId>& unread) const {
    if (value.is_name()) {
      const NameId name = names_.find(value.text);
      if (std::find(unread.begin(), unread.end(), name) != unread.end()) value.text = "_";
      return;
    }
    for (Value& item : value.items) blank(item, unread);
  }

  // `is_copy`: an output was left out, so Thunder works on a copy of the statement, and the
  // original keeps its own list; the sub-statements themselves are shared either way.
  void clean(StatementId id, const BoundSymbolRef& statement, bool is_copy) {
    std::size_t counted = 0;
    const BoundSymbolRef cleaned = without_noops(statement, names_, counted);
    if (cleaned == statement) return;
    auto step = rw_.step("no-op-subsymbol", id, [&] {
      return fmt::format("{} of {} {} nothing",
                         count_of(counted, "sub-statement", "sub-statements"),
                         describe(*statement, id), counted == 1 ? "computes" : "compute");
    });
    if (!step.applied()) return;
    step.replace(id, cleaned);
    const BoundSymbolRef& original = before_.bound_symbols[id];
    std::size_t ignored = 0;
    edited_[id] = with_children(original, cleaned_children(*original, names_, !is_copy, ignored));
  }

  // Thunder of 2026 asks "does it give only numbers that are known?" of every statement; of one
  // that gives an empty list that is always true. Regions give lists, and nothing else prints like
  // that.
  bool gives_only(const BoundSymbol& statement, std::size_t known) const {
    if (statement.output.kind == ValueKind::Absent) return statement.op == OpCode::Fusion;
    return count_leaves(statement.output) == known;
  }

  static std::size_t count_leaves(const Value& output) {
    std::size_t count = 0;
    for_each_leaf(output, [&count](const Value&) { ++count; });
    return count;
  }

  // True when the statement went.
  bool drop_known(StatementId id, const BoundSymbol& statement, std::size_t known) {
    if (era_ != Era::Thunder2026 || !gives_only(statement, known)) return false;
    return rw_
        .step("nothing-new", id,
              [&] {
                return fmt::format("{} gives {}, so Thunder drops it{}", describe(statement, id),
                                   known == 0 ? "an empty list" : "numbers that are known",
                                   has_effect(statement) ? ", its write included" : "");
              })
        .erase(id)
        .applied();
  }

  // Symbolic shapes give the same number more than once.
  void drop_duplicate_numbers() {
    std::vector<bool> seen(names_.size(), false);
    StatementId next = kNoStatement;
    for (StatementId id = rw_.first(); id != kNoStatement; id = next) {
      next = rw_.next(id);
      const BoundSymbolRef statement = rw_.statement(id);
      std::vector<NameId> duplicates;
      for (const NameId out : proxy_outs(*statement, names_)) {
        if (!names_.is_number(out)) continue;
        if (seen[out]) duplicates.push_back(out);
        seen[out] = true;
      }
      if (drop_known(id, *statement, duplicates.size())) continue;
      if (duplicates.empty()) continue;
      auto renamed = std::make_shared<BoundSymbol>(*statement);
      renamed->verbatim.reset();
      blank(renamed->output, duplicates);
      if (renamed->output.is_name("_")) renamed->type = nullptr;
      rw_.step("duplicate-number", id,
               [&] {
                 return fmt::format("{} is known from an earlier statement",
                                    names_.text(duplicates.front()));
               })
          .replace(id, BoundSymbolRef(std::move(renamed)));
    }
  }

  Rewriter rw_;
  const Trace& before_;
  NameTable names_;
  ProducerMap producers_;
  std::vector<bool> needed_;            // by name
  std::vector<BoundSymbolRef> edited_;  // the input as it prints afterwards
  Era era_;
};

}  // namespace

PassResult dead_code(const Trace& before, PassContext& context) {
  return DeadCode(before, context).run();
}

}  // namespace tg
