// Kernels that PyTorch builds from other operations are built from their kernels here too.
#pragma once

#include "core/eager/kernel.h"

namespace tg {

// Runs `op` on behalf of `call` and takes over its error. The result is meaningless when the call
// has failed.
RuntimeValue invoke(KernelCall& call, OpCode op, std::vector<RuntimeValue> positional,
                    std::vector<NamedValue> keywords = {});

inline RuntimeValue whole_number(std::int64_t value) {
  return {value};
}
RuntimeValue int_tuple(const std::vector<std::int64_t>& values);

// "none", "mean" or "sum" of a loss per element.
RuntimeValue reduce_loss(KernelCall& call, RuntimeValue losses);

}  // namespace tg
