// Problem: statements that one kernel can run should be one call.
//
//   t0 = ltorch.sin(x)                         [t0] = nvFusion0(x)
//   t1 = ltorch.cos(y)                           # t0 = prims.sin(x)
//   t2 = torch.matmul(t0, t0)            =>    t2 = torch.matmul(t0, t0)
//   t3 = ltorch.exp(t1)                        [t4] = nvFusion1(y, t2)
//   t4 = ltorch.add(t2, t3, alpha=1)             # t1 = prims.cos(y) ...
// Rules
//   reorder            statements run in the order in which their arguments are ready
//   reorder-conflict   the same, where reads and writes of one storage change places
//   merge-refused      (note) two groups stay apart: another statement lies between them
//   fuse               a group becomes a region; what others read of it are its outputs
//   bookend            (note) shape operations at an end of a group stay outside
//   shapes-only        (note) January 2026: a group that only changes shapes stays outside
// Thunder of January 2026 puts neighbours into a region and moves nothing.
// Then redundant casts and equal expressions go (nvFuser), and dead code.
// Refuses: two returns (RuntimeError), a name that nothing makes (KeyError); nvFuser: a trace that
// does not end with its return (AssertionError). Edges of the partition are names: a read of a
// tensor may move behind a copy onto it, and the return before a copy that nobody reads. On a CPU
// the partition reorders although it fuses nothing.

#include <algorithm>

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/dataflow_partition.h"
#include "core/pass/move_into_order.h"
#include "core/pass/pass_sequence.h"
#include "core/pass/region.h"

namespace tg {
namespace {

class Regions {
 public:
  Regions(const Trace& before, PassContext& context)
      : rw_(before, context),
        context_(context),
        statements_(before.bound_symbols),
        names_(before),
        rules_(context.options.fusion_executor, names_) {}

  PassResult run() && {
    std::vector<bool> fusable(statements_.size());
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      fusable[i] = rules_.can_fuse(*statements_[i]) && rules_.touches_gpu(*statements_[i]);
    }
    Partition partition = is_2026() ? partition_by_text(fusable)
                                    : partition_by_dataflow(statements_, names_, fusable);
    if (partition.error) return std::move(rw_).fail(*std::move(partition.error));
    for (const PartitionMerge& merge : partition.merges) {
      if (merge.refused) note_refusal(merge);
    }
    const std::vector<StatementId> order = execution_order(partition);
    if (!context_.record_steps && context_.filter.empty() && !any_region(partition)) {
      std::vector<BoundSymbolRef> ordered;
      ordered.reserve(order.size());
      for (const StatementId id : order) ordered.push_back(statements_[id]);
      PassResult result;
      result.after = derived_trace(rw_.before(), std::move(ordered), kProvenance);
      return result;
    }
    ids_ = move_into_order(rw_, order, context_.options.argument_facts);
    const ProducerMap producers(statements_, names_);
    const ConsumerMap consumers(statements_, names_);
    for (const std::vector<StatementId>& group : partition.groups) {
      if (rules_.wants_region(statements_of(group))) fuse(group, producers, consumers);
    }
    return std::move(rw_).finish(kProvenance);
  }

 private:
  // What Thunder calls the trace at this point: rematerialization has looked at it.
  static constexpr const char* kProvenance = "Rematerialization (took 0 milliseconds)";

  [[nodiscard]] bool is_2026() const { return context_.options.era == Era::Thunder2026; }

  // nvFuser leaves such a group to torch.
  bool only_shapes(const std::vector<StatementId>& group) {
    const bool all = std::all_of(group.begin(), group.end(),
                                 [this](StatementId id) { return is_shape_op(*statements_[id]); });
    if (all) {
      rw_.note("shapes-only", ids_[group.front()], [&] {
        return fmt::format("{} and what follows it only change shapes, so they stay outside",
                           at(group.front()));
      });
    }
    return all;
  }

  std::vector<BoundSymbolRef> statements_of(const std::vector<StatementId>& group) const {
    std::vector<BoundSymbolRef> list;
    for (const StatementId id : group) list.push_back(statements_[id]);
    return list;
  }

  bool any_region(const Partition& partition) const {
    return std::any_of(partition.groups.begin(), partition.groups.end(), [this](const auto& group) {
      return rules_.wants_region(statements_of(group));
    });
  }

  std::string at(StatementId id) const { return callee_at(*statements_[id], id); }

  void note_refusal(const PartitionMerge& merge) {
    rw_.note("merge-refused", merge.first, [&] {
      return fmt::format(
          "{} and {} stay apart: another statement reads the one and gives to the other",
          at(merge.first), at(merge.second));
    });
  }

  void fuse(const std::vector<StatementId>& whole, const ProducerMap& producers,
            const ConsumerMap& consumers) {
    std::vector<StatementId> group = whole;
    if (is_2026() && only_shapes(group)) return;
    RegionBorder border = border_of(group, statements_, names_, producers, consumers);
    if (context_.options.bookend) {
      const Bookends ends = bookends_of(statements_of(group), border, names_);
      if (ends.middle.empty()) return;
      for (const auto* end : {&ends.front, &ends.rear}) {
        for (const std::size_t i : *end) {
          rw_.note("bookend", ids_[whole[i]], [&] {
            return fmt::format(
                "{} only changes a shape at the {} of its group, so it stays outside", at(whole[i]),
                end == &ends.front ? "front" : "rear");
          });
        }
      }
      group.clear();
      for (const std::size_t i : ends.middle) group.push_back(whole[i]);
      border = border_of(group, statements_, names_, producers, consumers);
    }
    const BoundSymbolRef region =
        make_region(statements_of(group), border, fmt::format("{}{}", rules_.region_name(), count_),
                    rules_, names_, context_.options.era);
    auto step =
        rw_.step("fuse", ids_[group.front()], [&] { return reason(group, border, region); });
    if (!step.applied()) return;
    ++count_;
    for (std::size_t i = 0; i + 1 < group.size(); ++i) step.erase(ids_[group[i]]);
    step.replace(ids_[group.back()], region);
  }

  std::string reason(const std::vector<StatementId>& group, const RegionBorder& border,
                     const BoundSymbolRef& region) const {
    std::string listed;
    for (std::size_t i = 0; i < group.size() && i < 4; ++i) {
      listed += (i == 0 ? "" : i + 1 == group.size() ? " and " : ", ") + at(group[i]);
    }
    if (group.size() > 4) listed += fmt::format(" and {} more", group.size() - 4);
    std::string given;
    for (const NameId name : border.outputs) {
      given += (given.empty() ? "" : ", ") + std::string(names_.text(name));
    }
    return fmt::format(
        "{} become {}: {} {}{}", listed, region->callee,
        group.size() == 1 ? "it runs on a GPU" : "all run on a GPU",
        "and none waits for a statement outside that waits for another of them",
        given.empty() ? "; nobody reads what they make" : fmt::format("; others read {}", given));
  }

  Rewriter rw_;
  PassContext& context_;
  const std::vector<BoundSymbolRef>& statements_;
  NameTable names_;
  FusionRules rules_;
  std::vector<StatementId> ids_;  // by statement before
  int count_ = 0;
};

PassResult put_into_regions(const Trace& before, PassContext& context) {
  return Regions(before, context).run();
}

}  // namespace

PassResult fusion(const Trace& before, PassContext& context) {
  PassOptions options = context.options;
  if (options.fusion_executor.empty()) options.fusion_executor = "torchcompile_cat";
  options.needed_names.clear();
  PassSequence sequence(before, context);
  sequence.run("partition", put_into_regions, options);
  if (options.fusion_executor == "nvfuser") {
    sequence.run("redundant_casts", redundant_casts, options);
    sequence.run("fused_subexpressions", fused_subexpressions, options);
  }
  sequence.run("dead_code", dead_code, options);
  PassResult result = std::move(sequence).finish("Fusion (took 0 milliseconds)");
  result.before_edited.reset();
  return result;
}

// Thunder makes new call contexts for the regions; no text shows them.
PassResult update_call_context(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  return std::move(rw).finish("Update Call Context (took 0 milliseconds)");
}

}  // namespace tg
