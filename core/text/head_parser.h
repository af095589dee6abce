// What stands before the statements of a trace: provenance, imports, decorators, `def` line.
#pragma once

#include <string_view>

#include "core/ir/trace.h"
#include "core/text/line_reader.h"

namespace tg::text {

struct HeadEnd {
  bool any = false;     // there is a head at all; a fragment has none
  std::size_t end = 0;  // of its last line
};

// Reads the head at the reader's place into `trace`. Lines that are none are left.
HeadEnd parse_head(LineReader& lines, Trace& trace);

// A line that can only begin a trace: provenance, import, decorator, def, "# No signature
// available".
bool is_head_line(std::string_view line);
// The next line is a provenance that was stored without its mark: an import, decorator or `def`
// follows.
bool begins_bare_provenance(const LineReader& lines);

}  // namespace tg::text
