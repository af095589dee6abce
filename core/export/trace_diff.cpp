#include "core/export/trace_diff.h"

#include <algorithm>
#include <dtl/dtl.hpp>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/printer.h"

namespace tg {
namespace {

constexpr std::uint32_t kUnmatched = 0xffffffffU;
// Above this product of lengths a gap is aligned by occurrence instead of by shortest edit script,
// which would be quadratic on two unrelated traces.
constexpr std::size_t kEditScriptLimit = 250'000;

// What identifies a statement when its text does not: the first name it binds, else the tensor it
// writes.
std::string identity(const BoundSymbol& statement) {
  const std::vector<std::string_view> names = output_names(statement);
  if (!names.empty()) return std::string(names.front());
  switch (statement.kind) {
    case StatementKind::Return:
      return "return";
    case StatementKind::Call:
      break;
    case StatementKind::UnpackTrivial:
    case StatementKind::UnpackSequence:
    case StatementKind::UnpackAccess:
    case StatementKind::EmptyCollection:
    case StatementKind::PackList:
    case StatementKind::PackAssign:
    case StatementKind::Del:
    case StatementKind::Print:
    case StatementKind::Comment:
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      return {};
  }
  const int written = statement.op_info().mutated_param;
  const std::size_t index = written < 0 ? 0 : static_cast<std::size_t>(written);
  std::string key = "write ";
  key += base_name(statement.callee);
  if (index < positional_count(statement)) key += " " + to_text(statement.args[index]);
  return key;
}

// Two sequences as small integers: equal number, equal text.
struct Alphabet {
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::uint32_t of(std::string text) {
    return numbers.try_emplace(std::move(text), static_cast<std::uint32_t>(numbers.size()))
        .first->second;
  }
};

struct Sides {
  std::vector<std::uint32_t> left_text, right_text;  // of the statement's own line
  std::vector<std::uint32_t> to_right, to_left;      // matches, kUnmatched where none
};

struct Range {
  std::uint32_t begin = 0, end = 0;
  [[nodiscard]] std::uint32_t size() const { return end - begin; }
};

void match(Sides& sides, std::uint32_t left, std::uint32_t right) {
  sides.to_right[left] = right;
  sides.to_left[right] = left;
}

// Longest increasing subsequence of `pairs` by .second; pairs ascend by .first.
std::vector<std::pair<std::uint32_t, std::uint32_t>> increasing(
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  std::vector<std::uint32_t> tails;  // indices into pairs
  std::vector<std::uint32_t> previous(pairs.size(), kUnmatched);
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    const auto place = std::lower_bound(
        tails.begin(), tails.end(), pairs[i].second,
        [&](std::uint32_t tail, std::uint32_t value) { return pairs[tail].second < value; });
    if (place != tails.begin()) previous[i] = *(place - 1);
    if (place == tails.end()) {
      tails.push_back(i);
    } else {
      *place = i;
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chain;
  for (std::uint32_t i = tails.empty() ? kUnmatched : tails.back(); i != kUnmatched;
       i = previous[i]) {
    chain.push_back(pairs[i]);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

enum class Anchors { Unique, Occurrence };

// Pairs of equal statements that can serve as anchors inside the two ranges, in left order.
std::vector<std::pair<std::uint32_t, std::uint32_t>> equal_pairs(const Sides& sides, Range left,
                                                                 Range right, Anchors anchors) {
  struct Places {
    std::vector<std::uint32_t> left, right;
  };
  std::unordered_map<std::uint32_t, Places> places;
  places.reserve(left.size() + right.size());
  for (std::uint32_t i = left.begin; i < left.end; ++i)
    places[sides.left_text[i]].left.push_back(i);
  for (std::uint32_t i = right.begin; i < right.end; ++i)
    places[sides.right_text[i]].right.push_back(i);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = left.begin; i < left.end; ++i) {
    const Places& at = places[sides.left_text[i]];
    if (at.left.front() != i) continue;
    if (anchors == Anchors::Unique) {
      if (at.left.size() == 1 && at.right.size() == 1) pairs.emplace_back(i, at.right.front());
    } else {
      for (std::size_t k = 0; k < std::min(at.left.size(), at.right.size()); ++k) {
        pairs.emplace_back(at.left[k], at.right[k]);
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

void align_by_edit_script(Sides& sides, Range left, Range right) {
  const auto slice = [](const std::vector<std::uint32_t>& all, Range range) {
    return std::vector<std::uint32_t>(all.begin() + range.begin, all.begin() + range.end);
  };
  dtl::Diff<std::uint32_t> diff(slice(sides.left_text, left), slice(sides.right_text, right));
  diff.compose();
  for (const auto& [text, element] : diff.getSes().getSequence()) {
    if (element.type != dtl::SES_COMMON) continue;
    match(sides, left.begin + static_cast<std::uint32_t>(element.beforeIdx) - 1,
          right.begin + static_cast<std::uint32_t>(element.afterIdx) - 1);
  }
}

// Patience: common ends, unique anchors, the gaps between them again. A worklist, since a hostile
// pair of traces could nest gaps deeply.
void align(Sides& sides) {
  std::vector<std::pair<Range, Range>> work;
  work.emplace_back(Range{0, static_cast<std::uint32_t>(sides.left_text.size())},
                    Range{0, static_cast<std::uint32_t>(sides.right_text.size())});
  while (!work.empty()) {
    auto [left, right] = work.back();
    work.pop_back();
    while (left.size() > 0 && right.size() > 0 &&
           sides.left_text[left.begin] == sides.right_text[right.begin]) {
      match(sides, left.begin++, right.begin++);
    }
    while (left.size() > 0 && right.size() > 0 &&
           sides.left_text[left.end - 1] == sides.right_text[right.end - 1]) {
      match(sides, --left.end, --right.end);
    }
    if (left.size() == 0 || right.size() == 0) continue;
    auto anchors = increasing(equal_pairs(sides, left, right, Anchors::Unique));
    if (anchors.empty()) {
      if (std::size_t{left.size()} * right.size() <= kEditScriptLimit) {
        align_by_edit_script(sides, left, right);
      } else {
        for (const auto& [l, r] :
             increasing(equal_pairs(sides, left, right, Anchors::Occurrence))) {
          match(sides, l, r);
        }
      }
      continue;
    }
    Range gap_left{left.begin, left.begin};
    Range gap_right{right.begin, right.begin};
    for (const auto& [l, r] : anchors) {
      match(sides, l, r);
      gap_left.end = l;
      gap_right.end = r;
      if (gap_left.size() > 0 && gap_right.size() > 0) work.emplace_back(gap_left, gap_right);
      gap_left.begin = l + 1;
      gap_right.begin = r + 1;
    }
    gap_left.end = left.end;
    gap_right.end = right.end;
    if (gap_left.size() > 0 && gap_right.size() > 0) work.emplace_back(gap_left, gap_right);
  }
}

// What align() left over: the k-th unmatched statement of a key with the k-th on the other side.
void match_by_number(Sides& sides, const std::vector<std::uint32_t>& left,
                     const std::vector<std::uint32_t>& right, std::uint32_t ignored) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> open;
  for (std::uint32_t i = static_cast<std::uint32_t>(left.size()); i-- > 0;) {
    if (sides.to_right[i] == kUnmatched && left[i] != ignored) open[left[i]].push_back(i);
  }
  for (std::uint32_t j = 0; j < right.size(); ++j) {
    if (sides.to_left[j] != kUnmatched || right[j] == ignored) continue;
    const auto found = open.find(right[j]);
    if (found == open.end() || found->second.empty()) continue;
    match(sides, found->second.back(), j);
    found->second.pop_back();
  }
}

bool same_inside(const BoundSymbol& a, const BoundSymbol& b) {
  return std::equal(
      a.subsymbols.begin(), a.subsymbols.end(), b.subsymbols.begin(), b.subsymbols.end(),
      [](const BoundSymbolRef& x, const BoundSymbolRef& y) { return x == y || *x == *y; });
}

bool same_type(const TypeRef& a, const TypeRef& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace

TraceDiff diff_traces(const Trace& left, const Trace& right) {
  Sides sides;
  Alphabet texts;
  Alphabet identities;
  const std::uint32_t anonymous = identities.of("");
  std::vector<std::uint32_t> left_identity, right_identity;
  const auto read = [&](const Trace& trace, std::vector<std::uint32_t>& text,
                        std::vector<std::uint32_t>& name) {
    text.reserve(trace.bound_symbols.size());
    name.reserve(trace.bound_symbols.size());
    for (const BoundSymbolRef& statement : trace.bound_symbols) {
      text.push_back(texts.of(one_line(*statement)));
      name.push_back(identities.of(identity(*statement)));
    }
  };
  read(left, sides.left_text, left_identity);
  read(right, sides.right_text, right_identity);
  sides.to_right.assign(left.bound_symbols.size(), kUnmatched);
  sides.to_left.assign(right.bound_symbols.size(), kUnmatched);
  align(sides);
  match_by_number(sides, sides.left_text, sides.right_text, kUnmatched);
  match_by_number(sides, left_identity, right_identity, anonymous);

  // A match that crosses the longest chain of matches has moved.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < sides.to_right.size(); ++i) {
    if (sides.to_right[i] != kUnmatched) pairs.emplace_back(i, sides.to_right[i]);
  }
  std::vector<bool> in_order(left.bound_symbols.size(), false);
  for (const auto& [l, r] : increasing(pairs)) in_order[l] = true;

  TraceDiff diff;
  diff.parameters_changed = left.parameters != right.parameters;
  diff.imports_changed = left.imports != right.imports;
  const auto count = [&](DiffEntry entry) {
    switch (entry.kind) {
      case DiffKind::Same:
        ++diff.same;
        break;
      case DiffKind::Changed:
        ++diff.changed;
        break;
      case DiffKind::Moved:
        ++diff.moved;
        break;
      case DiffKind::Removed:
        ++diff.removed;
        break;
      case DiffKind::Added:
        ++diff.added;
        break;
    }
    diff.entries.push_back(entry);
  };
  // The left statement that the next in-order match belongs to: what was removed before it shows
  // first.
  std::vector<std::uint32_t> gap_end(right.bound_symbols.size() + 1);
  gap_end.back() = static_cast<std::uint32_t>(left.bound_symbols.size());
  for (std::size_t j = right.bound_symbols.size(); j-- > 0;) {
    const std::uint32_t i = sides.to_left[j];
    gap_end[j] = i != kUnmatched && in_order[i] ? i : gap_end[j + 1];
  }
  std::uint32_t next_left = 0;
  const auto removed_until = [&](std::uint32_t end) {
    for (; next_left < end; ++next_left) {
      if (sides.to_right[next_left] == kUnmatched) count({DiffKind::Removed, next_left, {}, false});
    }
  };
  for (std::uint32_t j = 0; j < right.bound_symbols.size(); ++j) {
    const std::uint32_t i = sides.to_left[j];
    removed_until(gap_end[j]);
    if (i == kUnmatched) {
      count({DiffKind::Added, {}, j, false});
      continue;
    }
    const BoundSymbol& a = *left.bound_symbols[i];
    const BoundSymbol& b = *right.bound_symbols[j];
    DiffEntry entry{DiffKind::Same, i, j, false};
    if (sides.left_text[i] != sides.right_text[j] || !same_type(a.type, b.type)) {
      entry.kind = DiffKind::Changed;
    } else if (!in_order[i]) {
      entry.kind = DiffKind::Moved;
    } else if (!same_inside(a, b)) {
      entry.kind = DiffKind::Changed;
      entry.only_inside = true;
    }
    count(entry);
  }
  removed_until(static_cast<std::uint32_t>(left.bound_symbols.size()));
  return diff;
}

char diff_mark(DiffKind kind) {
  switch (kind) {
    case DiffKind::Same:
      return ' ';
    case DiffKind::Changed:
      return '~';
    case DiffKind::Moved:
      return '>';
    case DiffKind::Removed:
      return '-';
    case DiffKind::Added:
      return '+';
  }
  return ' ';
}

namespace {

std::string statement_text(const BoundSymbol& statement) {
  std::string text = one_line(statement);
  // The line of an argument is its type already.
  if (statement.type && statement.kind != StatementKind::UnpackTrivial)
    text += "  # " + statement.type->text;
  return text;
}

void append_line(std::string& out, char mark, const BoundSymbol& statement, bool numbers,
                 std::string_view remark = {}) {
  out += mark;
  if (numbers) {
    out += statement.at.line > 0 ? fmt::format("{:>6}", statement.at.line) : std::string(6, ' ');
  }
  out += "  " + statement_text(statement);
  if (!remark.empty()) out += fmt::format("  ({})", remark);
  out += '\n';
}

void append_entry(std::string& out, const DiffEntry& entry, const Trace& left, const Trace& right,
                  bool numbers) {
  const BoundSymbol* a = entry.left ? left.bound_symbols[*entry.left].get() : nullptr;
  const BoundSymbol* b = entry.right ? right.bound_symbols[*entry.right].get() : nullptr;
  const char mark = diff_mark(entry.kind);
  switch (entry.kind) {
    case DiffKind::Same:
      append_line(out, mark, *b, numbers);
      return;
    case DiffKind::Added:
      append_line(out, mark, *b, numbers);
      return;
    case DiffKind::Removed:
      append_line(out, mark, *a, numbers);
      return;
    case DiffKind::Moved:
      append_line(
          out, mark, *b, numbers,
          a->at.line > 0 ? fmt::format("was at line {}", a->at.line) : std::string("moved"));
      return;
    case DiffKind::Changed:
      if (entry.only_inside) {
        append_line(out, mark, *b, numbers, "its sub-statements differ");
      } else {
        append_line(out, mark, *a, numbers, "before");
        append_line(out, mark, *b, numbers, "after");
      }
      return;
  }
}

}  // namespace

std::string render(const TraceDiff& diff, const Trace& left, const Trace& right,
                   const DiffTextOptions& options) {
  if (diff.identical()) return {};
  const std::size_t total = diff.entries.size();
  // How far the nearest difference is, forwards and backwards.
  std::vector<std::size_t> distance(total, total);
  for (int direction = 0; direction < 2; ++direction) {
    std::size_t since = total;
    for (std::size_t k = 0; k < total; ++k) {
      const std::size_t i = direction == 0 ? k : total - 1 - k;
      since = diff.entries[i].kind == DiffKind::Same ? since + 1 : 0;
      distance[i] = std::min(distance[i], since);
    }
  }
  std::string out;
  if (diff.parameters_changed) out += "~ the parameters differ\n";
  for (std::size_t i = 0; i < total;) {
    if (distance[i] <= options.context) {
      append_entry(out, diff.entries[i++], left, right, options.line_numbers);
      continue;
    }
    std::size_t end = i;
    while (end < total && distance[end] > options.context) ++end;
    out += fmt::format("   ... {} equal\n", count_of(end - i, "statement", "statements"));
    i = end;
  }
  return out;
}

std::string summary(const TraceDiff& diff) {
  std::string out;
  const auto add = [&](std::size_t count, std::string_view word) {
    if (count == 0) return;
    if (!out.empty()) out += ", ";
    out += fmt::format("{} {}", count, word);
  };
  add(diff.removed, "removed");
  add(diff.added, "added");
  add(diff.changed, "changed");
  add(diff.moved, "moved");
  add(diff.same, "same");
  return out.empty() ? "no statements" : out;
}

}  // namespace tg
