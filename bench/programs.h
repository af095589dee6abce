// Programs to measure: generated ones of any size, and recorded ones from a folder.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tg {

// An Adam step over `parameters` tensors as lightning-thunder of December 2024 acquires it: 24
// statements for each (5 arguments, 19 operations of which 6 write in place) and the return.
std::string adam_text(std::size_t parameters);

struct NamedText {
  std::string name;
  std::string text;
};

// The traces in `folder` and below (*.txt, *.txt.zst), sorted by path. Programs in Python
// (step.txt) are left out.
std::vector<NamedText> recorded_texts(const std::string& folder);

}  // namespace tg
