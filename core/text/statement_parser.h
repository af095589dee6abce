// One statement or comment of Thunder's dialect -> BoundSymbol. Knows nothing of lines around it.
#pragma once

#include <optional>
#include <string_view>

#include "core/ir/bound_symbol.h"
#include "core/text/lexer.h"
#include "core/text/types.h"

namespace tg::text {

// A statement's logical line: no indentation, no "# " mark; continuation lines joined. On success
// `out` has everything but header, details, position and sub-statements; `end` is where the
// statement proper ends (before the type comment). On failure `error` tells what is wrong and `out`
// is unspecified.
bool parse_statement_line(std::string_view line, TypeCache& types, BoundSymbol& out,
                          std::size_t& end, SyntaxError& error);

// A comment line's text (without "# ") that is a statement of its own: argument annotation, empty
// collection, comment prim. `is_parameter(name)` tells whether a lone name is an argument. Empty:
// it is a header.
std::optional<BoundSymbol> parse_comment_statement(std::string_view text, TypeCache& types,
                                                   bool lone_name_is_parameter);

// `# NAME: "TYPE"` or a literal, directly after a sequence unpack: adds a detail to `unpack` if it
// fits the next target that has none.
bool take_unpack_detail(std::string_view text, TypeCache& types, BoundSymbol& unpack);

// `FILE:LINE: <TAB>TEXT`, also with spaces for the tab. Sets `canonical` if it has Thunder's own
// spacing.
std::optional<ProgramLine> parse_program_line(std::string_view text, bool& canonical);

// Marks that people leave where they cut: "...", "(truncated)", "<snip>", "# ... more". Without
// indentation.
bool is_elision(std::string_view line);

}  // namespace tg::text
