// How each statement of a trace runs: by its operation, by its sub-statements, or not at all.
// Static.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/ir/trace.h"

namespace tg {

enum class RunMode : std::uint8_t {
  Nothing,        // guards, context managers
  Operation,      // the operation is known; sub-statements are documentation
  Substatements,  // fusion regions, and unknown operations with sub-statements
  Impossible,
};

// The operation that a call means. Hand-written text says `t0.contiguous()` for
// Tensor.contiguous(t0): then `receiver` is the name before the dot and stands for the first
// argument.
struct Callee {
  OpCode op = OpCode::Opaque;
  std::string_view receiver;
};
Callee callee_of(const BoundSymbol& statement);

RunMode run_mode(const BoundSymbol& statement);  // Call only
std::string why_impossible(const BoundSymbol& statement);
// The statement, with everything that it runs by, has kernels.
bool can_run(const BoundSymbol& statement);

class RunPlan {
 public:
  explicit RunPlan(const Trace& trace);
  // A later statement reads a name that only sub-statements of this one define.
  [[nodiscard]] bool runs_by_substatements(std::uint32_t statement) const {
    return by_substatements_.contains(statement);
  }
  // Some depth-0 statement after `statement` reads `name`.
  [[nodiscard]] bool read_after(std::string_view name, std::uint32_t statement) const;

 private:
  std::unordered_map<std::string_view, std::uint32_t> last_read_;
  std::unordered_set<std::uint32_t> by_substatements_;
};

}  // namespace tg
