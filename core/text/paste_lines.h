// First step of paste: the bytes as pasted -> lines without what editors, terminals, browsers and
// notebooks added.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tg::text {

struct PasteLine {
  std::string_view text;      // without line break; in the pasted text or in PasteLines::rewritten
  std::uint32_t line = 0;     // 1-based, in the text as pasted
  std::int32_t removed = 0;   // bytes cut off at its front
  bool smart_quotes = false;  // typographic quotes were read as plain ones
  bool removed_by_diff = false;  // a '-' line of a diff: no part of the new side
};

struct PasteLines {
  std::vector<PasteLine> lines;
  std::vector<std::string>
      undone;  // stable words: "bom", "crlf", "cr", "ansi", "html", "notebook", "fences", ...
  std::deque<std::string> rewritten;  // owns changed lines
  bool ends_inside_line = false;      // no line break behind the last line
};

// `text` must outlive the result. Linear.
PasteLines split_pasted(std::string_view text);

// "```python", "~~~"
bool is_fence(std::string_view line);

}  // namespace tg::text
