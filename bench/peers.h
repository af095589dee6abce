// What others need for the same job, measured in the same run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/programs.h"

namespace tg {

// Seconds that CPython's ast.parse takes for all texts; empty without python3.
std::optional<double> python_parse_seconds(const std::vector<NamedText>& texts);

// First line of a program's standard output; empty when it cannot be run.
std::string first_output_line(const std::string& command);

}  // namespace tg
