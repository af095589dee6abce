#include "core/ir/bound_symbol.h"

#include <algorithm>

#include "core/base/text.h"

namespace tg {
namespace {

bool same_type(const TypeRef& a, const TypeRef& b) { return a == b || (a && b && *a == *b); }

bool same_types(const std::vector<TypeRef>& a, const std::vector<TypeRef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_type);
}

bool same_program_line(const std::shared_ptr<const ProgramLine>& a,
                       const std::shared_ptr<const ProgramLine>& b) {
  return a == b || (a && b && *a == *b);
}

bool same_statements(const std::vector<BoundSymbolRef>& a, const std::vector<BoundSymbolRef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const BoundSymbolRef& x, const BoundSymbolRef& y) { return x == y || *x == *y; });
}

}  // namespace

bool operator==(const BoundSymbol& a, const BoundSymbol& b) {
  return a.kind == b.kind && a.op == b.op && a.callee == b.callee && a.output == b.output &&
         a.args == b.args && same_type(a.type, b.type) && a.details == b.details &&
         same_types(a.detail_types, b.detail_types) && a.header == b.header && a.layout == b.layout &&
         same_program_line(a.program_line, b.program_line) &&
         same_statements(a.subsymbols, b.subsymbols);
}

std::vector<std::string_view> argument_names(const BoundSymbol& statement) {
  std::vector<std::string_view> names;
  const auto collect = [&names](const Value& leaf) {
    if (leaf.is_name()) names.push_back(leaf.text);
  };
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
  return names;
}

std::vector<std::string_view> output_names(const BoundSymbol& statement) {
  std::vector<std::string_view> names;
  if (statement.kind == StatementKind::PackAssign) return names;
  for_each_leaf(statement.output, [&names](const Value& leaf) {
    if (leaf.is_name() && leaf.text != "_") names.push_back(leaf.text);
  });
  return names;
}

bool has_remark(const BoundSymbol& statement, std::string_view remark) {
  if (statement.kind != StatementKind::UnpackTrivial) return false;
  std::string_view rest = statement.callee;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (trim(rest.substr(0, comma)) == remark) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

const Value* keyword_argument(const BoundSymbol& statement, std::string_view name) {
  for (const Value& arg : statement.args) {
    if (arg.kind == ValueKind::Keyword && arg.text == name) return &arg.items.front();
  }
  return nullptr;
}

std::size_t positional_count(const BoundSymbol& statement) {
  return static_cast<std::size_t>(
      std::count_if(statement.args.begin(), statement.args.end(),
                    [](const Value& arg) { return arg.kind != ValueKind::Keyword; }));
}

}  // namespace tg
