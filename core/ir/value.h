// Value: one argument, output or return leaf as a trace prints it, possibly nested.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tg {

enum class ValueKind : std::uint8_t {
  Absent,    // no value here (a statement without "OUT =")
  Name,      // t0, x, _torch_memory_format_0, float; text = the name, never dotted
  Dotted,    // torch.float32, dtypes.float32_, obj0.__defaults__
  Int,       // text = the lexeme; arbitrary precision
  Float,     // 1e-05, -0.0, also float('inf'), -float('inf'), float('NaN')
  Complex,   // complex(0.0, -2.5)
  Bool,      // True, False
  None,
  Ellipsis,
  String,    // text = the raw lexeme with its quotes and prefix
  Tuple,     // items
  List,      // items; the flag `trailing_comma` prints "[a, b, ]"
  Dict,      // items = key, value, key, value, ...
  Call,      // text = callee; items = arguments, Keyword for NAME=VALUE; slice(0,8,None), torch.device("cpu"), Pair(lo=t1)
  Keyword,   // NAME=VALUE inside a Call or an argument list; text = NAME, items = {value}
  Subscript, // items = {object, key}: args[0]
  Attribute, // text = attribute, items = {object}, where the object is no plain dotted name: f()[0].shape
  Method,    // text = method, items = {object, arguments...}: globals()['x'].__iter__()
  Opaque,    // text printed as it is: "[IntegerProxy name=i0, value=2]", "<Foo>", broken strings
};

struct Value {
  ValueKind kind = ValueKind::Absent;
  bool tight = false;           // Call: ',' without a space, as slice(0,8,None) and dataclass calls
  bool trailing_comma = false;  // List of pack_list: "[a, b, ]"
  bool one_per_line = false;    // Call: torch.return_types.max(values=t0, ...) breaks the line before each item
  std::string text;
  std::vector<Value> items;

  [[nodiscard]] bool is_name() const { return kind == ValueKind::Name; }
  [[nodiscard]] bool is_name(std::string_view name) const { return is_name() && text == name; }
  [[nodiscard]] bool is_collection() const {
    return kind == ValueKind::Tuple || kind == ValueKind::List || kind == ValueKind::Dict;
  }
  friend bool operator==(const Value&, const Value&) = default;

  static Value absent() { return {}; }
  static Value none() { return leaf(ValueKind::None, "None"); }
  static Value name(std::string_view text) { return leaf(ValueKind::Name, text); }
  static Value integer(std::int64_t value) { return leaf(ValueKind::Int, std::to_string(value)); }
  static Value boolean(bool value) { return leaf(ValueKind::Bool, value ? "True" : "False"); }
  static Value string(std::string_view text);  // quotes `text` as Python's repr would
  static Value tuple(std::vector<Value> items) { return nested(ValueKind::Tuple, "", std::move(items)); }
  static Value list(std::vector<Value> items) { return nested(ValueKind::List, "", std::move(items)); }
  static Value dict(std::vector<Value> items) { return nested(ValueKind::Dict, "", std::move(items)); }
  static Value call(std::string_view callee, std::vector<Value> items) {
    return nested(ValueKind::Call, callee, std::move(items));
  }
  static Value keyword(std::string_view name, Value value);
  static Value int_tuple(const std::vector<std::int64_t>& values);
  static Value leaf(ValueKind kind, std::string_view text);
  static Value nested(ValueKind kind, std::string_view text, std::vector<Value> items);
};

// Calls f(const Value&) for every leaf in Thunder's flattening order: tuple, list, Call (slice, dataclass)
// in order; dict in sorted key order (passes.md 0.2). Names, numbers, None... are leaves.
template <typename F>
void for_each_leaf(const Value& value, F&& f);

// The same without sorting dict keys: the order in which the leaves are printed.
template <typename F>
void for_each_leaf_as_printed(const Value& value, F&& f);

// Indices of the dict's values in sorted key order. Requires kind == Dict.
std::vector<std::size_t> sorted_dict_values(const Value& dict);

// Text of a String value without quotes and escapes, best effort: "'mean'" -> "mean".
std::string string_content(const Value& value);

// The value as Python prints it inside a trace: "(a, b)", "slice(0,8,None)", "key=v".
std::string to_text(const Value& value);
void append_text(std::string& out, const Value& value);

// ---- template definitions

template <typename F>
void for_each_leaf(const Value& value, F&& f) {
  switch (value.kind) {
    case ValueKind::Absent: return;
    case ValueKind::Tuple:
    case ValueKind::List:
    case ValueKind::Call:
    case ValueKind::Keyword:
    case ValueKind::Subscript:
    case ValueKind::Attribute:
    case ValueKind::Method:
      for (const Value& part : value.items) for_each_leaf(part, f);
      return;
    case ValueKind::Dict:
      for (const std::size_t index : sorted_dict_values(value)) for_each_leaf(value.items[index], f);
      return;
    case ValueKind::Name:
    case ValueKind::Dotted:
    case ValueKind::Int:
    case ValueKind::Float:
    case ValueKind::Complex:
    case ValueKind::Bool:
    case ValueKind::None:
    case ValueKind::Ellipsis:
    case ValueKind::String:
    case ValueKind::Opaque: f(value); return;
  }
}

template <typename F>
void for_each_leaf_as_printed(const Value& value, F&& f) {
  if (value.kind == ValueKind::Dict) {
    for (std::size_t i = 1; i < value.items.size(); i += 2) {
      for_each_leaf_as_printed(value.items[i], f);
    }
    return;
  }
  if (value.items.empty()) {
    if (value.kind != ValueKind::Absent && !value.is_collection() && value.kind != ValueKind::Call) {
      f(value);
    }
    return;
  }
  for (const Value& part : value.items) for_each_leaf_as_printed(part, f);
}

}  // namespace tg
