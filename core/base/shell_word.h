// Words of command lines that are shown to be pasted.
#pragma once

#include <string>
#include <string_view>

namespace tg {

// The text as one word of a POSIX shell (and of our own scripts): quoted where it has to be.
std::string shell_word(std::string_view text);

}  // namespace tg
