// The programs inside a Markdown case.
#pragma once

#include <string>
#include <string_view>

namespace tg::golden {

struct CaseText {
  std::string right;  // the trace as printed; empty if the case has none
  std::string
      wrong;         // the wrong program with the head of the right one; empty if the case has none
  std::string json;  // the machine-readable block
};

CaseText read_case_text(std::string_view markdown);

}  // namespace tg::golden
