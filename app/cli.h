// The command line.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"

namespace tg {

// `words` without the program's name.
ExitCode run_command_line(const std::vector<std::string>& words, Sink& sink);

}  // namespace tg
