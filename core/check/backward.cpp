#include "core/check/backward.h"

#include <algorithm>

#include <fmt/format.h>

namespace tg {
namespace {

struct Link {
  std::size_t forward = 0;
  std::vector<SavedTensor> saved;
};

bool same_names(const std::vector<SavedTensor>& saved) {
  return std::all_of(saved.begin(), saved.end(), [](const SavedTensor& tensor) {
    return tensor.backward_name.empty() || tensor.backward_name == tensor.name;
  });
}

std::optional<Link> link_of(const TraceFile& file, std::size_t backward) {
  const auto try_phase = [&](std::size_t i) -> std::optional<Link> {
    const Phase& phase = file.phases[i];
    if (phase.kind != TraceKind::Computation || !phase.trace.has_def_line) return std::nullopt;
    std::optional<std::vector<SavedTensor>> saved =
        link_saved(phase.trace, file.phases[backward].trace);
    if (!saved) return std::nullopt;
    return Link{i, *std::move(saved)};
  };
  // Positions decide, but of several candidates the one that uses the same names is meant.
  std::optional<Link> by_position;
  const auto consider = [&](std::size_t i) -> std::optional<Link> {
    std::optional<Link> link = try_phase(i);
    if (link && same_names(link->saved)) return link;
    if (link && !by_position) by_position = std::move(link);
    return std::nullopt;
  };
  for (std::size_t i = backward; i-- > 0;) {
    if (std::optional<Link> link = consider(i)) return link;
  }
  for (std::size_t i = backward + 1; i < file.phases.size(); ++i) {
    if (std::optional<Link> link = consider(i)) return link;
  }
  return by_position;
}

bool is_none(const NamedValue& value) {
  return value.value.as<NoneValue>() != nullptr;
}

// Thunder leaves out gradients of inputs that need none, and the text does not tell which do: a
// gradient that is None from here on is counted, not held against the phase.
Comparison compare_gradients(const RunResult& before, const RunResult& after,
                             const CompareOptions& options, std::size_t& left_out) {
  RunResult left;
  RunResult right;
  left.used_random = before.used_random;
  right.used_random = after.used_random;
  left.outputs = before.outputs;
  right.outputs = after.outputs;
  if (left.outputs.size() == right.outputs.size()) {
    for (std::size_t i = left.outputs.size(); i-- > 0;) {
      if (!is_none(right.outputs[i]) || is_none(left.outputs[i])) continue;
      ++left_out;
      left.outputs.erase(left.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      right.outputs.erase(right.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return compare(left, right, options);
}

std::string error_text(const RunError& error) {
  const std::string message =
      error.type.empty() ? error.message : fmt::format("{}: {}", error.type, error.message);
  return error.at.line == 0 ? message : fmt::format("line {}: {}", error.at.line, message);
}

}  // namespace

BackwardReport check_backward(const BackwardRequest& request) {
  BackwardReport report;
  const TraceFile& file = *request.file;
  std::vector<std::optional<RunResult>> results;
  std::optional<std::size_t> previous;
  for (std::size_t i = 0; i < file.phases.size(); ++i) {
    if (file.phases[i].kind != TraceKind::Backward || !file.phases[i].trace.has_def_line) continue;
    BackwardPhase phase;
    phase.file_index = i;
    phase.label = file.phases[i].label;
    std::optional<RunResult> result;
    const std::optional<Link> link = link_of(file, i);
    if (!link) {
      phase.why_not = "no forward trace saves what it unpacks";
    } else {
      const Trace& forward = file.phases[link->forward].trace;
      phase.forward = link->forward;
      phase.saved = link->saved.size();
      phase.read = static_cast<std::size_t>(
          std::count_if(link->saved.begin(), link->saved.end(),
                        [](const SavedTensor& tensor) { return !tensor.backward_name.empty(); }));
      report.hazards = find_saved_hazards(forward, link->saved, *request.facts);
      report.hazard_phase = report.phases.size();
      const Expected<RunResult, RunError> before = run(forward, *request.inputs, request.limits);
      if (!before) {
        phase.why_not = fmt::format("its forward trace: {}", error_text(before.error()));
      } else {
        Expected<RunResult, RunError> outcome =
            run_backward(file.phases[i].trace, *before, request.limits);
        phase.ran = outcome.has_value();
        if (outcome) {
          result = *std::move(outcome);
        } else {
          phase.why_not = error_text(outcome.error());
        }
      }
    }
    const std::size_t index = report.phases.size();
    report.phases.push_back(std::move(phase));
    results.push_back(std::move(result));
    if (!results[index]) continue;
    if (previous) {
      report.pairs.push_back({*previous, index,
                              compare_gradients(*results[*previous], *results[index],
                                                request.compare, report.phases[index].left_out)});
    }
    previous = index;
  }
  if (!report.hazards.empty()) {
    const BackwardPhase& last = report.phases[report.hazard_phase];
    try_saved_values(file.phases[*last.forward].trace, file.phases[last.file_index].trace,
                     *request.inputs, request.compare, request.limits, report.hazards);
  }
  return report;
}

std::string one_line(const SavedHazard& hazard) {
  std::string text = fmt::format(
      "`{}` is saved for backward, read at line {} and written at line {} before the forward ends",
      hazard.tensor.name, hazard.read_at.line, hazard.write_at.line);
  if (!hazard.matters) return text + "; what it does to the gradients could not be tried";
  if (!*hazard.matters) return text + "; the gradients are the same with either value";
  return fmt::format("{}: {}", text, hazard.witness);
}

}  // namespace tg
