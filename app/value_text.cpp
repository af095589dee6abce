#include "app/value_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/program_view.h"
#include "core/run/compare_values.h"

namespace tg {
namespace {

std::string tensor_kind(const Tensor& tensor) {
  return fmt::format("{}[{}]", short_name(tensor.dtype), fmt::join(tensor.geometry.sizes, ", "));
}

// The tensor's first rows only, so that a big one costs nothing.
struct ElementReader {
  const Tensor& tensor;

  [[nodiscard]] std::string at(std::int64_t offset) const {
    Tensor one = tensor;
    one.geometry.sizes.clear();
    one.geometry.strides.clear();
    one.geometry.offset = offset;
    if (tensor.dtype == DType::Bool) return values_as_int(one).front() != 0 ? "True" : "False";
    if (is_integer(tensor.dtype)) return fmt::format("{}", values_as_int(one).front());
    const std::vector<double> parts = values_as_double(one);
    if (!is_complex(tensor.dtype)) return number_text(parts.front(), tensor.dtype);
    return value_text(RuntimeValue{std::complex<double>(parts[0], parts[1])});
  }

  void append(std::string& out, std::size_t dim, std::int64_t offset, std::size_t& left) const {
    const Geometry& geometry = tensor.geometry;
    if (dim == geometry.rank()) {
      out += at(offset);
      if (left > 0) --left;
      return;
    }
    out += '[';
    for (std::int64_t i = 0; i < geometry.sizes[dim]; ++i) {
      if (i > 0) out += ", ";
      if (left == 0) {
        out += "...";
        break;
      }
      append(out, dim + 1, offset + i * geometry.strides[dim], left);
    }
    out += ']';
  }
};

}  // namespace

std::string kind_text(const RuntimeValue& value) {
  if (const Tensor* tensor = value.as<Tensor>()) return tensor_kind(*tensor);
  if (value.as<bool>() != nullptr) return "bool";
  if (value.as<std::int64_t>() != nullptr) return "int";
  if (value.as<double>() != nullptr) return "float";
  if (value.as<std::complex<double>>() != nullptr) return "complex";
  if (value.as<NoneValue>() != nullptr) return "None";
  if (value.as<StringValue>() != nullptr) return "str";
  if (const Sequence* sequence = value.as<Sequence>()) {
    return fmt::format("{} of {}", sequence->is_list ? "list" : "tuple", sequence->items.size());
  }
  if (const Mapping* mapping = value.as<Mapping>())
    return fmt::format("dict of {}", mapping->items.size());
  return "object";
}

std::string elements_text(const RuntimeValue& value, std::size_t most) {
  const Tensor* tensor = value.as<Tensor>();
  if (tensor == nullptr) return value_text(value);
  if (tensor->storage == nullptr) return "";
  std::string out;
  std::size_t left = most;
  ElementReader{*tensor}.append(out, 0, tensor->geometry.offset, left);
  return out;
}

std::string summary_text(const RuntimeValue& value) {
  const Tensor* tensor = value.as<Tensor>();
  constexpr std::int64_t kShownWhole = 8;
  if (tensor == nullptr || tensor->elements() <= kShownWhole || is_complex(tensor->dtype)) {
    return fmt::format("{} {}", kind_text(value), elements_text(value));
  }
  double least = INFINITY, most = -INFINITY, sum = 0;
  std::size_t nan = 0;
  const std::vector<double> values = values_as_double(*tensor);
  for (const double element : values) {
    if (std::isnan(element)) {
      ++nan;
      continue;
    }
    least = std::min(least, element);
    most = std::max(most, element);
    sum += element;
  }
  if (nan == values.size()) return fmt::format("{} all nan", kind_text(value));
  std::string out = fmt::format("{} min {:.6g} max {:.6g} mean {:.6g}", kind_text(value), least,
                                most, sum / static_cast<double>(values.size() - nan));
  if (nan > 0) out += fmt::format(", {} nan", nan);
  return out;
}

std::string disagreement(const RuntimeValue& value, const Type& type) {
  if (const Tensor* tensor = value.as<Tensor>()) {
    if (!type.is_concrete_tensor()) return "";
    if (*type.dtype == tensor->dtype && *type.shape == tensor->geometry.sizes) return "";
    return fmt::format("{} where the text says {}[{}]", tensor_kind(*tensor),
                       short_name(*type.dtype), fmt::join(*type.shape, ", "));
  }
  const std::string traced = trace_time_value(type);
  if (traced.empty() || !value.is_number()) return "";
  const std::string now = value_text(value);
  return now == traced ? "" : fmt::format("{}, at trace time {}", now, traced);
}

}  // namespace tg
