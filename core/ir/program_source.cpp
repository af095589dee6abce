#include "core/ir/program_source.h"

#include <algorithm>

namespace tg {
namespace {

constexpr std::string_view kTwinMark = "Functionalized from `";
// Chains of views between a value and the copy_ that stores it are short.
constexpr int kMostViews = 64;

// "t2" of a header "Functionalized from `t2 = mul_(v,-1)`"; empty if there is none.
std::string_view replaced_name(const BoundSymbol& statement) {
  for (const std::string& header : statement.header) {
    if (!header.starts_with(kTwinMark)) continue;
    const std::string_view rest = std::string_view(header).substr(kTwinMark.size());
    return rest.substr(0, std::min(rest.find(" = "), rest.size()));
  }
  return {};
}

const ProgramLine* line_in_earlier(std::string_view name,
                                   const std::vector<const Trace*>& earlier) {
  for (auto trace = earlier.rbegin(); trace != earlier.rend(); ++trace) {
    for (const BoundSymbolRef& statement : (*trace)->bound_symbols) {
      if (!statement->output.is_name(name) || statement->kind != StatementKind::Call) continue;
      if (statement->program_line) return statement->program_line.get();
      break;
    }
  }
  return nullptr;
}

}  // namespace

Producers::Producers(const Trace& trace) : trace_(trace) {
  by_name_.reserve(trace.bound_symbols.size());
  for (std::uint32_t i = 0; i < trace.bound_symbols.size(); ++i) {
    const BoundSymbol& statement = *trace.bound_symbols[i];
    if (statement.kind == StatementKind::UnpackTrivial) continue;
    for (const std::string_view name : output_names(statement)) by_name_[name].push_back(i);
  }
}

const BoundSymbol* Producers::find(std::string_view name, std::uint32_t before) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  const auto after = std::lower_bound(found->second.begin(), found->second.end(), before);
  return after == found->second.begin() ? nullptr : trace_.bound_symbols[*(after - 1)].get();
}

const BoundSymbol* Producers::maker(std::string_view name, std::uint32_t before) const {
  const BoundSymbol* made = find(name, before);
  for (int i = 0; i < kMostViews && made != nullptr; ++i) {
    const OpInfo& op = made->op_info();
    if (made->kind != StatementKind::Call || !op.has(kView | kMaybeView) || made->args.empty() ||
        !made->args.front().is_name() || !made->header.empty()) {
      return made;
    }
    const BoundSymbol* from = find(made->args.front().text, before);
    if (from == nullptr || from == made) return made;
    made = from;
  }
  return made;
}

std::string_view stored_name(const BoundSymbol& statement) {
  const OpInfo& op = statement.op_info();
  if (statement.kind != StatementKind::Call || !op.has(kCopyInto)) return {};
  const std::size_t source = op.mutated_param == 0 ? 1 : 0;
  if (source >= statement.args.size() || !statement.args[source].is_name()) return {};
  return statement.args[source].text;
}

ProgramSource source_of(const Trace& trace, std::uint32_t statement,
                        const std::vector<const Trace*>& earlier) {
  const BoundSymbol& asked = *trace.bound_symbols[statement];
  ProgramSource source;
  source.line = asked.program_line.get();
  const std::string_view stored = stored_name(asked);
  if (source.line != nullptr || stored.empty()) return source;
  // An acquired trace has no statement that a pass added, and what it has no pass added later.
  if (trace.provenance.empty()) return source;
  source.added_by_pass =
      earlier.empty() ||
      std::none_of(earlier.front()->bound_symbols.begin(), earlier.front()->bound_symbols.end(),
                   [&asked](const BoundSymbolRef& there) {
                     return there->op == asked.op && there->args == asked.args;
                   });
  const BoundSymbol* const maker = Producers(trace).maker(stored, statement);
  if (maker == nullptr) return source;
  source.line = maker->program_line.get();
  const std::string_view replaced = replaced_name(*maker);
  if (!replaced.empty()) source.line = line_in_earlier(replaced, earlier);
  // Later phases have lost the header: the value's name is the twin's own.
  if (source.line == nullptr && maker->output.is_name()) {
    for (auto before = earlier.rbegin(); before != earlier.rend() && !source.line; ++before) {
      for (const BoundSymbolRef& candidate : (*before)->bound_symbols) {
        if (!candidate->output.is_name(maker->output.text)) continue;
        const std::string_view name = replaced_name(*candidate);
        source.line = name.empty() ? candidate->program_line.get() : line_in_earlier(name, earlier);
        break;
      }
    }
  }
  return source;
}

}  // namespace tg
