// Is a function found in pasted text a trace, or ordinary Python, or another graph format?
#pragma once

#include <string_view>
#include <vector>

namespace tg::text {

struct Candidate {
  bool has_provenance = false;
  bool has_no_autocast = false;  // import or decorator that only Thunder prints
  std::string_view
      def_line;  // "def computation(x):", joined if it was wrapped; empty: no signature
  std::vector<std::string_view> body;  // indentation still on
};

// Why it is no trace; empty when it is one.
std::string_view why_no_trace(const Candidate& candidate);

// A statement or annotation that only a trace has: `t0 = f(x)  # t0: "cpu f32[2]"`, `# x: "cpu
// f32[2]"`.
bool is_typed_line(std::string_view line);
// A line that a trace may hold: a statement, or a comment.
bool may_be_body(std::string_view line);

// "Constant Folding pass": a provenance that Thunder stored without its mark.
bool looks_like_bare_provenance(std::string_view line);

}  // namespace tg::text
