#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "app/cli.h"

int main(int argc, char** argv) {
  // `thunderglass show x | head` ends quietly with the pipe.
  std::signal(SIGPIPE, SIG_DFL);
  tg::StreamSink sink;
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    return static_cast<int>(tg::run_command_line(words, sink));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thunderglass: internal error: %s\n", error.what());
    return static_cast<int>(tg::ExitCode::Internal);
  }
}
