// When two statements compute the same, as Thunder sees it.
#pragma once

#include <string>

#include "core/ir/bound_symbol.h"

namespace tg {

// Equal keys: same operation and arguments. Literals compare as in Python (1 == 1.0 == True),
// keywords in any order, lists as tuples; an annotation is its name.
std::string expression_key(const BoundSymbol& statement);
void append_expression_key(std::string& key, const BoundSymbol& statement);

// One of the five random operations that Thunder never merges.
bool is_never_merged(const BoundSymbol& statement);

}  // namespace tg
