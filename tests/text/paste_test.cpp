// One trace, disguised in each way that people paste traces: the same trace is found, at the right
// lines.
#include "core/text/paste.h"

#include <functional>

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "text_support.h"

namespace tg {
namespace {

const std::string& plain() {
  static const std::string text =
      std::string("# Constructed by Delete Last Used (took 1 milliseconds)\n") +
      trace_text("x, t_w",
                 "  # x: \"cuda:0 f32[2, 3]\"\n"
                 "  # t_w: \"cuda:0 f32[2, 3]\"\n"
                 "\n"
                 "  # model.py:7: \t    y = x * w\n"
                 "  t0 = ltorch.mul(x, t_w)  # t0: \"cuda:0 f32[2, 3]\"\n"
                 "    # t0 = prims.mul(x, t_w)  # t0: \"cuda:0 f32[2, 3]\"\n"
                 "  del x\n"
                 "  t1 = prims.copy_(t0, t_w)  # t1: \"cuda:0 f32[2, 3]\"\n"
                 "  return (t1,)");
  return text;
}
constexpr std::uint32_t kDefLine = 7;

std::string each_line(const std::function<std::string(std::size_t, std::string)>& change) {
  std::string out;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(plain()))
    out += change(++number, std::string(line)) + '\n';
  return out;
}

std::string prefixed(const std::string& prefix) {
  return each_line([&](std::size_t, const std::string& line) { return prefix + line; });
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// `text` holds the plain trace `count` times, and nothing was lost or complained about.
void expect_found(const std::string& text, std::uint32_t def_line = kDefLine,
                  std::size_t count = 1) {
  const TraceFile file = parse(text);
  ASSERT_EQ(file.phases.size(), count) << text << rendered(file);
  for (const Phase& phase : file.phases) {
    EXPECT_EQ(replaced(print(phase.trace), "\n\n\n", "\n\n"),
              plain() + (phase.trace.ends_with_newline ? "\n" : ""))
        << text;
  }
  if (def_line != 0) {
    EXPECT_EQ(file.phases[0].trace.def_at.line, def_line);
  }
  for (const Diagnostic& diagnostic : file.diagnostics) {
    EXPECT_TRUE(diagnostic.code == DiagnosticCode::NotATrace ||
                diagnostic.code == DiagnosticCode::SmartQuotes ||
                diagnostic.code == DiagnosticCode::DiffRemovedLine)
        << rendered(file);
  }
}

std::string undone(const std::string& text) {
  std::string words;
  for (const FoundProgram& program : find_programs(text).programs) {
    for (const std::string& word : program.undone) words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

TEST(Paste, CleanTextIsLeftAlone) {
  EXPECT_TRUE(is_clean_trace_text(plain()));
  EXPECT_TRUE(is_clean_trace_text(plain() + "\n" + plain() + "\n"));
  EXPECT_FALSE(is_clean_trace_text("hello\n" + plain()));
  EXPECT_FALSE(is_clean_trace_text("import torch\n\ndef f(x):\n    return x + 1\n"));
  EXPECT_FALSE(is_clean_trace_text(""));
}

TEST(Paste, Fences) {
  expect_found("## Bug\n\ntext (see `def f(x)`):\n```python\n" + plain() +
                   "\n```\nand again\n~~~\n" + plain() + "\n~~~\n",
               kDefLine + 4, 2);
}

TEST(Paste, LogPrefixOnEveryLine) {
  for (const std::string prefix :
       {"2026-01-12 09:31:00,123 - INFO - ", "[rank0]: ", "(pid=12) ",
        "I0101 00:00:00.000000 77 a.py:9] [0/0] ", "2025-01-02T03:04:05.1234567Z ",
        "INFO:thunder:", "E   ", "web-1  | "}) {
    expect_found(prefixed(prefix));
    EXPECT_EQ(undone(prefixed(prefix)), "line-prefix") << prefix;
  }
}

TEST(Paste, LogPrefixThatChanges) {
  expect_found(each_line([](std::size_t n, const std::string& line) {
    return "2026-01-12 09:31:" + std::to_string(10 + n) + "," + std::to_string(100 + 37 * n % 900) +
           " - DEBUG - " + line;
  }));
}

TEST(Paste, BlankLinesLoseTheTrailingBlanksOfThePrefix) {
  expect_found(each_line(
      [](std::size_t, const std::string& line) { return line.empty() ? ">" : "> " + line; }));
}

TEST(Paste, LogPrefixOnTheFirstLineOnly) {
  expect_found("12:00:01 DEBUG thunder.extend:103 - " + plain() + "\n12:00:02 INFO done\n");
}

TEST(Paste, Prompts) {
  expect_found(">>> print(thunder.last_traces(jf)[-1])\n" + plain() + "\n>>> exit()\n",
               kDefLine + 1);
  expect_found("In [2]: thunder.last_traces(jf)[-1]\nOut[2]: \n" + plain() + "\n\nIn [3]: quit\n",
               kDefLine + 2);
  expect_found("Out[2]: " + plain() + "\n");
}

TEST(Paste, SpaceBeforeTheFirstLine) {
  expect_found("the trace:\n " + plain() + "\n", kDefLine + 1);
}

TEST(Paste, SpaceBeforeADefLineOnly) {
  const TraceFile file =
      parse("the trace:\n def computation(x):\n  # x: \"cpu f32[2]\"\n  return (x,)\n");
  ASSERT_EQ(file.phases.size(), 1U);
  EXPECT_EQ(statement(file, 1).kind, StatementKind::Return);
}

TEST(Paste, LineEnds) {
  expect_found(replaced(plain(), "\n", "\r\n"));
  expect_found(replaced(plain(), "\n", "\r"));
  EXPECT_EQ(undone(replaced(plain(), "\n", "\r\n")), "crlf");
  EXPECT_EQ(undone(replaced(plain(), "\n", "\r")), "cr");
}

TEST(Paste, ByteOrderMark) {
  expect_found("\xef\xbb\xbf" + plain());
  EXPECT_EQ(undone("\xef\xbb\xbf" + plain()), "bom");
}

TEST(Paste, TerminalColours) {
  expect_found(replaced(replaced(plain(), "torch", "\x1b[34mtorch\x1b[0m"), "def",
                        "\x1b[1;32mdef\x1b[39;49m"));
}

TEST(Paste, Tabs) {
  expect_found(replaced(replaced(plain(), "\n    #", "\n\t\t#"), "\n  ", "\n\t"));
}

TEST(Paste, IndentedBlocks) {
  for (const std::string prefix : {" ", "    ", "        ", "\t"}) expect_found(prefixed(prefix));
  expect_found(each_line(
      [](std::size_t, const std::string& line) { return line.empty() ? "" : "    " + line; }));
}

TEST(Paste, NoBreakSpaces) {
  expect_found(replaced(plain(), "\n  ", "\n\xc2\xa0\xc2\xa0"));
}

TEST(Paste, WiderIndentation) {
  expect_found(replaced(replaced(plain(), "\n  ", "\n    "), "\n      #", "\n        #"));
  expect_found(replaced(plain(), "\n  ", "\n     "));
}

TEST(Paste, TrailingBlanks) {
  const std::string text = each_line(
      [](std::size_t n, const std::string& line) { return line + std::string(n % 3, ' '); });
  expect_found(replaced(text, "w  \n", "w\n"));
}

TEST(Paste, QuotedMail) {
  expect_found("On Monday somebody wrote:\n" + prefixed("> ") + "\nfine.\n", kDefLine + 1);
  expect_found(prefixed("> > "));
  EXPECT_EQ(undone(prefixed("> ")), "quote-prefix");
}

TEST(Paste, SmartQuotes) {
  const std::string text =
      replaced(replaced(plain(), ": \"", ": \xe2\x80\x9c"), "]\"", "]\xe2\x80\x9d");
  expect_found(text);
  EXPECT_EQ(codes(parse(text)), "smart-quotes");
  EXPECT_EQ(parse(text).diagnostics[0].at.line, 8U);
}

TEST(Paste, Html) {
  const std::string escaped = replaced(plain(), "\"", "&quot;");
  expect_found("<details><summary>trace</summary>\n<pre>\n" + escaped + "\n</pre>\n</details>\n",
               kDefLine + 2);
  expect_found("<pre><code>" + replaced(escaped, "def ", "<span class=\"k\">def</span> ") +
               "</code></pre>\n");
}

TEST(Paste, Notebook) {
  std::string text = "{\n \"cells\": [\n  {\"text\": [\n";
  for (const std::string_view line : split_lines(plain())) {
    text += "   \"" + replaced(replaced(std::string(line), "\"", "\\\""), "\t", "\\t") + "\\n\",\n";
  }
  expect_found(text + "   \"\"\n  ]}\n ],\n \"nbformat\": 4\n}\n", kDefLine + 3);
  EXPECT_EQ(undone(text + "   \"\"\n  ]}\n ],\n \"nbformat\": 4\n}\n"), "notebook");
}

TEST(Paste, TextInsideAStringLiteral) {
  expect_found("'" + replaced(replaced(plain(), "\n", "\\n"), "\t", "\\t") + "\\n'\n", 0);
}

TEST(Paste, LineNumbers) {
  expect_found(each_line([](std::size_t n, const std::string& line) {
    return std::string(n < 10 ? 3 : 2, ' ') + std::to_string(n) + "  " + line;
  }));
  expect_found(each_line(
      [](std::size_t n, const std::string& line) { return std::to_string(n) + ": " + line; }));
  expect_found(each_line(
      [](std::size_t n, const std::string& line) { return std::to_string(n) + " | " + line; }));
  expect_found(each_line(
      [](std::size_t n, const std::string& line) { return std::to_string(n) + "\t" + line; }));
}

TEST(Paste, CommentedOut) {
  expect_found(each_line(
      [](std::size_t, const std::string& line) { return line.empty() ? "#" : "# " + line; }));
}

TEST(Paste, Docstring) {
  expect_found("def explain(x):\n    \"\"\"What happens.\n\n" + prefixed("        ") +
                   "\n    Returns it.\n    \"\"\"\n    return x\n",
               kDefLine + 3);
}

TEST(Paste, PrintedList) {
  expect_found("[" + plain() + ", " + plain() + "]\n", kDefLine, 2);
  expect_found(
      "[" + replaced(plain(), "\n", "\n ") + ",\n " + replaced(plain(), "\n", "\n ") + "]\n",
      kDefLine, 2);
}

TEST(Paste, HardWraps) {
  expect_found(replaced(plain(), "computation(", "compu\ntation("), 0);
  expect_found(replaced(plain(), "ltorch.mul(x, t_w)  # t0: \"cuda:0 ",
                        "ltorch.mul(x, t_\nw)  # t0: \"cuda:0 "),
               0);
  expect_found(
      replaced(plain(), "copy_(t0, t_w)  # t1: \"cuda:0 ", "copy_(t0, t_w)  # t1: \"cuda\n:0 "), 0);
  expect_found(replaced(plain(), "return (t1,)", "return (t1\n,)"), 0);
}

TEST(Paste, Diff) {
  const std::string old = "-  t0 = ltorch.mul(x, x)  # t0: \"cuda:0 f32[2, 3]\"\n";
  std::string text;
  for (const std::string_view line : split_lines(plain())) {
    const bool changed = line.starts_with("  t0 = ltorch");
    if (changed) text += old;
    text += (changed ? "+" : " ") + std::string(line) + '\n';
  }
  expect_found("```diff\n" + text + "```\n", kDefLine + 1);
  const TraceFile file = parse("```diff\n" + text + "```\n");
  ASSERT_EQ(codes(file), "diff-removed-line");
  EXPECT_EQ(file.diagnostics[0].at.line, 13U);
}

TEST(Paste, NoiseAround) {
  expect_found("*** before ***\n====\n" + plain() +
                   "\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n"
                   "RuntimeError: expected (a, b\n",
               kDefLine + 2);
  expect_found(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2]\"):\n        return "
      "(x,)\n\n" +
          plain(),
      kDefLine + 4);
}

TEST(Paste, OrdinaryPythonIsNoTrace) {
  for (const std::string text :
       {"import thunder\nimport torch\n\ndef f(x):\n    return x + 1\n\njf = thunder.jit(f)\n",
        "```python\nimport torch\ndef f(x):\n    y = torch.sin(x)\n    return y\n```\n",
        "def forward(self, x: \"f32[2]\"):\n    sin: \"f32[2]\" = torch.ops.aten.sin.default(x);  "
        "x = None\n    return (sin,)\n",
        "Hello, when is the next release due?\n", "", "\n\n\n"}) {
    const TraceFile file = parse(text);
    EXPECT_TRUE(file.phases.empty()) << text;
    EXPECT_NE(codes(file).find("no-trace-found"), std::string::npos) << text;
  }
}

TEST(Paste, SaysWhyAFunctionIsNoTrace) {
  EXPECT_EQ(
      rendered(parse("import torch\n\ndef f(x):\n    return x + 1\n")),
      "trace.txt: error: no trace was found [no-trace-found]\n"
      "hint: a trace is what print(thunder.last_traces(fn)[-1]) shows\n"
      "trace.txt:3:1: note: this function is no trace: its body is ordinary Python [not-a-trace]\n"
      "    def f(x):\n"
      "    ^~~~~~~~~\n");
}

TEST(Paste, LeftOutLines) {
  for (const std::string mark : {"  ...", "...", "(...)", "[...]", "  # ...", "... 300 lines more",
                                 "<snip>", "(truncated)", "\xe2\x80\xa6"}) {
    const TraceFile file = parse("look:\n" + replaced(plain(), "  del x", mark));
    ASSERT_EQ(file.phases.size(), 1U) << mark;
    EXPECT_EQ(codes(file), "elision") << mark;
    EXPECT_EQ(file.diagnostics[0].at.line, 15U) << mark;
  }
}

TEST(Paste, FragmentsWithoutHead) {
  const TraceFile file = parse(
      "I see\n```\n  t0 = ltorch.mul(x, w)  # t0: \"cpu f32[2]\"\n"
      "    # t0 = prims.mul(x, w)  # t0: \"cpu f32[2]\"\n  del x\n```\nhelp\n");
  ASSERT_EQ(file.phases.size(), 1U);
  EXPECT_FALSE(file.phases[0].trace.has_def_line);
  EXPECT_EQ(file.phases[0].trace.bound_symbols.size(), 2U);
  EXPECT_EQ(codes(file), "");
}

TEST(Paste, DiagnosticsPointIntoTheOriginal) {
  const TraceFile file = parse(replaced(prefixed("[rank0]: "), "del x", "del q"));
  EXPECT_EQ(rendered(file),
            "trace.txt:14:16: error: nothing defines 'q' [undefined-name]\n"
            "    [rank0]:   del q\n"
            "                   ^\n");
}

}  // namespace
}  // namespace tg
