// Rewriter: the only way in which a pass changes a trace. It writes down what was changed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/pass/era.h"
#include "core/pass/statement_list.h"
#include "core/pass/step.h"

namespace tg {

// Which steps may act. A refused step is recorded without edits, with "skipped: " before its
// reason.
struct StepFilter {
  std::vector<std::size_t> skip_numbers;  // 1-based step numbers
  std::vector<std::string> skip_rules;
  std::vector<StatementId> skip_subjects;
  [[nodiscard]] bool refuses(std::size_t number, std::string_view rule, StatementId subject) const;
  [[nodiscard]] bool empty() const {
    return skip_numbers.empty() && skip_rules.empty() && skip_subjects.empty();
  }
};

// Arguments that share a storage, as the caller of the program knows it: indices into the trace's
// parameters.
using AliasGroups = std::vector<std::vector<std::size_t>>;

struct PassOptions {
  AliasGroups alias_groups;  // passes.md 2.3
  std::vector<std::pair<std::string, std::string>>
      base_to_view;                  // P3's map, for canonicalize alone
  bool may_alias_arguments = false;  // audit_copies: arguments of equal device may share storage
  ArgumentFacts argument_facts;      // audit_copies, fusion: where aliased arguments lie
  std::vector<std::string> needed_names;   // dce: names needed besides the return value
  bool clear_mutable_collections = false;  // delete_last_used
  std::vector<std::string> executors;      // operator_executors: in order; empty: Thunder's default
  std::uint64_t fresh_from = 0;            // operator_executors: lowest number of a fresh name
  std::string fusion_executor;             // fusion: torchcompile_cat (default) or nvfuser
  bool bookend = false;  // fusion: shape operations at the ends of a group stay outside
  // Which Thunder is reproduced where the eras differ: dead_code, operator_executors, fusion,
  // transform_for_execution. Unknown means 2024.
  Era era = Era::Unknown;
};

struct PassContext {
  PassOptions options;
  StepFilter filter;
  bool record_steps = true;
  std::stop_token stop;
};

// A Python exception that Thunder's own pass would raise, or our report that it would not
// terminate.
struct PassError {
  std::string type;  // "NotImplementedError", "RuntimeError", "AssertionError", "DoesNotTerminate"
  std::string message;  // exact text of Thunder's message
  StatementId statement = kNoStatement;
};

struct PassResult {
  Trace after;  // equals `before` of the pass when `error` is set
  std::vector<Step> steps;
  std::optional<PassError> error;
  std::vector<Trace>
      intermediate;  // traces that Thunder keeps on the way (P7: alias args, canonical)
  std::vector<std::pair<std::string, std::string>>
      facts;  // extra outputs: P3 base->view, P4 argument->replacement
  std::optional<Trace>
      before_edited;  // dce: the input trace as it prints afterwards (shared sub-statements)
};

class Rewriter {
 public:
  Rewriter(const Trace& before, const PassContext& context);

  // An open step. Its edits are recorded and applied at once; all are dropped when the filter
  // refuses it.
  class StepHandle {
   public:
    [[nodiscard]] bool applied() const { return applied_; }
    StepHandle& erase(StatementId at);
    StepHandle& replace(StatementId at, BoundSymbolRef statement);
    StatementId insert_before(StatementId at,
                              BoundSymbolRef statement);  // kNoStatement when refused
    StatementId insert_after(StatementId at, BoundSymbolRef statement);
    StepHandle& replace(StatementId at, BoundSymbol statement);
    StatementId insert_before(StatementId at, BoundSymbol statement);
    StatementId insert_after(StatementId at, BoundSymbol statement);

   private:
    friend class Rewriter;
    StepHandle(Rewriter& owner, std::size_t index, bool applied)
        : owner_(&owner), index_(index), applied_(applied) {}
    Rewriter* owner_;
    std::size_t index_;
    bool applied_;
  };

  StepHandle step(std::string_view rule, StatementId subject, std::string reason);
  // The sentence is only built when steps are recorded.
  StepHandle step(std::string_view rule, StatementId subject,
                  const std::function<std::string()>& reason);
  // A decision not to act.
  void note(std::string_view rule, StatementId subject, std::string reason);
  void note(std::string_view rule, StatementId subject, const std::function<std::string()>& reason);

  // Steps until the Group dies nest one level deeper.
  class [[nodiscard]] Group {
   public:
    ~Group();
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

   private:
    friend class Rewriter;
    explicit Group(Rewriter& owner) : owner_(&owner) {}
    Rewriter* owner_;
  };
  Group group(std::string_view name);

  [[nodiscard]] const Trace& before() const { return *before_; }
  // Current statement, null if erased.
  [[nodiscard]] BoundSymbolRef statement(StatementId id) const { return list_.statement(id); }
  [[nodiscard]] StatementId first() const {
    return list_.first();
  }  // kNoStatement when there is none
  [[nodiscard]] StatementId last() const { return list_.last(); }
  [[nodiscard]] StatementId next(StatementId id) const { return list_.next(id); }
  [[nodiscard]] StatementId previous(StatementId id) const { return list_.previous(id); }

  // The trace as it is now, with `provenance` and derived imports; consumes the steps.
  PassResult finish(std::string provenance) &&;
  // A check: the trace stays what it was, only the notes go out. Requires that no step acted.
  PassResult unchanged() &&;
  // The pass raises: `after` is `before`, the notes stay, and a last note with the rule "raises"
  // says why.
  PassResult fail(PassError error) &&;

 private:
  bool record(std::string_view rule, StatementId subject,
              const std::function<std::string()>& reason, bool acts);
  StatementId insert(std::size_t step_index, Edit::Kind kind, StatementId at,
                     BoundSymbolRef statement);
  void edit(std::size_t step_index, Edit edit);

  const Trace* before_;
  const PassContext* context_;
  StatementList list_;
  std::vector<Step> steps_;
  std::size_t step_count_ = 0;
  std::vector<std::string> groups_;
};

// `before` with other statements.
Trace with_statements(const Trace& before, std::vector<BoundSymbolRef> statements);
// A trace like `before` with these statements: signature kept, provenance set, imports derived.
Trace derived_trace(const Trace& before, std::vector<BoundSymbolRef> statements,
                    std::string provenance);

}  // namespace tg
