#include "core/text/parser.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/ir/verifier.h"
#include "core/text/findings.h"
#include "core/text/paste.h"
#include "core/text/statement_parser.h"
#include "core/text/trace_parser.h"
#include "core/text/value_parser.h"

namespace tg {
namespace {

constexpr std::string_view kTook = " (took ";

std::string label_of(const Trace& trace) {
  if (trace.provenance.empty()) return "acquired";
  return trace.provenance.substr(0, trace.provenance.rfind(kTook));
}

Diagnostic as_diagnostic(const text::SyntaxError& error) {
  Diagnostic diagnostic;
  diagnostic.code = error.code;
  diagnostic.message = error.message;
  diagnostic.hint = error.hint;
  diagnostic.at = {1, static_cast<std::uint32_t>(error.offset + 1),
                   static_cast<std::uint32_t>(error.length)};
  return diagnostic;
}

}  // namespace

TraceFile parse_trace_file(std::string name, std::string text) {
  TraceFile file;
  file.name = std::move(name);
  file.text = std::move(text);
  DiagnosticSink sink;
  const auto append = [&file](std::vector<Trace> traces) {
    for (Trace& trace : traces) {
      Phase phase;
      phase.kind = guess_kind(trace);
      phase.label = label_of(trace);
      phase.trace = std::move(trace);
      file.phases.push_back(std::move(phase));
    }
  };
  if (is_clean_trace_text(file.text)) {
    append(text::parse_traces(file.text, text::SourceMap(), sink));
    text::check_bytes(file.text, text::SourceMap(), sink);
  } else {
    const PasteResult pasted = find_programs(file.text);
    for (const Diagnostic& diagnostic : pasted.diagnostics) sink.add(diagnostic);
    for (const FoundProgram& program : pasted.programs) {
      const text::SourceMap map(program.text);
      append(text::parse_traces(program.text.text, map, sink));
      text::check_bytes(program.text.text, map, sink);
    }
  }
  std::vector<Diagnostic> findings = sink.all();
  DiagnosticSink names;
  for (const Phase& phase : file.phases) verify(phase.trace, names);
  findings.insert(findings.end(), names.all().begin(), names.all().end());
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.at.line < b.at.line; });
  text::limit_findings(findings);
  text::point_to_names(findings, file.text);
  file.diagnostics = std::move(findings);
  return file;
}

Result<BoundSymbol> parse_statement(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (!first.ends_with('\\') && !trim(first).empty() && trim(first).front() != '#') {
    // Read on its own, a statement is never "cut by the end of the text": say what is wrong with
    // it.
    const std::size_t indent = text::indentation(first);
    text::TypeCache types;
    BoundSymbol statement;
    std::size_t end = 0;
    text::SyntaxError error;
    if (!text::parse_statement_line(first.substr(indent), types, statement, end, error)) {
      error.offset += indent;
      return Unexpected{as_diagnostic(error)};
    }
  }
  DiagnosticSink sink;
  // The line break tells that the text was not cut.
  const std::string whole = std::string(text).append(1, '\n');
  std::vector<Trace> traces = text::parse_traces(whole, text::SourceMap(), sink);
  for (const Diagnostic& diagnostic : sink.all()) {
    if (diagnostic.severity == Severity::Error) return Unexpected{diagnostic};
  }
  if (traces.size() != 1 || traces.front().has_def_line ||
      traces.front().bound_symbols.size() != 1) {
    text::SyntaxError error;
    error.message = "one statement was expected";
    return Unexpected{as_diagnostic(error)};
  }
  BoundSymbol statement = *traces.front().bound_symbols.front();
  statement.verbatim.reset();
  statement.at = {};
  return statement;
}

Result<Value> parse_value(std::string_view text) {
  text::ValueParser values(text);
  Value value;
  if (!values.value(value)) return Unexpected{as_diagnostic(values.error())};
  values.skip_space();
  if (!values.at_end()) {
    values.fail(DiagnosticCode::MalformedStatement, values.at(), text.size() - values.at(),
                "the value ends before this text");
    return Unexpected{as_diagnostic(values.error())};
  }
  return value;
}

}  // namespace tg
