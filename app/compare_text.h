// A comparison as text, for every command that compares.
#pragma once

#include <optional>
#include <string>

#include "app/command.h"
#include "app/output.h"
#include "core/eager/interpreter.h"
#include "core/run/compare.h"

namespace tg {

// The verdict first: "DIFFERENT  trace.txt:0 and trace.txt:1, seed 1", then one difference a line.
std::string comparison_text(const Comparison& comparison, const std::string& left,
                            const std::string& right, std::uint64_t seed, const Paint& paint);

// "values", "alias lost": what kind of difference it is.
std::string_view difference_text(DifferenceKind kind);

// What a comparison exits with; `error` is that of the side that could not run.
ExitCode comparison_exit(const Comparison& comparison, const std::optional<RunError>& error);

}  // namespace tg
