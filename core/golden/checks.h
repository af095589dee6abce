// What the checks of all suites share. Internal to core/golden.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/golden/find_recordings.h"
#include "core/golden/golden.h"

namespace tg::golden {

// Collects the checks of one recording.
class Checks {
 public:
  Checks(std::string suite, std::string root) : suite_(std::move(suite)), root_(std::move(root)) {}

  // `part` is a path within the recording, empty for the recording as a whole.
  void pass(std::string_view kind, std::string_view part = {}) {
    add(kind, part, CheckState::Passed, {});
  }
  void fail(std::string_view kind, std::string_view part, std::string why) {
    add(kind, part, CheckState::Failed, std::move(why));
  }
  void not_supported(std::string_view kind, std::string_view part, std::string why) {
    add(kind, part, CheckState::NotSupported, std::move(why));
  }
  // Passed when `why_not` is empty.
  void decide(std::string_view kind, std::string_view part, std::string why_not) {
    const CheckState state = why_not.empty() ? CheckState::Passed : CheckState::Failed;
    add(kind, part, state, std::move(why_not));
  }
  [[nodiscard]] std::vector<GoldenCheck> take() && { return std::move(checks_); }

 private:
  void add(std::string_view kind, std::string_view part, CheckState state, std::string why);

  std::string suite_;
  std::string root_;
  std::vector<GoldenCheck> checks_;
};

// The checks of each suite.
void check_seed(const Unit& unit, Checks& checks);
void check_passes_2024(const Unit& unit, Checks& checks);
void check_passes_2026(const Unit& unit, Checks& checks);
void check_large(const Unit& unit, Checks& checks);
void check_corpus(const Unit& unit, Checks& checks);
void check_paste(const Unit& unit, Checks& checks);
void check_case(const Unit& unit, Checks& checks);
void check_pass_case(const Unit& unit, Checks& checks);
void check_region(const Unit& unit, Checks& checks);
void check_definition(const Unit& unit, Checks& checks);
void check_calls(const Unit& unit, bool run_them, Checks& checks);
void check_fx(const Unit& unit, Checks& checks);

// Strips the prefix and the line breaks of a message: reports have one line per failing id.
std::string one_line_of(std::string_view text);

}  // namespace tg::golden
