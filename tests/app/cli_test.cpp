// The command line: exit codes, streams, JSON, batches.
#include <cstdlib>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/script.h"
#include "core/base/text.h"
#include "tests/app/command_line.h"

namespace tg {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(CommandLine, WithoutWordsItSaysWhatItCanDo) {
  CaptureSink sink;
  EXPECT_EQ(run_command_line({}, sink), ExitCode::Done);
  EXPECT_THAT(sink.results, HasSubstr("thunderglass check trace.txt"));
}

TEST_F(CommandLine, ALostWriteIsAFinding) {
  const Ran ran = run({"check", "lost_write.txt"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, StartsWith("DIFFERENT"));
}

TEST_F(CommandLine, ARightProgramIsDone) {
  const Ran ran = run({"check", "issue_1109.txt"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, StartsWith("SAME"));
}

TEST_F(CommandLine, AnUnknownOptionExits2AndSuggests) {
  const Ran ran = run({"check", "--sede", "3", "lost_write.txt"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean '--seed'?"));
  EXPECT_THAT(ran.out, IsEmpty());
}

TEST_F(CommandLine, AnUnknownCommandExits2) {
  EXPECT_EQ(run({"chekc", "x"}).exit, 2);
}

TEST_F(CommandLine, AFileInTheCommandsPlaceIsToldWhatToDo) {
  const Ran ran = run({"lost_write.txt"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("for example: thunderglass check lost_write.txt"));
  EXPECT_THAT(run({"pass", "lost_write.txt"}).err,
              HasSubstr("for example: pass dead_code lost_write.txt"));
  EXPECT_THAT(run({"show"}).err, HasSubstr("for example: thunderglass show trace.txt"));
}

TEST_F(CommandLine, AMisspeltFileIsAnsweredWithTheNearestOne) {
  for (const char* verb : {"check", "show", "run", "info"}) {
    const Ran ran = run({verb, "seed/copy-foward.txt"});
    EXPECT_EQ(ran.exit, 3) << verb;
    EXPECT_THAT(ran.err, HasSubstr("did you mean 'seed/copy-forward.txt'?")) << verb;
  }
}

TEST_F(CommandLine, AStepThatChangesOnlyTheInsideSaysSo) {
  EXPECT_THAT(run({"pass", "dead_code", "lost_write.txt:0", "--steps"}).out,
              HasSubstr("~ t4 = ltorch.mul(x, 1)  (its sub-statements)"));
}

TEST_F(CommandLine, AnEditIsBlamedOnTheEditedText) {
  const Ran ran = run({"try", "insert t9 = ltorch.neg(t33) before line 24", "lost_write.txt"});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, HasSubstr("in the edited program:"));
  EXPECT_THAT(ran.err, HasSubstr("\n  t9 = ltorch.neg(t33)\n"));
}

TEST_F(CommandLine, AMissingFileExits3) {
  const Ran ran = run({"show", "nowhere.txt"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_THAT(ran.err, HasSubstr("No such file"));
}

TEST_F(CommandLine, AProgramThatCannotRunExits4) {
  const fs::path file = folder_ / "unknown.txt";
  std::ofstream(file)
      << "def computation(a):\n  # a: \"cpu f32[2]\"\n  t0 = nobody.knows(a)\n  return t0\n";
  const Ran ran = run({"run", file.string()});
  EXPECT_EQ(ran.exit, 4);
  EXPECT_THAT(ran.err, HasSubstr("nobody.knows"));
}

TEST_F(CommandLine, OutOfMemoryOrTimeEstablishesNothing) {
  for (const std::vector<std::string>& limit :
       std::vector<std::vector<std::string>>{{"--max-memory", "8"}, {"--timeout", "1e-9"}}) {
    for (std::vector<std::string> words : std::vector<std::vector<std::string>>{
             {"run", "lost_write.txt"}, {"compare", "lost_write.txt:0", "lost_write.txt:1"}}) {
      words.insert(words.end(), limit.begin(), limit.end());
      const Ran ran = run(words);
      EXPECT_EQ(ran.exit, 5) << words.front() << " " << limit.front() << "\n" << ran.err;
    }
  }
}

TEST_F(CommandLine, AnAvoidableCopyIsSaidByCheckAndIsAFindingOfAudit) {
  const Ran checked = run({"check", "issue_1109.txt"});
  EXPECT_EQ(checked.exit, 0);
  EXPECT_THAT(checked.out, HasSubstr("1 of 2 copies avoidable"));
  EXPECT_EQ(run({"audit", "issue_1109.txt:-1"}).exit, 1);
}

TEST_F(CommandLine, AFalseExpectationIsAFinding) {
  const Ran ran = run({"run", "lost_write.txt", "--expect", "x[0, 0] == 3.0"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("FAILS"));
}

TEST_F(CommandLine, OptionsMayStandBeforeTheCommand) {
  EXPECT_EQ(run({"--quiet", "info", "lost_write.txt"}).exit, 0);
}

TEST_F(CommandLine, AnOutputFileIsOverwrittenOnlyWithForce) {
  const std::string file = (folder_ / "after.txt").string();
  EXPECT_EQ(run({"functionalize", "lost_write.txt", "-o", file}).exit, 0);
  EXPECT_THAT(read(file), HasSubstr("Functionalize in-place ops"));
  const Ran refused = run({"functionalize", "lost_write.txt", "-o", file});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("would-overwrite"));
  EXPECT_EQ(run({"functionalize", "lost_write.txt", "-o", file, "--force"}).exit, 0);
}

TEST_F(CommandLine, AWrittenTraceLoadsAgain) {
  const std::string file = (folder_ / "after.txt").string();
  ASSERT_EQ(run({"functionalize", "lost_write.txt", "-o", file}).exit, 0);
  EXPECT_EQ(run({"compare", "lost_write.txt:3", file}).exit, 1);
}

TEST_F(CommandLine, TheResultIsOnStandardOutputAndNothingElse) {
  const Ran ran = run({"dot", "lost_write.txt"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, StartsWith("digraph"));
  EXPECT_THAT(ran.err, HasSubstr("phase 0 of 9"));
}

TEST_F(CommandLine, QuietLeavesNotesOut) {
  EXPECT_THAT(run({"dot", "-q", "lost_write.txt"}).err, IsEmpty());
}

TEST_F(CommandLine, EveryJsonAnswerIsOneObjectWithItsSchema) {
  const std::vector<std::vector<std::string>> commands = {
      {"check", "lost_write.txt"},
      {"audit", "lost_write.txt"},
      {"info", "lost_write.txt"},
      {"show", "lost_write.txt"},
      {"list", "lost_write.txt"},
      {"diff", "lost_write.txt:3", "lost_write.txt:4"},
      {"paste", "issue_body.md"},
      {"functionalize", "lost_write.txt"},
      {"pass", "dead_code", "lost_write.txt"},
      {"run", "lost_write.txt"},
      {"compare", "lost_write.txt:0", "lost_write.txt:-1"},
      {"try", "drop line 18", "lost_write.txt"},
      {"explain", "lost_write.txt:238"},
      {"explain", "lost_write.txt", "--pass", "wrap_return"},
      {"explain", "lost_write.txt", "--pass", "wrap_return", "--step", "1"},
      {"run", "nowhere.txt"},
      {"check", "nowhere.txt"},
      {"run", "lost_write.txt", "--max-memory", "8"},
      {"check", "lost_write.txt", "--alias", "nonsense"},
      {"explain", "lost_write.txt::nothing"},
      {"version"},
  };
  for (std::vector<std::string> words : commands) {
    const std::string verb = words.front();
    words.emplace_back("--json");
    const Ran ran = run(words);
    const auto json = nlohmann::json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << verb << "\n" << ran.out << ran.err;
    EXPECT_EQ(json.value("schema", ""), "thunderglass." + verb + "/1") << verb;
  }
}

std::vector<std::string> first_words(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view line : split_lines(text))
    words.emplace_back(line.substr(0, line.find(' ')));
  return words;
}

TEST_F(CommandLine, ABatchAnswersInInputOrderWhateverTheWorkers) {
  const Ran one =
      run({"check", "lost_write.txt", "issue_1109.txt", "nowhere.txt", "move_copy.txt", "-j1"});
  const Ran many =
      run({"check", "lost_write.txt", "issue_1109.txt", "nowhere.txt", "move_copy.txt", "-j4"});
  EXPECT_EQ(one.out, many.out);
  EXPECT_THAT(first_words(one.out),
              ElementsAre("lost_write.txt", "issue_1109.txt", "nowhere.txt", "move_copy.txt", "4"));
}

TEST_F(CommandLine, AFileThatFailsCostsOnlyItselfAndTheWorstCodeCounts) {
  const Ran ran = run({"check", "nowhere.txt", "issue_1109.txt"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_THAT(ran.out, HasSubstr("issue_1109.txt  SAME"));
  EXPECT_THAT(ran.out, HasSubstr("2 files: 1 unreadable, 1 same"));
}

TEST_F(CommandLine, ExitZeroReportsFindingsOnly) {
  EXPECT_EQ(run({"check", "lost_write.txt", "issue_1109.txt"}).exit, 1);
  EXPECT_EQ(run({"check", "lost_write.txt", "issue_1109.txt", "--exit-zero"}).exit, 0);
}

TEST_F(CommandLine, AQuotedGlobIsExpanded) {
  const Ran ran = run({"info", "seed/raw-copy-t*.txt"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, HasSubstr("seed/raw-copy-three-return-arg.txt"));
  EXPECT_THAT(ran.out, HasSubstr("seed/raw-copy-twice.txt"));
  EXPECT_THAT(ran.out, HasSubstr("2 files: 2 read"));
}

TEST_F(CommandLine, ABatchInJsonIsOneObjectALine) {
  const Ran ran = run({"info", "lost_write.txt", "nowhere.txt", "--json"});
  std::vector<std::string> schemas;
  for (const std::string_view line : split_lines(ran.out)) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << line;
    schemas.push_back(json.value("schema", ""));
  }
  EXPECT_THAT(schemas,
              ElementsAre("thunderglass.info/1", "thunderglass.info/1", "thunderglass.summary/1"));
}

TEST_F(CommandLine, TheSameSeedGivesTheSameBytes) {
  EXPECT_EQ(run({"run", "lost_write.txt", "--seed", "5"}).out,
            run({"run", "lost_write.txt", "--seed", "5"}).out);
  EXPECT_NE(run({"run", "lost_write.txt", "--seed", "5"}).out,
            run({"run", "lost_write.txt", "--seed", "6"}).out);
}

TEST_F(CommandLine, AFusionRegionIsAProgramOfItsOwn) {
  const Ran ran = run({"show", "fusion_region.txt::nvFusion0"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, HasSubstr("def nvFusion0(cache, row):"));
  EXPECT_THAT(ran.out, Not(HasSubstr("def computation")));
}

TEST_F(CommandLine, ALineOfTheFileTellsItsPhase) {
  const Ran ran = run({"explain", "lost_write.txt:238"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, StartsWith("line 238  copy_(t0, x)"));
}

// The README's session is what a reader will paste: it must say what the program says.
TEST_F(CommandLine, TheReadmeShowsWhatReallyHappens) {
  const std::string readme = read(fs::path(TG_SOURCE_DIR) / "README.md");
  const std::size_t begin = readme.find("```console\n");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = readme.find("```\n", begin + 4);
  const std::string session = readme.substr(begin, end - begin);
  std::string now = "```console\n";
  for (const std::string_view line : split_lines(session)) {
    constexpr std::string_view kPrompt = "$ thunderglass ";
    if (!line.starts_with(kPrompt)) continue;
    const auto words = split_script_line(line.substr(kPrompt.size())).commands;
    ASSERT_EQ(words.size(), 1U);
    now += std::string(line) + "\n" + run(words.front()).out;
  }
  EXPECT_EQ(session, now);
}

TEST_F(CommandLine, ListsAnswerInJsonUnderTheirOwnSchemas) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{"list", "argument_names.txt", "--arguments"}, "thunderglass.arguments/1"},
      {{"list", "fusion_region.txt", "--copies"}, "thunderglass.copies/1"},
      {{"audit", "issue_1109.txt:-1", "--proposal"}, "thunderglass.audit-proposal/1"},
  };
  for (auto [words, schema] : commands) {
    words.emplace_back("--json");
    const auto json = nlohmann::json::parse(run(words).out, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << schema;
    EXPECT_EQ(json.value("schema", ""), schema);
  }
}

TEST_F(CommandLine, AFailureInJsonHasItsDiagnostics) {
  const Ran ran = run({"run", "lost_write.txt", "--max-memory", "8", "--json"});
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["exit"], 5);
  ASSERT_EQ(json["diagnostics"].size(), 1U);
  EXPECT_EQ(json["diagnostics"][0]["code"], "memory-limit");
}

TEST_F(CommandLine, CopiesAreListedWhereverTheyStand) {
  EXPECT_THAT(run({"list", "seed/batch-norm-running-stats.txt", "--copies"}).out,
              HasSubstr("copy in batch_norm  t15 = prims.copy_(t14, mean)"));
  EXPECT_THAT(run({"list", "fusion_region.txt", "--copies"}).out,
              HasSubstr("copy in nvFusion0  t1 = prims.copy_(t0, cache)"));
}

TEST_F(CommandLine, StatementsAreCountedInOneWay) {
  EXPECT_THAT(run({"run", "seed/inplace-chain.txt"}).out, HasSubstr(": 4 statements on cpu"));
  const auto info = nlohmann::json::parse(run({"info", "seed/inplace-chain.txt", "--json"}).out);
  EXPECT_EQ(info["phases"][0]["statements"], 4);
  const auto ran = nlohmann::json::parse(run({"run", "seed/inplace-chain.txt", "--json"}).out);
  EXPECT_EQ(ran["statements"], 4);
}

TEST_F(CommandLine, TolerancesAreFiniteAndNotNegative) {
  for (const char* bad : {"nan", "inf", "-1", "-1e-3", "x", "out[0]:nan"}) {
    const Ran ran = run({"compare", "lost_write.txt:3", "lost_write.txt:4", "--rtol", bad});
    EXPECT_EQ(ran.exit, 2) << bad;
    EXPECT_THAT(ran.err, HasSubstr(fmt::format("found '{}'", bad)));
  }
  EXPECT_EQ(run({"run", "lost_write.txt", "--seed", "-1"}).exit, 2);
  EXPECT_THAT(run({"run", "lost_write.txt", "--seed", "-1"}).err, HasSubstr("found '-1'"));
}

TEST_F(CommandLine, AWriteThatFailsIsNamed) {
  const Ran ran = run({"show", "lost_write.txt", "-o", "/nowhere/at/all"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_THAT(ran.err, HasSubstr("thunderglass: cannot write '/nowhere/at/all': No such file or "
                                 "directory [cannot-write]"));
}

// Standard output belongs to the process, so these run the program itself.
TEST_F(CommandLine, StandardOutputThatIsFullIsAnError) {
  const std::string said = (folder_ / "err").string();
  const int status =
      std::system(fmt::format("{} version > /dev/full 2> {}", TG_BINARY, said).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(read(said),
            "thunderglass: cannot write standard output: No space left on device [cannot-write]\n");
}

TEST_F(CommandLine, StandardInputHasPhasesToo) {
  const std::string out = (folder_ / "out").string();
  const int status = std::system(
      fmt::format("{} audit -:-1 < issue_1109.txt > {} 2> /dev/null", TG_BINARY, out).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(read(out), StartsWith("FINDINGS  2 copies, 64 B, 1 can go (32 B)  -:6\n"));
}

TEST_F(CommandLine, APhaseThatIsNotThereIsNamedWithThoseThatAre) {
  const Ran ran = run({"run", "lost_write.txt:12"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("has no phase '12'"));
  EXPECT_THAT(ran.err, HasSubstr("0 acquired"));
}

}  // namespace
}  // namespace tg
