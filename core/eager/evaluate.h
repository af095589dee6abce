// Printed values -> runtime values.
#pragma once

#include <optional>
#include <string>

#include "core/eager/interpreter.h"

namespace tg {

// Looks at the text of a statement for what names cannot tell.
struct EvaluationScope {
  const Environment& names;
  const TypeTable& types;  // numbers that nothing binds take their value from the type comment
  const BoundSymbol* statement = nullptr;  // for opaque context objects, may be null
};

// The error is a full sentence: "name 't7' has no value".
Expected<RuntimeValue, std::string> evaluate(const Value& value, const EvaluationScope& scope);

// "int 3" -> 3; empty when the type is no number with a known value.
std::optional<RuntimeValue> number_of_type(const Type& type);

}  // namespace tg
