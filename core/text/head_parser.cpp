#include "core/text/head_parser.h"

#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/statement_printer.h"
#include "core/text/value_parser.h"

namespace tg::text {
namespace {

constexpr std::string_view kProvenanceMark = "# Constructed by ";
constexpr std::string_view kNoSignature = "# No signature available";

bool is_import(std::string_view line) {
  return line.starts_with("import ") ||
         (line.starts_with("from ") && line.find(" import ") != line.npos);
}

bool starts_code(std::string_view line) {
  return is_import(line) || line.starts_with('@') || line.starts_with("def ");
}

bool def_parameter(ValueParser& values, Parameter& parameter) {
  if (values.take("**")) {
    parameter.prefix.assign(2, '*');
  } else if (values.take("*")) {
    parameter.prefix.assign(1, '*');
  }
  const std::size_t begin = values.at();
  const std::size_t end = name_end(values.text(), begin);
  if (end == begin && parameter.prefix != "*") {
    return values.fail(
        values.at_end() ? DiagnosticCode::UnbalancedBrackets : DiagnosticCode::MalformedStatement,
        begin, 1, "a parameter name was expected");
  }
  parameter.name = std::string(values.text().substr(begin, end - begin));
  values.move_to(end);
  return !values.take("=") || values.value(parameter.default_value);
}

void def_error(const LineReader& lines, const ValueParser& values, const Line& line) {
  const SyntaxError& error = values.error();
  const bool cut =
      lines.next().end >= lines.text().size() && error.code == DiagnosticCode::UnbalancedBrackets;
  lines.report(cut ? DiagnosticCode::TruncatedLine : error.code, Severity::Error, line,
               error.offset, error.length,
               cut ? "the text ends inside this 'def' line" : error.message);
}

// The parameters read so far.
struct Signature {
  std::unordered_set<std::string> names;
  bool starred = false;
};

// What Python refuses about a parameter that reads well.
std::optional<SyntaxError> refused(const std::vector<Parameter>& before, const Parameter& parameter,
                                   const Signature& signature) {
  SyntaxError error;
  if (!parameter.name.empty() && signature.names.contains(parameter.name)) {
    error.code = DiagnosticCode::DuplicateDefinition;
    error.message = fmt::format("parameter '{}' is named twice", parameter.name);
    return error;
  }
  if (parameter.prefix == "*" && signature.starred) {
    error.message = "a second '*' stands in the signature";
    return error;
  }
  if (!before.empty() && before.back().prefix == "**") {
    error.message = fmt::format("'{}{}' stands behind '**{}'", parameter.prefix, parameter.name,
                                before.back().name);
    return error;
  }
  const bool plain = parameter.prefix.empty() && parameter.default_value.kind == ValueKind::Absent;
  if (plain && !signature.starred && !before.empty() &&
      before.back().default_value.kind != ValueKind::Absent) {
    error.message = fmt::format("'{}' has no default, but '{}' before it has one", parameter.name,
                                before.back().name);
    return error;
  }
  return std::nullopt;
}

void def_line(const LineReader& lines, Trace& trace) {
  const Line line = lines.next();
  const std::string_view text = lines.text_of(line);
  trace.def_at = lines.map().range(line.index, 0, text.size());
  const std::size_t open = name_end(text, 4);
  trace.name = std::string(text.substr(4, open - 4));
  ValueParser values(text, open + 1);
  if (open == 4 || open >= text.size() || text[open] != '(') {
    values.fail(DiagnosticCode::MalformedStatement, 4, 1,
                "a function name and '(' were expected after 'def'");
    def_error(lines, values, line);
    return;
  }
  values.skip_space();
  Signature signature;
  while (values.peek() != ')') {
    Parameter parameter;
    const std::size_t begin = values.at();
    if (!def_parameter(values, parameter)) {
      def_error(lines, values, line);
      return;
    }
    if (const auto wrong = refused(trace.parameters, parameter, signature)) {
      lines.report(wrong->code, Severity::Error, line, begin, values.at() - begin, wrong->message,
                   "Python refuses such a 'def' line");
    }
    signature.names.insert(parameter.name);
    signature.starred = signature.starred || parameter.prefix == "*";
    trace.parameters.push_back(std::move(parameter));
    values.skip_space();
    if (values.take(",")) {
      values.skip_space();
    } else if (values.peek() != ')') {
      if (values.at_end()) {
        values.fail(DiagnosticCode::UnbalancedBrackets, open, 1, "'(' is not closed");
      } else {
        values.unexpected("',' or ')' was");
      }
      def_error(lines, values, line);
      return;
    }
  }
  if (!text.substr(values.at()).starts_with("):")) {
    values.fail(DiagnosticCode::MalformedStatement, values.at(), 1,
                "'):' was expected at the end of the line");
    def_error(lines, values, line);
  }
}

}  // namespace

HeadEnd parse_head(LineReader& lines, Trace& trace) {
  const std::size_t begin = lines.next().begin;
  std::size_t end = begin;
  bool any = false;
  for (bool in_head = true; in_head && lines.has_line();) {
    const std::string_view line = lines.peek();
    if (trim(line).empty()) {
      lines.take();
      continue;
    }
    if (!any && line.starts_with(kProvenanceMark)) {
      trace.provenance = std::string(line.substr(kProvenanceMark.size()));
    } else if (!any && begins_bare_provenance(lines)) {
      trace.provenance = std::string(line);
      trace.bare_provenance = true;
    } else if (is_import(line)) {
      trace.imports.emplace_back(line);
    } else if (line.starts_with('@')) {
      trace.decorators.emplace_back(line);
    } else if (line.starts_with("def ")) {
      trace.has_def_line = true;
      def_line(lines, trace);
      in_head = false;
    } else if (line == kNoSignature) {
      trace.has_def_line = true;
      trace.has_signature = false;
      in_head = false;
    } else {
      break;
    }
    any = true;
    end = lines.take().end;
  }
  if (!trace.has_def_line) trace.has_signature = false;
  // Blank lines above a fragment belong to its first statement.
  if (!any) return {false, begin};
  std::string canonical;
  append_head(canonical, trace);
  const std::string_view as_read = lines.text().substr(begin, end - begin);
  if (canonical.size() != as_read.size() + 1 || !canonical.starts_with(as_read)) {
    trace.verbatim_head = std::string(as_read).append(1, '\n');
  }
  return {true, end};
}

bool is_head_line(std::string_view line) {
  return starts_code(line) || line.starts_with(kProvenanceMark) || line == kNoSignature;
}

bool begins_bare_provenance(const LineReader& lines) {
  const std::string_view line = lines.peek();
  return !line.empty() && line.front() != ' ' && line.front() != '#' && !starts_code(line) &&
         starts_code(lines.peek_second());
}

}  // namespace tg::text
