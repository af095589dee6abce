// Problem: a write through a view changes its base; Thunder can only rebuild the base from the view
// when both have the same number of elements.
//
//   v = ltorch.view(t0, 4)
//   t2 = ltorch.exp_(v)          note: exp_ writes v, a view of t0, which cos reads later
//   t3 = ltorch.cos(t0)
//
// Rules (notes; the trace is never changed)
//   write-through-view   a base is written through its view and used elsewhere: canonicalize
//   rebuilds the base base-unused          the base has no other use, so nothing needs to be
//   rebuilt
// Refuses: a view of another size whose base is used elsewhere (NotImplementedError). Sees neither
// the flag forms
// (`relu(x, True)`) nor writes to a base while a smaller view lives; neither does Thunder.

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/view_writes.h"

namespace tg {
namespace {

std::vector<bool> parameter_names(const Trace& trace, const NameTable& names) {
  std::vector<bool> is_parameter(names.size(), false);
  for (const Parameter& parameter : trace.parameters) {
    const NameId name = names.find(parameter.name);
    if (name != kNoName) is_parameter[name] = true;
  }
  return is_parameter;
}

// Thunder's IN_PLACE tag on the symbol itself.
bool is_tagged_in_place(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call && statement.op_info().has(kInPlace) &&
         !statement.op_info().has(kThunderUntagged);
}

}  // namespace

ViewWrites find_view_writes(const Trace& trace, const StatementNames& names_of,
                            const NameTable& names, Rewriter* rw) {
  ViewWrites result;
  const ProducerMap producers(names_of, names.size());
  const ConsumerMap consumers(names_of, names.size());
  const std::vector<bool> is_parameter = parameter_names(trace, names);
  std::vector<std::size_t> entry_of(names.size(), kNoName);
  for (StatementId id = 0; id < trace.bound_symbols.size(); ++id) {
    const BoundSymbol& write = *trace.bound_symbols[id];
    if (!is_tagged_in_place(write)) continue;
    const NameId view = first_tensor_arg(write, names);
    if (view == kNoName) {
      result.error = PassError{"IndexError", "list index out of range", id};
      return result;
    }
    if (is_parameter[view]) continue;
    const StatementId made_by = producers.of(view);
    if (made_by == kNoStatement) {
      result.error = PassError{"KeyError", fmt::format("'{}'", names.text(view)), id};
      return result;
    }
    const BoundSymbol& maker = *trace.bound_symbols[made_by];
    const NameId base = first_tensor_arg(maker, names);
    if (base == kNoName) continue;  // a factory
    const bool makes_view = maker.kind == StatementKind::Call && maker.op_info().has(kThunderView);
    if (consumers.of(base).size() == 1) {
      if (rw && makes_view) {
        rw->note("base-unused", id, [&] {
          return fmt::format("{} writes {}, a view of {} made by {}; nothing else uses {}",
                             callee_at(write, id), names.text(view), names.text(base),
                             callee_at(maker, made_by), names.text(base));
        });
      }
      continue;
    }
    if (!makes_view) continue;
    const auto view_elements = names.elements(view);
    const auto base_elements = names.elements(base);
    if (view_elements && base_elements && *view_elements != *base_elements) {
      result.error =
          PassError{"NotImplementedError",
                    fmt::format("in-place op of `{}` to `{}`, a view tensor of `{}` is not "
                                "supported because {} != {}",
                                write.op_info().id, tensor_repr(view, names),
                                tensor_repr(base, names), *view_elements, *base_elements),
                    id};
      return result;
    }
    if (rw) {
      rw->note("write-through-view", id, [&] {
        const StatementId other = consumers.of(base).back();
        return fmt::format("{} writes {}, a view of {} made by {}; {} is also used by {}",
                           callee_at(write, id), names.text(view), names.text(base),
                           callee_at(maker, made_by), names.text(base),
                           callee_at(*trace.bound_symbols[other], other));
      });
    }
    if (entry_of[base] == kNoName) {
      entry_of[base] = result.base_to_view.size();
      result.base_to_view.emplace_back(base, view);
    } else {
      result.base_to_view[entry_of[base]].second = view;
    }
  }
  return result;
}

PassResult check_inplace_views(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  const NameTable names(before);
  const StatementNames names_of(before.bound_symbols, names);
  ViewWrites writes = find_view_writes(before, names_of, names, &rw);
  if (writes.error) return std::move(rw).fail(std::move(*writes.error));
  PassResult result = std::move(rw).unchanged();
  for (const auto& [base, view] : writes.base_to_view) {
    result.facts.emplace_back(names.text(base), names.text(view));
  }
  return result;
}

}  // namespace tg
