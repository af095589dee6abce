// What would repair a difference, tried and not only guessed.
#pragma once

#include <vector>

#include "core/check/explain.h"

namespace tg {

// Each candidate is built, run and compared with `request.left`'s run.
std::vector<Repair> try_repairs(const ExplainRequest& request, const Comparison& comparison,
                                const std::optional<Explanation>& explanation);

}  // namespace tg
