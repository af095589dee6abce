#include "core/text/paste_lines.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/text/lexer.h"

namespace tg::text {
namespace {

constexpr std::string_view kBom = "\xef\xbb\xbf";
constexpr std::string_view kNoBreakSpace = "\xc2\xa0";
constexpr std::size_t kLongestTag = 500;
constexpr char kEscape = '\x1b';

struct Replacement {
  std::string_view from;
  std::string_view to;
};

constexpr std::array<Replacement, 7> kEntities = {{{"&quot;", "\""},
                                                   {"&lt;", "<"},
                                                   {"&gt;", ">"},
                                                   {"&amp;", "&"},
                                                   {"&#x27;", "'"},
                                                   {"&#39;", "'"},
                                                   {"&nbsp;", " "}}};
constexpr std::array<Replacement, 5> kSmartQuotes = {{{"\xe2\x80\x9c", "\""},
                                                      {"\xe2\x80\x9d", "\""},
                                                      {"\xe2\x80\x9e", "\""},
                                                      {"\xe2\x80\x98", "'"},
                                                      {"\xe2\x80\x99", "'"}}};
// Tags that pages put around code; others ("<class 'torch.dtype'>", "<locals>") are text of the
// trace.
constexpr std::array<std::string_view, 22> kTags = {
    "a", "b",   "blockquote", "br",     "code",    "details", "div", "em", "font", "i",  "li",
    "p", "pre", "span",       "strong", "summary", "table",   "td",  "tr", "tt",   "ul", "body"};

template <std::size_t N>
bool replace_all(std::string& text, const std::array<Replacement, N>& replacements) {
  std::string out;
  bool changed = false;
  for (std::size_t i = 0; i < text.size();) {
    const auto* found = std::find_if(
        replacements.begin(), replacements.end(),
        [&](const Replacement& r) { return std::string_view(text).substr(i).starts_with(r.from); });
    if (found == replacements.end()) {
      out += text[i++];
    } else {
      out += found->to;
      i += found->from.size();
      changed = true;
    }
  }
  if (changed) text = std::move(out);
  return changed;
}

// End of the terminal control sequence at `at` (which holds ESC).
std::size_t escape_end(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return text.size();
  if (text[at + 1] == ']') {  // OSC ... BEL or ESC backslash
    for (std::size_t i = at + 2; i < text.size(); ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == kEscape) return std::min(i + 2, text.size());
    }
    return text.size();
  }
  if (text[at + 1] != '[') return at + 2;
  for (std::size_t i = at + 2; i < text.size(); ++i) {
    if (text[i] >= '@' && text[i] <= '~') return i + 1;
  }
  return text.size();
}

bool remove_escapes(std::string& text) {
  if (text.find(kEscape) == std::string::npos) return false;
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == kEscape) {
      i = escape_end(text, i);
    } else {
      out += text[i++];
    }
  }
  text = std::move(out);
  return true;
}

bool remove_tags(std::string& text) {
  std::string out;
  bool changed = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '<') {
      const std::size_t begin = i + (i + 1 < text.size() && text[i + 1] == '/' ? 2 : 1);
      const std::size_t end = name_end(text, begin);
      const std::size_t close = std::string_view(text).substr(0, end + kLongestTag).find('>', end);
      const std::string_view name = std::string_view(text).substr(begin, end - begin);
      if (close != std::string::npos &&
          std::find(kTags.begin(), kTags.end(), name) != kTags.end() &&
          (end == close || text[end] == ' ' || text[end] == '/')) {
        i = close + 1;
        changed = true;
        continue;
      }
    }
    out += text[i++];
  }
  if (changed) text = std::move(out);
  return changed;
}

// Indentation copied from web pages may hold no-break spaces.
bool plain_indentation(std::string& text) {
  std::size_t at = 0;
  bool changed = false;
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
    } else if (std::string_view(text).substr(at).starts_with(kNoBreakSpace)) {
      text.replace(at, kNoBreakSpace.size(), " ");
      changed = true;
    } else {
      break;
    }
  }
  return changed;
}

bool looks_like_html(std::string_view text) {
  return text.find("&quot;") != text.npos || text.find("&#x27;") != text.npos ||
         text.find("&#39;") != text.npos || text.find("&lt;") != text.npos ||
         text.find("<pre") != text.npos || text.find("</span>") != text.npos ||
         text.find("<code") != text.npos || text.find("<details") != text.npos;
}

// A trace inside string literals: notebooks, JSON logs, repr(str(trace)).
bool looks_like_literals(std::string_view text) {
  if (text.find("\"cells\"") != text.npos && text.find("\"nbformat\"") != text.npos) return true;
  return text.find("import torch\\n") != text.npos || text.find("):\\n") != text.npos;
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  PasteLines run() {
    std::uint32_t line = 1;
    if (text_.starts_with(kBom)) {
      text_.remove_prefix(kBom.size());
      undo("bom");
      first_removed_ = static_cast<std::int32_t>(kBom.size());
    }
    html_ = looks_like_html(text_);
    literals_ = looks_like_literals(text_);
    smart_ = text_.find(": \xe2\x80\x9c") != text_.npos ||
             text_.find(": \xe2\x80\x9d") != text_.npos ||
             text_.find(": \xe2\x80\x9e") != text_.npos;
    out_.ends_inside_line = !text_.ends_with('\n') && !text_.ends_with('\r');
    std::size_t begin = 0;
    while (begin < text_.size()) {
      std::size_t end = text_.find_first_of("\r\n", begin);
      std::size_t next = end + 1;
      if (end == std::string_view::npos) {
        end = text_.size();
        next = end;
      } else if (text_[end] == '\r') {
        const bool pair = next < text_.size() && text_[next] == '\n';
        undo(pair ? "crlf" : "cr");
        if (pair) ++next;
      }
      raw_line(text_.substr(begin, end - begin), line, begin == 0 ? first_removed_ : 0);
      begin = next;
      ++line;
    }
    diffs();
    return std::move(out_);
  }

 private:
  void undo(std::string_view word) {
    if (std::find(out_.undone.begin(), out_.undone.end(), word) == out_.undone.end()) {
      out_.undone.emplace_back(word);
    }
  }

  void raw_line(std::string_view line, std::uint32_t number, std::int32_t removed) {
    if (literals_ && explode(line, number)) {
      undo("notebook");
      return;
    }
    add(line, number, removed);
  }

  void add(std::string_view line, std::uint32_t number, std::int32_t removed) {
    PasteLine out;
    out.text = line;
    out.line = number;
    out.removed = removed;
    const bool special = line.find_first_of("\x1b\xc2\xe2\x0c&<") != std::string_view::npos;
    if (special) rewrite(out);
    if (is_fence(out.text)) undo("fences");
    out_.lines.push_back(out);
  }

  void rewrite(PasteLine& line) {
    std::string text(line.text);
    bool changed = false;
    if (remove_escapes(text)) {
      undo("ansi");
      changed = true;
    }
    if (text.starts_with('\f')) {
      // A page break in front of a line: Python reads it as nothing.
      const std::size_t breaks = std::min(text.find_first_not_of('\f'), text.size());
      text.erase(0, breaks);
      line.removed += static_cast<std::int32_t>(breaks);
      undo("page-breaks");
      changed = true;
    }
    changed = plain_indentation(text) || changed;
    if (html_) {
      const bool tags = remove_tags(text);
      const bool entities = replace_all(text, kEntities);
      if (tags || entities) undo("html");
      changed = changed || tags || entities;
    }
    if (smart_ && replace_all(text, kSmartQuotes)) {
      undo("smart-quotes");
      line.smart_quotes = true;
      changed = true;
    }
    if (!changed) return;
    out_.rewritten.push_back(std::move(text));
    line.text = out_.rewritten.back();
  }

  // Lines inside the string literals of `line`; false when it holds none worth reading.
  bool explode(std::string_view line, std::uint32_t number) {
    bool any = false;
    std::size_t accepted_end = 0;  // of the literal before, when it was read
    for (std::size_t at = line.find_first_of("\"'"); at != std::string_view::npos;
         at = line.find_first_of("\"'", at)) {
      const std::size_t end = string_end(line, at);
      if (end == std::string_view::npos) break;
      const std::string_view literal = line.substr(at, end - at);
      const std::string_view before = trim(line.substr(accepted_end, at - accepted_end));
      const std::size_t begin = at;
      at = end;
      if (trim(line.substr(end, 3)).starts_with(':')) continue;  // a key
      // The last line of a cell has no \n; it stands alone or behind another line.
      const bool follows = accepted_end != 0 ? before == "," : before.empty() && literal[0] == '"';
      if (literal.find("\\n") == std::string_view::npos && !follows) continue;
      literal_lines(literal, number, static_cast<std::int32_t>(begin + 1));
      accepted_end = end;
      any = true;
    }
    return any;
  }

  void literal_lines(std::string_view literal, std::uint32_t number, std::int32_t removed) {
    std::string decoded = decode(literal);
    plain_breaks(decoded);
    out_.rewritten.push_back(std::move(decoded));
    for (const std::string_view line : split_lines(out_.rewritten.back()))
      add(line, number, removed);
    if (out_.rewritten.back().empty()) add({}, number, removed);
  }

  // Line ends of other systems, as outside literals.
  void plain_breaks(std::string& text) {
    if (text.find('\r') == std::string::npos) return;
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
      if (text[i] == '\r') undo(pair ? "crlf" : "cr");
      if (!pair) out += text[i] == '\r' ? '\n' : text[i];
    }
    text = std::move(out);
  }

  static std::string decode(std::string_view literal) {
    if (literal.front() == '"') {
      const nlohmann::json value = nlohmann::json::parse(literal, nullptr, false);
      if (value.is_string()) return value.get<std::string>();
    }
    std::string out;
    const std::string_view inner = literal.substr(1, literal.size() - 2);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      if (inner[i] != '\\' || i + 1 == inner.size()) {
        out += inner[i];
        continue;
      }
      const char escaped = inner[++i];
      out += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
    return out;
  }

  // ---- diffs: '-' lines go, '+' and ' ' lines lose their mark
  void diffs() {
    std::size_t begin = 0;
    bool fenced_diff = false;
    for (std::size_t i = 0; i <= out_.lines.size(); ++i) {
      const bool fence = i < out_.lines.size() && is_fence(out_.lines[i].text);
      if (i < out_.lines.size() && !fence) continue;
      if (fenced_diff || is_diff(begin, i)) undo_diff(begin, i);
      begin = i + 1;
      if (i < out_.lines.size()) {
        const std::string_view info = trim(out_.lines[i].text);
        fenced_diff = info.ends_with("diff") || info.ends_with("patch");
      }
    }
  }

  [[nodiscard]] bool is_diff(std::size_t begin, std::size_t end) const {
    std::size_t marked = 0;
    std::size_t changed = 0;
    std::size_t hunks = 0;
    std::size_t total = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view line = out_.lines[i].text;
      if (line.empty()) continue;
      ++total;
      if (line.starts_with("@@ ") || line.starts_with("--- ") || line.starts_with("+++ ")) ++hunks;
      if (line.front() == '+' || line.front() == '-') ++changed;
      if (line.front() == '+' || line.front() == '-' || line.front() == ' ' || line.front() == '@')
        ++marked;
    }
    return changed > 0 && (hunks > 0 || changed > 1) && marked * 10 >= total * 8 &&
           head_with_mark(begin, end);
  }

  // A diff of traces shows a head line with one column in front of it.
  [[nodiscard]] bool head_with_mark(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string_view line = out_.lines[i].text;
      if (line.empty() || (line.front() != ' ' && line.front() != '+' && line.front() != '-'))
        continue;
      const std::string_view rest = line.substr(1);
      if (rest.starts_with("def ") || rest.starts_with("import ") ||
          rest.starts_with("# Constructed by ") || rest.starts_with("@torch.") ||
          rest.starts_with("  t")) {
        return true;
      }
    }
    return false;
  }

  void undo_diff(std::size_t begin, std::size_t end) {
    undo("diff");
    for (std::size_t i = begin; i < end; ++i) {
      PasteLine& line = out_.lines[i];
      if (line.text.empty()) continue;
      const char mark = line.text.front();
      if (line.text.starts_with("@@ ")) {
        line.text = "...";
        continue;
      }
      if (line.text.starts_with("--- ") || line.text.starts_with("+++ ")) continue;
      if (mark == '-') line.removed_by_diff = true;
      if (mark == ' ' || mark == '+' || mark == '-') {
        line.text.remove_prefix(1);
        ++line.removed;
      }
    }
  }

  std::string_view text_;
  PasteLines out_;
  bool html_ = false;
  bool literals_ = false;
  bool smart_ = false;
  std::int32_t first_removed_ = 0;
};

}  // namespace

bool is_fence(std::string_view line) {
  line = trim(line);
  return line.starts_with("```") || line.starts_with("~~~");
}

PasteLines split_pasted(std::string_view text) {
  return Splitter(text).run();
}

}  // namespace tg::text
