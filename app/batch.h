// Many files at once: globs, workers, one line (or JSON object) a file in input order, one summary.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/command.h"

namespace tg {

// What became of one file.
struct FileOutcome {
  ExitCode exit = ExitCode::Done;
  std::string verdict;  // one word for the summary: "same", "different", "unreadable"
  std::string line;     // the result without the file's name, one line, no newline
  std::string json;     // one object on one line, when JSON was asked for
  std::string notes;    // diagnostics
};

// Works on one file with its own Session; called from worker threads.
using FileJob =
    std::function<FileOutcome(const std::string& address, Session& session, Call& call)>;

// Operands with globs expanded: a quoted glob or one that the shell left alone. "dumps/*.txt:-1"
// works. A glob that matches nothing stays as it is, so that it is reported.
std::vector<std::string> expand_globs(const std::vector<std::string>& operands);

// Is this more than one file?
bool is_batch(const std::vector<std::string>& operands);

// Runs the job on every file, at most --jobs at once; prints lines in order as they become known,
// then the summary. The exit code is the largest of the files' (zero under --exit-zero).
CommandResult run_batch(Call& call, const std::vector<std::string>& addresses, const FileJob& job);

}  // namespace tg
