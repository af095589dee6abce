// Problem: an optimized trace has to become calls of executors, with fusions where there are some.
//
// Rules: those of the passes that run here, one after another: dead_code, operator_executors,
// dead_code, fusion for each fusion executor in the list, and operator_executors once more with the
// executors that always run, torch and python.
// Refuses what these passes refuse.

#include <algorithm>

#include "core/pass/all_passes.h"
#include "core/pass/executors.h"
#include "core/pass/name_table.h"
#include "core/pass/pass_sequence.h"

namespace tg {
namespace {

std::vector<std::string> executors_of(const PassOptions& options) {
  if (!options.executors.empty()) return options.executors;
  std::vector<std::string> names;
  for (const std::string_view name : default_executors()) names.emplace_back(name);
  return names;
}

}  // namespace

PassResult transform_for_execution(const Trace& before, PassContext& context) {
  PassOptions options = context.options;
  options.executors = executors_of(context.options);
  options.needed_names.clear();
  options.fresh_from = std::max(options.fresh_from, NameTable(before).next_number());
  PassSequence sequence(before, context);
  sequence.run("dead_code", dead_code, options);
  sequence.run("operator_executors", operator_executors, options);
  sequence.run("dead_code", dead_code, options);
  for (const std::string& executor : options.executors) {
    if (!is_fusion_executor(executor)) continue;
    PassOptions fusing = options;
    fusing.fusion_executor = executor;
    sequence.run("fusion", fusion, fusing);
  }
  PassOptions last = options;
  last.executors.assign(always_executors().begin(), always_executors().end());
  sequence.run("operator_executors", operator_executors, last);
  return std::move(sequence).finish("Transform for execution (took 0 milliseconds)");
}

PassResult prepare_execution(const Trace& before, PassContext& context) {
  PassOptions options = context.options;
  options.fresh_from = std::max(options.fresh_from, NameTable(before).next_number());
  PassSequence sequence(before, context);
  sequence.run("dead_code", dead_code, options);
  Trace clean = sequence.current();
  sequence.run("transform_for_execution", transform_for_execution, options);
  PassResult result = std::move(sequence).finish("Transform for execution (took 0 milliseconds)");
  if (!result.error) result.intermediate.push_back(std::move(clean));
  return result;
}

}  // namespace tg
