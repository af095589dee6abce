// Kernels: what an operation does with values. One per row of ops.def, found through kernel_of.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/eager/interpreter.h"
#include "core/eager/strided.h"

namespace tg {

// What the statements of one run share.
struct RunContext {
  RunLimits limits;
  std::stop_token stop;
  std::chrono::steady_clock::time_point deadline;
  // Bytes of the storages that live now. Shared with the storages, which may outlive the run.
  std::shared_ptr<std::uint64_t> live_bytes = std::make_shared<std::uint64_t>(0);
  std::uint64_t random_state = 0;
  std::uint32_t next_storage = 0;
  bool used_random = false;

  // Next 64 random bits (splitmix64).
  std::uint64_t random_bits();
};

// A storage of `bytes` zero bytes, counted against the limit; null when it does not fit.
std::shared_ptr<Storage> allocate_storage(RunContext& run, std::uint64_t bytes);

// A Python number.
using Number = std::variant<bool, std::int64_t, double, std::complex<double>>;
std::optional<Number> number_of(const RuntimeValue& value);
double to_double(const Number& number);
// c10::Scalar may become this dtype: integers in range (a negative one wraps in unsigned types),
// no infinity in an integer, no complex number in a real type.
bool fits_dtype(const Number& number, DType dtype);
std::string_view cpp_type_name(DType dtype);  // "int8_t", as the refusal prints it
RuntimeValue to_value(const Number& number);

// One call: arguments by parameter name of the operation's schema. Errors stick: after the first
// one the accessors give harmless defaults, and the result is thrown away. Ask failed() before
// touching memory whose size came from an argument.
class KernelCall {
 public:
  KernelCall(RunContext& run, const OpInfo& op, std::string_view callee)
      : run_(run), op_(op), callee_(callee) {}

  // Binds printed arguments to the schema's parameters and fills in defaults.
  void bind(std::vector<RuntimeValue> positional, std::vector<NamedValue> keywords);

  [[nodiscard]] RunContext& run() const { return run_; }
  [[nodiscard]] const OpInfo& op() const { return op_; }
  [[nodiscard]] std::string_view callee() const { return callee_; }
  // "add_" of "ltorch.add_": how PyTorch's messages call it.
  [[nodiscard]] std::string_view name() const { return base_name(callee_); }
  [[nodiscard]] std::span<const RuntimeValue> args() const { return args_; }

  [[nodiscard]] const RuntimeValue& arg(std::string_view name) const;
  [[nodiscard]] bool is_none(std::string_view name) const {
    return arg(name).as<NoneValue>() != nullptr;
  }
  const Tensor& tensor(std::string_view name);
  const Tensor* optional_tensor(std::string_view name);  // null for None
  std::vector<Tensor> tensors(std::string_view name);
  std::int64_t integer(std::string_view name);
  double number(std::string_view name);
  bool flag(std::string_view name);
  std::string text(std::string_view name);            // of a string; empty for None
  std::optional<DType> dtype(std::string_view name);  // float -> f32, as torch.get_default_dtype()
  std::vector<std::int64_t> integers(std::string_view name);  // a lone number counts as one
  // Dims of a reduction, wrapped and sorted: None and () mean all.
  std::vector<std::size_t> dims(std::string_view name, std::size_t rank);
  std::size_t dim(std::string_view name, std::size_t rank);
  // Wraps a dim counted from the end.
  std::size_t wrap_dim(std::int64_t dim, std::size_t rank);

  // A zero filled tensor with these strides, offset 0. Fails the call when the memory limit forbids
  // it.
  Tensor allocate(DType dtype, const Geometry& geometry);
  Tensor allocate(DType dtype, const std::vector<std::int64_t>& sizes);
  // Same values, dtype changed where needed; always fresh, strides as PyTorch's cast gives them.
  Tensor cast(const Tensor& tensor, DType dtype);
  // Checks that scratch memory for `count` values of `bytes_each` may be had.
  bool reserve(std::int64_t count, std::size_t bytes_each);
  // All elements in row-major order; empty when the memory limit forbids it (an expanded tensor may
  // have 10**18).
  std::vector<std::int64_t> all_integers(const Tensor& tensor);
  std::vector<double> all_doubles(const Tensor& tensor);

  void raise(std::string message, std::string type = "RuntimeError");  // PyTorch raises too
  void not_supported(std::string message);
  void bad_program(std::string message);
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const std::optional<RunError>& error() const { return error_; }
  // Takes over the error of a call made on this call's behalf.
  void adopt(const KernelCall& inner) {
    if (!error_) error_ = inner.error_;
  }
  // Time is up or the run was stopped; fails the call then. Ask it in long loops.
  bool interrupted();

  // Sets an argument to None.
  void forget(std::string_view name);

  bool writes_target =
      false;  // the in-place form of an operation that writes where its key selects

 private:
  void fail(RunErrorKind kind, std::string type, std::string message);

  RunContext& run_;
  const OpInfo& op_;
  std::string_view callee_;
  std::vector<RuntimeValue> args_;
  std::optional<RunError> error_;
};

// The result; meaningless when call.failed().
using Kernel = RuntimeValue (*)(KernelCall& call);

// Null for rows with kNoKernel, guards, context managers and fusions. In-place rows give their
// twin's kernel.
Kernel kernel_of(OpCode op);

// Runs the call's kernel with the operation's storage effect: in-place forms write their target and
// give it back, flag forms write when the flag is set.
RuntimeValue run_operation(KernelCall& call);

// Writes `value` through `target`'s strides as PyTorch's in-place operations do: result dtype must
// be castable, shapes must broadcast, `target` must not overlap itself.
void write_into(KernelCall& call, const Tensor& value, Tensor target, bool check_overlap = true);

// Tensor.copy_: broadcast and any dtype conversion; PyTorch's refusals of overlapping memory.
void copy_into(KernelCall& call, const Tensor& from, Tensor to);

// ---- type promotion

DType promote(DType a, DType b);                 // torch.promote_types
std::string_view scalar_type_name(DType dtype);  // c10::toString: "Float", as messages print it
bool can_cast(DType from, DType to);             // torch.can_cast, the rule of in-place results
DType real_of(DType complex_or_real);
DType complex_of(DType real);

}  // namespace tg
