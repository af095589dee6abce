// What-if edits and moves.
#include "core/edit/edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/edit/move.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {
namespace {

using testing::HasSubstr;

constexpr std::string_view kProgram =
    "def computation(a, b):\n"
    "  # a: \"cpu f32[4]\"\n"
    "  # b: \"cpu f32[4]\"\n"
    "  t0 = ltorch.mul(a, 2.0)  # t0: \"cpu f32[4]\"\n"
    "  t1 = ltorch.add(a, b, alpha=1)  # t1: \"cpu f32[4]\"\n"
    "  t2 = prims.copy_(t0, a)  # t2: \"cpu f32[4]\"\n"
    "  t3 = ltorch.neg(b)  # t3: \"cpu f32[4]\"\n"
    "  return (t1, t3)\n";

Trace program(std::string_view text = kProgram) {
  return parse_trace_file("test", std::string(text)).phases.front().trace;
}

LineIndex lines_of(const Trace& trace) {
  return [&trace](std::uint32_t line) -> StatementId {
    for (StatementId id = 0; id < trace.bound_symbols.size(); ++id) {
      if (trace.bound_symbols[id]->at.line == line) return id;
    }
    return kNoStatement;
  };
}

std::string edited(const std::vector<std::string>& texts, std::string_view source = kProgram) {
  const Trace trace = program(source);
  std::vector<ProgramEdit> edits;
  for (const std::string& text : texts) {
    auto edit = parse_edit(text);
    if (!edit) return "error: " + edit.error().message;
    edits.push_back(std::move(*edit));
  }
  const auto result = apply_edits(trace, edits, lines_of(trace));
  if (!result) return "error: " + result.error().message;
  // An edit is a pass like others: its steps replay to its result.
  if (result->after.parameters == trace.parameters) {
    EXPECT_TRUE(same_body(replay(trace, result->steps), result->after));
  }
  return print(result->after);
}

TEST(Edit, ReturnsAnotherValue) {
  EXPECT_THAT(edited({"return a"}), HasSubstr("\n  return a"));
  EXPECT_THAT(edited({"return t1, a"}), HasSubstr("\n  return (t1, a)"));
}

TEST(Edit, AWrappedReturnKeepsItsArguments) {
  std::string source(kProgram);
  source.replace(source.find("(t1, t3)"), 8, "{'output': (t1, t3), 'flat_args': [a, b]}");
  EXPECT_THAT(edited({"return t2"}, source),
              HasSubstr("return {'output': t2, 'flat_args': [a, b]}"));
}

TEST(Edit, DropsOneLineOrSeveral) {
  EXPECT_THAT(edited({"drop line 6"}), testing::Not(HasSubstr("copy_")));
  const std::string text = edited({"drop lines 4-6"});
  EXPECT_THAT(text, testing::Not(HasSubstr("t0")));
  EXPECT_THAT(text, HasSubstr("t3 = ltorch.neg(b)"));
}

TEST(Edit, Moves) {
  const std::string text = edited({"move line 6 before line 5"});
  EXPECT_LT(text.find("copy_"), text.find("ltorch.add"));
  const std::string after = edited({"move line 4 after line 5"});
  EXPECT_LT(after.find("ltorch.add"), after.find("ltorch.mul"));
}

TEST(Edit, InsertsAndReplaces) {
  const std::string text = edited(
      {"insert t9 = prims.clone(a) before line 5", "replace line 5 with t1 = ltorch.add(t9, b)"});
  EXPECT_LT(text.find("t9 = prims.clone(a)"), text.find("t1 = ltorch.add(t9, b)"));
}

TEST(Edit, LinesAreThoseOfTheUneditedProgram) {
  const std::string text = edited({"drop line 4", "drop line 7"});
  EXPECT_THAT(text, testing::Not(HasSubstr("ltorch.mul")));
  EXPECT_THAT(text, testing::Not(HasSubstr("ltorch.neg")));
}

TEST(Edit, ARenameReachesSignatureAnnotationAndUses) {
  const std::string text = edited({"rename a to state"});
  EXPECT_THAT(text, HasSubstr("def computation(state, b):"));
  EXPECT_THAT(text, HasSubstr("# state: \"cpu f32[4]\""));
  EXPECT_THAT(text, HasSubstr("t2 = prims.copy_(t0, state)"));
}

TEST(Edit, RefusesWhatCannotBe) {
  EXPECT_EQ(edited({"drop line 99"}), "error: line 99 holds no statement of this program");
  EXPECT_EQ(edited({"rename a to b"}), "error: the name 'b' is taken: # b: \"cpu f32[4]\"");
  EXPECT_EQ(edited({"rename zz to y"}), "error: nothing is called 'zz'");
  EXPECT_EQ(edited({"move line 4 after line 4"}), "error: line 4 cannot move next to itself");
  EXPECT_EQ(edited({"drop line 4", "move line 4 after line 5"}),
            "error: line 4 holds no statement of this program");
}

TEST(Edit, SaysHowAnEditLooks) {
  const auto hint = [](std::string_view text) { return parse_edit(text).error().hint; };
  EXPECT_EQ(hint("drop"), "for example: drop line 7");
  EXPECT_EQ(hint("move line 7"), "for example: move line 7 after line 9");
  EXPECT_EQ(hint("insert t = f(x)"), "for example: insert t9 = prims.clone(t3) before line 8");
  EXPECT_EQ(hint("replace line 7"), "for example: replace line 7 with t1 = prims.exp(a)");
  EXPECT_EQ(hint("rename a"), "for example: rename t7 to hidden");
  EXPECT_THAT(hint("delete line 7"), HasSubstr("drop line N"));
}

struct Reach {
  std::uint32_t first = 0, last = 0;
  std::string above, below;
};

Reach reach(std::uint32_t line, std::string_view source = kProgram) {
  const Trace trace = program(source);
  const DefUse def_use(trace);
  const AliasSets aliases(trace, def_use);
  const MoveRange range = legal_moves(trace, def_use, aliases, lines_of(trace)(line));
  return {trace.bound_symbols[range.earliest]->at.line, trace.bound_symbols[range.latest]->at.line,
          range.above ? range.above->reason : "", range.below ? range.below->reason : ""};
}

TEST(Move, ACopyStaysBehindTheReaderOfTheOldValue) {
  const Reach found = reach(6);
  EXPECT_EQ(found.first, 6U);
  EXPECT_EQ(found.last, 7U);
  EXPECT_EQ(found.above, "line 5 reads the old a, which it overwrites");
  EXPECT_EQ(found.below, "nothing runs after the return");
}

TEST(Move, AReaderStaysBeforeTheWriter) {
  const Reach found = reach(5);
  EXPECT_EQ(found.first, 4U);
  EXPECT_EQ(found.below, "line 6 writes a, which it reads");
}

TEST(Move, AValueIsMadeBeforeItIsRead) {
  EXPECT_EQ(reach(4).below, "line 6 reads t0, which it defines");
}

TEST(Move, DisjointWindowsDoNotMeet) {
  constexpr std::string_view kSlices =
      "def computation(a, b):\n"
      "  # a: \"cpu f32[4]\"\n"
      "  # b: \"cpu f32[2]\"\n"
      "  t0 = prims.slice_prim(a, (0,), (2,), (1,))  # t0: \"cpu f32[2]\"\n"
      "  t1 = prims.slice_prim(a, (2,), (4,), (1,))  # t1: \"cpu f32[2]\"\n"
      "  t2 = ltorch.neg(t0)  # t2: \"cpu f32[2]\"\n"
      "  t3 = prims.copy_(b, t1)  # t3: \"cpu f32[2]\"\n"
      "  return (t2,)\n";
  EXPECT_EQ(reach(7, kSlices).first, 6U);
}

}  // namespace
}  // namespace tg
