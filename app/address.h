// Addresses: FILE[:phase[:name-or-line]], the same on the command line and in the REPL, where the
// file is implied (":1:t7", "t7").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/listing.h"
#include "app/session.h"
#include "core/analysis/alias_analysis.h"

namespace tg {

// An address resolved: a document, one of its programs, perhaps a place in it.
struct Target {
  std::shared_ptr<const Document> document;
  std::size_t phase = 0;
  bool names_phase = false;  // the user said which
  std::string place;         // "t7", "31", "31-40"; empty: the whole program
  std::shared_ptr<const Trace>
      region;              // a fusion region as a trace of its own ("FILE:2:nvFusion0")
  std::string file_shown;  // the file as the user named it, empty when it is implied
  std::string shown;       // the address as a user would write it: "trace.txt:1", ":1"

  [[nodiscard]] const Trace& trace() const { return region ? *region : document->trace(phase); }
  [[nodiscard]] const TraceFile& file() const { return *document->file; }
  [[nodiscard]] const Phase& whole_phase() const { return document->phases[phase]->phase; }
  [[nodiscard]] bool from_file() const { return document->phases[phase]->from_file; }
  // The same for sentences: "trace.txt:1", "phase 1 (acquired)".
  [[nodiscard]] std::string label() const;
  // How its lines are counted.
  [[nodiscard]] Numbering numbering() const {
    if (!from_file()) return Numbering::Printed;
    return region ? Numbering::Statements : Numbering::File;
  }
};

// In the REPL the file is implied: what a bare word such as "2" means there.
enum class Bare { Phase, Place };

// Resolves and, when several programs were possible, says in a note which one was taken: without a
// phase the first computation of a file, in the REPL the current program.
// Diagnostics: cannot-read, no-trace-found, bad-address.
Result<Target> resolve(Call& call, const std::string& address, Bare bare = Bare::Phase);

// The same for commands that work on whole programs: an address with a place is a bad-address.
Result<Target> resolve_program(Call& call, const std::string& address);

// The same for commands that look at a whole file: the phase is the first one to look at, 0 unless
// it is named, and nothing needs to be said about it.
Result<Target> resolve_file(Call& call, const std::string& address);

// The target of a command with at most one address: its operand, or the document of the REPL.
Result<Target> resolve_only(Call& call, Bare bare = Bare::Phase);
Result<Target> resolve_only_program(Call& call);

// The programs of a document that define this name.
std::vector<std::size_t> phases_with_name(const Document& document, std::string_view name);

// no-such-name for a name or line that the program does not have: the phases that have it, or the
// nearest name.
Diagnostic unknown_name(const Target& target, std::string_view name);

// The index of a phase by number ("-1" is the last), "initial", "last", or the beginning of its
// label.
std::optional<std::size_t> find_phase(const Document& document, std::string_view text);

// The first computation before the target's phase, null if there is none: it tells which value of
// an argument is the newest.
const Trace* earlier_computation(const Target& target);

// What --alias options say about the target's arguments. Dead code elimination drops the type of an
// argument that nobody reads: it is taken from the first phase that has it.
Result<ArgumentFacts> alias_facts(const Target& target, const std::vector<std::string>& options);
// The target's trace with those types.
Trace with_argument_types(const Target& target);

// The phase of a file that this line belongs to; empty when it stands before all of them.
std::optional<std::size_t> phase_with_line(const Document& document, std::uint32_t line);

// A fusion region as a trace: the call's arguments are its parameters, its sub-statements the body,
// its outputs the return. Empty when the program has no statement with that callee.
std::optional<Trace> region_trace(const Trace& trace, std::string_view callee);

}  // namespace tg
