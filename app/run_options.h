// From the options of a command to what core's runs and comparisons take.
#pragma once

#include <string>
#include <vector>

#include "app/address.h"
#include "app/command.h"
#include "core/eager/interpreter.h"
#include "core/ir/trace.h"
#include "core/run/compare.h"
#include "core/run/inputs.h"

namespace tg {

RunLimits limits_of(const ParsedCommand& command);
// The diagnostic of --alias, --inputs and their likes, with exit code 3.
Result<RunInputs> inputs_of(const ParsedCommand& command, const Target& target);
Expected<CompareOptions, std::string> compare_options_of(const ParsedCommand& command);

// Who raised, where, why. `where` is the address shown: "trace.txt:1".
std::string run_error_text(const RunError& error, const std::string& where);

}  // namespace tg
