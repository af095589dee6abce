// Lines of one statement, as the trace printer and the trace parser (to find hand-edited text) need
// them.
#pragma once

#include <string>

#include "core/ir/trace.h"

namespace tg::text {

enum class SubStatements { Print, Omit };

// Header, statement, details and sub-statements at `indent` columns, each line ended with '\n'.
// Ignores `verbatim` and the program line.
void append_statement(std::string& out, const BoundSymbol& statement, std::size_t indent,
                      SubStatements subs);

// "OUT = CALLEE(ARGS)" without indentation and type comment; unpacking on one line.
void append_one_line(std::string& out, const BoundSymbol& statement);

// "  # model.py:9: <TAB>    x[1] = 7.0\n"
void append_program_line(std::string& out, const ProgramLine& line, std::size_t indent);

// What stands before the statements, each line ended with '\n'.
void append_head(std::string& out, const Trace& trace);

// Thunder prints a position when it differs from the one before; a statement without one resets the
// memory.
bool shows_program_line(const ProgramLine* previous, const ProgramLine* current);

}  // namespace tg::text
