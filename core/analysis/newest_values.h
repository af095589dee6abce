// Newest values: which value of a variable a functionalized trace should store back. In-place
// operations give a variable one value after another; functionalization gives each its own name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analysis/alias_analysis.h"

namespace tg {

struct StaleCopy {
  std::size_t copy = 0;  // index into aliases.copies()
  std::string variable;  // "x"
  std::string newest;    // "t2"
  SourceRange newest_at;
};

// Copies at depth 0 that are the last into an argument and store a value that is not the newest
// one. Told by the headers that functionalization leaves ("Functionalized from `t1 = exp_(x)`") and
// by `earlier`, the trace before it, if given. Silent where neither tells.
std::vector<StaleCopy> stale_copies(const Trace& trace, const DefUse& def_use,
                                    const AliasSets& aliases, const Trace* earlier);

}  // namespace tg
