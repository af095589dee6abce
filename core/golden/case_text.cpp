#include "core/golden/case_text.h"

#include <vector>

#include "core/run/recording.h"

namespace tg::golden {
namespace {

// Contents of the ```python fences in order, with the text that stands before each.
struct Fence {
  std::string_view before;
  std::string_view text;
};

std::vector<Fence> python_fences(std::string_view markdown) {
  constexpr std::string_view kOpen = "\n```python\n";
  constexpr std::string_view kClose = "\n```";
  std::vector<Fence> fences;
  std::size_t at = 0;
  for (;;) {
    const std::size_t open = markdown.find(kOpen, at);
    if (open == std::string_view::npos) return fences;
    const std::size_t begin = open + kOpen.size();
    const std::size_t end = markdown.find(kClose, begin);
    if (end == std::string_view::npos) return fences;
    fences.push_back({markdown.substr(at, open - at), markdown.substr(begin, end + 1 - begin)});
    at = end + kClose.size();
  }
}

// The wrong program is given as a body; its head is that of the right one.
std::string with_head_of(std::string_view right, std::string_view body) {
  std::size_t end = right.find("\ndef ");
  if (end == std::string_view::npos) return std::string(body);
  end = right.find('\n', end + 1) + 1;
  // annotations: "  # p: \"cpu f32[2]\""
  while (right.substr(end).starts_with("  # ")) {
    const std::size_t next = right.find('\n', end);
    if (next == std::string_view::npos) break;
    end = next + 1;
  }
  return std::string(right.substr(0, end)) + std::string(body);
}

}  // namespace

CaseText read_case_text(std::string_view markdown) {
  CaseText found;
  found.json = std::string(json_block(markdown));
  for (const Fence& fence : python_fences(markdown)) {
    const bool is_trace = fence.text.find("def computation(") != std::string_view::npos;
    if (found.right.empty() && is_trace) found.right = std::string(fence.text);
    if (!found.right.empty() && found.wrong.empty() &&
        fence.before.find("\nWrong answer") != std::string_view::npos) {
      found.wrong = with_head_of(found.right, fence.text);
    }
  }
  return found;
}

}  // namespace tg::golden
