// What the parser says about malformed text: whole rendered messages.
#include <utility>

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
  EXPECT_EQ(rendered(file),
            "trace.txt:7:210: error: values nest deeper than 200 levels [too-deep]\n    " +
                std::string(160, '[') + "\n    " + std::string(80, ' ') +
                "^\n"
                "hint: give the inner part a name of its own in a statement before\n");
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
            "           ^\n"
            "hint: save the text as UTF-8, or paste it anew\n");
}

TEST(Malformed, ControlCharacter) {
  const std::string body =
      std::string("  t0 = ltorch.neg('a").append(1, '\0').append("b')\n  return x\n");
  EXPECT_EQ(said(body),
            "trace.txt:7:21: warning: control character 0x00 [invalid-character]\n"
            "      t0 = ltorch.neg('a b')\n"
            "                        ^\n"
            "hint: take it out: no trace contains it\n");
}

// Nothing behind such a character is lost without a word, type comment or not.
TEST(Malformed, ControlCharacterBetweenValues) {
  const std::string body = std::string("  t0 = ltorch.add(x, ")
                               .append(1, '\0')
                               .append("x)  # t0: \"cpu f32[2]\"\n  return x\n");
  EXPECT_EQ(said(body),
            "trace.txt:7:22: error: a value was expected, found byte 0x00 [malformed-statement]\n"
            "      t0 = ltorch.add(x,  x)  # t0: \"cpu f32[2]\"\n"
            "                         ^\n"
            "trace.txt:7:22: warning: control character 0x00 [invalid-character]\n"
            "      t0 = ltorch.add(x,  x)  # t0: \"cpu f32[2]\"\n"
            "                         ^\n"
            "hint: take it out: no trace contains it\n");
}

TEST(Malformed, CharactersThatNobodySees) {
  for (const auto& [bytes, name] :
       {std::pair{"\xe2\x80\xa8", "U+2028"}, std::pair{"\xc2\xa0", "U+00A0"},
        std::pair{"\xe2\x80\x8b", "U+200B"}, std::pair{"\xef\xbb\xbf", "U+FEFF"},
        std::pair{"\xc2\x85", "U+0085"}}) {
    const TraceFile file = parse(trace_text("x", std::string("  t0 = ltorch.add(x,") + bytes +
                                                     "x)  # t0: \"cpu f32[2]\"\n  return x\n"));
    ASSERT_EQ(codes(file), "malformed-statement invalid-character") << name;
    EXPECT_EQ(file.diagnostics[0].message, std::string("a value was expected, found ") + name);
    EXPECT_EQ(file.diagnostics[1].message, std::string("invisible character ") + name);
    EXPECT_EQ(file.diagnostics[1].hint, "put a plain space there, or nothing");
    EXPECT_EQ(file.diagnostics[1].at.column, 21U);
  }
}

TEST(Malformed, StringsAndProgramLinesMayHoldThem) {
  EXPECT_EQ(said("  # m.py:3: \t    # prix : 5\xc2\xa0\xe2\x82\xac\n"
                 "  t0 = ltorch.neg('5\xc2\xa0\xe2\x82\xac')\n  return x\n"),
            "");
}

TEST(Malformed, ArgumentGivenTwice) {
  EXPECT_EQ(said("  t0 = ltorch.add(x, x, alpha=1, alpha=2)\n  return x\n"),
            "trace.txt:7:34: error: argument 'alpha' is given twice [malformed-statement]\n"
            "      t0 = ltorch.add(x, x, alpha=1, alpha=2)\n"
            "                                     ^~~~~\n");
}

TEST(Malformed, PositionalBehindKeyword) {
  EXPECT_EQ(said("  t0 = ltorch.add(a=x, x)\n  return x\n"),
            "trace.txt:7:24: error: a positional argument follows a keyword argument "
            "[malformed-statement]\n"
            "      t0 = ltorch.add(a=x, x)\n"
            "                           ^\n");
}

TEST(Malformed, TypeThatNoTensorHas) {
  EXPECT_EQ(said("  # x: \"cpu f32[-1]\"\n  return x\n"),
            "trace.txt:7:9: warning: type 'cpu f32[-1]': size -1 is negative [bad-type]\n"
            "      # x: \"cpu f32[-1]\"\n"
            "            ^~~~~~~~~~~\n"
            "hint: a type is a device, a dtype and sizes in brackets: cpu f32[2, 3]\n");
}

TEST(Malformed, TypesThatAreOdd) {
  const auto message = [](const std::string& type) {
    const TraceFile file = parse(trace_text("x", "  # x: \"" + type + "\"\n  return x\n"));
    return file.diagnostics.empty() ? "" : file.diagnostics[0].message;
  };
  EXPECT_EQ(message("cpu f32[2, 2.5]"), "type 'cpu f32[2, 2.5]': size 2.5 is no whole number");
  EXPECT_EQ(message("cpu f33[2]"), "type 'cpu f33[2]': 'f33' is no dtype known here");
  EXPECT_EQ(message("cpu f32[2"), "type 'cpu f32[2': '[' is not closed");
  EXPECT_EQ(
      message("cpu f32[99999999999999999999]"),
      "type 'cpu f32[99999999999999999999]': size 99999999999999999999 is beyond every memory");
  EXPECT_EQ(message("cpu f32[]"), "");
  EXPECT_EQ(message("cpu f32[0]"), "");
  EXPECT_EQ(message("cpu f32[?]"), "");
}

TEST(Malformed, TypographicQuotes) {
  EXPECT_EQ(said("  # x: \xe2\x80\x9c"
                 "cpu f32[2]\xe2\x80\x9d\n  return x\n"),
            "trace.txt:7: warning: typographic quotes were read as plain ones [smart-quotes]\n"
            "      # x: \xe2\x80\x9c"
            "cpu f32[2]\xe2\x80\x9d\n"
            "hint: a mail or chat program put them in; strings that hold them are changed\n");
}

TEST(Malformed, OldSideOfADiff) {
  EXPECT_EQ(
      rendered(parse("--- a\n+++ b\n@no_autocast\n def computation(x):\n   # x: \"cpu f32[2]\"\n"
                     "-  t0 = ltorch.sin(x)\n+  t0 = ltorch.cos(x)\n   return t0\n")),
      "trace.txt:6: note: this line of the diff's old side was left out [diff-removed-line]\n"
      "    -  t0 = ltorch.sin(x)\n"
      "hint: the program is the diff's new side; paste the old one alone to see it\n");
}

TEST(Malformed, DefLine) {
  EXPECT_EQ(rendered(parse(std::string(kHead) + "def computation(x, 3):\n  return x\n")),
            "trace.txt:6:20: error: a parameter name was expected [malformed-statement]\n"
            "    def computation(x, 3):\n"
            "                       ^\n");
}

TEST(Malformed, ParameterNamedTwice) {
  EXPECT_EQ(rendered(parse(std::string(kHead) + "def computation(x, y, x):\n  return x\n")),
            "trace.txt:6:23: error: parameter 'x' is named twice [duplicate-definition]\n"
            "    def computation(x, y, x):\n"
            "                          ^\n"
            "hint: Python refuses such a 'def' line\n");
}

TEST(Malformed, SignaturesThatPythonRefuses) {
  const auto message = [](const std::string& parameters) {
    const TraceFile file = parse(trace_text(parameters, "  return 1\n"));
    return file.diagnostics.empty() ? "" : file.diagnostics[0].message;
  };
  EXPECT_EQ(message("x=1, y"), "'y' has no default, but 'x' before it has one");
  EXPECT_EQ(message("*x, *y"), "a second '*' stands in the signature");
  EXPECT_EQ(message("**x, y"), "'y' stands behind '**x'");
  EXPECT_EQ(message("x=1, *, y"), "");
  EXPECT_EQ(message("*x, y=1, z, **w"), "");
}

TEST(Malformed, OneNameTwiceInOneStatement) {
  EXPECT_EQ(
      said("  (t0, t0) = ltorch.split(x, 1)\n  del x, x\n  return t0\n"),
      "trace.txt:7:4: warning: 't0' is defined twice by one statement [duplicate-definition]\n"
      "      (t0, t0) = ltorch.split(x, 1)\n"
      "       ^~\n"
      "hint: the last of the two values has the name\n"
      "trace.txt:8:7: note: 'x' is named twice in one 'del' [use-after-del]\n"
      "      del x, x\n"
      "          ^\n");
}

TEST(Malformed, AnnotatedTwice) {
  EXPECT_EQ(
      said("  # x: \"cpu f32[2]\"\n  # x: \"cpu f32[3]\"\n  return x\n"),
      "trace.txt:8:5: warning: 'x' is annotated again, as 'cpu f32[3]' [duplicate-definition]\n"
      "      # x: \"cpu f32[3]\"\n"
      "        ^\n"
      "hint: it counts as 'cpu f32[2]': take one of the two out\n"
      "trace.txt:7:5: note: first annotated here\n"
      "      # x: \"cpu f32[2]\"\n"
      "        ^~~~~~~~~~~~~~~\n");
}

TEST(Malformed, SecondReturn) {
  EXPECT_EQ(codes(parse(trace_text("x", "  return x\n  return x\n"))), "statement-after-return");
}

// A page break, a log line: what follows is read all the same.
TEST(Malformed, ForeignLinesInsideATrace) {
  const std::string rest = "  t0 = ltorch.neg(x)  # t0: \"cpu f32[2]\"\n  return t0\n";
  const TraceFile paged = parse(trace_text("x", "\f\n" + rest));
  EXPECT_EQ(codes(paged), "");
  EXPECT_EQ(paged.phases.at(0).trace.bound_symbols.size(), 2U);
  const TraceFile logged = parse(trace_text("x", "W0312 12:00:01 slow kernel\n" + rest));
  EXPECT_EQ(codes(logged), "malformed-statement");
  EXPECT_EQ(logged.diagnostics[0].at.line, 7U);
  EXPECT_EQ(logged.phases.at(0).trace.bound_symbols.size(), 3U);
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
