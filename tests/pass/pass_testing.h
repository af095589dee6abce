// Text in, text out: what the tests of passes share.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "core/pass/pass.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg::testing {

// `text` is a trace from its `def` line on, a leading newline allowed.
inline Trace trace_of(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  TraceFile file = parse_trace_file("test", std::string(text));
  EXPECT_EQ(file.phases.size(), 1U) << text;
  return file.phases.empty() ? Trace{} : file.phases.front().trace;
}

// The statements as they print, sub-statements left out; starts with a newline, as a raw string
// does.
inline std::string body_of(const Trace& trace, bool subsymbols = false) {
  std::string text = print(trace, {.subsymbols = subsymbols, .program_lines = true});
  if (!text.ends_with('\n')) text += '\n';
  const std::size_t def = text.find("def ");
  return "\n" + text.substr(text.find('\n', def) + 1);
}

inline PassResult run_pass(std::string_view name, const Trace& before, PassContext context = {}) {
  const PassInfo* pass = find_pass(name);
  EXPECT_NE(pass, nullptr) << name;
  PassResult result = pass->run(before, context);
  // Law 1 holds for every call in these tests.
  EXPECT_TRUE(same_body(replay(before, result.steps), result.after)) << name;
  // Law 5.
  const Result<std::vector<Step>> parsed = parse_steps(print_steps(result.steps));
  EXPECT_TRUE(parsed.has_value());
  if (parsed) {
    EXPECT_EQ(*parsed, result.steps);
  }
  return result;
}

// "rule: reason" a line, indented by depth.
inline std::string steps_of(const PassResult& result) {
  std::string text = "\n";
  for (const Step& step : result.steps) {
    text += std::string(2 * step.depth, ' ') + step.rule + ": " + step.reason + "\n";
  }
  return text;
}

inline std::string error_of(const PassResult& result) {
  return result.error ? result.error->type + ": " + result.error->message : "none";
}

}  // namespace tg::testing
