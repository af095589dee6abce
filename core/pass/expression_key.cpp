#include "core/pass/expression_key.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

namespace tg {
namespace {

// "7" for 7, 7.0 and -0 for "-0.0": numbers of up to 15 digits without a fraction, whose text
// tells.
std::optional<std::string_view> whole_number(const Value& value) {
  std::string_view text = value.text;
  if (value.kind == ValueKind::Float) {
    if (!text.ends_with(".0")) return std::nullopt;
    text.remove_suffix(2);
  }
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  if (text.size() == sign || text.size() > 15 + sign) return std::nullopt;
  for (const char c : text.substr(sign)) {
    if (c < '0' || c > '9') return std::nullopt;
  }
  if (text[sign] == '0' && text.size() > sign + 1) return std::nullopt;
  return text == "-0" ? std::string_view("0") : text;
}

// Literals as Python compares them: 1 == 1.0 == True, 0.0 == -0.0.
void append_key(std::string& key, const Value& value) {
  switch (value.kind) {
    case ValueKind::Bool:
      key += value.text == "True" ? "#1" : "#0";
      return;
    case ValueKind::Int:
    case ValueKind::Float: {
      key += '#';
      if (const std::optional<std::string_view> whole = whole_number(value)) {
        key += *whole;
        return;
      }
      // Beyond 2**53 a double would merge different integers.
      char* end = nullptr;
      const double number = std::strtod(value.text.c_str(), &end);
      const bool is_exact = value.kind == ValueKind::Float || value.text.size() < 16;
      key += is_exact && *end == '\0' ? fmt::format("{}", number + 0.0) : value.text;
      return;
    }
    case ValueKind::Tuple:
    case ValueKind::List:
      // Thunder makes lists hashable by turning them into tuples.
      key += '(';
      for (const Value& item : value.items) {
        append_key(key, item);
        key += ',';
      }
      key += ')';
      return;
    case ValueKind::Dict:
    case ValueKind::Call:
    case ValueKind::Keyword:
      key += value.text;
      key += '{';
      for (const Value& item : value.items) {
        append_key(key, item);
        key += ',';
      }
      key += '}';
      return;
    case ValueKind::Absent:
    case ValueKind::Name:
    case ValueKind::Dotted:
    case ValueKind::Complex:
    case ValueKind::None:
    case ValueKind::Ellipsis:
    case ValueKind::String:
    case ValueKind::Subscript:
    case ValueKind::Attribute:
    case ValueKind::Method:
    case ValueKind::Opaque:
      append_text(key, value);
      return;
  }
}

}  // namespace

void append_expression_key(std::string& key, const BoundSymbol& statement) {
  if (statement.kind == StatementKind::UnpackTrivial) {
    key += "annotation ";
    append_text(key, statement.output);
    return;
  }
  key += static_cast<char>('A' + static_cast<int>(statement.kind));
  key += statement.callee;
  std::vector<const Value*> keywords;
  for (const Value& arg : statement.args) {
    if (arg.kind == ValueKind::Keyword) {
      keywords.push_back(&arg);
      continue;
    }
    key += ' ';
    append_key(key, arg);
  }
  std::stable_sort(keywords.begin(), keywords.end(),
                   [](const Value* a, const Value* b) { return a->text < b->text; });
  for (const Value* keyword : keywords) {
    key += ' ';
    append_key(key, *keyword);
  }
}

std::string expression_key(const BoundSymbol& statement) {
  std::string key;
  append_expression_key(key, statement);
  return key;
}

bool is_never_merged(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call && statement.op_info().has(kRandom);
}

}  // namespace tg
