// Which line of the user's program a statement stands for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

// Names of a trace's depth-0 statements: who defined one before a place. Requires the trace to
// outlive it; linear to build.
class Producers {
 public:
  explicit Producers(const Trace& trace);
  // The statement that defines `name` before statement `before`, null if none (an argument).
  [[nodiscard]] const BoundSymbol* find(std::string_view name, std::uint32_t before) const;
  // The same, beyond reshapes and views, which passes put between a value and its copy_.
  [[nodiscard]] const BoundSymbol* maker(std::string_view name, std::uint32_t before) const;

 private:
  const Trace& trace_;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_name_;
};

// The name that a copy_ stores, empty when `statement` is none or stores no plain name.
std::string_view stored_name(const BoundSymbol& statement);

struct ProgramSource {
  const ProgramLine* line = nullptr;  // null: the texts do not tell
  bool added_by_pass = false;         // a copy_ that functionalization added after the fact
};

// The statement's own line; for a copy_ that a pass added, the line of the in-place statement whose
// value it stores: that of the value's producer, or, where the producer is a functional twin
// ("Functionalized from `t2 = mul_(v,-1)`"), that of `t2` in the newest of `earlier` that has it.
// `earlier`: the phases before `trace` in order, may be empty.
ProgramSource source_of(const Trace& trace, std::uint32_t statement,
                        const std::vector<const Trace*>& earlier);

}  // namespace tg
