// Where the copies onto arguments go: each behind the last reader of the value that it copies.
#pragma once

#include <vector>

#include "core/pass/functional_form.h"

namespace tg {

// A copy that is left, and the value that it is filed under.
struct KeptCopy {
  NameId source = kNoName;
  std::uint32_t write = 0;  // index into FunctionalForm::writes
};

// Fills copies, order and last of `form`, or its error. `kept` is in Thunder's order.
void place_copies(FunctionalForm& form, const std::vector<KeptCopy>& kept, const NameTable& names);

}  // namespace tg
