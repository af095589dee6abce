// Lines of Thunder's dialect -> Traces.
#pragma once

#include <string_view>
#include <vector>

#include "core/ir/trace.h"
#include "core/text/source_map.h"

namespace tg::text {

// Traces of `text`, which has heads at column 0. Findings of the text itself (not of names) are
// added to `sink` at positions that `map` gives. Total and linear.
std::vector<Trace> parse_traces(std::string_view text, const SourceMap& map, DiagnosticSink& sink);

}  // namespace tg::text
