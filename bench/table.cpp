#include "bench/table.h"

#include <algorithm>

#include <fmt/format.h>

namespace tg {

std::string to_markdown(const Table& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string out = "|";
    for (const std::string& cell : cells) out += " " + cell + " |";
    return out + "\n";
  };
  std::string out = "## " + table.question + "\n\n" + line(table.columns) + "|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) out += i == 0 ? " --- |" : " ---: |";
  out += "\n";
  for (const std::vector<std::string>& row : table.rows) out += line(row);
  if (!table.remark.empty()) out += "\n" + table.remark + "\n";
  return out + "\n";
}

std::string seconds_text(double seconds) {
  if (seconds < 0) return "not measured";
  if (seconds >= 1) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

void KeepingReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration || run.error_occurred || run.iterations == 0) continue;
    const double seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
    const auto [at, fresh] = seconds_.try_emplace(run.run_name.function_name, seconds);
    if (!fresh) at->second = std::min(at->second, seconds);
  }
  ConsoleReporter::ReportRuns(runs);
}

double KeepingReporter::seconds(const std::string& name) const {
  const auto found = seconds_.find(name);
  return found == seconds_.end() ? -1 : found->second;
}

}  // namespace tg
