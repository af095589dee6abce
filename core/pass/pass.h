// The passes: one table, one function type.
#pragma once

#include <span>
#include <string_view>

#include "core/pass/rewriter.h"

namespace tg {

using PassFunction = PassResult (*)(const Trace& before, PassContext& context);

struct PassInfo {
  std::string_view name;     // "functionalize", as on the command line
  std::string_view thunder;  // the function of Thunder that it reproduces, "" for our own
  std::string_view summary;  // one line for help
  PassFunction run;
  bool faithful;    // reproduces Thunder with its unsound corners: law 3 may fail, and that is what
                    // users come for
  bool idempotent;  // with default options: pass(after) has the body of after
};

std::span<const PassInfo> all_passes();            // passes.def, in table order
const PassInfo* find_pass(std::string_view name);  // by our name or Thunder's; null if unknown

}  // namespace tg
