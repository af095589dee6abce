// JSON forms of what the commands answer. Every document has "schema": "thunderglass.NAME/VERSION";
// keys are stable and in this order; a key's meaning never changes within a version. Numbers that
// may be NaN or infinite are strings then ("NaN", "Infinity", "-Infinity"); what is not known is
// null.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/analysis/alias_analysis.h"
#include "core/analysis/def_use.h"
#include "core/base/diagnostic.h"
#include "core/check/check.h"
#include "core/export/trace_diff.h"
#include "core/pass/audit_copies.h"
#include "core/pass/step.h"
#include "core/run/compare.h"

namespace tg {

using Json = nlohmann::ordered_json;

// Parts, without a schema.
Json json_number(double value);
Json to_json(
    const SourceRange& at);  // {"line": 4, "column": 16, "length": 2}, null for the whole file
Json to_json(const Diagnostic& diagnostic);
Json to_json(const BoundSymbol& statement, std::uint32_t index);  // with sub-statements
Json to_json(const Difference& difference);
Json to_json(const CopyFinding& finding);
Json to_json(const Step& step);
Json to_json(const AliasPartition& partition);

// Documents.
Json trace_json(const TraceFile& file);  // thunderglass.trace/1
Json phase_json(const Phase& phase);     // one element of its "phases"
Json aliases_json(const Trace& trace, const DefUse& def_use,
                  const AliasSets& sets);                             // thunderglass.aliases/1
Json steps_json(std::string_view pass, std::span<const Step> steps);  // thunderglass.steps/1
Json comparison_json(const Comparison& comparison);                   // thunderglass.comparison/1
Json audit_json(std::span<const CopyFinding> findings);               // thunderglass.audit/1
Json diff_json(const TraceDiff& diff, const Trace& left,
               const Trace& right);                                        // thunderglass.diff/1
Json check_json(const CheckReport& report, const std::string& file_name);  // thunderglass.check/1
Json diagnostics_json(std::span<const Diagnostic> diagnostics);  // thunderglass.diagnostics/1

// Text with `indent` spaces a level, on one line when negative. Bytes that are not UTF-8 become
// U+FFFD.
std::string dump(const Json& json, int indent = 2);

}  // namespace tg
