#include "core/run/compare.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/run/alias_partition.h"
#include "core/run/compare_values.h"
#include "core/run/recording.h"

namespace tg {
namespace {

// Which class of difference a reader wants to see first.
int rank(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::Raised:
      return 0;
    case DifferenceKind::Structure:
      return 1;
    case DifferenceKind::Shape:
      return 2;
    case DifferenceKind::DType:
      return 3;
    case DifferenceKind::FinalArgument:
      return 4;
    case DifferenceKind::Values:
      return 5;
    case DifferenceKind::AliasGained:
      return 6;
    case DifferenceKind::AliasLost:
      return 7;
    case DifferenceKind::AliasOffset:
      return 8;
    case DifferenceKind::Strides:
      return 9;
  }
  return 10;
}

void conclude(Comparison& comparison) {
  std::stable_sort(comparison.differences.begin(), comparison.differences.end(),
                   [](const Difference& a, const Difference& b) {
                     return std::pair(a.accepted, rank(a.kind)) <
                            std::pair(b.accepted, rank(b.kind));
                   });
  const bool differs =
      std::any_of(comparison.differences.begin(), comparison.differences.end(),
                  [](const Difference& difference) { return !difference.accepted; });
  if (differs) comparison.verdict = VerdictKind::Different;
}

// Whole: every byte of an argument's storage counts, not only those that the argument's window
// shows.
enum class Extent { Whole, Window };

void compare_outputs(const RunResult& left, const RunResult& right, const CompareOptions& options,
                     CompareClock& clock, std::vector<Difference>& out) {
  if (left.outputs.size() != right.outputs.size()) {
    Difference difference;
    difference.kind = DifferenceKind::Structure;
    difference.subject = "outputs";
    difference.left = std::to_string(left.outputs.size());
    difference.right = std::to_string(right.outputs.size());
    difference.message =
        fmt::format("the programs return {} and {} values", difference.left, difference.right);
    out.push_back(std::move(difference));
  }
  const std::size_t common = std::min(left.outputs.size(), right.outputs.size());
  for (std::size_t i = 0; i < common; ++i) {
    compare_value(left.outputs[i].name, left.outputs[i].value, right.outputs[i].value, options,
                  DifferenceKind::Values, clock, out);
  }
}

void compare_arguments(const RunResult& left, const RunResult& right, const CompareOptions& options,
                       Extent extent, CompareClock& clock, std::vector<Difference>& out) {
  std::unordered_map<std::string_view, const RuntimeValue*> on_the_right;
  for (const NamedValue& argument : right.final_arguments) {
    on_the_right.emplace(argument.name, &argument.value);
  }
  // Storages whose bytes outside a window were looked at already: aliased arguments share them.
  std::unordered_map<const Storage*, bool> seen;
  for (const NamedValue& argument : left.final_arguments) {
    const auto found = on_the_right.find(argument.name);
    if (found == on_the_right.end()) continue;
    const std::size_t before = out.size();
    compare_value(argument.name, argument.value, *found->second, options,
                  DifferenceKind::FinalArgument, clock, out);
    const Tensor* a = argument.value.as<Tensor>();
    const Tensor* b = found->second->as<Tensor>();
    if (extent == Extent::Window || a == nullptr || b == nullptr) continue;
    const bool first_look = seen.emplace(a->storage.get(), true).second;
    if (first_look && out.size() == before)
      compare_outside(argument.name, *a, *b, options, clock, out);
  }
}

Comparison compare_within(const RunResult& left, const RunResult& right,
                          const CompareOptions& options, Extent extent) {
  Comparison comparison;
  // The limits of the run that came second hold for the comparison too.
  CompareClock clock(right.limits, right.stop);
  compare_outputs(left, right, options, clock, comparison.differences);
  compare_arguments(left, right, options, extent, clock, comparison.differences);
  compare_partitions(alias_partition(left), alias_partition(right), options,
                     comparison.differences);
  if (left.used_random || right.used_random) {
    // Random bits differ between versions of PyTorch: values say nothing, shapes do.
    std::erase_if(comparison.differences, [](const Difference& difference) {
      return difference.kind == DifferenceKind::Values ||
             difference.kind == DifferenceKind::FinalArgument;
    });
    comparison.verdict = VerdictKind::NotEstablished;
    comparison.why =
        "the program draws random numbers: only structure, dtypes, shapes and sharing were "
        "compared";
  }
  if (clock.stopped() && comparison.why.empty()) {
    comparison.verdict = VerdictKind::NotEstablished;
    comparison.why = right.stop.stop_requested() ? "comparison was interrupted"
                                                 : "comparison stopped at the time limit";
  }
  conclude(comparison);
  return comparison;
}

std::string error_text(const RunError& error) {
  if (error.type.empty()) return error.message;
  return error.message.empty() ? error.type : fmt::format("{}: {}", error.type, error.message);
}

Comparison raised(std::string left, std::string right, std::string message) {
  Comparison comparison;
  Difference difference;
  difference.kind = DifferenceKind::Raised;
  difference.subject = "program";
  difference.message = std::move(message);
  difference.left = std::move(left);
  difference.right = std::move(right);
  comparison.differences.push_back(std::move(difference));
  conclude(comparison);
  return comparison;
}

Comparison not_established(std::string why) {
  Comparison comparison;
  comparison.verdict = VerdictKind::NotEstablished;
  comparison.why = std::move(why);
  return comparison;
}

bool is_torch_error(const RunError& error) {
  return error.kind == RunErrorKind::RaisesAsTorch;
}

}  // namespace

Comparison compare(const RunResult& left, const RunResult& right, const CompareOptions& options) {
  return compare_within(left, right, options, Extent::Whole);
}

Comparison compare_raised(const Expected<RunResult, RunError>& left,
                          const Expected<RunResult, RunError>& right) {
  TG_CHECK(!left || !right);
  // Only what PyTorch raises too is a fact about the program; everything else is our own limit.
  if (!left && !is_torch_error(left.error())) return not_established(error_text(left.error()));
  if (!right && !is_torch_error(right.error())) return not_established(error_text(right.error()));
  if (left) {
    const std::string text = error_text(right.error());
    return raised("runs", text, fmt::format("only the second program raises: {}", text));
  }
  if (right) {
    const std::string text = error_text(left.error());
    return raised(text, "runs", fmt::format("only the first program raises: {}", text));
  }
  if (left.error().type == right.error().type) {
    Comparison comparison;
    comparison.why = fmt::format("both raise {}", left.error().type);
    return comparison;
  }
  const std::string a = error_text(left.error());
  const std::string b = error_text(right.error());
  return raised(a, b, fmt::format("the programs raise {} and {}", a, b));
}

Comparison compare_with_recording(const RunResult& result, const RecordedRun& recorded,
                                  const Recording& recording, const CompareOptions& options) {
  if (recorded.error) {
    const std::string text = fmt::format("{}: {}", recorded.error->first, recorded.error->second);
    return raised(text, "runs", fmt::format("the recorded program raised {}", text));
  }
  RunResult left = as_run_result(recorded);
  RunResult right = result;
  left.used_random = recording.random;
  CompareOptions chosen = options;
  for (const auto& [name, bound] : recording.tolerance) {
    if (const std::optional<DType> dtype = parse_dtype(name)) {
      chosen.by_dtype.push_back({*dtype, {bound, bound, std::nullopt, true}});
    }
  }
  if (!recorded.has_sharing) {
    // Nothing is known about sharing: give every tensor of both sides a storage of its own.
    for (RunResult* side : {&left, &right}) {
      for (std::vector<NamedValue>* list : {&side->outputs, &side->final_arguments}) {
        for (NamedValue& value : *list) {
          if (Tensor* tensor = value.value.as<Tensor>()) {
            tensor->storage = std::make_shared<Storage>(*tensor->storage);
          }
        }
      }
    }
  }
  return compare_within(left, right, chosen, Extent::Window);
}

}  // namespace tg
