#include "core/ir/trace.h"

#include <algorithm>

namespace tg {

bool operator==(const Trace& a, const Trace& b) {
  return a.provenance == b.provenance && a.bare_provenance == b.bare_provenance &&
         a.imports == b.imports && a.decorators == b.decorators &&
         a.has_signature == b.has_signature && a.has_def_line == b.has_def_line && a.name == b.name &&
         a.parameters == b.parameters &&
         std::equal(a.bound_symbols.begin(), a.bound_symbols.end(), b.bound_symbols.begin(),
                    b.bound_symbols.end(), [](const BoundSymbolRef& x, const BoundSymbolRef& y) {
                      return x == y || *x == *y;
                    });
}

TraceKind guess_kind(const Trace& trace) {
  const std::string_view name = trace.name;
  if (name == "prologue") return TraceKind::Prologue;
  if (name == "epilogue") return TraceKind::Epilogue;
  if (name == "backward_fn" || name.ends_with("_backward") || name.starts_with("bwd_")) {
    return TraceKind::Backward;
  }
  const bool has_saved = std::any_of(trace.parameters.begin(), trace.parameters.end(), [](const Parameter& p) {
    return p.name == "saved_for_backward";
  });
  return has_saved ? TraceKind::Backward : TraceKind::Computation;
}

TypeTable::TypeTable(const Trace& trace) {
  types_.reserve(trace.bound_symbols.size() * 2);
  for (const BoundSymbolRef& statement : trace.bound_symbols) collect(*statement);
}

void TypeTable::collect(const BoundSymbol& statement) {
  if (statement.type && statement.output.is_name()) {
    if (!types_.contains(statement.output.text)) types_.emplace(statement.output.text, statement.type);
  }
  for (std::size_t i = 0; i < statement.details.size(); ++i) {
    if (statement.details[i].is_name() && statement.detail_types[i]) {
      types_.try_emplace(statement.details[i].text, statement.detail_types[i]);
    }
  }
  for (const BoundSymbolRef& child : statement.subsymbols) collect(*child);
}

const Type* TypeTable::find(std::string_view name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second.get();
}

TypeRef TypeTable::find_ref(std::string_view name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second;
}

void TypeTable::set(std::string_view name, TypeRef type) {
  types_[std::string(name)] = std::move(type);
}

}  // namespace tg
