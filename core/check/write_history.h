// Which statement wrote which element of an argument last: the witness for a lost write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/eager/interpreter.h"

namespace tg {

struct WriteHistory {
  static constexpr std::uint32_t kNobody = 0xffffffffU;
  std::vector<std::uint32_t>
      writers;  // statements that wrote the argument's storage, in order, distinct
  std::vector<std::uint32_t>
      last_writer;        // per element of the argument in row-major order; kNobody = never
                          // changed. A write of the value that is there already does not show.
  bool complete = false;  // the run reached its end and the argument was small enough
};

// Runs `trace` with an observer. Arguments above `kMaxElements` give complete == false.
WriteHistory observe_writes(const Trace& trace, const RunInputs& inputs,
                            const std::string& argument, const RunLimits& limits);

// Row-major position of `index` in a tensor of these sizes; 0 for rank 0.
std::size_t flat_position(const std::vector<std::int64_t>& sizes,
                          const std::vector<std::int64_t>& index);

}  // namespace tg
