// The command line in a test: words in, exit code and streams out, among the sample traces.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/cli.h"

namespace tg {

struct Ran {
  int exit = 0;
  std::string out, err;
};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("tg-cli-{}", ::getpid());
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(std::filesystem::path(TG_SOURCE_DIR) / "assets/traces");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static Ran run(std::vector<std::string> words) {
    CaptureSink sink;
    words.emplace_back("--color=never");
    const ExitCode exit = run_command_line(words, sink);
    return {static_cast<int>(exit), sink.results, sink.notes};
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // A file in the test's own folder.
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

}  // namespace tg
