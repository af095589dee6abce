// How long a command takes from nothing, as a user waits for it.
#pragma once

#include <string>
#include <vector>

namespace tg {

// Seconds of wall time of each of `runs` runs, sorted; output goes nowhere. Empty when it cannot be
// started.
std::vector<double> cold_start_seconds(const std::vector<std::string>& command, int runs);

}  // namespace tg
