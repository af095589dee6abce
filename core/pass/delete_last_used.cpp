// Problem: a value that nothing reads any more should not keep its memory until the function ends.
//
//   t1 = prims.copy_(t0, x)            t1 = prims.copy_(t0, x)
//   return t1                    =>    del t0, x
//                                      return t1
// Rules
//   drop-old-del    `del` lines of an earlier run are dropped; new ones are made
//   delete          `del` of the values that the statement makes or reads for the last time
//   clear           a collection that dies here is emptied first (backward traces)
// Refuses nothing. `del x` only drops the name: it writes nothing, and aliases of x stay as they
// are.

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/statement_facts.h"

namespace tg {
namespace {

BoundSymbol make_del(const std::vector<NameId>& dead, const NameTable& names) {
  BoundSymbol del;
  del.kind = StatementKind::Del;
  for (const NameId name : dead) del.args.push_back(Value::name(names.text(name)));
  return del;
}

BoundSymbol make_clear(NameId collection, const NameTable& names) {
  BoundSymbol clear;
  clear.op = OpCode::ClearMutableCollection;
  clear.callee = "clear_mutable_collection";
  clear.args = {Value::name(names.text(collection))};
  return clear;
}

// The values of the first return are never deleted.
std::optional<std::vector<bool>> returned_names(const Trace& trace, const NameTable& names) {
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (!is_return(*statement)) continue;
    std::vector<bool> returned(names.size(), false);
    for (const NameId name : proxy_args(*statement, names)) returned[name] = true;
    return returned;
  }
  return std::nullopt;
}

}  // namespace

PassResult delete_last_used(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  const NameTable names(before);
  std::optional<std::vector<bool>> handled = returned_names(before, names);
  if (!handled) {
    return std::move(rw).fail(
        {"AssertionError", "Trace has no return, and so no output", kNoStatement});
  }
  std::vector<NameId> dead;  // of the statement at hand
  for (auto id = static_cast<StatementId>(before.bound_symbols.size()); id-- > 0;) {
    const BoundSymbol& statement = *before.bound_symbols[id];
    if (statement.kind == StatementKind::Comment ||
        statement.kind == StatementKind::UnpackTrivial) {
      continue;
    }
    if (statement.kind == StatementKind::Del) {
      rw.step("drop-old-del", id, "the values get a new del behind their last use").erase(id);
      continue;
    }
    dead.clear();
    const auto use = [&](NameId name) {
      if ((*handled)[name]) return;
      (*handled)[name] = true;
      dead.push_back(name);
    };
    for_each_proxy_out(statement, names, use);
    for_each_proxy_arg(statement, names, use);
    if (dead.empty() || is_return(statement)) continue;
    const StatementId del =
        rw.step("delete", id, [&] {
            std::string listed;
            for (const NameId name : dead) {
              listed += (listed.empty() ? "" : ", ") + std::string(names.text(name));
            }
            return fmt::format("{} {} not used after {}", listed, dead.size() == 1 ? "is" : "are",
                               callee_at(statement, id));
          }).insert_after(id, make_del(dead, names));
    if (!context.options.clear_mutable_collections || del == kNoStatement) continue;
    for (const NameId name : dead) {
      if (!names.is_collection(name)) continue;
      rw.step("clear", id, [&] {
          return fmt::format("{} dies here and may hold tensors", names.text(name));
        }).insert_before(del, make_clear(name, names));
    }
  }
  return std::move(rw).finish("Delete Last Used (took 0 milliseconds)");
}

}  // namespace tg
