// Inputs for a run: invented from annotations, read from files, or taken from a recording.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/eager/interpreter.h"

namespace tg {

// Every float distinct (so that stale reads show), small enough that sums stay exact-ish; integers in
// [0, 7] (usable as indices up to the smallest dim where that can be told), bools alternating. Aliased arguments
// (facts) are windows onto one storage. Same seed, same bytes on every machine.
Result<RunInputs> invent_inputs(const Trace& trace, const ArgumentFacts& facts, std::uint64_t seed);

// .npy (one argument: NAME=FILE), .npz, .safetensors, .json (values.json of any schema, or
// {"x": {"dtype": "f32", "shape": [2], "values": [..]}}). Missing arguments are invented.
// Diagnostics: bad-input-file, input-mismatch (shape or dtype differs from the annotation), unknown-argument.
Result<RunInputs> load_inputs(const Trace& trace, const std::vector<std::string>& sources,
                              const ArgumentFacts& facts, std::uint64_t seed);

}  // namespace tg
