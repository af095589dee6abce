#include "core/golden/checks.h"

#include <fmt/format.h>

namespace tg::golden {

void Checks::add(std::string_view kind, std::string_view part, CheckState state, std::string why) {
  GoldenCheck check;
  check.suite = suite_;
  check.kind = std::string(kind);
  check.id = root_;
  if (!part.empty()) check.id += (check.id.empty() ? "" : "/") + std::string(part);
  check.state = state;
  check.why = one_line_of(why);
  checks_.push_back(std::move(check));
}

std::string one_line_of(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (line.size() > 400) {
      line += "...";
      break;
    }
    if (c == '\n') {
      line += "\\n";
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace tg::golden
