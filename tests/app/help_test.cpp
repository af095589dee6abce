// help knows every word that the program says.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/analysis/findings.h"
#include "core/pass/audit_copies.h"
#include "core/pass/pass.h"
#include "tests/app/command_line.h"

namespace tg {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

using Help = CommandLine;

TEST_F(Help, KnowsEveryFindingAnswerPassAndCode) {
  std::vector<std::string> words;
  for (const FindingCode code : all_finding_codes()) words.emplace_back(finding_text(code));
  for (const CopyAnswer answer : all_copy_answers()) words.emplace_back(answer_text(answer));
  for (const PassInfo& pass : all_passes()) words.emplace_back(pass.name);
  for (const DiagnosticCode code : all_diagnostic_codes()) words.emplace_back(code_text(code));
  for (const std::string& word : words) {
    const Ran ran = run({"help", word});
    EXPECT_EQ(ran.exit, 0) << word;
    EXPECT_THAT(ran.out, StartsWith(word));
  }
}

// Rules are names in the sources of the passes; the table that `help` reads must have them all.
TEST_F(Help, KnowsEveryRuleOfEveryPass) {
  const std::regex literal("(?:step|note)\\(\\s*\"([a-z-]+)\"");
  const std::regex chosen(
      "\\?\\s*\"([a-z]+-[a-z-]+)\"\\s*:\\s*(?:executed )?[^;]{0,80}?\"([a-z]+-[a-z-]+)\"");
  std::set<std::string> rules;
  for (const auto& entry : fs::directory_iterator(fs::path(TG_SOURCE_DIR) / "core/pass")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), literal), end; it != end; ++it) {
      rules.insert((*it)[1]);
    }
    for (std::sregex_iterator it(text.begin(), text.end(), chosen), end; it != end; ++it) {
      rules.insert((*it)[1]);
      rules.insert((*it)[2]);
    }
  }
  EXPECT_GT(rules.size(), 30U);
  for (const std::string& rule : rules) EXPECT_EQ(run({"help", rule}).exit, 0) << rule;
}

TEST_F(Help, KnowsTheRulesThatStepsReallyHave) {
  const std::regex step("(?:step|note) +[0-9]+  ([a-z-]+)");
  std::set<std::string> rules;
  for (const auto& entry : fs::directory_iterator("seed")) {
    for (const PassInfo& pass : all_passes()) {
      const std::string text =
          run({"pass", std::string(pass.name), entry.path().string(), "--steps"}).out;
      for (std::sregex_iterator it(text.begin(), text.end(), step), end; it != end; ++it) {
        rules.insert((*it)[1]);
      }
    }
  }
  EXPECT_TRUE(rules.contains("dead-copy"));
  for (const std::string& rule : rules) EXPECT_EQ(run({"help", rule}).exit, 0) << rule;
}

TEST_F(Help, SaysWhichOfSeveralMeaningsIsAskedFor) {
  EXPECT_THAT(run({"help", "functionalize"}).out, HasSubstr("Usage: thunderglass functionalize"));
  EXPECT_THAT(run({"help", "pass", "functionalize"}).out,
              HasSubstr("Reproduces Thunder's functionalize_inplace_ops."));
}

TEST_F(Help, AnUnknownWordIsAnsweredWithTheNearestOne) {
  const Ran ran = run({"help", "keep-one-copi"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean 'keep-one-copy'?"));
}

TEST_F(Help, TheExitCodeOfCheckIsDocumented) {
  EXPECT_THAT(run({"help", "check"}).out,
              HasSubstr("copy that could go is said in the first line"));
  EXPECT_THAT(run({"help", "--man"}).out, HasSubstr("A copy that could go"));
}

}  // namespace
}  // namespace tg
