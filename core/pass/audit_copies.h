// audit_copies: which copies are needed, and what forces them. Our own sound audit: storage-level
// backward liveness, so a copy is only called removable when no run can tell that it is gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/pass/rewriter.h"

namespace tg {

// The closed list. Every copy gets exactly one answer: the first in this order that holds.
enum class CopyAnswer : std::uint8_t {
  NoOp,  // source and destination are the same elements of the same storage, or there are none
  NeededByArgument,      // the caller sees the written bytes: they are an argument's, and nothing
                         // overwrites them
  NeededSeparateBuffer,  // it is read later, and before that source or destination changes: it
                         // needs its own buffer
  LayoutOrDtypeChange,   // it is read later, and the source holds the value in another dtype, shape
                         // or layout
  NeededByLaterRead,     // a later statement, or the return, reads the written bytes
  MayAliasUnknown,       // kept because strides or sharing are not known: something might read it
  OverwrittenLater,  // every written byte is overwritten, or never looked at again, before anything
                     // reads it
  NeverRead,  // nothing reads or overwrites the written bytes, and the caller cannot see them
};
// "needed_by_argument"
std::string_view answer_text(CopyAnswer answer);
// The sentence behind the answer, for `help`.
std::string_view answer_help(CopyAnswer answer);
const std::vector<CopyAnswer>& all_copy_answers();

struct CopyFinding {
  std::vector<std::uint32_t> path;  // {3, 1}: sub-statement 1 of statement 3
  CopySite::Form form = CopySite::Form::Statement;
  CopyAnswer answer = CopyAnswer::NeededByArgument;
  std::string reason;                  // full sentence: names, lines
  SourceRange at;                      // of the copy
  std::string text;                    // "prims.copy_(t0, x)", without "OUT ="
  SourceRange reader;                  // the read that forces it, line 0 if none
  SourceRange writer;                  // the write that makes it dead, line 0 if none
  std::optional<std::uint64_t> bytes;  // moved, when the destination's type is known
  std::string source, destination;     // names; the source is empty for a number
  std::string storage;                 // label of the storage written: "x"
  bool removable = false;              // removing it changes nothing that can be observed
  bool at_depth_0 = true;  // false: only a note, the text of a composite or region stays
  std::optional<std::string>
      stale;  // "the newest x is t2": the source is not the newest value of its variable
};

// Findings of all copies in execution order; copies after `return` come last. `earlier` is the
// phase before functionalization, if there is one: it tells which value of an argument is the
// newest.
std::vector<CopyFinding> audit(const Trace& trace, const ArgumentFacts& facts,
                               const Trace* earlier = nullptr);
// The same for an analysis that others ask too (find_hazards).
std::vector<CopyFinding> audit(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
                               const Trace* earlier = nullptr);

// One line: "line 33 copy_(t0, x) 16 B: needed_by_argument, but stale: the newest x is t2".
std::string one_line(const CopyFinding& finding);

// The pass. Rules: `dead-copy` and `self-copy` erase a copy at depth 0 (readers of its result read
// the destination instead); `kept`, `inside` and `after-return` are notes.
PassResult audit_copies(const Trace& before, PassContext& context);

}  // namespace tg
