// Lexical questions that every text dialect asks: names, numbers, strings, brackets. No dialect
// lives here.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"

namespace tg::text {

// What is wrong with a piece of text: `offset` and `length` are bytes inside the piece.
struct SyntaxError {
  DiagnosticCode code = DiagnosticCode::MalformedStatement;
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string hint;
};

// Length of the invisible or blank character outside ASCII at `at` (no-break space, line separator,
// byte order mark, ...), 0 when there is another one. No name holds such a character.
std::size_t invisible_length(std::string_view text, std::size_t at);
// The character at `at` for a message: "'+'", "byte 0x00", "U+2028".
std::string shown_character(std::string_view text, std::size_t at);

bool is_name_start(char c);  // letter, '_', any byte >= 0x80
bool is_name_char(char c);   // the same and digits
bool is_digit(char c);

// End of the name that begins at `at` (== at when none does). Names that Thunder makes of local
// classes hold
// "<locals>" or "<lambda>": such a part belongs to the name.
std::size_t name_end(std::string_view text, std::size_t at);
// End of "a.b.c" at `at`; == at when no name begins there.
std::size_t dotted_end(std::string_view text, std::size_t at);
// End of the number at `at`, sign excluded; == at when none begins there.
std::size_t number_end(std::string_view text, std::size_t at);
// End of the quoted string whose opening quote is at `at`; npos when it is not closed.
std::size_t string_end(std::string_view text, std::size_t at);
// End (one past the closing bracket) of the bracket at `at`, strings and inner brackets skipped;
// npos when it is not closed.
std::size_t bracket_end(std::string_view text, std::size_t at);

// Number of leading spaces.
std::size_t indentation(std::string_view line);

}  // namespace tg::text
