// What a check suggests to try next runs as it stands.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

using Suggestion = CommandLine;

// The commands behind "next:", one a line, as they would be pasted.
std::vector<std::string> suggested(const std::string& text) {
  std::vector<std::string> commands;
  bool begun = false;
  for (const std::string_view line : split_lines(text)) {
    begun = begun || line.starts_with("next:");
    if (begun) commands.emplace_back(trim(line.starts_with("next:") ? line.substr(5) : line));
  }
  return commands;
}

std::vector<std::string> words_of(const std::string& command) {
  const auto words = split_script_line(command).commands;
  return words.size() == 1 ? words.front() : std::vector<std::string>{};
}

TEST_F(Suggestion, EverySuggestionOfCheckRuns) {
  std::vector<std::vector<std::string>> checks;
  for (const char* folder : {".", "seed"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      checks.push_back({"check", entry.path().lexically_normal().string()});
    }
  }
  checks.push_back({"check", "aliased_arguments.txt", "--alias", "b=a[1:3]"});
  checks.push_back({"check", "seed/inplace-chain.txt", "--alias", "y=x"});
  checks.push_back({"check", "lost_write.txt:4"});
  checks.push_back({"check", "lost_write.txt:-1"});
  std::size_t count = 0;
  for (const std::vector<std::string>& check : checks) {
    for (const std::string& command : suggested(run(check).out)) {
      std::vector<std::string> words = words_of(command);
      ASSERT_GT(words.size(), 1U) << command;
      EXPECT_EQ(words.front(), "thunderglass") << command;
      words.erase(words.begin());
      const Ran ran = run(words);
      EXPECT_THAT(ran.exit, testing::AnyOf(0, 1, 4, 5)) << command << "\n" << ran.err;
      ++count;
    }
  }
  EXPECT_GT(count, checks.size());
}

TEST_F(Suggestion, APathWithSpacesIsQuoted) {
  const std::string path = write("a file's name.txt", read("lost_write.txt"));
  const std::vector<std::string> commands = suggested(run({"check", path}).out);
  ASSERT_FALSE(commands.empty());
  for (const std::string& command : commands) {
    std::vector<std::string> words = words_of(command);
    ASSERT_GT(words.size(), 1U) << command;
    words.erase(words.begin());
    EXPECT_LE(run(words).exit, 1) << command;
  }
}

std::string program(const std::string& first, const std::string& second) {
  return "def computation(a, b):\n  # a: \"" + first + "\"\n  # b: \"" + second +
         "\"\n  t0 = ltorch.neg(a)\n  return (t0,)\n";
}

TEST_F(Suggestion, OnlyTensorsOfOneTypeAreSuggestedAsAliases) {
  const auto next = [this](const std::string& first, const std::string& second) {
    return run({"check", write("p.txt", program(first, second))}).out;
  };
  EXPECT_THAT(next("cpu f32[2]", "cpu f32[2]"), HasSubstr("--alias b=a"));
  EXPECT_THAT(next("cpu f32[2]", "cpu f32[3]"), Not(HasSubstr("--alias")));
  EXPECT_THAT(next("cpu f32[2]", "cpu f64[2]"), Not(HasSubstr("--alias")));
  EXPECT_THAT(next("cpu f32[2]", "int 3"), Not(HasSubstr("--alias")));
}

TEST_F(Suggestion, NothingIsSuggestedWhenNothingWasChecked) {
  const Ran ran = run({"check", "lost_write.txt", "--alias", "nonsense"});
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(suggested(ran.err), IsEmpty());
}

}  // namespace
}  // namespace tg
