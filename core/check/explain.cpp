#include "core/check/explain.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/check/replay.h"
#include "core/pass/pass.h"
#include "core/text/printer.h"

namespace tg {
namespace {

// Prefixes of a step list are run one by one up to here; longer lists are searched by bisection,
// which finds a step where the law breaks though perhaps not the first.
constexpr std::size_t kLinearSearchSteps = 128;

std::string_view without_timing(std::string_view provenance) {
  return provenance.substr(0, provenance.find(" (took "));
}

// "line 15", or "statement 3" for a statement that a pass made.
std::string place(const BoundSymbol& statement, std::uint32_t index) {
  if (statement.at.line != 0) return fmt::format("line {}", statement.at.line);
  return fmt::format("statement {}", index);
}

bool differs(const Expected<RunResult, RunError>& reference, const Trace& trace,
             const ExplainRequest& request) {
  const Expected<RunResult, RunError> result = run(trace, *request.inputs, request.limits);
  if (reference.has_value() && result.has_value()) {
    return compare(*reference, *result, request.compare).verdict == VerdictKind::Different;
  }
  return reference.has_value() != result.has_value();
}

// Number of the first step after which the program differs, 0 if none does.
std::size_t guilty_step(const ExplainRequest& request, const std::vector<Step>& steps) {
  const Expected<RunResult, RunError> reference =
      run(*request.left, *request.inputs, request.limits);
  if (!reference) return 0;
  const std::span<const Step> all(steps);
  if (steps.size() <= kLinearSearchSteps) {
    for (std::size_t k = 1; k <= steps.size(); ++k) {
      if (steps[k - 1].edits.empty()) continue;
      if (differs(reference, replay(*request.left, all.first(k)), request)) return k;
    }
    return 0;
  }
  std::size_t good = 0;
  std::size_t bad = steps.size();
  if (!differs(reference, replay(*request.left, all), request)) return 0;
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (differs(reference, replay(*request.left, all.first(middle)), request) ? bad : good) = middle;
  }
  return bad;
}

// The pass of ours whose result on `left` carries the provenance of `right`.
const PassInfo* pass_between(const ExplainRequest& request, PassResult& result) {
  const std::string_view wanted = without_timing(request.right->provenance);
  if (wanted.empty()) return nullptr;
  // What the dump says was replaced counts: Thunder may have got the groups wrong.
  AliasGroups groups = stated_alias_groups(*request.right);
  if (groups.empty()) groups = request.alias_groups;
  for (const PassInfo& pass : all_passes()) {
    PassContext context;
    context.options.alias_groups = groups;
    context.options.argument_facts = *request.facts;
    PassResult candidate = pass.run(*request.left, context);
    if (candidate.error || without_timing(candidate.after.provenance) != wanted) continue;
    result = std::move(candidate);
    return &pass;
  }
  return nullptr;
}

// What a statement is, whatever the phase: what it binds, or for a copy what it copies.
std::string identity(const BoundSymbol& statement) {
  if (statement.kind == StatementKind::Return) return "return";
  if (statement.kind != StatementKind::Call) return {};
  if (statement.op_info().has(kCopyInto) && positional_count(statement) >= 2) {
    const bool source_first = statement.op_info().mutated_param == 1;
    const std::string first = to_text(statement.args[0]);
    const std::string second = to_text(statement.args[1]);
    return fmt::format("copy {} {}", source_first ? first : second, source_first ? second : first);
  }
  std::string names;
  for (const std::string_view name : output_names(statement)) names += fmt::format("{} ", name);
  return names;
}

// "x" of copy_(t0, x) in any spelling, empty for other statements.
std::string copy_destination(const BoundSymbol& statement) {
  if (statement.kind != StatementKind::Call || !statement.op_info().has(kCopyInto) ||
      positional_count(statement) < 2) {
    return {};
  }
  return to_text(statement.args[statement.op_info().mutated_param == 1 ? 1 : 0]);
}

constexpr std::uint32_t kUnmatched = 0xffffffffU;

// For each statement of `right` the index of the same statement in `left`. Copies whose source got
// another name are paired with the copies onto the same destination that are left over, in order.
std::vector<std::uint32_t> matching_positions(const Trace& left, const Trace& right) {
  std::unordered_map<std::string, std::uint32_t> by_identity;
  for (std::uint32_t i = 0; i < left.bound_symbols.size(); ++i) {
    const std::string key = identity(*left.bound_symbols[i]);
    if (!key.empty()) by_identity.try_emplace(key, i);
  }
  std::vector<std::uint32_t> positions(right.bound_symbols.size(), kUnmatched);
  std::vector<bool> taken(left.bound_symbols.size(), false);
  for (std::size_t i = 0; i < right.bound_symbols.size(); ++i) {
    const auto found = by_identity.find(identity(*right.bound_symbols[i]));
    if (found == by_identity.end()) continue;
    positions[i] = found->second;
    taken[found->second] = true;
  }
  std::unordered_map<std::string, std::vector<std::uint32_t>> copies_left_over;
  for (std::uint32_t i = static_cast<std::uint32_t>(left.bound_symbols.size()); i-- > 0;) {
    const std::string destination = copy_destination(*left.bound_symbols[i]);
    if (!destination.empty() && !taken[i]) copies_left_over[destination].push_back(i);
  }
  for (std::size_t i = 0; i < right.bound_symbols.size(); ++i) {
    if (positions[i] != kUnmatched) continue;
    const auto found = copies_left_over.find(copy_destination(*right.bound_symbols[i]));
    if (found == copies_left_over.end() || found->second.empty()) continue;
    positions[i] = found->second.back();
    found->second.pop_back();
  }
  return positions;
}

// The step of the fusion pass that moves a statement past one that touches the same storage. Its
// result may carry another provenance than `right`, which was printed in the middle of it.
std::optional<Explanation> explain_by_partition(const ExplainRequest& request) {
  const PassInfo* fusion = find_pass("fusion");
  if (fusion == nullptr) return std::nullopt;
  PassContext context;
  context.options.alias_groups = request.alias_groups;
  context.options.argument_facts = *request.facts;
  const PassResult result = fusion->run(*request.left, context);
  if (result.error) return std::nullopt;
  const Expected<RunResult, RunError> reference =
      run(*request.left, *request.inputs, request.limits);
  if (!differs(reference, result.after, request)) return std::nullopt;
  const auto step =
      std::find_if(result.steps.begin(), result.steps.end(),
                   [](const Step& candidate) { return candidate.rule == "reorder-conflict"; });
  if (step == result.steps.end()) return std::nullopt;
  Explanation explanation;
  explanation.pass = std::string(fusion->name);
  explanation.step = static_cast<std::size_t>(step - result.steps.begin()) + 1;
  explanation.step_count = result.steps.size();
  explanation.rule = step->rule;
  explanation.reason = step->reason;
  explanation.at = step->at;
  return explanation;
}

std::optional<Explanation> explain_by_reorder(const ExplainRequest& request) {
  const std::optional<Reorder> reorder =
      find_reorder(*request.left, *request.right, *request.facts);
  if (!reorder) return std::nullopt;
  if (std::optional<Explanation> partition = explain_by_partition(request)) return partition;
  Explanation explanation;
  explanation.rule = "reordered";
  explanation.reason = reorder->sentence;
  explanation.at = request.right->bound_symbols[reorder->write]->at;
  return explanation;
}

}  // namespace

AliasGroups alias_groups_of(const Trace& trace, const ArgumentFacts& facts) {
  std::unordered_map<std::string_view, std::size_t> position;
  for (std::size_t i = 0; i < trace.parameters.size(); ++i) position[trace.parameters[i].name] = i;
  std::vector<std::pair<std::uint32_t, std::vector<std::size_t>>> by_storage;
  for (const ArgumentFacts::Window& window : facts.windows) {
    const auto found = position.find(window.name);
    if (found == position.end()) continue;
    auto group = std::find_if(by_storage.begin(), by_storage.end(),
                              [&window](const auto& g) { return g.first == window.storage; });
    if (group == by_storage.end()) {
      by_storage.push_back({window.storage, {}});
      group = std::prev(by_storage.end());
    }
    group->second.push_back(found->second);
  }
  AliasGroups groups;
  for (auto& [storage, members] : by_storage) {
    if (members.size() < 2) continue;
    std::sort(members.begin(), members.end());
    groups.push_back(std::move(members));
  }
  return groups;
}

std::optional<Reorder> find_reorder(const Trace& left, const Trace& right,
                                    const ArgumentFacts& facts) {
  const std::vector<std::uint32_t> position_in_left = matching_positions(left, right);
  std::optional<std::uint32_t> return_there;
  for (std::uint32_t i = 0; i < left.bound_symbols.size(); ++i) {
    if (left.bound_symbols[i]->kind == StatementKind::Return) return_there = i;
  }
  const DefUse def_use(right);
  const AliasSets aliases(right, def_use, facts);
  // Per storage, in the order of `right`: positions in `left`. An inversion around a write is a
  // reorder.
  struct Touch {
    std::uint32_t here;
    std::uint32_t there;
    bool writes;
  };
  std::unordered_map<StorageId, std::vector<Touch>> touches;
  std::optional<std::uint32_t> return_here;
  for (const Access& access : aliases.accesses()) {
    const std::uint32_t here = access.path.front();
    const BoundSymbol& statement = *right.bound_symbols[here];
    if (statement.kind == StatementKind::Return) continue;
    const std::uint32_t there = position_in_left[here];
    if (there == kUnmatched) continue;
    const bool writes = access.kind == AccessKind::Write || access.kind == AccessKind::MayWrite;
    if (!writes && access.kind != AccessKind::Read) continue;
    touches[access.storage].push_back({here, there, writes});
  }
  for (std::uint32_t i = 0; i < right.bound_symbols.size(); ++i) {
    if (right.bound_symbols[i]->kind == StatementKind::Return && !return_here) return_here = i;
  }
  std::optional<Reorder> earliest;
  const auto report = [&](std::uint32_t write, std::uint32_t other, std::string_view what) {
    if (earliest && std::min(earliest->write, earliest->other) <= std::min(write, other)) return;
    const BoundSymbol& w = *right.bound_symbols[write];
    const BoundSymbol& o = *right.bound_symbols[other];
    earliest = Reorder{
        write, other,
        fmt::format("{} ({}) now stands {} {} ({}), {}", one_line(w), place(w, write),
                    write < other ? "before" : "after", one_line(o), place(o, other), what)};
  };
  for (const auto& [storage, list] : touches) {
    const std::string& label = aliases.storages()[storage].label;
    // The latest write and the latest access in `left`'s order among those seen so far in `right`'s
    // order: linear, and enough to find one inversion per storage.
    const Touch* latest_write = nullptr;
    const Touch* latest_any = nullptr;
    for (const Touch& touch : list) {
      const Touch* before = touch.writes ? latest_any : latest_write;
      if (before && before->there > touch.there && before->here != touch.here) {
        const Touch& write = before->writes ? *before : touch;
        const Touch& other = before->writes ? touch : *before;
        report(write.here, other.here,
               fmt::format("which {} the storage of '{}'", other.writes ? "also writes" : "reads",
                           label));
      }
      if (touch.writes && (!latest_write || touch.there > latest_write->there))
        latest_write = &touch;
      if (!latest_any || touch.there > latest_any->there) latest_any = &touch;
    }
  }
  // What stands behind the return never runs, so it touches nothing.
  for (std::uint32_t i = return_here ? *return_here + 1 : 0;
       return_here && i < right.bound_symbols.size(); ++i) {
    const bool was_run = return_there && position_in_left[i] < *return_there;
    const BoundSymbol& statement = *right.bound_symbols[i];
    if (was_run && statement.kind == StatementKind::Call &&
        statement.op_info().has(kCopyInto | kInPlace | kHidesWrites)) {
      report(i, *return_here, "so it is never executed");
    }
  }
  return earliest;
}

std::optional<Explanation> explain_difference(const ExplainRequest& request) {
  PassResult result;
  if (const PassInfo* pass = pass_between(request, result)) {
    Explanation explanation;
    explanation.pass = std::string(pass->name);
    explanation.step_count = result.steps.size();
    explanation.step = guilty_step(request, result.steps);
    if (explanation.step != 0) {
      const Step& step = result.steps[explanation.step - 1];
      explanation.rule = step.rule;
      explanation.reason = step.reason;
      explanation.at = step.at;
      return explanation;
    }
  }
  if (std::optional<Explanation> reorder = explain_by_reorder(request)) return reorder;
  const std::optional<Divergence> divergence = first_divergence(
      *request.left, *request.right, *request.inputs, request.compare, request.limits);
  if (!divergence) return std::nullopt;
  Explanation explanation;
  const BoundSymbol& statement = *request.right->bound_symbols[divergence->right_statement];
  explanation.rule = "first-divergence";
  explanation.reason = fmt::format("the first value that differs is {}: {}", divergence->name,
                                   divergence->difference.message);
  explanation.at = statement.at;
  return explanation;
}

}  // namespace tg
