#include "core/check/write_history.h"

#include <gtest/gtest.h>

#include "core/run/inputs.h"
#include "tests/check/traces.h"

namespace tg {
namespace {

TEST(WriteHistory, TheLastWriterOfEachElement) {
  const TraceFile file =
      test::file_of(test::trace_text("", "x",
                                     "  # x: \"cpu f32[2, 2]\"\n"
                                     "  ltorch.setitem_(x, 0, 100.0)\n"
                                     "  t1 = ltorch.getitem(x, 1)  # t1: \"cpu f32[2]\"\n"
                                     "  t2 = ltorch.mul_(t1, 3.0)  # t2: \"cpu f32[2]\"\n"
                                     "  ltorch.setitem_(x, (0, 1), 50.0)\n"
                                     "  return (x,)"));
  ASSERT_EQ(file.phases.size(), 1U);
  const Trace& trace = file.phases[0].trace;
  const Result<RunInputs> inputs = invent_inputs(trace, {}, 1);
  ASSERT_TRUE(inputs.has_value());
  const WriteHistory history = observe_writes(trace, *inputs, "x", {});
  ASSERT_TRUE(history.complete);
  EXPECT_EQ(history.writers, (std::vector<std::uint32_t>{1, 3, 4}));
  EXPECT_EQ(history.last_writer, (std::vector<std::uint32_t>{1, 4, 3, 3}));
}

TEST(WriteHistory, AnArgumentThatIsNotThereGivesNoHistory) {
  const TraceFile file =
      test::file_of(test::trace_text("", "x", "  # x: \"cpu f32[2]\"\n  return (x,)"));
  const Result<RunInputs> inputs = invent_inputs(file.phases[0].trace, {}, 1);
  ASSERT_TRUE(inputs.has_value());
  EXPECT_FALSE(observe_writes(file.phases[0].trace, *inputs, "nobody", {}).complete);
}

TEST(WriteHistory, FlatPositionIsRowMajor) {
  EXPECT_EQ(flat_position({2, 3}, {1, 2}), 5U);
  EXPECT_EQ(flat_position({}, {}), 0U);
}

}  // namespace
}  // namespace tg
