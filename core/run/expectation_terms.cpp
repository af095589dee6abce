#include "core/run/expectation_terms.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/run/compare_values.h"

namespace tg {
namespace {

bool ordered(Operator op, double left, double right) {
  switch (op) {
    case Operator::Equal:
      return left == right || (std::isnan(left) && std::isnan(right));
    case Operator::NotEqual:
      return !(left == right || (std::isnan(left) && std::isnan(right)));
    case Operator::Less:
      return left < right;
    case Operator::LessEqual:
      return left <= right;
    case Operator::Greater:
      return left > right;
    case Operator::GreaterEqual:
      return left >= right;
  }
  return false;
}

// One number, rounded to the other side's dtype when it is a literal: x[1] == 0.1 means 0.1 as an
// f32.
std::optional<double> scalar(const Term& term, const Term& other) {
  if (const Tensor* tensor = term.value.as<Tensor>()) {
    if (tensor->elements() != 1 || is_complex(tensor->dtype)) return std::nullopt;
    return values_as_double(*tensor).front();
  }
  double value = 0;
  if (const double* d = term.value.as<double>()) {
    value = *d;
  } else if (const std::int64_t* i = term.value.as<std::int64_t>()) {
    value = static_cast<double>(*i);
  } else if (const bool* b = term.value.as<bool>()) {
    value = *b ? 1 : 0;
  } else {
    return std::nullopt;
  }
  const Tensor* model = other.value.as<Tensor>();
  if (!term.literal || model == nullptr || !is_float(model->dtype)) return value;
  Tensor rounded = make_tensor(model->dtype, {});
  fill_from_double(rounded, {value});
  return values_as_double(rounded).front();
}

std::string canonical(const std::string& text) {
  const std::optional<DType> dtype = parse_dtype(text);
  return dtype ? std::string(torch_name(*dtype)) : text;
}

std::string facts(const Term& left, const Term& right) {
  std::string text;
  for (const Term* term : {&left, &right}) {
    if (term->literal) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} is {}", term->shown, term->text);
  }
  return text.empty() ? fmt::format("{} and {}", left.text, right.text) : text;
}

Result<Expectation> evaluate_values(Expectation expectation, const Term& left, Operator op,
                                    const Term& right, std::size_t operator_at) {
  expectation.explanation = facts(left, right);
  const std::optional<double> a = scalar(left, right);
  const std::optional<double> b = scalar(right, left);
  if (a && b) {
    expectation.holds = ordered(op, *a, *b);
    return expectation;
  }
  if (op != Operator::Equal && op != Operator::NotEqual) {
    return Unexpected{bad_expectation(
        fmt::format("'{}' and '{}' are no single numbers, use == or !=", left.shown, right.shown),
        operator_at, 2, std::string(kExpectationForms))};
  }
  // Whole tensors: equal element by element, bit for bit up to the sign of zero.
  CompareOptions exact;
  exact.tolerance = Tolerance{};
  std::vector<Difference> differences;
  RuntimeValue other = right.value;
  if (right.literal && a == std::nullopt && right.value.as<double>() != nullptr) {
    const Tensor* tensor = left.value.as<Tensor>();
    if (tensor != nullptr && !is_complex(tensor->dtype)) {  // `x == 0.0`: every element
      Tensor filled = make_tensor(tensor->dtype, {});
      fill_from_double(filled, {*right.value.as<double>()});
      filled.geometry.sizes = tensor->geometry.sizes;
      filled.geometry.strides.assign(filled.geometry.rank(), 0);
      other = {filled};
    }
  }
  CompareClock clock{RunLimits{}};
  compare_value(left.shown, left.value, other, exact, DifferenceKind::Values, clock, differences);
  if (clock.stopped() && differences.empty()) {
    return Unexpected{bad_expectation(
        fmt::format("'{}' and '{}' are too large to be compared", left.shown, right.shown),
        operator_at, 2, "")};
  }
  std::erase_if(differences, [](const Difference& difference) { return difference.accepted; });
  expectation.holds = differences.empty() == (op == Operator::Equal);
  expectation.explanation = differences.empty()
                                ? fmt::format("{} and {} are equal", left.shown, right.shown)
                                : differences.front().message;
  return expectation;
}

}  // namespace

Diagnostic bad_expectation(std::string message, std::size_t at, std::size_t length,
                           std::string hint) {
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::BadExpectation;
  diagnostic.message = std::move(message);
  diagnostic.at = {1, static_cast<std::uint32_t>(at + 1),
                   static_cast<std::uint32_t>(std::max<std::size_t>(length, 1))};
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

std::string shown_value(const RuntimeValue& value) {
  const Tensor* tensor = value.as<Tensor>();
  if (tensor == nullptr || tensor->elements() > 16 || is_complex(tensor->dtype))
    return value_text(value);
  const std::vector<double> values = values_as_double(*tensor);
  if (tensor->geometry.rank() == 0) return number_text(values.front(), tensor->dtype);
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += (i > 0 ? ", " : "") + number_text(values[i], tensor->dtype);
  }
  return text + "]";
}

Result<Expectation> evaluate_comparison(Expectation expectation, const Term& left, Operator op,
                                        const Term& right, std::size_t operator_at) {
  const bool equality = op == Operator::Equal || op == Operator::NotEqual;
  const auto decide = [&](bool equal) { return equal == (op == Operator::Equal); };
  const auto refuse = [&](std::string message) -> Result<Expectation> {
    return Unexpected{
        bad_expectation(std::move(message), operator_at, 2, std::string(kExpectationForms))};
  };
  if (left.kind != right.kind)
    return refuse(fmt::format("'{}' and '{}' cannot be compared", left.shown, right.shown));
  if (left.kind == Term::Kind::Value)
    return evaluate_values(std::move(expectation), left, op, right, operator_at);
  if (!equality) return refuse(fmt::format("'{}' has no order, use == or !=", left.shown));
  if (left.kind == Term::Kind::Pointer) {
    const bool equal = left.pointer == right.pointer;
    expectation.holds = decide(equal);
    const bool same_storage = left.pointer.storage == right.pointer.storage;
    expectation.explanation =
        equal ? fmt::format("{} and {} are the same", left.shown, right.shown)
              : fmt::format("{} and {} differ: {}", left.shown, right.shown,
                            same_storage ? fmt::format("one storage, {} bytes apart",
                                                       right.pointer.offset - left.pointer.offset)
                                         : std::string("storages of their own"));
    return expectation;
  }
  const bool equal = left.kind == Term::Kind::Sizes ? left.sizes == right.sizes
                                                    : canonical(left.text) == canonical(right.text);
  expectation.holds = decide(equal);
  expectation.explanation = facts(left, right);
  return expectation;
}

}  // namespace tg
