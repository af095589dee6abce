#include "core/eager/run_plan.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/eager/kernel.h"

namespace tg {
namespace {

using Definers = std::unordered_map<std::string_view, std::uint32_t>;

void collect_definitions(const BoundSymbol& statement, std::uint32_t index, Definers& definers) {
  for (const BoundSymbolRef& sub : statement.subsymbols) {
    for (const std::string_view name : output_names(*sub)) definers[name] = index;
    collect_definitions(*sub, index, definers);
  }
}

std::vector<std::string_view> names_read(const BoundSymbol& statement) {
  std::vector<std::string_view> names = argument_names(statement);
  if (statement.kind == StatementKind::PackAssign) {
    for_each_leaf(statement.output, [&names](const Value& leaf) {
      if (leaf.is_name()) names.push_back(leaf.text);
    });
  }
  return names;
}

bool can_run_at(const BoundSymbol& statement, std::uint32_t depth) {
  constexpr std::uint32_t kDeepest = 200;
  if (depth > kDeepest) return false;
  if (statement.kind == StatementKind::Elision || statement.kind == StatementKind::Unparsed)
    return false;
  if (statement.kind != StatementKind::Call) return true;
  switch (run_mode(statement)) {
    case RunMode::Nothing:
    case RunMode::Operation:
      return true;
    case RunMode::Impossible:
      return false;
    case RunMode::Substatements:
      break;
  }
  for (const BoundSymbolRef& sub : statement.subsymbols) {
    if (!can_run_at(*sub, depth + 1)) return false;
  }
  return true;
}

}  // namespace

Callee callee_of(const BoundSymbol& statement) {
  if (statement.op != OpCode::Opaque) return {statement.op, {}};
  const std::string_view callee = statement.callee;
  const std::size_t dot = callee.find('.');
  if (dot == callee.npos || callee.find('.', dot + 1) != callee.npos) return {};
  constexpr std::string_view kModules[] = {"torch",  "ltorch", "prims",   "thunder",
                                           "Tensor", "math",   "operator"};
  const std::string_view receiver = callee.substr(0, dot);
  if (std::find(std::begin(kModules), std::end(kModules), receiver) != std::end(kModules))
    return {};
  const OpCode op = op_of(fmt::format("Tensor{}", callee.substr(dot)));
  return op == OpCode::Opaque ? Callee{} : Callee{op, receiver};
}

RunMode run_mode(const BoundSymbol& statement) {
  const OpInfo& op = info(callee_of(statement).op);
  if (op.has(kGuard | kContextManager)) return RunMode::Nothing;
  if (op.code != OpCode::Fusion && kernel_of(op.code) != nullptr) return RunMode::Operation;
  return statement.subsymbols.empty() ? RunMode::Impossible : RunMode::Substatements;
}

std::string why_impossible(const BoundSymbol& statement) {
  if (statement.op == OpCode::Fusion) {
    return fmt::format("the body of region '{}' is not printed, so it cannot run",
                       statement.callee);
  }
  if (statement.op == OpCode::Opaque) {
    return fmt::format("the operation '{}' is unknown and has no sub-statements to run",
                       statement.callee);
  }
  return fmt::format("the operation '{}' has no kernel and no sub-statements to run",
                     statement.callee);
}

bool can_run(const BoundSymbol& statement) {
  return can_run_at(statement, 0);
}

RunPlan::RunPlan(const Trace& trace) {
  std::unordered_set<std::string_view> defined;
  for (const Parameter& parameter : trace.parameters) defined.insert(parameter.name);
  Definers inside;
  for (std::uint32_t i = 0; i < trace.bound_symbols.size(); ++i) {
    const BoundSymbol& statement = *trace.bound_symbols[i];
    for (const std::string_view name : names_read(statement)) {
      last_read_[name] = i;
      if (defined.contains(name)) continue;
      const auto definer = inside.find(name);
      if (definer == inside.end()) continue;
      const BoundSymbol& defining = *trace.bound_symbols[definer->second];
      if (defining.kind == StatementKind::Call && run_mode(defining) == RunMode::Operation) {
        by_substatements_.insert(definer->second);
      }
    }
    for (const std::string_view name : output_names(statement)) defined.insert(name);
    collect_definitions(statement, i, inside);
  }
}

bool RunPlan::read_after(std::string_view name, std::uint32_t statement) const {
  const auto last = last_read_.find(name);
  return last != last_read_.end() && last->second > statement;
}

}  // namespace tg
