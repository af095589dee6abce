// The text of a passes-case: a program, the traces that passes made of it, a verdict. Internal to
// core/golden.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/ir/trace.h"
#include "core/pass/rewriter.h"

namespace tg::golden {

struct Block {
  std::string title;  // "input (after wrap)", "trace", "orig_to_view {'x': 't0'}"
  std::string text;
  std::optional<TraceFile> file;
};

struct PassCase {
  std::string title;
  std::string era;  // "BASE", "HEAD"
  std::vector<Block> blocks;
  std::string verdict;
};

PassCase read_pass_case(const std::string& text);
// Null when the block holds no trace.
const Trace* trace_of(const Block& block);

// "alias_tensor_indices [[0, 1], [2, 3]]; ..."
AliasGroups groups_in(std::string_view title);
// "... geometry {'a': ('S', 0, (2, 2), (2, 1)), ...}": storage, offset, sizes, strides
ArgumentFacts facts_in(std::string_view title);
// "orig_to_view {'x': 't0'}"
std::vector<std::pair<std::string, std::string>> map_in(std::string_view title);

}  // namespace tg::golden
