#include "core/ir/value.h"

#include <algorithm>
#include <numeric>

namespace tg {
namespace {

void append_items(std::string& out, const std::vector<Value>& items, std::size_t first, bool tight) {
  for (std::size_t i = first; i < items.size(); ++i) {
    if (i != first) out += tight ? "," : ", ";
    append_text(out, items[i]);
  }
}

// How torch's structseq types print themselves.
void append_lines(std::string& out, const std::vector<Value>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append_text(out, items[i]);
  }
}

}  // namespace

Value Value::leaf(ValueKind kind, std::string_view text) {
  Value value;
  value.kind = kind;
  value.text = std::string(text);
  return value;
}

Value Value::nested(ValueKind kind, std::string_view text, std::vector<Value> items) {
  Value value = leaf(kind, text);
  value.items = std::move(items);
  return value;
}

Value Value::string(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string raw(1, quote);
  for (const char c : text) {
    if (c == '\\' || c == quote) raw += '\\';
    if (c == '\n') {
      raw += "\\n";
    } else {
      raw += c;
    }
  }
  raw += quote;
  return leaf(ValueKind::String, raw);
}

Value Value::keyword(std::string_view name, Value value) {
  std::vector<Value> items;
  items.push_back(std::move(value));
  return nested(ValueKind::Keyword, name, std::move(items));
}

Value Value::int_tuple(const std::vector<std::int64_t>& values) {
  std::vector<Value> items;
  items.reserve(values.size());
  for (const std::int64_t value : values) items.push_back(integer(value));
  return tuple(std::move(items));
}

std::vector<std::size_t> sorted_dict_values(const Value& dict) {
  std::vector<std::size_t> order(dict.items.size() / 2);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&dict](std::size_t a, std::size_t b) {
    return dict.items[2 * a].text < dict.items[2 * b].text;
  });
  for (std::size_t& index : order) index = 2 * index + 1;
  return order;
}

std::string string_content(const Value& value) {
  std::string_view raw = value.text;
  while (!raw.empty() && raw.front() != '\'' && raw.front() != '"') raw.remove_prefix(1);
  if (raw.size() >= 2 && raw.back() == raw.front()) {
    raw.remove_prefix(1);
    raw.remove_suffix(1);
  }
  std::string content;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\\' && i + 1 < raw.size()) {
      ++i;
      content += raw[i] == 'n' ? '\n' : raw[i] == 't' ? '\t' : raw[i];
    } else {
      content += raw[i];
    }
  }
  return content;
}

void append_text(std::string& out, const Value& value) {
  switch (value.kind) {
    case ValueKind::Absent: return;
    case ValueKind::Name:
    case ValueKind::Dotted:
    case ValueKind::Int:
    case ValueKind::Float:
    case ValueKind::Complex:
    case ValueKind::Bool:
    case ValueKind::None:
    case ValueKind::Ellipsis:
    case ValueKind::String:
    case ValueKind::Opaque: out += value.text; return;
    case ValueKind::Tuple:
      out += '(';
      append_items(out, value.items, 0, false);
      out += value.items.size() == 1 ? ",)" : ")";
      return;
    case ValueKind::List:
      out += '[';
      append_items(out, value.items, 0, false);
      out += value.trailing_comma && !value.items.empty() ? ", ]" : "]";
      return;
    case ValueKind::Dict:
      out += '{';
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        if (i != 0) out += ", ";
        append_text(out, value.items[i]);
        out += ": ";
        append_text(out, value.items[i + 1]);
      }
      out += '}';
      return;
    case ValueKind::Call:
      out += value.text;
      out += '(';
      if (value.one_per_line) {
        append_lines(out, value.items);
      } else {
        append_items(out, value.items, 0, value.tight);
      }
      out += ')';
      return;
    case ValueKind::Keyword:
      out += value.text;
      out += '=';
      append_text(out, value.items.front());
      return;
    case ValueKind::Subscript:
      append_text(out, value.items.front());
      out += '[';
      append_text(out, value.items.back());
      out += ']';
      return;
    case ValueKind::Attribute:
      append_text(out, value.items.front());
      out += '.';
      out += value.text;
      return;
    case ValueKind::Method:
      append_text(out, value.items.front());
      out += '.';
      out += value.text;
      out += '(';
      append_items(out, value.items, 1, value.tight);
      out += ')';
      return;
  }
}

std::string to_text(const Value& value) {
  std::string out;
  append_text(out, value);
  return out;
}

}  // namespace tg
