#include "core/pass/functional_twin.h"

#include <algorithm>

namespace tg {
namespace {

// "ltorch.exp" among the twin's spellings for the callee "ltorch.exp_".
std::string spelling_in_module_of(std::string_view callee, const OpInfo& twin) {
  const std::size_t dot = callee.rfind('.');
  const std::string_view module = dot == std::string_view::npos ? "" : callee.substr(0, dot + 1);
  std::string_view rest = twin.spellings;
  while (!rest.empty()) {
    const std::size_t space = rest.find(' ');
    const std::string_view spelling = rest.substr(0, space);
    if (spelling.starts_with(module) &&
        spelling.find('.', module.size()) == std::string_view::npos) {
      return std::string(spelling);
    }
    rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
  }
  return std::string(callee.substr(0, callee.size() - (callee.ends_with('_') ? 1 : 0)));
}

Value literal(std::string_view text) {
  if (text == "None") return Value::none();
  if (text == "True" || text == "False") return Value::boolean(text == "True");
  if (text.starts_with('\'')) return Value::leaf(ValueKind::String, text);
  if (text == "()") return Value::tuple({});
  const bool is_integer = std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
  return Value::leaf(is_integer ? ValueKind::Int : ValueKind::Float, text);
}

// Thunder binds the arguments to the twin's signature: parameters that the in-place form does not
// have get their defaults (relu_(x) becomes relu(x, False)).
void append_defaults(BoundSymbol& functional, const OpInfo& in_place, const OpInfo& twin) {
  std::size_t position = 0;
  for (const Param& param : twin.params) {
    const bool given = !param.keyword_only && position++ < positional_count(functional);
    if (given || param.default_text.empty()) continue;
    if (!param.keyword_only) {
      const auto first_keyword =
          std::find_if(functional.args.begin(), functional.args.end(),
                       [](const Value& arg) { return arg.kind == ValueKind::Keyword; });
      functional.args.insert(first_keyword, literal(param.default_text));
      continue;
    }
    const bool shared = std::any_of(in_place.params.begin(), in_place.params.end(),
                                    [&param](const Param& own) { return own.name == param.name; });
    if (!shared) functional.args.push_back(Value::keyword(param.name, literal(param.default_text)));
  }
}

void clear_flag(BoundSymbol& functional, const OpInfo& op) {
  const auto index = static_cast<std::size_t>(op.inplace_flag);
  if (index < functional.args.size() && functional.args[index].kind != ValueKind::Keyword) {
    functional.args[index] = Value::boolean(false);
    return;
  }
  for (Value& arg : functional.args) {
    if (arg.kind == ValueKind::Keyword && arg.text == op.params[index].name) {
      arg.items.front() = Value::boolean(false);
    }
  }
}

bool holds_slice(const Value& value) {
  if (value.kind == ValueKind::Call && value.text == "slice") return true;
  return std::any_of(value.items.begin(), value.items.end(), holds_slice);
}

// The same operation on the same arguments. A slice never equals itself here: in Thunder it cannot
// be hashed.
bool same_expression(const BoundSymbol& a, const BoundSymbol& b) {
  return a.kind == b.kind && a.callee == b.callee && a.args == b.args &&
         std::none_of(a.args.begin(), a.args.end(), holds_slice);
}

}  // namespace

std::shared_ptr<BoundSymbol> functional_twin(const BoundSymbol& statement, const NameTable& names) {
  const OpInfo& op = statement.op_info();
  auto functional = std::make_shared<BoundSymbol>();
  functional->output = statement.output;
  functional->args = statement.args;
  functional->at = statement.at;
  if (op.has(kInPlace)) {
    const OpInfo& twin = info(op.twin);
    functional->op = op.twin;
    functional->callee = spelling_in_module_of(statement.callee, twin);
    append_defaults(*functional, op, twin);
  } else {
    functional->op = statement.op;
    functional->callee = statement.callee;
    clear_flag(*functional, op);
  }
  // setitem_ has no result of its own; its value is that of its first sub-statement.
  if (functional->output.kind == ValueKind::Absent) {
    functional->output = statement.subsymbols.front()->output;
  }
  if (functional->output.is_name()) {
    const NameId name = names.find(functional->output.text);
    if (name != kNoName) functional->type = names.type(name);
  }
  functional->subsymbols.assign(statement.subsymbols.begin(), statement.subsymbols.end() - 1);
  if (functional->subsymbols.size() == 1 &&
      same_expression(*functional, *functional->subsymbols.front())) {
    const BoundSymbolRef only = functional->subsymbols.front();
    functional->subsymbols = only->subsymbols;
  }
  return functional;
}

}  // namespace tg
