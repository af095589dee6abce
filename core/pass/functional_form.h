// What functionalize_copies makes of a canonical trace, before it is put into steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/pass/statement_facts.h"

namespace tg {

// Why a write gets no copy back onto an argument, in the order in which Thunder gives up.
enum class NoCopyBack : std::uint8_t {
  HasCopyBack,
  NoProducer,  // no statement makes the destination (a setitem_ without a result)
  Factory,     // its maker reads no tensor
  NotAView,    // its maker is neither tagged in place nor a view: a temporary, or a flag form's
               // result
};

struct FunctionalStatement {
  BoundSymbolRef statement;
  std::uint32_t origin = 0;  // index into the canonical statements
  bool propagated = false;   // a reshape that carries a write on to views, bases or aliases
};

// An in-place statement that became a functional one.
struct FunctionalWrite {
  std::uint32_t origin = 0;      // index into the canonical statements
  NameId source = kNoName;       // the new value
  NameId destination = kNoName;  // what it was written to
  NameId argument = kNoName;     // where the value is copied back to; kNoName if nowhere
  NoCopyBack why = NoCopyBack::HasCopyBack;
  NameId gave_up_at = kNoName;         // the name whose maker ended the search for an argument
  std::vector<BoundSymbolRef> copies;  // [reshape,] copy_; empty when `argument` is kNoName
};

// Copies that are left at the end, in the order in which Thunder places them.
struct PlacedCopy {
  std::uint32_t write = 0;   // index into writes
  std::uint32_t anchor = 0;  // index into statements: it stands behind this one
  bool has_reader = false;   // the anchor reads the copied value; otherwise it makes it
};

struct FunctionalForm {
  std::vector<FunctionalStatement> statements;  // the program without copies
  StatementNames names;                         // of these statements
  std::vector<FunctionalWrite> writes;          // in order
  std::vector<PlacedCopy> copies;
  // The finished program: an index into `statements`, or behind it the copies of `copies[index]`.
  struct Placement {
    std::uint32_t index = 0;
    bool is_copy = false;
  };
  std::vector<Placement> order;
  BoundSymbolRef last;             // the last statement with copy results in place of their sources
  std::optional<PassError> error;  // its statement is an index into the canonical statements
};

// The finished program.
std::vector<BoundSymbolRef> finished_statements(const FunctionalForm& form);

// `names_of` are the names of the canonical statements.
FunctionalForm functional_form(Statements canonical, const StatementNames& names_of,
                               NameTable& names, const Trace& signature);

}  // namespace tg
