// Any bytes give a file with diagnostics: no crash, no endless loop, nothing lost.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "text_support.h"

namespace tg {
namespace {

const std::string& sample() {
  static const std::string text =
      std::string("# Constructed by Functionalize in-place ops\n") +
      trace_text("x, *args",
                 "  # x: \"cpu f32[2, 3]\"\n\n"
                 "  # m.py:3: \t    y = f(x)\n"
                 "  # Functionalized from `t1 = add_(x,1)`\n"
                 "  (t0, _) = ltorch.f(x, (1, 'a', slice(0,2,None)), k={'a': [x]})\n"
                 "    # t0 = prims.neg(x)  # t0: \"cpu f32[2, 3]\"\n"
                 "  C0, _, = args\n"
                 "  # C0: \"Collection\"\n"
                 "  del x, C0\n"
                 "  return {'output': (t0,)}, ()\n");
  return text;
}

// Reads, renders every finding, prints; what was printed reads and prints the same.
bool survives(const std::string& text) {
  const TraceFile file = parse(text);
  for (const Diagnostic& diagnostic : file.diagnostics) {
    if (render(diagnostic, file.name, file.text).empty()) return false;
  }
  const std::string printed = print(file);
  return print(parse(printed)) == printed;
}

TEST(Hostile, TruncatedAtEveryByte) {
  for (std::size_t size = 0; size <= sample().size(); ++size) {
    EXPECT_TRUE(survives(sample().substr(0, size))) << size;
  }
}

TEST(Hostile, BeginsAtEveryByte) {
  for (std::size_t begin = 0; begin <= sample().size(); ++begin) {
    EXPECT_TRUE(survives(sample().substr(begin))) << begin;
  }
}

TEST(Hostile, AnyChangeOfBytes) {
  const bool held = rc::check("a damaged trace is read and printed", [] {
    std::string text = sample();
    const auto edits = *rc::gen::inRange(1, 8);
    for (int i = 0; i < edits; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          text[at] = *rc::gen::arbitrary<char>();
          break;
        case 1:
          text.erase(at, *rc::gen::inRange<std::size_t>(1, 20));
          break;
        case 2:
          text.insert(at, 1, *rc::gen::elementOf(std::string("()[]{}\"'\\#:,= \n\t")));
          break;
        default:
          text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size()), 30));
          break;
      }
      if (text.empty()) text = "x";
    }
    RC_ASSERT(survives(text));
  });
  EXPECT_TRUE(held);
}

// Behind any byte that no trace contains nothing is lost: what was read prints back, and the byte
// is reported where it stands.
TEST(Hostile, ForeignBytesAreReportedWhereTheyStand) {
  // Another indentation of the first body line is laid out anew.
  const std::size_t body = sample().find("  # x: ");
  for (const char byte : {'\0', '\x01', '\x07', '\x0b', '\x1f', '\x7f'}) {
    std::size_t line = 0;
    std::size_t line_begin = 0;
    for (std::size_t at = 0; at < sample().size(); ++at) {
      if (at > body + 1 && at != line_begin) {
        std::string text = sample();
        text.insert(at, 1, byte);
        const TraceFile file = parse(text);
        EXPECT_EQ(print(file), text) << at;
        const bool told = std::any_of(
            file.diagnostics.begin(), file.diagnostics.end(), [&](const Diagnostic& finding) {
              return finding.code == DiagnosticCode::InvalidCharacter &&
                     finding.at == SourceRange{static_cast<std::uint32_t>(line + 1),
                                               static_cast<std::uint32_t>(at - line_begin + 1), 1};
            });
        EXPECT_TRUE(told) << static_cast<int>(byte) << " at " << at;
      }
      if (sample()[at] == '\n') {
        ++line;
        line_begin = at + 1;
      }
    }
  }
}

// Damaged pastes print something that reads and prints the same.
TEST(Hostile, LineEndsInsideNotebookCells) {
  EXPECT_TRUE(
      survives("{\"cells\": [{\"source\": [\"@no_autocast\\n\", \"def computation(x):\\n\",\n"
               "\"  # x: \\\"cpu f32[2]\\\"\\r\\n\", \"  t0 = prims.neg(x)  # t0: "
               "\\\"cpu\\rf32[2]\\\"\\n\",\n"
               "\"  return t0\\n\"]}], \"nbformat\": 4}\n"));
}

TEST(Hostile, HeadLinesBehindPiecesOfStatements) {
  EXPECT_TRUE(
      survives("  # t31: \"cpu f32[2]\"\n"
               "    # t31 = prims.mul(mask, t28)  # t31: def computation(anchor, mask):\n"
               "  # anchor: \"cpu f32[2]\"\n"
               "  t27 = ltorch.mul(anchor, anchor)  # t27: \"cpu f32[2]\"\n  rrn (t31,)\n"));
}

TEST(Hostile, AnyBytes) {
  EXPECT_TRUE(rc::check("any bytes are read and printed",
                        [](const std::string& bytes) { RC_ASSERT(survives(bytes)); }));
}

TEST(Hostile, LongAndDeepTexts) {
  std::string deep;
  for (std::size_t depth = 0; depth < 1000; ++depth)
    deep += std::string(2 + 2 * depth, ' ') + "# t = f(x)\n";
  std::string headers;
  for (int i = 0; i < 20000; ++i) headers += "  # header\n";
  std::string open;
  for (int i = 0; i < 20000; ++i) open += "  t = f(\n";
  std::string parameters = "a0";
  for (int i = 1; i < 20000; ++i) parameters += ", a" + std::to_string(i);
  const std::string bodies[] = {
      "  t0 = f(" + std::string(100000, '(') + ")\n",
      "  t0 = f(" + std::string(100000, '[') + std::string(100000, ']') + ")\n  return x\n",
      "  t0 = f(" + std::string(1000000, 'a') + ")\n  return t0\n",
      "  t0 = f(" + std::string(1000000, '<') + ")\n",
      "  t0 = f(" + std::string(1000000, '\'') + ")\n",
      "  t0 = f(x)  # t0: \"cpu f32[1000000000000000000, 1000000000000000000]\"\n  return t0\n",
      "  t = f(x)\n" + deep,
      headers,
      open,
      "  return (" + parameters + ")\n",
      std::string(100000, '\0'),
  };
  for (const std::string& body : bodies)
    EXPECT_TRUE(survives(trace_text("x", body))) << body.substr(0, 80);
  EXPECT_TRUE(survives(trace_text(parameters, "  return a0\n")));
}

TEST(Hostile, HugeShapesHaveNoSize) {
  const TraceFile file = parse(trace_text(
      "x", "  # x: \"cpu f32[1000000000000000000, 1000000000000000000]\"\n  return x\n"));
  const TypeRef& type = statement(file, 0).type;
  ASSERT_TRUE(type->is_concrete_tensor());
  EXPECT_FALSE(type_bytes(*type).has_value());
}

}  // namespace
}  // namespace tg
