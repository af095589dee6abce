// The common forms of elementwise kernels: one or two operands called `a` and `b`, a plain functor.
#pragma once

#include "core/eager/elementwise.h"

namespace tg {

// PyTorch declares both operands of some operations as tensors: a number there is a TypeError.
bool refuses_number(KernelCall& call);

template <template <typename> class Op>
auto plain() {
  return []<typename T>(T) { return Op<T>{}; };
}

template <template <typename> class Op>
RuntimeValue unary(KernelCall& call, ResultType type) {
  return elementwise(call, {operand(call, "a")}, type, plain<Op>());
}

template <template <typename> class Op>
RuntimeValue binary(KernelCall& call, ResultType type) {
  return elementwise(call, {operand(call, "a"), operand(call, "b")}, type, plain<Op>());
}

// A parameter as the computation type.
template <typename T>
T parameter(double value) {
  return convert_compute<T>(value);
}

inline bool is_bool_tensor(const Operand& operand) {
  return operand.tensor != nullptr && operand.tensor->dtype == DType::Bool;
}

}  // namespace tg
