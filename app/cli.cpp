#include "app/cli.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/help.h"
#include "app/interrupt.h"
#include "app/repl.h"
#include "app/session.h"

namespace tg {

ExitCode run_command_line(const std::vector<std::string>& given, Sink& sink) {
  std::vector<std::string> words = given;
  if (words.empty() || words.front() == "--help" || words.front() == "-h") {
    sink.result(overview(false));
    return ExitCode::Done;
  }
  if (words.front() == "--version" || words.front() == "-V") words.front() = "version";
  if (words.front() == "--list-passes" || words.front() == "--list-ops") {
    words.insert(words.begin(), "help");
  }
  if (words.front() == "--list-formats") {
    std::string pictures(info(Option::Format).argument);
    std::replace(pictures.begin(), pictures.end(), '|', ' ');
    sink.result(
        fmt::format("inputs   npy npz safetensors json\n"
                    "results  text, json with --json\n"
                    "report   html, markdown with --markdown\n"
                    "graphs   dot, and from 'render' {}\n",
                    pictures));
    return ExitCode::Done;
  }
  // `thunderglass --color=never check x`: options before the command belong to it.
  const auto command = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return !word.starts_with('-') && find_command(word, false) != nullptr;
  });
  if (command != words.end()) std::rotate(words.begin(), command, command + 1);

  Session session;
  if (words.front() == "repl") return execute_words(session, words, sink).exit;
  Interrupts interrupts;
  const CommandResult result = execute_words(session, words, sink, interrupts.begin());
  interrupts.end();
  return result.exit;
}

}  // namespace tg
