#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::trace_of;

std::string diagnostic_of(std::string_view text) {
  const Result<std::vector<Step>> steps = parse_steps(text);
  return steps ? "parsed" : render(steps.error(), "steps", text);
}

TEST(StepText, EveryFieldComesBack) {
  const Trace trace = trace_of(R"(
def computation(x):
  # x: "cpu f32[2]"

  # model.py:9: 	    y = x.exp_()
  # a header
  y = ltorch.exp_(x)  # y: "cpu f32[2]"
    # t0 = ltorch.exp(x)  # t0: "cpu f32[2]"
      # t0 = prims.exp(x)  # t0: "cpu f32[2]"
    # y = prims.copy_(t0, x)  # y: "cpu f32[2]"
  del x
  return {'output': (y,), 'flat_args': [x]}
)");
  Step step;
  step.rule = "everything";
  step.subject = 1;
  step.reason = "quotes \" and ' and \n newlines and ä";
  step.depth = 2;
  step.group = "a group";
  step.at = {7, 3, 11};
  step.edits = {{Edit::Kind::Erase, 2, nullptr, kNoStatement},
                {Edit::Kind::Replace, 1, trace.bound_symbols[1], kNoStatement},
                {Edit::Kind::InsertBefore, 1, trace.bound_symbols[0], 4},
                {Edit::Kind::InsertAfter, 1, trace.bound_symbols[2], 5},
                {Edit::Kind::InsertAfter, 5, trace.bound_symbols[3], 6}};
  Step note;
  note.rule = "note";
  note.reason = "no edits, no subject";
  const std::vector<Step> steps = {step, note};
  const std::string text = print_steps(steps);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  const Result<std::vector<Step>> parsed = parse_steps(text);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(*parsed, steps);
}

TEST(StepText, WhatIsNoStepIsNamedWithItsLine) {
  EXPECT_EQ(diagnostic_of("{\"rule\": \"a\"}\nrubbish\n"),
            "steps:2: error: the line is no JSON object [malformed-step]\n"
            "    rubbish\n");
  EXPECT_EQ(diagnostic_of("[1]"),
            "steps:1: error: a step is a JSON object [malformed-step]\n    [1]\n");
  EXPECT_EQ(diagnostic_of("{}"), "steps:1: error: a step has a rule [malformed-step]\n    {}\n");
}

TEST(StepText, MalformedFieldsNeverPass) {
  for (
      const std::string_view text : {
          R"json({"rule": 3})json",
          R"json({"rule": "a", "subject": -1})json",
          R"json({"rule": "a", "subject": 99999999999})json",
          R"json({"rule": "a", "at": [1, 2]})json",
          R"json({"rule": "a", "at": [1, 2, "3"]})json",
          R"json({"rule": "a", "edits": 7})json",
          R"json({"rule": "a", "edits": [{"do": "dance", "at": 0}]})json",
          R"json({"rule": "a", "edits": [{"do": "erase", "at": "x"}]})json",
          R"json({"rule": "a", "edits": [{"do": "replace", "at": 0, "statement": 5}]})json",
          R"json({"rule": "a", "edits": [{"do": "replace", "at": 0, "statement": {"text": "f(x)", "header": 1}}]})json",
          R"json({"rule": "a", "edits": [{"do": "replace", "at": 0, "statement": {"text": "f(x)", "program": [1]}}]})json",
      }) {
    EXPECT_FALSE(parse_steps(text).has_value()) << text;
  }
}

TEST(StepText, EmptyLinesAreNothing) {
  const Result<std::vector<Step>> parsed = parse_steps("\n  \n");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(parsed->empty());
}

}  // namespace
}  // namespace tg
