// Where a piece of text stands: file, line, columns. Positions refer to the file as the user has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tg {

// A span on one line. Lines and columns are 1-based and count bytes; line 0 means "the whole file".
struct SourceRange {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;

  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

}  // namespace tg
