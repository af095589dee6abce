// What a fusion executor may put into a region.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/pass/executors.h"
#include "core/pass/statement_facts.h"

namespace tg {

class FusionRules {
 public:
  // Requires that `names` outlives it.
  FusionRules(std::string executor, const NameTable& names)
      : executor_(std::move(executor)), names_(names) {}

  // The executor runs it whole, or everything that it consists of; no tensor lies on the CPU.
  [[nodiscard]] bool can_fuse(const BoundSymbol& statement) const;
  // Some tensor that it reads or makes lies on a GPU.
  [[nodiscard]] bool touches_gpu(const BoundSymbol& statement) const;
  // The parts that the executor runs, in order. Requires can_fuse(statement).
  void append_leaves(const BoundSymbolRef& statement, std::vector<BoundSymbolRef>& leaves) const;
  // A group is worth a region.
  [[nodiscard]] bool wants_region(const std::vector<BoundSymbolRef>& group) const;
  // "nvFusion", "TorchCompile"
  [[nodiscard]] std::string_view region_name() const {
    return executor_ == "nvfuser" ? "nvFusion" : "TorchCompile";
  }
  [[nodiscard]] const std::string& executor() const { return executor_; }

 private:
  [[nodiscard]] bool runs_whole(const BoundSymbol& statement) const;
  std::string executor_;
  const NameTable& names_;
};

}  // namespace tg
