#include "core/ir/op.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/base/check.h"

namespace tg {
namespace {

struct Row {
  OpCode code;
  std::string_view name;
  std::string_view id;
  std::string_view spellings;
  std::string_view schema;
  std::uint32_t traits;
  OpCode twin;
};

constexpr Row kRows[] = {
    {OpCode::Opaque, "Opaque", "", "", "(...)", kNone, OpCode::Opaque},
    {OpCode::Fusion, "Fusion", "", "", "(...)", kNone, OpCode::Opaque},
#define TG_OP(name, id, spellings, schema, traits) \
  {OpCode::name, #name, id, spellings, schema, traits, OpCode::Opaque},
#define TG_OP_INPLACE(name, id, spellings, schema, twin) \
  {OpCode::name, #name, id, spellings, schema, kInPlace, OpCode::twin},
#define TG_OP_INPLACE_UNTAGGED(name, id, spellings, schema, twin) \
  {OpCode::name, #name, id, spellings, schema, kInPlace | kThunderUntagged, OpCode::twin},
#include "core/ir/ops.def"
#undef TG_OP
#undef TG_OP_INPLACE
#undef TG_OP_INPLACE_UNTAGGED
};

std::string_view strip(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "Tensor(a!) a" or "Scalar alpha=1" -> Param
Param parse_param(std::string_view text, bool keyword_only) {
  Param param;
  param.keyword_only = keyword_only;
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    param.default_text = text.substr(equals + 1);
    text = text.substr(0, equals);
  }
  const std::size_t space = text.rfind(' ');
  TG_CHECK(space != std::string_view::npos);
  param.name = text.substr(space + 1);
  param.type = text.substr(0, space);
  const std::size_t open = param.type.find('(');
  if (open != std::string_view::npos) {
    const std::size_t close = param.type.find(')', open);
    TG_CHECK(close != std::string_view::npos);
    param.alias = param.type.substr(open + 1, close - open - 1);
  }
  return param;
}

std::vector<Param> parse_params(std::string_view schema) {
  std::vector<Param> params;
  const std::size_t arrow = schema.rfind(") ->");
  std::string_view list = schema.substr(1, arrow == std::string_view::npos ? 0 : arrow - 1);
  bool keyword_only = false;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || depth != 0) continue;
    const std::string_view text = strip(list.substr(begin, i - begin));
    begin = i + 1;
    if (text.empty() || text == "...") continue;  // "(...)": any arguments
    if (text == "*") {
      keyword_only = true;
    } else {
      params.push_back(parse_param(text, keyword_only));
    }
  }
  return params;
}

OpInfo make_info(const Row& row) {
  OpInfo op;
  op.code = row.code;
  op.name = row.name;
  op.id = row.id;
  op.spellings = row.spellings;
  op.schema = row.schema;
  op.traits = row.traits;
  op.twin = row.twin;
  op.params = parse_params(row.schema);
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    if (op.params[i].alias == "a!" && op.mutated_param < 0) op.mutated_param = static_cast<int>(i);
    if (op.params[i].alias == "a" && op.viewed_param < 0) op.viewed_param = static_cast<int>(i);
    if (op.params[i].name == "inplace") op.inplace_flag = static_cast<int>(i);
  }
  return op;
}

const std::vector<OpInfo>& table() {
  static const std::vector<OpInfo> ops = [] {
    std::vector<OpInfo> all;
    for (const Row& row : kRows) all.push_back(make_info(row));
    return all;
  }();
  return ops;
}

const std::unordered_map<std::string_view, OpCode>& spelling_table() {
  static const std::unordered_map<std::string_view, OpCode> spellings = [] {
    std::unordered_map<std::string_view, OpCode> all;
    for (const Row& row : kRows) {
      std::string_view rest = row.spellings;
      while (!rest.empty()) {
        const std::size_t space = rest.find(' ');
        const std::string_view spelling = rest.substr(0, space);
        if (!spelling.empty()) {
          const bool unique = all.emplace(spelling, row.code).second;
          TG_CHECK(unique);
        }
        if (space == std::string_view::npos) break;
        rest.remove_prefix(space + 1);
      }
    }
    return all;
  }();
  return spellings;
}

}  // namespace

const OpInfo& info(OpCode code) { return table()[static_cast<std::size_t>(code)]; }

std::span<const OpInfo> all_ops() { return table(); }

OpCode op_of(std::string_view callee) {
  const auto& spellings = spelling_table();
  const auto found = spellings.find(callee);
  if (found != spellings.end()) return found->second;
  return is_fusion_name(callee) ? OpCode::Fusion : OpCode::Opaque;
}

bool is_fusion_name(std::string_view callee) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"nvFusion", "TorchCompile", "CUDAGraph"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [callee](std::string_view prefix) {
    if (!callee.starts_with(prefix) || callee.size() == prefix.size()) return false;
    const std::string_view digits = callee.substr(prefix.size());
    return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  });
}

std::string_view base_name(std::string_view callee) {
  const std::size_t dot = callee.rfind('.');
  return dot == std::string_view::npos ? callee : callee.substr(dot + 1);
}

}  // namespace tg
