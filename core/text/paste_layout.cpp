#include "core/text/paste_layout.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/text/lexer.h"
#include "core/text/paste_judge.h"

namespace tg::text {
namespace {

void layout_tabs(Found& found) {
  for (BodyLine& line : found.body) {
    if (line.text.find_first_of('\t') > indentation(line.text)) continue;
    std::string spaces;
    std::size_t at = 0;
    for (; at < line.text.size() && (line.text[at] == ' ' || line.text[at] == '\t'); ++at) {
      spaces += line.text[at] == '\t' ? "  " : " ";
    }
    line.removed += static_cast<std::int32_t>(at) - static_cast<std::int32_t>(spaces.size());
    line.text.replace(0, at, spaces);
    found.undo("tabs");
  }
}

// The body begins at 2 columns and nests by 2, whatever an editor made of it.
void layout_indentation(Found& found) {
  std::size_t base = 0;
  bool scales = true;
  for (const BodyLine& line : found.body) {
    const std::size_t indent = indentation(line.text);
    if (line.text.empty() || indent == 0) continue;
    if (base == 0 || indent < base) base = indent;
  }
  for (const BodyLine& line : found.body) {
    if (base != 0 && !line.text.empty()) scales = scales && indentation(line.text) % base == 0;
  }
  for (BodyLine& line : found.body) {
    const std::size_t indent = indentation(line.text);
    if (line.text.empty()) continue;
    std::size_t wanted = indent;
    if (indent == 0) {
      wanted = 2;  // a mark of left out lines
    } else if (base != 2 && base != 0) {
      wanted = scales ? indent / base * 2 : indent + 2 - base;
    }
    if (wanted == indent) continue;
    line.text.replace(0, indent, wanted, ' ');
    line.removed += static_cast<std::int32_t>(indent) - static_cast<std::int32_t>(wanted);
    found.undo("indentation");
  }
}

// Blanks at line ends mean nothing, except where Thunder itself prints one.
void trim_trailing(Found& found, std::string& line, bool old_annotations) {
  const std::string_view bare = without_trailing_blanks(line);
  const std::string_view statement = trim(bare);
  std::string wanted(bare);
  if (statement == "return" || statement == "#") wanted += ' ';
  if (statement == "# #") wanted += ' ';
  if (old_annotations && is_typed_line(bare) && statement.starts_with('#') &&
      line.size() > bare.size()) {
    wanted += ' ';
  }
  if (bare.ends_with(':') && line.ends_with(" \t")) wanted += " \t";
  if (wanted == line) return;
  if (wanted.size() < line.size()) found.undo("trailing-blanks");
  line = std::move(wanted);
}

}  // namespace

void Found::undo(std::string_view word) {
  if (std::find(undone.begin(), undone.end(), word) == undone.end()) undone.emplace_back(word);
}

std::string_view without_trailing_blanks(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t");
  return last == std::string_view::npos ? std::string_view{} : line.substr(0, last + 1);
}

void append_line(CleanText& clean, const BodyLine& line) {
  clean.text += line.text;
  clean.text += '\n';
  clean.original_line.push_back(line.line);
  clean.removed_columns.push_back(line.removed);
}

CleanText laid_out(Found& found, std::vector<std::string>& undone) {
  layout_tabs(found);
  layout_indentation(found);
  CleanText clean;
  const bool old_annotations =
      std::any_of(found.head.begin(), found.head.end(),
                  [](const BodyLine& line) { return line.text == "@no_autocast()"; });
  bool imports = false;
  for (const BodyLine& line : found.head) {
    if (line.text.starts_with('@') && imports) {
      append_line(clean, BodyLine{{}, line.line, 0});
      imports = false;
    }
    if (line.text.starts_with("import ") || line.text.starts_with("from ")) imports = true;
    append_line(clean, line);
  }
  if (imports) append_line(clean, BodyLine{{}, found.def.line, 0});
  append_line(clean, found.def);
  for (BodyLine& line : found.body) {
    trim_trailing(found, line.text, old_annotations);
    append_line(clean, line);
  }
  for (const std::string& word : found.undone) {
    if (std::find(undone.begin(), undone.end(), word) == undone.end()) undone.push_back(word);
  }
  return clean;
}

}  // namespace tg::text
