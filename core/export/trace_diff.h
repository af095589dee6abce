// Statement-level difference of two traces: which statements stayed, changed, moved, came and went.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

enum class DiffKind : std::uint8_t {
  Same,
  Changed,  // the same output name or destination, another statement
  Moved,    // the same text elsewhere; stands where `right` has it
  Removed,  // only in the left trace
  Added,    // only in the right trace
};

// One line of the difference. Statements are indices into bound_symbols at depth 0.
struct DiffEntry {
  DiffKind kind = DiffKind::Same;
  std::optional<std::uint32_t> left;
  std::optional<std::uint32_t> right;
  bool only_inside =
      false;  // Changed: the statement's own line is equal, its sub-statements are not
};

struct TraceDiff {
  std::vector<DiffEntry> entries;  // the right trace in order, removed statements where they were
  std::size_t same = 0, changed = 0, moved = 0, removed = 0, added = 0;
  bool parameters_changed = false;
  bool imports_changed = false;

  [[nodiscard]] bool identical() const {
    return changed + moved + removed + added == 0 && !parameters_changed;
  }
};

// Aligns equal statements (unique ones first), then by output name or destination. Header comments,
// source positions do not count. About linear in both traces.
TraceDiff diff_traces(const Trace& left, const Trace& right);

// ' ', '~', '>', '-', '+': never colour alone.
char diff_mark(DiffKind kind);

struct DiffTextOptions {
  std::size_t context =
      3;  // equal statements shown around a difference; the rest is "  ... 40 equal"
  bool line_numbers = true;  // lines of the user's files, where known
};
// One line per entry with its mark, a changed one as the two lines. Ends with a newline; "" when
// identical.
std::string render(const TraceDiff& diff, const Trace& left, const Trace& right,
                   const DiffTextOptions& options = {});

// "2 removed, 1 added, 3 changed, 14 same"
std::string summary(const TraceDiff& diff);

}  // namespace tg
