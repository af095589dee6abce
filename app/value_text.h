// Values of a run as people read them.
#pragma once

#include <string>

#include "core/eager/runtime_value.h"
#include "core/ir/type.h"

namespace tg {

// "f32[2, 2]", "int", "bool", "tuple of 2".
std::string kind_text(const RuntimeValue& value);
// The elements, nested and cut to about `most` of them: "[[1.0, 2.0], [3.0, 4.0]]"; numbers as
// Python prints.
std::string elements_text(const RuntimeValue& value, std::size_t most = 24);
// One line about a big tensor: "f32[64, 64] min -1.5 max 3.25 mean 0.1, 2 nan".
std::string summary_text(const RuntimeValue& value);
// What disagrees between a value and the type that the text gives it, empty when they agree: dtype
// and shape of tensors ("f32[2] where the text says f32[3]"), numbers ("4, at trace time 3").
std::string disagreement(const RuntimeValue& value, const Type& type);

}  // namespace tg
