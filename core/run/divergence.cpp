// Two programs side by side: the first statement whose value differs.
#include <unordered_map>

#include "core/run/compare.h"
#include "core/run/compare_values.h"

namespace tg {
namespace {

struct Seen {
  std::uint32_t statement = 0;
  RuntimeValue value;
};

// Values as they were right after the statement that bound them: later writes must not show.
RuntimeValue frozen(const RuntimeValue& value) {
  if (const Tensor* tensor = value.as<Tensor>()) return {detached_copy(*tensor)};
  return value;
}

std::uint64_t bytes_of(const RuntimeValue& value) {
  const Tensor* tensor = value.as<Tensor>();
  return tensor == nullptr ? 0 : tensor->storage->bytes.size();
}

}  // namespace

std::optional<Divergence> first_divergence(const Trace& left, const Trace& right,
                                           const RunInputs& inputs, const CompareOptions& options,
                                           const RunLimits& limits) {
  // Names may be bound more than once; the n-th binding on one side is held against the n-th on the
  // other.
  std::unordered_map<std::string, std::vector<Seen>> seen;
  std::uint64_t kept = 0;
  RunObserver watch_left;
  watch_left.after = [&](std::uint32_t statement, const Environment& environment) {
    for (const std::string_view name : output_names(*left.bound_symbols[statement])) {
      if (const RuntimeValue* value = environment.find(name)) {
        // Beyond the memory limit later values are not kept, and nothing is said of them.
        if (bytes_of(*value) > limits.bytes - kept) return Continue::Stop;
        seen[std::string(name)].push_back({statement, frozen(*value)});
        kept += bytes_of(seen.find(std::string(name))->second.back().value);
      }
    }
    return Continue::Go;
  };
  const Expected<RunResult, RunError> first = run(left, inputs, limits, &watch_left);
  // A left side that stops early still leaves values up to there, which is what the question is
  // about.
  static_cast<void>(first.has_value());

  std::optional<Divergence> found;
  std::unordered_map<std::string, std::size_t> count;
  CompareClock clock(limits);
  RunObserver watch_right;
  watch_right.after = [&](std::uint32_t statement, const Environment& environment) {
    for (const std::string_view name : output_names(*right.bound_symbols[statement])) {
      const RuntimeValue* value = environment.find(name);
      const auto known = seen.find(std::string(name));
      if (value == nullptr || known == seen.end()) continue;
      const std::size_t index = count[known->first]++;
      if (index >= known->second.size()) continue;
      const Seen& reference = known->second[index];
      std::vector<Difference> differences;
      compare_value(known->first, reference.value, *value, options, DifferenceKind::Values, clock,
                    differences);
      if (clock.stopped()) return Continue::Stop;
      for (Difference& difference : differences) {
        if (difference.accepted || difference.kind == DifferenceKind::Strides) continue;
        found = Divergence{reference.statement, statement, known->first, std::move(difference)};
        return Continue::Stop;
      }
    }
    return Continue::Go;
  };
  const Expected<RunResult, RunError> second = run(right, inputs, limits, &watch_right);
  static_cast<void>(second.has_value());
  return found;
}

}  // namespace tg
