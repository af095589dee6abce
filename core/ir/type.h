// Types as type comments give them ("cpu f32[2, 3]", "int 3", "Collection"). The text is kept, since
// types of later Thunder versions must print back unchanged; the parts that we understand are parsed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/dtype.h"

namespace tg {

enum class TypeKind : std::uint8_t {
  Unknown, Tensor, FutureTensor, DistributedTensor, Int, Float, Bool, Complex, String, Collection, Any,
  Class, Opaque,
};

struct Type {
  TypeKind kind = TypeKind::Unknown;
  std::string text;    // the whole type without quotes: "cpu f32[2, 3]"
  std::string device;  // "cpu", "cuda:0"; tensors only
  std::optional<DType> dtype;               // tensors; empty when the abbreviation is unknown
  std::optional<std::vector<std::int64_t>> shape;  // tensors; empty when a dim has no known number
  std::string problem; // what is wrong with a tensor's type ("size -1 is negative"); dtype or shape is empty then
  std::string value;   // numbers: the text after "int ", "?" when Thunder did not know it

  // A tensor whose dtype and every dim are known, so that bytes can be counted.
  [[nodiscard]] bool is_concrete_tensor() const {
    return is_tensor() && dtype.has_value() && shape.has_value();
  }
  [[nodiscard]] bool is_tensor() const {
    return kind == TypeKind::Tensor || kind == TypeKind::FutureTensor ||
           kind == TypeKind::DistributedTensor;
  }
  friend bool operator==(const Type& a, const Type& b) { return a.text == b.text; }
};

// Types repeat massively in a trace: statements share them. Null means "no type was printed".
using TypeRef = std::shared_ptr<const Type>;

// Never fails: what is not understood becomes Opaque with its text.
// A symbolic dim "[IntegerProxy name=i0, value=2, ...]" counts as its value.
Type parse_type(std::string_view text);

// "cpu f32[2, 3]"
TypeRef tensor_type(std::string_view device, DType dtype, const std::vector<std::int64_t>& shape);

// Elements of a shape (1 for rank 0); empty if the product does not fit in 63 bits or a dim is negative.
std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape);

// Bytes of a concrete tensor type, empty otherwise.
std::optional<std::uint64_t> type_bytes(const Type& type);

// Shape in Python spelling: "()", "(4,)", "(2, 2)".
std::string python_tuple(const std::vector<std::int64_t>& shape);

}  // namespace tg
