// The physical lines of a text in order, and findings at places in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/diagnostic.h"
#include "core/text/source_map.h"

namespace tg::text {

struct Line {
  std::size_t begin = 0;
  std::size_t end = 0;  // without the line break
  std::size_t index = 0;
};

class LineReader {
 public:
  LineReader(std::string_view text, const SourceMap& map, DiagnosticSink& sink)
      : text_(text), map_(map), sink_(sink) {
    find_end();
  }

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const SourceMap& map() const { return map_; }
  [[nodiscard]] bool has_line() const { return next_.begin < text_.size(); }
  [[nodiscard]] const Line& next() const { return next_; }
  [[nodiscard]] std::string_view text_of(const Line& line) const {
    return text_.substr(line.begin, line.end - line.begin);
  }
  [[nodiscard]] std::string_view peek() const { return text_of(next_); }
  [[nodiscard]] std::string_view peek_second() const {
    if (next_.end + 1 >= text_.size()) return {};
    const std::size_t begin = next_.end + 1;
    return text_.substr(begin, text_.find('\n', begin) - begin);
  }
  Line take() {
    const Line line = next_;
    next_.begin = std::min(line.end + 1, text_.size());
    find_end();
    ++next_.index;
    return line;
  }

  void report(DiagnosticCode code, Severity severity, const Line& line, std::size_t column,
              std::size_t length, std::string message, std::string hint = {}) const {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.severity = severity;
    diagnostic.message = std::move(message);
    diagnostic.hint = std::move(hint);
    diagnostic.at = map_.range(line.index, column, length);
    sink_.add(std::move(diagnostic));
  }

 private:
  void find_end() {
    next_.end = text_.find('\n', next_.begin);
    if (next_.end == std::string_view::npos) next_.end = text_.size();
  }

  std::string_view text_;
  const SourceMap& map_;
  DiagnosticSink& sink_;
  Line next_;
};

}  // namespace tg::text
