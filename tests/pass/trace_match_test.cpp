#include "core/pass/trace_match.h"

#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::trace_of;

std::string match(std::string_view expected, std::string_view actual) {
  std::string why;
  const bool same = same_up_to_renaming(trace_of(expected), trace_of(actual), &why);
  return same ? "same" : why.substr(0, why.find('\n'));
}

TEST(TraceMatch, FreshNamesMayDiffer) {
  EXPECT_EQ(match("def f(x):\n  # `t1` is replaced by `t7`\n  t0 = ltorch.sin(x)\n  return t0\n",
                  "def f(x):\n  # `t1` is replaced by `t9`\n  t5 = ltorch.sin(x)\n  return t5\n"),
            "same");
}

TEST(TraceMatch, OneNameHasOnePartner) {
  EXPECT_EQ(match("def f(x):\n  t0 = ltorch.sin(x)\n  t1 = ltorch.cos(t0)\n  return (t0, t1)\n",
                  "def f(x):\n  t0 = ltorch.sin(x)\n  t1 = ltorch.cos(t0)\n  return (t1, t0)\n"),
            "statement 3: name ('t0' was 't0' before): expected 't0', found 't1'");
  EXPECT_EQ(match("def f(x, y):\n  t0 = ltorch.add(x, y)\n  return t0\n",
                  "def f(x, y):\n  t0 = ltorch.add(y, x)\n  return t0\n"),
            "statement 1: name ('x' was 'x' before): expected 'x', found 'y'");
}

TEST(TraceMatch, HeadersTypesAndPositionsCount) {
  EXPECT_EQ(match("def f(x):\n  # a header\n  y = ltorch.sin(x)\n  return y\n",
                  "def f(x):\n  # b header\n  y = ltorch.sin(x)\n  return y\n"),
            "statement 1: header: expected 'a header', found 'b header'");
  EXPECT_EQ(match("def f(x):\n  y = ltorch.sin(x)  # y: \"cpu f32[2]\"\n  return y\n",
                  "def f(x):\n  y = ltorch.sin(x)  # y: \"cpu f32[3]\"\n  return y\n"),
            "statement 1: type: expected 'cpu f32[2]', found 'cpu f32[3]'");
  EXPECT_EQ(match("def f(x):\n  # m.py:3: \t  y\n  y = ltorch.sin(x)\n  return y\n",
                  "def f(x):\n  # m.py:4: \t  y\n  y = ltorch.sin(x)\n  return y\n"),
            "position of y = ltorch.sin(x): expected 'm.py:3', found 'm.py:4'");
}

TEST(TraceMatch, ARepeatedPositionIsOptional) {
  EXPECT_EQ(match("def f(x):\n  # m.py:3: \t  y\n  y = ltorch.sin(x)\n  del x\n\n  # m.py:3: \t  "
                  "y\n  z = ltorch.cos(y)\n"
                  "  return z\n",
                  "def f(x):\n  # m.py:3: \t  y\n  y = ltorch.sin(x)\n  del x\n  z = "
                  "ltorch.cos(y)\n  return z\n"),
            "same");
}

TEST(TraceMatch, MillisecondsDoNotCount) {
  EXPECT_EQ(
      match(
          "# Constructed by Dead Code Elimination (took 12 milliseconds)\ndef f(x):\n  return x\n",
          "# Constructed by Dead Code Elimination (took 0 milliseconds)\ndef f(x):\n  return x\n"),
      "same");
  EXPECT_EQ(match("# Constructed by A\ndef f(x):\n  return x\n",
                  "# Constructed by B\ndef f(x):\n  return x\n"),
            "provenance: expected 'A', found 'B'");
}

}  // namespace
}  // namespace tg
