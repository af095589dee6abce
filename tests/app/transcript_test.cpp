// Golden transcripts: a REPL session as text. Lines after "> " are fed to the REPL, what comes
// between must be what it says. UPDATE_GOLDEN=1 rewrites the files; review the difference.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/repl.h"
#include "core/base/text.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

const fs::path& transcripts() {
  static const fs::path folder = fs::path(TG_SOURCE_DIR) / "tests/app/transcripts";
  return folder;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(transcripts())) {
    if (entry.path().extension() == ".txt") found.push_back(entry.path().stem().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The session again, with what the REPL says now.
std::string played(const std::string& transcript) {
  Session session;
  session.interactive = true;
  session.color = "never";
  CaptureSink sink;
  Repl repl(session, sink);
  std::string out;
  bool in_header = true;
  for (const std::string_view line : split_lines(transcript)) {
    if (line.starts_with("> ") || line == ">") {
      in_header = false;
      out += std::string(line) + "\n";
      sink.all.clear();
      repl.feed(line.size() > 2 ? line.substr(2) : "");
      out += sink.all;
      if (repl.last_exit() != ExitCode::Done && !repl.in_paste()) {
        out += fmt::format("[exit {}]\n", static_cast<int>(repl.last_exit()));
      }
    } else if (in_header) {
      out += std::string(line) + "\n";
    }
  }
  sink.all.clear();
  repl.end();
  return out + sink.all;
}

class Transcript : public testing::TestWithParam<std::string> {};

TEST_P(Transcript, IsWhatTheReplSays) {
  const fs::path path = transcripts() / (GetParam() + ".txt");
  const std::string expected = read(path);
  ASSERT_TRUE(expected.starts_with("# ")) << "the first line is a sentence about the idea";
  // Addresses in transcripts are relative to the sample traces.
  fs::current_path(fs::path(TG_SOURCE_DIR) / "assets/traces");
  const std::string now = played(expected);
  const char* update = std::getenv("UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1" && now != expected) {
    std::ofstream(path, std::ios::binary) << now;
    GTEST_SKIP() << "rewritten: " << path;
  }
  EXPECT_EQ(expected, now);
}

INSTANTIATE_TEST_SUITE_P(All, Transcript, testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace tg
