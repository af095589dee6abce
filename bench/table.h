// Results as Markdown tables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace tg {

struct Table {
  std::string question;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string remark;
};

std::string to_markdown(const Table& table);
// "19.8 s", "3.2 ms", "41 us"
std::string seconds_text(double seconds);

// Shows results as usual and keeps the seconds of one iteration by benchmark name.
class KeepingReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override;
  // Of the fastest repetition; negative when the benchmark did not run.
  [[nodiscard]] double seconds(const std::string& name) const;

 private:
  std::map<std::string, double> seconds_;
};

}  // namespace tg
