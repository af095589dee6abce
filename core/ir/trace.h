// Trace: one printed function. TraceFile: the traces ("phases") of one input in order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/ir/bound_symbol.h"

namespace tg {

// One parameter of `def NAME(...)`: `x`, `alpha=2.0`, `*args`, lone `*`, `**kw`.
struct Parameter {
  std::string prefix;  // "", "*" or "**"
  std::string name;    // empty for a lone `*`
  Value default_value; // Absent if none
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

enum class TraceKind : std::uint8_t { Computation, Prologue, Backward, Epilogue };

struct Trace {
  std::string provenance;       // "Dead Code Elimination (took 0 milliseconds)"; empty for an acquired trace
  bool bare_provenance = false; // printed without "# Constructed by "
  std::vector<std::string> imports;     // lines as printed, in order
  std::vector<std::string> decorators;  // lines as printed, with '@'
  bool has_signature = true;    // false: "# No signature available", or a pasted fragment
  bool has_def_line = true;     // false for a fragment: statements without a head
  std::string name;             // "computation"
  std::vector<Parameter> parameters;
  std::vector<BoundSymbolRef> bound_symbols;
  // Layout that is not derived: what stood there and the printer would not put itself.
  std::uint32_t body_indent = 2;
  std::optional<std::string> verbatim_head;  // exact head lines when they differ from the canonical ones
  bool ends_with_newline = false;            // in the file, or at the end of it
  std::optional<std::string> verbatim_tail;  // what follows the last statement when it is more than that newline
  SourceRange def_at;

  // Equality of meaning and print; positions and verbatim text are ignored.
  friend bool operator==(const Trace& a, const Trace& b);
};

struct Phase {
  Trace trace;
  TraceKind kind = TraceKind::Computation;
  std::string label;  // what the user calls it: provenance without "(took ...)", or "acquired"
};

struct TraceFile {
  std::string name;                 // file name as given, "-" for standard input
  std::string text;                 // the whole text as read (decompressed), for excerpts in diagnostics
  std::vector<Phase> phases;
  std::vector<Diagnostic> diagnostics;
};

// computation: by name and by the form of signature and return (prologue(*args, **kwargs), backward_fn,
// `saved_for_backward`, epilogue).
TraceKind guess_kind(const Trace& trace);

// The name -> type facts that the text gives: annotations, type comments, sub-statement comments, element
// details. A name that is defined more than once keeps the first type. Linear in the trace.
class TypeTable {
 public:
  explicit TypeTable(const Trace& trace);
  // Null when the text does not tell.
  [[nodiscard]] const Type* find(std::string_view name) const;
  [[nodiscard]] TypeRef find_ref(std::string_view name) const;
  void set(std::string_view name, TypeRef type);

 private:
  void collect(const BoundSymbol& statement);
  // Asked with string_views: no string is made for a question.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  std::unordered_map<std::string, TypeRef, Hash, std::equal_to<>> types_;
};

}  // namespace tg
