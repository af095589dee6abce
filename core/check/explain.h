// Why two neighbouring phases differ: the rewrite of our own pass that does the same, or two
// statements that changed places, or the first statement whose value differs.
#pragma once

#include <optional>

#include "core/check/check.h"

namespace tg {

struct ExplainRequest {
  const Trace* left = nullptr;
  const Trace* right = nullptr;
  const RunInputs* inputs = nullptr;
  const ArgumentFacts* facts = nullptr;
  CompareOptions compare;
  RunLimits limits;
  AliasGroups alias_groups;
};

// Fills everything but the phase indices. Empty when nothing was found.
std::optional<Explanation> explain_difference(const ExplainRequest& request);

// A write to a storage and an access of the same storage (or the return) that stand in another
// order in `right` than in `left`. Statements are matched by what they bind and by copy operands.
struct Reorder {
  std::uint32_t write = 0;  // indices into right
  std::uint32_t other = 0;
  std::string sentence;  // "copy_(t1, x) (line 14) now stands before t2 = torch.cos(x) (line 16),
                         // which reads x"
};
std::optional<Reorder> find_reorder(const Trace& left, const Trace& right,
                                    const ArgumentFacts& facts);

// Parameters that `facts` puts on one storage, as indices: Thunder's alias groups.
AliasGroups alias_groups_of(const Trace& trace, const ArgumentFacts& facts);

}  // namespace tg
