// The arguments of a call by the parameters of its schema, and what the row says about them.
// Internal to core/analysis.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/ir/bound_symbol.h"

namespace tg {

// Values given for parameter `index`: several when a trailing sequence is spread (view(x, 2, 3)).
std::vector<const Value*> arguments_for(const BoundSymbol& call, std::size_t index);

// The flag's value; its default when not given; empty when it is a name.
std::optional<bool> flag_argument(const BoundSymbol& call, std::string_view parameter);

// Indices of the parameters that the call writes; `sure` false when a flag decides that the text
// does not tell.
struct WrittenParameters {
  std::vector<std::size_t> parameters;
  bool sure = true;
};
WrittenParameters written_parameters(const BoundSymbol& call);

// Does an in-place operation read what it overwrites? fill_ and zero_ do not.
bool reads_written_argument(const OpInfo& op);

// Some sub-statement, at any depth, is a copy_.
bool contains_copy(const BoundSymbol& statement);

}  // namespace tg
