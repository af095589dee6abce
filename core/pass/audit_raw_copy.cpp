// Problem: a chain of raw copies onto one name writes the same bytes again and again; only the last
// is seen.
//
//   t1 = prims.copy_(y, x)
//   t2 = prims.copy_(z, x)                     =>    t2 = prims.copy_(z, x)
//   return {'output': z, 'flat_args': [x, y]}        return {'output': z, 'flat_args': [x, y]}
// Rules
//   superseded-copy   a raw copy goes when a later statement names its destination
//   kept              note: nothing but the return names the destination later
// Refuses: a copy whose result is used, a destination that a later statement other than a copy
// names (RuntimeError). The proposal as it was made, with its unsound corners: a later copy that
// *reads* the destination counts as an overwrite; views, aliases and the insides of composites are
// not seen.

#include <algorithm>

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/statement_facts.h"

namespace tg {

PassResult audit_raw_copy(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  const Statements statements = before.bound_symbols;
  const auto any = [&statements](bool (*holds)(const BoundSymbol&)) {
    return std::any_of(statements.begin(), statements.end(),
                       [holds](const BoundSymbolRef& statement) { return holds(*statement); });
  };
  if (any(&is_functionalizable) || !any(&is_raw_copy)) {
    rw.note("not-applicable", kNoStatement,
            any(&is_raw_copy) ? "the audit of raw copies is for traces without in-place operations"
                              : "there is no raw copy at depth 0");
    return std::move(rw).unchanged();
  }
  const NameTable names(before);
  const StatementNames names_of(statements, names);
  const ConsumerMap consumers(names_of, names.size());
  const std::vector<StatementId> index = last_equal_index(statements, names_of, names.size());
  for (StatementId id = 0; id < statements.size(); ++id) {
    const BoundSymbol& copy = *statements[id];
    if (!is_raw_copy(copy)) continue;
    for (const NameId out : proxy_outs(copy, names)) {
      if (consumers.of(out).empty()) continue;
      return std::move(rw).fail({"RuntimeError",
                                 fmt::format("`prims.copy_` output out={} is used inside a trace",
                                             tensor_repr(out, names)),
                                 id});
    }
    const std::vector<NameId> operands = tensor_args(copy, names);
    if (operands.size() < 2) {
      return std::move(rw).fail({"IndexError", "list index out of range", id});
    }
    const NameId destination = operands[1];
    // Readers come in order, so the first one behind the copy decides what is found first.
    const std::span<const StatementId> readers = consumers.of(destination);
    StatementId later = kNoStatement;
    bool only_copies = true;
    for (auto reader = readers.rbegin(); reader != readers.rend(); ++reader) {
      if (index[*reader] <= index[id]) {
        if (*reader < id) break;
        continue;
      }
      if (is_return(*statements[*reader])) continue;
      later = *reader;
      only_copies = only_copies && is_raw_copy(*statements[*reader]);
      if (!only_copies) break;
    }
    if (!only_copies) {
      return std::move(rw).fail(
          {"RuntimeError",
           fmt::format(
               "copy destination of {} has consumers other than PrimIDs.RETURN and PrimIDs.COPY_",
               tensor_repr(destination, names)),
           id});
    }
    if (later == kNoStatement) {
      rw.note("kept", id, [&] {
        return fmt::format("nothing names {} after {}", names.text(destination),
                           callee_at(copy, id));
      });
      continue;
    }
    rw.step("superseded-copy", id, [&] {
        return fmt::format("{} names {} again after {}", callee_at(*statements[later], later),
                           names.text(destination), callee_at(copy, id));
      }).erase(id);
  }
  // A lone raw copy leaves the trace as it was, provenance included (seed: return-source,
  // copy-backward); two that stay both do not (passes-cases A10).
  if (std::count_if(statements.begin(), statements.end(),
                    [](const BoundSymbolRef& statement) { return is_raw_copy(*statement); }) < 2) {
    return std::move(rw).unchanged();
  }
  return std::move(rw).finish("`prims.copy_` audit");
}

}  // namespace tg
