// Values written by hand as JSON: `{"x": [[1, 2], [3, "nan"]], "n": 3}`, a list of the arguments in
// order, or one value. Internal to core/run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/eager/interpreter.h"
#include "core/ir/trace.h"

namespace tg {

// What stands in `text`. `argument`: the text is this argument's value; empty: it names its
// arguments, lists them in order, or is a recording of any schema. `path` is shown in messages.
// NaN, Infinity and -Infinity are read bare, as Python writes them, or quoted.
// `prologue` (may be null): which path of a recording is which argument; without one `args[0]`,
// `args[1]`, ... are the arguments in order.
// Diagnostics: bad-input-file, input-mismatch, unknown-argument, bad-recording.
Result<std::vector<NamedValue>> read_json_inputs(const Trace& trace, const TypeTable& types,
                                                 const std::string& path, std::string_view text,
                                                 std::string_view argument,
                                                 const Trace* prologue = nullptr);

// Does `text` begin as JSON does? `word` alone (a file name, a word) does not.
bool looks_like_json(std::string_view text);

}  // namespace tg
