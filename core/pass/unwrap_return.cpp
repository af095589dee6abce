// Problem: the return still lists the arguments that kept writes alive; the caller wants the
// program's value.
//
//   return {'output': (t4, x), 'flat_args': [x, w]}     =>     return (t4, x)
//
// Rules
//   unwrap-return   the return's value becomes what stands under 'output'
//   return-not-last (note) why it refuses
// Refuses: a trace whose last statement is no return (AssertionError: a pass that reorders
// statements has put one behind the return), a return without 'output' (KeyError, TypeError).

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/statement_facts.h"

namespace tg {
namespace {

const Value* output_of(const Value& dict) {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const Value& key = dict.items[i];
    if (key.kind == ValueKind::String && string_content(key) == "output") return &dict.items[i + 1];
  }
  return nullptr;
}

// Python's complaint about `value['output']`; empty when the value has it.
std::optional<PassError> subscript_error(const BoundSymbol& statement) {
  if (statement.args.empty()) {
    return PassError{"IndexError", "tuple index out of range", kNoStatement};
  }
  const Value& value = statement.args.front();
  switch (value.kind) {
    case ValueKind::Dict:
      if (output_of(value)) return std::nullopt;
      return PassError{"KeyError", "'output'", kNoStatement};
    case ValueKind::Tuple:
      return PassError{"TypeError", "tuple indices must be integers or slices, not str",
                       kNoStatement};
    case ValueKind::List:
      return PassError{"TypeError", "list indices must be integers or slices, not str",
                       kNoStatement};
    case ValueKind::None:
      return PassError{"TypeError", "'NoneType' object is not subscriptable", kNoStatement};
    case ValueKind::Absent:
    case ValueKind::Name:
    case ValueKind::Dotted:
    case ValueKind::Int:
    case ValueKind::Float:
    case ValueKind::Complex:
    case ValueKind::Bool:
    case ValueKind::Ellipsis:
    case ValueKind::String:
    case ValueKind::Call:
    case ValueKind::Keyword:
    case ValueKind::Subscript:
    case ValueKind::Attribute:
    case ValueKind::Method:
    case ValueKind::Opaque:
      break;
  }
  return PassError{"TypeError", "the returned value is no dict with 'output'", kNoStatement};
}

}  // namespace

PassResult unwrap_return(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  const StatementId last = rw.last();
  if (last == kNoStatement || !is_return(*rw.statement(last))) {
    rw.note("return-not-last", last, [] {
      return std::string(
          "Thunder asserts that the last statement is the return; this one stands behind it and "
          "would never run");
    });
    return std::move(rw).fail({"AssertionError", "", last});
  }
  BoundSymbol unwrapped = *rw.statement(last);
  if (auto error = subscript_error(unwrapped)) {
    error->statement = last;
    return std::move(rw).fail(std::move(*error));
  }
  Value output = *output_of(unwrapped.args.front());
  unwrapped.verbatim.reset();
  unwrapped.args.clear();
  unwrapped.args.push_back(std::move(output));
  rw.step("unwrap-return", last,
          "the arguments need not be mentioned any more; the return gives 'output' alone")
      .replace(last, std::move(unwrapped));
  return std::move(rw).finish("Unwrap the actual return value");
}

}  // namespace tg
