// The table of commands and what is made from it.
#include "app/command.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/completion.h"
#include "app/help.h"
#include "app/script.h"
#include "app/session.h"
#include "core/base/text.h"

namespace tg {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ParsedCommand parsed(const std::vector<std::string>& words) {
  auto result = parse_command(words, false);
  EXPECT_TRUE(result.has_value());
  return result ? *result : ParsedCommand{};
}

std::string usage_error(const std::vector<std::string>& words, bool in_repl = false) {
  const auto result = parse_command(words, in_repl);
  if (result) return "no error";
  return result.error().message + " | " + result.error().hint;
}

TEST(Arguments, OptionsAndOperandsMix) {
  const ParsedCommand command = parsed({"run", "--seed", "7", "a.txt", "--trace"});
  EXPECT_THAT(command.operands, ElementsAre("a.txt"));
  EXPECT_EQ(command.count(Option::Seed), 7U);
  EXPECT_TRUE(command.has(Option::Trace));
}

TEST(Arguments, LongOptionsTakeAValueAfterEqualsToo) {
  EXPECT_EQ(parsed({"run", "--seed=9", "a"}).count(Option::Seed), 9U);
}

TEST(Arguments, ShortOptionsTakeAnAttachedValue) {
  EXPECT_EQ(parsed({"check", "a", "b", "-j4"}).count(Option::Jobs), 4U);
}

TEST(Arguments, AListOptionKeepsEveryValueAndDoesNotEatOperands) {
  const ParsedCommand command = parsed({"run", "--alias", "b=a", "t.txt", "--alias", "c=a[1:3]"});
  EXPECT_THAT(command.values(Option::Alias), ElementsAre("b=a", "c=a[1:3]"));
  EXPECT_THAT(command.operands, ElementsAre("t.txt"));
}

TEST(Arguments, DashIsAnOperand) {
  EXPECT_THAT(parsed({"info", "-"}).operands, ElementsAre("-"));
}

TEST(Arguments, TwoDashesEndTheOptions) {
  EXPECT_THAT(parsed({"info", "--", "--json"}).operands, ElementsAre("--json"));
}

TEST(Arguments, ANegativeNumberIsAPhase) {
  EXPECT_THAT(parsed({"compare", "0", "-1"}).operands, ElementsAre("0", "-1"));
}

TEST(Arguments, AMissingOptionFallsBackToTheTable) {
  EXPECT_EQ(parsed({"run", "a"}).count(Option::Seed), 1U);
  EXPECT_EQ(parsed({"run", "a"}).count(Option::MaxMemory), 4'000'000'000U);
}

TEST(Arguments, AnUnknownOptionNamesTheNearestOne) {
  EXPECT_EQ(usage_error({"run", "--sed", "1", "a"}),
            "unknown option '--sed' of 'run' | did you mean '--seed'?");
}

TEST(Arguments, AnUnknownCommandNamesTheNearestOne) {
  EXPECT_EQ(usage_error({"chekc", "a"}), "unknown command 'chekc' | did you mean 'check'?");
}

TEST(Arguments, ACommandOfTheReplSaysSo) {
  EXPECT_EQ(usage_error({"undo"}),
            "'undo' exists only in the REPL | start it with 'thunderglass repl'");
}

TEST(Arguments, AnAmbiguousBeginningListsWhatItCouldBe) {
  EXPECT_EQ(usage_error({"s"}, true), "'s' could be show, step, skip, steps, source | ");
}

TEST(Arguments, AUniqueBeginningWillDoInTheRepl) {
  const auto command = parse_command({"func"}, true);
  ASSERT_TRUE(command.has_value());
  EXPECT_EQ(command->command->name, "functionalize");
}

TEST(Arguments, ValuesAreChecked) {
  EXPECT_EQ(usage_error({"run", "--seed", "many"}),
            "--seed expects a whole number, found 'many' | ");
  EXPECT_EQ(usage_error({"run", "--max-memory", "4 elephants"}),
            "--max-memory expects a number of bytes such as 512M, found '4 elephants' | ");
  EXPECT_EQ(usage_error({"run", "--color=blue"}),
            "--color expects one of auto,always,never, found 'blue' | ");
  EXPECT_EQ(usage_error({"run", "a", "--seed"}), "--seed needs a value (N) | ");
}

TEST(Arguments, SizesCountInPowersOfAThousand) {
  EXPECT_EQ(parse_size("512M"), 512'000'000U);
  EXPECT_EQ(parse_size("4G"), 4'000'000'000U);
  EXPECT_EQ(parse_size("12"), 12U);
  EXPECT_EQ(parse_size("12X"), std::nullopt);
  EXPECT_EQ(parse_size("99999999999999999T"), std::nullopt);
}

TEST(Table, EveryHelpFitsEightyColumns) {
  for (const CommandInfo& command : all_commands()) {
    for (const std::string_view line : split_lines(command_help(command))) {
      EXPECT_LE(display_width(line), 80U) << command.name << ": " << line;
    }
  }
}

TEST(Table, EveryCommandHasAnExampleThatParses) {
  for (const CommandInfo& command : all_commands()) {
    ASSERT_FALSE(command.examples.empty()) << command.name;
    for (const std::string_view example : command.examples) {
      const std::string_view words = example.substr(0, example.find_first_of("<>"));
      const ScriptLine line = split_script_line(words);
      ASSERT_EQ(line.commands.size(), 1U) << example;
      const auto result = parse_command(line.commands.front(), command.where == Where::Repl);
      EXPECT_TRUE(result.has_value()) << example;
      if (result) {
        EXPECT_EQ(result->command->name, command.name);
      }
    }
  }
}

TEST(Table, TheReadmeListsEveryCommandAsTheTableHasIt) {
  std::ifstream file(std::filesystem::path(TG_SOURCE_DIR) / "README.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(markdown_commands()));
}

TEST(Table, TheManualNamesEveryCommandOptionAndExitCode) {
  const std::string manual = manual_page();
  for (const CommandInfo& command : all_commands()) {
    EXPECT_THAT(manual, HasSubstr(".SS " + std::string(command.name)));
  }
  EXPECT_THAT(manual, HasSubstr("\\-\\-seed N"));
  EXPECT_THAT(manual, HasSubstr(".B 130"));
}

TEST(Table, EveryShellGetsACompletionScript) {
  for (const std::string_view shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(completion_script(shell), HasSubstr("functionalize")) << shell;
    EXPECT_THAT(completion_script(shell), HasSubstr("max-memory")) << shell;
  }
  EXPECT_EQ(completion_script("csh"), "");
}

TEST(Script, SplitsWordsQuotesCommandsAndComments) {
  const ScriptLine line = split_script_line("load 'my file'; show \"t 1\" # the rest; is silent");
  ASSERT_EQ(line.commands.size(), 2U);
  EXPECT_THAT(line.commands[0], ElementsAre("load", "my file"));
  EXPECT_THAT(line.commands[1], ElementsAre("show", "t 1"));
}

TEST(Script, AnOpenQuoteGoesOn) {
  EXPECT_TRUE(split_script_line("try 'drop line 7").open_quote);
}

TEST(Script, AHashInsideAWordIsNoComment) {
  EXPECT_THAT(split_script_line("help a#b").commands.front(), ElementsAre("help", "a#b"));
}

TEST(Completion, OffersCommandsFirst) {
  const Session session;
  EXPECT_THAT(complete_line(session, "fu").candidates, ElementsAre("functionalize"));
}

TEST(Completion, OffersPassesAlsoAfterAComma) {
  const Session session;
  EXPECT_THAT(complete_line(session, "pass wrap_return,dead").candidates,
              ElementsAre("wrap_return,dead_code"));
}

TEST(Completion, OffersOptionsOfTheCommand) {
  const Session session;
  EXPECT_THAT(complete_line(session, "run --see").candidates, ElementsAre("--seed"));
  EXPECT_THAT(complete_line(session, "show --see").candidates, IsEmpty());
}

TEST(Completion, OffersNamesOfTheProgram) {
  Session session;
  session.interactive = true;
  CaptureSink sink;
  std::filesystem::current_path(std::filesystem::path(TG_SOURCE_DIR) / "assets/traces");
  ASSERT_EQ(execute_words(session, {"load", "lost_write.txt"}, sink).exit, ExitCode::Done);
  EXPECT_THAT(complete_line(session, "show t").candidates, Contains("t4"));
}

TEST(Output, ColumnsAlignAndEmptyOnesVanish) {
  Table table({"a", "b", "c"}, {Table::Align::Right});
  table.add({"1", "", "x"});
  table.add({"100", "", "yy"});
  EXPECT_EQ(table.text(Paint(false)), "  a  c\n  1  x\n100  yy\n");
}

TEST(Output, ColourCodesTakeNoColumns) {
  const Paint paint(true);
  EXPECT_EQ(display_width(paint(Role::Write, "W")), 1U);
  EXPECT_EQ(display_width("\xc3\xa4"), 1U);
}

TEST(Output, WrapsAtWords) {
  EXPECT_EQ(wrap("one two three", 7, 2), "one two\n  three");
}

}  // namespace
}  // namespace tg
