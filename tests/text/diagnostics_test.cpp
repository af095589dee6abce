// What the parser says about malformed text: whole rendered messages.
#include <gtest/gtest.h>

#include "text_support.h"

namespace tg {
namespace {

std::string said(std::string_view body) {
  return rendered(parse(trace_text("x", body)));
}

TEST(Malformed, OperatorInsteadOfComma) {
  EXPECT_EQ(said("  t0 = torch.add(x + 1)\n  return x\n"),
            "trace.txt:7:20: error: ',' or ')' was expected, found '+' [malformed-statement]\n"
            "      t0 = torch.add(x + 1)\n"
            "                       ^\n");
}

TEST(Malformed, BracketThatIsNotClosed) {
  EXPECT_EQ(said("  t0 = torch.add(x, (1, 2)\n  return x\n"),
            "trace.txt:7:17: error: '(' is not closed [unbalanced-brackets]\n"
            "      t0 = torch.add(x, (1, 2)\n"
            "                    ^\n");
}

TEST(Malformed, StringThatIsNotClosed) {
  EXPECT_EQ(said("  t0 = torch.add(x, 'abc)\n  return x\n"),
            "trace.txt:7:21: error: the string is not closed [unbalanced-brackets]\n"
            "      t0 = torch.add(x, 'abc)\n"
            "                        ^\n");
}

TEST(Malformed, NoStatementAtAll) {
  EXPECT_EQ(said("  hello\n  return x\n"),
            "trace.txt:7:3: error: this is no statement: an assignment, a call, 'del' or 'return' "
            "was expected "
            "[malformed-statement]\n"
            "      hello\n"
            "      ^~~~~\n");
}

TEST(Malformed, TextBehindTheStatement) {
  EXPECT_EQ(said("  t0 = torch.sin(x) t1\n  return x\n"),
            "trace.txt:7:21: error: the statement ends before this text [malformed-statement]\n"
            "      t0 = torch.sin(x) t1\n"
            "                        ^~\n");
}

TEST(Malformed, AnnotationWithoutQuotes) {
  EXPECT_EQ(said("  t0: Tensor = f(x)\n  return x\n"),
            "trace.txt:7:5: error: a type in double quotes and ' = ' were expected after the name "
            "[malformed-statement]\n"
            "      t0: Tensor = f(x)\n"
            "        ^\n");
}

TEST(Malformed, SubStatementIsAWarning) {
  EXPECT_EQ(said("  t0 = torch.sin(x)\n    # see the paper\n  return x\n"),
            "trace.txt:8:11: warning: '=' was expected, found 't' [malformed-statement]\n"
            "        # see the paper\n"
            "              ^\n");
}

TEST(Malformed, IndentationOfNoStatement) {
  EXPECT_EQ(
      said("  t0 = torch.sin(x)\n        # t0 = prims.sin(x)\n  return x\n"),
      "trace.txt:8:1: warning: indentation of 8 columns fits no open statement [bad-indentation]\n"
      "            # t0 = prims.sin(x)\n"
      "    ^~~~~~~~\n");
}

TEST(Malformed, ValuesTooDeep) {
  const TraceFile file =
      parse(trace_text("x", "  t0 = f(" + std::string(100000, '[') + "\n  return x\n"));
  ASSERT_EQ(codes(file), "too-deep");
  EXPECT_EQ(file.diagnostics[0].message, "values nest deeper than 200 levels");
}

TEST(Malformed, TextEndsInsideAStatement) {
  EXPECT_EQ(said("  t0 = torch.sin(x)\n  t1 = torch.cos(t"),
            "trace.txt: warning: 'computation' has no return statement [missing-return]\n"
            "trace.txt:6:1: note: the trace begins here\n"
            "    def computation(x):\n"
            "    ^~~~~~~~~~~~~~~~~~~\n"
            "trace.txt:8:17: error: the text ends inside this statement [truncated-line]\n"
            "      t1 = torch.cos(t\n"
            "                    ^\n");
}

TEST(Malformed, TextEndsInsideACallee) {
  EXPECT_EQ(codes(parse(trace_text("x", "  t0 = ltorch.sin(x)\n    # t0 = prims.si"))),
            "missing-return truncated-line");
}

TEST(Malformed, TextEndsInsideAType) {
  EXPECT_EQ(codes(parse(trace_text("x", "  t0 = ltorch.sin(x)  # t0: \"cpu f3"))),
            "missing-return truncated-line");
}

TEST(Malformed, TextEndsInsideAName) {
  const TraceFile file = parse(trace_text("x, cotangents", "  t0 = ltorch.sin(x)\n  del cotan"));
  EXPECT_EQ(codes(file), "missing-return truncated-line");
  EXPECT_EQ(statement(file, 1).kind, StatementKind::Unparsed);
}

TEST(Malformed, LinesLeftOut) {
  EXPECT_EQ(
      said("  t0 = torch.sin(x)\n  ...\n  return x\n"),
      "trace.txt:8:3: warning: lines were left out here [elision]\n"
      "      ...\n"
      "      ^~~\n"
      "hint: names that they define are unknown; paste the whole trace to check and run it\n");
}

TEST(Malformed, BytesThatAreNoUtf8) {
  EXPECT_EQ(said("\n  # caf\xe9.py:7: \t    y = x\n  return x\n"),
            "trace.txt:8:8: warning: byte 0xe9 is no UTF-8 [invalid-utf8]\n"
            "      # caf\xe9.py:7:      y = x\n"
            "           ^\n");
}

TEST(Malformed, ControlCharacter) {
  const std::string body = std::string("  t0 = f('a").append(1, '\0').append("b')\n  return x\n");
  EXPECT_EQ(codes(parse(trace_text("x", body))), "invalid-character unknown-callee");
}

TEST(Malformed, DefLine) {
  EXPECT_EQ(rendered(parse(std::string(kHead) + "def computation(x, 3):\n  return x\n")),
            "trace.txt:6:20: error: a parameter name was expected [malformed-statement]\n"
            "    def computation(x, 3):\n"
            "                       ^\n");
}

TEST(Malformed, FindingsOfOneKindAreLimited) {
  std::string body;
  for (int i = 0; i < 5000; ++i) body += "  hello\n";
  const TraceFile file = parse(trace_text("x", body + "  return x\n"));
  EXPECT_EQ(file.diagnostics.size(), 201U);
  EXPECT_EQ(file.diagnostics.back().message, "4800 more findings of this kind are not shown");
}

}  // namespace
}  // namespace tg
