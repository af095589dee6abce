#include "core/golden/text_match.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>
#include <vector>

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

// `(t7, t8) = prims.update_aliases((t3, t1))`: the order of the pairs is that of a hash set in
// Thunder and differs from run to run, so the pairs are put in the order in which their inputs
// first appear in the pass's input and the text.
class UpdateOrder {
 public:
  explicit UpdateOrder(std::string_view input) { see(input); }

  std::string ordered(std::string_view text) {
    std::string kept;
    kept.reserve(text.size());
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1);
      const std::string line = with_ordered_pairs(text.substr(0, end + 1));
      text.remove_prefix(end + 1);
      see(line);
      kept += line;
    }
    return kept;
  }

 private:
  void see(std::string_view text) {
    Tokens tokens(text);
    for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next())
      if (is_name_start(token.front())) first_.emplace(token, first_.size());
  }

  static std::vector<std::string_view> items(std::string_view tuple) {
    std::vector<std::string_view> found;
    Tokens tokens(tuple);
    for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next())
      if (is_name_start(token.front())) found.push_back(token);
    return found;
  }

  std::string with_ordered_pairs(std::string_view line) const {
    constexpr std::string_view kCall = "update_aliases((";
    const std::size_t call = line.find(kCall);
    const std::size_t equals = line.find(" = ");
    const std::size_t open = line.find('(');
    if (call == std::string_view::npos || equals == std::string_view::npos || open > equals)
      return std::string(line);
    const std::size_t begin = call + kCall.size();
    const std::size_t close = line.find("))", begin);
    if (close == std::string_view::npos) return std::string(line);
    const std::vector<std::string_view> outs = items(line.substr(open + 1, equals - open - 2));
    const std::vector<std::string_view> ins = items(line.substr(begin, close - begin));
    if (outs.size() != ins.size() || outs.size() < 2) return std::string(line);
    std::vector<std::size_t> order(outs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return position(ins[a]) < position(ins[b]);
    });
    const auto joined = [&order](const std::vector<std::string_view>& list) {
      std::string text;
      for (const std::size_t i : order) text += (text.empty() ? "" : ", ") + std::string(list[i]);
      return text;
    };
    return std::string(line.substr(0, open + 1)) + joined(outs) +
           std::string(line.substr(equals - 1, begin + 1 - equals)) + joined(ins) +
           std::string(line.substr(close));
  }

  std::size_t position(std::string_view name) const {
    const auto found = first_.find(std::string(name));
    return found == first_.end() ? first_.size() : found->second;
  }

  std::unordered_map<std::string, std::size_t> first_;
};

}  // namespace

std::string text_fault(std::string_view input, std::string_view recorded_text,
                       std::string_view got_text) {
  const std::string recorded =
      UpdateOrder(input).ordered(without_repeated_positions(recorded_text));
  const std::string got = UpdateOrder(input).ordered(without_repeated_positions(got_text));
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
