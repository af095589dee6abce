// The plan behind the steps of functionalize: what becomes of each statement, which write it waits
// for, and which writes belong to one storage. Facts only; functional_steps.cpp acts on them,
// functional_reasons.cpp explains them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/pass/argument_aliases.h"
#include "core/pass/canonical.h"
#include "core/pass/functional_form.h"

namespace tg {

constexpr std::uint32_t kNoIndex = 0xffffffffU;

// What becomes of statement i of the trace before.
struct StatementPlan {
  BoundSymbolRef form;  // final form
  std::vector<std::uint32_t>
      rebuilds;                    // reshapes before it: indices into FunctionalForm::statements
  std::uint32_t index = kNoIndex;  // its own index there
  std::uint32_t stage = 0;         // 1-based number of the write that it waits for; 0: none
  std::uint32_t write = kNoIndex;  // index into writes if it is one
  NameId storage = kNoName;        // writes and makers of views: the storage they belong to
  bool makes_view = false;
  bool changes = true;  // the form differs
};

struct WritePlan {
  std::uint32_t statement = 0;  // index into the trace before
  NameId storage = kNoName;
  BoundSymbolRef literal;                 // its copy back as its sub-statement has it
  std::vector<std::uint32_t> propagated;  // indices into FunctionalForm::statements
  std::vector<std::uint32_t> readers;     // statements that wait for it; views and writes left out
  bool kept = false;                      // Thunder keeps its copy
};

class FunctionalPlan {
 public:
  FunctionalPlan(const Trace& signature, const std::vector<PlacedStatement>& before,
                 const CanonicalForm& canonical, const FunctionalForm& functional,
                 const NameTable& names);

  [[nodiscard]] const NameTable& names() const { return names_; }
  [[nodiscard]] const FunctionalForm& functional() const { return functional_; }
  [[nodiscard]] const std::vector<StatementPlan>& statements() const { return statements_; }
  [[nodiscard]] const std::vector<WritePlan>& writes() const { return writes_; }
  [[nodiscard]] const BoundSymbol& original(std::uint32_t i) const { return *before_[i].statement; }
  [[nodiscard]] StatementId id(std::uint32_t i) const { return before_[i].id; }
  // Statement before that statement `index` of the functional form comes from, or was inserted for.
  [[nodiscard]] std::uint32_t origin(std::uint32_t index) const;
  // That statement itself, not one inserted for it.
  [[nodiscard]] bool is_original(std::uint32_t index) const;

  // Names of one storage, as the statements tell at depth 0, share its name: that of the first.
  [[nodiscard]] NameId storage_of(NameId name) const {
    return storage_[name] == kNoName ? name : storage_[name];
  }
  [[nodiscard]] bool is_argument(NameId name) const { return is_argument_[name]; }
  // 1-based number of the write that makes the value, 0 if no write does.
  [[nodiscard]] std::uint32_t stage_of(NameId name) const { return stage_[name]; }

  [[nodiscard]] const std::vector<NameId>& written_storages() const { return written_storages_; }
  [[nodiscard]] const std::vector<std::uint32_t>& writes_to(NameId storage) const {
    return writes_to_[storage];
  }
  // Makers of views whose form changes, of one storage and all of them.
  [[nodiscard]] const std::vector<std::uint32_t>& makers_of(NameId storage) const {
    return makers_of_[storage];
  }
  [[nodiscard]] const std::vector<std::uint32_t>& makers() const { return makers_; }
  // The last write to the storage that stands before statement i, kNoIndex if none.
  [[nodiscard]] std::uint32_t last_write_before(NameId storage, std::uint32_t i) const;
  // The first statement in (from, to] that reads the written storage by a name that
  // functionalization leaves alone (a view made before the write, for example), and that name. It
  // sees a copy only while the copy stands before it.
  [[nodiscard]] std::pair<std::uint32_t, NameId> old_reader(NameId storage, std::uint32_t from,
                                                            std::uint32_t to) const;

 private:
  void find_storages(const Trace& signature);
  void share(NameId name, NameId source);
  void plan_statements();
  void plan_statement(std::uint32_t i);
  void plan_write(std::uint32_t i);
  void find_old_readers();
  void mark_outputs(const BoundSymbol& statement, std::uint32_t stage);
  [[nodiscard]] std::uint32_t latest_stage(const BoundSymbol& statement) const;

  const std::vector<PlacedStatement>& before_;
  const CanonicalForm& canonical_;
  const FunctionalForm& functional_;
  const NameTable& names_;
  std::vector<StatementPlan> statements_;
  std::vector<WritePlan> writes_;
  std::vector<std::uint32_t> makers_;
  std::vector<NameId> written_storages_;  // by first write
  // By name:
  std::vector<NameId> storage_;  // kNoName: its own
  std::vector<std::uint32_t> stage_;
  std::vector<bool> is_argument_;
  std::vector<bool> at_depth_0_;  // bound by a statement of the trace before
  std::vector<std::vector<std::uint32_t>> writes_to_;
  std::vector<std::vector<std::uint32_t>> makers_of_;
  std::vector<std::vector<std::pair<std::uint32_t, NameId>>> old_readers_;  // in order
};

}  // namespace tg
