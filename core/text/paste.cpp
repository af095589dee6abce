#include "core/text/paste.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/lexer.h"
#include "core/text/paste_judge.h"
#include "core/text/paste_layout.h"
#include "core/text/paste_lines.h"
#include "core/text/paste_prefix.h"
#include "core/text/statement_parser.h"

namespace tg {
namespace {

using text::BodyLine;
using text::Found;
using text::HeadAt;
using text::HeadKind;
using text::PasteLine;
using text::Prefix;

// A wrapped line has at most so many pieces; longer runs are no wrapped line.
constexpr std::size_t kMaxPieces = 2000;

// Brackets and quotes that `line` leaves open: a terminal may have broken it.
bool is_open(std::string_view line) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    switch (line[i]) {
      case '(':
      case '[':
      case '{':
        ++depth;
        break;
      case ')':
      case ']':
      case '}':
        if (depth > 0) --depth;
        break;
      case '\'':
      case '"': {
        const std::size_t end = text::string_end(line, i);
        if (end == std::string_view::npos) return true;
        i = end - 1;
        break;
      }
      default:
        break;
    }
  }
  return depth > 0;
}

// Closing minus opening brackets outside strings, negative when brackets are open.
int surplus_of_closing(std::string_view line) {
  int surplus = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '(' || c == '[' || c == '{') --surplus;
    if (c == ')' || c == ']' || c == '}') ++surplus;
    if (c == '\'' || c == '"') {
      const std::size_t end = text::string_end(line, i);
      if (end == std::string_view::npos) break;
      i = end - 1;
    }
  }
  return surplus;
}

class Finder {
 public:
  explicit Finder(text::PasteLines pasted) : pasted_(std::move(pasted)), lines_(pasted_.lines) {}

  PasteResult run() {
    while (at_ < lines_.size()) step();
    if (result_.programs.empty()) fragments();
    if (result_.programs.empty()) {
      report(DiagnosticCode::NoTraceFound, Severity::Error, {}, "no trace was found",
             "a trace is what print(thunder.last_traces(fn)[-1]) shows");
    }
    return std::move(result_);
  }

 private:
  void report(DiagnosticCode code, Severity severity, SourceRange at, std::string message,
              std::string hint = {}) {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.severity = severity;
    diagnostic.at = at;
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    result_.diagnostics.push_back(std::move(diagnostic));
  }

  // ---- looking for heads
  void step() {
    const PasteLine& line = lines_[at_];
    if (line.removed_by_diff) {
      ++at_;
      return;
    }
    const std::optional<HeadAt> head =
        text::is_fence(line.text) ? std::nullopt : text::find_head(line.text);
    if (!head) {
      if (!blank_in_head(line.text)) found_ = Found{};
      prompts_ = prompts_ || text::starts_with_prompt(line.text);
      ++at_;
      return;
    }
    const Prefix prefix(line.text.substr(0, head->column));
    if (head->kind == HeadKind::Provenance) found_ = Found{};
    if (head->kind == HeadKind::Import && found_.head.empty()) bare_provenance(head->column);
    note_prefix(prefix);
    BodyLine out;
    out.text = std::string(text::without_trailing_blanks(line.text.substr(head->column)));
    out.line = line.line;
    out.removed = line.removed + static_cast<std::int32_t>(head->column);
    ++at_;
    switch (head->kind) {
      case HeadKind::Provenance:
        found_.has_provenance = true;
        break;
      case HeadKind::Import:
      case HeadKind::Decorator:
        if (out.text.find("no_autocast") != std::string::npos) found_.has_no_autocast = true;
        break;
      case HeadKind::Def:
      case HeadKind::NoSignature:
        head_prefix_ = prefix;
        program(std::move(out), prefix, head->kind);
        return;
    }
    head_prefix_ = prefix;
    found_.head.push_back(std::move(out));
  }

  // A blank line of the head, be it behind a prefix.
  [[nodiscard]] bool blank_in_head(std::string_view line) const {
    if (trim(line).empty()) return true;
    const std::optional<std::size_t> length = head_prefix_.length_in(line);
    return length && !found_.head.empty() && trim(line.substr(*length)).empty();
  }

  void bare_provenance(std::size_t column) {
    if (at_ == 0 || column > lines_[at_ - 1].text.size()) return;
    const PasteLine& before = lines_[at_ - 1];
    const std::string_view text = text::without_trailing_blanks(before.text.substr(column));
    if (!text::looks_like_bare_provenance(text)) return;
    BodyLine out;
    out.text = std::string(text);
    out.line = before.line;
    out.removed = before.removed + static_cast<std::int32_t>(column);
    found_.head.push_back(std::move(out));
  }

  void note_prefix(const Prefix& prefix) {
    if (!prefix.empty()) found_.undo(prefix.word());
  }

  // ---- one function
  void program(BodyLine def, const Prefix& prefix, HeadKind kind) {
    if (kind == HeadKind::Def) join_def(def, prefix);
    found_.def = std::move(def);
    body(prefix);
    text::Candidate candidate;
    candidate.has_provenance = found_.has_provenance;
    candidate.has_no_autocast = found_.has_no_autocast;
    if (kind == HeadKind::Def) candidate.def_line = found_.def.text;
    for (const BodyLine& line : found_.body) candidate.body.push_back(line.text);
    const std::string_view reason = text::why_no_trace(candidate);
    if (reason.empty()) {
      finish();
    } else {
      report(DiagnosticCode::NotATrace, Severity::Note,
             {found_.def.line, static_cast<std::uint32_t>(std::max(found_.def.removed, 0) + 1),
              static_cast<std::uint32_t>(found_.def.text.size())},
             fmt::format("this function is no trace: {}", reason));
    }
    found_ = Found{};
  }

  // The terminal may have broken the line anywhere, even inside a name.
  void join_def(BodyLine& def, const Prefix& prefix) {
    std::string joined = def.text;
    std::size_t at = at_;
    for (std::size_t pieces = 0; pieces < kMaxPieces && at < lines_.size(); ++pieces, ++at) {
      const bool complete = joined.find('(') != std::string::npos && !is_open(joined);
      if (complete && (joined.ends_with(':') || pieces == 0)) break;
      const std::optional<std::size_t> length = prefix.length_in(lines_[at].text);
      if (!length) return;
      const std::string_view piece = text::without_trailing_blanks(lines_[at].text.substr(*length));
      if (piece.empty() || piece.front() == '#' || piece.starts_with("  ") ||
          text::is_fence(piece) || text::find_head(piece))
        return;
      joined += piece;
    }
    const std::size_t name = text::name_end(joined, 4);
    const bool whole = !is_open(joined) && joined.ends_with("):") && joined[name] == '(';
    if (at == at_ || !whole) return;
    def.text = std::move(joined);
    at_ = at;
    found_.undo("join");
  }

  void body(Prefix prefix) {
    bool first = true;
    bool returned = false;
    std::vector<BodyLine> blanks;
    for (; at_ < lines_.size(); ++at_) {
      const PasteLine& line = lines_[at_];
      if (line.removed_by_diff) {
        found_.removed_by_diff.push_back(line.line);
        continue;
      }
      std::optional<std::size_t> length = prefix.length_in(line.text);
      const bool shifted = length && first && prefix.is_space() && !prefix.empty() &&
                           text::indentation(line.text) == *length + 1;
      if ((!length || shifted) && first && line.text.find_first_of(" \t") == 0) {
        // Only the head line had the prefix: one log record, "Out[3]: ", the blank of
        // print("label", trace).
        prefix = Prefix{};
        length = 0;
      }
      if (!length) return;
      std::string_view rest = line.text.substr(*length);
      if (text::is_fence(rest)) return;
      BodyLine out;
      out.line = line.line;
      out.removed = line.removed + static_cast<std::int32_t>(*length);
      if (trim(rest).empty()) {
        blanks.push_back(std::move(out));
        continue;
      }
      const std::size_t indent = rest.find_first_not_of(" \t");
      if (begins_head(rest, indent)) return;
      if (indent == 0 || (indent == 1 && rest.front() == ' ' && !found_.body.empty())) {
        if (!text::is_elision(rest)) {
          if (!found_.body.empty() && blanks.empty() && join_wrapped(rest, prefix)) continue;
          if (returned || !goes_on(prefix)) return;
        }
      }
      if (returned && !text::may_be_body(rest)) return;
      for (BodyLine& blank : blanks) found_.body.push_back(std::move(blank));
      blanks.clear();
      if (line.smart_quotes && found_.smart_quotes_line == 0) found_.smart_quotes_line = line.line;
      const bool returns = rest.substr(indent).starts_with("return");
      returned = returned || returns;
      first = false;
      out.text = std::string(rest);
      if (returns && list_end(out, *length)) {
        found_.body.push_back(std::move(out));
        return;
      }
      found_.body.push_back(std::move(out));
    }
  }

  // Behind a foreign line at column 0, does the trace go on? Then that line is one of it that
  // cannot be read; to stop there would lose the rest without a word.
  [[nodiscard]] bool goes_on(const Prefix& prefix) const {
    for (std::size_t at = at_ + 1; at < lines_.size(); ++at) {
      if (lines_[at].removed_by_diff) continue;
      const std::optional<std::size_t> length = prefix.length_in(lines_[at].text);
      if (!length) return false;
      const std::string_view rest = lines_[at].text.substr(*length);
      if (trim(rest).empty()) continue;
      return rest.starts_with("  ") &&
             (text::is_typed_line(rest) || trim(rest).starts_with("return "));
    }
    return false;
  }

  // A head line, whatever its indentation: a trace inside a docstring, or the next trace.
  static bool begins_head(std::string_view rest, std::size_t indent) {
    constexpr std::string_view kFirst = "#dif@";
    if (kFirst.find(rest[indent]) == std::string_view::npos) return false;
    const std::string_view statement = rest.substr(indent);
    if (!(statement.starts_with("# Constructed by ") || statement.starts_with("def ") ||
          statement.starts_with("import ") || statement.starts_with("from ") ||
          statement.front() == '@' || statement.starts_with("# No signature"))) {
      return false;
    }
    const std::optional<HeadAt> head = text::find_head(rest);
    return head && head->column == indent;
  }

  // A piece of the body's last line that a terminal moved to column 0. Joins as many pieces as make
  // a statement.
  bool join_wrapped(std::string_view piece, const Prefix& prefix) {
    BodyLine& last = found_.body.back();
    const bool names_only =
        piece.find_first_not_of(
            "_, 0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
        std::string_view::npos;
    const bool deletes =
        trim(last.text).starts_with("del ") && names_only && last.text.size() >= 40;
    if (!deletes && (is_complete(last.text) || text::is_elision(trim(last.text)))) return false;
    std::string joined = last.text;
    std::size_t at = at_;
    for (std::size_t pieces = 0; pieces < kMaxPieces && at < lines_.size(); ++pieces, ++at) {
      if (pieces > 0) {
        const std::optional<std::size_t> length = prefix.length_in(lines_[at].text);
        if (!length) return false;
        piece = lines_[at].text.substr(*length);
        const std::size_t indent = piece.find_first_not_of(" \t");
        if (indent == std::string_view::npos || indent > 1 || text::is_fence(piece) ||
            begins_head(piece, indent)) {
          return false;
        }
      }
      joined += piece;
      if (!is_complete(joined)) continue;
      last.text = std::move(joined);
      at_ = at;
      found_.undo("join");
      return true;
    }
    return false;
  }

  // Does `line` hold a whole statement or annotation?
  static bool is_complete(std::string_view line) {
    std::string_view statement = trim(line);
    const bool comment = statement.starts_with('#');
    if (is_open(statement)) return false;
    while (statement.starts_with('#')) statement = trim(statement.substr(1));
    if (statement.empty()) return true;
    text::TypeCache types;
    if (comment && text::parse_comment_statement(statement, types, false)) return true;
    BoundSymbol parsed;
    std::size_t end = 0;
    text::SyntaxError error;
    return text::parse_statement_line(statement, types, parsed, end, error);
  }

  // print(list) puts "[" before the first trace, ", " and the next trace behind a return line, "]"
  // at the end.
  bool list_end(BodyLine& line, std::size_t prefix_length) {
    constexpr std::array<std::string_view, 5> kHeads = {", # Constructed by ", ", import ",
                                                        ", from ", ", @torch.no_grad", ", def "};
    for (const std::string_view head : kHeads) {
      const std::size_t comma = line.text.find(head);
      if (comma == std::string::npos ||
          surplus_of_closing(std::string_view(line.text).substr(0, comma)) != 0)
        continue;
      PasteLine& rest = lines_[at_];
      const std::size_t cut = prefix_length + comma + 2;
      rest.text.remove_prefix(cut);
      rest.removed += static_cast<std::int32_t>(cut);
      line.text.resize(comma);
      found_.undo("list");
      return true;
    }
    std::string_view text = text::without_trailing_blanks(line.text);
    if (text.ends_with(']') && surplus_of_closing(text) == 1) {
      text.remove_suffix(1);
      found_.undo("list");
    } else if (text.ends_with(',') && text.size() > 7 && surplus_of_closing(text) == 0) {
      text.remove_suffix(1);
      found_.undo("list");
    }
    if (text.size() < text::without_trailing_blanks(line.text).size())
      line.text = std::string(text);
    return false;
  }

  void finish() {
    FoundProgram program;
    program.undone = pasted_.undone;
    if (prompts_) found_.undo("prompts");
    const bool text_ends = !found_.body.empty() && !lines_.empty() && pasted_.ends_inside_line &&
                           found_.body.back().line == lines_.back().line;
    program.text = text::laid_out(found_, program.undone);
    // No line break where the paste has none: the line may be cut.
    if (text_ends) program.text.text.pop_back();
    if (found_.smart_quotes_line != 0) {
      report(DiagnosticCode::SmartQuotes, Severity::Warning, {found_.smart_quotes_line, 0, 0},
             "typographic quotes were read as plain ones",
             "a mail or chat program put them in; strings that hold them are changed");
    }
    for (const std::uint32_t line : found_.removed_by_diff) {
      report(DiagnosticCode::DiffRemovedLine, Severity::Note, {line, 0, 0},
             "this line of the diff's old side was left out",
             "the program is the diff's new side; paste the old one alone to see it");
    }
    result_.programs.push_back(std::move(program));
  }

  // ---- statements without a head
  // A damaged line that a head line ends begins no trace, or it would be one already.
  static bool goes_into_fragment(std::string_view line) {
    return !text::is_fence(line) && text::may_be_body(line) && !text::find_head(line);
  }

  void fragments() {
    std::size_t at = 0;
    while (at < lines_.size()) {
      const std::string_view line = lines_[at].text;
      if (!text::is_typed_line(line) || !text::may_be_body(line) || text::find_head(line) ||
          trim(line).size() + 60 < line.size()) {
        ++at;
        continue;
      }
      FoundProgram program;
      for (; at < lines_.size(); ++at) {
        const PasteLine& inside = lines_[at];
        if (!goes_into_fragment(inside.text)) break;
        // A blank line goes on only before a source position.
        if (trim(inside.text).empty() &&
            (at + 1 >= lines_.size() || !trim(lines_[at + 1].text).starts_with('#') ||
             !goes_into_fragment(lines_[at + 1].text))) {
          break;
        }
        text::append_line(program.text,
                          BodyLine{std::string(text::without_trailing_blanks(inside.text)),
                                   inside.line, inside.removed});
      }
      program.undone = pasted_.undone;
      result_.programs.push_back(std::move(program));
    }
  }

  text::PasteLines pasted_;
  std::vector<PasteLine>& lines_;
  std::size_t at_ = 0;
  Prefix head_prefix_;
  bool prompts_ = false;
  Found found_;
  PasteResult result_;
};

}  // namespace

PasteResult find_programs(std::string_view text) {
  return Finder(text::split_pasted(text)).run();
}

}  // namespace tg
