// Declarations of the passes in passes.def.
#pragma once

#include "core/pass/pass.h"

namespace tg {

#define TG_PASS(function, thunder, faithful, idempotent, summary) \
  PassResult function(const Trace& before, PassContext& context);
#include "core/pass/passes.def"
#undef TG_PASS

}  // namespace tg
