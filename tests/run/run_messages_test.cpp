// What a user reads when a program cannot run, or its inputs cannot be used: whole messages.
#include <gtest/gtest.h>

#include "core/run/inputs.h"
#include "core/text/parser.h"

namespace tg {
namespace {

const std::string kHead = "@no_autocast\ndef computation(x, y):\n  # x: \"cpu f32[2, 2]\"\n";

TraceFile file_of(const std::string& body) {
  return parse_trace_file("t.txt", kHead + body);
}

// Runs the first phase on invented inputs and renders why it stopped.
std::string why(const std::string& body, const RunLimits& limits = {}) {
  const TraceFile file = file_of(body);
  const Trace& trace = file.phases.at(0).trace;
  const Result<RunInputs> inputs = invent_inputs(trace, {}, 1);
  if (!inputs) return render(inputs.error(), file.name, file.text);
  const Expected<RunResult, RunError> result = run(trace, *inputs, limits);
  return result ? "it ran" : render(result.error().to_diagnostic(), file.name, file.text);
}

TEST(RunMessages, WhatPyTorchRaises) {
  EXPECT_EQ(why("  t0 = ltorch.reshape(x, (3, 3))  # t0: \"cpu f32[3, 3]\"\n  return t0\n"),
            "t.txt:4:3: error: RuntimeError: shape '[3, 3]' is invalid for input of size 4 "
            "[run-raised]\n"
            "      t0 = ltorch.reshape(x, (3, 3))  # t0: \"cpu f32[3, 3]\"\n"
            "      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n");
}

TEST(RunMessages, MemoryLimit) {
  RunLimits limits;
  limits.bytes = 64;
  EXPECT_EQ(why("  t0 = ltorch.cat([x, x, x, x], 0)  # t0: \"cpu f32[8, 2]\"\n"
                "  t1 = ltorch.cat([t0, t0], 0)  # t1: \"cpu f32[16, 2]\"\n  return t1\n",
                limits),
            "t.txt:4:3: error: 'ltorch.cat' needs a tensor of shape (8, 2), more than the memory "
            "limit allows [memory-limit]\n"
            "      t0 = ltorch.cat([x, x, x, x], 0)  # t0: \"cpu f32[8, 2]\"\n"
            "      ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
            "hint: --max-memory raises the limit; show, audit and dot work without running\n");
}

TEST(RunMessages, TimeLimit) {
  RunLimits limits;
  limits.time = std::chrono::milliseconds(0);
  EXPECT_EQ(why("  t0 = ltorch.neg(x)  # t0: \"cpu f32[2, 2]\"\n  return t0\n", limits),
            "t.txt:3:5: error: the run took longer than 0 ms [time-limit]\n"
            "      # x: \"cpu f32[2, 2]\"\n"
            "        ^~~~~~~~~~~~~~~~~~\n"
            "hint: --timeout raises the limit; show, audit and dot work without running\n");
}

TEST(RunMessages, OperationsWithoutKernel) {
  EXPECT_EQ(
      why("  t0 = ltorch.nobody(x)  # t0: \"cpu f32[2, 2]\"\n  return t0\n"),
      "t.txt:4:3: error: the operation 'ltorch.nobody' is unknown and has no sub-statements to "
      "run [not-supported]\n"
      "      t0 = ltorch.nobody(x)  # t0: \"cpu f32[2, 2]\"\n"
      "      ^~~~~~~~~~~~~~~~~~~~~\n"
      "hint: show, audit and dot work without running\n");
}

// One argument's window on another one.
std::string alias_message(const std::string& option) {
  const TraceFile file = file_of(
      "  # y: \"cpu f32[2]\"\n  t0 = ltorch.neg(x)  # t0: \"cpu f32[2, 2]\"\n  return t0\n");
  const Result<ArgumentFacts> facts = parse_alias_options(file.phases.at(0).trace, {option});
  return facts ? "it fits" : render(facts.error(), "thunderglass", "");
}

TEST(RunMessages, Aliases) {
  EXPECT_EQ(alias_message("y=x[0]"), "it fits");
  EXPECT_EQ(
      alias_message("y=z"),
      "thunderglass: error: the trace has no argument 'z' (in --alias y=z) [unknown-argument]\n");
  EXPECT_EQ(
      alias_message("y=x[5]"),
      "thunderglass: error: index 5 is out of bounds for dimension 0 with size 2 [bad-alias]\n"
      "hint: forms: b=a, b=a[1:3], b=a[0], b=a.view(4), b=a.t()\n");
  EXPECT_EQ(alias_message("y"),
            "thunderglass: error: 'y' is no alias option [bad-alias]\n"
            "hint: forms: b=a, b=a[1:3], b=a[0], b=a.view(4), b=a.t()\n");
}

std::string input_message(const std::string& source) {
  const TraceFile file = file_of(
      "  # y: \"cpu f32[2]\"\n  t0 = ltorch.neg(x)  # t0: \"cpu f32[2, 2]\"\n  return t0\n");
  const Result<RunInputs> inputs = load_inputs(file.phases.at(0).trace, {source}, {}, 1);
  return inputs ? "they fit" : render(inputs.error(), "thunderglass", "");
}

TEST(RunMessages, Inputs) {
  EXPECT_EQ(input_message("y=[1, 2]"), "they fit");
  EXPECT_EQ(
      input_message("yy=[1, 2]"),
      "thunderglass: error: '--inputs yy=...' gives 'yy', which is no argument of 'computation' "
      "[unknown-argument]\n"
      "hint: it has x, y\n");
  EXPECT_EQ(input_message("y=[1, 2, 3]"),
            "thunderglass: error: argument 'y' is 'cpu f32[2]' in the trace, but '--inputs y=...' "
            "gives 'cpu f32[3]' [input-mismatch]\n");
  EXPECT_EQ(
      input_message("y=[1, 2"),
      "thunderglass: error: '--inputs y=...' is no JSON: it cannot be read beyond line 1, column "
      "5 [bad-input-file]\n"
      "hint: for example {\"x\": [[1.5, 2], [3, \"nan\"]], \"n\": 3}\n");
}

}  // namespace
}  // namespace tg
