#include "core/golden/pass_case.h"

#include <cstdlib>

#include "core/base/text.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

std::vector<std::int64_t> numbers_in(const Value& tuple) {
  std::vector<std::int64_t> numbers;
  for (const Value& item : tuple.items)
    numbers.push_back(std::strtoll(item.text.c_str(), nullptr, 10));
  return numbers;
}

}  // namespace

PassCase read_pass_case(const std::string& text) {
  PassCase found;
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with("### verdict: ")) {
      found.verdict = std::string(line.substr(13));
    } else if (line.starts_with("### ")) {
      found.title = std::string(line);
      const std::size_t open = line.find('[');
      found.era = open == std::string_view::npos ? "" : std::string(line.substr(open + 1, 4));
    } else if (line.starts_with("--- ")) {
      found.blocks.push_back({std::string(line.substr(4)), {}, std::nullopt});
    } else if (!found.blocks.empty() && !(line.empty() && found.blocks.back().text.empty())) {
      found.blocks.back().text += line;
      found.blocks.back().text += '\n';
    }
  }
  for (Block& block : found.blocks) {
    while (block.text.ends_with("\n\n")) block.text.pop_back();
    if (block.text.find("def ") != std::string::npos)
      block.file = parse_trace_file(block.title, block.text);
  }
  return found;
}

const Trace* trace_of(const Block& block) {
  return block.file && block.file->phases.size() == 1 ? &block.file->phases.front().trace : nullptr;
}

// ---- what the blocks say besides traces

// "[[0, 1], [2, 3]]"
AliasGroups groups_in(std::string_view title) {
  AliasGroups groups;
  const std::size_t open = title.find("[[");
  const std::size_t close = title.find("]]");
  if (open == std::string_view::npos || close == std::string_view::npos) return groups;
  const Result<Value> value = parse_value(title.substr(open, close + 2 - open));
  if (!value.has_value()) return groups;
  for (const Value& group : value->items) {
    std::vector<std::size_t> indices;
    for (const Value& index : group.items) {
      indices.push_back(static_cast<std::size_t>(std::strtoull(index.text.c_str(), nullptr, 10)));
    }
    groups.push_back(std::move(indices));
  }
  return groups;
}

// {'a': ('S', 0, (2, 2), (2, 1)), ...}: storage, offset, sizes, strides
ArgumentFacts facts_in(std::string_view title) {
  ArgumentFacts facts;
  const std::size_t open = title.find("geometry {");
  if (open == std::string_view::npos) return facts;
  const Result<Value> value = parse_value(title.substr(open + 9));
  if (!value.has_value() || value->kind != ValueKind::Dict) return facts;
  for (std::size_t i = 0; i + 1 < value->items.size(); i += 2) {
    const Value& place = value->items[i + 1];
    if (place.items.size() != 4) continue;
    ArgumentFacts::Window window;
    window.name = string_content(value->items[i]);
    window.geometry = {numbers_in(place.items[2]), numbers_in(place.items[3]),
                       std::strtoll(place.items[1].text.c_str(), nullptr, 10)};
    facts.windows.push_back(std::move(window));
  }
  return facts;
}

std::vector<std::pair<std::string, std::string>> map_in(std::string_view title) {
  std::vector<std::pair<std::string, std::string>> map;
  const std::size_t open = title.find('{');
  if (open == std::string_view::npos) return map;
  const Result<Value> value = parse_value(title.substr(open));
  if (!value.has_value()) return map;
  for (std::size_t i = 0; i + 1 < value->items.size(); i += 2) {
    map.emplace_back(string_content(value->items[i]), string_content(value->items[i + 1]));
  }
  return map;
}

}  // namespace tg::golden
