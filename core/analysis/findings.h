// Findings: what is suspicious about the storage behaviour of a trace, besides the copies' own
// audit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/alias_analysis.h"

namespace tg {

// Codes are stable; X(Enumerator, "code", severity, "what it means").
#define TG_FINDINGS(X)                                                                             \
  X(WriteAfterReturn, "write-after-return", Error,                                                 \
    "A write stands after `return` and is never executed: a lost write.")                          \
  X(CopyOntoIntermediate, "copy-onto-intermediate", Error,                                         \
    "A copy_ writes a temporary that stands for an argument (its value was already copied there, " \
    "or "                                                                                          \
    "it is a copy of the argument): the argument does not get the value.")                         \
  X(StaleCopy, "stale-copy", Error,                                                                \
    "A copy_ stores a value of a variable that is not its newest one.")                            \
  X(LeafWrite, "leaf-write", Error,                                                                \
    "An argument that is a leaf and requires grad is written in place: eager PyTorch refuses it, " \
    "and a compiled program gives gradients that mean nothing.")                                   \
  X(WriteAfterRead, "write-after-read", Warning,                                                   \
    "One fusion reads elements of a storage and writes them, and the read is not element by "      \
    "element: without an order between the two the reader may see new values.")                    \
  X(ReadAfterWriteInRegion, "read-after-write-in-region", Warning,                                 \
    "One fusion writes a storage and reads it afterwards: run line by line the read is new, as "   \
    "one "                                                                                         \
    "kernel on its inputs it is old.")                                                             \
  X(RefusedWrite, "refused-write", Error,                                                          \
    "PyTorch refuses the write: its target has several elements in one memory cell, or overlaps "  \
    "what "                                                                                        \
    "is read without being the same elements.")                                                    \
  X(WriteThroughOverlap, "write-through-overlap", Warning,                                         \
    "A write goes through a view in which several elements are one memory cell.")                  \
  X(RedundantAliasUpdate, "redundant-alias-update", Note,                                          \
    "An update_aliases has no write to its storages since the previous one.")                      \
  X(WholeCopyForPartialWrite, "whole-copy-for-partial-write", Note,                                \
    "A tensor is cloned, written in part and copied back as a whole; writing the part would do.")  \
  X(DeadWrite, "dead-write", Note,                                                                 \
    "An in-place operation writes a temporary that nothing reads afterwards.")                     \
  X(DuplicateDefinition, "duplicate-definition", Warning,                                          \
    "A name is bound twice. The later binding is another value, not a write to the earlier one.")  \
  X(OverlappingOperands, "overlapping-operands", Warning,                                          \
    "Source and destination of one write overlap without being the same elements, and PyTorch "    \
    "does not notice.")                                                                            \
  X(CloneNeeded, "clone-needed", Note,                                                             \
    "A clone keeps source and destination of a later copy_ apart that would overlap without it.")

enum class FindingCode {
#define TG_FINDING(name, text, severity, help) name,
  TG_FINDINGS(TG_FINDING)
#undef TG_FINDING
};
std::string_view finding_text(FindingCode code);
std::string_view finding_help(FindingCode code);
Severity finding_severity(FindingCode code);
const std::vector<FindingCode>& all_finding_codes();

struct Finding {
  FindingCode code;
  std::string message;              // full sentence: "write-after-read on the storage of `p`: ..."
  std::vector<std::uint32_t> path;  // of the statement it is about
  SourceRange at;
  std::vector<Note> notes;  // the other statements involved
};

// "line 7" of the user's file, or "statement 3" (1-based) when the text has no position.
std::string place_text(SourceRange at, const std::vector<std::uint32_t>& path);

// In textual order. `earlier` is the phase before functionalization, if there is one (for
// stale-copy).
std::vector<Finding> find_hazards(const Trace& trace, const DefUse& def_use,
                                  const AliasSets& aliases, const Trace* earlier = nullptr);
std::vector<Finding> find_hazards(const Trace& trace, const ArgumentFacts& facts = {},
                                  const Trace* earlier = nullptr);

}  // namespace tg
