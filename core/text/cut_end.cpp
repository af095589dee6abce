#include "core/text/cut_end.h"

#include <algorithm>

#include "core/text/lexer.h"

namespace tg::text {
namespace {

bool has_open_type(std::string_view line) {
  const std::size_t quote = line.find(": \"");
  return quote != std::string_view::npos && line.find('"', quote + 3) == std::string_view::npos;
}

// `t2 = ltorch.mu`: no statement of Thunder reads a dotted name into a plain one without a type.
bool has_cut_callee(const BoundSymbol& last) {
  return last.kind == StatementKind::UnpackAccess && !last.type && last.output.is_name() &&
         (last.args.front().kind == ValueKind::Dotted || last.args.front().is_name());
}

bool prints_types(const Trace& trace, const BoundSymbol& last) {
  return std::any_of(trace.bound_symbols.begin(), trace.bound_symbols.end(),
                     [&last](const BoundSymbolRef& statement) {
                       return statement.get() != &last && statement->kind == StatementKind::Call &&
                              statement->type;
                     });
}

// The name at the end of the line is unknown, and a known name goes on from it: `del cotangent`.
bool ends_in_part_of_name(const Trace& trace, std::string_view line, const BoundSymbol& last) {
  std::size_t begin = line.size();
  while (begin > 0 && is_name_char(line[begin - 1])) --begin;
  const std::string_view part = line.substr(begin);
  if (part.empty()) return false;
  bool longer = false;
  const auto compare = [&](std::string_view name) {
    longer = longer || (name.size() > part.size() && name.starts_with(part));
    return name == part;
  };
  for (const Parameter& parameter : trace.parameters) {
    if (compare(parameter.name)) return false;
  }
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement.get() == &last) continue;
    for (const std::string_view name : output_names(*statement)) {
      if (compare(name)) return false;
    }
  }
  return longer;
}

}  // namespace

CutEnd cut_end(const Trace& trace, std::string_view line, const BoundSymbol* last, bool text_ends) {
  if (line.empty()) return CutEnd::No;
  if (has_open_type(line)) return CutEnd::Comment;
  if (last == nullptr) return text_ends ? CutEnd::Comment : CutEnd::No;
  if (has_cut_callee(*last)) return CutEnd::Statement;
  if (!text_ends) return CutEnd::No;
  if (last->kind == StatementKind::Call && last->output.is_name() && !last->type &&
      prints_types(trace, *last)) {
    return CutEnd::Comment;
  }
  const bool reads_name_last = last->kind == StatementKind::Del ||
                               last->kind == StatementKind::UnpackSequence ||
                               last->kind == StatementKind::UnpackAccess;
  return reads_name_last && ends_in_part_of_name(trace, line, *last) ? CutEnd::Statement
                                                                     : CutEnd::No;
}

}  // namespace tg::text
