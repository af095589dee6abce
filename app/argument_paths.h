// Argument names say little ("t_0_4"): the prologue tells where in the call each of them comes
// from.
#pragma once

#include <string>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

// For each parameter of `trace` its path in the user's call, "args[0][2]" or "kwargs['w']"; empty
// where the prologue does not tell.
std::vector<std::string> argument_paths(const Trace& prologue, const Trace& trace);

// The prologue of a file, null if it has none.
const Trace* prologue_of(const TraceFile& file);

}  // namespace tg
