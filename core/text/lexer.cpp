#include "core/text/lexer.h"

namespace tg::text {
namespace {

enum CharClass : unsigned char { kOther = 0, kLetter = 1, kNumeral = 2 };

constexpr std::array<unsigned char, 256> kClasses = [] {
  std::array<unsigned char, 256> classes{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] = kLetter;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] = kLetter;
  for (std::size_t c = '0'; c <= '9'; ++c) classes[c] = kNumeral;
  for (std::size_t c = 0x80; c < 0x100; ++c) classes[c] = kLetter;
  classes['_'] = kLetter;
  return classes;
}();

unsigned char char_class(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}

std::size_t plain_name_end(std::string_view text, std::size_t at) {
  while (at < text.size() && char_class(text[at]) != kOther) ++at;
  return at;
}

// "<locals>" at `at`: its end, else `at`.
std::size_t angle_part_end(std::string_view text, std::size_t at) {
  const std::size_t end = plain_name_end(text, at + 1);
  if (end == at + 1 || end >= text.size() || text[end] != '>') return at;
  return end + 1;
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  while (at < text.size() && (char_class(text[at]) == kNumeral || text[at] == '_')) ++at;
  return at;
}

}  // namespace

bool is_name_start(char c) {
  return char_class(c) == kLetter;
}
bool is_name_char(char c) {
  return char_class(c) != kOther;
}
bool is_digit(char c) {
  return char_class(c) == kNumeral;
}

std::size_t name_end(std::string_view text, std::size_t at) {
  if (at >= text.size() || !is_name_start(text[at])) return at;
  at = plain_name_end(text, at);
  while (at < text.size() && text[at] == '<') {
    const std::size_t end = angle_part_end(text, at);
    if (end == at) break;
    at = plain_name_end(text, end);
  }
  return at;
}

std::size_t dotted_end(std::string_view text, std::size_t at) {
  std::size_t end = name_end(text, at);
  if (end == at) return at;
  while (end + 1 < text.size() && text[end] == '.') {
    const std::size_t next = name_end(text, end + 1);
    if (next == end + 1) break;
    end = next;
  }
  return end;
}

std::size_t number_end(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  at = digits_end(text, at);
  const bool has_whole = at != begin;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_end(text, at + 1);
    if (!has_whole && fraction == at + 1) return begin;
    at = fraction;
  } else if (!has_whole) {
    return begin;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    const std::size_t end = digits_end(text, exponent);
    if (end != exponent) at = end;
  }
  if (at < text.size() && (text[at] == 'j' || text[at] == 'J')) ++at;
  return at;
}

std::size_t string_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

std::size_t bracket_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    switch (text[i]) {
      case '(':
      case '[':
      case '{':
        ++depth;
        break;
      case ')':
      case ']':
      case '}':
        if (--depth == 0) return i + 1;
        break;
      case '\'':
      case '"': {
        const std::size_t end = string_end(text, i);
        if (end == std::string_view::npos) return end;
        i = end - 1;
        break;
      }
      default:
        break;
    }
  }
  return std::string_view::npos;
}

std::size_t indentation(std::string_view line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at == std::string_view::npos ? line.size() : at;
}

}  // namespace tg::text
