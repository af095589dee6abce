// The engine of elementwise kernels: type promotion, broadcasting and output strides as PyTorch's
// TensorIterator has them; the arithmetic comes as a functor of scalar_ops.h.
#pragma once

#include <type_traits>

#include "core/eager/element.h"
#include "core/eager/kernel.h"
#include "core/eager/scalar_ops.h"

namespace tg {

// A tensor or a Python number.
struct Operand {
  const Tensor* tensor = nullptr;
  Number number = std::int64_t{0};
};

// How the result's dtype follows from the promoted dtype.
enum class ResultType : std::uint8_t {
  Promoted,
  FloatPromoted,  // integers become the default float type
  Bool,           // compared in the promoted dtype
  RealPart,       // complex gives its real dtype
};

// torch.result_type of the operands: dimensioned tensors, then 0-d tensors, then numbers.
DType result_type(std::span<const Operand> operands);
// Reads an argument that may be a tensor or a number.
Operand operand(KernelCall& call, std::string_view name);
// The broadcast shape; fails the call when shapes do not fit.
std::vector<std::int64_t> broadcast_shape(KernelCall& call, std::span<const Operand> operands);
// Strides of a fresh elementwise result.
Geometry elementwise_geometry(const std::vector<std::int64_t>& sizes,
                              std::span<const Operand> operands);

using BlockFunction = void (*)(const void* const* in, void* out, std::int64_t count,
                               const void* op);

struct ElementwisePlan {
  std::vector<Operand> operands;
  std::vector<std::shared_ptr<const Tensor>>
      converted;                  // keeps 0-d operands that were rounded to `common`
  DType common = DType::Float32;  // operands are converted to it
  DType result = DType::Float32;
  Compute compute = Compute::Float;
  Geometry geometry;
  bool all_numbers = false;  // the result is a Python number
};

// `computed` overrides promotion: where() promotes two of its three operands.
ElementwisePlan plan_elementwise(KernelCall& call, std::vector<Operand> operands, ResultType type,
                                 std::optional<DType> computed = std::nullopt);
RuntimeValue execute(KernelCall& call, const ElementwisePlan& plan, BlockFunction block,
                     const void* op, Compute result_compute);

template <typename T>
constexpr Compute compute_of() {
  if constexpr (std::is_same_v<T, float>) return Compute::Float;
  if constexpr (std::is_same_v<T, double>) return Compute::Double;
  if constexpr (std::is_same_v<T, std::int64_t>) return Compute::Int;
  if constexpr (std::is_same_v<T, Complex<float>>) return Compute::ComplexFloat;
  if constexpr (std::is_same_v<T, Complex<double>>) return Compute::ComplexDouble;
  if constexpr (std::is_same_v<T, bool>) return Compute::Bool;
}

template <typename T>
constexpr unsigned domain_of() {
  if constexpr (kIsComplex<T>) return scalar::kComplex;
  if constexpr (kIsFloating<T>) return scalar::kReal;
  return scalar::kInt;
}

template <typename Op, typename T>
void apply_block(const void* const* in, void* out, std::int64_t count, const void* op) {
  const Op& f = *static_cast<const Op*>(op);
  const T* a = static_cast<const T*>(in[0]);
  if constexpr (std::is_invocable_v<Op, T>) {
    using R = std::invoke_result_t<Op, T>;
    R* to = static_cast<R*>(out);
    for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i]);
  } else if constexpr (std::is_invocable_v<Op, T, T>) {
    using R = std::invoke_result_t<Op, T, T>;
    R* to = static_cast<R*>(out);
    const T* b = static_cast<const T*>(in[1]);
    for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i], b[i]);
  } else {
    using R = std::invoke_result_t<Op, T, T, T>;
    R* to = static_cast<R*>(out);
    const T* b = static_cast<const T*>(in[1]);
    const T* c = static_cast<const T*>(in[2]);
    for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i], b[i], c[i]);
  }
}

template <typename Op, typename T>
constexpr Compute result_compute() {
  if constexpr (std::is_invocable_v<Op, T>) return compute_of<std::invoke_result_t<Op, T>>();
  if constexpr (std::is_invocable_v<Op, T, T>) return compute_of<std::invoke_result_t<Op, T, T>>();
  if constexpr (std::is_invocable_v<Op, T, T, T>)
    return compute_of<std::invoke_result_t<Op, T, T, T>>();
}

// "add_cpu" not implemented for 'Bool'
void refuse_dtype(KernelCall& call, DType dtype);

template <typename T, typename Make>
RuntimeValue run_plan(KernelCall& call, const ElementwisePlan& plan, const Make& make) {
  using Op = decltype(make(T{}));
  if constexpr ((Op::kDomain & domain_of<T>()) != 0) {
    const Op op = make(T{});
    return execute(call, plan, apply_block<Op, T>, &op, result_compute<Op, T>());
  } else {
    refuse_dtype(call, plan.common);
    return {};
  }
}

// `make(T{})` gives the functor for the computation type T.
template <typename Make>
RuntimeValue elementwise(KernelCall& call, std::vector<Operand> operands, ResultType type,
                         const Make& make, std::optional<DType> computed = std::nullopt) {
  if (call.failed()) return {};
  const ElementwisePlan plan = plan_elementwise(call, std::move(operands), type, computed);
  if (call.failed()) return {};
  switch (plan.compute) {
    case Compute::Float:
      return run_plan<float>(call, plan, make);
    case Compute::Double:
      return run_plan<double>(call, plan, make);
    case Compute::Bool:
    case Compute::Int:
      return run_plan<std::int64_t>(call, plan, make);
    case Compute::ComplexFloat:
      return run_plan<Complex<float>>(call, plan, make);
    case Compute::ComplexDouble:
      return run_plan<Complex<double>>(call, plan, make);
  }
  return {};
}

// A number as the computation type has it.
template <typename T>
T scalar_as(const Number& number) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::complex<double>>) {
          return convert_compute<T>(Complex<double>{value.real(), value.imag()});
        } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>) {
          return convert_compute<T>(static_cast<std::int64_t>(value));
        } else {
          return convert_compute<T>(value);
        }
      },
      number);
}

}  // namespace tg
