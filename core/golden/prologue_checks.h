// Internal to core/golden.
#pragma once

#include <string>

#include "core/golden/checks.h"
#include "core/run/recording.h"

namespace tg::golden {

// Runs `prologue` on the recorded inputs: nothing is refused, and it hands `computation` its
// arguments.
void check_prologue(const Trace& prologue, const Trace& computation, const Recording& recording,
                    const std::string& path, Checks& checks);

}  // namespace tg::golden
