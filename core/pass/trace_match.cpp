#include "core/pass/trace_match.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/text/printer.h"

namespace tg {
namespace {

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// "(took 12 milliseconds)" -> "(took N milliseconds)"
std::string without_times(std::string text) {
  constexpr std::string_view kBefore = "(took ";
  constexpr std::string_view kAfter = " milliseconds)";
  const std::size_t begin = text.find(kBefore);
  if (begin == std::string::npos) return text;
  const std::size_t number = begin + kBefore.size();
  const std::size_t end = text.find_first_not_of("0123456789.eE+-", number);
  if (end == std::string::npos || text.compare(end, kAfter.size(), kAfter) != 0) return text;
  return text.replace(number, end - number, "N");
}

// Positions are compared as they show: Thunder prints one when it differs from the statement
// before. Whether a statement without a position line stands where the one before stands, or
// nowhere, its text does not tell; the two differ only in repeating the latest position line later.
// So a repeated position line is optional.
class ShownLines {
 public:
  // The line that shows before the statement, null if none or if it repeats the latest one.
  const ProgramLine* next(const BoundSymbol& statement) {
    const ProgramLine* current = statement.program_line.get();
    const bool prints = current && !(previous_ && *previous_ == *current);
    previous_ = current;
    if (!prints || (latest_ && *latest_ == *current)) return nullptr;
    latest_ = current;
    return current;
  }

 private:
  const ProgramLine* previous_ = nullptr;
  const ProgramLine* latest_ = nullptr;
};

class Matcher {
 public:
  bool match(const Trace& expected, const Trace& actual) {
    for (const Parameter& parameter : expected.parameters) {
      if (!parameter.name.empty()) pair(parameter.name, parameter.name);
    }
    if (expected.name != actual.name || expected.parameters != actual.parameters) {
      return differ("signature", expected.name, actual.name);
    }
    if (expected.decorators != actual.decorators) return differ("decorators", "", "");
    const std::size_t count = std::min(expected.bound_symbols.size(), actual.bound_symbols.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (!match(*expected.bound_symbols[i], *actual.bound_symbols[i])) {
        why_ = fmt::format("statement {}: {}\nexpected\n{}\nactual\n{}", i + 1, why_,
                           print(*expected.bound_symbols[i]), print(*actual.bound_symbols[i]));
        return false;
      }
      if (!match_line(*expected.bound_symbols[i], *actual.bound_symbols[i])) return false;
    }
    if (expected.bound_symbols.size() != actual.bound_symbols.size()) {
      return differ("number of statements", std::to_string(expected.bound_symbols.size()),
                    std::to_string(actual.bound_symbols.size()));
    }
    // Last: it mentions names that the body has paired.
    if (expected.bare_provenance != actual.bare_provenance ||
        !match_text(without_times(expected.provenance), without_times(actual.provenance))) {
      return differ("provenance", expected.provenance, actual.provenance);
    }
    if (expected.imports != actual.imports) {
      std::string left;
      std::string right;
      for (const std::string& line : expected.imports) left += line + "; ";
      for (const std::string& line : actual.imports) right += line + "; ";
      return differ("imports", left, right);
    }
    return true;
  }

  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  bool differ(std::string_view what, std::string_view expected, std::string_view actual) {
    why_ = fmt::format("{}: expected '{}', found '{}'", what, expected, actual);
    return false;
  }

  bool pair(const std::string& expected, const std::string& actual) {
    const auto [forward, is_new] = forward_.try_emplace(expected, actual);
    const auto [backward, is_new_back] = backward_.try_emplace(actual, expected);
    return is_new == is_new_back && forward->second == actual && backward->second == expected;
  }

  bool match(const Value& expected, const Value& actual) {
    if (expected.kind != actual.kind || expected.tight != actual.tight ||
        expected.trailing_comma != actual.trailing_comma ||
        expected.items.size() != actual.items.size()) {
      return differ("value", to_text(expected), to_text(actual));
    }
    if (expected.is_name()) {
      if (expected.text == "_" && actual.text == "_") return true;
      if (!pair(expected.text, actual.text)) {
        const auto known = forward_.find(expected.text);
        return differ(fmt::format("name ('{}' was '{}' before)", expected.text,
                                  known == forward_.end() ? "?" : known->second),
                      expected.text, actual.text);
      }
      return true;
    }
    const bool has_names = expected.kind == ValueKind::Opaque ||
                           expected.kind == ValueKind::Dotted || expected.kind == ValueKind::Call;
    if (has_names ? !match_text(expected.text, actual.text) : expected.text != actual.text) {
      return differ("value", to_text(expected), to_text(actual));
    }
    for (std::size_t i = 0; i < expected.items.size(); ++i) {
      if (!match(expected.items[i], actual.items[i])) return false;
    }
    return true;
  }

  // Free text that mentions names: words that were paired must agree with their pair, all else is
  // equal.
  bool match_text(std::string_view expected, std::string_view actual) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < expected.size() && j < actual.size()) {
      if (!is_word(expected[i]) || !is_word(actual[j])) {
        if (expected[i] != actual[j]) return false;
        ++i;
        ++j;
        continue;
      }
      const std::size_t i_end = word_end(expected, i);
      const std::size_t j_end = word_end(actual, j);
      const std::string left(expected.substr(i, i_end - i));
      const std::string right(actual.substr(j, j_end - j));
      const auto known = forward_.find(left);
      const auto known_back = backward_.find(right);
      if (known != forward_.end() || known_back != backward_.end()) {
        // A word that is no name in one of the texts may still be spelled like one ("a" in a
        // sentence).
        const bool paired = known != forward_.end() && known->second == right;
        if (!paired && left != right) return false;
      } else if (left != right && !pair_fresh(left, right)) {
        return false;
      }
      i = i_end;
      j = j_end;
    }
    return i == expected.size() && j == actual.size();
  }

  // Names that only texts mention: "t7" in a header about a value that was replaced.
  bool pair_fresh(const std::string& left, const std::string& right) {
    const auto is_fresh = [](const std::string& word) {
      return word.size() > 1 && word[0] == 't' &&
             std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    return is_fresh(left) && is_fresh(right) && pair(left, right);
  }

  static std::size_t word_end(std::string_view text, std::size_t begin) {
    while (begin < text.size() && is_word(text[begin])) ++begin;
    return begin;
  }

  static bool same_type(const TypeRef& a, const TypeRef& b) {
    return a == b || (a && b && *a == *b);
  }

  bool match(const BoundSymbol& expected, const BoundSymbol& actual) {
    if (expected.kind != actual.kind || expected.callee != actual.callee) {
      return differ("callee", expected.callee, actual.callee);
    }
    // Outputs first: they bind the names that arguments of later statements mention.
    if (!match(expected.output, actual.output)) return false;
    if (expected.args.size() != actual.args.size()) return differ("number of arguments", "", "");
    for (std::size_t i = 0; i < expected.args.size(); ++i) {
      if (!match(expected.args[i], actual.args[i])) return false;
    }
    if (!same_type(expected.type, actual.type)) {
      return differ("type", expected.type ? expected.type->text : "",
                    actual.type ? actual.type->text : "");
    }
    if (expected.details.size() != actual.details.size()) return differ("details", "", "");
    for (std::size_t i = 0; i < expected.details.size(); ++i) {
      if (!match(expected.details[i], actual.details[i])) return false;
    }
    if (expected.header.size() != actual.header.size()) {
      return differ("header", joined(expected), joined(actual));
    }
    for (std::size_t i = 0; i < expected.header.size(); ++i) {
      if (!match_text(expected.header[i], actual.header[i])) {
        return differ("header", expected.header[i], actual.header[i]);
      }
    }
    if (expected.subsymbols.size() != actual.subsymbols.size()) {
      return differ("number of sub-statements", "", "");
    }
    for (std::size_t i = 0; i < expected.subsymbols.size(); ++i) {
      if (!match(*expected.subsymbols[i], *actual.subsymbols[i])) return false;
    }
    return true;
  }

  static std::string joined(const BoundSymbol& statement) {
    std::string text;
    for (const std::string& line : statement.header) text += line + "; ";
    return text;
  }

  bool match_line(const BoundSymbol& expected, const BoundSymbol& actual) {
    const ProgramLine* left = expected_lines_.next(expected);
    const ProgramLine* right = actual_lines_.next(actual);
    if (left == right || (left && right && *left == *right)) return true;
    return differ("position of " + one_line(expected), line_text(left), line_text(right));
  }

  static std::string line_text(const ProgramLine* line) {
    return line ? fmt::format("{}:{}", line->file, line->line) : "none";
  }

  ShownLines expected_lines_;
  ShownLines actual_lines_;
  std::unordered_map<std::string, std::string> forward_;
  std::unordered_map<std::string, std::string> backward_;
  std::string why_;
};

}  // namespace

bool same_up_to_renaming(const Trace& expected, const Trace& actual, std::string* why) {
  Matcher matcher;
  const bool same = matcher.match(expected, actual);
  if (!same && why) *why = matcher.why();
  return same;
}

}  // namespace tg
