// Inputs for a run: invented from annotations, read from files, or taken from a recording.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/eager/interpreter.h"

namespace tg {

// Floats are all distinct (so that stale reads show), of both signs in every tensor of two elements
// or more, never zero, and short binary fractions between -2 and 2. Integers are 1, 2, 3, ... in a
// shuffled order, so that they can be divisors; those that select elements somewhere in the trace
// (indices, keys) lie in [0, smallest dim of the arguments, at most 8). Bools alternate, True
// first. Aliased arguments (facts) are windows onto one storage. Same seed, same bytes on every
// machine.
Result<RunInputs> invent_inputs(const Trace& trace, const ArgumentFacts& facts, std::uint64_t seed);

// Each source is FILE, NAME=FILE or NAME=VALUE ("n=3", "x=[[1, 2], [3, nan]]"). Files: .npy (one
// array: NAME=FILE), .npz, .safetensors, JSON: {"x": [[1, 2], [3, "nan"]], "n": 3}, the arguments'
// values in order as a list, tensors with strides and storages as
// {"dtype": "f32", "shape": [2], "values": [1, 2]}, or a recording of any schema. What is not given
// is invented. Values for an argument that shares storage (facts) go into that storage.
// Diagnostics: bad-input-file, input-mismatch (type, shape or dtype differs from the annotation, or
// aliased arguments are given different values), unknown-argument. `prologue` (may be null): which
// path of a recording is which argument; without one `args[0]`, `args[1]`, ... are taken in order.
Result<RunInputs> load_inputs(const Trace& trace, const std::vector<std::string>& sources,
                              const ArgumentFacts& facts, std::uint64_t seed,
                              const Trace* prologue = nullptr);

// Which arguments share a storage, and how those lie that are not a whole contiguous storage of
// their own: what the values tell the analysis.
ArgumentFacts facts_of(const RunInputs& inputs);

}  // namespace tg
