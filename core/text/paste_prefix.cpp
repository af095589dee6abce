#include "core/text/paste_prefix.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/text/lexer.h"

namespace tg::text {
namespace {

constexpr std::string_view kBlank = " \t";

// "import a.b as c" up to the end of the line (a comma follows in printed lists).
bool is_import_line(std::string_view line) {
  line = trim(line);
  std::size_t at = 0;
  if (line.starts_with("import ")) {
    at = dotted_end(line, 7);
    if (at == 7) return false;
  } else if (line.starts_with("from ")) {
    at = dotted_end(line, 5);
    if (at == 5 || !line.substr(at).starts_with(" import ")) return false;
    at = name_end(line, at + 8);
  } else {
    return false;
  }
  if (line.substr(at).starts_with(" as ")) at = name_end(line, at + 4);
  return at == line.size();
}

bool is_decorator_line(std::string_view line) {
  line = trim(line);
  return line.starts_with("@torch.no_grad(") || line == "@no_autocast" ||
         line == "@no_autocast()" || line.starts_with("@transformer_engine.");
}

// "def NAME(...", or a name at which the terminal broke the line.
bool is_def_line(std::string_view line) {
  if (!line.starts_with("def ")) return false;
  const std::size_t end = name_end(line, 4);
  return end != 4 && (end == line.size() || line[end] == '(');
}

bool word_begins(std::string_view line, std::size_t at) {
  return at == 0 || !is_name_char(line[at - 1]);
}

template <typename F>
std::optional<HeadAt> find_kind(std::string_view line, std::string_view word, HeadKind kind,
                                F&& accept) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    if (word_begins(line, at) && accept(line.substr(at))) return HeadAt{at, kind};
  }
  return std::nullopt;
}

}  // namespace

bool starts_with_prompt(std::string_view text) {
  return text.starts_with(">>> ") || text.starts_with("In [") || text.starts_with("Out[") ||
         text.starts_with("(Pdb) ") || text.starts_with("ipdb> ");
}

std::optional<HeadAt> find_head(std::string_view line) {
  if (auto at = find_kind(line, "# Constructed by ", HeadKind::Provenance,
                          [](std::string_view) { return true; })) {
    return at;
  }
  if (auto at = find_kind(line, "def ", HeadKind::Def, is_def_line)) return at;
  if (auto at = find_kind(line, "import ", HeadKind::Import, is_import_line)) {
    // "from M import C": the line begins at "from".
    if (auto from = find_kind(line, "from ", HeadKind::Import, is_import_line)) return from;
    return at;
  }
  if (auto at = find_kind(line, "from ", HeadKind::Import, is_import_line)) return at;
  if (auto at = find_kind(line, "@", HeadKind::Decorator, is_decorator_line)) return at;
  return find_kind(line, "# No signature available", HeadKind::NoSignature,
                   [](std::string_view) { return true; });
}

bool Prefix::is_space() const {
  return text_.find_first_not_of(kBlank) == std::string::npos;
}

std::optional<std::size_t> Prefix::length_in(std::string_view line) const {
  if (text_.empty() || line.starts_with(text_)) return text_.size();
  if (is_space()) {
    if (trim(line).empty()) return line.size();
    return std::nullopt;
  }
  // Numbered lines are padded to one width.
  const std::string_view number_marks = " 0123456789";
  if (text_.find_first_not_of(number_marks) == std::string::npos && line.size() >= text_.size() &&
      line.substr(0, text_.size()).find_first_not_of(number_marks) == std::string_view::npos &&
      line[text_.size() - 1] == ' ') {
    return text_.size();
  }
  std::size_t at = 0;
  std::size_t i = 0;
  // Right-aligned numbers: the blanks in front give way to digits.
  if (text_.front() == ' ') {
    i = text_.find_first_not_of(' ');
    at = std::min(indentation(line), i);
  }
  while (i < text_.size()) {
    if (is_digit(text_[i])) {
      if (at >= line.size() || !is_digit(line[at])) return std::nullopt;
      while (i < text_.size() && is_digit(text_[i])) ++i;
      while (at < line.size() && is_digit(line[at])) ++at;
      continue;
    }
    if (at == line.size()) {
      // Blank line whose trailing blanks were trimmed.
      if (text_.find_first_not_of(kBlank, i) == std::string::npos) return at;
      return std::nullopt;
    }
    if (line[at] != text_[i]) return std::nullopt;
    ++at;
    ++i;
  }
  return at;
}

std::string_view Prefix::word() const {
  const std::string_view bare = trim(text_);
  if (bare.empty()) return "dedent";
  if (starts_with_prompt(text_)) return "prompts";
  if (bare.find_first_not_of("> ") == std::string_view::npos) return "quote-prefix";
  if (bare.find_first_not_of("# ") == std::string_view::npos) return "commented-out";
  if (bare == "[") return "list";
  if (is_digit(bare.front()) &&
      bare.find_first_not_of("0123456789:|. \t") == std::string_view::npos) {
    return "line-numbers";
  }
  return "line-prefix";
}

}  // namespace tg::text
