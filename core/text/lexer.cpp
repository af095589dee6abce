#include "core/text/lexer.h"

#include <fmt/format.h>

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

// U+0080 to U+FFFF at `at`, 0 when other bytes stand there.
std::uint32_t code_point(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  if (byte(at) >= 0xc2U && byte(at) < 0xe0U && follows(at + 1)) {
    return (byte(at) & 0x1fU) << 6U | (byte(at + 1) & 0x3fU);
  }
  if (byte(at) >= 0xe0U && byte(at) < 0xf0U && follows(at + 1) && follows(at + 2)) {
    return (byte(at) & 0x0fU) << 12U | (byte(at + 1) & 0x3fU) << 6U | (byte(at + 2) & 0x3fU);
  }
  return 0;
}

// Spaces, separators and format characters of Unicode that a reader cannot see.
bool is_invisible(std::uint32_t point) {
  return (point >= 0x80 && point <= 0xa0) || point == 0xad || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200f) || (point >= 0x2028 && point <= 0x202f) ||
         (point >= 0x205f && point <= 0x206f) || point == 0x3000 || point == 0xfeff;
}

std::size_t plain_name_end(std::string_view text, std::size_t at) {
  while (at < text.size() && char_class(text[at]) != kOther) {
    if (static_cast<unsigned char>(text[at]) >= 0x80 && invisible_length(text, at) != 0) break;
    ++at;
  }
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

std::size_t invisible_length(std::string_view text, std::size_t at) {
  if (at >= text.size() || static_cast<unsigned char>(text[at]) < 0xc2) return 0;
  const std::uint32_t point = code_point(text, at);
  if (!is_invisible(point)) return 0;
  return point < 0x800 ? 2 : 3;
}

std::string shown_character(std::string_view text, std::size_t at) {
  if (at >= text.size()) return "the end of the line";
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20 || byte == 0x7f) return fmt::format("byte 0x{:02x}", byte);
  if (byte < 0x80) return fmt::format("'{}'", text[at]);
  const std::uint32_t point = code_point(text, at);
  if (point == 0) return byte < 0xf0 ? fmt::format("byte 0x{:02x}", byte) : "a character";
  if (is_invisible(point)) return fmt::format("U+{:04X}", point);
  return fmt::format("'{}'", text.substr(at, point < 0x800 ? 2 : 3));
}

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
