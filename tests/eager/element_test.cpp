#include "core/eager/element.h"

#include <cmath>
#include <limits>

#include "core/eager/kernel.h"
#include "eager_support.h"

namespace tg {
namespace {

TEST(Element, BFloat16RoundsToNearestEven) {
  EXPECT_EQ(BFloat16::round(1.00390625F).widen(), 1.0F);       // half way, even below
  EXPECT_EQ(BFloat16::round(1.01171875F).widen(), 1.015625F);  // half way, even above
  EXPECT_EQ(BFloat16::round(3.4e38F).widen(), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(BFloat16::round(std::numeric_limits<float>::quiet_NaN()).widen()));
}

TEST(Element, EveryFloat16SurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const float wide = half.widen();
    if (std::isnan(wide)) continue;
    ASSERT_EQ(Float16::round(wide).bits, half.bits) << bits;
  }
}

TEST(Element, Float16Subnormals) {
  EXPECT_EQ(Float16{0x0001}.widen(), std::ldexp(1.0F, -24));
  EXPECT_EQ(Float16::round(std::ldexp(1.5F, -24)).bits, 0x0002U);  // tie to even
  EXPECT_EQ(Float16::round(65520.0F).widen(), std::numeric_limits<float>::infinity());
}

TEST(Element, Float8OverflowGivesNanWithoutSaturation) {
  EXPECT_EQ(Float8E4M3Fn::round(464.0F).widen(), 448.0F);
  EXPECT_TRUE(std::isnan(Float8E4M3Fn::round(465.0F).widen()));
  EXPECT_EQ(Float8E5M2::round(6e4F).widen(), 57344.0F);
  EXPECT_EQ(Float8E4M3Fnuz::round(-0.0F).bits, 0U);
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    const Float8E4M3Fn small{static_cast<std::uint8_t>(bits)};
    if (std::isnan(small.widen())) continue;
    ASSERT_EQ(Float8E4M3Fn::round(small.widen()).bits, small.bits) << bits;
  }
}

TEST(Element, IntegersWrapAndFloatsTruncate) {
  EXPECT_EQ(Narrow<std::int8_t>::from(std::int64_t{300}), 44);
  EXPECT_EQ(Narrow<std::int32_t>::from(-2.9), -2);
  EXPECT_EQ(Narrow<BoolByte>::from(std::numeric_limits<double>::quiet_NaN()).bits, 1);
}

TEST(Promotion, FollowsPyTorch) {
  EXPECT_EQ(promote(DType::UInt8, DType::Int8), DType::Int16);
  EXPECT_EQ(promote(DType::Int64, DType::BFloat16), DType::BFloat16);
  EXPECT_EQ(promote(DType::BFloat16, DType::Float16), DType::Float32);
  EXPECT_EQ(promote(DType::BFloat16, DType::Complex32), DType::Complex64);
  EXPECT_EQ(promote(DType::Float64, DType::Complex64), DType::Complex128);
  EXPECT_FALSE(can_cast(DType::Float32, DType::Int64));
  EXPECT_FALSE(can_cast(DType::Int64, DType::Bool));
  EXPECT_TRUE(can_cast(DType::Bool, DType::Float32));
}

TEST(Element, WhatDoesNotFitInt32IsItsSmallest) {
  const RunResult result =
      must_run("t0 = Tensor.to(x, torch.int32)\nt1 = Tensor.to(x, torch.int64)\nreturn (t0, t1)",
               {{"x", {vector_of({std::numeric_limits<double>::quiet_NaN(), 3e9, -2.5})}}});
  EXPECT_EQ(output(result, 0), (Doubles{-2147483648.0, -2147483648.0, -2}));
  EXPECT_EQ(output(result, 1)[1], 3e9);
}

}  // namespace
}  // namespace tg
