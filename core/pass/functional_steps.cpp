// The order of the steps is ours, the result is Thunder's. First every write becomes its own two
// sub-statements, the functional operation and the copy back, which changes nothing; its readers
// read the new value. Then, storage by storage, copies are erased but for those that Thunder keeps;
// then the kept ones move. So in a sound case every prefix leaves outputs and arguments as they
// were, and in an unsound one the law breaks at the step that does the damage.

#include "core/pass/functional_steps.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/printer.h"

namespace tg {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

// What becomes of statement i of the trace before.
struct Plan {
  BoundSymbolRef form;                  // final form
  std::vector<std::uint32_t> rebuilds;  // reshapes before it: indices into functional.statements
  std::uint32_t statement = kNone;      // its own index there
  std::uint32_t stage = 0;      // 1-based number of the write that it waits for; 0: unchanged
  std::uint32_t write = kNone;  // index into functional.writes if it is a write
  NameId storage = kNoName;     // writes and makers of views: the storage they belong to
  bool makes_view = false;
  bool done = false;
};

// A write on its way.
struct Write {
  std::uint32_t statement = 0;  // index into the trace before
  NameId storage = kNoName;
  BoundSymbolRef literal;                 // its copy back as its sub-statement has it
  StatementId literal_id = kNoStatement;  // kNoStatement: erased or never there
  std::vector<std::uint32_t> propagated;  // indices into functional.statements
  std::vector<std::uint32_t> readers;     // statements that wait for it, views and writes left out
  std::vector<StatementId> copy_ids;      // of the kept copies
  bool kept = false;                      // Thunder keeps its copy
  bool keeps_literal = false;             // ... which is the copy back itself
  bool available = false;                 // its functional form is there
};

class FunctionalSteps {
 public:
  FunctionalSteps(Rewriter& rw, const std::vector<PlacedStatement>& before,
                  const CanonicalForm& canonical, const FunctionalForm& functional,
                  const NameTable& names)
      : rw_(rw),
        before_(before),
        canonical_(canonical),
        functional_(functional),
        names_(names),
        plans_(before.size()),
        ids_(functional.statements.size(), kNoStatement),
        storage_(names.size(), kNoName),
        stage_(names.size(), 0),
        is_argument_(names.size(), false),
        stuck_(names.size(), false),
        missing_(names.size(), false),
        members_(names.size()),
        makers_of_(names.size()) {}

  void run() {
    find_storages();
    plan();
    for (std::uint32_t write = 0; write < writes_.size(); ++write) functionalize(write);
    find_stuck_storages();
    find_old_readers();
    for (const NameId storage : storage_order_) finish_storage(storage);
    tail_.resize(functional_.statements.size(), kNoStatement);
    for (const PlacedCopy& copy : functional_.copies) place(copy);
    drop_syncs();
    repeat_copies();
    finish_return();
  }

 private:
  const BoundSymbol& original(std::uint32_t i) const { return *before_[i].statement; }
  std::string at(std::uint32_t i) const { return callee_at(original(i), before_[i].id); }

  NameId storage_of(NameId name) const { return storage_[name] == kNoName ? name : storage_[name]; }

  // Which names share a storage, as the statements say it at depth 0.
  void find_storages() {
    for (const Parameter& parameter : rw_.before().parameters) {
      const NameId name = names_.find(parameter.name);
      if (name != kNoName) is_argument_[name] = true;
    }
    for (const PlacedStatement& placed : before_) {
      const BoundSymbol& statement = *placed.statement;
      if (statement.kind != StatementKind::Call) continue;
      const OpInfo& op = statement.op_info();
      NameId source = kNoName;
      if (is_functionalizable(statement)) {
        const std::vector<NameId> operands = proxy_args(*statement.subsymbols.back(), names_);
        if (operands.size() > 1) source = operands[1];
        for (const NameId out : proxy_outs(*statement.subsymbols.back(), names_))
          share(out, source);
      } else if (op.has(kCopyInto)) {
        const auto index = static_cast<std::size_t>(std::max(op.mutated_param, 0));
        const std::vector<NameId> operands = proxy_args(statement, names_);
        if (index < operands.size()) source = operands[index];
      } else if (op.has(kView | kMaybeView | kThunderView | kThunderMayView | kIdentity)) {
        source = first_tensor_arg(statement, names_);
      }
      if (source == kNoName) continue;
      for (const NameId out : proxy_outs(statement, names_)) share(out, source);
    }
  }

  void share(NameId name, NameId source) {
    if (source == kNoName || name == source || storage_[name] != kNoName) return;
    const NameId storage = storage_of(source);
    if (storage != name) storage_[name] = storage;
  }

  void plan() {
    std::vector<bool> at_depth_0(names_.size(), false);
    for (const PlacedStatement& placed : before_) {
      for (const NameId out : proxy_outs(*placed.statement, names_)) at_depth_0[out] = true;
    }
    for (std::size_t name = 0; name < names_.size(); ++name) {
      if (is_argument_[name]) at_depth_0[name] = true;
    }
    std::vector<std::uint32_t>
        waiting;  // rebuilds and propagated reshapes of the statement to come
    for (std::uint32_t i = 0; i < functional_.statements.size(); ++i) {
      const FunctionalStatement& item = functional_.statements[i];
      const CanonicalStatement& source = canonical_.statements[item.origin];
      if (item.propagated) {
        writes_.back().propagated.push_back(i);
        mark_outputs(*item.statement, static_cast<std::uint32_t>(writes_.size()), at_depth_0);
        continue;
      }
      if (source.rebuild) {
        mark_outputs(*item.statement, latest_stage(*item.statement), at_depth_0);
        waiting.push_back(i);
        continue;
      }
      Plan& plan = plans_[source.origin];
      plan.form = item.statement;
      plan.statement = i;
      plan.rebuilds = std::move(waiting);
      waiting.clear();
      plan_statement(source.origin, at_depth_0);
    }
    for (const PlacedCopy& copy : functional_.copies) {
      writes_[copy.write].kept = true;
      for (const BoundSymbolRef& statement : functional_.writes[copy.write].copies) {
        for (const NameId out : proxy_outs(*statement, names_))
          share(out, writes_[copy.write].storage);
      }
    }
  }

  void mark_outputs(const BoundSymbol& statement, std::uint32_t stage,
                    const std::vector<bool>& at_depth_0) {
    for (const NameId out : proxy_outs(statement, names_)) {
      if (!at_depth_0[out]) stage_[out] = stage;
    }
  }

  std::uint32_t latest_stage(const BoundSymbol& statement) const {
    std::uint32_t latest = 0;
    for (const NameId name : proxy_args(statement, names_)) latest = std::max(latest, stage_[name]);
    return latest;
  }

  void plan_statement(std::uint32_t i, const std::vector<bool>& at_depth_0) {
    Plan& plan = plans_[i];
    const BoundSymbol& statement = original(i);
    if (is_functionalizable(statement)) {
      plan.write = static_cast<std::uint32_t>(writes_.size());
      Write write;
      write.statement = i;
      write.literal = copy_back_of(statement);
      const std::vector<NameId> operands = proxy_args(*write.literal, names_);
      write.storage = operands.size() > 1 ? storage_of(operands[1]) : kNoName;
      plan.storage = write.storage;
      if (write.storage != kNoName) {
        if (members_[write.storage].empty()) storage_order_.push_back(write.storage);
        members_[write.storage].push_back(plan.write);
      }
      writes_.push_back(std::move(write));
      plan.stage = static_cast<std::uint32_t>(writes_.size());
      mark_outputs(*plan.form, plan.stage, at_depth_0);
      return;
    }
    if (plan.form == before_[i].statement && plan.rebuilds.empty()) {
      plan.done = true;
      return;
    }
    plan.stage = latest_stage(*plan.form);
    const OpInfo& op = info(statement.kind == StatementKind::Call ? statement.op : OpCode::Opaque);
    plan.makes_view = op.has(kView | kMaybeView | kThunderView | kThunderMayView | kIdentity);
    if (plan.makes_view) {
      const NameId source = first_tensor_arg(statement, names_);
      if (source != kNoName) {
        plan.storage = storage_of(source);
        makers_of_[plan.storage].push_back(i);
      }
      makers_.push_back(i);
    } else if (plan.stage > 0) {
      writes_[plan.stage - 1].readers.push_back(i);
    } else if (!writes_.empty()) {
      writes_.front().readers.push_back(i);
    }
  }

  // All values that the final form reads are there.
  bool is_available(const BoundSymbol& form) const {
    for (const NameId name : proxy_args(form, names_)) {
      const std::uint32_t stage = stage_[name];
      if (missing_[name] || (stage != 0 && !writes_[stage - 1].available)) return false;
    }
    return true;
  }

  bool is_available(const Plan& plan) const {
    return is_available(*plan.form) &&
           std::all_of(plan.rebuilds.begin(), plan.rebuilds.end(), [this](std::uint32_t rebuild) {
             return is_available(*functional_.statements[rebuild].statement);
           });
  }

  void install(Rewriter::StepHandle& step, std::uint32_t i) {
    Plan& plan = plans_[i];
    for (const std::uint32_t rebuild : plan.rebuilds) {
      ids_[rebuild] = step.insert_before(before_[i].id, functional_.statements[rebuild].statement);
    }
    if (plan.form != before_[i].statement) step.replace(before_[i].id, plan.form);
    ids_[plan.statement] = before_[i].id;
    plan.done = true;
    if (plan.write == kNone && !plan.makes_view) keep_in_step(step, i);
  }

  // A raw copy (or batch_norm) whose destination is renamed writes the new value's buffer;
  // statements that still read the old one need the bytes too, until all of them are renamed.
  void keep_in_step(Rewriter::StepHandle& step, std::uint32_t i) {
    const BoundSymbol& statement = original(i);
    if (statement.kind != StatementKind::Call || !statement.op_info().has(kCopyInto | kHidesWrites))
      return;
    const std::vector<Param>& params = statement.op_info().params;
    for (std::size_t arg = 0; arg < params.size() && arg < statement.args.size(); ++arg) {
      const Value& old = statement.args[arg];
      const Value& renamed = plans_[i].form->args[arg];
      if (params[arg].alias != "a!" || !old.is_name() || !renamed.is_name() ||
          old.text == renamed.text)
        continue;
      BoundSymbol copy;
      copy.op = OpCode::CopyInto;
      copy.callee = "prims.copy_";
      copy.args = {renamed, old};
      copy.program_line = statement.program_line;
      copy.at = statement.at;
      const StatementId id = step.insert_after(before_[i].id, std::move(copy));
      syncs_.push_back({i, storage_of(names_.find(old.text)), id});
      sync_ids_.insert(id);
    }
  }

  void drop_syncs() {
    for (auto sync = syncs_.rbegin(); sync != syncs_.rend(); ++sync) {
      if (stuck_[sync->storage]) continue;
      rw_.step("drop-copy", before_[sync->statement].id,
               [&] {
                 return fmt::format(
                     "what {} writes is read under its new name alone; {} gets it by its own copy, "
                     "if at all",
                     at(sync->statement), names_.text(sync->storage));
               })
          .erase(sync->id);
    }
  }

  void functionalize(std::uint32_t index) {
    Write& write = writes_[index];
    const std::uint32_t i = write.statement;
    const auto group = rw_.group("functionalize " + one_line(original(i)));
    // A form made from a value that a skipped step did not make cannot stand; `available` is still
    // false for this write, whose own value is no argument of it.
    if (!is_available(plans_[i])) {
      rw_.note("left-in-place", before_[i].id, [&] {
        return fmt::format("{} stays as it is: it would read a value of a write that was skipped",
                           at(i));
      });
      return;
    }
    {
      auto step =
          rw_.step("functionalize-inplace", before_[i].id, [&] { return split_reason(write); });
      if (!step.applied()) return;
      install(step, i);
      write.literal_id = step.insert_after(before_[i].id, write.literal);
      write.available = true;
    }
    if (write.readers.empty() && write.propagated.empty()) return;
    std::vector<std::uint32_t> ready;
    bool rebuilds = false;
    for (const std::uint32_t reader : write.readers) {
      if (!is_available(plans_[reader])) continue;
      ready.push_back(reader);
      rebuilds = rebuilds || !plans_[reader].rebuilds.empty();
    }
    const std::string_view rule = rebuilds                    ? "rebuild-base-from-view"
                                  : !write.propagated.empty() ? "propagate-to-views"
                                                              : "rename-readers";
    if (ready.empty() && write.propagated.empty()) return;
    auto step =
        rw_.step(rule, before_[i].id, [&] { return rename_reason(index, ready, rebuilds); });
    if (!step.applied()) {
      for (const std::uint32_t reshape : write.propagated) {
        for (const NameId out : proxy_outs(*functional_.statements[reshape].statement, names_))
          missing_[out] = true;
      }
      return;
    }
    StatementId behind = before_[i].id;
    for (const std::uint32_t reshape : write.propagated) {
      behind = step.insert_after(behind, functional_.statements[reshape].statement);
      ids_[reshape] = behind;
    }
    for (const std::uint32_t reader : ready) install(step, reader);
  }

  // "cos (line 7), neg (line 8)", shortened when there are many.
  std::string listed(const std::vector<std::uint32_t>& statements) const {
    constexpr std::size_t kMost = 4;
    std::string text;
    for (std::size_t i = 0; i < statements.size() && i < kMost; ++i) {
      text += (text.empty() ? "" : ", ") + at(statements[i]);
    }
    if (statements.size() > kMost) text += fmt::format(" and {} more", statements.size() - kMost);
    return text;
  }

  std::string split_reason(const Write& write) const {
    const FunctionalWrite& form = functional_.writes[plans_[write.statement].write];
    return fmt::format("{} writes {}; it becomes {}, followed by the copy of {} back onto {}",
                       at(write.statement), destination_text(write),
                       base_name(plans_[write.statement].form->callee), names_.text(form.source),
                       destination_text(write));
  }

  std::string_view destination_text(const Write& write) const {
    return names_.text(proxy_args(*write.literal, names_)[1]);
  }

  std::string rename_reason(std::uint32_t index, const std::vector<std::uint32_t>& ready,
                            bool rebuilds) const {
    const Write& write = writes_[index];
    const FunctionalWrite& form = functional_.writes[index];
    const std::string who = listed(ready);
    std::string text = fmt::format("{} is the value of {} after {}", names_.text(form.source),
                                   destination_text(write), at(write.statement));
    if (!write.propagated.empty()) {
      text += fmt::format("; {} of the same storage {} rebuilt from it",
                          count_of(write.propagated.size(), "name", "names"),
                          write.propagated.size() == 1 ? "is" : "are");
    }
    if (!who.empty()) {
      text += fmt::format("; {} {} the new value{}", who, ready.size() == 1 ? "reads" : "read",
                          rebuilds ? ", the base as a reshape of it" : "");
    }
    for (const std::uint32_t reader : ready) {
      const std::string stale = stale_text(reader);
      if (!stale.empty()) return text + stale;
    }
    return text;
  }

  // "; return (line 9) reads t1, the value after exp_ (line 4), although add_ (line 6) writes the
  // same storage in between": Thunder reads a value that is not the newest.
  std::string stale_text(std::uint32_t reader) const {
    for (const NameId name : proxy_args(*plans_[reader].form, names_)) {
      const std::uint32_t stage = stage_[name];
      if (stage == 0) continue;
      const std::uint32_t later = last_write_before(writes_[stage - 1].storage, reader);
      if (later == kNone || later < stage) continue;
      return fmt::format(
          "; {} reads {}, the value after {}, although {} writes the same storage in between",
          at(reader), names_.text(name), at(writes_[stage - 1].statement),
          at(writes_[later].statement));
    }
    return {};
  }

  // The last write to the storage that stands before statement i.
  std::uint32_t last_write_before(NameId storage, std::uint32_t i) const {
    if (storage == kNoName) return kNone;
    const std::vector<std::uint32_t>& writes = members_[storage];
    const auto after = std::partition_point(writes.begin(), writes.end(), [&](std::uint32_t write) {
      return writes_[write].statement < i;
    });
    return after == writes.begin() ? kNone : *(after - 1);
  }

  // Statements that read a written storage by names that functionalization leaves alone: views made
  // before the write, for example. They see a copy only while it stands before them.
  void find_old_readers() {
    old_readers_.resize(names_.size());
    for (std::uint32_t i = 0; i < plans_.size(); ++i) {
      const Plan& plan = plans_[i];
      const OpInfo& op =
          info(original(i).kind == StatementKind::Call ? original(i).op : OpCode::Opaque);
      if (plan.write != kNone || plan.makes_view || is_return(original(i)) ||
          op.has(kView | kMaybeView | kThunderView | kThunderMayView)) {
        continue;
      }
      for (const NameId name : proxy_args(*plan.form, names_)) {
        const NameId storage = storage_of(name);
        if (!members_[storage].empty() && stage_[name] == 0)
          old_readers_[storage].emplace_back(i, name);
      }
    }
  }

  // "; cos (line 11) still reads t0 of the same storage" for the first one between two statements.
  std::string old_reader_text(NameId storage, std::uint32_t from, std::uint32_t to) const {
    const auto& readers = old_readers_[storage];
    const auto found =
        std::partition_point(readers.begin(), readers.end(),
                             [from](const auto& reader) { return reader.first <= from; });
    if (found == readers.end() || found->first > to) return {};
    return fmt::format("; {} still reads {}, which {}", at(found->first),
                       names_.text(found->second),
                       storage_of(found->second) == found->second ? "the copy would have written"
                                                                  : "shares its storage");
  }

  // A storage is stuck when a statement still reads it in its old form: its copies must stay.
  void find_stuck_storages() {
    for (std::uint32_t i = 0; i < plans_.size(); ++i) {
      const Plan& plan = plans_[i];
      if (plan.done || plan.makes_view) continue;
      mark_stuck(i);
    }
    for (const std::uint32_t i : makers_) {
      if (!is_available(plans_[i])) mark_stuck(i);
    }
  }

  void mark_stuck(std::uint32_t i) {
    for (const NameId name : proxy_args(original(i), names_)) stuck_[storage_of(name)] = true;
    for (const NameId name : proxy_outs(original(i), names_)) stuck_[storage_of(name)] = true;
    if (plans_[i].storage != kNoName) stuck_[plans_[i].storage] = true;
  }

  void finish_storage(NameId storage) {
    const std::vector<std::uint32_t>& writes = members_[storage];
    if (stuck_[storage]) {
      rw_.note("copies-stay", before_[writes_[writes.front()].statement].id, [&] {
        return fmt::format("the copies onto {} stay: a statement still reads it by its old names",
                           names_.text(storage));
      });
      return;
    }
    std::uint32_t last_kept = kNone;
    for (const std::uint32_t write : writes) {
      if (!writes_[write].kept) continue;
      last_kept = write;
      if (copy_to_argument(write)) continue;
      stuck_[storage] = true;
      return;
    }
    if (!rename_views(storage, writes)) {
      stuck_[storage] = true;
      return;
    }
    // From the end: a later copy may write through the result name of an earlier one.
    for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
      if (!writes_[*write].keeps_literal && !erase_literal(*write, storage, last_kept)) return;
    }
  }

  // False when the step was refused: the storage keeps all its copies then. The old copy goes at
  // once only if nothing can name its result any more; otherwise both stand there for a while and
  // write the same.
  bool copy_to_argument(std::uint32_t index) {
    Write& write = writes_[index];
    const std::vector<BoundSymbolRef>& copies = functional_.writes[index].copies;
    if (copies.size() == 1 && *copies.front() == *write.literal) {
      write.copy_ids = {write.literal_id};
      write.keeps_literal = true;
      return true;
    }
    auto step = rw_.step("copy-to-base", before_[write.statement].id, [&] {
      if (copies.size() == 1 &&
          proxy_args(*write.literal, names_)[1] == functional_.writes[index].argument) {
        return fmt::format(
            "{} is not the first write to {}; Thunder copies its value under a new name, {}",
            at(write.statement), destination_text(write), to_text(copies.front()->output));
      }
      return fmt::format(
          "{} belongs to argument {}, so the value of {} is copied to the argument instead{}",
          destination_text(write), names_.text(functional_.writes[index].argument),
          at(write.statement), copies.size() > 1 ? ", through a reshape" : "");
    });
    if (!step.applied()) return false;
    StatementId behind = write.literal_id;
    for (const BoundSymbolRef& copy : copies) {
      behind = step.insert_after(behind, copy);
      write.copy_ids.push_back(behind);
    }
    if (makers_of_[write.storage].empty() && members_[write.storage].back() == index) {
      step.erase(write.literal_id);
      write.literal_id = kNoStatement;
    }
    return true;
  }

  bool rename_views(NameId storage, const std::vector<std::uint32_t>& writes) {
    const std::vector<std::uint32_t>& makers = makers_of_[storage];
    if (makers.empty()) return true;
    auto step = rw_.step("rename-views", before_[makers.front()].id, [&] {
      return fmt::format(
          "every write to {} is functional now, the last is {}; {} {} of the new value",
          names_.text(storage), at(writes_[writes.back()].statement), listed(makers),
          makers.size() == 1 ? "becomes a view" : "become views");
    });
    if (!step.applied()) return false;
    for (const std::uint32_t i : makers) install(step, i);
    return true;
  }

  // False when the step was refused: what stands before it may be named by it.
  bool erase_literal(std::uint32_t index, NameId storage, std::uint32_t last_kept) {
    Write& write = writes_[index];
    if (write.literal_id == kNoStatement) return true;
    const bool of_argument = is_argument_[storage];
    auto step = rw_.step(of_argument ? "keep-one-copy" : "drop-copy", before_[write.statement].id,
                         [&] { return erase_reason(index, storage, last_kept); });
    if (!step.applied()) return false;
    step.erase(write.literal_id);
    write.literal_id = kNoStatement;
    return true;
  }

  std::string erase_reason(std::uint32_t index, NameId storage, std::uint32_t last_kept) const {
    const std::uint32_t next_kept = last_kept != kNone && last_kept > index ? last_kept : kNone;
    const std::uint32_t until = next_kept == kNone ? static_cast<std::uint32_t>(plans_.size())
                                                   : writes_[next_kept].statement;
    return erase_reason_alone(index, storage, next_kept) +
           old_reader_text(storage, writes_[index].statement, until);
  }

  std::string erase_reason_alone(std::uint32_t index, NameId storage,
                                 std::uint32_t next_kept) const {
    const Write& write = writes_[index];
    const FunctionalWrite& form = functional_.writes[index];
    const std::string what = fmt::format("the copy of {} onto {} by {}", names_.text(form.source),
                                         destination_text(write), at(write.statement));
    if (!is_argument_[storage]) {
      return fmt::format("{} is dropped: {} is a temporary and its readers read {}", what,
                         names_.text(storage), names_.text(form.source));
    }
    if (write.kept) {
      return fmt::format("{} is not needed: {} writes the argument itself", what,
                         one_line(*form.copies.back()));
    }
    if (form.argument != kNoName) {
      if (next_kept != kNone) {
        return fmt::format("{} is superseded by that of {}: one copy onto {} is kept, the last",
                           what, at(writes_[next_kept].statement), names_.text(storage));
      }
      return fmt::format("{} is dropped: another copy took its place", what);
    }
    const std::string value_of =
        fmt::format("so {} keeps what was copied before", names_.text(storage));
    const std::string_view gave_up = form.gave_up_at == kNoName ? "" : names_.text(form.gave_up_at);
    switch (form.why) {
      case NoCopyBack::NoProducer:
        return fmt::format(
            "{} has no producer line, so the write of {} is kept on a temporary only: no copy "
            "back, {}",
            gave_up, at(write.statement), value_of);
      case NoCopyBack::Factory:
        return fmt::format(
            "{} is made from no tensor, so the write of {} is not known as one to {}: no copy "
            "back, {}",
            gave_up, at(write.statement), names_.text(storage), value_of);
      case NoCopyBack::NotAView:
        return fmt::format(
            "{} is made by a line that is neither a view nor marked in place, so the write of "
            "{} is not known as one to {}: no copy back, {}",
            gave_up, at(write.statement), names_.text(storage), value_of);
      case NoCopyBack::HasCopyBack:
        break;
    }
    return what + " is dropped";
  }

  // The next statement that stays: copies of raw writes go.
  StatementId next_kept(StatementId id) const {
    StatementId next = rw_.next(id);
    while (sync_ids_.contains(next)) next = rw_.next(next);
    return next;
  }

  // A kept copy moves behind the last reader of its value.
  void place(const PlacedCopy& copy) {
    Write& write = writes_[copy.write];
    if (write.copy_ids.empty() || write.storage == kNoName || stuck_[write.storage]) return;
    const StatementId anchor =
        ids_[copy.anchor] == kNoStatement ? original_id(copy.anchor) : ids_[copy.anchor];
    if (anchor == kNoStatement) return;
    const StatementId behind = tail_[copy.anchor] == kNoStatement ? anchor : tail_[copy.anchor];
    if (next_kept(behind) == write.copy_ids.front()) {
      tail_[copy.anchor] = write.copy_ids.back();
      return;
    }
    const FunctionalStatement& target = functional_.statements[copy.anchor];
    auto step = rw_.step("place-copy", before_[write.statement].id, [&] {
      const BoundSymbol& last = *functional_.writes[copy.write].copies.back();
      return fmt::format("{} moves behind {}, {} {}{}", one_line(last),
                         callee_at(*target.statement, anchor),
                         copy.has_reader ? "the last reader of" : "which makes",
                         names_.text(functional_.writes[copy.write].source),
                         old_reader_text(write.storage, write.statement,
                                         canonical_.statements[target.origin].origin));
    });
    if (!step.applied()) return;
    StatementId last = behind;
    std::vector<StatementId> moved;
    for (const StatementId id : write.copy_ids) {
      last = step.insert_after(last, rw_.statement(id));
      moved.push_back(last);
    }
    for (const StatementId id : write.copy_ids) step.erase(id);
    write.copy_ids = std::move(moved);
    tail_[copy.anchor] = last;
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
      const Write& write = writes_[copy.write];
      if (copy.anchor == current || write.copy_ids.empty()) continue;
      const StatementId anchor =
          ids_[current] == kNoStatement ? original_id(current) : ids_[current];
      if (anchor == kNoStatement) continue;
      auto step = rw_.step("place-copy", before_[write.statement].id, [&] {
        return fmt::format(
            "{} equals the line that the copy stands behind, so Thunder repeats the copy here",
            callee_at(*functional_.statements[current].statement, anchor));
      });
      if (!step.applied()) continue;
      StatementId last = tail_[current] == kNoStatement ? anchor : tail_[current];
      for (const StatementId id : write.copy_ids) last = step.insert_after(last, rw_.statement(id));
      tail_[current] = last;
    }
  }

  // A statement that keeps its form has the id it had.
  StatementId original_id(std::uint32_t index) const {
    const FunctionalStatement& item = functional_.statements[index];
    const CanonicalStatement& source = canonical_.statements[item.origin];
    return item.propagated || source.rebuild ? kNoStatement : before_[source.origin].id;
  }

  void finish_return() {
    if (plans_.empty() || functional_.last == nullptr) return;
    const auto last = static_cast<std::uint32_t>(plans_.size() - 1);
    if (!plans_[last].done || functional_.last == plans_[last].form) return;
    for (const NameId name : proxy_args(*functional_.last, names_)) {
      if (stuck_[storage_of(name)]) return;
    }
    rw_.step("return-names-copies", before_[last].id,
             "the return mentions the results of the copies, so that later passes keep the copies "
             "before it")
        .replace(before_[last].id, functional_.last);
  }

  Rewriter& rw_;
  const std::vector<PlacedStatement>& before_;
  const CanonicalForm& canonical_;
  const FunctionalForm& functional_;
  const NameTable& names_;
  std::vector<Plan> plans_;
  std::vector<Write> writes_;
  std::vector<std::uint32_t> makers_;  // makers of views whose form changes
  std::vector<NameId> storage_order_;  // written storages, by first write
  std::vector<StatementId> ids_;       // of functional.statements, once they stand
  std::vector<StatementId> tail_;      // by anchor: the last copy placed behind it
  struct Sync {
    std::uint32_t statement;
    NameId storage;
    StatementId id;
  };
  std::vector<Sync> syncs_;  // copies of raw writes, while old names are read
  std::unordered_set<StatementId> sync_ids_;
  // By name:
  std::vector<NameId> storage_;       // kNoName: its own
  std::vector<std::uint32_t> stage_;  // number of the write that makes the value, 0 if none
  std::vector<bool> is_argument_;
  std::vector<bool> stuck_;                            // by storage
  std::vector<bool> missing_;                          // its statement was skipped
  std::vector<std::vector<std::uint32_t>> members_;    // by storage: its writes
  std::vector<std::vector<std::uint32_t>> makers_of_;  // by storage
  std::vector<std::vector<std::pair<std::uint32_t, NameId>>> old_readers_;  // by storage, in order
};

}  // namespace

void record_functional_steps(Rewriter& rw, const std::vector<PlacedStatement>& before,
                             const CanonicalForm& canonical, const FunctionalForm& functional,
                             const NameTable& names) {
  FunctionalSteps(rw, before, canonical, functional, names).run();
}

}  // namespace tg
