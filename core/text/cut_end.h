// Does a trace without `return` end inside its last line? A text cut by a length limit often still
// reads as a statement: `t2 = ltorch.mu`, `del t1`, `# t2: "cpu f3`.
#pragma once

#include <string_view>

#include "core/ir/trace.h"

namespace tg::text {

enum class CutEnd {
  No,         // nothing speaks for it
  Comment,    // the statement is whole, its type comment or header is not
  Statement,  // the statement itself is cut
};

// `line` is the text of the last line (no indentation, no mark), `last` the statement that it was
// read as (null: a header). `text_ends` tells that the file ends right behind it, without a line
// break.
CutEnd cut_end(const Trace& trace, std::string_view line, const BoundSymbol* last, bool text_ends);

}  // namespace tg::text
