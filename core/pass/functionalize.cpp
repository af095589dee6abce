// Problem: later passes move statements by the names that they read; a write in place changes a
// value that keeps its name, so it must become a functional operation, and a copy where a caller
// can see the write.
//
//   t1 = ltorch.exp_(x)                        # Functionalized from `t1 = exp_(x)`
//   t2 = ltorch.cos(x)                   =>    t0 = ltorch.exp(x)
//   return {'output': t2, 'flat_args': [x]}    t2 = ltorch.cos(t0)
//                                              t1 = prims.copy_(t0, x) ...
// Rules, in order of the steps
//   functionalize-inplace    the write becomes its functional twin and a copy back
//   rename-readers           readers of the written tensor read the new value
//   rebuild-base-from-view   ... and a base that was written through its view as a reshape of it
//   propagate-to-views       ... and other views or values of the storage as reshapes of it
//   copy-to-base             a copy onto a view of an argument becomes one onto the argument
//   rename-views             views of a written storage are taken of the new value
//   keep-one-copy            copies onto an argument are erased, but for the one that Thunder keeps
//   drop-copy                copies onto temporaries are erased
//   place-copy               a kept copy moves behind the last reader of the value that it copies
//   return-names-copies      the return mentions the results of the copies
//   left-in-place, copies-stay   notes: a skipped step stands in the way
// Refuses: writes to reshape, contiguous, flatten... (NotImplementedError); carries on a write to
// views of another size (RuntimeError); NameError and KeyError where Thunder trips over itself; and
// reports DoesNotTerminate where Thunder never ends (a write to one of several views, or to a base
// with a view, of equal shape). Unsound corners are kept: only one copy an argument, and none where
// the written name has no producer line; views made before a write are not renewed.

#include <algorithm>

#include "core/pass/all_passes.h"
#include "core/pass/argument_aliases.h"
#include "core/pass/functional_steps.h"
#include "core/pass/view_writes.h"

namespace tg {
namespace {

constexpr std::string_view kCanonicalProvenance =
    "Intermediate trace of `functionalize_inplace_ops`";
constexpr std::string_view kProvenance = "Functionalize in-place ops";

std::vector<BoundSymbolRef> statements_of(const std::vector<PlacedStatement>& placed) {
  std::vector<BoundSymbolRef> statements;
  statements.reserve(placed.size());
  for (const PlacedStatement& one : placed) statements.push_back(one.statement);
  return statements;
}

std::vector<BoundSymbolRef> statements_of(const CanonicalForm& form) {
  std::vector<BoundSymbolRef> statements;
  statements.reserve(form.statements.size());
  for (const CanonicalStatement& one : form.statements) statements.push_back(one.statement);
  return statements;
}

std::vector<PlacedStatement> placed_statements(const Trace& trace) {
  std::vector<PlacedStatement> placed;
  placed.reserve(trace.bound_symbols.size());
  for (StatementId id = 0; id < trace.bound_symbols.size(); ++id) {
    placed.push_back({trace.bound_symbols[id], id});
  }
  return placed;
}

// Errors name statements of the canonical form; users know those of their trace.
PassError with_origin(PassError error, const CanonicalForm& canonical,
                      const std::vector<PlacedStatement>& before) {
  if (error.statement < canonical.statements.size()) {
    error.statement = before[canonical.statements[error.statement].origin].id;
  }
  return error;
}

// Without steps and without a filter the result is known at once: what the steps lead to.
bool wants_steps(const PassContext& context) {
  return context.record_steps || !context.filter.empty();
}

PassResult finished(const Trace& before, const FunctionalForm& form) {
  PassResult result;
  result.after = derived_trace(before, finished_statements(form), std::string(kProvenance));
  return result;
}

}  // namespace

PassResult functionalize_copies(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  NameTable names(before);
  const std::vector<PlacedStatement> placed = placed_statements(before);
  CanonicalForm canonical;  // the input is canonical already
  for (StatementId id = 0; id < before.bound_symbols.size(); ++id) {
    canonical.statements.push_back({before.bound_symbols[id], id, false});
  }
  const StatementNames names_of(before.bound_symbols, names);
  FunctionalForm form = functional_form(before.bound_symbols, names_of, names, before);
  if (form.error) return std::move(rw).fail(std::move(*form.error));
  if (!wants_steps(context)) return finished(before, form);
  record_functional_steps(rw, placed, canonical, form, names);
  return std::move(rw).finish(std::string(kProvenance));
}

PassResult functionalize(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  if (std::none_of(
          before.bound_symbols.begin(), before.bound_symbols.end(),
          [](const BoundSymbolRef& statement) { return is_functionalizable(*statement); })) {
    rw.note("nothing-to-functionalize", kNoStatement,
            "no statement writes in place and has a functional twin; the trace goes on unchanged");
    return std::move(rw).unchanged();
  }
  NameTable names(before);
  StatementNames names_of(before.bound_symbols, names);
  ViewWrites writes;
  if (context.options.base_to_view.empty()) {
    writes = find_view_writes(before, names_of, names, nullptr);
    if (writes.error) return std::move(rw).fail(std::move(*writes.error));
  }
  for (const auto& [base, view] : context.options.base_to_view) {
    const NameId base_name = names.find(base);
    const NameId view_name = names.find(view);
    if (base_name != kNoName && view_name != kNoName) {
      writes.base_to_view.emplace_back(base_name, view_name);
    }
  }

  std::vector<Trace> intermediate;
  std::vector<PlacedStatement> placed = placed_statements(before);
  if (!context.options.alias_groups.empty()) {
    const auto group = rw.group("alias_args");
    ArgumentAliases merged = merge_argument_aliases(rw, names, context.options.alias_groups);
    if (merged.error) return std::move(rw).fail(std::move(*merged.error));
    placed = std::move(merged.statements);
    names_of = StatementNames(statements_of(placed), names);
    if (!merged.replaced.empty()) {
      intermediate.push_back(derived_trace(before, statements_of(placed), merged.provenance()));
    }
  }

  const std::vector<BoundSymbolRef> statements = statements_of(placed);
  CanonicalForm canonical = canonical_form(statements, names_of, names, writes.base_to_view);
  if (canonical.error) {
    if (canonical.error->statement < placed.size()) {
      canonical.error->statement = placed[canonical.error->statement].id;
    }
    return std::move(rw).fail(std::move(*canonical.error));
  }
  const std::vector<BoundSymbolRef> canonical_statements = statements_of(canonical);
  intermediate.push_back(
      derived_trace(before, canonical_statements, std::string(kCanonicalProvenance)));

  FunctionalForm form = functional_form(canonical_statements, canonical.names, names, before);
  if (form.error) {
    PassResult failed = std::move(rw).fail(with_origin(std::move(*form.error), canonical, placed));
    failed.intermediate = std::move(intermediate);
    return failed;
  }
  PassResult result;
  if (wants_steps(context)) {
    record_functional_steps(rw, placed, canonical, form, names);
    result = std::move(rw).finish(std::string(kProvenance));
  } else {
    result = finished(before, form);
  }
  result.intermediate = std::move(intermediate);
  return result;
}

}  // namespace tg
