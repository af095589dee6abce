// Comparison of two traces up to what no reader can know: the numbers in fresh names and the
// milliseconds.
#pragma once

#include <string>

#include "core/ir/trace.h"

namespace tg {

// Same program under one renaming of names (parameters keep theirs). Provenance, headers, types,
// positions in the user's program, imports and decorators must agree; "took N milliseconds" is
// normalised, the numbers in names of objects (`_torch_memory_format_7`) are renamed like others, a
// position line that repeats the latest one is optional. `why`, if given, gets the first
// difference.
bool same_up_to_renaming(const Trace& expected, const Trace& actual, std::string* why);

}  // namespace tg
