// The order of the steps is ours, the result is Thunder's. First every write becomes its own two
// sub-statements, the functional operation and the copy back, which changes nothing; its readers
// read the new value. Then, storage by storage, copies are erased but for those that Thunder keeps;
// then the kept ones move. So in a sound case every prefix leaves outputs and arguments as they
// were, and in an unsound one the law breaks at the step that does the damage.

#include "core/pass/functional_steps.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "core/pass/functional_reasons.h"
#include "core/text/printer.h"

namespace tg {
namespace {

class FunctionalSteps {
 public:
  FunctionalSteps(Rewriter& rw, const FunctionalPlan& plan)
      : rw_(rw),
        plan_(plan),
        names_(plan.names()),
        functional_(plan.functional()),
        done_(plan.statements().size(), false),
        writes_(plan.writes().size()),
        ids_(functional_.statements.size(), kNoStatement),
        tail_(functional_.statements.size(), kNoStatement),
        stuck_(names_.size(), false),
        missing_(names_.size(), false) {}

  void run() {
    for (std::uint32_t write = 0; write < writes_.size(); ++write) functionalize(write);
    find_stuck_storages();
    for (const NameId storage : plan_.written_storages()) finish_storage(storage);
    for (const PlacedCopy& copy : functional_.copies) place(copy);
    drop_syncs();
    repeat_copies();
    finish_return();
  }

 private:
  // A write on its way.
  struct Progress {
    bool available = false;              // its functional form is there
    StatementId literal = kNoStatement;  // its copy back; kNoStatement: erased or never there
    bool keeps_literal = false;          // ... which is the copy that Thunder keeps
    std::vector<StatementId> copies;     // of the kept copy
  };
  // A copy that keeps an old name in step with a raw write to the new one.
  struct Sync {
    std::uint32_t statement;
    NameId storage;
    StatementId id;
  };

  // All values that the form reads are there.
  [[nodiscard]] bool is_available(const BoundSymbol& form) const {
    const std::vector<NameId> read = proxy_args(form, names_);
    return std::all_of(read.begin(), read.end(), [this](NameId name) {
      const std::uint32_t stage = plan_.stage_of(name);
      return !missing_[name] && (stage == 0 || writes_[stage - 1].available);
    });
  }

  [[nodiscard]] bool is_available(std::uint32_t i) const {
    const StatementPlan& plan = plan_.statements()[i];
    return is_available(*plan.form) &&
           std::all_of(plan.rebuilds.begin(), plan.rebuilds.end(), [this](std::uint32_t rebuild) {
             return is_available(*functional_.statements[rebuild].statement);
           });
  }

  void install(Rewriter::StepHandle& step, std::uint32_t i) {
    const StatementPlan& plan = plan_.statements()[i];
    const StatementId id = plan_.id(i);
    for (const std::uint32_t rebuild : plan.rebuilds) {
      ids_[rebuild] = step.insert_before(id, functional_.statements[rebuild].statement);
    }
    if (plan.form != rw_.statement(id)) step.replace(id, plan.form);
    done_[i] = true;
    if (plan.write == kNoIndex && !plan.makes_view) keep_in_step(step, i);
  }

  // A raw copy (or batch_norm) whose destination is renamed writes the new value's buffer;
  // statements that still read the old one need the bytes too, until all of them are renamed.
  void keep_in_step(Rewriter::StepHandle& step, std::uint32_t i) {
    const BoundSymbol& statement = plan_.original(i);
    if (statement.kind != StatementKind::Call) return;
    const OpInfo& op = statement.op_info();
    if (!op.has(kCopyInto | kHidesWrites)) return;
    for (std::size_t arg = 0; arg < op.params.size() && arg < statement.args.size(); ++arg) {
      const Value& old = statement.args[arg];
      const Value& renamed = plan_.statements()[i].form->args[arg];
      if (op.params[arg].alias != "a!" || !old.is_name() || renamed == old) continue;
      BoundSymbol copy;
      copy.op = OpCode::CopyInto;
      copy.callee = "prims.copy_";
      copy.args = {renamed, old};
      copy.program_line = statement.program_line;
      copy.at = statement.at;
      const StatementId id = step.insert_after(plan_.id(i), std::move(copy));
      syncs_.push_back({i, plan_.storage_of(names_.find(old.text)), id});
      sync_ids_.insert(id);
    }
  }

  void functionalize(std::uint32_t index) {
    const WritePlan& write = plan_.writes()[index];
    const StatementId id = plan_.id(write.statement);
    const auto group = rw_.group("functionalize " + one_line(plan_.original(write.statement)));
    if (!is_available(write.statement)) {
      rw_.note("left-in-place", id, [&] {
        return fmt::format("{} stays as it is: it would read a value of a write that was skipped",
                           at(plan_, write.statement));
      });
      return;
    }
    auto split = rw_.step("functionalize-inplace", id, [&] { return split_reason(plan_, index); });
    if (!split.applied()) return;
    install(split, write.statement);
    writes_[index].literal = split.insert_after(id, write.literal);
    writes_[index].available = true;
    rename_readers(index);
  }

  void rename_readers(std::uint32_t index) {
    const WritePlan& write = plan_.writes()[index];
    std::vector<std::uint32_t> ready;
    bool rebuilds = false;
    for (const std::uint32_t reader : write.readers) {
      if (!is_available(reader)) continue;
      ready.push_back(reader);
      rebuilds = rebuilds || !plan_.statements()[reader].rebuilds.empty();
    }
    if (ready.empty() && write.propagated.empty()) return;
    const std::string_view rule = rebuilds                    ? "rebuild-base-from-view"
                                  : !write.propagated.empty() ? "propagate-to-views"
                                                              : "rename-readers";
    auto step = rw_.step(rule, plan_.id(write.statement),
                         [&] { return rename_reason(plan_, index, ready, rebuilds); });
    StatementId behind = plan_.id(write.statement);
    for (const std::uint32_t reshape : write.propagated) {
      const BoundSymbolRef& statement = functional_.statements[reshape].statement;
      if (!step.applied()) {
        for (const NameId out : proxy_outs(*statement, names_)) missing_[out] = true;
        continue;
      }
      behind = step.insert_after(behind, statement);
      ids_[reshape] = behind;
    }
    if (!step.applied()) return;
    for (const std::uint32_t reader : ready) install(step, reader);
  }

  // A storage is stuck when a statement still reads it in its old form: its copies must stay.
  void find_stuck_storages() {
    for (std::uint32_t i = 0; i < done_.size(); ++i) {
      const StatementPlan& plan = plan_.statements()[i];
      if (plan.changes && !done_[i] && !plan.makes_view) mark_stuck(i);
    }
    for (const std::uint32_t i : plan_.makers()) {
      if (!is_available(i)) mark_stuck(i);
    }
  }

  void mark_stuck(std::uint32_t i) {
    for (const NameId name : proxy_args(plan_.original(i), names_)) {
      stuck_[plan_.storage_of(name)] = true;
    }
    for (const NameId name : proxy_outs(plan_.original(i), names_)) {
      stuck_[plan_.storage_of(name)] = true;
    }
    const NameId storage = plan_.statements()[i].storage;
    if (storage != kNoName) stuck_[storage] = true;
  }

  void finish_storage(NameId storage) {
    const std::vector<std::uint32_t>& writes = plan_.writes_to(storage);
    if (stuck_[storage]) {
      rw_.note("copies-stay", plan_.id(plan_.writes()[writes.front()].statement), [&] {
        return fmt::format("the copies onto {} stay: a statement still reads it by its old names",
                           names_.text(storage));
      });
      return;
    }
    std::uint32_t last_kept = kNoIndex;
    for (const std::uint32_t write : writes) {
      if (!plan_.writes()[write].kept) continue;
      last_kept = write;
      stuck_[storage] = stuck_[storage] || !copy_to_argument(write);
    }
    if (!stuck_[storage]) stuck_[storage] = !rename_views(storage);
    if (stuck_[storage]) return;
    // From the end: a later copy may write through the result name of an earlier one.
    for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
      if (!writes_[*write].keeps_literal && !erase_literal(*write, last_kept)) return;
    }
  }

  // False when the step was refused: the storage keeps all its copies then. The old copy goes at
  // once only if nothing can name its result any more; otherwise both stand there for a while and
  // write the same.
  bool copy_to_argument(std::uint32_t index) {
    const WritePlan& write = plan_.writes()[index];
    Progress& progress = writes_[index];
    const std::vector<BoundSymbolRef>& copies = functional_.writes[index].copies;
    if (copies.size() == 1 && *copies.front() == *write.literal) {
      progress.copies = {progress.literal};
      progress.keeps_literal = true;
      return true;
    }
    auto step = rw_.step("copy-to-base", plan_.id(write.statement),
                         [&] { return copy_to_argument_reason(plan_, index); });
    if (!step.applied()) return false;
    StatementId behind = progress.literal;
    for (const BoundSymbolRef& copy : copies) {
      behind = step.insert_after(behind, copy);
      progress.copies.push_back(behind);
    }
    if (plan_.makers_of(write.storage).empty() && plan_.writes_to(write.storage).back() == index) {
      step.erase(progress.literal);
      progress.literal = kNoStatement;
    }
    return true;
  }

  bool rename_views(NameId storage) {
    const std::vector<std::uint32_t>& makers = plan_.makers_of(storage);
    if (makers.empty()) return true;
    auto step = rw_.step("rename-views", plan_.id(makers.front()),
                         [&] { return rename_views_reason(plan_, storage); });
    if (!step.applied()) return false;
    for (const std::uint32_t i : makers) install(step, i);
    return true;
  }

  // False when the step was refused: what stands before it may be named by it.
  bool erase_literal(std::uint32_t index, std::uint32_t last_kept) {
    if (writes_[index].literal == kNoStatement) return true;
    const WritePlan& write = plan_.writes()[index];
    auto step =
        rw_.step(plan_.is_argument(write.storage) ? "keep-one-copy" : "drop-copy",
                 plan_.id(write.statement), [&] { return erase_reason(plan_, index, last_kept); });
    if (!step.applied()) return false;
    step.erase(writes_[index].literal);
    writes_[index].literal = kNoStatement;
    return true;
  }

  // Where statement `index` of the functional form stands now; kNoStatement if it does not.
  [[nodiscard]] StatementId id_of(std::uint32_t index) const {
    return plan_.is_original(index) ? plan_.id(plan_.origin(index)) : ids_[index];
  }

  // The next statement that stays: copies that keep old names in step go.
  [[nodiscard]] StatementId next_kept(StatementId id) const {
    StatementId next = rw_.next(id);
    while (sync_ids_.contains(next)) next = rw_.next(next);
    return next;
  }

  // Puts the copy behind the anchor and what was placed there before; the ids of its new
  // statements.
  std::vector<StatementId> insert_behind(Rewriter::StepHandle& step, std::uint32_t anchor,
                                         const std::vector<StatementId>& copies) {
    StatementId behind = tail_[anchor] == kNoStatement ? id_of(anchor) : tail_[anchor];
    std::vector<StatementId> inserted;
    for (const StatementId id : copies) {
      behind = step.insert_after(behind, rw_.statement(id));
      inserted.push_back(behind);
    }
    tail_[anchor] = behind;
    return inserted;
  }

  // A kept copy moves behind the last reader of its value.
  void place(const PlacedCopy& copy) {
    const WritePlan& write = plan_.writes()[copy.write];
    Progress& progress = writes_[copy.write];
    const StatementId anchor = id_of(copy.anchor);
    if (progress.copies.empty() || stuck_[write.storage] || anchor == kNoStatement) return;
    const StatementId behind = tail_[copy.anchor] == kNoStatement ? anchor : tail_[copy.anchor];
    if (next_kept(behind) == progress.copies.front()) {
      tail_[copy.anchor] = progress.copies.back();
      return;
    }
    auto step = rw_.step("place-copy", plan_.id(write.statement),
                         [&] { return place_reason(plan_, copy, anchor); });
    if (!step.applied()) return;
    const std::vector<StatementId> moved = insert_behind(step, copy.anchor, progress.copies);
    for (const StatementId id : progress.copies) step.erase(id);
    progress.copies = moved;
  }

  void drop_syncs() {
    for (auto sync = syncs_.rbegin(); sync != syncs_.rend(); ++sync) {
      if (stuck_[sync->storage]) continue;
      const auto reason = [&] {
        return fmt::format(
            "what {} writes is read under its new name alone; {} gets it by its own copy, if at "
            "all",
            at(plan_, sync->statement), names_.text(sync->storage));
      };
      rw_.step("drop-copy", plan_.id(sync->statement), reason).erase(sync->id);
    }
  }

  // Thunder finds the place of a copy by statement equality: an equal statement elsewhere gets the
  // copy too.
  void repeat_copies() {
    std::uint32_t current = 0;
    for (const FunctionalForm::Placement& placement : functional_.order) {
      if (!placement.is_copy) {
        current = placement.index;
        continue;
      }
      const PlacedCopy& copy = functional_.copies[placement.index];
      const StatementId anchor = id_of(current);
      if (copy.anchor == current || writes_[copy.write].copies.empty() || anchor == kNoStatement) {
        continue;
      }
      auto step = rw_.step("place-copy", plan_.id(plan_.writes()[copy.write].statement), [&] {
        return fmt::format(
            "{} equals the line that the copy stands behind, so Thunder repeats the copy here",
            callee_at(*functional_.statements[current].statement, anchor));
      });
      if (step.applied()) insert_behind(step, current, writes_[copy.write].copies);
    }
  }

  void finish_return() {
    if (done_.empty() || functional_.last == nullptr) return;
    const auto last = static_cast<std::uint32_t>(done_.size() - 1);
    const StatementPlan& plan = plan_.statements()[last];
    if ((plan.changes && !done_[last]) || functional_.last == plan.form) return;
    const std::vector<NameId> read = proxy_args(*functional_.last, names_);
    if (std::any_of(read.begin(), read.end(),
                    [this](NameId name) { return stuck_[plan_.storage_of(name)]; })) {
      return;
    }
    rw_.step("return-names-copies", plan_.id(last),
             "the return mentions the results of the copies, so that later passes keep the copies "
             "before it")
        .replace(plan_.id(last), functional_.last);
  }

  Rewriter& rw_;
  const FunctionalPlan& plan_;
  const NameTable& names_;
  const FunctionalForm& functional_;
  std::vector<bool> done_;  // by statement: it has its final form
  std::vector<Progress> writes_;
  std::vector<StatementId> ids_;   // of the inserted reshapes, by index into functional.statements
  std::vector<StatementId> tail_;  // by anchor: the last copy placed behind it
  std::vector<bool> stuck_;        // by storage
  std::vector<bool> missing_;      // by name: its statement was skipped
  std::vector<Sync> syncs_;
  std::unordered_set<StatementId> sync_ids_;
};

}  // namespace

void record_functional_steps(Rewriter& rw, const std::vector<PlacedStatement>& before,
                             const CanonicalForm& canonical, const FunctionalForm& functional,
                             const NameTable& names) {
  const FunctionalPlan plan(rw.before(), before, canonical, functional, names);
  FunctionalSteps(rw, plan).run();
}

}  // namespace tg
