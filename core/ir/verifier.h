// Verifier: is every name of a trace defined before it is read, once, and not after its `del`?
#pragma once

#include "core/ir/trace.h"

namespace tg {

// Adds findings to `sink`: undefined-name, use-after-del (errors); duplicate-definition,
// missing-return, statement-after-return (warnings); unknown-callee (a note, once a callee). What
// Thunder itself prints although it looks undefined (names that only a sub-statement defines,
// numbers of a split backward trace) is a note. Behind lines that were left out nothing is called
// undefined. Positions are those of the statements. Linear.
void verify(const Trace& trace, DiagnosticSink& sink);

}  // namespace tg
