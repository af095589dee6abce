// The checks of a prologue: a call whose inputs are not those that were traced is refused.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/eager/interpreter.h"

namespace tg {

struct GuardResult {
  bool checked = true;                 // false: a value is not known here, so nothing was asked
  std::optional<std::string> refused;  // the message of the exception
  bool asserts = false;                // AssertionError, else RuntimeError
};

// `op` has kGuard; `args` are its positional arguments. Messages are those of Thunder's Python
// executor. Whether a tensor requires grad is no fact of a run and counts as asked for.
GuardResult check_guard(OpCode op, std::span<const RuntimeValue> args);

// A value as Python prints it: 2, 0.5, 'text', torch.float32, (1, 2). Tensors print as
// "tensor(...)".
std::string python_text(const RuntimeValue& value);
// type(value).__name__
std::string python_type(const RuntimeValue& value);

}  // namespace tg
