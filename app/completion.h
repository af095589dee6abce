// What Tab offers in the REPL: commands, options, passes, names of the program, phases, files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"

namespace tg {

struct Completions {
  std::string typed;                    // the part of the line that is being completed
  std::vector<std::string> candidates;  // sorted; each begins with `typed`
};

// `line` is the text before the cursor.
Completions complete_line(const Session& session, std::string_view line);

// The longest common beginning; empty for no words.
std::string common_beginning(const std::vector<std::string>& words);

}  // namespace tg
