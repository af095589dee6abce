// When our own passes of an era may stand in for the compiler that wrote a dump, and what the dump
// itself says about its arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ir/trace.h"
#include "core/pass/pass.h"

namespace tg {

// As a compiler acquires it: nothing has wrapped its return, split it or dropped names yet. Only on
// such a trace do an era's passes start.
bool is_acquired(const Trace& trace);

// Why the passes of December 2024 say nothing about this acquired trace, empty if they may run: a
// name that is undefined or bound twice (Thunder's proxies never are), or an operation that Thunder
// could not have traced and whose effect its dead code pass would not see.
std::string why_no_replay(const Trace& trace);

// What the pipeline of December 2024 still runs on a trace that its provenance places in it: where
// a dump ends early, because a later pass raised. Empty at its end, and where the provenance line
// does not tell (a trace as acquired, dead code elimination, which runs several times).
std::vector<std::string_view> passes_after(const Trace& trace);

// The alias options that the file itself states: "Duplicate alias args using {'b': 'a', 'c':
// 't7'}", where t7 is a reshape of the argument that c shares its storage with, or "[alias tensor
// args] `b` is replaced by `a`". They tell what Thunder replaced, so the same address; where the
// arguments really lay in memory is not in the text.
std::vector<std::string> stated_aliases(const TraceFile& file);

// The same of one trace that carries that provenance, as groups of parameter indices; empty if it
// does not.
AliasGroups stated_alias_groups(const Trace& trace);

}  // namespace tg
