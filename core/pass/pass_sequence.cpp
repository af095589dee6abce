#include "core/pass/pass_sequence.h"

#include <algorithm>

namespace tg {

PassSequence::PassSequence(const Trace& before, const PassContext& context)
    : before_(before), context_(context), current_(before) {
  if (!context.record_steps) return;
  ids_.resize(before.bound_symbols.size());
  for (StatementId i = 0; i < ids_.size(); ++i) ids_[i] = i;
  next_id_ = static_cast<StatementId>(ids_.size());
}

bool PassSequence::run(std::string_view name, PassFunction pass, const PassOptions& options) {
  if (error_) return false;
  PassContext context;
  context.options = options;
  context.record_steps = context_.record_steps;
  context.stop = context_.stop;
  context.filter.skip_rules = context_.filter.skip_rules;
  for (const std::size_t number : context_.filter.skip_numbers) {
    if (number > steps_.size()) context.filter.skip_numbers.push_back(number - steps_.size());
  }
  for (const StatementId subject : context_.filter.skip_subjects) {
    const auto found = std::find(ids_.begin(), ids_.end(), subject);
    if (found != ids_.end()) {
      context.filter.skip_subjects.push_back(static_cast<StatementId>(found - ids_.begin()));
    }
  }
  const Trace input = std::move(current_);
  PassResult result = pass(input, context);
  if (context_.record_steps) take_steps(name, input, result);
  if (runs_++ == 0 && result.before_edited) {
    before_edited_ = std::move(result.before_edited);
  }
  current_ = std::move(result.after);
  error_ = std::move(result.error);
  return !error_;
}

void PassSequence::take_steps(std::string_view name, const Trace& input, PassResult& result) {
  StatementList list(input.bound_symbols);
  std::vector<StatementId> global = ids_;
  const auto translated = [&global](StatementId id) {
    return id < global.size() ? global[id] : kNoStatement;
  };
  for (Step& step : result.steps) {
    for (Edit& edit : step.edits) {
      list.apply(edit);
      edit.at = translated(edit.at);
      if (edit.inserted == kNoStatement) continue;
      global.resize(std::max<std::size_t>(global.size(), edit.inserted + 1), kNoStatement);
      global[edit.inserted] = next_id_;
      edit.inserted = next_id_++;
    }
    step.subject = translated(step.subject);
    ++step.depth;
    if (step.group.empty()) step.group = std::string(name);
    steps_.push_back(std::move(step));
  }
  if (result.error) result.error->statement = translated(result.error->statement);
  ids_.clear();
  for (StatementId id = list.first(); id != kNoStatement; id = list.next(id)) {
    ids_.push_back(global[id]);
  }
}

PassResult PassSequence::finish(std::string provenance) && {
  PassResult result;
  result.before_edited = std::move(before_edited_);
  result.steps = std::move(steps_);
  if (error_) {
    // The trace stays as it was, so no step may claim an edit.
    std::erase_if(result.steps, [](const Step& step) { return !step.edits.empty(); });
    result.after = before_;
    result.error = std::move(error_);
    return result;
  }
  result.after = std::move(current_);
  result.after.provenance = std::move(provenance);
  return result;
}

}  // namespace tg
