#include "core/eager/guards.h"

#include <cmath>

#include <fmt/format.h>

#include "core/ir/type.h"

namespace tg {
namespace {

bool is_known(const RuntimeValue& value) {
  return value.as<OpaqueValue>() == nullptr;
}

GuardResult holds() {
  return {};
}

GuardResult unknown() {
  GuardResult result;
  result.checked = false;
  return result;
}

GuardResult refuse(bool holds_here, std::string message, bool asserts = false) {
  GuardResult result;
  if (holds_here) return result;
  result.refused = std::move(message);
  result.asserts = asserts;
  return result;
}

std::optional<std::size_t> length_of(const RuntimeValue& value) {
  if (const Sequence* sequence = value.as<Sequence>()) return sequence->items.size();
  if (const Mapping* mapping = value.as<Mapping>()) return mapping->items.size();
  if (const StringValue* text = value.as<StringValue>()) return text->text.size();
  return std::nullopt;
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// type(a) == type(b) and a == b, or both NaN.
bool same_number(const RuntimeValue& a, const RuntimeValue& b) {
  if (a.value.index() != b.value.index()) return false;
  if (const bool* left = a.as<bool>()) return *left == *b.as<bool>();
  if (const std::int64_t* left = a.as<std::int64_t>()) return *left == *b.as<std::int64_t>();
  if (const double* left = a.as<double>()) {
    const double right = *b.as<double>();
    return *left == right || (std::isnan(*left) && std::isnan(right));
  }
  if (const std::complex<double>* left = a.as<std::complex<double>>())
    return *left == *b.as<std::complex<double>>();
  return false;
}

bool same_device(std::string a, std::string b) {
  // A run is on the CPU whatever the trace says: "cpu", "cuda:0" and "cuda" are one place here.
  const auto kind = [](const std::string& text) { return text.substr(0, text.find(':')); };
  return kind(a) == kind(b);
}

bool same_literal(const RuntimeValue& a, const RuntimeValue& b) {
  if (a.is_number() && b.is_number()) return same_number(a, b);
  if (a.value.index() != b.value.index()) return false;
  if (const DTypeValue* left = a.as<DTypeValue>()) {
    const DTypeValue* right = b.as<DTypeValue>();
    return left->dtype == right->dtype && left->is_number_type == right->is_number_type;
  }
  if (const DeviceValue* left = a.as<DeviceValue>())
    return same_device(left->device, b.as<DeviceValue>()->device);
  if (const StringValue* left = a.as<StringValue>()) return left->text == b.as<StringValue>()->text;
  return python_text(a) == python_text(b);
}

std::string shape_text(const RuntimeValue& value) {
  return python_text(value);
}

// A symbolic size prints as a name and is bound to what the call has.
GuardResult check_tensor(std::span<const RuntimeValue> args) {
  if (args.size() < 4) return unknown();
  if (!is_known(args[0])) return unknown();
  const Tensor* tensor = args[0].as<Tensor>();
  if (tensor == nullptr) {
    return refuse(false, fmt::format("expected Tensor, got {}", python_type(args[0])), true);
  }
  const Sequence* shape = args[1].as<Sequence>();
  const DTypeValue* dtype = args[3].as<DTypeValue>();
  if (shape == nullptr || dtype == nullptr) return unknown();
  bool same = shape->items.size() == tensor->geometry.rank() && dtype->dtype == tensor->dtype;
  for (std::size_t d = 0; same && d < shape->items.size(); ++d) {
    const std::int64_t* size = shape->items[d].as<std::int64_t>();
    same = size == nullptr || *size == tensor->geometry.sizes[d];
  }
  Sequence here;
  for (const std::int64_t size : tensor->geometry.sizes) here.items.push_back({size});
  const std::string device =
      args[2].as<StringValue>() != nullptr ? args[2].as<StringValue>()->text : std::string("cpu");
  const std::string grad = args.size() > 4 ? python_text(args[4]) : "False";
  return refuse(same,
                fmt::format("expected tensor with {}, {}, {}, requires_grad={}, got {}, {}, {}, {}",
                            shape_text(args[1]), device, python_text(args[3]), grad,
                            shape_text({std::move(here)}), device,
                            python_text({DTypeValue{tensor->dtype, false}}), grad),
                true);
}

bool truth(const RuntimeValue& value) {
  if (const bool* flag = value.as<bool>()) return *flag;
  if (const std::int64_t* number = value.as<std::int64_t>()) return *number != 0;
  if (const double* number = value.as<double>()) return *number != 0;
  return true;
}

// The type name that `isinstance` and `type(x) is` are asked about.
std::optional<bool> is_instance(const RuntimeValue& value, const RuntimeValue& type, bool exact) {
  const DTypeValue* number_type = type.as<DTypeValue>();
  if (number_type == nullptr || !number_type->is_number_type) return std::nullopt;
  if (!value.is_number()) return false;
  switch (number_type->dtype) {
    case DType::Bool:
      return value.as<bool>() != nullptr;
    case DType::Int64:  // a bool is an int
      return value.as<std::int64_t>() != nullptr || (!exact && value.as<bool>() != nullptr);
    case DType::Float32:
    case DType::Float64:
      return value.as<double>() != nullptr;
    case DType::Complex64:
    case DType::Complex128:
      return value.as<std::complex<double>>() != nullptr;
    case DType::UInt8:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float8E5M2:
    case DType::Float8E5M2Fnuz:
    case DType::Float8E4M3Fn:
    case DType::Float8E4M3Fnuz:
    case DType::Float8E8M0Fnu:
    case DType::Float4E2M1FnX2:
    case DType::Complex32:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string list_text(const std::vector<RuntimeValue>& items) {
  std::string text;
  for (const RuntimeValue& item : items) {
    if (!text.empty()) text += ", ";
    text += python_text(item);
  }
  return text;
}

}  // namespace

std::string python_type(const RuntimeValue& value) {
  if (value.as<bool>() != nullptr) return "bool";
  if (value.as<std::int64_t>() != nullptr) return "int";
  if (value.as<double>() != nullptr) return "float";
  if (value.as<std::complex<double>>() != nullptr) return "complex";
  if (value.as<StringValue>() != nullptr) return "str";
  if (value.as<Tensor>() != nullptr) return "Tensor";
  if (value.as<NoneValue>() != nullptr) return "NoneType";
  if (const Sequence* sequence = value.as<Sequence>()) return sequence->is_list ? "list" : "tuple";
  if (value.as<Mapping>() != nullptr) return "dict";
  if (value.as<DTypeValue>() != nullptr) return "dtype";
  if (value.as<DeviceValue>() != nullptr) return "device";
  if (value.as<SliceValue>() != nullptr) return "slice";
  if (value.as<EllipsisValue>() != nullptr) return "ellipsis";
  return "object";
}

std::string python_text(const RuntimeValue& value) {
  if (const bool* flag = value.as<bool>()) return *flag ? "True" : "False";
  if (const std::int64_t* number = value.as<std::int64_t>()) return std::to_string(*number);
  if (const double* number = value.as<double>()) return float_text(*number);
  if (const std::complex<double>* number = value.as<std::complex<double>>())
    return fmt::format("({}{:+}j)", number->real(), number->imag());
  if (const StringValue* text = value.as<StringValue>()) return fmt::format("'{}'", text->text);
  if (value.as<Tensor>() != nullptr) return "tensor(...)";
  if (value.as<NoneValue>() != nullptr) return "None";
  if (value.as<EllipsisValue>() != nullptr) return "Ellipsis";
  if (const DTypeValue* dtype = value.as<DTypeValue>()) {
    if (!dtype->is_number_type) return fmt::format("torch.{}", torch_name(dtype->dtype));
    return fmt::format("<class '{}'>", dtype->dtype == DType::Bool      ? "bool"
                                       : dtype->dtype == DType::Int64   ? "int"
                                       : dtype->dtype == DType::Float32 ? "float"
                                                                        : "complex");
  }
  if (const DeviceValue* device = value.as<DeviceValue>()) return device->device;
  if (const OpaqueValue* opaque = value.as<OpaqueValue>()) return opaque->text;
  if (const SliceValue* slice = value.as<SliceValue>())
    return fmt::format("slice({})", list_text(slice->parts));
  if (const Sequence* sequence = value.as<Sequence>()) {
    const std::string items = list_text(sequence->items);
    if (sequence->is_list) return fmt::format("[{}]", items);
    return sequence->items.size() == 1 ? fmt::format("({},)", items) : fmt::format("({})", items);
  }
  if (const Mapping* mapping = value.as<Mapping>()) {
    std::string text;
    for (const MappingItem& item : mapping->items) {
      text +=
          fmt::format("{}'{}': {}", text.empty() ? "" : ", ", item.key, python_text(item.value));
    }
    return fmt::format("{{{}}}", text);
  }
  return "?";
}

GuardResult check_guard(OpCode op, std::span<const RuntimeValue> args) {
  if (args.empty()) return unknown();
  if (op == OpCode::CheckTensorShapeAndMetadata || op == OpCode::CheckTensorMetadata)
    return check_tensor(args);
  const RuntimeValue& value = args[0];
  if (!is_known(value)) return unknown();
  if (op == OpCode::CheckNone) {
    return refuse(value.as<NoneValue>() != nullptr,
                  fmt::format("Expected {} to be None", python_text(value)));
  }
  if (op == OpCode::CheckEmpty) {
    const std::optional<std::size_t> length = length_of(value);
    if (!length) return unknown();
    return refuse(*length == 0, fmt::format("Expected seq={} to be empty", python_text(value)));
  }
  if (args.size() < 2 || !is_known(args[1])) return unknown();
  const RuntimeValue& expected = args[1];
  const std::string here = python_text(value);
  const std::string wanted = python_text(expected);
  if (op == OpCode::CheckLen) {
    const std::optional<std::size_t> length = length_of(value);
    const std::int64_t* size = expected.as<std::int64_t>();
    if (!length || size == nullptr) return unknown();
    return refuse(static_cast<std::int64_t>(*length) == *size,
                  fmt::format("Expected seq={} to be of length {}", here, *size));
  }
  if (op == OpCode::CheckNumberTypeAndValue) {
    return refuse(same_number(value, expected),
                  fmt::format("Expected {} to be equal to and have the type of {}", here, wanted));
  }
  if (op == OpCode::CheckStringValue) {
    const auto content = [](const RuntimeValue& text) {
      return text.as<StringValue>() != nullptr ? text.as<StringValue>()->text : python_text(text);
    };
    return refuse(same_literal(value, expected), fmt::format("Expected '{}' to be equal to '{}'",
                                                             content(value), content(expected)));
  }
  if (op == OpCode::CheckSliceValue) {
    return refuse(here == wanted, fmt::format("Expected '{} to be equal to '{}", here, wanted));
  }
  if (op == OpCode::CheckLiteralLike) {
    return refuse(same_literal(value, expected),
                  fmt::format("Expected {} to be equal to {}", here, wanted));
  }
  if (op == OpCode::CheckBoolConversion) {
    const bool* flag = expected.as<bool>();
    if (flag == nullptr || !value.is_number()) return unknown();
    return refuse(truth(value) == *flag, "", true);
  }
  if (op == OpCode::CheckType || op == OpCode::CheckInstance) {
    const bool exact = op == OpCode::CheckType;
    std::vector<RuntimeValue> types{expected};
    if (const Sequence* several = expected.as<Sequence>()) types = several->items;
    bool any = false;
    for (const RuntimeValue& type : types) {
      const std::optional<bool> fits = is_instance(value, type, exact);
      if (!fits) return unknown();
      any = any || *fits;
    }
    return refuse(any,
                  exact ? fmt::format("Expected {} to be have the type {}", here, wanted)
                        : fmt::format("Expected {} to be an instance of one of {}", here, wanted));
  }
  return holds();
}

}  // namespace tg
