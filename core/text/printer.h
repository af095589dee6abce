// Trace -> text, exactly as Thunder prints it. print(parse(s)) == s, byte for byte.
#pragma once

#include <string>

#include "core/ir/trace.h"

namespace tg {

struct PrintOptions {
  bool subsymbols = true;     // false: depth 0 only, as trace.python() prints
  bool program_lines = true;  // source positions
};

// The whole trace. No newline at the end unless trace.ends_with_newline.
std::string print(const Trace& trace, const PrintOptions& options = {});

// Every phase of a file in order; equals file.text for a file of clean trace text.
std::string print(const TraceFile& file);

// One statement with its sub-statements, header and continuation, indented for depth 0; no program
// line, no newline at the end.
std::string print(const BoundSymbol& statement);

// The statement alone on one line without indentation and type comment: "t1 = ltorch.copy_(buf,
// first)".
std::string one_line(const BoundSymbol& statement);

// The import lines that Thunder prints for a trace with these depth-0 statements. Passes call it
// for the traces they build; `before` is the trace the pass started from (it tells the era's
// spelling).
void derive_imports(Trace& trace, const Trace& before);

}  // namespace tg
