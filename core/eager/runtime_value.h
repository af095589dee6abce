// RuntimeValue: what a name is bound to while a trace runs.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/eager/storage.h"

namespace tg {

struct RuntimeValue;
struct MappingItem;

struct NoneValue {};
struct EllipsisValue {};
struct StringValue {
  std::string text;
};
struct DTypeValue {
  DType dtype;
  bool is_number_type = false;
};  // torch.float32; `float` has is_number_type
struct DeviceValue {
  std::string device;
};
struct SliceValue {
  std::vector<RuntimeValue> parts;
};  // start, stop, step
struct OpaqueValue {
  std::string text;
};  // context objects: _torch_memory_format_0
struct Sequence {
  bool is_list = false;
  std::vector<RuntimeValue> items;
};
struct Mapping {
  std::vector<MappingItem> items;
};  // keys as content, in order

struct RuntimeValue {
  std::variant<NoneValue, bool, std::int64_t, double, std::complex<double>, Tensor, StringValue,
               DTypeValue, DeviceValue, SliceValue, EllipsisValue, OpaqueValue, Sequence, Mapping>
      value;

  template <typename T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value);
  }
  template <typename T>
  [[nodiscard]] T* as() {
    return std::get_if<T>(&value);
  }
  [[nodiscard]] bool is_number() const {
    return as<bool>() || as<std::int64_t>() || as<double>() || as<std::complex<double>>();
  }
};

struct MappingItem {
  std::string key;
  RuntimeValue value;
};

// Calls f(const Tensor&) for every tensor inside, in order (dicts in sorted key order).
template <typename F>
void for_each_tensor(const RuntimeValue& value, F&& f) {
  if (const Tensor* tensor = value.as<Tensor>()) {
    f(*tensor);
  } else if (const Sequence* sequence = value.as<Sequence>()) {
    for (const RuntimeValue& item : sequence->items) for_each_tensor(item, f);
  } else if (const Mapping* mapping = value.as<Mapping>()) {
    for (const auto& [key, item] : mapping->items) for_each_tensor(item, f);
  }
}

}  // namespace tg
