// golden/paste: files as people paste them, with what must be found in each.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/golden/checks.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

using Json = nlohmann::json;

// The kinds that expected.json speaks of; "not-a-trace" is optional everywhere.
constexpr std::string_view kKinds[] = {
    "truncated-line",         "missing-return",    "elision",
    "undefined-name",         "use-after-del",     "duplicate-definition",
    "statement-after-return", "unknown-callee",    "unbalanced-brackets",
    "smart-quotes",           "invalid-character", "invalid-utf8",
    "diff-removed-line",      "no-trace-found"};

bool is_statement(const BoundSymbol& statement) {
  switch (statement.kind) {
    case StatementKind::Call:
    case StatementKind::UnpackSequence:
    case StatementKind::UnpackAccess:
    case StatementKind::PackList:
    case StatementKind::PackAssign:
    case StatementKind::Del:
    case StatementKind::Return:
    case StatementKind::Print:
      return true;
    case StatementKind::UnpackTrivial:
    case StatementKind::EmptyCollection:
    case StatementKind::Comment:
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      return false;
  }
  return false;
}

std::size_t count_copies(const BoundSymbol& statement, int depth) {
  std::size_t count =
      statement.kind == StatementKind::Call && statement.callee == "prims.copy_" ? 1 : 0;
  if (depth > 200) return count;
  for (const BoundSymbolRef& inner : statement.subsymbols) count += count_copies(*inner, depth + 1);
  return count;
}

bool is_complete(const Trace& trace) {
  bool returns = false;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::Elision || statement->kind == StatementKind::Unparsed)
      return false;
    returns = returns || statement->kind == StatementKind::Return;
  }
  return returns;
}

std::string trace_fault(const Trace& trace, const Json& expected) {
  std::vector<std::string> faults;
  const auto hold = [&](std::string_view what, const Json& wanted, const Json& got) {
    if (wanted != got)
      faults.push_back(fmt::format("{} {} instead of {}", what, got.dump(), wanted.dump()));
  };
  std::size_t statements = 0;
  std::size_t copies = 0;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    statements += is_statement(*statement) ? 1 : 0;
    copies += count_copies(*statement, 0);
  }
  hold("name", expected.value("name", Json()), trace.name);
  if (expected.contains("args") && expected["args"].is_array()) {
    Json names = Json::array();
    for (const Parameter& parameter : trace.parameters)
      names.push_back(parameter.prefix + parameter.name);
    hold("args", expected["args"], names);
  }
  if (expected.contains("number_of_args"))
    hold("number of args", expected["number_of_args"], trace.parameters.size());
  hold("statements", expected.value("top_level_statements", Json()), statements);
  hold("copies", expected.value("copies", Json()), copies);
  hold("provenance", expected.value("provenance", Json()),
       trace.provenance.empty() ? Json() : Json(trace.provenance));
  if (expected.contains("def_line") && expected["def_line"].is_number()) {
    hold("def line", expected["def_line"], trace.def_at.line);
  }
  hold("complete", expected.value("complete", Json()), is_complete(trace));
  return fmt::format("{}", fmt::join(faults, "; "));
}

std::string diagnostics_fault(const std::vector<Diagnostic>& found, const Json& expected) {
  std::vector<std::string> faults;
  std::set<std::string> allowed;
  for (const Json& item : expected) {
    const std::string kind = item.value("kind", std::string());
    allowed.insert(kind);
    const bool any = std::any_of(found.begin(), found.end(), [&](const Diagnostic& diagnostic) {
      if (code_text(diagnostic.code) != kind) return false;
      const Json line = item.value("line", Json());
      const std::string about = item.value("about", std::string());
      return (!line.is_number() || line == diagnostic.at.line) &&
             (about.empty() || about == diagnostic.subject);
    });
    if (!any) faults.push_back(fmt::format("missing diagnostic {}", item.dump()));
  }
  for (const Diagnostic& diagnostic : found) {
    const std::string kind(code_text(diagnostic.code));
    const bool counts = std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
    if (counts && !allowed.contains(kind)) {
      faults.push_back(fmt::format("unexpected {} at line {}", kind, diagnostic.at.line));
    }
  }
  return fmt::format("{}", fmt::join(faults, "; "));
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80    ? 1
                               : lead >= 0xf0 ? 4
                               : lead >= 0xe0 ? 3
                               : lead >= 0xc2 ? 2
                                              : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0U) != 0x80U) return false;
    }
    i += length;
  }
  return true;
}

// A recording can lose its damage on the way: a file that must hold a byte that is no UTF-8, and
// holds none.
bool lost_its_damage(const Json& expected, std::string_view input) {
  for (const Json& item : expected) {
    if (item.value("kind", std::string()) == "invalid-utf8") return is_utf8(input);
  }
  return false;
}

}  // namespace

void check_paste(const Unit& unit, Checks& checks) {
  const Result<std::string> expected_text = unit.read(unit.files[0]);
  const Result<std::string> input = unit.read(unit.files[1]);
  if (!expected_text.has_value() || !input.has_value())
    return checks.fail("traces", {}, "cannot be read");
  const Json expected = Json::parse(*expected_text, nullptr, false);
  if (!expected.is_object()) return checks.fail("traces", {}, "expected.json is no JSON");
  const TraceFile file = parse_trace_file(unit.files[1], *input);
  const Json traces = expected.value("traces", Json::array());
  std::string fault;
  if (file.phases.size() != traces.size()) {
    fault = fmt::format("{} traces instead of {}", file.phases.size(), traces.size());
  }
  for (std::size_t i = 0; i < std::min(file.phases.size(), traces.size()); ++i) {
    const std::string wrong = trace_fault(file.phases[i].trace, traces[i]);
    if (!wrong.empty()) fault += fmt::format("{}trace {}: {}", fault.empty() ? "" : "; ", i, wrong);
  }
  checks.decide("traces", {}, fault);
  const Json diagnostics = expected.value("diagnostics", Json::array());
  if (lost_its_damage(diagnostics, *input)) {
    return checks.not_supported(
        "diagnostics", {}, "must report bytes that are no UTF-8, but the stored file has none");
  }
  checks.decide("diagnostics", {}, diagnostics_fault(file.diagnostics, diagnostics));
}

}  // namespace tg::golden
