#include "app/argument_paths.h"

#include <unordered_map>

#include <fmt/format.h>

namespace tg {
namespace {

using Paths = std::unordered_map<std::string_view, std::string>;

// "args[0]" for the expression `args[0]`, with the object replaced by its own path.
std::string path_of(const Value& expression, const Paths& paths) {
  if (expression.is_name()) {
    const auto found = paths.find(expression.text);
    return found == paths.end() ? expression.text : found->second;
  }
  if (expression.kind == ValueKind::Subscript) {
    return fmt::format("{}[{}]", path_of(expression.items[0], paths), to_text(expression.items[1]));
  }
  if (expression.kind == ValueKind::Attribute) {
    return fmt::format("{}.{}", path_of(expression.items[0], paths), expression.text);
  }
  if (expression.kind == ValueKind::Method) {
    // module.get_parameter('conv.weight') is what the user calls module.conv.weight.
    if (expression.text.starts_with("get_") && expression.items.size() == 2 &&
        expression.items[1].kind == ValueKind::String) {
      return fmt::format("{}.{}", path_of(expression.items[0], paths),
                         string_content(expression.items[1]));
    }
    std::string text = fmt::format("{}.{}(", path_of(expression.items[0], paths), expression.text);
    for (std::size_t i = 1; i < expression.items.size(); ++i) {
      text += fmt::format("{}{}", i > 1 ? ", " : "", to_text(expression.items[i]));
    }
    return text + ")";
  }
  // `obj.attr` and `fn.__self__` come as one dotted name.
  const std::string text = to_text(expression);
  const std::size_t dot = text.find('.');
  const auto found = paths.find(std::string_view(text).substr(0, dot));
  if (dot == std::string::npos || found == paths.end()) return text;
  return found->second + text.substr(dot);
}

void collect(const BoundSymbol& statement, Paths& paths) {
  if (statement.kind == StatementKind::UnpackAccess && statement.output.is_name() &&
      !statement.args.empty()) {
    // The module and the like are made by calls that say less than their name.
    const Value& expression = statement.args.front();
    const bool made =
        expression.kind == ValueKind::Call || (expression.kind == ValueKind::Subscript &&
                                               expression.items.front().kind == ValueKind::Call);
    paths[statement.output.text] = made ? statement.output.text : path_of(expression, paths);
  } else if (statement.kind == StatementKind::UnpackSequence && !statement.args.empty()) {
    const std::string base = path_of(statement.args.front(), paths);
    for (std::size_t i = 0; i < statement.output.items.size(); ++i) {
      const Value& target = statement.output.items[i];
      if (target.is_name()) paths[target.text] = fmt::format("{}[{}]", base, i);
    }
  }
}

}  // namespace

std::vector<std::string> argument_paths(const Trace& prologue, const Trace& trace) {
  std::vector<std::string> result(trace.parameters.size());
  Paths paths;
  const BoundSymbol* last = nullptr;
  for (const BoundSymbolRef& statement : prologue.bound_symbols) {
    collect(*statement, paths);
    if (statement->kind == StatementKind::Return) last = statement.get();
  }
  if (last == nullptr || last->args.empty()) return result;
  // `return ((a, b), ())`: the first part is what the computation is called with.
  const Value* passed = &last->args.front();
  if (passed->is_collection() && !passed->items.empty() && passed->items.front().is_collection()) {
    passed = &passed->items.front();
  }
  if (!passed->is_collection() || passed->items.size() != trace.parameters.size()) return result;
  for (std::size_t i = 0; i < passed->items.size(); ++i) {
    if (!passed->items[i].is_name()) continue;
    const auto found = paths.find(passed->items[i].text);
    if (found != paths.end()) result[i] = found->second;
  }
  return result;
}

const Trace* prologue_of(const TraceFile& file) {
  for (const Phase& phase : file.phases) {
    if (phase.kind == TraceKind::Prologue) return &phase.trace;
  }
  return nullptr;
}

}  // namespace tg
