// Step: a rewrite that a pass made, as a value. A list of steps replays to the pass's result.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

// A statement while a pass works: statement i of the trace before the pass has id i; inserted
// statements get the following numbers in order of insertion. Ids are never reused.
using StatementId = std::uint32_t;
constexpr StatementId kNoStatement = 0xffffffffU;

struct Edit {
  enum class Kind : std::uint8_t { Erase, Replace, InsertBefore, InsertAfter };
  Kind kind = Kind::Erase;
  StatementId at = kNoStatement;  // the statement erased or replaced, or the anchor of an insertion
  BoundSymbolRef statement;       // Replace, Insert*: what stands there afterwards
  StatementId inserted = kNoStatement;  // Insert*: id of the new statement

  // Statements are compared by meaning and print, and with their position in the user's file.
  friend bool operator==(const Edit& a, const Edit& b);
};

struct Step {
  std::string rule;  // stable name, documented in the pass's file: "write-through-view"
  StatementId subject = kNoStatement;  // the statement it is about
  std::string reason;       // a full sentence that names the values and cites the fact, with lines
  std::vector<Edit> edits;  // empty: a decision not to act
  std::uint32_t depth = 0;  // nesting of groups, 0 = outermost
  std::string group;        // name of the enclosing group, empty if none
  SourceRange at;           // line of the subject in the user's file

  friend bool operator==(const Step&, const Step&) = default;
};

// `before` after the edits of the first steps. Linear in statements + edits. Provenance and imports
// stay those of `before`; an edit that points to a statement that is not there is left out.
Trace replay(const Trace& before, std::span<const Step> steps);

// Same name, parameters and statements: everything but provenance, imports and layout of the head.
bool same_body(const Trace& a, const Trace& b);

// One line per step (a JSON object) and parseable back (law 5): print_steps/parse_steps are
// inverse.
std::string print_steps(std::span<const Step> steps);
Result<std::vector<Step>> parse_steps(std::string_view text);

}  // namespace tg
