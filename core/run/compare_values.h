// Element-wise comparison of two values. Internal to core/run.
#pragma once

#include <optional>
#include <string>

#include "core/run/compare.h"
#include "core/run/element_compare.h"

namespace tg {

// Python's spelling of one element: "7.0", "nan", "-3", "True", "(1-2j)". Floats are as short as
// their dtype allows.
std::string number_text(double value, DType dtype);
std::string value_text(const RuntimeValue& value);

// Units in the last place of `dtype` between two finite or infinite numbers of that dtype.
std::uint64_t ulp_distance(double a, double b, DType dtype);

// Differences of one pair of values: structure, dtype, shape, strides, elements. `kind` is the
// class of an element difference: Values or FinalArgument.
void compare_value(const std::string& subject, const RuntimeValue& left, const RuntimeValue& right,
                   const CompareOptions& options, DifferenceKind kind, CompareClock& clock,
                   std::vector<Difference>& out);

// The elements of one storage that lie outside `window`; both storages must have the same number of
// bytes.
void compare_outside(const std::string& subject, const Tensor& left, const Tensor& right,
                     const CompareOptions& options, CompareClock& clock,
                     std::vector<Difference>& out);

}  // namespace tg
