// What-if edits of a trace: a sentence of the user becomes Steps on a Rewriter, like a pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pass/rewriter.h"

namespace tg {

// One edit as read. Lines are the user's; what they mean in a trace is told by a LineIndex.
struct ProgramEdit {
  enum class Kind : std::uint8_t { Return, Drop, Move, Insert, Replace, Rename };
  enum class Side : std::uint8_t { Before, After };
  Kind kind = Kind::Drop;
  std::uint32_t line = 0;    // Drop, Move, Replace: the statement's line (Drop: the first)
  std::uint32_t last = 0;    // Drop: the last line
  std::uint32_t anchor = 0;  // Move, Insert: the line next to which it goes
  Side side = Side::Before;
  Value value;            // Return
  BoundSymbol statement;  // Insert, Replace
  std::string from, to;   // Rename
  std::string text;       // as the user wrote it
};

// "return x_relu", "drop line 7", "drop lines 7-9", "move line 7 after line 9",
// "insert t9 = prims.clone(t3) before line 8", "replace line 7 with t1 = prims.exp(a)", "rename a
// to b". Diagnostic: bad-edit.
Result<ProgramEdit> parse_edit(std::string_view text);

// The statement on a line of the user; kNoStatement if there is none.
using LineIndex = std::function<StatementId(std::uint32_t line)>;

// All edits, one step each (rules return, drop, move, insert, replace, rename), lines as they are
// in `before`. The names of parameters change outside of the steps, since a step edits statements.
// Diagnostic: bad-edit (no such line or name, a name that is taken, nothing to edit).
Result<PassResult> apply_edits(const Trace& before, const std::vector<ProgramEdit>& edits,
                               const LineIndex& lines);

}  // namespace tg
