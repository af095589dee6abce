#include <gmock/gmock.h>

#include "tests/run/run_support.h"

namespace tg {
namespace {

using test::f32;
using test::result_of;
using test::tensor;
using test::window;

// x = [0.5, 7.0]; out[0] is x; out[1] is fresh f32(2, 3); out[2] = x[1:2]; out[3] = 3; out[4] = f16
// [0.1]
RunResult sample() {
  const Tensor x = f32({0.5, 7});
  return result_of({{"x", {x}}}, {{x},
                                  {tensor(DType::Float32, {2, 3}, {1, 2, 3, 4, 5, 6})},
                                  {window(x, 1, 1)},
                                  {std::int64_t{3}},
                                  {tensor(DType::Float16, {1}, {0.1})}});
}

struct Row {
  const char* text;
  bool holds;
  const char* explanation;
};

class ExpectationRow : public testing::TestWithParam<Row> {};

TEST_P(ExpectationRow, Evaluates) {
  const RunResult result = sample();
  Result<Expectation> expectation = check_expectation(GetParam().text, result);
  ASSERT_TRUE(expectation) << render(expectation.error(), "expect", GetParam().text);
  EXPECT_EQ(expectation->holds, GetParam().holds);
  EXPECT_EQ(expectation->explanation, GetParam().explanation);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, ExpectationRow,
    testing::Values(
        Row{"x[1] == 7.0", true, "x[1] is 7.0"}, Row{"x[-1] != 7", false, "x[-1] is 7.0"},
        Row{"x[0] < 1e-1", false, "x[0] is 0.5"},
        Row{"out[1][1, 2] >= 6", true, "out[1][1, 2] is 6.0"},
        Row{"out1[0][1] == 2", true, "out1[0][1] is 2.0"}, Row{"out3 == 3", true, "out3 is 3"},
        // a literal is rounded to the tensor's dtype
        Row{"out4[0] == 0.1", true, "out4[0] is 0.099975586"},
        Row{"out0.data_ptr == x.data_ptr", true, "out0.data_ptr and x.data_ptr are the same"},
        Row{"out0.data_ptr() != out1.data_ptr()", true,
            "out0.data_ptr() and out1.data_ptr() differ: storages of their own"},
        Row{"out2.data_ptr == x.data_ptr", false,
            "out2.data_ptr and x.data_ptr differ: one storage, -4 bytes apart"},
        Row{"out0.shares(x)", true, "out0 and x share a storage"},
        Row{"not out[1].shares(x)", true, "out[1] and x have storages of their own"},
        Row{"out1.shape == (2, 3)", true, "out1.shape is (2, 3)"},
        Row{"out1.strides == [3, 1]", true, "out1.strides is (3, 1)"},
        Row{"x.dtype == torch.float32", true, "x.dtype is torch.float32"},
        Row{"x.dtype == 'f16'", false, "x.dtype is torch.float32"},
        Row{"out2.offset == 1", true, "out2.offset is 1"},
        Row{"out0 == x", true, "out0 and x are equal"},
        Row{"out2 == out0", false, "out2 has shape (1,) and (2,)"},
        Row{"x == 0.5", false, "x[1] is 7.0 and 0.5 (1 of 2 elements differ, by up to 6.5)"}));

struct BadRow {
  const char* text;
  const char* rendered;
};

class BadExpectationRow : public testing::TestWithParam<BadRow> {};

TEST_P(BadExpectationRow, SaysWhatIsWrong) {
  const RunResult result = sample();
  Result<Expectation> expectation = check_expectation(GetParam().text, result);
  ASSERT_FALSE(expectation);
  EXPECT_EQ(render(expectation.error(), "--expect", GetParam().text), GetParam().rendered);
}

constexpr const char* kForms =
    "hint: forms: 'x[1] == 7.0', 'out0.data_ptr != x.data_ptr', 'out0.shape == (2, 3)', 'out0 == "
    "x', "
    "'out0.shares(x)'\n";

INSTANTIATE_TEST_SUITE_P(
    Messages, BadExpectationRow,
    testing::Values(
        BadRow{"y == 1",
               "--expect:1:1: error: 'y' is neither an argument nor an output [bad-expectation]\n"
               "    y == 1\n"
               "    ^\n"
               "hint: known here: x, out[0], out[1], out[2], out[3], out[4]\n"},
        BadRow{
            "x[5] == 1",
            "--expect:1:2: error: index 5 is out of range: 'x' has shape (2,) [bad-expectation]\n"
            "    x[5] == 1\n"
            "     ^~~\n"},
        BadRow{"x[0, 1] == 1",
               "--expect:1:2: error: 'x' has 1 dim, the index has 2 [bad-expectation]\n"
               "    x[0, 1] == 1\n"
               "     ^~~~~~\n"},
        BadRow{"out0.data_pointer == 1",
               "--expect:1:5: error: '.data_pointer' is no attribute of a tensor here "
               "[bad-expectation]\n"
               "    out0.data_pointer == 1\n"
               "        ^~~~~~~~~~~~~\n"
               "hint: known here: data_ptr, shape, strides, dtype, offset, shares(NAME)\n"}));

TEST(BadExpectation, AMissingComparisonShowsTheForms) {
  Result<Expectation> expectation = check_expectation("x[1]", sample());
  ASSERT_FALSE(expectation);
  EXPECT_EQ(expectation.error().message,
            "expected a comparison (==, !=, <, <=, >, >=) after 'x[1]'");
  EXPECT_EQ("hint: " + expectation.error().hint + "\n", kForms);
}

TEST(BadExpectation, NothingCrashesOnNoise) {
  const RunResult result = sample();
  for (const char* text : {"",
                           " ",
                           "(",
                           "[",
                           "x[",
                           "x[]",
                           "out[",
                           "x.",
                           "==",
                           "x ==",
                           "x == (",
                           "'",
                           "x == 'a",
                           "not",
                           "x.shares(",
                           "x.shares(x",
                           "-",
                           "1e999 == 1",
                           "x[99999999999999999999] == 1",
                           "out0.data_ptr < x.data_ptr",
                           "out0.shape == 3",
                           "x < out1",
                           "\xff\xfe == 1"}) {
    Result<Expectation> expectation = check_expectation(text, result);
    EXPECT_TRUE(expectation || expectation.error().code == DiagnosticCode::BadExpectation) << text;
  }
}

}  // namespace
}  // namespace tg
