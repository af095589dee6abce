#include "core/text/paste_judge.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/text/lexer.h"
#include "core/text/statement_parser.h"
#include "core/text/value_parser.h"

namespace tg::text {
namespace {

// Enough lines to tell: a trace shows its kind at once.
constexpr std::size_t kJudgedLines = 200;

// "x: Tensor", "-> Tensor", "self": Python and FX graphs have them, traces never do.
bool is_annotated(std::string_view def_line) {
  if (def_line.find("->") != std::string_view::npos) return true;
  const std::size_t open = def_line.find('(');
  if (open == std::string_view::npos) return false;
  const std::string_view params = def_line.substr(open + 1);
  if (params.starts_with("self,") || params.starts_with("self)")) return true;
  const std::size_t close = params.rfind("):");
  int depth = 0;
  for (std::size_t i = 0; i < params.size() && i < close; ++i) {
    const char c = params[i];
    if (c == '\'' || c == '"') {
      const std::size_t end = string_end(params, i);
      if (end == std::string_view::npos) return false;
      i = end - 1;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ':' && depth == 0) return true;
  }
  return false;
}

std::string_view without_marks(std::string_view line) {
  line = trim(line);
  while (line.starts_with('#')) line = trim(line.substr(1));
  return line;
}

struct Evidence {
  bool typed = false;           // a type comment
  bool python = false;          // a line that no trace has
  bool thunder_callee = false;  // ltorch.X, prims.X
};

Evidence evidence_of(const std::vector<std::string_view>& body) {
  Evidence evidence;
  TypeCache types;
  std::size_t judged = 0;
  for (const std::string_view line : body) {
    if (judged++ > kJudgedLines) break;
    if (is_typed_line(line)) evidence.typed = true;
    const std::string_view statement = trim(line);
    if (statement.empty() || statement.starts_with('#') || is_elision(statement)) continue;
    BoundSymbol parsed;
    std::size_t end = 0;
    SyntaxError error;
    if (!parse_statement_line(statement, types, parsed, end, error)) {
      if (error.code == DiagnosticCode::MalformedStatement) evidence.python = true;
      continue;
    }
    if (parsed.kind == StatementKind::Call && parsed.layout.untyped_comment) evidence.typed = true;
    if (parsed.callee.starts_with("ltorch.") || parsed.callee.starts_with("prims.")) {
      evidence.thunder_callee = true;
    }
  }
  return evidence;
}

}  // namespace

bool is_typed_line(std::string_view line) {
  line = trim(line);
  const bool comment = line.starts_with('#');
  if (!line.ends_with('"')) return false;
  const std::size_t mark = line.rfind("# ");
  if (mark == std::string_view::npos) return false;
  const std::string_view text = comment && mark == 0 ? without_marks(line) : line.substr(mark + 2);
  const std::size_t name = name_end(text, 0);
  return name != 0 && text.substr(name).starts_with(": \"");
}

bool may_be_body(std::string_view line) {
  const std::string_view statement = without_marks(line);
  if (statement.empty() || trim(line).starts_with('#') || is_elision(statement)) return true;
  TypeCache types;
  BoundSymbol parsed;
  std::size_t end = 0;
  SyntaxError error;
  return parse_statement_line(statement, types, parsed, end, error);
}

bool looks_like_bare_provenance(std::string_view line) {
  if (line.empty() || line.front() < 'A' || line.front() > 'Z' || line.size() > 80) return false;
  const bool plain = std::all_of(line.begin(), line.end(), [](char c) {
    return is_name_char(c) || c == ' ' || c == '-' || c == '(' || c == ')' || c == '.';
  });
  return plain && (line.find("pass") != line.npos || line.find("ransform") != line.npos ||
                   line.find("trace") != line.npos);
}

std::string_view why_no_trace(const Candidate& candidate) {
  if (is_annotated(candidate.def_line))
    return "its signature has annotations or 'self': another graph format or Python";
  if (candidate.has_no_autocast) return {};
  const Evidence evidence = evidence_of(candidate.body);
  if (candidate.has_provenance && !evidence.python) return {};
  if (evidence.typed && !(evidence.python && !candidate.has_provenance)) return {};
  if (evidence.python) return "its body is ordinary Python";
  const auto first = std::find_if(candidate.body.begin(), candidate.body.end(),
                                  [](std::string_view line) { return !trim(line).empty(); });
  // Written by hand without any type: the indentation of traces and their operations tell.
  if (evidence.thunder_callee && first != candidate.body.end() && indentation(*first) == 2)
    return {};
  return "its body has no type comment and no statement that only a trace has";
}

}  // namespace tg::text
