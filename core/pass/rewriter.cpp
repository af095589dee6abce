#include "core/pass/rewriter.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/text/printer.h"

namespace tg {

bool StepFilter::refuses(std::size_t number, std::string_view rule, StatementId subject) const {
  const auto holds = [](const auto& list, const auto& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  return holds(skip_numbers, number) || holds(skip_rules, rule) ||
         (subject != kNoStatement && holds(skip_subjects, subject));
}

Rewriter::Rewriter(const Trace& before, const PassContext& context)
    : before_(&before), context_(&context), list_(before.bound_symbols) {}

bool Rewriter::record(std::string_view rule, StatementId subject,
                      const std::function<std::string()>& reason, bool acts) {
  ++step_count_;
  const bool refused =
      acts && !context_->filter.empty() && context_->filter.refuses(step_count_, rule, subject);
  if (context_->record_steps) {
    Step step;
    step.rule = std::string(rule);
    step.subject = subject;
    step.reason = refused ? "skipped: " + reason() : reason();
    step.depth = static_cast<std::uint32_t>(groups_.size());
    if (!groups_.empty()) step.group = groups_.back();
    if (subject < before_->bound_symbols.size()) {
      step.at = before_->bound_symbols[subject]->at;
    } else if (const BoundSymbolRef inserted = statement(subject)) {
      step.at = inserted->at;
    }
    steps_.push_back(std::move(step));
  }
  return !refused;
}

Rewriter::StepHandle Rewriter::step(std::string_view rule, StatementId subject,
                                    std::string reason) {
  return step(rule, subject, [&reason] { return std::move(reason); });
}

Rewriter::StepHandle Rewriter::step(std::string_view rule, StatementId subject,
                                    const std::function<std::string()>& reason) {
  const bool applied = record(rule, subject, reason, true);
  return StepHandle(*this, steps_.empty() ? 0 : steps_.size() - 1, applied);
}

void Rewriter::note(std::string_view rule, StatementId subject, std::string reason) {
  note(rule, subject, [&reason] { return std::move(reason); });
}

void Rewriter::note(std::string_view rule, StatementId subject,
                    const std::function<std::string()>& reason) {
  record(rule, subject, reason, false);
}

void Rewriter::edit(std::size_t step_index, Edit edit) {
  const bool done = list_.apply(edit);
  TG_CHECK(done);
  if (context_->record_steps) steps_[step_index].edits.push_back(std::move(edit));
}

StatementId Rewriter::insert(std::size_t step_index, Edit::Kind kind, StatementId at,
                             BoundSymbolRef statement) {
  const StatementId id = list_.next_id();
  edit(step_index, {kind, at, std::move(statement), id});
  return id;
}

Rewriter::StepHandle& Rewriter::StepHandle::erase(StatementId at) {
  if (applied_) owner_->edit(index_, {Edit::Kind::Erase, at, nullptr, kNoStatement});
  return *this;
}

Rewriter::StepHandle& Rewriter::StepHandle::replace(StatementId at, BoundSymbolRef statement) {
  if (applied_) {
    owner_->edit(index_, {Edit::Kind::Replace, at, std::move(statement), kNoStatement});
  }
  return *this;
}

StatementId Rewriter::StepHandle::insert_before(StatementId at, BoundSymbolRef statement) {
  if (!applied_) return kNoStatement;
  return owner_->insert(index_, Edit::Kind::InsertBefore, at, std::move(statement));
}

StatementId Rewriter::StepHandle::insert_after(StatementId at, BoundSymbolRef statement) {
  if (!applied_) return kNoStatement;
  return owner_->insert(index_, Edit::Kind::InsertAfter, at, std::move(statement));
}

Rewriter::StepHandle& Rewriter::StepHandle::replace(StatementId at, BoundSymbol statement) {
  return replace(at, std::make_shared<const BoundSymbol>(std::move(statement)));
}

StatementId Rewriter::StepHandle::insert_before(StatementId at, BoundSymbol statement) {
  return insert_before(at, std::make_shared<const BoundSymbol>(std::move(statement)));
}

StatementId Rewriter::StepHandle::insert_after(StatementId at, BoundSymbol statement) {
  return insert_after(at, std::make_shared<const BoundSymbol>(std::move(statement)));
}

Rewriter::Group Rewriter::group(std::string_view name) {
  groups_.emplace_back(name);
  return Group(*this);
}

Rewriter::Group::~Group() {
  owner_->groups_.pop_back();
}

PassResult Rewriter::finish(std::string provenance) && {
  PassResult result;
  result.after = derived_trace(*before_, list_.statements(), std::move(provenance));
  result.steps = std::move(steps_);
  return result;
}

PassResult Rewriter::unchanged() && {
  PassResult result;
  result.after = *before_;
  result.steps = std::move(steps_);
  return result;
}

PassResult Rewriter::fail(PassError error) && {
  note("raises", error.statement,
       [&error] { return error.message.empty() ? error.type : error.type + ": " + error.message; });
  // The trace stays as it was, so no step may claim an edit.
  std::erase_if(steps_, [](const Step& step) { return !step.edits.empty(); });
  PassResult result;
  result.after = *before_;
  result.steps = std::move(steps_);
  result.error = std::move(error);
  return result;
}

Trace with_statements(const Trace& before, std::vector<BoundSymbolRef> statements) {
  // Field by field: a copy of the statements would only be thrown away.
  Trace trace;
  trace.provenance = before.provenance;
  trace.bare_provenance = before.bare_provenance;
  trace.imports = before.imports;
  trace.decorators = before.decorators;
  trace.has_signature = before.has_signature;
  trace.has_def_line = before.has_def_line;
  trace.name = before.name;
  trace.parameters = before.parameters;
  trace.body_indent = before.body_indent;
  trace.verbatim_head = before.verbatim_head;
  trace.ends_with_newline = before.ends_with_newline;
  trace.verbatim_tail = before.verbatim_tail;
  trace.def_at = before.def_at;
  trace.bound_symbols = std::move(statements);
  return trace;
}

Trace derived_trace(const Trace& before, std::vector<BoundSymbolRef> statements,
                    std::string provenance) {
  Trace trace = with_statements(before, std::move(statements));
  trace.provenance = std::move(provenance);
  trace.bare_provenance = false;
  trace.verbatim_head.reset();
  derive_imports(trace, before);
  return trace;
}

}  // namespace tg
