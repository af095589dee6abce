// Session: the history of one user's documents. A Document is immutable; each command that changes
// something makes a new one, so undo moves an index.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "core/ir/trace.h"
#include "core/pass/pass.h"

namespace tg {

// A pass that was run in this session.
struct PassRun {
  std::string pass;        // "functionalize"
  std::size_t before = 0;  // index of the phase it started from
  PassContext context;     // as it was run, for `skip`
  PassResult result;
};

// One program of a document: a phase of the file, or what a pass or an edit made.
struct DocumentPhase {
  Phase phase;
  bool from_file = true;
  std::string made_by;  // "functionalize", "try 'drop line 7'"; empty: read from the file
  std::optional<std::size_t> made_from;  // the phase that it was made from
};

// Where the user stands in the rewrites of the last pass: `done` of its steps are applied in phase
// `phase`.
struct Cursor {
  std::shared_ptr<const PassRun> run;
  std::size_t phase = 0;  // == run->before when the pass changed nothing
  std::size_t done = 0;
};

struct Document {
  std::shared_ptr<const TraceFile> file;  // null: nothing is loaded
  std::vector<std::shared_ptr<const DocumentPhase>> phases;
  std::size_t current = 0;  // the phase that bare names mean
  std::optional<Cursor> cursor;

  [[nodiscard]] const Trace& trace(std::size_t index) const { return phases[index]->phase.trace; }
};

// The document of a file as it was read.
std::shared_ptr<const Document> document_of(std::shared_ptr<const TraceFile> file);
// A copy with one more phase, which becomes the current one.
std::shared_ptr<Document> with_phase(const Document& document, DocumentPhase phase);

// The program that an address without a phase means: the first computation.
std::size_t first_computation(const Document& document);

class Session {
 public:
  Session();
  [[nodiscard]] const Document& document() const { return *history_[at_].document; }
  [[nodiscard]] std::shared_ptr<const Document> shared_document() const {
    return history_[at_].document;
  }
  void push(std::shared_ptr<const Document> next, std::string command);
  // The command that was undone; empty when there is nothing to undo. The first load stays.
  std::string undo();
  // Commands that made the documents up to the current one, oldest first.
  [[nodiscard]] std::vector<std::string> commands() const;

  // Reads a file once per session; a changed file is read again after `load`.
  Result<std::shared_ptr<const TraceFile>> file(const std::string& path, bool again = false);

  bool interactive = false;  // a REPL or script: a document may be implied
  std::string color = "auto";
  int source_depth = 0;  // of `source` within `source`

 private:
  struct Entry {
    std::shared_ptr<const Document> document;
    std::string command;
  };
  std::vector<Entry> history_;
  std::size_t at_ = 0;
  std::map<std::string, std::shared_ptr<const TraceFile>> files_;
};

// The exit code that a diagnostic asks for when it stops a command.
ExitCode exit_code_of(DiagnosticCode code);

// Shows the findings of reading a file (at most 20, errors first) unless there are none. True when
// one is an error.
bool show_reading_findings(Call& call, const TraceFile& file);

// Shows a diagnostic that stops the command, with the text it points into.
CommandResult stop_with(Call& call, const Diagnostic& diagnostic, std::string_view file = {},
                        std::string_view text = {});

}  // namespace tg
