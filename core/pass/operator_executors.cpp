// Problem: a trace names operations; somebody has to run them.
//
//   t0 = ltorch.add(x, 1, alpha=1)             t0 = torch.add(x, 1, alpha=1)
//     # t0 = prims.add(x, 1.0)                   # t0 = ltorch.add(x, 1, alpha=1)
//   t1 = ltorch.t(t0)                    =>        # _ = prims.convert_element_type(1, float)
//     # t1 = prims.transpose(t0, (1, 0))           # t0 = prims.add(x, 1.0)
//                                              t1 = torch.permute(t0, (1, 0))
// Rules
//   execute    an executor takes the statement whole (executors.def)
//   decompose  no executor takes it: its sub-statements are executed
//   for-fusion (note) a fusion executor may put it into a region, so it stays
//   new-names  January 2026: results of executed lines get new names, and readers follow; then
//              dead_code runs
// Refuses: a primitive that no executor takes (RuntimeError). Order, names and reads stay, so every
// prefix of the steps computes the same.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/pass/all_passes.h"
#include "core/pass/executor_lines.h"
#include "core/pass/fusion_rules.h"
#include "core/pass/pass_sequence.h"
#include "core/pass/swap.h"
#include "core/text/printer.h"

namespace tg {
namespace {

bool holds(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Operations of Thunder itself; everything else is an executor's line already.
bool is_open(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call &&
         (statement.callee.starts_with("ltorch.") || statement.callee.starts_with("prims."));
}

// torch.detach for ltorch.detach: operations that Thunder knows only by torch's name have no
// sub-statements and no row. Empty when torch has no such function: the text has lost the
// sub-statements.
std::string torch_spelling(const BoundSymbol& statement) {
  const OpInfo& info = statement.op_info();
  const std::string_view base = base_name(statement.callee);
  if (info.code == OpCode::Opaque) return fmt::format("torch.{}", base);
  std::string_view rest = info.spellings;
  std::string found;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view spelling = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (!spelling.starts_with("torch.") || spelling.starts_with("torch.Tensor.")) continue;
    if (base_name(spelling) != base) continue;
    if (spelling == fmt::format("torch.{}", base)) return std::string(spelling);
    if (found.empty()) found = std::string(spelling);
  }
  return found;
}

constexpr const char* kProvenance =
    "Transform for operator executor execution (took 0 milliseconds)";

class OperatorExecutors {
 public:
  OperatorExecutors(const Trace& before, PassContext& context)
      : rw_(before, context), context_(context), before_(before), names_(before), lines_(names_) {
    names_.start_fresh_at(context.options.fresh_from);
    executors_ = context.options.executors;
    if (executors_.empty()) {
      for (const std::string_view name : default_executors()) executors_.emplace_back(name);
    }
    has_torch_ = holds(executors_, "torch");
    has_python_ = holds(executors_, "python");
    for (const std::string& name : executors_) {
      if (is_fusion_executor(name)) fusers_.emplace_back(name, names_);
    }
    for (const BoundSymbolRef& statement : before.bound_symbols) {
      if (is_raw_copy(*statement) && statement->program_line && !statement->args.empty() &&
          statement->args.front().is_name()) {
        written_back_.emplace(statement->args.front().text, statement);
      }
    }
  }

  PassResult run() && {
    for (StatementId id = 0; id < before_.bound_symbols.size(); ++id) {
      const BoundSymbolRef& statement = before_.bound_symbols[id];
      if (!is_open(*statement)) continue;
      if (const FusionRules* fuser = fuser_of(*statement)) {
        rw_.note("for-fusion", id, [&] {
          return fmt::format("{} reads no tensor on the CPU, so {} may put it into a region",
                             callee_at(*statement, id), fuser->executor());
        });
        continue;
      }
      std::vector<BoundSymbolRef> lines;
      if (std::optional<PassError> error = execute(statement, lines, 0, nullptr)) {
        error->statement = id;
        return std::move(rw_).fail(*std::move(error));
      }
      if (lines.size() == 1 && lines.front() == statement) continue;
      put(id, statement, lines);
    }
    if (context_.options.era == Era::Thunder2026) give_new_names();
    return std::move(rw_).finish(kProvenance);
  }

 private:
  static constexpr int kMaxDepth = 200;

  bool numbers_only(const BoundSymbol& statement) const {
    return tensor_args(statement, names_).empty();
  }

  const ExecutorRow* taker(const BoundSymbol& statement) const {
    if (has_torch_) {
      const ExecutorRow* row = torch_row(statement.callee);
      const ExecutorRow* python = python_row(statement.callee);
      // torch's elementwise functions want a tensor.
      if (row && !(python && python->numbers_only && numbers_only(statement))) return row;
    }
    if (!has_python_) return nullptr;
    const ExecutorRow* row = python_row(statement.callee);
    return row && (!row->numbers_only || numbers_only(statement)) ? row : nullptr;
  }

  // The first fusion executor in the list that may put the statement into a region; it comes before
  // torch.
  const FusionRules* fuser_of(const BoundSymbol& statement) const {
    for (const FusionRules& rules : fusers_) {
      if (rules.can_fuse(statement)) return &rules;
    }
    return nullptr;
  }

  // Appends what stands for the statement.
  std::optional<PassError> execute(const BoundSymbolRef& statement,
                                   std::vector<BoundSymbolRef>& lines, int depth,
                                   const BoundSymbolRef& parent) {
    if (!is_open(*statement)) {
      lines.push_back(statement);
      return std::nullopt;
    }
    if (depth > 0 && fuser_of(*statement)) {
      lines.push_back(statement);
      return std::nullopt;
    }
    if (const ExecutorRow* row = taker(*statement)) {
      if (!statement->program_line) return execute_at_parent(*statement, *row, parent, lines);
      for (BoundSymbolRef& line : lines_.lines(*statement, *row)) lines.push_back(std::move(line));
      return std::nullopt;
    }
    if (statement->subsymbols.empty()) return without_parts(*statement, lines);
    if (depth == kMaxDepth) {
      return PassError{"RecursionError", "maximum recursion depth exceeded", kNoStatement};
    }
    const BoundSymbolRef& place = depth == 0 ? placed(statement) : parent;
    for (const BoundSymbolRef& child : statement->subsymbols) {
      if (std::optional<PassError> error = execute(child, lines, depth + 1, place)) return error;
    }
    return std::nullopt;
  }

  // Sub-statements stand where their parent stands. A functional statement has lost its position;
  // the copy that writes its value back was a sub-statement of the same in-place statement.
  const BoundSymbolRef& placed(const BoundSymbolRef& statement) const {
    if (statement->program_line || !statement->output.is_name()) return statement;
    const auto copy = written_back_.find(statement->output.text);
    return copy == written_back_.end() ? statement : copy->second;
  }

  std::optional<PassError> execute_at_parent(const BoundSymbol& statement, const ExecutorRow& row,
                                             const BoundSymbolRef& parent,
                                             std::vector<BoundSymbolRef>& lines) {
    BoundSymbol placed = statement;
    if (parent) {
      placed.program_line = parent->program_line;
      if (placed.at.line == 0) placed.at = parent->at;
    }
    for (BoundSymbolRef& line : lines_.lines(placed, row)) lines.push_back(std::move(line));
    return std::nullopt;
  }

  std::optional<PassError> without_parts(const BoundSymbol& statement,
                                         std::vector<BoundSymbolRef>& lines) {
    if (statement.callee.starts_with("prims.")) {
      return PassError{
          "RuntimeError",
          fmt::format("Failed to find an executor for bound symbol bsym={}", print(statement)),
          kNoStatement};
    }
    const std::vector<NameId> outs = proxy_outs(statement, names_);
    const std::vector<NameId> inputs = proxy_args(statement, names_);
    const bool makes_nothing = std::all_of(outs.begin(), outs.end(), [&](NameId out) {
      return std::find(inputs.begin(), inputs.end(), out) != inputs.end();
    });
    if ((makes_nothing && !outs.empty()) || !has_torch_) return std::nullopt;
    BoundSymbol line = statement;
    line.header.clear();
    line.verbatim.reset();
    line.verbatim_has_program_line = false;
    if (std::string callee = torch_spelling(statement); !callee.empty()) {
      line.callee = std::move(callee);
      line.op = op_of(line.callee);
    }
    lines.push_back(std::make_shared<const BoundSymbol>(std::move(line)));
    return std::nullopt;
  }

  void put(StatementId id, const BoundSymbolRef& statement,
           const std::vector<BoundSymbolRef>& lines) {
    const bool whole = taker(*statement) != nullptr || statement->subsymbols.empty();
    auto step = rw_.step(whole ? "execute" : "decompose", id,
                         [&] { return reason(*statement, id, lines, whole); });
    if (!step.applied()) return;
    if (lines.empty()) {
      step.erase(id);
      return;
    }
    for (std::size_t i = 0; i + 1 < lines.size(); ++i)
      executed_.insert(step.insert_before(id, lines[i]));
    step.replace(id, lines.back());
    executed_.insert(id);
  }

  // One step for all: a result and its readers change together.
  void give_new_names() {
    if (executed_.empty()) return;
    auto step = rw_.step("new-names", kNoStatement, [&] {
      return fmt::format("{} {} new, so the results get new names",
                         count_of(executed_.size(), "executed line", "executed lines"),
                         executed_.size() == 1 ? "is" : "are");
    });
    if (!step.applied()) return;
    SwapMap renamed;
    const NameLookup lookup = [&renamed](NameId name) { return renamed.direct(name); };
    for (StatementId id = rw_.first(); id != kNoStatement; id = rw_.next(id)) {
      const BoundSymbolRef statement = rw_.statement(id);
      const bool executed = executed_.contains(id);
      // The inputs first: an output may have the name of an older value.
      BoundSymbolRef after = swap_names(statement, names_, lookup,
                                        {.inputs = true, .output = false, .subsymbols = !executed});
      if (executed) {
        const std::vector<NameId> inputs = proxy_args(*statement, names_);
        for (const NameId out : proxy_outs(*statement, names_)) {
          if (std::find(inputs.begin(), inputs.end(), out) == inputs.end())
            renamed.set(out, names_.fresh(names_.type(out)));
        }
        after = swap_names(after, names_, lookup, {.inputs = false, .output = true});
        after = with_parts(after, statement->subsymbols, lookup);
      }
      if (after != statement) step.replace(id, after);
    }
  }

  // The line with its documentation renamed, inputs and results.
  BoundSymbolRef with_parts(const BoundSymbolRef& line, const std::vector<BoundSymbolRef>& parts,
                            const NameLookup& lookup) const {
    if (parts.empty()) return line;
    auto renamed = std::make_shared<BoundSymbol>(*line);
    renamed->subsymbols.clear();
    for (const BoundSymbolRef& part : parts)
      renamed->subsymbols.push_back(swap_names(part, names_, lookup));
    return renamed;
  }

  std::string reason(const BoundSymbol& statement, StatementId id,
                     const std::vector<BoundSymbolRef>& lines, bool whole) const {
    if (lines.empty()) {
      return fmt::format("{} gives back its argument, so nothing is left to run",
                         callee_at(statement, id));
    }
    std::string listed;
    for (std::size_t i = 0; i < lines.size() && i < 3; ++i) {
      listed += (i == 0 ? "" : ", ") + lines[i]->callee;
    }
    if (lines.size() > 3) listed += fmt::format(" and {} more", lines.size() - 3);
    if (whole) {
      const bool by_python = !has_torch_ || (python_row(statement.callee) != nullptr &&
                                             torch_row(statement.callee) == nullptr);
      return fmt::format("{} runs as {}, by the {} executor", callee_at(statement, id), listed,
                         by_python ? "python" : "torch");
    }
    return fmt::format("no executor takes {} whole, so its sub-statements run: {}",
                       callee_at(statement, id), listed);
  }

  Rewriter rw_;
  const PassContext& context_;
  const Trace& before_;
  NameTable names_;
  ExecutorLines lines_;
  std::unordered_set<StatementId> executed_;
  std::unordered_map<std::string_view, BoundSymbolRef> written_back_;  // source -> its copy
  std::vector<std::string> executors_;
  bool has_torch_ = false;
  bool has_python_ = false;
  std::vector<FusionRules> fusers_;
};

PassResult execute_operators(const Trace& before, PassContext& context) {
  return OperatorExecutors(before, context).run();
}

}  // namespace

PassResult operator_executors(const Trace& before, PassContext& context) {
  if (context.options.era != Era::Thunder2026) return execute_operators(before, context);
  PassOptions options = context.options;
  options.needed_names.clear();
  PassSequence sequence(before, context);
  sequence.run("execute", execute_operators, options);
  sequence.run("dead_code", dead_code, options);
  return std::move(sequence).finish(kProvenance);
}

}  // namespace tg
