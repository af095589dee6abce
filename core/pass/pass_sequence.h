// Passes one after another as one pass: their steps become one list over the first trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/pass/pass.h"

namespace tg {

class PassSequence {
 public:
  // Requires that both outlive it.
  PassSequence(const Trace& before, const PassContext& context);

  // Runs `pass` on what the passes before it left, with the options of the whole unless `options`
  // are given. Its steps form the group `name`. False when it raised.
  bool run(std::string_view name, PassFunction pass, const PassOptions& options);
  bool run(std::string_view name, PassFunction pass) { return run(name, pass, context_.options); }

  [[nodiscard]] const Trace& current() const { return current_; }
  // The input as the first pass edited it, if one did.
  [[nodiscard]] const std::optional<Trace>& before_edited() const { return before_edited_; }
  // The error of the pass that raised, or the current trace with this provenance.
  PassResult finish(std::string provenance) &&;

 private:
  void take_steps(std::string_view name, const Trace& input, PassResult& result);

  const Trace& before_;
  const PassContext& context_;
  Trace current_;
  std::optional<Trace> before_edited_;
  std::vector<Step> steps_;
  std::optional<PassError> error_;
  std::vector<StatementId> ids_;  // of the current statements, in the numbering of the whole
  StatementId next_id_ = 0;
  std::size_t runs_ = 0;
};

}  // namespace tg
