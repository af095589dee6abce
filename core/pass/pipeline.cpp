#include "core/pass/pipeline.h"

#include <algorithm>

namespace tg {

PipelineResult run_pipeline(const Trace& before, std::span<const std::string_view> passes,
                            PassContext context) {
  PipelineResult result;
  const Trace* current = &before;
  result.stages.reserve(passes.size());  // `current` points into it
  for (const std::string_view name : passes) {
    if (context.stop.stop_requested()) break;
    const PassInfo* pass = find_pass(name);
    if (pass == nullptr) {
      Diagnostic diagnostic;
      diagnostic.code = DiagnosticCode::UnknownPass;
      diagnostic.message = "no pass is called '" + std::string(name) + "'";
      diagnostic.subject = std::string(name);
      result.diagnostics.push_back(std::move(diagnostic));
      break;
    }
    PipelineStage stage;
    stage.pass = std::string(pass->name);
    stage.result = pass->run(*current, context);
    stage.changed = !(stage.result.after == *current);
    result.stages.push_back(std::move(stage));
    const PassResult& made = result.stages.back().result;
    if (made.error) break;
    for (const auto& fact : made.facts) {
      if (pass->name == "check_inplace_views") context.options.base_to_view.push_back(fact);
    }
    current = &made.after;
  }
  return result;
}

const std::vector<NamedPipeline>& named_pipelines() {
  static const std::vector<NamedPipeline> kPipelines = {
      {"thunder-2024-12",
       "what thunder.jit of December 2024 runs when no gradient is needed",
       {"wrap_return", "remove_context_managers", "check_inplace_views", "functionalize",
        "dead_code", "transform_for_execution", "delete_last_used", "inplace_sanity",
        "unwrap_return"}},
      {"thunder-2024-12-audit",
       "the same with the audit of raw copies where it was once proposed",
       {"wrap_return", "remove_context_managers", "check_inplace_views", "functionalize",
        "audit_raw_copy", "dead_code", "transform_for_execution", "delete_last_used",
        "inplace_sanity", "unwrap_return"}},
  };
  return kPipelines;
}

std::vector<std::string_view> named_pipeline(std::string_view name) {
  for (const NamedPipeline& pipeline : named_pipelines()) {
    if (pipeline.name == name) return pipeline.passes;
  }
  return {};
}

namespace {

bool mentions_callee(const BoundSymbol& statement, OpCode code) {
  if (statement.is_call(code)) return true;
  return std::any_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [code](const BoundSymbolRef& child) { return mentions_callee(*child, code); });
}

bool copies_with_grad_keyword(const BoundSymbol& statement) {
  if (statement.is_call(OpCode::CopyInto) && keyword_argument(statement, "grad_enabled")) {
    return true;
  }
  return std::any_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [](const BoundSymbolRef& child) { return copies_with_grad_keyword(*child); });
}

template <typename F>
bool any_statement(const Trace& trace, F&& holds) {
  return std::any_of(trace.bound_symbols.begin(), trace.bound_symbols.end(),
                     [&holds](const BoundSymbolRef& statement) { return holds(*statement); });
}

}  // namespace

EraGuess guess_era(const TraceFile& file) {
  for (const Phase& phase : file.phases) {
    const std::string& made_by = phase.trace.provenance;
    if (made_by.starts_with("Functionalize in-place ops") ||
        made_by.starts_with("Intermediate trace of `functionalize_inplace_ops`")) {
      return {Era::Thunder2024, "functionalization provenance"};
    }
    if (made_by.starts_with("Update aliases for in-place ops")) {
      return {Era::Thunder2026, "alias update provenance"};
    }
    if (made_by.starts_with("Grad transform pass")) {
      return {Era::Thunder2026, "joint forward and backward trace"};
    }
  }
  for (const Phase& phase : file.phases) {
    if (any_statement(phase.trace, [](const BoundSymbol& s) {
          return mentions_callee(s, OpCode::UpdateAliases);
        })) {
      return {Era::Thunder2026, "prims.update_aliases"};
    }
    if (any_statement(phase.trace, copies_with_grad_keyword)) {
      return {Era::Thunder2026, "prims.copy_ with grad_enabled"};
    }
    if (any_statement(phase.trace, [](const BoundSymbol& s) {
          return mentions_callee(s, OpCode::ShallowCopy);
        })) {
      return {Era::Thunder2026, "prims.shallow_copy"};
    }
  }
  for (const Phase& phase : file.phases) {
    if (any_statement(phase.trace,
                      [](const BoundSymbol& s) { return mentions_callee(s, OpCode::CopyInto); })) {
      return {Era::Thunder2024, "prims.copy_ without grad_enabled"};
    }
  }
  for (const Phase& phase : file.phases) {
    if (!phase.trace.bound_symbols.empty() && phase.trace.has_def_line) {
      return {Era::Thunder2024, "no form of a later era"};
    }
  }
  return {};
}

std::string_view era_text(Era era) {
  switch (era) {
    case Era::Unknown:
      return "unknown era";
    case Era::Thunder2024:
      return "thunder 2024-12";
    case Era::Thunder2026:
      return "thunder 2026-01";
  }
  return "unknown era";
}

}  // namespace tg
