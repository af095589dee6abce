#include "core/golden/text_match.h"

#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/ir/dtype.h"

namespace tg::golden {
namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_part(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Names, numbers, and every other byte alone.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  std::string_view next() {
    if (at_ >= text_.size()) return {};
    const std::size_t begin = at_++;
    if (is_name_start(text_[begin])) {
      while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    } else if (std::isdigit(static_cast<unsigned char>(text_[begin])) != 0) {
      while (at_ < text_.size() && (is_name_part(text_[at_]) || text_[at_] == '.')) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// t12, p3, b255: letters, then digits, and no dtype.
bool can_be_fresh(std::string_view name) {
  std::size_t letters = 0;
  while (letters < name.size() && std::isalpha(static_cast<unsigned char>(name[letters])) != 0)
    ++letters;
  if (letters == 0 || letters == name.size()) return false;
  for (std::size_t i = letters; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) return false;
  }
  return !parse_dtype(name);
}

bool renamed_by_printing(std::string_view name) {
  return name.starts_with("_torch_") && std::isdigit(static_cast<unsigned char>(name.back())) != 0;
}

std::string_view line_at(std::string_view text, std::size_t position) {
  position = std::min(position, text.empty() ? 0 : text.size() - 1);
  const std::size_t before =
      position == 0 ? std::string_view::npos : text.rfind('\n', position - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, std::min<std::size_t>(text.find('\n', begin) - begin, 160));
}

// Whether a statement without a position line stands where the one before stands, or nowhere, no
// text tells; it shows only in a repeated position line later. So a position line that repeats the
// latest one is dropped, with the empty line before it.
std::string without_repeated_positions(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  std::string_view latest;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line =
        text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
    text.remove_prefix(line.size());
    const std::size_t mark = line.find_first_not_of(' ');
    const bool position = mark != std::string_view::npos && line.substr(mark).starts_with("# ") &&
                          line.find(": \t") != std::string_view::npos;
    if (position && line == latest) {
      if (kept.ends_with("\n\n")) kept.pop_back();
      continue;
    }
    if (position) latest = line;
    kept += line;
  }
  return kept;
}

}  // namespace

std::string text_fault(std::string_view input, std::string_view recorded_text,
                       std::string_view got_text) {
  const std::string recorded = without_repeated_positions(recorded_text);
  const std::string got = without_repeated_positions(got_text);
  std::unordered_set<std::string_view> known;
  Tokens input_tokens(input);
  for (std::string_view token = input_tokens.next(); !token.empty(); token = input_tokens.next()) {
    if (is_name_start(token.front())) known.insert(token);
  }
  std::unordered_map<std::string_view, std::string_view> forward;
  std::unordered_map<std::string_view, std::string_view> backward;
  Tokens left(recorded);
  Tokens right(got);
  bool after_took = false;
  for (;;) {
    const std::string_view a = left.next();
    const std::string_view b = right.next();
    if (a.empty() && b.empty()) return {};
    bool same = a == b;
    if (!same && after_took && !a.empty() && !b.empty())
      same = std::isdigit(static_cast<unsigned char>(a.front())) != 0 &&
             std::isdigit(static_cast<unsigned char>(b.front())) != 0;
    const bool fresh =
        !a.empty() && !b.empty() &&
        ((can_be_fresh(a) && can_be_fresh(b) && !known.contains(a) && !known.contains(b)) ||
         (renamed_by_printing(a) && renamed_by_printing(b)));
    if (fresh) {
      const auto to = forward.emplace(a, b).first->second;
      const auto from = backward.emplace(b, a).first->second;
      same = to == b && from == a;
    }
    if (!same) {
      return fmt::format("recorded '{}', here '{}'", line_at(recorded, left.position() - a.size()),
                         line_at(got, right.position() - b.size()));
    }
    // "(took 12 milliseconds)"
    if (a == "took") {
      after_took = true;
    } else if (a != " ") {
      after_took = false;
    }
  }
}

}  // namespace tg::golden
