// Where the lines of a cleaned text stood in the file as the user has it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/source.h"
#include "core/text/paste.h"

namespace tg::text {

// Identity for clean text, or the table of a CleanText (which must outlive it).
class SourceMap {
 public:
  SourceMap() = default;
  explicit SourceMap(const CleanText& text) : clean_(&text) {}

  // `line` is 0-based in the parsed text, `column` counts bytes from 0.
  [[nodiscard]] SourceRange range(std::size_t line, std::size_t column, std::size_t length) const {
    SourceRange at;
    at.line = static_cast<std::uint32_t>(line + 1);
    at.column = static_cast<std::uint32_t>(column + 1);
    at.length = static_cast<std::uint32_t>(length);
    if (clean_ != nullptr && line < clean_->original_line.size()) {
      at.line = clean_->original_line[line];
      const std::int64_t moved = std::int64_t{at.column} + clean_->removed_columns[line];
      at.column = static_cast<std::uint32_t>(moved < 1 ? 1 : moved);
    }
    return at;
  }

 private:
  const CleanText* clean_ = nullptr;
};

}  // namespace tg::text
