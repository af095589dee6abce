// The numbers that invented inputs are made of. Internal to core/run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/run/inputs.h"

namespace tg {

// Names whose elements, or values computed from them, select elements of another tensor somewhere
// in the trace: indices of gather, keys of setitem, rows of embedding. Linear in the trace.
std::unordered_set<std::string_view> index_names(const Trace& trace);

// invent_inputs, but an argument in `given` gets a value from elsewhere: it may have a type for
// which none can be invented. Its place is kept.
using GivenNames = std::unordered_set<std::string>;
Result<RunInputs> invent_other_inputs(const Trace& trace, const ArgumentFacts& facts,
                                      std::uint64_t seed, const GivenNames& given);

enum class NumberRole : std::uint8_t {
  Index,   // integers in [0, index_bound)
  Number,  // integers from 1 on: no zero, since they may be divisors
};

// Gives every element of one run its value; blocks are filled in the order of the calls.
class InventedValues {
 public:
  // `floats` and `integers`: how many elements will be asked for (complex counts twice).
  InventedValues(std::uint64_t floats, std::uint64_t integers, std::int64_t index_bound,
                 std::uint64_t seed);

  void fill(Tensor& block, NumberRole role);

 private:
  // Visits each of 0 .. size-1 once, in a shuffled order, then begins anew.
  class Walk {
   public:
    Walk(std::uint64_t size, std::uint64_t& state);
    std::uint64_t next();

   private:
    std::uint64_t size_;
    std::uint64_t step_;
    std::uint64_t at_;
  };

  double magnitude();
  void fill_floats(Tensor& block);
  std::int64_t integer(DType dtype, NumberRole role);

  std::uint64_t state_;
  int bits_;
  std::int64_t index_bound_;
  Walk points_;
  Walk numbers_;
};

}  // namespace tg
