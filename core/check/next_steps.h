// What to try after a check: commands that run as they stand.
#pragma once

#include <string>
#include <vector>

#include "core/check/check.h"

namespace tg {

// Commands without "thunderglass", each with its words quoted for a shell. `name` is the file as
// the user named it, empty where it is implied (the REPL). Nothing for standard input, which cannot
// be read again, and for a check that did not begin.
std::vector<std::string> next_steps(const CheckReport& report, const CheckOptions& options,
                                    const std::string& name);

}  // namespace tg
