// Keys of getitem and setitem with tensors, lists and masks in them, resolved to element addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "core/eager/kernel.h"

namespace tg {

// Does the key gather (tensor, list, bool) instead of viewing? A 0-d integer tensor counts as an
// int.
bool has_advanced_key(const RuntimeValue& key);

// Fails the call when a key holds what no tensor can be indexed with: a string, a float.
bool check_key(KernelCall& call, const RuntimeValue& key);

// The elements that a key selects from a tensor, in row-major order of `sizes`.
struct Selection {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> addresses;  // element offsets in the tensor's storage
};
Selection select_advanced(KernelCall& call, const Tensor& tensor, const RuntimeValue& key);

RuntimeValue advanced_getitem(KernelCall& call, const Tensor& tensor, const RuntimeValue& key);

// target[key] = value, as Tensor.__setitem__ does it. `value` is a tensor or a number.
void assign_item(KernelCall& call, Tensor target, const RuntimeValue& key,
                 const RuntimeValue& value);

// The window that a basic key gives; fails the call when the key does not fit.
Tensor basic_getitem(KernelCall& call, const Tensor& tensor, const RuntimeValue& key);

enum class Accumulate { No, Yes };
// target's elements at the addresses = (or +=) `values`, broadcast to the selection.
void put(KernelCall& call, Tensor& target, const Selection& selection, const Tensor& values,
         Accumulate accumulate);

// A number as a 0-d tensor of `dtype`.
Tensor number_tensor(KernelCall& call, const RuntimeValue& number, DType dtype);

}  // namespace tg
