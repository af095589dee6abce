// Each pass alone on parsed traces, without steps and without verification.
#pragma once

#include <vector>

#include "bench/programs.h"
#include "bench/table.h"

namespace tg {

// Registers the benchmarks; the recorded texts give the RNN and the chain, when they are there.
void measure_passes(const std::vector<NamedText>& texts);
Table passes_table(const KeepingReporter& kept);

}  // namespace tg
