#include "core/ir/verifier.h"

#include <gtest/gtest.h>

#include "text_support.h"

namespace tg {
namespace {

std::string verdict(std::string_view parameters, std::string_view body) {
  return rendered(parse(trace_text(parameters, body)));
}

TEST(Verifier, CleanTraceHasNoFinding) {
  EXPECT_EQ(verdict("x",
                    "  t0 = torch.sin(x)\n  del x\n  t1 = torch.cos(t0)\n  return (t1, float, "
                    "_torch_Size_0)\n"),
            "");
}

TEST(Verifier, UndefinedName) {
  EXPECT_EQ(verdict("weight", "  t0 = torch.sin(wieght)\n  return t0\n"),
            "trace.txt:7:18: error: nothing defines 'wieght' [undefined-name]\n"
            "      t0 = torch.sin(wieght)\n"
            "                     ^~~~~~\n"
            "hint: did you mean 'weight'?\n"
            "trace.txt:6:1: note: 'weight' is defined here\n"
            "    def computation(weight):\n"
            "    ^~~~~~~~~~~~~~~~~~~~~~~~\n");
}

TEST(Verifier, OneFindingPerUndefinedName) {
  EXPECT_EQ(
      codes(parse(trace_text("x", "  t0 = torch.sin(u)\n  t1 = torch.cos(u)\n  return t1\n"))),
      "undefined-name");
}

TEST(Verifier, UseAfterDel) {
  EXPECT_EQ(verdict("x", "  t0 = torch.sin(x)\n  del x\n  t1 = torch.cos(x)\n  return t1\n"),
            "trace.txt:9:18: error: 'x' is read after it was deleted [use-after-del]\n"
            "      t1 = torch.cos(x)\n"
            "                     ^\n"
            "trace.txt:8:3: note: deleted here\n"
            "      del x\n"
            "      ^~~~~\n");
}

TEST(Verifier, RedefinitionAfterDelIsFine) {
  EXPECT_EQ(verdict("x", "  t0 = torch.sin(x)\n  del t0\n  t0 = torch.cos(x)\n  return t0\n"), "");
}

TEST(Verifier, DuplicateDefinition) {
  EXPECT_EQ(verdict("x", "  t0 = torch.sin(x)\n  t0 = torch.cos(x)\n  return t0\n"),
            "trace.txt:8:3: warning: 't0' is defined again [duplicate-definition]\n"
            "      t0 = torch.cos(x)\n"
            "      ^~\n"
            "trace.txt:7:3: note: first defined here\n"
            "      t0 = torch.sin(x)\n"
            "      ^~~~~~~~~~~~~~~~~\n");
}

TEST(Verifier, IdentityMayKeepItsName) {
  EXPECT_EQ(verdict("x", "  t0 = torch.sin(x)\n  t0 = ltorch.to(t0, torch.float32)\n  return t0\n"),
            "");
}

TEST(Verifier, StatementAfterReturn) {
  EXPECT_EQ(
      verdict("x",
              "  t0 = torch.sin(x)\n  return t0\n  t1 = prims.copy_(t0, x)\n  t2 = torch.sin(x)\n"),
      "trace.txt:9:3: warning: this statement stands after 'return' and is never executed "
      "[statement-after-return]\n"
      "      t1 = prims.copy_(t0, x)\n"
      "      ^~~~~~~~~~~~~~~~~~~~~~~\n"
      "hint: its write is lost\n"
      "trace.txt:8:3: note: the trace returns here\n"
      "      return t0\n"
      "      ^~~~~~~~~\n");
}

TEST(Verifier, MissingReturn) {
  EXPECT_EQ(verdict("x", "  t0 = torch.sin(x)  # t0: \"cpu f32[2]\"\n"),
            "trace.txt: warning: 'computation' has no return statement [missing-return]\n"
            "trace.txt:6:1: note: the trace begins here\n"
            "    def computation(x):\n"
            "    ^~~~~~~~~~~~~~~~~~~\n");
}

TEST(Verifier, UnknownCalleeIsANoteOnce) {
  EXPECT_EQ(verdict("x", "  t0 = my_pkg.f(x)\n  t1 = my_pkg.f(t0)\n  return t1\n"),
            "trace.txt:7:8: note: 'my_pkg.f' is no operation known here [unknown-callee]\n"
            "      t0 = my_pkg.f(x)\n"
            "           ^~~~~~~~\n"
            "hint: it loads and shows; it cannot run\n");
}

TEST(Verifier, ChangesOfTheTensorObjectAreNotModelled) {
  EXPECT_EQ(verdict("x", "  t0 = torch.Tensor.t_(x)\n  return t0\n"),
            "trace.txt:7:8: warning: 'torch.Tensor.t_' changes shape or strides of its argument, "
            "which is not modelled [metadata-mutation]\n"
            "      t0 = torch.Tensor.t_(x)\n"
            "           ^~~~~~~~~~~~~~~\n"
            "hint: what aliases say from here on is about the tensor as it was; it cannot run\n");
}

// Canonicalized traces read names that only a sub-statement defines (recorded, December 2024).
TEST(Verifier, NameOfASubStatementIsANote) {
  EXPECT_EQ(verdict("x",
                    "  ltorch.setitem_(x, 0, 1.0)\n    # t1 = prims.copy_(x, x)\n  t2 = "
                    "torch.sin(t1)\n  return t2\n"),
            "trace.txt:9:18: note: 't1' is defined by a sub-statement only [undefined-name]\n"
            "      t2 = torch.sin(t1)\n"
            "                     ^~\n"
            "trace.txt:8:7: note: defined here\n"
            "        # t1 = prims.copy_(x, x)\n"
            "          ^~~~~~~~~~~~~~~~~~~~~~\n");
}

// Traces split into forward and backward read numbers that the split left unbound (recorded, both
// eras).
TEST(Verifier, UnboundNumberIsANote) {
  EXPECT_EQ(verdict("x", "  b1 = prims.eq(dim, dim)  # b1: \"bool True\"\n  return x\n"),
            "trace.txt:7:17: note: the number 'dim' is not bound in this trace [undefined-name]\n"
            "      b1 = prims.eq(dim, dim)  # b1: \"bool True\"\n"
            "                    ^~~\n");
}

TEST(Verifier, NothingIsUndefinedBehindLeftOutLines) {
  EXPECT_EQ(codes(parse(trace_text(
                "x", "  t0 = torch.sin(x)\n  ...\n  t9 = torch.cos(t8)\n  return t9\n"))),
            "elision");
}

TEST(Verifier, FragmentsHaveNoArguments) {
  EXPECT_EQ(codes(parse("t0 = torch.sin(x)  # t0: \"cpu f32[2]\"\n  # t0 = prims.sin(x)  # t0: "
                        "\"cpu f32[2]\"\n")),
            "");
}

}  // namespace
}  // namespace tg
