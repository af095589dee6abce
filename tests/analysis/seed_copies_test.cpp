// The answer that each copy of the programs under assets/traces/seed must get, written down in
// copies.json from what the programs do, against what the audit says.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/pass/audit_copies.h"
#include "tests/support/trace_text.h"

namespace tg {
namespace {

const std::string kRoot = TG_SOURCE_DIR;

nlohmann::json expected_answers() {
  return nlohmann::json::parse(test::file_text(kRoot + "/tests/analysis/copies.json"));
}

TEST(SeedCopies, EveryCopyGetsItsAnswer) {
  const nlohmann::json expected = expected_answers();
  for (const auto& [program, copies] : expected.items()) {
    const TraceFile file = parse_trace_file(
        program, test::file_text(kRoot + "/assets/traces/seed/" + program + ".txt"));
    ASSERT_EQ(file.phases.size(), 1U) << program;
    nlohmann::json found = nlohmann::json::array();
    for (const CopyFinding& finding : audit(file.phases.front().trace, {})) {
      found.push_back({{"line", finding.at.line}, {"answer", answer_text(finding.answer)}});
      EXPECT_EQ(finding.removable, finding.answer == CopyAnswer::OverwrittenLater) << program;
    }
    EXPECT_EQ(found, copies) << program;
  }
}

TEST(SeedCopies, EveryProgramIsInTheTable) {
  const nlohmann::json expected = expected_answers();
  std::size_t programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/assets/traces/seed")) {
    EXPECT_TRUE(expected.contains(entry.path().stem().string())) << entry.path();
    ++programs;
  }
  EXPECT_EQ(programs, expected.size());
}

}  // namespace
}  // namespace tg
