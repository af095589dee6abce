#include "core/base/diagnostic.h"

#include <algorithm>

#include <fmt/format.h>

namespace tg {
namespace {

struct CodeRow {
  DiagnosticCode code;
  std::string_view text;
  std::string_view help;
};

constexpr CodeRow kCodes[] = {
#define TG_DIAGNOSTIC(name, text, help) {DiagnosticCode::name, text, help},
#include "core/base/diagnostic_codes.def"
#undef TG_DIAGNOSTIC
};

constexpr std::size_t kMaxShownColumns = 160;

const CodeRow& row(DiagnosticCode code) {
  return kCodes[static_cast<std::size_t>(code)];
}

// The text of 1-based `line`, without its line break; empty when there is no such line.
std::string_view line_of(std::string_view text, std::uint32_t line) {
  std::size_t begin = 0;
  for (std::uint32_t i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  std::string_view rest = text.substr(begin);
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

// Control characters would move the terminal's cursor or hide text: show them as spaces.
std::string printable(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      ' ');
  return shown;
}

void append_excerpt(std::string& out, std::string_view source_text, SourceRange at) {
  if (at.line == 0 || source_text.empty()) return;
  const std::string_view line = line_of(source_text, at.line);
  if (line.empty()) return;
  const std::size_t column = at.column == 0 ? 0 : at.column - 1;
  if (column > line.size()) return;
  std::size_t begin = 0;
  if (column > kMaxShownColumns / 2 && line.size() > kMaxShownColumns) {
    begin = column - kMaxShownColumns / 2;
  }
  const std::string_view shown = line.substr(begin, kMaxShownColumns);
  out += fmt::format("    {}\n", printable(shown));
  if (at.column == 0) return;
  const std::size_t room = shown.size() > column - begin ? shown.size() - (column - begin) : 1;
  const std::size_t length = std::clamp<std::size_t>(at.length, 1, std::max<std::size_t>(room, 1));
  out += fmt::format("    {}^{}\n", std::string(column - begin, ' '), std::string(length - 1, '~'));
}

std::string place(std::string_view file, SourceRange at) {
  if (at.line == 0) return std::string(file);
  if (at.column == 0) return fmt::format("{}:{}", file, at.line);
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

}  // namespace

std::string_view code_text(DiagnosticCode code) { return row(code).text; }
std::string_view code_help(DiagnosticCode code) { return row(code).help; }

const std::vector<DiagnosticCode>& all_diagnostic_codes() {
  static const std::vector<DiagnosticCode> codes = [] {
    std::vector<DiagnosticCode> all;
    for (const CodeRow& code : kCodes) all.push_back(code.code);
    return all;
  }();
  return codes;
}

std::string_view severity_text(Severity severity) {
  switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
  }
  return "error";
}

std::string render(const Diagnostic& diagnostic, std::string_view file, std::string_view source_text) {
  std::string out = fmt::format("{}: {}: {} [{}]\n", place(file, diagnostic.at),
                                severity_text(diagnostic.severity), diagnostic.message,
                                code_text(diagnostic.code));
  append_excerpt(out, source_text, diagnostic.at);
  if (!diagnostic.hint.empty()) out += fmt::format("hint: {}\n", diagnostic.hint);
  for (const Note& note : diagnostic.notes) {
    out += fmt::format("{}: note: {}\n", place(file, note.at), note.message);
    append_excerpt(out, source_text, note.at);
  }
  return out;
}

void DiagnosticSink::add(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }

bool DiagnosticSink::has_errors() const {
  return std::any_of(diagnostics_.begin(), diagnostics_.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

}  // namespace tg
