// Repl: commands line by line against one session, whoever types them: a person, a script, a test.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "app/command.h"
#include "app/session.h"

namespace tg {

class Repl {
 public:
  Repl(Session& session, Sink& sink) : session_(session), sink_(sink) {}

  // One line as typed. Commands run at once; quotes and pasted traces may span lines.
  void feed(std::string_view line, std::stop_token stop = {});
  // No more lines: an open paste is read now, an open quote is an error.
  void end(std::stop_token stop = {});

  [[nodiscard]] bool in_paste() const { return pasting_ != Pasting::No; }
  // A pasted trace has come to a return and a blank line: probably nothing more will come.
  [[nodiscard]] bool paste_looks_complete() const {
    return in_paste() && saw_return_ && blank_after_;
  }
  [[nodiscard]] bool in_quote() const { return !pending_.empty(); }
  [[nodiscard]] bool left() const { return left_; }
  [[nodiscard]] ExitCode last_exit() const { return last_exit_; }
  [[nodiscard]] ExitCode worst_exit() const { return worst_exit_; }

 private:
  enum class Pasting { No, UntilDot, WhileTrace };
  void run_line(std::string_view line, std::stop_token stop);
  void finish_paste(std::stop_token stop);
  void record(ExitCode exit);

  Session& session_;
  Sink& sink_;
  Pasting pasting_ = Pasting::No;
  std::string pasted_;
  bool saw_return_ = false;
  bool blank_after_ = false;
  std::string pending_;  // a line with an open quote
  std::string repeat_;   // what an empty line repeats
  bool left_ = false;
  ExitCode last_exit_ = ExitCode::Done;
  ExitCode worst_exit_ = ExitCode::Done;
};

// An error stops a script; a finding (exit code 1) does not.
bool stops_script(ExitCode exit);

struct ReplOptions {
  std::string file;  // loaded first, if not empty
  bool keep_going = false;
  bool echo = false;
};

// The whole session on standard input: with line editing on a terminal, else as a script.
ExitCode run_repl(Session& session, Sink& sink, const ReplOptions& options);

}  // namespace tg
