#include "core/pass/statement_facts.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tg {
namespace {

// Names that an unpacking expression reads: `obj0` of `obj0.__defaults__`, `m` of
// `m.get_parameter('w')`.
void expression_names(const Value& expression, const NameTable& names, std::vector<NameId>& found) {
  const std::string text = to_text(expression);
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = c;
      continue;
    }
    const auto is_word = [](char letter) {
      return letter == '_' || static_cast<unsigned char>(letter) >= 0x80 ||
             (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
             (letter >= 'A' && letter <= 'Z');
    };
    if (!is_word(c)) continue;
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const bool is_attribute = i > 0 && text[i - 1] == '.';
    const NameId id = names.find(std::string_view(text).substr(i, end - i));
    if (!is_attribute && id != kNoName && names.is_proxy(id)) found.push_back(id);
    i = end - 1;
  }
}

bool is_unhashable(const Value& value) {
  if (value.kind == ValueKind::List || value.kind == ValueKind::Dict) return true;
  return std::any_of(value.items.begin(), value.items.end(), is_unhashable);
}

// "cuda:0" of "cuda" (Thunder fills the index), quotes and torch.device(...) removed.
std::string device_text(const Value& value) {
  std::string text;
  for_each_leaf(value, [&text](const Value& leaf) {
    if (text.empty()) text = leaf.kind == ValueKind::String ? string_content(leaf) : leaf.text;
  });
  return text == "cuda" ? "cuda:0" : text;
}

bool is_device(const Value& value) {
  return value.kind == ValueKind::String ||
         (value.kind == ValueKind::Call && base_name(value.text).ends_with("evice"));
}

std::optional<DType> dtype_of(const Value& value) {
  return value.kind == ValueKind::Dotted ? parse_dtype(value.text) : std::nullopt;
}

bool is_given(const Value* value) {
  return value && value->kind != ValueKind::None;
}

}  // namespace

std::vector<const Value*> flat_args(const BoundSymbol& statement) {
  std::vector<const Value*> leaves;
  const auto collect = [&leaves](const Value& leaf) { leaves.push_back(&leaf); };
  if (statement.kind == StatementKind::PackAssign) for_each_leaf(statement.output, collect);
  std::vector<const Value*> keywords;
  for (const Value& arg : statement.args) {
    if (arg.kind == ValueKind::Keyword) {
      keywords.push_back(&arg);
    } else {
      for_each_leaf(arg, collect);
    }
  }
  std::stable_sort(keywords.begin(), keywords.end(),
                   [](const Value* a, const Value* b) { return a->text < b->text; });
  for (const Value* keyword : keywords) for_each_leaf(*keyword, collect);
  return leaves;
}

bool is_plain_reader(const BoundSymbol& statement) {
  switch (statement.kind) {
    case StatementKind::UnpackTrivial:
    case StatementKind::Comment:
    case StatementKind::Elision:
    case StatementKind::Unparsed:
    case StatementKind::UnpackAccess:
    case StatementKind::PackAssign:
      return false;
    case StatementKind::Call:
    case StatementKind::UnpackSequence:
    case StatementKind::EmptyCollection:
    case StatementKind::PackList:
    case StatementKind::Del:
    case StatementKind::Return:
    case StatementKind::Print:
      break;
  }
  const Value* previous = nullptr;
  for (const Value& arg : statement.args) {
    if (arg.kind != ValueKind::Keyword) {
      if (previous) return false;
      continue;
    }
    if (previous && arg.text < previous->text) return false;
    previous = &arg;
  }
  return true;
}

std::vector<NameId> proxy_args(const BoundSymbol& statement, const NameTable& names) {
  std::vector<NameId> found;
  if (is_plain_reader(statement)) {
    for_each_proxy_arg(statement, names, [&found](NameId id) { found.push_back(id); });
    return found;
  }
  switch (statement.kind) {
    case StatementKind::UnpackTrivial:
    case StatementKind::Comment:
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      return found;
    case StatementKind::UnpackAccess:
      for (const Value& arg : statement.args) expression_names(arg, names, found);
      return found;
    case StatementKind::Call:
    case StatementKind::UnpackSequence:
    case StatementKind::EmptyCollection:
    case StatementKind::PackList:
    case StatementKind::PackAssign:
    case StatementKind::Del:
    case StatementKind::Return:
    case StatementKind::Print:
      break;
  }
  for (const Value* leaf : flat_args(statement)) {
    if (!leaf->is_name()) continue;
    const NameId id = names.find(leaf->text);
    if (id != kNoName && names.is_proxy(id)) found.push_back(id);
  }
  return found;
}

std::vector<NameId> tensor_args(const BoundSymbol& statement, const NameTable& names) {
  std::vector<NameId> found;
  for_each_proxy_arg(statement, names, [&](NameId id) {
    if (names.is_tensor(id)) found.push_back(id);
  });
  return found;
}

std::vector<NameId> proxy_outs(const BoundSymbol& statement, const NameTable& names) {
  std::vector<NameId> found;
  for_each_proxy_out(statement, names, [&found](NameId id) { found.push_back(id); });
  return found;
}

NameId first_tensor_arg(const BoundSymbol& statement, const NameTable& names) {
  NameId first = kNoName;
  for_each_proxy_arg(statement, names, [&](NameId id) {
    if (first == kNoName && names.is_tensor(id)) first = id;
  });
  return first;
}

bool is_return(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Return;
}

bool is_raw_copy(const BoundSymbol& statement) {
  return statement.is_call(OpCode::CopyInto);
}

bool is_functionalizable(const BoundSymbol& statement) {
  if (statement.kind != StatementKind::Call || statement.subsymbols.empty()) return false;
  const OpInfo& op = statement.op_info();
  const bool in_table = op.has(kInPlace) ? op.twin != OpCode::Opaque : op.inplace_flag >= 0;
  return in_table && is_raw_copy(*statement.subsymbols.back());
}

bool to_returns_input(const BoundSymbol& statement, const NameTable& names) {
  const NameId input = first_tensor_arg(statement, names);
  if (input == kNoName || !names.type(input)) return false;
  const Type& type = *names.type(input);
  std::string device;
  std::optional<DType> dtype;
  const Value* device_keyword = keyword_argument(statement, "device");
  const Value* dtype_keyword = keyword_argument(statement, "dtype");
  if (is_given(device_keyword)) device = device_text(*device_keyword);
  if (is_given(dtype_keyword)) dtype = dtype_of(*dtype_keyword);
  for (std::size_t i = 1; i < statement.args.size() && i < 3; ++i) {
    const Value& arg = statement.args[i];
    if (arg.kind == ValueKind::Keyword || arg.kind == ValueKind::None) continue;
    if (is_device(arg)) {
      device = device_text(arg);
    } else if (const auto given = dtype_of(arg)) {
      dtype = given;
    } else if (arg.is_name()) {  // another tensor: its device and dtype, unless keywords say
                                 // otherwise
      const NameId other = names.find(arg.text);
      if (other == kNoName || !names.type(other)) continue;
      if (device.empty()) device = names.type(other)->device;
      if (!dtype) dtype = names.type(other)->dtype;
    }
  }
  const Value* copy = keyword_argument(statement, "copy");
  if (copy && copy->kind == ValueKind::Bool && copy->text == "True") return false;
  if (!device.empty() && device != type.device) return false;
  if (dtype && dtype != type.dtype) return false;
  // The name of a memory format tells nothing; only channels_last brings a stride_order
  // sub-statement.
  return std::none_of(
      statement.subsymbols.begin(), statement.subsymbols.end(),
      [](const BoundSymbolRef& child) { return child->is_call(OpCode::StrideOrder); });
}

StatementNames::StatementNames(Statements statements, const NameTable& names) {
  ends_.reserve(statements.size());
  args_.reserve(2 * statements.size());
  outs_.reserve(statements.size());
  for (const BoundSymbolRef& statement : statements) append(*statement, names);
}

void StatementNames::append(const BoundSymbol& statement, const NameTable& names) {
  for_each_proxy_arg(statement, names, [this](NameId name) { args_.push_back(name); });
  for_each_proxy_out(statement, names, [this](NameId name) { outs_.push_back(name); });
  ends_.push_back(
      {static_cast<std::uint32_t>(args_.size()), static_cast<std::uint32_t>(outs_.size())});
}

ProducerMap::ProducerMap(const StatementNames& statements, std::size_t name_count)
    : producer_(name_count, kNoStatement) {
  // Comments, prints and returns bind nothing.
  for (std::size_t i = 0; i < statements.size(); ++i) {
    for (const NameId out : statements.outs(i)) {
      if (producer_[out] != kNoStatement) continue;
      const std::span<const NameId> args = statements.args(i);
      if (std::find(args.begin(), args.end(), out) != args.end()) continue;
      producer_[out] = static_cast<StatementId>(i);
    }
  }
}

ConsumerMap::ConsumerMap(const StatementNames& statements, std::size_t name_count)
    : begin_(name_count + 1, 0) {
  for (const NameId name : statements.all_args()) ++begin_[name + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  readers_.resize(statements.all_args().size());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    for (const NameId name : statements.args(i)) {
      readers_[next[name]++] = static_cast<StatementId>(i);
    }
  }
}

std::span<const StatementId> ConsumerMap::of(NameId name) const {
  if (name + 1 >= begin_.size()) return {};
  return std::span(readers_).subspan(begin_[name], begin_[name + 1] - begin_[name]);
}

std::vector<StatementId> last_equal_index(Statements statements, const StatementNames& names_of,
                                          std::size_t name_count) {
  // Equal statements bind the same names, so only names that are bound twice, and statements that
  // bind none, can have an equal elsewhere.
  std::vector<std::uint8_t> times_bound(name_count, 0);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    for (const NameId out : names_of.outs(i)) {
      times_bound[out] = static_cast<std::uint8_t>(std::min(times_bound[out] + 1, 2));
    }
  }
  std::vector<StatementId> last(statements.size());
  std::unordered_map<std::string, StatementId> by_text;
  std::vector<std::pair<StatementId, std::string>> keys;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    last[i] = static_cast<StatementId>(i);
    const std::span<const NameId> outs = names_of.outs(i);
    if (std::any_of(outs.begin(), outs.end(),
                    [&times_bound](NameId out) { return times_bound[out] < 2; })) {
      continue;
    }
    const BoundSymbol& statement = *statements[i];
    const bool only_itself =
        is_unhashable(statement.output) ||
        std::any_of(statement.args.begin(), statement.args.end(), [](const Value& arg) {
          return arg.kind == ValueKind::Keyword || is_unhashable(arg);
        });
    if (only_itself) continue;
    std::string key = fmt::format("{} {}(", static_cast<int>(statement.kind), statement.callee);
    for (const Value& arg : statement.args) {
      append_text(key, arg);
      key += ',';
    }
    key += ')';
    append_text(key, statement.output);
    by_text[key] = last[i];
    keys.emplace_back(last[i], std::move(key));
  }
  for (const auto& [index, key] : keys) last[index] = by_text[key];
  return last;
}

std::string tensor_repr(NameId name, const NameTable& names) {
  const TypeRef& type = names.type(name);
  const std::string dtype =
      type && type->dtype ? std::string(thunder_name(*type->dtype)) : std::string("?");
  const std::string shape = type && type->shape ? python_tuple(*type->shape) : std::string("?");
  return fmt::format("<TensorProxy(name=\"{}\", dtype=thunder.dtypes.{}, shape={})>",
                     names.text(name), dtype, shape);
}

std::string python_str(const Value& leaf) {
  switch (leaf.kind) {
    case ValueKind::String:
      return string_content(leaf);
    case ValueKind::Dotted:
      return leaf.text.starts_with("dtypes.") ? "thunder." + leaf.text : leaf.text;
    case ValueKind::Float:
      if (leaf.text == "float('inf')") return "inf";
      if (leaf.text == "-float('inf')") return "-inf";
      if (leaf.text == "float('NaN')") return "nan";
      return leaf.text;
    case ValueKind::Name:
      // A number type among the arguments; a proxy prints its name.
      if (leaf.text == "float" || leaf.text == "int" || leaf.text == "bool" ||
          leaf.text == "complex") {
        return fmt::format("<class '{}'>", leaf.text);
      }
      return leaf.text == "_" ? "None" : leaf.text;
    case ValueKind::Absent:
      return "None";
    case ValueKind::Int:
    case ValueKind::Complex:
    case ValueKind::Bool:
    case ValueKind::None:
    case ValueKind::Opaque:
      return leaf.text;
    case ValueKind::Ellipsis:
      return "Ellipsis";
    case ValueKind::Tuple:
    case ValueKind::List:
    case ValueKind::Dict:
    case ValueKind::Call:
    case ValueKind::Keyword:
    case ValueKind::Subscript:
    case ValueKind::Attribute:
    case ValueKind::Method:
      return to_text(leaf);
  }
  return {};
}

std::string python_name_list(const std::vector<NameId>& list, const NameTable& names) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names.text(list[i]));
  }
  return text + "]";
}

std::string replaced_header(const std::vector<NameId>& keys, const std::vector<NameId>& values,
                            const NameTable& names) {
  if (keys.size() == 1) {
    return fmt::format("`{}` is replaced by `{}`", names.text(keys[0]), names.text(values[0]));
  }
  return fmt::format("{} are replaced by {}, respectively", python_name_list(keys, names),
                     python_name_list(values, names));
}

std::string place_of(const BoundSymbol& statement, StatementId id) {
  if (statement.at.line != 0) return fmt::format("line {}", statement.at.line);
  return fmt::format("statement {}", id + 1);
}

std::string callee_at(const BoundSymbol& statement, StatementId id) {
  if (is_return(statement)) return fmt::format("return ({})", place_of(statement, id));
  return fmt::format("{} ({})", base_name(statement.callee), place_of(statement, id));
}

TypeRef reshaped_type(const TypeRef& like, const std::vector<std::int64_t>& shape) {
  if (!like) return nullptr;
  if (like->shape && *like->shape == shape) return like;
  if (!like->dtype) return nullptr;
  return tensor_type(like->device, *like->dtype, shape);
}

BoundSymbolRef make_reshape(NameId source, const std::vector<std::int64_t>& shape, NameId result,
                            const NameTable& names, SourceRange at) {
  BoundSymbol reshape;
  reshape.at = at;
  reshape.op = OpCode::ReshapePrim;
  reshape.callee = "prims.reshape";
  reshape.output = Value::name(names.text(result));
  reshape.args = {Value::name(names.text(source)), Value::int_tuple(shape)};
  reshape.type = names.type(result);
  return std::make_shared<const BoundSymbol>(std::move(reshape));
}

std::optional<PassError> reshape_error(NameId source, const std::vector<std::int64_t>& shape,
                                       const NameTable& names) {
  const std::optional<std::int64_t> have = names.elements(source);
  const std::optional<std::int64_t> want = element_count(shape);
  if (!have || !want || *have == *want) return std::nullopt;
  return PassError{
      "RuntimeError",
      fmt::format("Attempting to reshape a.shape={} to shape={}, but a.numel={} is "
                  "different from the number of elements in shape, {}",
                  python_tuple(*names.shape(source)), python_tuple(shape), *have, *want),
      kNoStatement};
}

}  // namespace tg
