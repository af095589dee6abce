#include "core/run/compare_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/ir/type.h"

namespace tg {
namespace {

// Explicit mantissa bits, smallest normal exponent, and the exponent at which infinity stands.
struct FloatForm {
  int mantissa = 52;
  int min_exponent = -1022;
  int infinity = 1024;
};

FloatForm float_form(DType dtype) {
  switch (dtype) {
    case DType::Float16:
    case DType::Complex32:
      return {10, -14, 16};
    case DType::BFloat16:
      return {7, -126, 128};
    case DType::Float32:
    case DType::Complex64:
      return {23, -126, 128};
    case DType::Float8E5M2:
      return {2, -14, 16};
    case DType::Float8E5M2Fnuz:
      return {2, -15, 16};
    case DType::Float8E4M3Fn:
      return {3, -6, 9};
    case DType::Float8E4M3Fnuz:
      return {3, -7, 8};
    case DType::Float8E8M0Fnu:
      return {0, -127, 128};
    case DType::Float4E2M1FnX2:
      return {1, 0, 3};
    case DType::Float64:
    case DType::Complex128:
    case DType::Bool:
    case DType::UInt8:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
      return {52, -1022, 1024};
  }
  return {};
}

// Position of a number on the line of all numbers of its dtype; neighbours differ by one.
std::int64_t ordinal(double value, FloatForm form) {
  const double magnitude = std::fabs(value);
  std::int64_t position = 0;
  if (form.mantissa == 52) {
    position = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(magnitude));
  } else if (magnitude != 0) {
    int exponent = form.infinity;
    double significand = 1;  // in [1, 2) for normal numbers
    if (std::isfinite(magnitude)) {
      std::frexp(magnitude, &exponent);
      exponent = std::max(exponent - 1, form.min_exponent);
      significand = std::ldexp(magnitude, -exponent);
    }
    position = (static_cast<std::int64_t>(exponent - form.min_exponent) << form.mantissa) +
               static_cast<std::int64_t>(std::ldexp(significand, form.mantissa));
  }
  return std::signbit(value) ? -position : position;
}

std::string index_text(const std::vector<std::int64_t>& index) {
  if (index.empty()) return {};
  return fmt::format("[{}]", fmt::join(index, ", "));
}

Tolerance tolerance_for(const std::string& subject, DType dtype, const CompareOptions& options) {
  for (const auto& [name, tolerance] : options.by_name) {
    if (name == subject) return tolerance;
  }
  if (options.tolerance) return *options.tolerance;
  for (const auto& [known, tolerance] : options.by_dtype) {
    if (known == dtype) return tolerance;
  }
  return default_tolerance(dtype);
}

bool is_exact(DType dtype) {
  return is_integer(dtype) || dtype == DType::Bool;
}

// Same bytes in the same layout: nothing to look at, unless NaN is to differ from itself.
bool same_bytes(const Tensor& left, const Tensor& right, const Tolerance& tolerance) {
  if (left.dtype != right.dtype || !(left.geometry == right.geometry)) return false;
  if (!is_exact(left.dtype) && !tolerance.equal_nan) return false;
  if (!is_contiguous(left.geometry)) {
    // Overlapping windows have more elements than their storage has cells.
    const std::vector<std::byte>& cells = left.storage->bytes;
    const auto in_storage = static_cast<std::int64_t>(cells.size() / size_bytes(left.dtype));
    return in_storage <= left.elements() && cells == right.storage->bytes;
  }
  const std::size_t bytes = static_cast<std::size_t>(left.elements()) * size_bytes(left.dtype);
  if (bytes == 0) return true;
  const auto offset = static_cast<std::size_t>(left.offset_bytes());
  return std::memcmp(left.storage->bytes.data() + offset, right.storage->bytes.data() + offset,
                     bytes) == 0;
}

std::string_view when(DifferenceKind kind) {
  return kind == DifferenceKind::FinalArgument ? " after the run" : "";
}

std::string element_text(const std::complex<double>& value, DType dtype) {
  if (!is_complex(dtype)) return number_text(value.real(), dtype);
  return fmt::format("({}{:+}j)", value.real(), value.imag());
}

void add_difference(std::vector<Difference>& out, DifferenceKind kind, const std::string& subject,
                    std::string message, std::string left, std::string right,
                    bool accepted = false) {
  Difference difference;
  difference.kind = kind;
  difference.subject = subject;
  difference.message = std::move(message);
  difference.left = std::move(left);
  difference.right = std::move(right);
  difference.accepted = accepted;
  out.push_back(std::move(difference));
}

void add_elements(std::vector<Difference>& out, const std::string& subject,
                  const std::string& place, DifferenceKind kind, const ElementCount& count,
                  std::string left, std::string right, std::uint64_t elements) {
  Difference difference;
  difference.kind = kind;
  difference.subject = subject;
  difference.left = std::move(left);
  difference.right = std::move(right);
  difference.max_absolute = count.max_absolute;
  difference.max_relative = count.max_relative;
  difference.differing_elements = count.differing;
  difference.message = fmt::format("{}{} is {} and {}{}", subject, place, difference.left,
                                   difference.right, when(kind));
  if (elements > 1) {
    difference.message += fmt::format(" ({} of {} elements differ, by up to {:.3g})",
                                      count.differing, elements, count.max_absolute);
  }
  difference.index = count.index;
  out.push_back(std::move(difference));
}

void compare_tensors(const std::string& subject, const Tensor& left, const Tensor& right,
                     const CompareOptions& options, DifferenceKind kind, CompareClock& clock,
                     std::vector<Difference>& out) {
  if (left.dtype != right.dtype) {
    add_difference(out, DifferenceKind::DType, subject,
                   fmt::format("{} has dtype {} and {}", subject, torch_name(left.dtype),
                               torch_name(right.dtype)),
                   std::string(torch_name(left.dtype)), std::string(torch_name(right.dtype)));
  }
  if (left.geometry.sizes != right.geometry.sizes) {
    const std::string a = python_tuple(left.geometry.sizes);
    const std::string b = python_tuple(right.geometry.sizes);
    add_difference(out, DifferenceKind::Shape, subject,
                   fmt::format("{} has shape {} and {}", subject, a, b), a, b);
    return;
  }
  if (left.geometry.strides != right.geometry.strides) {
    const std::string a = python_tuple(left.geometry.strides);
    const std::string b = python_tuple(right.geometry.strides);
    add_difference(out, DifferenceKind::Strides, subject,
                   fmt::format("{} has strides {} and {}", subject, a, b), a, b, !options.strides);
  }
  // Of two dtypes the coarser one decides what can be asked of the values.
  Tolerance tolerance = tolerance_for(subject, left.dtype, options);
  const Tolerance other = tolerance_for(subject, right.dtype, options);
  if (other.relative > tolerance.relative) tolerance = other;
  if (same_bytes(left, right, tolerance)) return;

  const auto elements = static_cast<std::uint64_t>(left.elements());
  if (is_exact(left.dtype) && is_exact(right.dtype) && tolerance.relative == 0 &&
      tolerance.absolute == 0) {
    const ElementCount count = count_integers(left, right, clock);
    if (count.differing == 0) return;
    const auto text = [](std::int64_t value, DType dtype) {
      if (dtype == DType::Bool) return std::string(value != 0 ? "True" : "False");
      if (dtype == DType::UInt64) return std::to_string(static_cast<std::uint64_t>(value));
      return std::to_string(value);
    };
    add_elements(out, subject, index_text(count.index), kind, count,
                 text(count.left_integer, left.dtype), text(count.right_integer, right.dtype),
                 elements);
    return;
  }
  if (is_complex(left.dtype) != is_complex(right.dtype))
    return;  // the dtype difference says it all
  const ElementCount count = count_elements(left, right, tolerance, left.dtype, clock);
  if (count.differing == 0) return;
  add_elements(out, subject, index_text(count.index), kind, count,
               element_text(count.left, left.dtype), element_text(count.right, right.dtype),
               elements);
}

std::string_view value_kind(const RuntimeValue& value) {
  if (value.as<Tensor>() != nullptr) return "a tensor";
  if (value.as<NoneValue>() != nullptr) return "None";
  if (value.is_number()) return "a number";
  if (value.as<StringValue>() != nullptr) return "a string";
  if (value.as<Sequence>() != nullptr || value.as<Mapping>() != nullptr) return "a collection";
  return "another object";
}

std::optional<std::complex<double>> as_complex(const RuntimeValue& value) {
  if (const bool* b = value.as<bool>()) return std::complex<double>(*b ? 1 : 0, 0);
  if (const std::int64_t* i = value.as<std::int64_t>())
    return std::complex<double>(static_cast<double>(*i), 0);
  if (const double* d = value.as<double>()) return std::complex<double>(*d, 0);
  if (const std::complex<double>* c = value.as<std::complex<double>>()) return *c;
  return std::nullopt;
}

void compare_numbers(const std::string& subject, const RuntimeValue& left,
                     const RuntimeValue& right, const CompareOptions& options, DifferenceKind kind,
                     std::vector<Difference>& out) {
  const std::complex<double> a = *as_complex(left);
  const std::complex<double> b = *as_complex(right);
  const std::int64_t* left_int = left.as<std::int64_t>();
  const std::int64_t* right_int = right.as<std::int64_t>();
  const bool integers = left_int != nullptr && right_int != nullptr;
  const Tolerance tolerance = tolerance_for(subject, DType::Float64, options);
  const bool same = integers ? *left_int == *right_int
                             : close_enough(a.real(), b.real(), tolerance, DType::Float64) &&
                                   close_enough(a.imag(), b.imag(), tolerance, DType::Float64);
  if (same) return;
  ElementCount count;
  count.differing = 1;
  count.max_absolute = std::abs(a - b);
  if (std::abs(a) != 0) count.max_relative = count.max_absolute / std::abs(a);
  add_elements(out, subject, "", kind, count, value_text(left), value_text(right), 1);
}

}  // namespace

std::string number_text(double value, DType dtype) {
  if (dtype == DType::Bool) return value != 0 ? "True" : "False";
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (is_integer(dtype)) return fmt::format("{:.0f}", value);
  std::string text;
  if (size_bytes(dtype) < 8 || dtype == DType::Complex64) {
    text = fmt::format("{}", static_cast<float>(value));
  } else {
    text = fmt::format("{}", value);
  }
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string value_text(const RuntimeValue& value) {
  if (const bool* b = value.as<bool>()) return *b ? "True" : "False";
  if (const std::int64_t* i = value.as<std::int64_t>()) return std::to_string(*i);
  if (const double* d = value.as<double>()) return number_text(*d, DType::Float64);
  if (const std::complex<double>* c = value.as<std::complex<double>>()) {
    return fmt::format("({}{:+}j)", c->real(), c->imag());
  }
  if (const StringValue* s = value.as<StringValue>()) return fmt::format("'{}'", s->text);
  if (const Tensor* t = value.as<Tensor>()) {
    return fmt::format("{}{}", short_name(t->dtype), python_tuple(t->geometry.sizes));
  }
  if (const Sequence* s = value.as<Sequence>())
    return fmt::format("a {} of {}", s->is_list ? "list" : "tuple", s->items.size());
  if (const Mapping* m = value.as<Mapping>()) return fmt::format("a dict of {}", m->items.size());
  if (const OpaqueValue* o = value.as<OpaqueValue>(); o != nullptr && !o->text.empty())
    return o->text;
  return std::string(value_kind(value));
}

std::uint64_t ulp_distance(double a, double b, DType dtype) {
  const FloatForm form = float_form(dtype);
  const std::int64_t left = ordinal(a, form);
  const std::int64_t right = ordinal(b, form);
  return left > right ? static_cast<std::uint64_t>(left) - static_cast<std::uint64_t>(right)
                      : static_cast<std::uint64_t>(right) - static_cast<std::uint64_t>(left);
}

Tolerance default_tolerance(DType dtype) {
  // torch.testing.assert_close: rtol and atol by dtype; everything else must be equal.
  switch (dtype) {
    case DType::Float16:
    case DType::Complex32:
      return {1e-3, 1e-5, std::nullopt, true};
    case DType::BFloat16:
      return {1.6e-2, 1e-5, std::nullopt, true};
    case DType::Float32:
    case DType::Complex64:
      return {1.3e-6, 1e-5, std::nullopt, true};
    case DType::Float64:
    case DType::Complex128:
      return {1e-7, 1e-7, std::nullopt, true};
    case DType::Bool:
    case DType::UInt8:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
    case DType::Float8E5M2:
    case DType::Float8E5M2Fnuz:
    case DType::Float8E4M3Fn:
    case DType::Float8E4M3Fnuz:
    case DType::Float8E8M0Fnu:
    case DType::Float4E2M1FnX2:
      return {0, 0, std::nullopt, true};
  }
  return {};
}

void compare_value(const std::string& subject, const RuntimeValue& left, const RuntimeValue& right,
                   const CompareOptions& options, DifferenceKind kind, CompareClock& clock,
                   std::vector<Difference>& out) {
  const Tensor* left_tensor = left.as<Tensor>();
  const Tensor* right_tensor = right.as<Tensor>();
  if (left_tensor != nullptr && right_tensor != nullptr) {
    compare_tensors(subject, *left_tensor, *right_tensor, options, kind, clock, out);
    return;
  }
  if (left.is_number() && right.is_number()) {
    compare_numbers(subject, left, right, options, kind, out);
    return;
  }
  const StringValue* left_string = left.as<StringValue>();
  const StringValue* right_string = right.as<StringValue>();
  const bool same_kind = value_kind(left) == value_kind(right);
  if (same_kind && (left_string == nullptr || left_string->text == right_string->text)) return;
  const std::string a = same_kind ? value_text(left) : std::string(value_kind(left));
  const std::string b = same_kind ? value_text(right) : std::string(value_kind(right));
  add_difference(out, DifferenceKind::Structure, subject,
                 fmt::format("{} is {} and {}", subject, a, b), a, b);
}

void compare_outside(const std::string& subject, const Tensor& left, const Tensor& right,
                     const CompareOptions& options, CompareClock& clock,
                     std::vector<Difference>& out) {
  const auto whole = [](const Tensor& window) {
    Tensor tensor = window;
    const std::size_t count = window.storage->bytes.size() / size_bytes(window.dtype);
    tensor.geometry = contiguous_geometry({static_cast<std::int64_t>(count)});
    return tensor;
  };
  const Tensor a = whole(left);
  const Tensor b = whole(right);
  const std::int64_t covered = is_contiguous(left.geometry) ? left.elements() : 0;
  if (covered == a.elements() || left.dtype != right.dtype) return;
  if (left.storage->bytes.size() != right.storage->bytes.size()) return;
  const Tolerance tolerance = tolerance_for(subject, left.dtype, options);
  if (same_bytes(a, b, tolerance)) return;
  const ElementCount count = count_elements(a, b, tolerance, a.dtype, clock);
  if (count.differing == 0) return;
  add_elements(out, subject, fmt::format("'s storage, element {},", count.index.front()),
               DifferenceKind::FinalArgument, count, element_text(count.left, a.dtype),
               element_text(count.right, b.dtype), static_cast<std::uint64_t>(a.elements()));
}

}  // namespace tg
