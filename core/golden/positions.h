// Positions in the user's program that a stage's text leaves open. Internal to core/golden.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/ir/trace.h"

namespace tg::golden {

// A statement that prints no position stands where the one before stands, or nowhere (a pass put it
// there), and sub-statements, which later passes may run, print none at all. Names last through the
// pipeline, so the traced program decides for every later stage: there every statement has a
// position, and its sub-statements share it. What a sub-statement makes there and a statement of
// the same operation makes later is the functional form of an in-place operation, which stands
// nowhere. A name that is not in the traced program is a reshape or a copy that a pass inserted
// (nowhere), or a part of its first reader. What a stage prints is left alone.
class TracedPositions {
 public:
  explicit TracedPositions(const Trace& traced);
  // The trace with the positions that its objects had. `is_split`: a forward trace behind the split
  // into forward and backward, which takes composites apart.
  [[nodiscard]] Trace settled(Trace stage, bool is_split) const;

 private:
  using Line = std::shared_ptr<const ProgramLine>;
  enum class Place { Before, Nowhere, LikeReader };
  struct Inner {
    Line line;
    std::string callee;  // of the statement at depth 0 that it is part of
  };
  void collect(const BoundSymbol& statement, const BoundSymbol& top);
  [[nodiscard]] Place place_of(const BoundSymbol& statement, const Line& before,
                               bool is_split) const;
  [[nodiscard]] BoundSymbolRef with_lines(const BoundSymbolRef& statement, Line own) const;

  std::map<std::string, Line, std::less<>> at_top_;  // by name made
  std::map<std::string, Inner, std::less<>> inside_;
  std::map<std::pair<std::string, std::string>, Line> copies_;  // by source and destination
};

}  // namespace tg::golden
