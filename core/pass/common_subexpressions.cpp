// Problem: the same expression is computed twice.
//
//   t0 = ltorch.add(x, 1.0, alpha=1)           t0 = ltorch.add(x, 1.0, alpha=1)
//   t1 = ltorch.add(x, 1.0, alpha=1)     =>    return (t0, t0)
//   return (t0, t1)
// Rules
//   same-expression   a statement that computes what an earlier one has computed goes
//   rename-readers    its readers read the earlier result
// Refuses nothing, and looks at names only, as Thunder does: two reads of x are "equal" though x
// was written in between, repeated copies are dropped, 0.0 and -0.0 are one number.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/statement_facts.h"
#include "core/pass/swap.h"

namespace tg {
namespace {

// Literals as Python compares them: 1 == 1.0 == True, 0.0 == -0.0.
void append_key(std::string& key, const Value& value) {
  switch (value.kind) {
    case ValueKind::Bool:
      key += value.text == "True" ? "#1" : "#0";
      return;
    case ValueKind::Int:
      // Beyond 2**53 the double would merge different numbers.
      key += value.text.size() < 16
                 ? fmt::format("#{}", std::strtod(value.text.c_str(), nullptr) + 0.0)
                 : "#" + value.text;
      return;
    case ValueKind::Float: {
      char* end = nullptr;
      const double number = std::strtod(value.text.c_str(), &end);
      key += *end == '\0' ? fmt::format("#{}", number + 0.0) : value.text;
      return;
    }
    case ValueKind::Tuple:
    case ValueKind::List:
      // Thunder makes lists hashable by turning them into tuples.
      key += '(';
      for (const Value& item : value.items) {
        append_key(key, item);
        key += ',';
      }
      key += ')';
      return;
    case ValueKind::Dict:
    case ValueKind::Call:
    case ValueKind::Keyword:
      key += value.text;
      key += '{';
      for (const Value& item : value.items) {
        append_key(key, item);
        key += ',';
      }
      key += '}';
      return;
    case ValueKind::Absent:
    case ValueKind::Name:
    case ValueKind::Dotted:
    case ValueKind::Complex:
    case ValueKind::None:
    case ValueKind::Ellipsis:
    case ValueKind::String:
    case ValueKind::Subscript:
    case ValueKind::Attribute:
    case ValueKind::Method:
    case ValueKind::Opaque:
      append_text(key, value);
      return;
  }
}

std::string expression_key(const BoundSymbol& statement) {
  std::string key = fmt::format("{} {}", static_cast<int>(statement.kind), statement.callee);
  std::vector<const Value*> keywords;
  for (const Value& arg : statement.args) {
    if (arg.kind == ValueKind::Keyword) {
      keywords.push_back(&arg);
      continue;
    }
    key += ' ';
    append_key(key, arg);
  }
  std::stable_sort(keywords.begin(), keywords.end(),
                   [](const Value* a, const Value* b) { return a->text < b->text; });
  for (const Value* keyword : keywords) {
    key += ' ';
    append_key(key, *keyword);
  }
  return key;
}

// Thunder's five random operations that it never merges.
bool never_merged(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call && statement.op_info().has(kRandom);
}

}  // namespace

PassResult common_subexpressions(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  const NameTable names(before);
  SwapMap redundant;
  std::unordered_map<std::string, StatementId> seen;
  const auto end = [&redundant](NameId name) { return redundant.end(name, nullptr); };
  for (StatementId id = 0; id < before.bound_symbols.size(); ++id) {
    const BoundSymbolRef& statement = before.bound_symbols[id];
    if (never_merged(*statement)) continue;
    // An annotation reads nothing: its expression is its name.
    std::string key;
    if (statement->kind == StatementKind::UnpackTrivial) {
      key = "annotation " + to_text(statement->output);
    } else {
      key = expression_key(*swap_names(statement, names, end,
                                       {.inputs = true, .output = false, .subsymbols = false}));
    }
    const auto [prior, is_new] = seen.try_emplace(std::move(key), id);
    if (is_new) continue;
    const BoundSymbol& first = *before.bound_symbols[prior->second];
    auto step = rw.step("same-expression", id, [&] {
      return fmt::format("{} computes what {} has computed", callee_at(*statement, id),
                         callee_at(first, prior->second));
    });
    if (!step.applied()) continue;
    step.erase(id);
    std::vector<const Value*> sources;
    std::vector<const Value*> targets;
    for_each_leaf(statement->output, [&sources](const Value& leaf) { sources.push_back(&leaf); });
    for_each_leaf(first.output, [&targets](const Value& leaf) { targets.push_back(&leaf); });
    for (std::size_t i = 0; i < sources.size() && i < targets.size(); ++i) {
      const NameId from = sources[i]->is_name() ? names.find(sources[i]->text) : kNoName;
      const NameId to = targets[i]->is_name() ? names.find(targets[i]->text) : kNoName;
      if (from != kNoName && to != kNoName && from != to) redundant.set(from, to);
    }
  }
  for (StatementId id = rw.first(); id != kNoStatement; id = rw.next(id)) {
    const BoundSymbolRef statement = rw.statement(id);
    const BoundSymbolRef renamed = swap_names(statement, names, end);
    if (renamed == statement) continue;
    rw.step("rename-readers", id, [&] {
        return fmt::format("{} read a value that an earlier statement computes",
                           callee_at(*statement, id));
      }).replace(id, renamed);
  }
  return std::move(rw).finish("Common Subexpression Elimination (took 0 milliseconds)");
}

}  // namespace tg
