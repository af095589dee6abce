// Kernels of views, maybe-views, casts and identities: the geometry comes from view_outcome, the
// rule that the alias analysis uses too.
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/indexing.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

// An argument as view_outcome reads it. Devices are left out: a run has one device.
Value as_value(const RuntimeValue& value, bool inside_key) {
  if (const bool* flag = value.as<bool>()) return Value::boolean(*flag);
  if (const std::int64_t* integer = value.as<std::int64_t>()) return Value::integer(*integer);
  if (const double* real = value.as<double>())
    return Value::leaf(ValueKind::Float, fmt::format("{}", *real));
  if (const StringValue* text = value.as<StringValue>()) return Value::string(text->text);
  if (const DTypeValue* dtype = value.as<DTypeValue>()) {
    return Value::leaf(ValueKind::Dotted, fmt::format("torch.{}", torch_name(dtype->dtype)));
  }
  if (value.as<EllipsisValue>() != nullptr) return Value::leaf(ValueKind::Ellipsis, "...");
  if (const OpaqueValue* opaque = value.as<OpaqueValue>())
    return Value::leaf(ValueKind::Dotted, opaque->text);
  if (const Tensor* tensor = value.as<Tensor>()) {
    std::vector<Value> sizes;
    for (const std::int64_t size : tensor->geometry.sizes) sizes.push_back(Value::integer(size));
    return inside_key ? Value::list(std::move(sizes)) : Value::tuple(std::move(sizes));
  }
  std::vector<Value> items;
  if (const SliceValue* slice = value.as<SliceValue>()) {
    for (const RuntimeValue& part : slice->parts) items.push_back(as_value(part, inside_key));
    return Value::call("slice", std::move(items));
  }
  if (const Sequence* sequence = value.as<Sequence>()) {
    for (const RuntimeValue& item : sequence->items) {
      // split([t0]) and shapes hold 0-d tensors and numbers alike.
      const Tensor* tensor = item.as<Tensor>();
      if (tensor != nullptr && !inside_key && tensor->elements() == 1) {
        items.push_back(Value::integer(values_as_int(*tensor).front()));
      } else {
        items.push_back(as_value(item, inside_key));
      }
    }
    return sequence->is_list ? Value::list(std::move(items)) : Value::tuple(std::move(items));
  }
  return Value::none();
}

std::vector<Value> argument_values(const KernelCall& call) {
  std::vector<Value> values;
  const std::vector<Param>& params = call.op().params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const bool is_key = params[i].name == "key";
    const RuntimeValue& arg = call.args()[i];
    // An integer parameter may come as a 0-d tensor.
    const Tensor* tensor = arg.as<Tensor>();
    if (tensor != nullptr && params[i].type == "int" && tensor->elements() == 1) {
      values.push_back(
          Value::keyword(params[i].name, Value::integer(values_as_int(*tensor).front())));
      continue;
    }
    values.push_back(Value::keyword(params[i].name, as_value(arg, is_key)));
  }
  return values;
}

// The dtype that the result of a view has when it is not the viewed tensor's.
DType viewed_dtype(const KernelCall& call, DType dtype) {
  const OpCode op = call.op().code;
  if (op == OpCode::View || op == OpCode::Bitcast) {
    for (const RuntimeValue& arg : call.args()) {
      if (const DTypeValue* to = arg.as<DTypeValue>()) return to->dtype;
    }
  }
  if (op == OpCode::Real || op == OpCode::RealPrim || op == OpCode::Imag ||
      op == OpCode::ImagPrim || op == OpCode::ViewAsReal)
    return real_of(dtype);
  if (op == OpCode::ViewAsComplex) return complex_of(dtype);
  return dtype;
}

bool fits_storage(const Tensor& tensor) {
  const ElementSpan span = element_span(tensor.geometry);
  const auto bytes = static_cast<std::int64_t>(size_bytes(tensor.dtype));
  std::int64_t end = 0;
  if (__builtin_mul_overflow(span.end, bytes, &end)) return false;
  return span.begin >= 0 && end <= static_cast<std::int64_t>(tensor.storage->bytes.size());
}

RuntimeValue run_view(KernelCall& call, std::optional<DType> cast_to = std::nullopt) {
  const OpInfo& op = call.op();
  const std::string_view viewed_name = op.params[static_cast<std::size_t>(op.viewed_param)].name;
  const Tensor& viewed = call.tensor(viewed_name);
  if (call.failed()) return {};
  const std::vector<Value> values = argument_values(call);
  ViewedFacts facts;
  facts.dtype = viewed.dtype;
  const Expected<ViewOutcome, std::string> outcome =
      view_outcome(op.code, viewed.geometry, values, size_bytes(viewed.dtype), facts);
  if (!outcome) {
    const bool index = outcome.error().find("ut of range") != std::string::npos ||
                       outcome.error().find("out of bounds") != std::string::npos ||
                       outcome.error().find("too many indices") != std::string::npos ||
                       outcome.error().find("applied to a 0-dim tensor") != std::string::npos;
    const bool step = outcome.error() == "step must be greater than zero";
    call.raise(outcome.error(), index ? "IndexError" : step ? "ValueError" : "RuntimeError");
    return {};
  }
  if (outcome->kind == ViewOutcome::Kind::Unknown || outcome->outputs.empty()) {
    call.bad_program(fmt::format("'{}' cannot be read with these arguments", call.callee()));
    return {};
  }
  if (outcome->kind == ViewOutcome::Kind::Copy) {
    Tensor copy = call.allocate(cast_to.value_or(viewed.dtype), outcome->outputs.front());
    if (call.failed()) return {};
    if (copy.geometry.sizes == viewed.geometry.sizes) {
      copy_values(viewed, copy);
    } else {  // reshape: row-major order stays
      Tensor same_order = copy;
      same_order.geometry = contiguous_geometry(viewed.geometry.sizes);
      copy_values(viewed, same_order);
    }
    return {std::move(copy)};
  }
  Sequence results;
  for (const Geometry& geometry : outcome->outputs) {
    Tensor result = viewed;
    result.geometry = geometry;
    result.dtype = viewed_dtype(call, viewed.dtype);
    if (!fits_storage(result)) {
      call.raise(fmt::format(
          "setStorage: sizes [{}], strides [{}], storage offset {}, and itemsize {} requiring a "
          "storage size of {} are out of bounds for storage of size {}",
          fmt::join(geometry.sizes, ", "), fmt::join(geometry.strides, ", "), geometry.offset,
          size_bytes(result.dtype),
          element_span(geometry).end * static_cast<std::int64_t>(size_bytes(result.dtype)),
          result.storage->bytes.size()));
      return {};
    }
    results.items.push_back({std::move(result)});
  }
  const bool several = op.schema.ends_with("[]");
  if (several) return {std::move(results)};
  return std::move(results.items.front());
}

// to(float32), to("cpu", float32), to(other)
RuntimeValue run_to(KernelCall& call) {
  std::optional<DType> wanted;
  for (const std::string_view name :
       {"tensor_dtype_or_device", "optional_positional_dtype", "dtype"}) {
    if (const DTypeValue* dtype = call.arg(name).as<DTypeValue>()) wanted = dtype->dtype;
  }
  if (const Tensor* like = call.arg("tensor_dtype_or_device").as<Tensor>()) {
    const Tensor& a = call.tensor("a");
    if (call.failed()) return {};
    if (a.dtype == like->dtype && !call.flag("copy")) return {a};
    return {call.cast(a, like->dtype)};
  }
  // A device given as a string means the only device there is.
  for (const std::string_view name : {"tensor_dtype_or_device", "device"}) {
    if (call.arg(name).as<StringValue>() != nullptr) call.forget(name);
  }
  return run_view(call, wanted);
}

}  // namespace

#define TG_VIEW_KERNEL(NAME)                     \
  RuntimeValue kernel_##NAME(KernelCall& call) { \
    return run_view(call);                       \
  }
TG_VIEW_KERNEL(Contiguous)
TG_VIEW_KERNEL(StrideOrder)
TG_VIEW_KERNEL(Bitcast)
TG_VIEW_KERNEL(Detach)
TG_VIEW_KERNEL(BroadcastInDim)
TG_VIEW_KERNEL(SlicePrim)
TG_VIEW_KERNEL(SqueezePrim)
TG_VIEW_KERNEL(TransposePrim)
TG_VIEW_KERNEL(ReshapePrim)
TG_VIEW_KERNEL(View)
TG_VIEW_KERNEL(ViewAs)
TG_VIEW_KERNEL(Reshape)
TG_VIEW_KERNEL(ReshapeAs)
TG_VIEW_KERNEL(Flatten)
TG_VIEW_KERNEL(Unflatten)
TG_VIEW_KERNEL(Expand)
TG_VIEW_KERNEL(ExpandAs)
TG_VIEW_KERNEL(Permute)
TG_VIEW_KERNEL(Movedim)
TG_VIEW_KERNEL(Transpose)
TG_VIEW_KERNEL(T)
TG_VIEW_KERNEL(Select)
TG_VIEW_KERNEL(Squeeze)
TG_VIEW_KERNEL(Unsqueeze)
TG_VIEW_KERNEL(Narrow)
TG_VIEW_KERNEL(Unfold)
TG_VIEW_KERNEL(Diagonal)
TG_VIEW_KERNEL(AsStrided)
TG_VIEW_KERNEL(Real)
TG_VIEW_KERNEL(RealPrim)
TG_VIEW_KERNEL(ImagPrim)
TG_VIEW_KERNEL(Imag)
TG_VIEW_KERNEL(ViewAsReal)
TG_VIEW_KERNEL(ViewAsComplex)
TG_VIEW_KERNEL(Chunk)
TG_VIEW_KERNEL(Split)
TG_VIEW_KERNEL(TensorSplit)
TG_VIEW_KERNEL(Unbind)
#undef TG_VIEW_KERNEL

// adjoint of a complex tensor only sets a flag in PyTorch; storages here have none.
RuntimeValue kernel_MatrixTranspose(KernelCall& call) {
  if (call.name() == "adjoint" && is_complex(call.tensor("a").dtype))
    call.not_supported("adjoint of a complex tensor");
  return call.failed() ? RuntimeValue{} : run_view(call);
}
RuntimeValue kernel_To(KernelCall& call) {
  return run_to(call);
}
RuntimeValue kernel_ToFloat(KernelCall& call) {
  return run_view(call, DType::Float32);
}
RuntimeValue kernel_ToDouble(KernelCall& call) {
  return run_view(call, DType::Float64);
}
RuntimeValue kernel_ToHalf(KernelCall& call) {
  return run_view(call, DType::Float16);
}
RuntimeValue kernel_ToBfloat16(KernelCall& call) {
  return run_view(call, DType::BFloat16);
}
RuntimeValue kernel_ToLong(KernelCall& call) {
  return run_view(call, DType::Int64);
}
RuntimeValue kernel_ToInt(KernelCall& call) {
  return run_view(call, DType::Int32);
}
RuntimeValue kernel_TypeAs(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const DType wanted = call.tensor("b").dtype;
  if (call.failed()) return {};
  if (a.dtype == wanted) return {a};
  return {call.cast(a, wanted)};
}
// A run has one device, so the tensor is where it is wanted.
RuntimeValue kernel_DevicePut(KernelCall& call) {
  return {call.tensor("a")};
}

RuntimeValue kernel_AsStridedCopy(KernelCall& call) {
  KernelCall view(call.run(), info(OpCode::AsStrided), call.callee());
  view.bind({call.args().begin(), call.args().end()}, {});
  const RuntimeValue window = run_view(view);
  call.adopt(view);
  if (call.failed()) return {};
  Tensor result = call.allocate(window.as<Tensor>()->dtype, window.as<Tensor>()->geometry.sizes);
  if (!call.failed()) copy_values(*window.as<Tensor>(), result);
  return {std::move(result)};
}

RuntimeValue kernel_Getitem(KernelCall& call) {
  if (!check_key(call, call.arg("key"))) return {};
  if (has_advanced_key(call.arg("key")))
    return advanced_getitem(call, call.tensor("a"), call.arg("key"));
  return run_view(call);
}

RuntimeValue kernel_UpdateAliases(KernelCall& call) {
  return call.arg("tensors");
}
RuntimeValue kernel_ShallowCopy(KernelCall& call) {
  return {call.tensor("a")};
}

// Numbers convert as int(), float() do; tensors always to fresh memory (Thunder's executor passes
// copy=True).
RuntimeValue kernel_ConvertElementType(KernelCall& call) {
  const std::optional<DType> dtype = call.dtype("dtype");
  if (!dtype) {
    if (!call.failed()) call.bad_program("convert_element_type needs a dtype");
    return {};
  }
  if (const std::optional<Number> number = number_of(call.arg("a"))) {
    if (*dtype == DType::Bool) return {to_double(*number) != 0};
    if (is_complex(*dtype)) return {std::complex<double>(to_double(*number), 0)};
    if (is_float(*dtype)) return {to_double(*number)};
    if (const std::int64_t* integer = std::get_if<std::int64_t>(&*number)) return {*integer};
    return {static_cast<std::int64_t>(to_double(*number))};
  }
  const Tensor& a = call.tensor("a");
  if (call.failed()) return {};
  return {call.cast(a, *dtype)};
}

RuntimeValue kernel_Clone(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  if (call.failed()) return {};
  Geometry geometry = dense_like(a.geometry);
  if (const OpaqueValue* format = call.arg("memory_format").as<OpaqueValue>()) {
    if (format->text == "torch.contiguous_format") geometry = contiguous_geometry(a.geometry.sizes);
    if (format->text == "torch.channels_last" && a.geometry.rank() == 4) {
      geometry = ordered_geometry(a.geometry.sizes, {1, 3, 2, 0});
    }
  }
  Tensor result = call.allocate(a.dtype, geometry);
  if (call.failed()) return {};
  copy_values(a, result);
  return {std::move(result)};
}

}  // namespace tg
