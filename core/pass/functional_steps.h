// Puts the result of functionalization into steps that can be followed one by one.
#pragma once

#include "core/pass/argument_aliases.h"
#include "core/pass/canonical.h"
#include "core/pass/functional_form.h"

namespace tg {

// `before` are the statements as the Rewriter has them now, `canonical` their canonical form,
// `functional` the result that Thunder gives. Without a filter the Rewriter's trace is that result
// afterwards.
void record_functional_steps(Rewriter& rw, const std::vector<PlacedStatement>& before,
                             const CanonicalForm& canonical, const FunctionalForm& functional,
                             const NameTable& names);

}  // namespace tg
