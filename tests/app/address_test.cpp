// Addresses: what FILE:phase:place means, and what is said when there is no such thing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/repl.h"
#include "tests/app/command_line.h"

namespace tg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Address = CommandLine;

std::vector<std::string> operands(const std::vector<std::string>& words) {
  const auto parsed = parse_command(words, false);
  return parsed ? parsed->operands : std::vector<std::string>{parsed.error().message};
}

TEST(AddressWords, ADashAndADigitMayBeginAnAddress) {
  EXPECT_THAT(operands({"show", "-:3"}), ElementsAre("-:3"));
  EXPECT_THAT(operands({"show", "-"}), ElementsAre("-"));
  EXPECT_THAT(operands({"compare", "-1", "-2"}), ElementsAre("-1", "-2"));
  EXPECT_THAT(operands({"show", "-q", "-:-1:t3", "-v"}), ElementsAre("-:-1:t3"));
}

TEST(AddressWords, AValueMayBeginWithADash) {
  const auto parsed = parse_command({"list", "-q", "--grep", "-1", "--grep=-:x", "f"}, false);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->value(Option::Grep), "-:x");
  EXPECT_THAT(parsed->operands, ElementsAre("f"));
  const auto clustered = parse_command({"check", "-qj", "3", "f"}, false);
  ASSERT_TRUE(clustered.has_value());
  EXPECT_EQ(clustered->count(Option::Jobs), 3U);
  EXPECT_TRUE(clustered->has(Option::Quiet));
}

// One rule for what is wrong in an address or an option's value, whatever the command.
TEST_F(Address, AnUnknownNameIsAUsageErrorEverywhere) {
  const std::vector<std::vector<std::string>> commands = {
      {"show", "lost_write.txt::nope"},
      {"explain", "lost_write.txt::nope"},
      {"dot", "lost_write.txt::nope"},
      {"dot", "lost_write.txt", "--near", "nope"},
      {"show", "lost_write.txt", "--touching", "nope"},
  };
  for (const auto& words : commands) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit, 2) << words.front() << " " << words.back() << "\n" << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("'nope'")) << words.front();
  }
}

// --alias is part of what describes the input.
TEST_F(Address, AnAliasOfAnUnknownArgumentIsWrongInputEverywhere) {
  const std::vector<std::vector<std::string>> commands = {
      {"run", "lost_write.txt", "--alias", "nope=x"},
      {"check", "lost_write.txt", "--alias", "nope=x"},
      {"report", "lost_write.txt", "--alias", "nope=x"},
      {"audit", "lost_write.txt", "--alias", "nope=x"},
      {"compare", "lost_write.txt", "--alias", "nope=x"},
      {"explain", "lost_write.txt::x", "--alias", "nope=x"},
      {"functionalize", "lost_write.txt", "--alias", "nope=x"},
      {"pass", "alias_args", "lost_write.txt", "--alias", "nope=x"},
      {"try", "drop line 12", "lost_write.txt", "--alias", "nope=x"},
      {"dot", "lost_write.txt", "--alias", "nope=x"},
  };
  for (const auto& words : commands) {
    const Ran ran = run(words);
    EXPECT_EQ(ran.exit, 3) << words.front() << " " << words.back() << "\n" << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("'nope'")) << words.front();
  }
}

TEST_F(Address, ANameOfALaterPhaseIsNamedWithItsPhases) {
  for (const char* verb : {"show", "explain", "dot"}) {
    EXPECT_THAT(run({verb, "lost_write.txt::t0"}).err,
                HasSubstr("hint: it is in phases 4, 5, 6, 7, 8; lost_write.txt:4:t0 is the first"))
        << verb;
  }
}

TEST_F(Address, ARegionOfALaterPhaseIsNamedWithItsPhases) {
  const Ran ran = run({"show", "lost_write.txt::nvFusion0"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("phase 0 has no region 'nvFusion0'"));
}

TEST_F(Address, CheckBeginsAtTheNamedPhase) {
  const Ran from_four = run({"check", "lost_write.txt:4"});
  // The phases agree, but the write was lost before: the stale copy is still found.
  EXPECT_EQ(from_four.exit, 1);
  EXPECT_THAT(from_four.out, HasSubstr("stale: the newest x is t2"));
  EXPECT_THAT(from_four.out,
              HasSubstr("phases     4->5 same    5->6 same    6->7 same    7->8 same"));
  EXPECT_THAT(from_four.out, Not(HasSubstr("3->4")));
  const Ran from_three = run({"check", "lost_write.txt:3"});
  EXPECT_THAT(from_three.out, HasSubstr("from       phase 3->4"));
  EXPECT_THAT(from_three.out, HasSubstr("thunderglass explain lost_write.txt:3:106\n"));
}

TEST_F(Address, APhaseCountsInBatchesToo) {
  EXPECT_THAT(run({"compare", "lost_write.txt:4", "lost_write.txt:5", "lost_write.txt:3"}).out,
              HasSubstr("3 programs: 2 same, 1 different"));
  EXPECT_THAT(run({"info", "lost_write.txt:4", "lost_write.txt"}).out,
              HasSubstr("lost_write.txt:4  1 program, 4 statements, 1 copy"));
}

TEST_F(Address, CommandsOnWholeProgramsRefuseAPlace) {
  for (const char* verb : {"run", "audit", "check", "info", "list", "functionalize", "compare"}) {
    const Ran ran = run({verb, "lost_write.txt:0:x"});
    EXPECT_EQ(ran.exit, 2) << verb;
    EXPECT_THAT(ran.err, HasSubstr("names a place in a program")) << verb;
  }
}

TEST_F(Address, WithoutAPhaseEveryCommandTakesTheFirstComputation) {
  for (const char* verb : {"show", "list", "run", "audit", "dot", "functionalize"}) {
    EXPECT_THAT(run({verb, "argument_names.txt"}).err, HasSubstr("phase 1 of 2: acquired")) << verb;
  }
}

TEST_F(Address, LinesMayLieInSeveralPhases) {
  const Ran ran = run({"show", "lost_write.txt", "--lines", "113-130"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, HasSubstr("113     t4 = ltorch.mul(t3, 1)"));
  EXPECT_THAT(ran.out, HasSubstr("130     t0 = ltorch.setitem(x, 0, 1.0)"));
  EXPECT_EQ(run({"show", "lost_write.txt::113-130"}).out.substr(0, 40), ran.out.substr(0, 40));
  EXPECT_EQ(run({"show", "lost_write.txt", "--lines", "900-999"}).exit, 2);
}

std::string replied(std::vector<std::string> lines) {
  Session session;
  session.interactive = true;
  session.color = "never";
  CaptureSink sink;
  Repl repl(session, sink);
  for (const std::string& line : lines) {
    sink.all.clear();
    repl.feed(line);
  }
  return sink.all;
}

TEST_F(Address, InTheReplTwoColonsMeanALineOfTheDocument) {
  EXPECT_THAT(replied({"load lost_write.txt", "show ::106"}),
              HasSubstr("106 W   ltorch.setitem_(t1"));
  EXPECT_THAT(replied({"load lost_write.txt", "explain 106"}), StartsWith("line 106  "));
  EXPECT_THAT(replied({"load lost_write.txt", "try 'drop line 24'", "explain ::106"}),
              StartsWith("line 106  "));
}

TEST_F(Address, InTheReplACommandLineOfTheShellWorksToo) {
  EXPECT_EQ(replied({"load lost_write.txt", "thunderglass list :4"}),
            replied({"load lost_write.txt", "list :4"}));
}

TEST_F(Address, TheFirstLoadCannotBeUndone) {
  EXPECT_EQ(replied({"load lost_write.txt", "undo"}), "nothing to undo\n");
  EXPECT_EQ(replied({"load lost_write.txt", "load move_copy.txt", "undo"}),
            "undone: load move_copy.txt\n");
}

}  // namespace
}  // namespace tg
