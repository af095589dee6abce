// Addresses: FILE[:phase[:name-or-line]], the same on the command line and in the REPL, where the
// file is implied (":1:t7", "t7").
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/listing.h"
#include "app/session.h"

namespace tg {

// What an address means when it names no phase.
enum class DefaultPhase { FirstComputation, LastComputation, Current };

// An address resolved: a document, one of its programs, perhaps a place in it.
struct Target {
  std::shared_ptr<const Document> document;
  std::size_t phase = 0;
  bool names_phase = false;  // the user said which
  std::string place;         // "t7", "31", "31-40"; empty: the whole program
  std::shared_ptr<const Trace>
      region;         // a fusion region as a trace of its own ("FILE:2:nvFusion0")
  std::string shown;  // the address as a user would write it: "trace.txt:1"

  [[nodiscard]] const Trace& trace() const { return region ? *region : document->trace(phase); }
  [[nodiscard]] const TraceFile& file() const { return *document->file; }
  [[nodiscard]] const Phase& whole_phase() const { return document->phases[phase]->phase; }
  [[nodiscard]] bool from_file() const { return document->phases[phase]->from_file; }
  // How its lines are counted.
  [[nodiscard]] Numbering numbering() const {
    if (!from_file()) return Numbering::Printed;
    return region ? Numbering::Statements : Numbering::File;
  }
};

// In the REPL the file is implied: what a bare word such as "2" means there.
enum class Bare { Phase, Place };

// Resolves and, when several programs were possible, says in a note which one was taken.
// Diagnostics: cannot-read, no-trace-found, bad-address.
Result<Target> resolve(Call& call, const std::string& address, DefaultPhase default_phase,
                       Bare bare = Bare::Phase);

// The target of a command with at most one address: its operand, or the document of the REPL.
Result<Target> resolve_only(Call& call, DefaultPhase default_phase, Bare bare = Bare::Phase);

// The index of a phase by number ("-1" is the last), "initial", "last", or the beginning of its
// label.
std::optional<std::size_t> find_phase(const Document& document, std::string_view text);

// The first computation before the target's phase, null if there is none: it tells which value of
// an argument is the newest.
const Trace* earlier_computation(const Target& target);

// The phase of a file that this line belongs to; empty when it stands before all of them.
std::optional<std::size_t> phase_with_line(const Document& document, std::uint32_t line);

// A fusion region as a trace: the call's arguments are its parameters, its sub-statements the body,
// its outputs the return. Empty when the program has no statement with that callee.
std::optional<Trace> region_trace(const Trace& trace, std::string_view callee);

}  // namespace tg
