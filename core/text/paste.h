// Finds the programs inside what people paste: issue bodies, logs, prompts, diffs, notebooks,
// mails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace tg {

// Text with one entry per line telling where it stood in the original.
struct CleanText {
  std::string text;
  std::vector<std::uint32_t> original_line;  // 1-based, per line of `text`
  std::vector<std::int32_t>
      removed_columns;  // bytes cut off at the line's front (negative: added), per line
};

struct FoundProgram {
  CleanText text;  // head at column 0, body indented by 2
  std::vector<std::string>
      undone;  // what had to be undone: "log-prefix", "ansi", "diff", ... (stable words)
};

struct PasteResult {
  std::vector<FoundProgram> programs;  // in order
  std::vector<Diagnostic>
      diagnostics;  // elision, smart-quotes, not-a-trace, ... at original positions
};

// Linear in the input; never fails: nothing found is the diagnostic no-trace-found.
PasteResult find_programs(std::string_view text);

// True when `text` is nothing but traces as Thunder prints them, one after another.
bool is_clean_trace_text(std::string_view text);

}  // namespace tg
