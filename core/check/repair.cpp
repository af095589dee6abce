#include "core/check/repair.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/pass/pass.h"
#include "core/text/printer.h"

namespace tg {
namespace {

constexpr std::int64_t kMaxElements = 1 << 20;
constexpr std::size_t kMaxMoves = 16;

bool same_program(const ExplainRequest& request, const RunResult& reference,
                  const Trace& candidate) {
  const Expected<RunResult, RunError> result = run(candidate, *request.inputs, request.limits);
  return result.has_value() &&
         compare(reference, *result, request.compare).verdict == VerdictKind::Same;
}

std::optional<std::uint32_t> return_index(const Trace& trace) {
  for (std::uint32_t i = 0; i < trace.bound_symbols.size(); ++i) {
    if (trace.bound_symbols[i]->kind == StatementKind::Return) return i;
  }
  return std::nullopt;
}

std::string before_return(const Trace& trace, std::uint32_t index) {
  const SourceRange at = trace.bound_symbols[index]->at;
  return at.line == 0 ? "before return" : fmt::format("before line {}", at.line);
}

bool same_values(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.geometry.sizes != b.geometry.sizes || a.elements() > kMaxElements)
    return false;
  return contiguous_copy(a).storage->bytes == contiguous_copy(b).storage->bytes;
}

// Names that hold at the return of `right` what argument `argument` should hold at the end.
std::vector<std::string> names_with_value(const ExplainRequest& request, std::uint32_t before,
                                          const std::string& argument, const Tensor& wanted) {
  std::vector<std::string> names;
  RunObserver observer;
  observer.before = [&](std::uint32_t statement, const Environment& environment) {
    if (statement != before) return Continue::Go;
    for (const auto& [name, value] : environment.bindings()) {
      const Tensor* tensor = value.as<Tensor>();
      if (tensor && name != argument && same_values(*tensor, wanted)) names.push_back(name);
    }
    return Continue::Go;
  };
  (void)run(*request.right, *request.inputs, request.limits, &observer);
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

Trace with_inserted(const Trace& trace, std::uint32_t index, BoundSymbol statement) {
  Trace edited = trace;
  edited.bound_symbols.insert(edited.bound_symbols.begin() + index,
                              std::make_shared<const BoundSymbol>(std::move(statement)));
  return edited;
}

BoundSymbol copy_statement(const std::string& source, const std::string& destination) {
  BoundSymbol statement;
  statement.callee = "prims.copy_";
  statement.op = op_of(statement.callee);
  statement.args = {Value::name(source), Value::name(destination)};
  return statement;
}

void try_newest_value(const ExplainRequest& request, const RunResult& reference,
                      const std::string& argument, std::vector<Repair>& repairs) {
  const std::optional<std::uint32_t> at = return_index(*request.right);
  const auto wanted =
      std::find_if(reference.final_arguments.begin(), reference.final_arguments.end(),
                   [&argument](const NamedValue& v) { return v.name == argument; });
  if (!at || wanted == reference.final_arguments.end()) return;
  const Tensor* tensor = wanted->value.as<Tensor>();
  if (!tensor) return;
  for (const std::string& name : names_with_value(request, *at, argument, *tensor)) {
    const Trace candidate = with_inserted(*request.right, *at, copy_statement(name, argument));
    Repair repair;
    repair.what = fmt::format("insert prims.copy_({}, {}) {}", name, argument,
                              before_return(*request.right, *at));
    repair.helps = same_program(request, reference, candidate);
    repairs.push_back(std::move(repair));
    return;
  }
}

void try_skipping(const ExplainRequest& request, const RunResult& reference,
                  const Explanation& explanation, std::vector<Repair>& repairs) {
  const PassInfo* pass = find_pass(explanation.pass);
  if (!pass || explanation.step == 0) return;
  PassContext context;
  context.options.alias_groups = request.alias_groups;
  context.options.argument_facts = *request.facts;
  context.filter.skip_numbers.push_back(explanation.step);
  const PassResult result = pass->run(*request.left, context);
  if (result.error) return;
  const bool helps = same_program(request, reference, result.after);
  repairs.push_back(
      {fmt::format("skip step {} ({}) of {}", explanation.step, explanation.rule, pass->name),
       helps});
  if (helps) return;
  PassContext without_rule;
  without_rule.options.alias_groups = request.alias_groups;
  without_rule.options.argument_facts = *request.facts;
  without_rule.filter.skip_rules.push_back(explanation.rule);
  const PassResult other = pass->run(*request.left, without_rule);
  if (other.error || other.after == result.after) return;
  repairs.push_back({fmt::format("skip every step of rule {} of {}", explanation.rule, pass->name),
                     same_program(request, reference, other.after)});
}

void move_statement(Trace& trace, std::uint32_t from, std::uint32_t before) {
  std::vector<BoundSymbolRef>& list = trace.bound_symbols;
  const BoundSymbolRef moved = list[from];
  list.erase(list.begin() + from);
  list.insert(list.begin() + (before > from ? before - 1 : before), moved);
}

// Does statement `from` read what a statement of [first, from) defines?
bool reads_from_between(const Trace& trace, std::uint32_t first, std::uint32_t from) {
  std::vector<std::string_view> made;
  for (std::uint32_t i = first; i < from; ++i) {
    for (const std::string_view name : output_names(*trace.bound_symbols[i])) made.push_back(name);
  }
  for (const std::string_view name : argument_names(*trace.bound_symbols[from])) {
    if (std::find(made.begin(), made.end(), name) != made.end()) return true;
  }
  return false;
}

std::string line_of(const BoundSymbol& statement) {
  return statement.at.line == 0 ? one_line(statement) : fmt::format("line {}", statement.at.line);
}

// The statements of `right`, each conflict put back into the order of `left`.
void try_order_of_left(const ExplainRequest& request, const RunResult& reference,
                       std::vector<Repair>& repairs) {
  Trace candidate = *request.right;
  std::string what;
  for (std::size_t moves = 0; moves < kMaxMoves; ++moves) {
    const std::optional<Reorder> reorder = find_reorder(*request.left, candidate, *request.facts);
    if (!reorder) return;
    const std::uint32_t later = std::max(reorder->write, reorder->other);
    const std::uint32_t earlier = std::min(reorder->write, reorder->other);
    const BoundSymbolRef lower = candidate.bound_symbols[later];
    const BoundSymbolRef upper = candidate.bound_symbols[earlier];
    // The later one goes up, or if it needs what stands between them, the earlier one goes down.
    const bool up = !reads_from_between(candidate, earlier, later);
    what += fmt::format("{}move {} {} {}", what.empty() ? "" : ", ", line_of(up ? *lower : *upper),
                        up ? "before" : "after", line_of(up ? *upper : *lower));
    if (up) {
      move_statement(candidate, later, earlier);
    } else {
      move_statement(candidate, earlier, later + 1);
    }
    if (same_program(request, reference, candidate)) {
      repairs.push_back({std::move(what), true});
      return;
    }
  }
}

// `return x` -> `return prims.clone(x)` for an output that must not share storage.
void try_separate_buffer(const ExplainRequest& request, const RunResult& reference,
                         const Difference& difference, std::vector<Repair>& repairs) {
  const std::optional<std::uint32_t> at = return_index(*request.right);
  if (!at) return;
  const BoundSymbol& last = *request.right->bound_symbols[*at];
  // The subject is "x and out[0]" or "out[0] and out[1]": the last output named gets a buffer of
  // its own.
  const std::size_t named = difference.subject.rfind("out[");
  std::size_t wanted = 0;
  if (named == std::string::npos) return;
  const char* digits = difference.subject.data() + named + 4;
  if (std::from_chars(digits, difference.subject.data() + difference.subject.size(), wanted).ec !=
      std::errc{}) {
    return;
  }
  std::vector<std::string> names;
  for (const Value& value : last.args) {
    const Value* outputs = &value;
    if (value.kind == ValueKind::Dict) {
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        if (string_content(value.items[i]) == "output") outputs = &value.items[i + 1];
      }
    }
    for_each_leaf(*outputs, [&names](const Value& leaf) {
      names.push_back(leaf.is_name() ? leaf.text : "");
    });
  }
  if (wanted >= names.size() || names[wanted].empty()) return;
  const std::string fresh = names[wanted] + "_separate";
  BoundSymbol clone;
  clone.callee = "prims.clone";
  clone.op = op_of(clone.callee);
  clone.output = Value::name(fresh);
  clone.args = {Value::name(names[wanted])};
  Trace candidate = with_inserted(*request.right, *at, std::move(clone));
  BoundSymbol changed = last;
  std::size_t seen = 0;
  const auto rename = [&](auto&& self, Value& value) -> void {
    if (value.kind == ValueKind::Dict) {
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        if (string_content(value.items[i]) == "output") self(self, value.items[i + 1]);
      }
      return;
    }
    if (value.items.empty() && !value.is_collection()) {
      if (seen++ == wanted) value.text = fresh;
      return;
    }
    for (Value& item : value.items) self(self, item);
  };
  for (Value& value : changed.args) rename(rename, value);
  candidate.bound_symbols[*at + 1] = std::make_shared<const BoundSymbol>(std::move(changed));
  repairs.push_back(
      {fmt::format("return prims.clone({}) in place of {}", names[wanted], names[wanted]),
       same_program(request, reference, candidate)});
}

}  // namespace

std::vector<Repair> try_repairs(const ExplainRequest& request, const Comparison& comparison,
                                const std::optional<Explanation>& explanation) {
  std::vector<Repair> repairs;
  const Expected<RunResult, RunError> reference =
      run(*request.left, *request.inputs, request.limits);
  if (!reference) return repairs;
  for (const Difference& difference : comparison.differences) {
    if (difference.accepted || !repairs.empty()) continue;
    if (difference.kind == DifferenceKind::FinalArgument) {
      try_newest_value(request, *reference, difference.subject, repairs);
    }
    if (difference.kind == DifferenceKind::AliasGained) {
      try_separate_buffer(request, *reference, difference, repairs);
    }
  }
  if (explanation) try_skipping(request, *reference, *explanation, repairs);
  if (explanation && (explanation->pass.empty() || explanation->rule == "reorder-conflict"))
    try_order_of_left(request, *reference, repairs);
  std::stable_sort(repairs.begin(), repairs.end(),
                   [](const Repair& a, const Repair& b) { return a.helps && !b.helps; });
  return repairs;
}

}  // namespace tg
