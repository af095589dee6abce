// Small questions about text that several rooms ask.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tg {

std::vector<std::string_view> split_lines(std::string_view text);  // at '\n'; no line for a final '\n'
std::string_view trim(std::string_view text);                      // spaces and tabs at both ends
bool is_identifier(std::string_view text);                         // Python's, any byte >= 0x80 is a letter
// The candidate nearest to `word` by edit distance, if it is near enough to be a slip of the finger.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);
// "1 copy", "3 copies": counts in sentences.
std::string count_of(std::size_t count, std::string_view singular, std::string_view plural);
// "16 B", "1.5 MB" (powers of 1000).
std::string bytes_text(std::uint64_t bytes);

}  // namespace tg
