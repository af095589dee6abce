// Last step of paste: a found function -> clean text with Thunder's own layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/paste.h"

namespace tg::text {

struct BodyLine {
  std::string text;
  std::uint32_t line = 0;
  std::int32_t removed = 0;
};

struct Found {
  std::vector<BodyLine> head;  // provenance, imports, decorators
  BodyLine def;
  std::vector<BodyLine> body;
  std::vector<std::string> undone;
  std::uint32_t smart_quotes_line = 0;
  std::vector<std::uint32_t> removed_by_diff;
  bool has_provenance = false;
  bool has_no_autocast = false;

  void undo(std::string_view word);
};

// Head at column 0, body at 2 columns, no blanks at line ends. Adds what was undone to `undone`.
CleanText laid_out(Found& found, std::vector<std::string>& undone);

void append_line(CleanText& clean, const BodyLine& line);
std::string_view without_trailing_blanks(std::string_view line);

}  // namespace tg::text
