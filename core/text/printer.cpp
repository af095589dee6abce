#include "core/text/printer.h"

#include "core/text/statement_printer.h"

namespace tg {

std::string print(const Trace& trace, const PrintOptions& options) {
  const auto subs = options.subsymbols ? text::SubStatements::Print : text::SubStatements::Omit;
  const bool as_read = options.subsymbols && options.program_lines;
  std::string out;
  if (as_read && trace.verbatim_head) {
    out = *trace.verbatim_head;
  } else {
    text::append_head(out, trace);
  }
  const ProgramLine* previous = nullptr;
  bool first = true;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    const ProgramLine* line = statement->program_line.get();
    const bool verbatim = as_read && statement->verbatim.has_value();
    if (options.program_lines && text::shows_program_line(previous, line) &&
        !(verbatim && statement->verbatim_has_program_line)) {
      if (!first) out += '\n';
      text::append_program_line(out, *line, trace.body_indent);
    }
    if (verbatim) {
      out += *statement->verbatim;
      out += '\n';
    } else {
      text::append_statement(out, *statement, trace.body_indent, subs);
    }
    previous = line;
    first = false;
  }
  if (as_read && trace.verbatim_tail) {
    out += *trace.verbatim_tail;
  } else if (!trace.ends_with_newline && out.ends_with('\n')) {
    out.pop_back();
  }
  return out;
}

std::string print(const TraceFile& file) {
  std::string out;
  for (const Phase& phase : file.phases) {
    if (!out.empty() && !out.ends_with('\n')) out += '\n';
    out += print(phase.trace);
  }
  return out;
}

std::string print(const BoundSymbol& statement) {
  std::string out;
  if (statement.verbatim && !statement.verbatim_has_program_line) return *statement.verbatim;
  text::append_statement(out, statement, 2, text::SubStatements::Print);
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

std::string one_line(const BoundSymbol& statement) {
  std::string out;
  text::append_one_line(out, statement);
  return out;
}

}  // namespace tg
