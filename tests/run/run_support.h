// Small results for the tests of compare and expectations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/run/compare.h"

namespace tg::test {

inline Tensor tensor(DType dtype, const std::vector<std::int64_t>& sizes,
                     const std::vector<double>& values) {
  Tensor result = make_tensor(dtype, sizes);
  fill_from_double(result, values);
  return result;
}

inline Tensor f32(const std::vector<double>& values) {
  return tensor(DType::Float32, {static_cast<std::int64_t>(values.size())}, values);
}

// A window of `size` elements from `offset` on the storage of `base`.
inline Tensor window(const Tensor& base, std::int64_t offset, std::int64_t size) {
  Tensor result = base;
  result.geometry = contiguous_geometry({size});
  result.geometry.offset = offset;
  return result;
}

inline RunResult result_of(std::vector<NamedValue> arguments, std::vector<RuntimeValue> outputs) {
  RunResult result;
  result.final_arguments = std::move(arguments);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result.outputs.push_back({"out[" + std::to_string(i) + "]", std::move(outputs[i])});
  }
  return result;
}

inline RunResult returning(RuntimeValue value) {
  return result_of({}, {std::move(value)});
}

// "kind-independent": the messages of all differences that count, in order.
inline std::vector<std::string> messages(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const Difference& difference : comparison.differences) {
    if (!difference.accepted) texts.push_back(difference.message);
  }
  return texts;
}

inline std::vector<std::string> notes(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const Difference& difference : comparison.differences) {
    if (difference.accepted) texts.push_back(difference.message);
  }
  return texts;
}

}  // namespace tg::test
