#include "core/eager/evaluate.h"

#include <charconv>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "core/eager/kernel.h"

namespace tg {
namespace {

using Evaluated = Expected<RuntimeValue, std::string>;

Unexpected<std::string> refuse(std::string message) {
  return Unexpected{std::move(message)};
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// 1e-05, -0.0, float('inf'), -float('inf'), float('NaN'), inf, nan
double parse_float(std::string_view text) {
  const bool negative =
      text.starts_with('-') != (text.find("'-") != text.npos || text.find("\"-") != text.npos);
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower.find("inf") != std::string::npos) {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  if (lower.find("nan") != std::string::npos) return std::numeric_limits<double>::quiet_NaN();
  return std::strtod(lower.c_str(), nullptr);
}

// complex(0.0, -2.5)
std::optional<std::complex<double>> parse_complex(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t comma = text.find(',');
  const std::size_t close = text.rfind(')');
  if (open == text.npos || comma == text.npos || close == text.npos || close < comma)
    return std::nullopt;
  std::string_view imaginary = text.substr(comma + 1, close - comma - 1);
  while (imaginary.starts_with(' ')) imaginary.remove_prefix(1);
  return std::complex<double>(parse_float(text.substr(open + 1, comma - open - 1)),
                              parse_float(imaginary));
}

std::optional<RuntimeValue> builtin_type(std::string_view name) {
  if (name == "float") return RuntimeValue{DTypeValue{DType::Float32, true}};
  if (name == "int") return RuntimeValue{DTypeValue{DType::Int64, true}};
  if (name == "bool") return RuntimeValue{DTypeValue{DType::Bool, true}};
  if (name == "complex") return RuntimeValue{DTypeValue{DType::Complex64, true}};
  return std::nullopt;
}

// The memory format that a sub-statement's stride_order stands for; empty without one.
std::string format_of_substatements(const BoundSymbol& statement) {
  for (const BoundSymbolRef& sub : statement.subsymbols) {
    if (sub->op == OpCode::StrideOrder && sub->args.size() > 1) {
      const Value& order =
          sub->args[1].kind == ValueKind::Keyword ? sub->args[1].items.front() : sub->args[1];
      const bool channels_inner =
          order.items.size() > 1 && order.items[1].text == "0" && order.items.size() > 2;
      return channels_inner ? "torch.channels_last" : "torch.contiguous_format";
    }
    if (std::string found = format_of_substatements(*sub); !found.empty()) return found;
  }
  return {};
}

// _torch_memory_format_3 prints an object whose meaning only the sub-statements tell.
std::string memory_format(const BoundSymbol* statement) {
  if (statement == nullptr) return "torch.preserve_format";
  if (std::string found = format_of_substatements(*statement); !found.empty()) return found;
  return statement->op == OpCode::Contiguous ? "torch.contiguous_format" : "torch.preserve_format";
}

Evaluated evaluate_name(const Value& value, const EvaluationScope& scope) {
  if (const RuntimeValue* bound = scope.names.find(value.text)) return *bound;
  if (value.text == "Ellipsis") return RuntimeValue{EllipsisValue{}};
  if (std::optional<RuntimeValue> type = builtin_type(value.text)) return std::move(*type);
  if (value.text.find("torch_memory_format") != std::string::npos) {
    return RuntimeValue{OpaqueValue{memory_format(scope.statement)}};
  }
  if (const Type* type = scope.types.find(value.text)) {
    if (std::optional<RuntimeValue> number = number_of_type(*type)) return std::move(*number);
  }
  return refuse(fmt::format("name '{}' has no value", value.text));
}

Evaluated evaluate_dotted(const Value& value, const EvaluationScope& scope) {
  if (const std::optional<DType> dtype = parse_dtype(value.text))
    return RuntimeValue{DTypeValue{*dtype, false}};
  if (value.text.find("Size_") != std::string::npos && scope.statement != nullptr &&
      scope.statement->type && scope.statement->type->shape) {
    Sequence sizes;
    for (const std::int64_t size : *scope.statement->type->shape) sizes.items.push_back({size});
    return RuntimeValue{std::move(sizes)};
  }
  return RuntimeValue{OpaqueValue{value.text}};
}

Evaluated evaluate_items(const std::vector<Value>& items, const EvaluationScope& scope,
                         bool is_list) {
  Sequence sequence;
  sequence.is_list = is_list;
  sequence.items.reserve(items.size());
  for (const Value& item : items) {
    Evaluated one = evaluate(item, scope);
    if (!one) return one;
    sequence.items.push_back(std::move(*one));
  }
  return RuntimeValue{std::move(sequence)};
}

Evaluated evaluate_call(const Value& value, const EvaluationScope& scope) {
  const std::string_view callee = value.text;
  if (callee == "slice") {
    Evaluated parts = evaluate_items(value.items, scope, false);
    if (!parts) return parts;
    SliceValue slice{std::move(parts->as<Sequence>()->items)};
    if (slice.parts.size() == 1) slice.parts.insert(slice.parts.begin(), RuntimeValue{});
    slice.parts.resize(3);
    return RuntimeValue{std::move(slice)};
  }
  if (callee.ends_with("evice") && !value.items.empty() &&
      value.items.front().kind == ValueKind::String) {
    return RuntimeValue{DeviceValue{string_content(value.items.front())}};
  }
  if (callee.ends_with("Size") && value.items.size() == 1)
    return evaluate(value.items.front(), scope);
  if (callee.find("return_types.") != callee.npos) {
    std::vector<Value> items;
    for (const Value& item : value.items)
      items.push_back(item.kind == ValueKind::Keyword ? item.items.front() : item);
    return evaluate_items(items, scope, false);
  }
  return RuntimeValue{OpaqueValue{to_text(value)}};
}

Evaluated evaluate_subscript(const Value& value, const EvaluationScope& scope) {
  Evaluated object = evaluate(value.items.front(), scope);
  if (!object) return object;
  Evaluated key = evaluate(value.items.back(), scope);
  if (!key) return key;
  if (const Sequence* sequence = object->as<Sequence>()) {
    const std::int64_t* given = key->as<std::int64_t>();
    const auto size = static_cast<std::int64_t>(sequence->items.size());
    if (given != nullptr && *given >= -size && *given < size) {
      return sequence->items[static_cast<std::size_t>(*given < 0 ? *given + size : *given)];
    }
  }
  if (const Mapping* mapping = object->as<Mapping>()) {
    if (const StringValue* name = key->as<StringValue>()) {
      for (const auto& [one, item] : mapping->items) {
        if (one == name->text) return item;
      }
    }
  }
  if (object->as<OpaqueValue>() != nullptr) return RuntimeValue{OpaqueValue{to_text(value)}};
  return refuse(fmt::format("'{}' has no value", to_text(value)));
}

}  // namespace

std::optional<RuntimeValue> number_of_type(const Type& type) {
  if (type.value.empty() || type.value == "?") return std::nullopt;
  switch (type.kind) {
    case TypeKind::Int:
      if (const std::optional<std::int64_t> number = parse_integer(type.value))
        return RuntimeValue{*number};
      return std::nullopt;
    case TypeKind::Float:
      return RuntimeValue{parse_float(type.value)};
    case TypeKind::Bool:
      return RuntimeValue{type.value == "True"};
    case TypeKind::Complex:
    case TypeKind::Unknown:
    case TypeKind::Tensor:
    case TypeKind::FutureTensor:
    case TypeKind::DistributedTensor:
    case TypeKind::String:
    case TypeKind::Collection:
    case TypeKind::Any:
    case TypeKind::Class:
    case TypeKind::Opaque:
      return std::nullopt;
  }
  return std::nullopt;
}

Evaluated evaluate(const Value& value, const EvaluationScope& scope) {
  switch (value.kind) {
    case ValueKind::Absent:
    case ValueKind::None:
      return RuntimeValue{NoneValue{}};
    case ValueKind::Name:
      return evaluate_name(value, scope);
    case ValueKind::Dotted:
      return evaluate_dotted(value, scope);
    case ValueKind::Int:
      if (const std::optional<std::int64_t> number = parse_integer(value.text))
        return RuntimeValue{*number};
      return refuse(fmt::format("the integer {} does not fit 64 bits", value.text));
    case ValueKind::Float:
      return RuntimeValue{parse_float(value.text)};
    case ValueKind::Complex:
      if (const std::optional<std::complex<double>> number = parse_complex(value.text))
        return RuntimeValue{*number};
      return refuse(fmt::format("'{}' is no complex number", value.text));
    case ValueKind::Bool:
      return RuntimeValue{value.text == "True"};
    case ValueKind::Ellipsis:
      return RuntimeValue{EllipsisValue{}};
    case ValueKind::String:
      return RuntimeValue{StringValue{string_content(value)}};
    case ValueKind::Tuple:
      return evaluate_items(value.items, scope, false);
    case ValueKind::List:
      return evaluate_items(value.items, scope, true);
    case ValueKind::Dict: {
      Mapping mapping;
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        Evaluated item = evaluate(value.items[i + 1], scope);
        if (!item) return item;
        const Value& key = value.items[i];
        mapping.items.push_back(
            {key.kind == ValueKind::String ? string_content(key) : to_text(key), std::move(*item)});
      }
      return RuntimeValue{std::move(mapping)};
    }
    case ValueKind::Call:
      return evaluate_call(value, scope);
    case ValueKind::Keyword:
      return evaluate(value.items.front(), scope);
    case ValueKind::Subscript:
      return evaluate_subscript(value, scope);
    case ValueKind::Attribute:
    case ValueKind::Method:
    case ValueKind::Opaque:
      return RuntimeValue{OpaqueValue{to_text(value)}};
  }
  return refuse("a value of unknown kind");
}

}  // namespace tg
