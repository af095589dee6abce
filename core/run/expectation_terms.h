// Terms of an expectation and what comparing them gives. Internal to core/run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/compare.h"

namespace tg {

inline constexpr std::string_view kExpectationForms =
    "forms: 'x[1] == 7.0', 'out0.data_ptr != x.data_ptr', 'out0.shape == (2, 3)', 'out0 == x', "
    "'out0.shares(x)'";

Diagnostic bad_expectation(std::string message, std::size_t at, std::size_t length,
                           std::string hint = {});

// Where the bytes of a tensor begin.
struct Pointer {
  const Storage* storage = nullptr;
  std::int64_t offset = 0;
  friend bool operator==(const Pointer&, const Pointer&) = default;
};

// A term after evaluation.
struct Term {
  enum class Kind { Pointer, Value, Sizes, Text } kind = Kind::Value;
  std::string shown;  // as written
  std::string text;   // its value in words, and the content for Kind::Text
  bool literal = false;
  Pointer pointer;
  RuntimeValue value;  // tensor or number
  std::vector<std::int64_t> sizes;
};

enum class Operator { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

// The value of a term in words: its elements when they are few, else dtype and shape.
std::string shown_value(const RuntimeValue& value);

// `left OP right`; `operator_at` is the column of the operator, for diagnostics.
Result<Expectation> evaluate_comparison(Expectation expectation, const Term& left, Operator op,
                                        const Term& right, std::size_t operator_at);

}  // namespace tg
