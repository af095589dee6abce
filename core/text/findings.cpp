#include "core/text/findings.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/text/lexer.h"

namespace tg::text {
namespace {

std::vector<std::size_t> line_begins(std::string_view text) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    begins.push_back(at + 1);
  }
  return begins;
}

// Position of `name` as a whole word in `line` from `at` on, npos if it is not there.
std::size_t find_word(std::string_view line, std::string_view name, std::size_t at) {
  for (at = line.find(name, at); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || (!is_name_char(line[at - 1]) && line[at - 1] != '.');
    if (begins && (end >= line.size() || !is_name_char(line[end]))) return at;
  }
  return std::string_view::npos;
}

// Length of the UTF-8 sequence at `at`, 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = at + 1; i < at + length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (length == 3 && first == 0xe0 && byte(at + 1) < 0xa0) return 0;   // overlong
  if (length == 3 && first == 0xed && byte(at + 1) >= 0xa0) return 0;  // surrogates
  if (length == 4 && first == 0xf0 && byte(at + 1) < 0x90) return 0;   // overlong
  if (length == 4 && first == 0xf4 && byte(at + 1) >= 0x90) return 0;  // above U+10FFFF
  return length;
}

bool is_control(unsigned char c) {
  return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

// Nothing but printable ASCII, tabs and line breaks: nearly every trace.
bool is_plain(std::string_view text) {
  bool plain = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    plain &= byte < 0x80 && !is_control(byte);
  }
  return plain;
}

// Behind this beginning of a line stands text of the user's: inside a string, or a program's line.
bool may_hold_anything(std::string_view before) {
  if (before.find(": \t") != std::string_view::npos) return true;
  char open = '\0';
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (open != '\0' && before[i] == '\\') {
      ++i;
    } else if (open == '\0' && (before[i] == '"' || before[i] == '\'')) {
      open = before[i];
    } else if (before[i] == open) {
      open = '\0';
    }
  }
  return open != '\0';
}

bool is_definition(DiagnosticCode code) {
  return code == DiagnosticCode::DuplicateDefinition;
}

constexpr std::size_t kReportedLines = 20;
constexpr std::size_t kFindingsPerCode = 200;

}  // namespace

void check_bytes(std::string_view text, const SourceMap& map, DiagnosticSink& sink) {
  if (is_plain(text)) return;
  std::size_t line = 0;
  std::size_t line_begin = 0;
  std::size_t reported = 0;
  bool line_is_done = false;
  for (std::size_t at = 0; at < text.size() && reported < kReportedLines;) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\n') {
      ++line;
      line_begin = ++at;
      line_is_done = false;
      continue;
    }
    const std::size_t length = utf8_length(text, at);
    const bool invisible = length > 1 && invisible_length(text, at) != 0 &&
                           !may_hold_anything(text.substr(line_begin, at - line_begin));
    if (!line_is_done && (length == 0 || is_control(byte) || invisible)) {
      Diagnostic finding;
      finding.code = length == 0 ? DiagnosticCode::InvalidUtf8 : DiagnosticCode::InvalidCharacter;
      finding.severity = Severity::Warning;
      finding.message = length == 0 ? fmt::format("byte 0x{:02x} is no UTF-8", byte)
                        : invisible
                            ? fmt::format("invisible character {}", shown_character(text, at))
                            : fmt::format("control character 0x{:02x}", byte);
      finding.hint = length == 0 ? "save the text as UTF-8, or paste it anew"
                     : invisible ? "put a plain space there, or nothing"
                                 : "take it out: no trace contains it";
      finding.at = map.range(line, at - line_begin, std::max<std::size_t>(length, 1));
      sink.add(std::move(finding));
      ++reported;
      line_is_done = true;
    }
    at += length == 0 ? 1 : length;
  }
}

void limit_findings(std::vector<Diagnostic>& findings) {
  if (findings.size() <= kFindingsPerCode) return;
  std::map<DiagnosticCode, std::size_t> seen;
  std::vector<Diagnostic> kept;
  for (Diagnostic& finding : findings) {
    if (++seen[finding.code] <= kFindingsPerCode) kept.push_back(std::move(finding));
  }
  for (const auto& [code, count] : seen) {
    if (count <= kFindingsPerCode) continue;
    Diagnostic rest;
    rest.code = code;
    rest.severity = Severity::Note;
    rest.message =
        fmt::format("{} more findings of this kind are not shown", count - kFindingsPerCode);
    kept.push_back(std::move(rest));
  }
  findings = std::move(kept);
}

void point_to_names(std::vector<Diagnostic>& findings, std::string_view text) {
  const bool any = std::any_of(findings.begin(), findings.end(), [](const Diagnostic& finding) {
    return finding.at.line != 0 && !finding.subject.empty();
  });
  if (!any) return;
  const std::vector<std::size_t> begins = line_begins(text);
  for (Diagnostic& finding : findings) {
    if (finding.subject.empty() || finding.at.line == 0 || finding.at.line > begins.size() ||
        finding.at.column == 0) {
      continue;
    }
    const std::size_t begin = begins[finding.at.line - 1];
    const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
    std::size_t from = finding.at.column - 1;
    if (from > line.size()) continue;
    if (!is_definition(finding.code)) {
      const std::size_t equals = line.find(" = ", from);
      if (equals != std::string_view::npos) from = equals + 3;
    }
    const std::size_t found = find_word(line, finding.subject, from);
    if (found == std::string_view::npos) continue;
    finding.at.column = static_cast<std::uint32_t>(found + 1);
    finding.at.length = static_cast<std::uint32_t>(finding.subject.size());
  }
}

}  // namespace tg::text
