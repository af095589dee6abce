// Declarations of every kernel, one per row of ops.def.
#pragma once

#include "core/eager/kernel.h"

namespace tg {

#define TG_OP(name, id, spellings, schema, traits) RuntimeValue kernel_##name(KernelCall& call);
#define TG_OP_INPLACE(name, id, spellings, schema, twin)
#include "core/ir/ops.def"
#undef TG_OP
#undef TG_OP_INPLACE

}  // namespace tg
