#include "core/run/compare.h"

#include <cmath>

#include <gmock/gmock.h>

#include "core/run/compare_values.h"
#include "tests/run/run_support.h"

namespace tg {
namespace {

using test::f32;
using test::messages;
using test::notes;
using test::result_of;
using test::returning;
using test::tensor;
using testing::ElementsAre;
using testing::IsEmpty;

Comparison compare_outputs(RuntimeValue left, RuntimeValue right,
                           const CompareOptions& options = {}) {
  return compare(returning(std::move(left)), returning(std::move(right)), options);
}

TEST(CompareValues, EqualTensorsAreTheSame) {
  const Comparison comparison = compare_outputs({f32({1, 2, 3})}, {f32({1, 2, 3})});
  EXPECT_EQ(comparison.verdict, VerdictKind::Same);
  EXPECT_THAT(comparison.differences, IsEmpty());
}

TEST(CompareValues, TheWitnessIsTheWorstElementWithItsIndex) {
  const Comparison comparison = compare_outputs({tensor(DType::Float32, {2, 2}, {1, 2, 3, 4})},
                                                {tensor(DType::Float32, {2, 2}, {1, 2.5, 9, 4})});
  EXPECT_EQ(comparison.verdict, VerdictKind::Different);
  ASSERT_EQ(comparison.differences.size(), 1U);
  const Difference& difference = comparison.differences.front();
  EXPECT_EQ(difference.message, "out[0][1, 0] is 3.0 and 9.0 (2 of 4 elements differ, by up to 6)");
  EXPECT_THAT(difference.index, ElementsAre(1, 0));
  EXPECT_EQ(difference.differing_elements, 2U);
  EXPECT_EQ(difference.max_absolute, 6.0);
  EXPECT_EQ(difference.max_relative, 2.0);
}

TEST(CompareValues, DefaultsAreThoseOfTorchTesting) {
  // assert_close: f32 rtol 1.3e-6, atol 1e-5
  EXPECT_EQ(compare_outputs({f32({1000.0})}, {f32({1000.001})}).verdict, VerdictKind::Same);
  EXPECT_EQ(compare_outputs({f32({1000.0})}, {f32({1000.01})}).verdict, VerdictKind::Different);
  EXPECT_EQ(compare_outputs({f32({0.0})}, {f32({9e-6})}).verdict, VerdictKind::Same);
  EXPECT_EQ(compare_outputs({f32({0.0})}, {f32({2e-5})}).verdict, VerdictKind::Different);
  const auto half = [](double value) { return RuntimeValue{tensor(DType::Float16, {1}, {value})}; };
  EXPECT_EQ(compare_outputs(half(1.0), half(1.0 + 1.0 / 1024)).verdict, VerdictKind::Same);
  EXPECT_EQ(compare_outputs(half(1.0), half(1.0 + 2.0 / 1024)).verdict, VerdictKind::Different);
}

Tensor expanded(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                const std::vector<double>& cells) {
  Tensor result = f32(cells);
  result.geometry.sizes = std::move(sizes);
  result.geometry.strides = std::move(strides);
  return result;
}

TEST(CompareValues, ExpandedTensorsAreComparedCellByCell) {
  const auto huge = [](double last) {
    return RuntimeValue{expanded({100000000, 3, 2}, {0, 2, 1}, {1, 2, 3, 4, 5, last})};
  };
  EXPECT_EQ(compare_outputs(huge(6), huge(6)).verdict, VerdictKind::Same);
  const Comparison comparison = compare_outputs(huge(6), huge(7));
  EXPECT_THAT(messages(comparison),
              ElementsAre("out[0][0, 2, 1] is 6.0 and 7.0 (100000000 of 600000000 elements differ, "
                          "by up to 1)"));
}

TEST(CompareValues, StopsAtTheTimeLimitOfTheRun) {
  constexpr std::int64_t kSide = std::int64_t{1} << 20;
  const std::vector<double> ones(kSide, 1.0);
  const RunResult left = returning({expanded({kSide, kSide}, {0, 1}, ones)});
  RunResult right = returning({expanded({kSide, kSide}, {1, 0}, ones)});
  right.limits.time = std::chrono::milliseconds(20);
  const Comparison comparison = compare(left, right);
  EXPECT_EQ(comparison.verdict, VerdictKind::NotEstablished);
  EXPECT_EQ(comparison.why, "comparison stopped at the time limit");
}

TEST(CompareValues, OverlappingWindowsOfEqualStoragesAreTheSame) {
  const auto windows = [] {
    return RuntimeValue{
        expanded({1 << 20, 1 << 20}, {1, 1}, std::vector<double>(std::size_t{1} << 21, 1.0))};
  };
  EXPECT_EQ(compare_outputs(windows(), windows()).verdict, VerdictKind::Same);
}

TEST(CompareValues, TransposedTensorsKeepTheOrderOfTheReader) {
  CompareOptions exact;
  exact.tolerance = Tolerance{};
  const Tensor plain = tensor(DType::Float32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor turned = expanded({2, 3}, {1, 2}, {1, 9, 2, 5, 8, 6});
  EXPECT_THAT(messages(compare_outputs({plain}, {turned}, exact)),
              ElementsAre("out[0][0, 2] is 3.0 and 8.0 (2 of 6 elements differ, by up to 5)"));
}

TEST(CompareValues, AComplexElementCountsOnce) {
  const Tensor left = tensor(DType::Complex64, {2}, {1, 2, 3, 4});
  const Tensor right = tensor(DType::Complex64, {2}, {1, 2, 5, 5});
  EXPECT_THAT(messages(compare_outputs({left}, {right})),
              ElementsAre("out[0][1] is (3+4j) and (5+5j) (1 of 2 elements differ, by up to 2)"));
}

TEST(SameBits, LooksAtEachCellOnce) {
  const Tensor huge = expanded({1000000000, 2}, {0, 1}, {1, 2});
  EXPECT_TRUE(same_bits(huge, expanded({1000000000, 2}, {0, 1}, {1, 2})));
  EXPECT_FALSE(same_bits(huge, expanded({1000000000, 2}, {0, 1}, {1, 3})));
  EXPECT_TRUE(same_bits(f32({1, 2}), detached_copy(f32({1, 2}))));
}

TEST(DetachedCopy, IsNeverLargerThanTheStorage) {
  const Tensor copy = detached_copy(expanded({1000000000, 2}, {0, 1}, {1, 2}));
  EXPECT_EQ(copy.storage->bytes.size(), 8U);
  EXPECT_THAT(copy.geometry.sizes, ElementsAre(1000000000, 2));
  const Tensor windows = expanded({3, 2}, {1, 1}, {1, 2, 3, 4});
  EXPECT_EQ(detached_copy(windows).storage->bytes.size(), 16U);
  EXPECT_EQ(values_as_double(detached_copy(windows)), (std::vector<double>{1, 2, 2, 3, 3, 4}));
}

TEST(CompareValues, AGivenToleranceReplacesTheDefaults) {
  CompareOptions exact;
  exact.tolerance = Tolerance{};
  EXPECT_EQ(compare_outputs({f32({1.0})}, {f32({1.0000001})}, exact).verdict,
            VerdictKind::Different);
  CompareOptions wide;
  wide.by_name = {{"out[0]", {0.5, 0, std::nullopt, true}}};
  EXPECT_EQ(compare_outputs({f32({1.0})}, {f32({1.4})}, wide).verdict, VerdictKind::Same);
}

TEST(CompareValues, UlpCountsRepresentableNumbersOfTheDtype) {
  EXPECT_EQ(ulp_distance(1.0, std::nextafter(1.0F, 2.0F), DType::Float32), 1U);
  EXPECT_EQ(ulp_distance(1.0, std::nextafter(1.0F, 0.0F), DType::Float32), 1U);
  EXPECT_EQ(ulp_distance(0.0, -0.0, DType::Float32), 0U);
  EXPECT_EQ(ulp_distance(-std::numeric_limits<float>::denorm_min(),
                         std::numeric_limits<float>::denorm_min(), DType::Float32),
            2U);
  EXPECT_EQ(ulp_distance(std::numeric_limits<float>::max(), INFINITY, DType::Float32), 1U);
  EXPECT_EQ(ulp_distance(2048, 2050, DType::Float16), 1U);
  EXPECT_EQ(ulp_distance(1.0, 1.0 + 1.0 / 128, DType::BFloat16), 1U);
  EXPECT_EQ(ulp_distance(1.0, std::nextafter(1.0, 2.0), DType::Float64), 1U);

  CompareOptions options;
  options.tolerance = Tolerance{0, 0, 1, true};
  EXPECT_EQ(compare_outputs({f32({1.0})}, {f32({std::nextafter(1.0F, 2.0F)})}, options).verdict,
            VerdictKind::Same);
  EXPECT_EQ(compare_outputs({f32({1.0})}, {f32({1.0 + 1e-6})}, options).verdict,
            VerdictKind::Different);
}

TEST(CompareValues, NanEqualsNanUnlessToldOtherwise) {
  EXPECT_EQ(compare_outputs({f32({NAN})}, {f32({NAN})}).verdict, VerdictKind::Same);
  EXPECT_THAT(messages(compare_outputs({f32({NAN})}, {f32({1})})),
              ElementsAre("out[0][0] is nan and 1.0"));
  CompareOptions strict;
  strict.tolerance = Tolerance{0, 0, std::nullopt, false};
  EXPECT_EQ(compare_outputs({f32({NAN})}, {f32({NAN})}, strict).verdict, VerdictKind::Different);
}

TEST(CompareValues, InfinityEqualsOnlyItself) {
  CompareOptions wide;
  wide.tolerance = Tolerance{1e30, 1e30, std::nullopt, true};
  EXPECT_EQ(compare_outputs({f32({INFINITY})}, {f32({INFINITY})}, wide).verdict, VerdictKind::Same);
  EXPECT_THAT(messages(compare_outputs({f32({INFINITY})}, {f32({1})}, wide)),
              ElementsAre("out[0][0] is inf and 1.0"));
}

TEST(CompareValues, IntegersAreExactBeyondDoubles) {
  Tensor left = make_tensor(DType::Int64, {1});
  Tensor right = make_tensor(DType::Int64, {1});
  fill_from_int(left, {9007199254740993});
  fill_from_int(right, {9007199254740992});
  EXPECT_THAT(messages(compare_outputs({left}, {right})),
              ElementsAre("out[0][0] is 9007199254740993 and 9007199254740992"));
}

TEST(CompareValues, BoolsPrintAsPythonDoes) {
  EXPECT_THAT(messages(compare_outputs({tensor(DType::Bool, {2}, {1, 1})},
                                       {tensor(DType::Bool, {2}, {1, 0})})),
              ElementsAre("out[0][1] is True and False (1 of 2 elements differ, by up to 1)"));
}

TEST(CompareValues, NumbersCompareAsNumbers) {
  EXPECT_EQ(compare_outputs({std::int64_t{2}}, {2.0}).verdict, VerdictKind::Same);
  EXPECT_THAT(messages(compare_outputs({std::int64_t{2}}, {std::int64_t{3}})),
              ElementsAre("out[0] is 2 and 3"));
}

TEST(CompareMetadata, ADtypeDifferenceIsNamed) {
  EXPECT_THAT(messages(compare_outputs({f32({1})}, {tensor(DType::Float16, {1}, {1})})),
              ElementsAre("out[0] has dtype float32 and float16"));
}

TEST(CompareMetadata, AShapeDifferenceHidesTheValues) {
  EXPECT_THAT(messages(compare_outputs({f32({1, 2})}, {tensor(DType::Float32, {2, 1}, {8, 9})})),
              ElementsAre("out[0] has shape (2,) and (2, 1)"));
}

TEST(CompareMetadata, StridesAreANoteUnlessAskedFor) {
  Tensor transposed = tensor(DType::Float32, {2, 2}, {1, 3, 2, 4});
  transposed.geometry.strides = {1, 2};  // reads 1 2 3 4
  const Tensor plain = tensor(DType::Float32, {2, 2}, {1, 2, 3, 4});
  const Comparison noted = compare_outputs({plain}, {transposed});
  EXPECT_EQ(noted.verdict, VerdictKind::Same);
  EXPECT_THAT(notes(noted), ElementsAre("out[0] has strides (2, 1) and (1, 2)"));
  CompareOptions options;
  options.strides = true;
  EXPECT_EQ(compare_outputs({plain}, {transposed}, options).verdict, VerdictKind::Different);
}

TEST(CompareMetadata, ATensorIsNoNumber) {
  EXPECT_THAT(messages(compare_outputs({f32({1})}, {1.0})),
              ElementsAre("out[0] is a tensor and a number"));
  EXPECT_THAT(messages(compare_outputs({NoneValue{}}, {f32({1})})),
              ElementsAre("out[0] is None and a tensor"));
}

TEST(CompareMetadata, TheNumberOfOutputsCounts) {
  EXPECT_THAT(
      messages(compare(result_of({}, {{f32({1})}}), result_of({}, {{f32({1})}, {f32({2})}}))),
      ElementsAre("the programs return 1 and 2 values"));
}

TEST(CompareArguments, ALostWriteIsADifferenceOfItsOwnClass) {
  const Comparison comparison =
      compare(result_of({{"x", {f32({1, 7})}}}, {}), result_of({{"x", {f32({1, 0.25})}}}, {}));
  ASSERT_EQ(comparison.differences.size(), 1U);
  EXPECT_EQ(comparison.differences.front().kind, DifferenceKind::FinalArgument);
  EXPECT_EQ(comparison.differences.front().message,
            "x[1] is 7.0 and 0.25 after the run (1 of 2 elements differ, by up to 6.75)");
}

TEST(CompareArguments, BytesOutsideTheWindowCountToo) {
  const Tensor left = f32({1, 2, 3, 4});
  const Tensor right = f32({1, 2, 3, 5});
  const Comparison comparison = compare(result_of({{"x", {test::window(left, 0, 2)}}}, {}),
                                        result_of({{"x", {test::window(right, 0, 2)}}}, {}));
  EXPECT_THAT(messages(comparison),
              ElementsAre("x's storage, element 3, is 4.0 and 5.0 after the run (1 of 4 "
                          "elements differ, by up to 1)"));
}

TEST(CompareArguments, WhatOnlyOneSideHasIsNotCompared) {
  EXPECT_EQ(compare(result_of({{"x", {f32({1})}}}, {}), result_of({{"y", {f32({2})}}}, {})).verdict,
            VerdictKind::Same);
}

TEST(CompareRandom, ValuesEstablishNothingButShapesDo) {
  RunResult left = returning({f32({1, 2})});
  RunResult right = returning({f32({3, 4})});
  left.used_random = true;
  const Comparison comparison = compare(left, right);
  EXPECT_EQ(comparison.verdict, VerdictKind::NotEstablished);
  EXPECT_EQ(
      comparison.why,
      "the program draws random numbers: only structure, dtypes, shapes and sharing were compared");
  RunResult other = returning({f32({1, 2, 3})});
  EXPECT_EQ(compare(left, other).verdict, VerdictKind::Different);
}

RunError error(RunErrorKind kind, std::string type, std::string message) {
  RunError result;
  result.kind = kind;
  result.type = std::move(type);
  result.message = std::move(message);
  return result;
}

TEST(CompareRaised, OnlyOneSideRaising) {
  const Expected<RunResult, RunError> fine = returning({f32({1})});
  const Expected<RunResult, RunError> raised =
      Unexpected{error(RunErrorKind::RaisesAsTorch, "RuntimeError", "overlap")};
  const Comparison comparison = compare_raised(fine, raised);
  EXPECT_EQ(comparison.verdict, VerdictKind::Different);
  EXPECT_THAT(messages(comparison),
              ElementsAre("only the second program raises: RuntimeError: overlap"));
  EXPECT_EQ(compare_raised(raised, raised).verdict, VerdictKind::Same);
}

TEST(CompareRaised, OurOwnLimitsEstablishNothing) {
  const Expected<RunResult, RunError> fine = returning({f32({1})});
  const Expected<RunResult, RunError> limited =
      Unexpected{error(RunErrorKind::NotSupported, "", "no kernel for 'prims.fft'")};
  const Comparison comparison = compare_raised(fine, limited);
  EXPECT_EQ(comparison.verdict, VerdictKind::NotEstablished);
  EXPECT_EQ(comparison.why, "no kernel for 'prims.fft'");
}

}  // namespace
}  // namespace tg
