// Sub-statements of a composite as tracing it again gives them.
#pragma once

#include "core/pass/executors.h"
#include "core/pass/statement_facts.h"

namespace tg {

// Executed lines document the composite that they run, and that composite is traced anew: values in
// between get fresh names, and sub-statements that dead code elimination had dropped are back:
// casts to the dtype that a value has, literals that change their type, shapes that are asked for.
class Retracer {
 public:
  explicit Retracer(NameTable& names) : names_(names) {}
  // The composite with its sub-statements, without header and position.
  BoundSymbolRef composite(const BoundSymbol& statement);

 private:
  using Children = std::vector<BoundSymbolRef>;
  Children renamed_children(const BoundSymbol& statement);
  void restore_literals(const BoundSymbol& statement, Children& children);
  void restore_casts(const BoundSymbol& statement, Retrace retrace, Children& children);
  void restore_shape(NameId tensor, std::size_t index, Children& children);
  void restore_diagonal(const BoundSymbol& statement, Children& children);
  Children division(const BoundSymbol& statement);
  Children floor_division(const Value& a, const Value& b, const Value& out);

  NameTable& names_;
};

// "3" read as a number of the dtype class that "3.0" has: `_ = prims.convert_element_type(3,
// float)`.
BoundSymbolRef literal_conversion(const Value& from, const Value& to);
// `CALLEE(args)` with a single output of that type.
BoundSymbol make_call(std::string_view callee, Value output, std::vector<Value> args, TypeRef type);

}  // namespace tg
