// BoundSymbol: one statement of a trace with its sub-statements.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/source.h"
#include "core/ir/op.h"
#include "core/ir/type.h"
#include "core/ir/value.h"

namespace tg {

enum class StatementKind : std::uint8_t {
  Call,             // [OUT =] CALLEE(ARGS)  [# NAME: "TYPE"]
  UnpackTrivial,    // `# x: "cpu f32[2]"`: the annotation of an argument. output = the name (or a literal)
  UnpackSequence,   // `a, b, = C0`; output = tuple of targets, args = {sequence}, details = element lines
  UnpackAccess,     // `x: "T" = args[0]`, `_ = obj.a`, `x = globals()['f']`; args = {expression}
  EmptyCollection,  // `# C0 (empty sequence)`; args = {value}, callee = the word
  PackList,         // `lst0 = [a, b, ]`; args = {list}
  PackAssign,       // `obj.attr = t3`, `d0['k'] = t3`; output = the target expression, args = {value}
  Del,              // args = the names
  Return,           // args = the values; no argument prints "return "
  Print,            // print(VALUE)
  Comment,          // the comment prim, `# Before nvFusion0`; callee = the text
  Elision,          // `...`: lines left out by whoever pasted; callee = the text
  Unparsed,         // a line that is no statement; callee = the text
};

// Where the user's program stands that led to this statement: `# model.py:9: <TAB>    x[1] = 7.0`.
struct ProgramLine {
  std::string file;
  std::uint32_t line = 0;
  std::string text;  // the program's line as written, its indentation included
  friend bool operator==(const ProgramLine&, const ProgramLine&) = default;
};

// How older versions of Thunder spelled a statement, where it differs from what they print today.
struct StatementLayout {
  bool trailing_space = false;     // UnpackTrivial, until 2024-03-25: `# x: "cpu f32[2]" `
  bool one_name_per_line = false;  // UnpackSequence, until 2024-03-23
  bool untyped_comment = false;    // Call, early 2024-03: `t2 = f(x)  # t2`
  friend bool operator==(const StatementLayout&, const StatementLayout&) = default;
};

struct BoundSymbol;
// Statements are immutable once in a Trace and shared between phases.
using BoundSymbolRef = std::shared_ptr<const BoundSymbol>;

struct BoundSymbol {
  StatementKind kind = StatementKind::Call;
  OpCode op = OpCode::Opaque;        // Call only
  std::string callee;                // Call: as printed. UnpackTrivial: remarks that people put behind an
                                     // annotation, "requires_grad=True, leaf"
  Value output;                      // Absent when there is no "OUT ="
  std::vector<Value> args;           // positional first, then Keyword values
  TypeRef type;                      // of a single-name output; null when none was printed
  std::vector<Value> details;        // UnpackSequence: Name (with detail_types) or literal per detail line
  std::vector<TypeRef> detail_types;
  std::vector<std::string> header;   // comment lines printed before it, without "# "
  std::shared_ptr<const ProgramLine> program_line;  // null: none. Printed when it differs from the previous statement's
  std::vector<BoundSymbolRef> subsymbols;
  StatementLayout layout;            // spelling of old versions
  // Set only when the structural print differs from what was read (hand-edited text; depth 0 only): the exact
  // lines with header and sub-statements, joined by '\n'. Passes drop it by copying fields.
  std::optional<std::string> verbatim;
  bool verbatim_has_program_line = false;  // the lines above the statement (blank, position) are in `verbatim` too
  SourceRange at;                    // of the statement in the file that it was read from; line 0: made by a pass

  [[nodiscard]] bool is_call(OpCode code) const { return kind == StatementKind::Call && op == code; }
  [[nodiscard]] const OpInfo& op_info() const { return info(op); }
  // Equality of meaning and print; `at` and `verbatim` are ignored.
  friend bool operator==(const BoundSymbol& a, const BoundSymbol& b);
};

// Names in args in flattening order, positionals first, then keyword arguments sorted by name, with
// repetitions (Thunder's flat_proxy_args without the filter to proxies: a name may be `float`).
std::vector<std::string_view> argument_names(const BoundSymbol& statement);
// Names that the statement binds, in order: `(a, [b, _])` gives a, b.
std::vector<std::string_view> output_names(const BoundSymbol& statement);

// Does an annotation have this remark ("leaf", "requires_grad=True")?
bool has_remark(const BoundSymbol& statement, std::string_view remark);

// The value of keyword argument `name`, null if absent.
const Value* keyword_argument(const BoundSymbol& statement, std::string_view name);
// Number of positional arguments.
std::size_t positional_count(const BoundSymbol& statement);

}  // namespace tg
