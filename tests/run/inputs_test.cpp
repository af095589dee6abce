// Invented inputs: what they promise, so that faults show and programs can run.
#include "core/run/inputs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "core/run/compare_values.h"
#include "core/text/parser.h"

namespace tg {
namespace {

Trace trace_of(const std::string& parameters, const std::string& body) {
  const TraceFile file =
      parse_trace_file("t.txt", "@no_autocast\ndef computation(" + parameters + "):\n" + body);
  return file.phases.at(0).trace;
}

Tensor tensor_of(const RunInputs& inputs, std::string_view name) {
  for (const NamedValue& argument : inputs.arguments) {
    if (argument.name == name) return *argument.value.as<Tensor>();
  }
  return {};
}

constexpr std::uint64_t kSeeds = 50;

TEST(InventedInputs, CollectionsOfAPrologueSayHowManyTheyHold) {
  const Trace trace = trace_of("*args, **kwargs",
                               "  # args: \"Any\"\n  prims.check_len(args, 2)\n"
                               "  # kwargs: \"Any\"\n  prims.check_len(kwargs, 0)\n  return ()\n");
  const Result<RunInputs> inputs = invent_inputs(trace, {}, 1);
  ASSERT_TRUE(inputs.has_value());
  ASSERT_EQ(inputs->arguments.size(), 2U);
  EXPECT_EQ(value_text(inputs->arguments[0].value), "a tuple of 2");
  EXPECT_EQ(value_text(inputs->arguments[1].value), "a dict of 0");
}

TEST(InventedInputs, FloatsAreDistinctAcrossArguments) {
  const Trace trace =
      trace_of("a, b", "  # a: \"cpu f32[3, 5]\"\n  # b: \"cpu f64[7]\"\n  return a\n");
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Result<RunInputs> inputs = invent_inputs(trace, {}, seed);
    std::set<double> seen;
    for (const char* name : {"a", "b"}) {
      for (const double value : values_as_double(tensor_of(*inputs, name))) {
        EXPECT_NE(value, 0.0);
        EXPECT_LT(std::fabs(value), 2.0);
        EXPECT_TRUE(seen.insert(std::fabs(value)).second) << value;
      }
    }
  }
}

TEST(InventedInputs, EveryTensorOfTwoElementsHasBothSigns) {
  const Trace trace = trace_of("a, b, c",
                               "  # a: \"cpu f32[2]\"\n  # b: \"cpu f16[3]\"\n"
                               "  # c: \"cpu f32[2, 2]\"\n  return a\n");
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Result<RunInputs> inputs = invent_inputs(trace, {}, seed);
    for (const char* name : {"a", "b", "c"}) {
      const std::vector<double> values = values_as_double(tensor_of(*inputs, name));
      EXPECT_LT(*std::min_element(values.begin(), values.end()), 0.0) << name << seed;
      EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.0) << name << seed;
    }
  }
}

// Short when printed, exact in half precision.
TEST(InventedInputs, SmallProgramsGetEighths) {
  const Trace trace = trace_of("a", "  # a: \"cpu bf16[2, 4]\"\n  return a\n");
  const Result<RunInputs> inputs = invent_inputs(trace, {}, 1);
  for (const double value : values_as_double(tensor_of(*inputs, "a"))) {
    EXPECT_EQ(value * 8.0, std::round(value * 8.0)) << value;
  }
}

TEST(InventedInputs, SeedsDecide) {
  const Trace trace = trace_of("a", "  # a: \"cpu f32[4]\"\n  return a\n");
  const auto values = [&trace](std::uint64_t seed) {
    return values_as_double(tensor_of(*invent_inputs(trace, {}, seed), "a"));
  };
  EXPECT_EQ(values(3), values(3));
  EXPECT_NE(values(3), values(4));
}

TEST(InventedInputs, DivisorsAreNotZero) {
  const Trace trace = trace_of("x, n",
                               "  # x: \"cpu i64[1]\"\n  # n: \"cpu i32[6]\"\n"
                               "  t0 = torch.floor_divide(x, n)\n  return t0\n");
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Result<RunInputs> inputs = invent_inputs(trace, {}, seed);
    std::set<std::int64_t> seen;
    for (const std::int64_t value : values_as_int(tensor_of(*inputs, "n"))) {
      EXPECT_GE(value, 1);
      EXPECT_LE(value, 9);
      EXPECT_TRUE(seen.insert(value).second);
    }
  }
}

// All values of `n` over many seeds.
std::set<std::int64_t> integers_of(const Trace& trace) {
  std::set<std::int64_t> seen;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const std::int64_t value :
         values_as_int(tensor_of(*invent_inputs(trace, {}, seed), "n"))) {
      seen.insert(value);
    }
  }
  return seen;
}

TEST(InventedInputs, IndicesStayInsideTheSmallestDim) {
  const std::string types = "  # x: \"cpu f32[3, 4]\"\n  # n: \"cpu i64[5]\"\n";
  const std::set<std::int64_t> wanted = {0, 1, 2};
  for (const char* reader : {
           "  t0 = torch.index_select(x, 0, n)\n",
           "  t0 = torch.index_select(x, dim=0, index=n)\n",
           "  t0 = ltorch.getitem(x, (n, 1))\n",
           "  t0 = ltorch.embedding(n, x)\n",
           "  t1 = ltorch.add(n, 1)\n  t2 = ltorch.sub(t1, 1)\n  t0 = prims.take(x, t2, 0)\n",
           "  [t0] = nvFusion0(x, n)\n    # t0 = prims.gather(x, n, 0)\n",
       }) {
    EXPECT_EQ(integers_of(trace_of("x, n", types + reader + "  return t0\n")), wanted) << reader;
  }
}

TEST(InventedInputs, SmallIntegersFitTheirDtype) {
  const Trace trace = trace_of("n", "  # n: \"cpu i8[300]\"\n  return n\n");
  for (const std::int64_t value : integers_of(trace)) {
    EXPECT_GE(value, 1);
    EXPECT_LE(value, 127);
  }
}

TEST(InventedInputs, BoolsHaveBothValues) {
  const Trace trace = trace_of("m", "  # m: \"cpu b8[2]\"\n  return m\n");
  EXPECT_EQ(values_as_int(tensor_of(*invent_inputs(trace, {}, 5), "m")),
            (std::vector<std::int64_t>{1, 0}));
}

}  // namespace
}  // namespace tg
