#include "core/golden/golden.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "core/golden/checks.h"

namespace tg {
namespace {

using golden::SuiteKind;
using golden::Unit;

void check(const Unit& unit, const GoldenOptions& options, golden::Checks& checks) {
  switch (unit.kind) {
    case SuiteKind::Seed:
      return golden::check_seed(unit, checks);
    case SuiteKind::Passes2024:
      return golden::check_passes_2024(unit, checks);
    case SuiteKind::Passes2026:
      return golden::check_passes_2026(unit, checks);
    case SuiteKind::Large:
      return golden::check_large(unit, checks);
    case SuiteKind::Corpus:
      return golden::check_corpus(unit, checks);
    case SuiteKind::Paste:
      return golden::check_paste(unit, checks);
    case SuiteKind::Case:
      return golden::check_case(unit, checks);
    case SuiteKind::PassCase:
      return golden::check_pass_case(unit, checks);
    case SuiteKind::Region:
      return golden::check_region(unit, checks);
    case SuiteKind::Definition:
      return golden::check_definition(unit, checks);
    case SuiteKind::Calls:
      return golden::check_calls(unit, options.run_calls, checks);
    case SuiteKind::Fx:
      return golden::check_fx(unit, checks);
  }
}

struct Count {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t not_supported = 0;

  void add(CheckState state) {
    switch (state) {
      case CheckState::Passed:
        ++passed;
        return;
      case CheckState::Failed:
        ++failed;
        return;
      case CheckState::NotSupported:
        ++not_supported;
        return;
    }
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} passed, {} failed, {} not supported", passed, failed, not_supported);
  }
};

}  // namespace

Result<GoldenReport> run_golden(const std::string& path, const GoldenOptions& options) {
  Result<std::vector<Unit>> found = golden::find_recordings(path);
  if (!found) return Unexpected{found.error()};
  std::vector<Unit> units = *std::move(found);
  std::erase_if(units, [&](const Unit& unit) {
    return unit.id.find(options.only) == std::string::npos ||
           (!options.only_suite.empty() && golden::suite_name(unit.kind) != options.only_suite);
  });

  std::vector<std::vector<GoldenCheck>> results(units.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < units.size(); i = next++) {
      golden::Checks checks(std::string(golden::suite_name(units[i].kind)), units[i].id);
      check(units[i], options, checks);
      results[i] = std::move(checks).take();
    }
  };
  const unsigned wanted =
      options.workers != 0 ? options.workers : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < std::min<std::size_t>(wanted, units.size()); ++i)
      others.emplace_back(work);
    work();
  }
  GoldenReport report;
  report.recordings = units.size();
  for (std::vector<GoldenCheck>& some : results) {
    report.checks.insert(report.checks.end(), std::make_move_iterator(some.begin()),
                         std::make_move_iterator(some.end()));
  }
  return report;
}

std::string render(const GoldenReport& report, const RenderOptions& options) {
  std::map<std::string, Count> suites;
  std::map<std::string, std::map<std::string, Count>> kinds;
  for (const GoldenCheck& entry : report.checks) {
    suites[entry.suite].add(entry.state);
    kinds[entry.suite][entry.kind].add(entry.state);
  }
  std::string text;
  for (const auto& [suite, count] : suites) {
    text += fmt::format("{}: {}\n", suite, count.text());
    if (options.kinds) {
      for (const auto& [kind, part] : kinds[suite])
        text += fmt::format("  {}/{}: {}\n", suite, kind, part.text());
    }
    std::size_t shown = 0;
    std::map<std::string, std::size_t> reasons;
    for (const GoldenCheck& entry : report.checks) {
      if (entry.suite != suite) continue;
      if (entry.state == CheckState::Failed && shown++ < options.most) {
        text += fmt::format("  FAILED {} [{}]: {}\n", entry.id, entry.kind, entry.why);
      }
      if (entry.state == CheckState::NotSupported)
        ++reasons[fmt::format("[{}] {}", entry.kind, entry.why)];
    }
    if (shown > options.most)
      text += fmt::format("  ... and {} more failed\n", shown - options.most);
    if (options.not_supported) {
      for (const auto& [reason, times] : reasons)
        text += fmt::format("  not supported, {} times: {}\n", times, reason);
    }
  }
  return text;
}

}  // namespace tg
