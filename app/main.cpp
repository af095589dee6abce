#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "app/cli.h"
#include "app/session.h"

int main(int argc, char** argv) {
  // `thunderglass show x | head` ends quietly with the pipe.
  std::signal(SIGPIPE, SIG_DFL);
  tg::StreamSink sink;
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const tg::ExitCode exit = tg::run_command_line(words, sink);
    if (sink.write_error() == 0) return static_cast<int>(exit);
    std::fprintf(stderr, "thunderglass: cannot write standard output: %s [cannot-write]\n",
                 std::strerror(sink.write_error()));
    return static_cast<int>(tg::exit_code_of(tg::DiagnosticCode::CannotWrite));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thunderglass: internal error: %s\n", error.what());
    return static_cast<int>(tg::ExitCode::Internal);
  }
}
