// Rows: a tensor cut along some dims. Reductions, scans, softmax and norms work row by row.
#pragma once

#include <cstdint>
#include <vector>

#include "core/eager/kernel.h"

namespace tg {

// Reads the rows of a tensor one after another, in row-major order of the other dims, widened to C.
class RowReader {
 public:
  RowReader(const Tensor& tensor, const std::vector<std::size_t>& row_dims, Compute compute);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t row_length() const { return length_; }
  // Sizes of the dims that are not in the row.
  [[nodiscard]] const std::vector<std::int64_t>& outer_sizes() const { return outer_sizes_; }
  // Fills `out` (row_length elements of the computation type) with the next row.
  void next(void* out);

 private:
  const Tensor& tensor_;
  std::vector<std::int64_t> outer_sizes_;
  std::vector<std::int64_t> outer_strides_;
  std::vector<std::int64_t> inner_sizes_;
  std::vector<std::int64_t> inner_strides_;
  std::vector<std::int64_t> at_;
  std::int64_t offset_ = 0;
  std::int64_t rows_ = 1;
  std::int64_t length_ = 1;
  std::size_t step_bytes_ = 1;
  LoadBlock load_ = nullptr;
};

// Sizes after a reduction over `dims`.
std::vector<std::int64_t> reduced_sizes(const Geometry& geometry,
                                        const std::vector<std::size_t>& dims, bool keepdim);

}  // namespace tg
