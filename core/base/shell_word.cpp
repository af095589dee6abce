#include "core/base/shell_word.h"

#include <algorithm>
#include <cctype>

namespace tg {

std::string shell_word(std::string_view text) {
  static constexpr std::string_view kPlain = "@%+=:,./-_";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kPlain.find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    // A single quote ends the word, stands for itself behind a backslash, and begins it again.
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace tg
