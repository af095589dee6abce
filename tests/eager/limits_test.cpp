#include "eager_support.h"

namespace tg {
namespace {

TEST(Limits, HugeTensorsAreRefusedBeforeTheyAreMade) {
  for (const char* body :
       {"t0 = ltorch.zeros((1000000000, 1000000000), device=None, dtype=None)\nreturn (t0,)",
        "t0 = ltorch.expand(x, (1000000000, 1000000000))\nt1 = ltorch.neg(t0)\nreturn (t1,)",
        "t0 = ltorch.expand(x, (1000000000, 1000000000))\nt1 = prims.sum(t0, (0, 1))\nreturn (t1,)",
        "t0 = ltorch.expand(x, (1000000000, 1000000000))\nt1 = ltorch.matmul(t0, t0)\nreturn (t1,)",
        "t0 = ltorch.expand(x, (4000000000000000000, 4))\nt1 = prims.amax(t0, (0, 1))\nreturn "
        "(t1,)",
        "t0 = ltorch.repeat(x, (1000000000, 1000000000))\nreturn (t0,)",
        "t0 = ltorch.arange(0, 1000000000000000000, 1, device=None, dtype=None)\nreturn (t0,)",
        "t0 = ltorch.pad(x, (0, 1000000000000000000), 'constant', None)\nreturn (t0,)"}) {
    const RunError error = must_fail(body, {{"x", {vector_of({1})}}});
    // What no machine can address is a wrong program; the rest a matter of the limit.
    const bool impossible = error.message.ends_with("any machine can address");
    EXPECT_EQ(error.kind, impossible ? RunErrorKind::BadProgram : RunErrorKind::OutOfMemory)
        << body << ": " << error.message;
  }
}

TEST(Limits, SettingAHugeExpandedWindowWritesItsOneCell) {
  const RunResult result = must_run(
      "t0 = ltorch.expand(x, (1000000000, 1000000000))\nltorch.setitem_(t0, Ellipsis, 3.0)\nreturn "
      "(x,)",
      {{"x", {vector_of({1})}}});
  EXPECT_EQ(output(result, 0), (Doubles{3}));
}

TEST(Limits, MemoryCountsOnlyWhatLives) {
  RunLimits limits;
  limits.bytes = 3500;
  std::string body = "t0 = ltorch.add(x, 1.0, alpha=1)\n";
  for (int i = 1; i < 20; ++i) {
    const std::string previous = "t" + std::to_string(i - 1);
    body += "t" + std::to_string(i) + " = ltorch.add(" + previous + ", 1.0, alpha=1)\ndel " +
            previous + "\n";
  }
  const std::vector<NamedValue> inputs{{"x", {vector_of(Doubles(256, 0.0))}}};
  EXPECT_TRUE(run_text(body + "return (t19,)", inputs, limits).has_value());
  limits.bytes = 2000;
  EXPECT_EQ(must_fail(body + "return (t19,)", inputs, limits).kind, RunErrorKind::OutOfMemory);
}

TEST(Limits, TimeAndCancellation) {
  RunLimits limits;
  limits.time = std::chrono::milliseconds(0);
  EXPECT_EQ(must_fail("t0 = prims.neg(x)\nt1 = prims.neg(t0)\nreturn (t1,)",
                      {{"x", {vector_of({1})}}}, limits)
                .kind,
            RunErrorKind::TimedOut);
  std::stop_source source;
  source.request_stop();
  const std::vector<NamedValue> inputs{{"x", {vector_of({1})}}};
  RunInputs run_inputs;
  run_inputs.arguments = inputs;
  const auto stopped = run(program("t0 = prims.neg(x)\nreturn (t0,)", inputs), run_inputs, {},
                           nullptr, source.get_token());
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().kind, RunErrorKind::Cancelled);
}

TEST(Limits, WrongArgumentsAreDiagnosedNotExecuted) {
  const std::vector<NamedValue> inputs{{"x", {vector_of({1, 2})}}};
  EXPECT_EQ(must_fail("t0 = ltorch.add(x)\nreturn (t0,)", inputs).message,
            "'ltorch.add' needs its argument 'b'");
  EXPECT_EQ(must_fail("t0 = ltorch.neg(x, x)\nreturn (t0,)", inputs).message,
            "'ltorch.neg' takes 1 positional arguments and 2 are given");
  EXPECT_EQ(must_fail("t0 = ltorch.neg(x, nonsense=3)\nreturn (t0,)", inputs).message,
            "'ltorch.neg' has no parameter 'nonsense'");
  EXPECT_EQ(must_fail("t0 = ltorch.as_strided(x, (3,), (1,), 0)\nreturn (t0,)", inputs).kind,
            RunErrorKind::RaisesAsTorch);
  EXPECT_EQ(must_fail("(a, b) = ltorch.neg(x)\nreturn (a,)", inputs).kind,
            RunErrorKind::BadProgram);
  EXPECT_EQ(
      must_fail("t0 = ltorch.embedding(x, 3, None, None, 2.0, False, False)\nreturn (t0,)", inputs)
          .kind,
      RunErrorKind::BadProgram);
}

}  // namespace
}  // namespace tg
