// Two tensors element by element, in blocks: no tensor is spelled out in memory, and dims that are
// expanded on both sides count once. Internal to core/run, but for same_bits.
#pragma once

#include <chrono>
#include <complex>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/run/compare.h"

namespace tg {

// When a comparison must end. Sticky: once it has stopped it stays so.
class CompareClock {
 public:
  explicit CompareClock(const RunLimits& limits, std::stop_token stop = {})
      : deadline_(std::chrono::steady_clock::now() + limits.time), stop_(std::move(stop)) {}
  // Asks the clock now and then; `work` is what was done since the last call, in elements.
  bool expired(std::uint64_t work);
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  std::chrono::steady_clock::time_point deadline_;
  std::stop_token stop_;
  std::uint64_t pending_ = 0;
  bool stopped_ = false;
};

// What the elements of two tensors of one shape give.
struct ElementCount {
  std::uint64_t differing = 0;
  std::vector<std::int64_t> index;   // of the witness: the worst element, the first when exact
  std::complex<double> left, right;  // the witness
  std::int64_t left_integer = 0, right_integer = 0;
  double max_absolute = 0;
  double max_relative = 0;
};

bool close_enough(double left, double right, const Tolerance& tolerance, DType dtype);

// Both must have the same sizes. `dtype` decides what one unit in the last place is.
ElementCount count_elements(const Tensor& left, const Tensor& right, const Tolerance& tolerance,
                            DType dtype, CompareClock& clock);
// For dtypes of integers and bool: equal or not.
ElementCount count_integers(const Tensor& left, const Tensor& right, CompareClock& clock);

// Same dtype, same sizes and the same bits in every element.
bool same_bits(const Tensor& left, const Tensor& right);

}  // namespace tg
