// From an operation to its kernel, and the storage effects that operations share.
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/kernel_table.h"

namespace tg {
namespace {

constexpr std::uint32_t kWithoutKernel = kNoKernel | kGuard | kContextManager;

// A row that claims a kernel and has none does not link; a discarded branch needs no definition.
constexpr std::size_t kRowCount = 2
#define TG_OP(name, id, spellings, schema, traits) +1
#define TG_OP_INPLACE(name, id, spellings, schema, twin) +1
#include "core/ir/ops.def"
#undef TG_OP
#undef TG_OP_INPLACE
    ;

std::array<Kernel, kRowCount> make_table() {
  std::array<Kernel, kRowCount> table{};
#define TG_OP(name, id, spellings, schema, traits)                 \
  if constexpr (((traits)&kWithoutKernel) == 0) {                  \
    table[static_cast<std::size_t>(OpCode::name)] = kernel_##name; \
  }
#define TG_OP_INPLACE(name, id, spellings, schema, twin)
#include "core/ir/ops.def"
#undef TG_OP
#undef TG_OP_INPLACE
#define TG_OP(name, id, spellings, schema, traits)
#define TG_OP_INPLACE(name, id, spellings, schema, twin) \
  table[static_cast<std::size_t>(OpCode::name)] = table[static_cast<std::size_t>(OpCode::twin)];
#include "core/ir/ops.def"
#undef TG_OP
#undef TG_OP_INPLACE
  return table;
}

bool overlaps_partially(const Tensor& written, const Tensor& read) {
  return written.storage == read.storage &&
         torch_refuses_overlap(written.geometry, size_bytes(written.dtype), read.geometry,
                               size_bytes(read.dtype));
}

void check_operands(KernelCall& call, const Tensor& target) {
  for (const RuntimeValue& value : call.args()) {
    const Tensor* read = value.as<Tensor>();
    if (read != nullptr && overlaps_partially(target, *read)) {
      call.raise(
          "unsupported operation: some elements of the input tensor and the written-to tensor "
          "refer to a "
          "single memory location. Please clone() the tensor before performing the operation.");
    }
  }
}

RuntimeValue write_result(KernelCall& call, Kernel kernel, const Tensor& target,
                          std::uint32_t twin_traits) {
  const bool uniform = (twin_traits & kUniform) != 0;
  if ((twin_traits & kElementwise) != 0) check_operands(call, target);
  if (!uniform && torch_refuses_self_overlap(target.geometry)) {
    write_into(call, target, target);  // for its message
  }
  if (call.failed()) return {};
  const RuntimeValue result = kernel(call);
  if (call.failed()) return {};
  const Tensor* value = result.as<Tensor>();
  if (value == nullptr) {
    call.bad_program(fmt::format("'{}' has no tensor to write", call.callee()));
    return {};
  }
  write_into(call, *value, target, !uniform);
  return {target};
}

}  // namespace

std::string_view scalar_type_name(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "Bool";
    case DType::UInt8:
      return "Byte";
    case DType::UInt16:
      return "UInt16";
    case DType::UInt32:
      return "UInt32";
    case DType::UInt64:
      return "UInt64";
    case DType::Int8:
      return "Char";
    case DType::Int16:
      return "Short";
    case DType::Int32:
      return "Int";
    case DType::Int64:
      return "Long";
    case DType::Float16:
      return "Half";
    case DType::BFloat16:
      return "BFloat16";
    case DType::Float32:
      return "Float";
    case DType::Float64:
      return "Double";
    case DType::Float8E5M2:
      return "Float8_e5m2";
    case DType::Float8E5M2Fnuz:
      return "Float8_e5m2fnuz";
    case DType::Float8E4M3Fn:
      return "Float8_e4m3fn";
    case DType::Float8E4M3Fnuz:
      return "Float8_e4m3fnuz";
    case DType::Float8E8M0Fnu:
      return "Float8_e8m0fnu";
    case DType::Float4E2M1FnX2:
      return "Float4_e2m1fn_x2";
    case DType::Complex32:
      return "ComplexHalf";
    case DType::Complex64:
      return "ComplexFloat";
    case DType::Complex128:
      return "ComplexDouble";
  }
  return "";
}

Kernel kernel_of(OpCode op) {
  static const std::array<Kernel, kRowCount> table = make_table();
  return table[static_cast<std::size_t>(op)];
}

void write_into(KernelCall& call, const Tensor& value, Tensor target, bool check_overlap) {
  if (call.failed()) return;
  if (check_overlap && torch_refuses_self_overlap(target.geometry)) {
    call.raise(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory "
        "location. Please clone() the tensor before performing the operation.");
    return;
  }
  if (!can_cast(value.dtype, target.dtype)) {
    call.raise(fmt::format("result type {} can't be cast to the desired output type {}",
                           scalar_type_name(value.dtype), scalar_type_name(target.dtype)));
    return;
  }
  if (value.geometry.sizes != target.geometry.sizes) {
    call.raise(fmt::format("output with shape [{}] doesn't match the broadcast shape [{}]",
                           fmt::join(target.geometry.sizes, ", "),
                           fmt::join(value.geometry.sizes, ", ")));
    return;
  }
  copy_values(value, target);
  ++target.storage->version;
}

RuntimeValue run_operation(KernelCall& call) {
  const OpInfo& op = call.op();
  const Kernel kernel = kernel_of(op.code);
  if (kernel == nullptr) {
    call.not_supported(fmt::format("'{}' has no kernel", call.callee()));
    return {};
  }
  if (call.failed()) return {};
  if (op.has(kInPlace)) {
    const Tensor* target = call.args()[static_cast<std::size_t>(op.mutated_param)].as<Tensor>();
    if (target == nullptr) {
      call.bad_program(
          fmt::format("'{}' writes its first argument, which must be a tensor", call.callee()));
      return {};
    }
    const Tensor kept = *target;
    if (!info(op.twin).has(kKeyedWrite))
      return write_result(call, kernel, kept, info(op.twin).traits);
    call.writes_target = true;
    kernel(call);
    if (call.failed()) return {};
    ++kept.storage->version;
    // Python's method has no result; Thunder's symbol of the same row has one.
    if (call.name() == "__setitem__") return {};
    return {kept};
  }
  if (op.inplace_flag >= 0 && call.flag("inplace")) {
    const Tensor* target = call.args().front().as<Tensor>();
    if (target != nullptr) {
      const Tensor kept = *target;
      return write_result(call, kernel, kept, op.traits);
    }
  }
  return kernel(call);
}

RuntimeValue kernel_CopyInto(KernelCall& call) {
  const Tensor from = call.tensor("copy_from");
  const Tensor to = call.tensor("copy_to");
  if (call.failed()) return {};
  copy_into(call, from, to);
  return {to};
}

RuntimeValue kernel_TensorCopyInto(KernelCall& call) {
  const Tensor to = call.tensor("a");
  Tensor from;
  if (number_of(call.arg("b"))) {
    from = call.allocate(to.dtype, std::vector<std::int64_t>{});
    if (!call.failed() && is_complex(to.dtype)) {
      fill_from_double(from, {call.number("b"), 0});
    } else if (!call.failed()) {
      fill_from_double(from, {call.number("b")});
    }
  } else {
    from = call.tensor("b");
  }
  if (call.failed()) return {};
  copy_into(call, from, to);
  return {to};
}

void copy_into(KernelCall& call, const Tensor& from, Tensor to) {
  const Geometry& a = from.geometry;
  const Geometry& b = to.geometry;
  const bool same_window = from.storage == to.storage && a == b && from.dtype == to.dtype;
  if (same_window) return;
  bool fits = a.rank() <= b.rank();
  for (std::size_t d = 0; fits && d < a.rank(); ++d) {
    const std::int64_t size = a.sizes[a.rank() - 1 - d];
    fits = size == 1 || size == b.sizes[b.rank() - 1 - d];
  }
  if (!fits) {
    call.raise(fmt::format(
        "The size of the written tensor [{}] does not fit the size of the read tensor [{}]",
        fmt::join(b.sizes, ", "), fmt::join(a.sizes, ", ")));
    return;
  }
  if (torch_refuses_self_overlap(to.geometry)) {
    call.raise(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory "
        "location. Please clone() the tensor before performing the operation.");
    return;
  }
  if (overlaps_partially(to, from)) {
    call.raise(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer "
        "to a "
        "single memory location. Please clone() the tensor before performing the operation.");
    return;
  }
  copy_values(from, to);
  ++to.storage->version;
}

}  // namespace tg
