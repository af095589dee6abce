// What a command says is what it did: no request is silently ignored, and nothing is called clean
// or the same that was not read or not compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/script.h"
#include "app/session.h"
#include "core/base/text.h"
#include "tests/app/command_line.h"

namespace tg {
namespace {

using testing::HasSubstr;
using testing::Not;

using Honesty = CommandLine;

constexpr std::string_view kCopy =
    "def computation(a, b):\n"
    "  # a: \"cpu f32[4]\"\n"
    "  # b: \"cpu f32[4]\"\n"
    "  t0 = ltorch.add(a, b)  # t0: \"cpu f32[4]\"\n"
    "  t1 = prims.copy_(t0, a)  # t1: \"cpu f32[4]\"\n"
    "  return (t1,)\n";
constexpr std::string_view kUnreadable =
    "def computation(a, b):\n"
    "  # a: \"cpu f32[4]\"\n"
    "  # b: \"cpu f32[4]\"\n"
    "  t0 = ltorch.add(a, b)  # t0: \"cpu f32[4]\"\n"
    "  t1 = prims.copy_(t0, a";

// As of 2026-01 no pass is replayed on it.
constexpr std::string_view kAlone =
    "def computation(a):\n"
    "  # a: \"cpu f32[4]\"\n"
    "  t0 = ltorch.neg(a)  # t0: \"cpu f32[4]\"\n"
    "  return (t0,)\n";

// What the REPL says to these lines.
std::string said(const std::vector<std::string>& lines) {
  Session session;
  session.interactive = true;
  CaptureSink sink;
  for (const std::string& line : lines) {
    for (const auto& words : split_script_line(line).commands) {
      execute_words(session, words, sink);
    }
  }
  return sink.all;
}

constexpr std::string_view kRecording =
    R"({"idea": "two", "inputs": [
  {"path": "args[0]", "kind": "tensor", "dtype": "float32", "device": "cpu", "shape": [4],
   "strides": [1], "storage": "S0", "storage_offset": 0, "requires_grad": false,
   "values": [1.0, 2.0, 3.0, 4.0]},
  {"path": "args[1]", "kind": "tensor", "dtype": "float32", "device": "cpu", "shape": [4],
   "strides": [1], "storage": "S1", "storage_offset": 0, "requires_grad": false,
   "values": [10.0, 20.0, 30.0, 40.0]}],
 "eager": {"outputs": [], "final_inputs": []}})";

TEST_F(Honesty, InputsOfARecordingAreBoundInOrderWhereNoPrologueTells) {
  const std::string trace = write("copy.txt", std::string(kCopy));
  const std::string values = write("values.json", std::string(kRecording));
  const Ran ran = run({"run", trace, "--inputs", values});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("11"));
  EXPECT_THAT(ran.out, HasSubstr("44"));
  EXPECT_EQ(run({"check", trace, "--inputs", values}).exit, 0);
}

TEST_F(Honesty, AnAliasTakesTheTypeThatDeadCodeEliminationDropped) {
  const std::string trace =
      write("dropped.txt", std::string(kCopy) +
                               "\n# Constructed by Dead Code Elimination\n"
                               "def computation(a, b):\n"
                               "  # a: \"cpu f32[4]\"\n"
                               "  t1 = prims.copy_(a, a)  # t1: \"cpu f32[4]\"\n"
                               "  return (t1,)\n");
  for (const char* command : {"audit", "run"}) {
    const Ran ran = run({command, trace + ":1", "--alias", "b=a"});
    EXPECT_LE(ran.exit, 1) << command << ran.err;
  }
}

TEST_F(Honesty, ASkipThatMeansNoStepIsRefused) {
  const Ran number = run({"functionalize", "lost_write.txt:0", "--skip", "99"});
  EXPECT_EQ(number.exit, 2);
  EXPECT_THAT(number.err, HasSubstr("there is no step 99"));
  EXPECT_THAT(number.err, HasSubstr("1 functionalize-inplace"));
  const Ran rule = run({"functionalize", "lost_write.txt:0", "--skip", "nosuch"});
  EXPECT_EQ(rule.exit, 2);
  EXPECT_THAT(rule.err, HasSubstr("no step has the rule 'nosuch'"));
  EXPECT_EQ(run({"functionalize", "lost_write.txt:0", "--skip", "keep-one-copy"}).exit, 0);
}

TEST_F(Honesty, ARefusedSkipOfTheReplLeavesNothingToUndo) {
  const std::string text =
      said({"load lost_write.txt", "functionalize :0", "skip 1", "skip nosuch", "undo"});
  EXPECT_THAT(text, HasSubstr("no step has the rule 'nosuch'"));
  EXPECT_THAT(text, HasSubstr("skipped before and still: 1"));
  EXPECT_THAT(text, HasSubstr("skip 1\n"));
}

TEST_F(Honesty, AuditCountsTheLinesOfADerivedProgramAsListDoes) {
  const std::string listed = said({"load lost_write.txt", "functionalize :0", "list --copies"});
  const std::string audited = said({"load lost_write.txt", "functionalize :0", "audit"});
  const std::size_t at = listed.find("prims.copy_(t0, x)");
  ASSERT_NE(at, std::string::npos) << listed;
  std::string_view row = std::string_view(listed).substr(listed.rfind('\n', at) + 1);
  const std::string number(trim(row.substr(0, row.find('W'))));
  EXPECT_THAT(audited, HasSubstr("  " + number + "  prims.copy_(t0, x)")) << audited;
}

TEST_F(Honesty, ABatchSaysRanWhereThereWasNothingToCompare) {
  const std::string one = write("one.txt", std::string(kAlone));
  const std::string two = write("two.txt", std::string(kAlone));
  const Ran batch = run({"check", one, two, "--era", "2026-01"});
  EXPECT_THAT(batch.out, HasSubstr("RAN"));
  EXPECT_THAT(batch.out, HasSubstr("2 files: 2 ran"));
  EXPECT_THAT(run({"check", one, two, "--json", "--era", "2026-01"}).out, HasSubstr(R"("ran":2)"));
  EXPECT_THAT(run({"check", one, "--json", "--era", "2026-01"}).out,
              HasSubstr(R"("verdict": "ran")"));
}

TEST_F(Honesty, WhatWasNotReadWholeIsNotClean) {
  const std::string trace = write("broken.txt", std::string(kUnreadable));
  const Ran audit = run({"audit", trace});
  EXPECT_EQ(audit.exit, 3);
  EXPECT_THAT(audit.out, HasSubstr("NOT WHOLE"));
  EXPECT_THAT(audit.out, Not(HasSubstr("CLEAN")));
  const Ran check = run({"check", trace});
  EXPECT_EQ(check.exit, 3);
  EXPECT_THAT(check.out, HasSubstr("NOT ESTABLISHED"));
  EXPECT_THAT(check.out, Not(HasSubstr("next: thunderglass show")));
}

TEST_F(Honesty, BackwardTracesAloneEstablishNothing) {
  const Ran one = run({"check", "saved_backward.txt"});
  EXPECT_EQ(one.exit, 5);
  EXPECT_THAT(one.out, HasSubstr("NOT ESTABLISHED"));
  EXPECT_EQ(run({"check", "saved_backward.txt", "saved_backward.txt"}).exit, 5);
}

TEST_F(Honesty, ForwardAndBackwardComeInEitherOrder) {
  const Ran right = run({"check", "saved_forward.txt", "saved_backward.txt"});
  const Ran swapped = run({"check", "saved_backward.txt", "saved_forward.txt"});
  EXPECT_EQ(right.out, swapped.out);
  EXPECT_EQ(right.exit, swapped.exit);
}

TEST_F(Honesty, CompareSetsADerivedProgramBesideWhatItWasMadeFrom) {
  const std::string text =
      said({"load lost_write.txt", "functionalize :0", "try 'drop line 20'", "compare :0"});
  EXPECT_THAT(text, HasSubstr("0->9 9->10"));
  EXPECT_THAT(text, Not(HasSubstr("8->9")));
  EXPECT_THAT(text, HasSubstr("phase 10 and phase 11"));
  EXPECT_THAT(text, HasSubstr("phase 11 and phase 12"));
}

TEST_F(Honesty, ALongConstantIsNotEchoedWhole) {
  std::string text(kCopy);
  text.replace(text.find("(a, b)  #"), 6, "(a, " + std::string(100'000, '7') + ")");
  const Ran ran = run({"check", write("long.txt", text)});
  EXPECT_LT(ran.out.size() + ran.err.size(), 5'000U);
}

TEST_F(Honesty, AnEditedProgramIsQuotedAndNotCounted) {
  const Ran ran = run({"try", "insert t9 = ltorch.neg(t33) before line 24", "lost_write.txt"});
  EXPECT_THAT(ran.err, HasSubstr("in the edited program: nothing defines 't33'"));
  EXPECT_THAT(ran.err, Not(HasSubstr("edited program:2")));
}

TEST_F(Honesty, WordsThatAreFarAreNotOffered) {
  EXPECT_THAT(run({"run", "--rtol", "1", "lost_write.txt"}).err, Not(HasSubstr("did you mean")));
  EXPECT_THAT(run({"foo"}).err, Not(HasSubstr("did you mean")));
  EXPECT_THAT(run({"chekc"}).err, HasSubstr("did you mean 'check'"));
}

TEST_F(Honesty, NumbersThatMakeNoSenseAreRefused) {
  EXPECT_EQ(run({"run", "lost_write.txt", "--timeout", "0"}).exit, 2);
  EXPECT_EQ(run({"check", "lost_write.txt", "move_copy.txt", "-j0"}).exit, 2);
  EXPECT_THAT(said({"load lost_write.txt", "functionalize :0", "back 0"}), HasSubstr("1 or more"));
  EXPECT_THAT(run({"explain", "step", "2"}).err, HasSubstr("only in the REPL"));
}

TEST_F(Honesty, ListsNeedNoCommand) {
  EXPECT_THAT(run({"--list-passes"}).out, HasSubstr("dead_code"));
  EXPECT_THAT(run({"--list-ops"}).out, HasSubstr("copy_"));
  EXPECT_THAT(run({"--list-formats"}).out, HasSubstr("svg"));
  EXPECT_EQ(run({"pass", "thunder 2024-12", "lost_write.txt:0"}).out,
            run({"pass", "thunder-2024-12", "lost_write.txt:0"}).out);
}

}  // namespace
}  // namespace tg
