// Listing: the text of a trace line by line, each line with its number and its statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

enum class LineKind : std::uint8_t {
  Head,     // provenance, imports, decorators, def
  Source,   // where the user's program stands: `# model.py:9: ...`
  Comment,  // header comments of a statement
  Statement,
  Sub,  // a sub-statement
  Blank,
};

struct ListedLine {
  LineKind kind = LineKind::Head;
  std::string text;
  std::uint32_t number = 0;                // as the user counts; 0: not known
  std::optional<std::uint32_t> statement;  // index into bound_symbols
};

enum class Numbering : std::uint8_t {
  File,        // lines of the file that the trace was read from
  Statements,  // the same, but only statements have a number: a region stands elsewhere than it
               // prints
  Printed,     // lines of the trace as it prints
};
// Lines in order.
std::vector<ListedLine> list_lines(const Trace& trace, Numbering numbering);

// The trace with its statements on the lines that a listing gives them: what an analysis then says
// about lines is what `list` shows. Sub-statements stand on their statement's line.
Trace with_listed_lines(const Trace& trace, Numbering numbering);

// The statement that stands on line `number`.
std::optional<std::uint32_t> statement_at(const std::vector<ListedLine>& lines,
                                          std::uint32_t number);

// The number of the line that statement `statement` begins on (its own line, not its comments); 0:
// unknown.
std::vector<std::uint32_t> statement_numbers(const std::vector<ListedLine>& lines,
                                             std::size_t count);

}  // namespace tg
