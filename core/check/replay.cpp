#include "core/check/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/ir/verifier.h"
#include "core/pass/pipeline.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {
namespace {

// Writes an argument, and neither a tag nor a table of Thunder's tells so.
bool writes_unknown_to_thunder(const OpInfo& op) {
  return op.mutated_param >= 0 &&
         !op.has(kInPlace | kCopyInto | kHidesWrites | kDontDce | kThunderUntagged);
}

// `replaced` reads `argument` now, through a view of shape `shape` unless that is empty.
struct StatedAlias {
  std::string replaced;
  std::string argument;
  std::string shape;
};

// `argument` of the pair may be a view that the pass put in: t7 = prims.reshape(a, (2, 3)).
StatedAlias resolved(const Trace& trace, StatedAlias pair) {
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->output.is_name(pair.argument) && statement->args.size() == 2) {
      pair.shape = to_text(statement->args[1]);
      pair.argument = to_text(statement->args[0]);
      break;
    }
  }
  return pair;
}

// The words between backquotes or quotes.
std::vector<std::string> quoted(std::string_view text, char mark) {
  std::vector<std::string> words;
  for (std::size_t at = text.find(mark); at != std::string_view::npos;) {
    const std::size_t end = text.find(mark, at + 1);
    if (end == std::string_view::npos) break;
    words.emplace_back(text.substr(at + 1, end - at - 1));
    at = text.find(mark, end + 1);
  }
  return words;
}

// "[alias tensor args] `b` is replaced by `a`", or "['b', 'd'] are replaced by ['a', 'c'],
// respectively".
void pairs_of_header(const Trace& trace, std::string_view header, std::vector<StatedAlias>& pairs) {
  constexpr std::string_view kHeader = "[alias tensor args] ";
  const std::size_t at = header.find(kHeader);
  if (at == std::string_view::npos) return;
  const std::string_view text = header.substr(at + kHeader.size());
  const std::vector<std::string> words = quoted(text, text.starts_with('`') ? '`' : '\'');
  for (std::size_t i = 0; i < words.size() / 2; ++i) {
    const bool known = std::any_of(pairs.begin(), pairs.end(), [&](const StatedAlias& pair) {
      return pair.replaced == words[i];
    });
    if (!known) pairs.push_back(resolved(trace, {words[i], words[i + words.size() / 2], ""}));
  }
}

// From the provenance line of the pass, else from what it noted at the statements.
std::vector<StatedAlias> stated_pairs(const Trace& trace) {
  constexpr std::string_view kProvenance = "Duplicate alias args using {";
  std::vector<StatedAlias> pairs;
  if (!trace.provenance.starts_with(kProvenance)) {
    for (const BoundSymbolRef& statement : trace.bound_symbols) {
      for (const std::string& header : statement->header) pairs_of_header(trace, header, pairs);
    }
    return pairs;
  }
  const Result<Value> map =
      parse_value(std::string_view(trace.provenance).substr(kProvenance.size() - 1));
  if (!map || map->kind != ValueKind::Dict) return pairs;
  for (std::size_t i = 0; i + 1 < map->items.size(); i += 2) {
    pairs.push_back(
        resolved(trace, {string_content(map->items[i]), string_content(map->items[i + 1]), ""}));
  }
  return pairs;
}

bool is_unknown_effect(const BoundSymbol& statement) {
  if (statement.kind != StatementKind::Call) return false;
  const OpInfo& op = statement.op_info();
  return op.code == OpCode::Opaque || writes_unknown_to_thunder(op);
}

}  // namespace

bool is_acquired(const Trace& trace) {
  if (!trace.provenance.empty()) return false;
  std::size_t returns = 0;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::Del) return false;
    if (statement->kind != StatementKind::Return) continue;
    ++returns;
    if (statement->args.size() > 1) return false;
    if (!statement->args.empty() && statement->args.front().kind == ValueKind::Dict) return false;
  }
  return returns == 1;
}

std::string why_no_replay(const Trace& trace) {
  DiagnosticSink sink;
  verify(trace, sink);
  for (const Diagnostic& found : sink.all()) {
    if (found.severity == Severity::Error || found.code == DiagnosticCode::DuplicateDefinition) {
      return fmt::format("line {}: {}", found.at.line, found.message);
    }
  }
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (is_unknown_effect(*statement)) {
      return fmt::format("line {}: what `{}` does is unknown to them", statement->at.line,
                         statement->callee);
    }
  }
  return {};
}

std::vector<std::string> stated_aliases(const TraceFile& file) {
  std::vector<std::string> options;
  for (const Phase& phase : file.phases) {
    for (const StatedAlias& pair : stated_pairs(phase.trace)) {
      options.push_back(
          fmt::format("{}={}{}", pair.replaced, pair.argument,
                      pair.shape.empty() ? "" : fmt::format(".view({})", pair.shape)));
    }
    if (!options.empty()) break;
  }
  return options;
}

std::vector<std::string_view> passes_after(const Trace& trace) {
  const std::vector<std::string_view> all = named_pipeline("thunder-2024-12");
  const auto from = [&all](std::string_view name) {
    return std::vector<std::string_view>(std::find(all.begin(), all.end(), name), all.end());
  };
  const std::string_view made_by =
      std::string_view(trace.provenance).substr(0, trace.provenance.find(" (took "));
  if (made_by == "Return arguments to track copies onto them")
    return from("remove_context_managers");
  if (made_by == "Remove context manager prims") return from("check_inplace_views");
  if (made_by == "Intermediate trace of `functionalize_inplace_ops`") {
    std::vector<std::string_view> passes = from("dead_code");
    passes.insert(passes.begin(), "functionalize_copies");
    return passes;
  }
  if (made_by == "Functionalize in-place ops") return from("dead_code");
  if (made_by == "Delete Last Used") return from("inplace_sanity");
  return {};
}

AliasGroups stated_alias_groups(const Trace& trace) {
  const auto position = [&trace](const std::string& name) {
    return static_cast<std::size_t>(
        std::find_if(trace.parameters.begin(), trace.parameters.end(),
                     [&name](const Parameter& parameter) { return parameter.name == name; }) -
        trace.parameters.begin());
  };
  AliasGroups groups;
  for (const StatedAlias& pair : stated_pairs(trace)) {
    const std::size_t first = position(pair.argument);
    const std::size_t second = position(pair.replaced);
    if (first == trace.parameters.size() || second == trace.parameters.size()) continue;
    const auto group = std::find_if(groups.begin(), groups.end(), [first](const auto& members) {
      return members.front() == first;
    });
    if (group == groups.end()) {
      groups.push_back({first, second});
    } else {
      group->push_back(second);
    }
  }
  for (std::vector<std::size_t>& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

}  // namespace tg
