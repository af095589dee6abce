#include "core/pass/retrace.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>

#include "core/pass/swap.h"

namespace tg {
namespace {

bool is_number_literal(const Value& value) {
  return value.kind == ValueKind::Int || value.kind == ValueKind::Float ||
         value.kind == ValueKind::Bool || value.kind == ValueKind::Complex;
}

std::string_view python_type(const Value& literal) {
  if (literal.kind == ValueKind::Int) return "int";
  if (literal.kind == ValueKind::Bool) return "bool";
  return literal.kind == ValueKind::Complex ? "complex" : "float";
}

bool changes_type(const Value& from, const Value& to) {
  return is_number_literal(from) && is_number_literal(to) && from.kind != to.kind;
}

bool is_composite(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call && statement.callee.starts_with("ltorch.");
}

bool is_prim(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call && statement.callee.starts_with("prims.");
}

bool holds(const std::vector<NameId>& list, NameId name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// What dead code elimination drops; tracing again puts it back where it belongs.
bool is_dropped(const BoundSymbol& child, const NameTable& names) {
  if (child.kind != StatementKind::Call) return false;
  const std::vector<NameId> outs = proxy_outs(child, names);
  if (outs.empty()) return !child.op_info().has(kDontDce);
  if (!is_composite(child) || !child.subsymbols.empty()) return false;
  const std::vector<NameId> inputs = proxy_args(child, names);
  return std::all_of(outs.begin(), outs.end(), [&](NameId out) { return holds(inputs, out); });
}

std::string dtype_name(const TypeRef& type) {
  return type && type->dtype ? fmt::format("dtypes.{}", thunder_name(*type->dtype)) : "None";
}

// `x = ltorch.to(x, ...)`: the dtype is the one it has.
BoundSymbolRef same_dtype(NameId name, const TypeRef& type, const NameTable& names,
                          bool by_keyword) {
  const Value dtype = Value::leaf(ValueKind::Dotted, dtype_name(type));
  const Value value = Value::name(names.text(name));
  return std::make_shared<const BoundSymbol>(
      make_call("ltorch.to", value,
                {value, by_keyword ? Value::none() : dtype, Value::none(),
                 Value::keyword("device", Value::none()),
                 Value::keyword("dtype", by_keyword ? dtype : Value::none()),
                 Value::keyword("copy", Value::boolean(false)),
                 Value::keyword("memory_format", Value::none())},
                type));
}

bool is_cast(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call && statement.callee == "ltorch.to";
}

// Type of a reduction's result when no text gives it (one of several outputs): the dims of the
// second argument go, or become 1 with keepdim.
TypeRef reduced_type(const BoundSymbol& statement, const TypeRef& reduced) {
  if (!reduced || !reduced->shape || !reduced->dtype) return nullptr;
  const auto rank = static_cast<std::int64_t>(reduced->shape->size());
  std::vector<bool> gone(reduced->shape->size(), false);
  const Value dims = statement.args.size() > 1 ? statement.args[1] : Value::none();
  bool any = false;
  for_each_leaf(dims, [&](const Value& dim) {
    if (dim.kind != ValueKind::Int) return;
    const std::int64_t number = std::strtoll(dim.text.c_str(), nullptr, 10);
    const std::int64_t index = number < 0 ? number + rank : number;
    if (index < 0 || index >= rank) return;
    gone[static_cast<std::size_t>(index)] = true;
    any = true;
  });
  const Value* keep = keyword_argument(statement, "keepdim");
  const bool keeps = keep && keep->kind == ValueKind::Bool && keep->text == "True";
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (any && !gone[i]) {
      shape.push_back((*reduced->shape)[i]);
    } else if (keeps) {
      shape.push_back(1);
    }
  }
  return tensor_type(reduced->device, *reduced->dtype, shape);
}

Value floating(const Value& number) {
  if (number.kind != ValueKind::Int) return number;
  return Value::leaf(ValueKind::Float, number.text + ".0");
}

}  // namespace

BoundSymbol make_call(std::string_view callee, Value output, std::vector<Value> args,
                      TypeRef type) {
  BoundSymbol call;
  call.op = op_of(callee);
  call.callee = std::string(callee);
  call.output = std::move(output);
  call.args = std::move(args);
  call.type = std::move(type);
  return call;
}

BoundSymbolRef literal_conversion(const Value& from, const Value& to) {
  return std::make_shared<const BoundSymbol>(
      make_call("prims.convert_element_type", Value::name("_"),
                {from, Value::name(python_type(to))}, nullptr));
}

BoundSymbolRef Retracer::composite(const BoundSymbol& statement) {
  auto traced = std::make_shared<BoundSymbol>(statement);
  traced->header.clear();
  traced->program_line = nullptr;
  traced->verbatim.reset();
  traced->verbatim_has_program_line = false;
  const ExecutorRow* row = torch_row(statement.callee);
  const Retrace retrace = row && row->is_composite ? row->retrace : Retrace::Plain;
  if (retrace == Retrace::Division) {
    if (Children children = division(statement); !children.empty()) {
      traced->subsymbols = std::move(children);
      return traced;
    }
  }
  Children children = renamed_children(statement);
  for (BoundSymbolRef& child : children) {
    if (is_composite(*child)) child = composite(*child);
  }
  restore_literals(statement, children);
  const NameId tensor = first_tensor_arg(statement, names_);
  switch (retrace) {
    case Retrace::Plain:
    case Retrace::Division:
      break;
    case Retrace::Cast:
    case Retrace::CastAll:
      restore_casts(statement, retrace, children);
      break;
    case Retrace::Shape:
      restore_shape(tensor, 0, children);
      break;
    case Retrace::Diagonal:
      restore_diagonal(statement, children);
      break;
  }
  traced->subsymbols = std::move(children);
  return traced;
}

Retracer::Children Retracer::renamed_children(const BoundSymbol& statement) {
  Children children;
  const std::vector<NameId> outs = proxy_outs(statement, names_);
  const std::vector<NameId> inputs = proxy_args(statement, names_);
  std::unordered_map<NameId, NameId> fresh;
  for (const BoundSymbolRef& child : statement.subsymbols) {
    if (is_dropped(*child, names_)) continue;
    for (const NameId out : proxy_outs(*child, names_)) {
      if (holds(outs, out) || holds(inputs, out) || fresh.contains(out)) continue;
      fresh.emplace(out, names_.fresh(names_.type(out)));
    }
    children.push_back(child);
  }
  if (fresh.empty()) return children;
  const auto lookup = [&fresh](NameId name) {
    const auto found = fresh.find(name);
    return found == fresh.end() ? kNoName : found->second;
  };
  for (BoundSymbolRef& child : children) child = swap_names(child, names_, lookup);
  return children;
}

// A literal is converted before the primitive that reads it; operands are converted in order, so
// one before a later operand's cast.
void Retracer::restore_literals(const BoundSymbol& statement, Children& children) {
  if (!is_composite(statement) || !statement.op_info().has(kElementwise)) return;
  const Value* alpha = keyword_argument(statement, "alpha");
  for (std::size_t i = 0; i < children.size(); ++i) {
    const BoundSymbolRef child = children[i];
    if (!is_prim(*child) || !child->op_info().has(kElementwise)) continue;
    // add(x, y, alpha=2) multiplies first.
    if (alpha && i + 1 < children.size() && child->args.size() == 2 &&
        changes_type(*alpha, child->args[1])) {
      children.insert(children.begin() + static_cast<std::ptrdiff_t>(i),
                      literal_conversion(*alpha, child->args[1]));
      ++i;
      continue;
    }
    const std::size_t count = std::min(positional_count(statement), child->args.size());
    for (std::size_t k = 0; k < count; ++k) {
      if (!changes_type(statement.args[k], child->args[k])) continue;
      std::size_t at = i;
      for (std::size_t later = k + 1; later < child->args.size() && at == i; ++later) {
        for (std::size_t c = 0; c < i; ++c) {
          if (children[c]->callee == "prims.convert_element_type" &&
              children[c]->output == child->args[later]) {
            at = c;
            break;
          }
        }
      }
      children.insert(children.begin() + static_cast<std::ptrdiff_t>(at),
                      literal_conversion(statement.args[k], child->args[k]));
      ++i;
    }
  }
}

void Retracer::restore_casts(const BoundSymbol& statement, Retrace retrace, Children& children) {
  Children casts;
  const bool cast_first = !children.empty() && is_cast(*children.front());
  for (const NameId tensor : tensor_args(statement, names_)) {
    if (!cast_first) {
      casts.push_back(same_dtype(tensor, names_.type(tensor), names_, retrace == Retrace::CastAll));
    }
    if (retrace == Retrace::Cast) break;
  }
  children.insert(children.begin(), casts.begin(), casts.end());
  if (!children.empty() && is_cast(*children.back()) &&
      children.back()->output == statement.output) {
    return;
  }
  const NameId first = first_tensor_arg(statement, names_);
  for (const NameId out : proxy_outs(statement, names_)) {
    TypeRef type = names_.type(out);
    if (!type && first != kNoName) type = reduced_type(statement, names_.type(first));
    children.push_back(same_dtype(out, type, names_, false));
  }
}

void Retracer::restore_shape(NameId tensor, std::size_t index, Children& children) {
  const std::vector<std::int64_t>* shape = tensor == kNoName ? nullptr : names_.shape(tensor);
  if (!shape) return;
  const std::vector<Value> blanks(shape->size(), Value::name("_"));
  children.insert(
      children.begin() + static_cast<std::ptrdiff_t>(index),
      std::make_shared<const BoundSymbol>(make_call("prims.shape", Value::tuple(blanks),
                                                    {Value::name(names_.text(tensor))}, nullptr)));
}

void Retracer::restore_diagonal(const BoundSymbol& statement, Children& children) {
  if (statement.args.size() < 2) return;
  const auto reshape = std::find_if(children.begin(), children.end(), [](const auto& child) {
    return child->callee == "prims.reshape";
  });
  const auto first_iota = std::find_if(children.begin(), children.end(), [](const auto& child) {
    return child->callee == "prims.iota";
  });
  if (reshape == children.end() || first_iota == children.end() || first_iota > reshape) return;
  const auto iota_index = static_cast<std::size_t>(first_iota - children.begin());
  const auto shape_index = static_cast<std::size_t>(reshape - children.begin());
  restore_shape(first_tensor_arg(**reshape, names_), shape_index, children);
  const auto asks_offset = std::make_shared<const BoundSymbol>(
      make_call("prims.abs", Value::name("_"), {statement.args[1]}, nullptr));
  children.insert(children.begin() + static_cast<std::ptrdiff_t>(iota_index) + 1, 2, asks_offset);
}

// Functionalization keeps the sub-statements of the in-place form, which lose rounding_mode
// (recording 113); tracing again heeds it.
Retracer::Children Retracer::division(const BoundSymbol& statement) {
  if (statement.args.size() < 2 || !statement.output.is_name()) return {};
  const Value& a = statement.args[0];
  const Value& b = statement.args[1];
  const NameId dividend = a.is_name() ? names_.find(a.text) : kNoName;
  const NameId out = names_.find(statement.output.text);
  if (dividend == kNoName || out == kNoName || !names_.type(dividend)) return {};
  const auto& dtype = names_.type(dividend)->dtype;
  if (!dtype || !is_float(*dtype) || size_bytes(*dtype) < 4) return {};
  if (b.is_name()) {
    const NameId divisor = names_.find(b.text);
    if (divisor == kNoName || !names_.type(divisor) ||
        names_.type(divisor)->text != names_.type(dividend)->text) {
      return {};
    }
  }
  if (statement.callee == "ltorch.floor_divide") return floor_division(a, b, statement.output);
  const Value* mode = keyword_argument(statement, "rounding_mode");
  if (!mode || mode->kind != ValueKind::String) return {};
  const TypeRef type = names_.type(out);
  Children children;
  if (string_content(*mode) == "floor") {
    BoundSymbol floor = make_call("ltorch.floor_divide", statement.output, {a, b}, type);
    floor.subsymbols = floor_division(a, b, statement.output);
    children.push_back(std::make_shared<const BoundSymbol>(std::move(floor)));
    return children;
  }
  if (b.kind == ValueKind::Int) children.push_back(literal_conversion(b, floating(b)));
  const Value quotient = Value::name(names_.text(names_.fresh(type)));
  children.push_back(std::make_shared<const BoundSymbol>(
      make_call("prims.div", quotient, {a, floating(b)}, type)));
  children.push_back(std::make_shared<const BoundSymbol>(
      make_call("prims.trunc", statement.output, {quotient}, type)));
  return children;
}

// Python's floor division of floats: the quotient of what is left without the remainder, one less
// where the signs differ, rounded, with the sign of a true division when it is zero.
Retracer::Children Retracer::floor_division(const Value& a, const Value& b, const Value& out) {
  Children children;
  const TypeRef type = names_.type(names_.find(a.text));
  const TypeRef bools = [&]() -> TypeRef {
    return type->shape ? tensor_type(type->device, DType::Bool, *type->shape) : type;
  }();
  const auto add = [&](std::string_view prim, std::vector<Value> args, bool is_bool) {
    const TypeRef& of = is_bool ? bools : type;
    Value result = Value::name(names_.text(names_.fresh(of)));
    children.push_back(
        std::make_shared<const BoundSymbol>(make_call(prim, result, std::move(args), of)));
    return result;
  };
  const auto number = [&](std::int64_t value) {
    const Value literal = Value::integer(value);
    children.push_back(literal_conversion(literal, floating(literal)));
    return floating(literal);
  };
  const auto divisor = [&] {
    if (b.kind == ValueKind::Int) children.push_back(literal_conversion(b, floating(b)));
    return b.is_name() ? b : floating(b);
  };
  const Value remainder = add("prims.fmod", {a, divisor()}, false);
  const Value whole = add("prims.sub", {a, remainder}, false);
  const Value quotient = add("prims.div", {whole, divisor()}, false);
  const Value a_negative = add("prims.lt", {a, number(0)}, true);
  Value b_negative = Value::boolean(!b.is_name() && b.text.starts_with('-'));
  if (b.is_name()) b_negative = add("prims.lt", {b, number(0)}, true);
  const Value differ = add("prims.bitwise_xor", {a_negative, b_negative}, true);
  const Value inexact = add("prims.ne", {remainder, number(0)}, true);
  const Value lower = add("prims.bitwise_and", {inexact, differ}, true);
  const Value one_less = add("prims.sub", {quotient, number(1)}, false);
  const Value lowered = add("prims.where", {lower, one_less, quotient}, false);
  const Value floored = add("prims.floor", {lowered}, false);
  const Value rest = add("prims.sub", {lowered, floored}, false);
  const Value up = add("prims.gt", {rest, Value::leaf(ValueKind::Float, "0.5")}, true);
  const Value one_more = add("prims.add", {floored, number(1)}, false);
  const Value rounded = add("prims.where", {up, one_more, floored}, false);
  const Value exact = add("prims.div", {a, divisor()}, false);
  const Value nonzero = add("prims.ne", {lowered, number(0)}, true);
  number(0);
  const Value sign = add("prims.signbit", {exact}, true);
  const Value zero = Value::leaf(ValueKind::Float, "0.0");
  for (int i = 0; i < 2; ++i) {
    children.push_back(std::make_shared<const BoundSymbol>(
        make_call("prims.abs", Value::name("_"), {zero}, nullptr)));
  }
  const Value signed_zero =
      add("prims.where", {sign, Value::leaf(ValueKind::Float, "-0.0"), zero}, false);
  children.push_back(std::make_shared<const BoundSymbol>(
      make_call("prims.where", out, {nonzero, rounded, signed_zero}, type)));
  return children;
}

}  // namespace tg
