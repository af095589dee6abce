// Trace text -> Trace. Total: any bytes give a TraceFile with diagnostics, in linear time, never an
// abort.
#pragma once

#include <string>
#include <string_view>

#include "core/ir/trace.h"

namespace tg {

// Parses `text` as a file of traces. Clean trace text is read directly; anything else goes through
// find_programs (paste.h) first. Diagnostics carry positions of the file as given. `name` is only
// shown.
TraceFile parse_trace_file(std::string name, std::string text);

// One statement without head, as `try 'insert t9 = prims.clone(t3) before line 8'` needs it.
// Sub-statements may follow on further lines.
Result<BoundSymbol> parse_statement(std::string_view text);

// One value, as in `--alias b=a[1:3]` or a return of `try`.
Result<Value> parse_value(std::string_view text);

}  // namespace tg
