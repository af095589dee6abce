#include "app/repl.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/line_editor.h"
#include "app/paste_text.h"
#include "app/script.h"
#include "core/base/text.h"

namespace tg {

bool stops_script(ExitCode exit) {
  return exit != ExitCode::Done && exit != ExitCode::Finding;
}

void Repl::record(ExitCode exit) {
  last_exit_ = exit;
  worst_exit_ = std::max(worst_exit_, exit);
}

void Repl::feed(std::string_view line, std::stop_token stop) {
  if (pasting_ == Pasting::UntilDot) {
    if (trim(line) == ".") {
      finish_paste(stop);
    } else {
      pasted_ += std::string(line) + "\n";
    }
    return;
  }
  if (pasting_ == Pasting::WhileTrace) {
    if (continues_trace_text(line)) {
      blank_after_ = saw_return_ && trim(line).empty();
      if (trim(line).starts_with("return")) saw_return_ = true;
      pasted_ += std::string(line) + "\n";
      return;
    }
    finish_paste(stop);
  }
  if (pending_.empty() && begins_trace_text(line)) {
    pasting_ = Pasting::WhileTrace;
    pasted_ = std::string(line) + "\n";
    saw_return_ = blank_after_ = false;
    return;
  }
  run_line(line, stop);
}

void Repl::end(std::stop_token stop) {
  if (in_paste()) finish_paste(stop);
  if (!pending_.empty()) {
    sink_.note("thunderglass: a quote is not closed\n");
    pending_.clear();
    record(ExitCode::Usage);
  }
}

void Repl::run_line(std::string_view line, std::stop_token stop) {
  const std::string whole =
      pending_.empty() ? std::string(line) : pending_ + "\n" + std::string(line);
  const ScriptLine parsed = split_script_line(whole);
  if (parsed.open_quote) {
    pending_ = whole;
    return;
  }
  pending_.clear();
  if (trim(whole).empty() && !repeat_.empty()) {
    const std::string again = repeat_;
    run_line(again, stop);
    return;
  }
  for (const auto& typed : parsed.commands) {
    // A command line copied from a shell or a manual works here too.
    const bool from_shell = typed.size() > 1 && typed.front() == "thunderglass";
    const std::vector<std::string> words(typed.begin() + (from_shell ? 1 : 0), typed.end());
    const CommandInfo* command = find_command(words.front(), true);
    const bool steps = command != nullptr && (command->name == "step" || command->name == "back" ||
                                              command->name == "next");
    repeat_ = steps ? fmt::format("{}", fmt::join(words, " ")) : "";
    const CommandResult result = execute_words(session_, words, sink_, stop);
    record(result.exit);
    if (result.wants_text) {
      pasting_ = Pasting::UntilDot;
      pasted_.clear();
    }
    if (result.leave) left_ = true;
    if (left_ || stops_script(result.exit)) return;
  }
}

void Repl::finish_paste(std::stop_token stop) {
  pasting_ = Pasting::No;
  record(load_pasted_text(session_, sink_, std::move(pasted_), stop));
  pasted_.clear();
}

namespace {

constexpr std::string_view kPrompt = "tg> ";
constexpr std::string_view kMorePrompt = "... ";

// Is more input waiting, as when text is being pasted?
bool input_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  constexpr int kPasteGapMilliseconds = 80;
  return poll(&input, 1, kPasteGapMilliseconds) > 0;
}

ExitCode run_terminal(Session& session, Repl& repl, Interrupts& interrupts) {
  LineEditor editor(session);
  while (!repl.left()) {
    if (repl.paste_looks_complete() && !input_waits()) {
      repl.end(interrupts.begin());
      interrupts.end();
      continue;
    }
    const bool more = repl.in_paste() || repl.in_quote();
    const auto line =
        editor.read(more ? kMorePrompt : kPrompt,
                    repl.in_paste() ? LineEditor::Remember::No : LineEditor::Remember::Yes);
    if (!line) {
      if (!repl.in_paste()) {
        std::fputc('\n', stdout);
        break;
      }
      repl.end(interrupts.begin());
    } else {
      repl.feed(*line, interrupts.begin());
    }
    interrupts.end();
  }
  return ExitCode::Done;
}

ExitCode run_script(Sink& sink, Repl& repl, Interrupts& interrupts, const ReplOptions& options) {
  std::string line;
  while (!repl.left() && std::getline(std::cin, line)) {
    if (options.echo) sink.result(fmt::format("> {}\n", line));
    repl.feed(line, interrupts.begin());
    interrupts.end();
    if (!options.keep_going && stops_script(repl.last_exit())) return repl.worst_exit();
  }
  repl.end(interrupts.begin());
  interrupts.end();
  return repl.worst_exit();
}

}  // namespace

ExitCode run_repl(Session& session, Sink& sink, const ReplOptions& options) {
  Interrupts interrupts;
  session.interactive = true;
  Repl repl(session, sink);
  if (!options.file.empty()) {
    const auto result = execute_words(session, {"load", options.file}, sink, interrupts.begin());
    interrupts.end();
    if (stops_script(result.exit) && isatty(STDIN_FILENO) == 0) return result.exit;
  }
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1)
    return run_terminal(session, repl, interrupts);
  return run_script(sink, repl, interrupts, options);
}

}  // namespace tg
