// Does a text need paste at all?
#include <algorithm>

#include "core/base/text.h"
#include "core/text/head_parser.h"
#include "core/text/lexer.h"
#include "core/text/paste.h"
#include "core/text/paste_judge.h"

namespace tg {

bool is_clean_trace_text(std::string_view text) {
  if (text.find('\x1b') != text.npos || text.find("\xe2\x80\x9c") != text.npos ||
      text.find("&quot;") != text.npos || text.find('\r') != text.npos) {
    return false;
  }
  bool thunder_head = false;  // no_autocast or a provenance since the last `def`
  bool any = false;
  bool first_body_line = false;
  bool broken_value = false;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = text.substr(begin, end - begin);
    begin = std::min(end + 1, text.size());
    if (line.empty()) continue;
    if (line.front() == ' ') {
      if (!any) return false;
      // Another indentation than Thunder's is normalized.
      if (first_body_line && text::indentation(line) != 2 && !trim(line).empty()) return false;
      first_body_line = false;
      broken_value = line.back() == '(';
      // Blanks at line ends that Thunder does not print: an editor's.
      if (line.back() == ' ' && !line.ends_with("return ") && !trim(line).starts_with('#'))
        return false;
      continue;
    }
    if (text::is_head_line(line)) {
      if (line.back() == ' ' || line.back() == ']') return false;
      broken_value = false;
      if (line.find("no_autocast") != line.npos || line.starts_with("# Constructed by "))
        thunder_head = true;
      if (line.starts_with("def ") || line.starts_with("# No signature")) {
        if (!thunder_head || !(line.ends_with("):") || line.front() == '#')) return false;
        thunder_head = false;
        any = true;
        first_body_line = true;
      }
      continue;
    }
    const std::string_view next = text.substr(begin);
    if (text::looks_like_bare_provenance(line) && next.starts_with("import ")) continue;
    if (!any || !broken_value || (line.back() != ',' && line.find(')') == line.npos)) return false;
  }
  return any;
}

}  // namespace tg
