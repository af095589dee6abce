// What became of each recorded program of December 2024 that differs, raises or hangs, as one
// table. Internal to core/golden.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/golden/find_recordings.h"

namespace tg::golden {

struct ProgramStory {
  std::string id;
  std::string idea;  // in the recording's words
  std::string
      outcome;  // "differs: values", "thunder raised RuntimeError", "thunder hangs": recorded
  // What this program finds:
  std::string pass;     // Thunder's name of the pass at fault
  std::string rule;     // of the step, with the statement
  std::string witness;  // the first difference, or the error
  std::string repair;   // what was tried and helps; for refusals whether the trace can run as it is
};

// Empty for a program that gives eager's result.
std::optional<ProgramStory> story_of(const Unit& unit);

// The stories as a Markdown page.
std::string stories_page(const std::vector<ProgramStory>& stories);

}  // namespace tg::golden
