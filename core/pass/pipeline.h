// Pipeline: runs passes in order with the ceremony that no pass should repeat (filter, verify,
// history).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/pass/era.h"
#include "core/pass/pass.h"

namespace tg {

struct PipelineStage {
  std::string pass;
  PassResult result;
  bool changed = false;  // !(after == before), never what the pass says
};

struct PipelineResult {
  std::vector<PipelineStage> stages;
  std::vector<Diagnostic> diagnostics;  // verifier findings after a pass
};

// Runs the passes one after another; stops at the first that raises.
PipelineResult run_pipeline(const Trace& before, std::span<const std::string_view> passes,
                            PassContext context);

// The passes of an era in order, under a name that `pass NAME` takes (passes.md 2.1).
struct NamedPipeline {
  std::string_view name;
  std::string_view summary;
  std::vector<std::string_view> passes;
};
const std::vector<NamedPipeline>& named_pipelines();
// The passes of one of them, empty if there is none of this name.
std::vector<std::string_view> named_pipeline(std::string_view name);

// The Thunder era a text comes from, by its forms (update_aliases, flat return, headers...).
struct EraGuess {
  Era era = Era::Unknown;
  std::string reason;  // "functionalization provenance", "prims.update_aliases"
};
EraGuess guess_era(const TraceFile& file);
std::string_view era_text(Era era);  // "thunder 2024-12"

}  // namespace tg
