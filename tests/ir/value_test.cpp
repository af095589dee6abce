#include "core/ir/value.h"

#include <gtest/gtest.h>

#include "core/ir/type.h"

namespace tg {
namespace {

TEST(Value, PrintsAsPythonDoes) {
  EXPECT_EQ(to_text(Value::tuple({Value::name("a")})), "(a,)");
  EXPECT_EQ(to_text(Value::tuple({})), "()");
  EXPECT_EQ(to_text(Value::list({Value::name("a"), Value::integer(3)})), "[a, 3]");
  EXPECT_EQ(to_text(Value::keyword("dim", Value::none())), "dim=None");
  EXPECT_EQ(to_text(Value::string("it's")), "\"it's\"");
  EXPECT_EQ(to_text(Value::int_tuple({2, 3})), "(2, 3)");
}

TEST(Type, ReadsTensorsNumbersAndSymbolicDims) {
  const Type tensor = parse_type("cuda:0 f32[2, 4]");
  EXPECT_EQ(tensor.kind, TypeKind::Tensor);
  EXPECT_EQ(tensor.device, "cuda:0");
  EXPECT_EQ(tensor.dtype, DType::Float32);
  EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(type_bytes(tensor), 32U);
  EXPECT_EQ(parse_type("cpu f32[]").shape, std::vector<std::int64_t>{});
  EXPECT_EQ(parse_type("int 3").value, "3");
  const Type symbolic =
      parse_type("cpu f32[[IntegerProxy name=i0, value=2, static=CONSTRAINT.CONSTRAINABLE], 4]");
  EXPECT_EQ(symbolic.shape, (std::vector<std::int64_t>{2, 4}));
  EXPECT_FALSE(parse_type("cpu f32[i0, 4]").shape.has_value());
  EXPECT_EQ(parse_type("something new").kind, TypeKind::Opaque);
}

TEST(Type, ElementCountDoesNotOverflow) {
  EXPECT_EQ(element_count(std::vector<std::int64_t>{1'000'000'000'000, 1'000'000'000'000}), std::nullopt);
  EXPECT_EQ(element_count(std::vector<std::int64_t>{0, 1'000'000'000'000, 1'000'000'000'000}), 0);
}

}  // namespace
}  // namespace tg
