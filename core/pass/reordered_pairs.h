// Statements that a pass let change places although they touch the same storage.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/pass/step.h"

namespace tg {

// `first` stood before `second`, and now stands behind it; at least one of the two writes.
struct ReorderedPair {
  StatementId first = kNoStatement;  // indices into the statements before
  StatementId second = kNoStatement;
  std::string storage;  // label of the storage on which they conflict: "x"
  bool first_writes = false;
  bool second_writes = false;
  friend bool operator==(const ReorderedPair&, const ReorderedPair&) = default;
};

// Statements of the two traces are matched by what they say without their outputs (dead code
// elimination leaves some out) and by their turn among equals. For every write and storage the
// conflicts of other statements with it, in order of the text before; at most `most` in all.
std::vector<ReorderedPair> reordered_pairs(const Trace& before, const Trace& after,
                                           const ArgumentFacts& facts = {},
                                           std::size_t most = 1000);

// The same when it is known where each statement of `before` went (kNoStatement: it is gone).
std::vector<ReorderedPair> reordered_pairs(const Trace& before,
                                           const std::vector<StatementId>& new_place,
                                           const ArgumentFacts& facts = {},
                                           std::size_t most = 1000);

// "sin (line 4) read x before copy_ (line 3) wrote it, and now runs behind it"
std::string reordered_text(const Trace& before, const ReorderedPair& pair);

}  // namespace tg
