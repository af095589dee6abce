// Problem: autocast and grad-mode lines have done their work while the program was traced; nothing
// executes them.
//
//   ltorch.autocast_enter('cpu', torch.bfloat16, True, True)
//   t1 = ltorch.matmul(a, b)                                     =>     t1 = ltorch.matmul(a, b)
//   ltorch.autocast_exit(None, None, None)
//
// Rules
//   context-manager   a line that enters or leaves a context manager is dropped
// Refuses nothing.

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/statement_facts.h"

namespace tg {

PassResult remove_context_managers(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  for (StatementId id = 0; id < before.bound_symbols.size(); ++id) {
    const BoundSymbol& statement = *before.bound_symbols[id];
    if (statement.kind != StatementKind::Call || !statement.op_info().has(kContextManager)) {
      continue;
    }
    rw.step("context-manager", id, [&] {
        return fmt::format("{} only matters while the program is traced", callee_at(statement, id));
      }).erase(id);
  }
  return std::move(rw).finish("Remove context manager prims");
}

}  // namespace tg
