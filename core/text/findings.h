// Positions for findings about names: from the statement to the name inside it.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/text/source_map.h"

namespace tg::text {

// Findings of the verifier point to whole statements. Where a finding is about a name, narrows it
// to that name (behind the '=' when the name is read, before it when it is defined). `text` is the
// file as the user has it.
void point_to_names(std::vector<Diagnostic>& findings, std::string_view text);

// Keeps the first findings of each code and says how many more there are: a damaged file of a
// million lines must not drown its reader.
void limit_findings(std::vector<Diagnostic>& findings);

// Reports bytes that are no UTF-8 and control characters that no trace contains, once a line.
// Linear.
void check_bytes(std::string_view text, const SourceMap& map, DiagnosticSink& sink);

}  // namespace tg::text
