// Expected<T, E>: a value or the reason why there is none. <expected> is empty under C++20.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/check.h"

namespace tg {

// Wraps an error so that it can be told from a value of the same type.
template <typename E>
struct Unexpected {
  E error;
};

template <typename E>
Unexpected(E) -> Unexpected<E>;

// Either a T or an E. Access to the one that is absent is our own fault and CHECK-fails.
template <typename T, typename E>
class [[nodiscard]] Expected {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): `return value;` is the point of the type.
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Expected(Unexpected<E> unexpected) : state_(std::in_place_index<1>, std::move(unexpected.error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  T& value() & {
    TG_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    TG_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    TG_CHECK(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  E& error() & {
    TG_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  const E& error() const& {
    TG_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, E> state_;
};

}  // namespace tg
