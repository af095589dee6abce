#include "core/text/parser.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/ir/program_source.h"
#include "text_support.h"

namespace tg {
namespace {

TraceFile example(const std::string& name) {
  return parse(*read_file(TG_SOURCE_DIR "/tests/text/traces/" + name + ".txt"));
}

TEST(Parser, ReadsHeadAndSignature) {
  const TraceFile file = example("26-bare-provenance");
  const Trace& trace = file.phases[0].trace;
  EXPECT_EQ(trace.provenance, "Extraction only prologue pass");
  EXPECT_TRUE(trace.bare_provenance);
  EXPECT_EQ(trace.imports.size(), 3U);
  EXPECT_EQ(trace.decorators[0], "@transformer_engine.fp8_autocast(fp8_recipe=te_fp8_recipe)");
  EXPECT_EQ(trace.name, "blend");
  ASSERT_EQ(trace.parameters.size(), 5U);
  EXPECT_EQ(to_text(trace.parameters[1].default_value), "0.5");
  EXPECT_EQ(trace.parameters[2].prefix, "*");
  EXPECT_EQ(trace.parameters[4].name, "extra");
}

TEST(Parser, TellsPhasesByProvenance) {
  const TraceFile file = example("28-two-traces");
  ASSERT_EQ(file.phases.size(), 2U);
  EXPECT_EQ(file.phases[0].label, "acquired");
  EXPECT_EQ(file.phases[1].label, "Delete Last Used");
  EXPECT_EQ(file.phases[1].trace.provenance, "Delete Last Used (took 1 milliseconds)");
  EXPECT_EQ(file.phases[1].trace.def_at.line, 16U);
}

TEST(Parser, ReadsRemarksBehindAnnotations) {
  const std::string text =
      trace_text("x", "  # x: \"cpu f32[3]\"   (requires_grad=True, leaf)\n  return x\n");
  const TraceFile file = parse(text);
  EXPECT_EQ(statement(file, 0).kind, StatementKind::UnpackTrivial);
  EXPECT_EQ(statement(file, 0).type->text, "cpu f32[3]");
  EXPECT_TRUE(has_remark(statement(file, 0), "leaf"));
  EXPECT_TRUE(has_remark(statement(file, 0), "requires_grad=True"));
  EXPECT_FALSE(has_remark(statement(file, 0), "requires_grad"));
  EXPECT_FALSE(statement(file, 0).verbatim.has_value());
  EXPECT_EQ(print(file), text);
}

// The copy_ is added behind line 13's statement, but stores what line 12 made.
constexpr std::string_view kAddedCopy =
    "  # x: \"cpu f32[2]\"\n\n"
    "  # m.py:11: \t    v = x.view(2)\n"
    "  v = ltorch.view(x, 2)  # v: \"cpu f32[2]\"\n"
    "  # Functionalized from `t2 = mul_(v,-1)`\n"
    "  t1 = ltorch.mul(v, -1)  # t1: \"cpu f32[2]\"\n\n"
    "  # m.py:13: \t    return v.sum()\n"
    "  t3 = ltorch.sum(t1, None)  # t3: \"cpu f32[]\"\n"
    "  t5 = prims.reshape(t1, (2,))  # t5: \"cpu f32[2]\"\n"
    "  t6 = prims.copy_(t5, x)  # t6: \"cpu f32[2]\"\n"
    "  return t3\n";

TEST(Parser, AddedCopiesTakeNoPositionOver) {
  const std::string text =
      "# Constructed by Functionalize in-place ops\n" + trace_text("x", kAddedCopy);
  const TraceFile file = parse(text);
  EXPECT_EQ(statement(file, 3).program_line->line, 13U);
  EXPECT_FALSE(statement(file, 5).program_line);
  EXPECT_EQ(print(file), text);
}

TEST(Parser, CopiesOfWhatTheirLineMadeKeepIt) {
  const TraceFile file = parse("# Constructed by Dead Code Elimination\n" +
                               trace_text("x, y",
                                          "  # m.py:11: \t    x.copy_(y.sin())\n"
                                          "  t0 = torch.sin(y)  # t0: \"cpu f32[2]\"\n"
                                          "  t1 = prims.copy_(t0, x)  # t1: \"cpu f32[2]\"\n"
                                          "  return t1\n"));
  ASSERT_TRUE(statement(file, 1).program_line);
  EXPECT_EQ(statement(file, 1).program_line->line, 11U);
}

TEST(ProgramSource, OfAnAddedCopyIsTheInPlaceStatement) {
  const TraceFile file =
      parse(trace_text("x",
                       "  # x: \"cpu f32[2]\"\n\n"
                       "  # m.py:11: \t    v = x.view(2)\n"
                       "  v = ltorch.view(x, 2)  # v: \"cpu f32[2]\"\n\n"
                       "  # m.py:12: \t    v.mul_(-1)\n"
                       "  t2 = ltorch.mul_(v, -1)  # t2: \"cpu f32[2]\"\n\n"
                       "  # m.py:13: \t    return v.sum()\n"
                       "  t3 = ltorch.sum(t2, None)  # t3: \"cpu f32[]\"\n"
                       "  return t3\n") +
            "\n# Constructed by Functionalize in-place ops\n" + trace_text("x", kAddedCopy));
  ASSERT_EQ(file.phases.size(), 2U);
  const Trace& last = file.phases[1].trace;
  const ProgramSource known = source_of(last, 5, {&file.phases[0].trace});
  ASSERT_NE(known.line, nullptr);
  EXPECT_EQ(known.line->line, 12U);
  EXPECT_TRUE(known.added_by_pass);
  const ProgramSource alone = source_of(last, 5, {});
  EXPECT_EQ(alone.line, nullptr);
  EXPECT_TRUE(alone.added_by_pass);
  EXPECT_EQ(source_of(last, 3, {}).line->line, 13U);
  EXPECT_FALSE(source_of(last, 3, {}).added_by_pass);
}

TEST(Parser, NestsSubStatements) {
  const TraceFile file = example("05-three-levels");
  const BoundSymbol& softmax = statement(file, 1);
  ASSERT_EQ(softmax.subsymbols.size(), 2U);
  ASSERT_EQ(softmax.subsymbols[0]->subsymbols.size(), 2U);
  EXPECT_EQ(one_line(*softmax.subsymbols[0]->subsymbols[1]),
            "t1 = prims.broadcast_in_dim(t0, [4, 1], [0])");
  EXPECT_EQ(softmax.subsymbols[1]->type->text, "cpu bf16[4, 8]");
}

TEST(Parser, KnowsOperations) {
  const TraceFile file = example("06-fusion");
  EXPECT_EQ(statement(file, 2).op, OpCode::Fusion);
  EXPECT_EQ(statement(file, 2).output.kind, ValueKind::List);
  EXPECT_TRUE(statement(example("22-update-aliases"), 2).subsymbols[1]->op_info().has(kCopyInto));
}

TEST(Parser, ReadsEveryKindOfValue) {
  const TraceFile file = example("09-literals");
  const std::vector<Value>& args = statement(file, 1).args;
  const std::vector<ValueKind> kinds = {ValueKind::Name,     ValueKind::Bool,   ValueKind::None,
                                        ValueKind::Ellipsis, ValueKind::Int,    ValueKind::Float,
                                        ValueKind::Float,    ValueKind::Float,  ValueKind::Float,
                                        ValueKind::Complex,  ValueKind::String, ValueKind::String,
                                        ValueKind::Keyword,  ValueKind::Keyword};
  ASSERT_EQ(args.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(args[i].kind, kinds[i]) << to_text(args[i]);
  EXPECT_EQ(args[7].text, "-float('inf')");
  EXPECT_EQ(args[13].items[0].kind, ValueKind::Dict);
}

TEST(Parser, KeepsBothSpacingsOfSlices) {
  const TraceFile file = example("10-slices");
  EXPECT_TRUE(statement(file, 1).args[1].items[1].tight);
  EXPECT_FALSE(statement(file, 2).args[1].items[1].tight);
}

TEST(Parser, UnpacksSequencesWithDetails) {
  const TraceFile file = example("15-backward-2025-02");
  const BoundSymbol& unpack = statement(file, 2);
  EXPECT_EQ(unpack.kind, StatementKind::UnpackSequence);
  EXPECT_EQ(to_text(unpack.output), "(C0, _)");
  EXPECT_EQ(to_text(unpack.args[0]), "saved_for_backward");
  ASSERT_EQ(unpack.details.size(), 2U);
  EXPECT_EQ(unpack.detail_types[0]->text, "Collection");
  EXPECT_EQ(unpack.details[1].kind, ValueKind::None);
  EXPECT_EQ(statement(file, 5).kind, StatementKind::EmptyCollection);
  EXPECT_EQ(file.phases[0].kind, TraceKind::Backward);
}

TEST(Parser, JoinsWrappedUnpacks) {
  const TraceFile file = example("14-backward-2024-11");
  const BoundSymbol& unpack = statement(file, 8);
  EXPECT_EQ(unpack.output.items.size(), 16U);
  EXPECT_FALSE(unpack.layout.one_name_per_line);
  EXPECT_TRUE(statement(example("03-one-name-per-line-unpack"), 1).layout.one_name_per_line);
}

TEST(Parser, TellsAccessesFromCalls) {
  const TraceFile file = example("18-prologue");
  const auto kind_of = [&file](std::string_view name) {
    for (const BoundSymbolRef& s : file.phases[0].trace.bound_symbols) {
      if (s->output.is_name(name)) return s->kind;
    }
    return StatementKind::Unparsed;
  };
  EXPECT_EQ(kind_of("x"), StatementKind::UnpackAccess);
  EXPECT_EQ(kind_of("module"), StatementKind::UnpackAccess);
  EXPECT_EQ(kind_of("it"), StatementKind::UnpackAccess);
  EXPECT_EQ(kind_of("_"), StatementKind::UnpackAccess);
  EXPECT_EQ(statement(file, 1).kind, StatementKind::Call);
  EXPECT_EQ(file.phases[0].kind, TraceKind::Prologue);
}

TEST(Parser, ReadsPackingOfEpilogues) {
  const TraceFile file = example("20-epilogue");
  EXPECT_EQ(statement(file, 3).callee, "module.set_buffer");
  EXPECT_EQ(statement(file, 4).kind, StatementKind::PackAssign);
  EXPECT_EQ(statement(file, 5).kind, StatementKind::PackAssign);
  EXPECT_EQ(statement(file, 6).kind, StatementKind::PackList);
  EXPECT_TRUE(statement(file, 6).args[0].trailing_comma);
  EXPECT_EQ(statement(file, 8).kind, StatementKind::Call);
}

TEST(Parser, AttachesHeadersToTheNextStatement) {
  const TraceFile file = example("23-headers-everywhere");
  EXPECT_EQ(statement(file, 0).kind, StatementKind::UnpackTrivial);
  EXPECT_EQ(statement(file, 0).header, (std::vector<std::string>{"note one", ""}));
  EXPECT_EQ(statement(file, 1).subsymbols[0]->kind, StatementKind::UnpackTrivial);
  EXPECT_EQ(statement(file, 1).subsymbols[1]->header, (std::vector<std::string>{"inner header"}));
  EXPECT_EQ(statement(file, 2).header, (std::vector<std::string>{"note two"}));
}

TEST(Parser, InheritsProgramLines) {
  const TraceFile file = example("13-source-positions");
  EXPECT_EQ(statement(file, 0).program_line, nullptr);
  ASSERT_NE(statement(file, 1).program_line, nullptr);
  EXPECT_EQ(statement(file, 1).program_line->file, "/w/my model.py");
  EXPECT_EQ(statement(file, 1).program_line->line, 12U);
  EXPECT_EQ(statement(file, 1).program_line->text, "    y = x * 2 + \\");
  // The position is printed again behind the `del`, so the `del` had none.
  EXPECT_EQ(statement(file, 2).program_line, nullptr);
  EXPECT_EQ(statement(file, 4).program_line, statement(file, 3).program_line);
  EXPECT_EQ(statement(file, 5).program_line->file, "C:\\w\\m.py");
  EXPECT_EQ(statement(file, 6).program_line->text, "");
}

TEST(Parser, ReadsReturnsWithSeveralValues) {
  const TraceFile file = example("16-augmented-forward");
  const BoundSymbol& returned = statement(file, 3);
  ASSERT_EQ(returned.args.size(), 2U);
  EXPECT_EQ(returned.args[0].kind, ValueKind::Dict);
  EXPECT_EQ(returned.args[1].kind, ValueKind::Tuple);
}

TEST(Parser, SharesTypesWithinAFile) {
  const TraceFile file = example("01-minimal");
  EXPECT_EQ(statement(file, 0).type, statement(file, 1).type);
}

TEST(Parser, ReadsForeignReprs) {
  const TraceFile file = example("25-dtensor");
  const Value& spec = statement(file, 2).args[1];
  EXPECT_EQ(spec.kind, ValueKind::Call);
  EXPECT_EQ(spec.text, "DTensorSpec");
  EXPECT_EQ(spec.items[0].items[0].items[1].kind, ValueKind::Opaque);
}

TEST(Parser, PositionsCountFromOne) {
  const TraceFile file = example("01-minimal");
  EXPECT_EQ(statement(file, 1).at, (SourceRange{8, 3, 17}));
  EXPECT_EQ(file.phases[0].trace.def_at, (SourceRange{6, 1, 19}));
}

TEST(Parser, HandEditedStatementsKeepTheirText) {
  const std::string text = trace_text("x", "  t0 = torch.sin( x )   # my note\n  return t0\n");
  const TraceFile file = parse(text);
  EXPECT_EQ(print(file), text);
  EXPECT_EQ(statement(file, 0).verbatim, "  t0 = torch.sin( x )   # my note");
  EXPECT_EQ(one_line(statement(file, 0)), "t0 = torch.sin(x)");
  EXPECT_FALSE(statement(file, 1).verbatim.has_value());
}

TEST(Parser, HandEditedLayoutPrintsBack) {
  for (const std::string& text :
       {trace_text("x", "\n\n  t0 = torch.sin(x)\n\n  return t0\n\n\n"),
        trace_text("x", "  # model.py:3:     y = x\n  t0 = torch.sin(x)\n  return t0\n"),
        trace_text("x,y", "  return (x, y)\n"), trace_text("x", "  #note\n  return x\n"),
        trace_text("x", "")}) {
    EXPECT_EQ(print(parse(text)), text);
  }
}

TEST(ParseStatement, ReadsOneWithSubStatements) {
  const Result<BoundSymbol> parsed =
      parse_statement("t9 = ltorch.neg(t3)  # t9: \"cpu f32[2]\"\n  # t9 = prims.neg(t3)");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->callee, "ltorch.neg");
  EXPECT_EQ(parsed->subsymbols.size(), 1U);
  EXPECT_EQ(parsed->at.line, 0U);
}

TEST(ParseStatement, RefusesTwo) {
  const Result<BoundSymbol> parsed = parse_statement("t0 = f(x)\nt1 = f(x)");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().message, "one statement was expected");
}

TEST(ParseStatement, TellsWhatIsWrong) {
  const Result<BoundSymbol> parsed = parse_statement("t0 = f(x + 1)");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().message, "',' or ')' was expected, found '+'");
  EXPECT_EQ(parsed.error().at, (SourceRange{1, 10, 1}));
}

TEST(ParseValue, ReadsNestedValues) {
  for (const std::string_view text :
       {"a", "(a,)", "[1, (2, 3)]", "{'k': slice(0,8,None)}", "a[0]['k'].b", "f(x=1).g(2)",
        "[IntegerProxy name=i0, value=2]", "(object of type a_b)", "<Foo at 0x1>", "-3"}) {
    const Result<Value> value = parse_value(text);
    ASSERT_TRUE(value.has_value()) << text;
    EXPECT_EQ(to_text(*value), text);
  }
}

TEST(ParseValue, TellsWhatIsWrong) {
  const auto message = [](std::string_view text) { return parse_value(text).error().message; };
  EXPECT_EQ(message("(a, b"), "'(' is not closed");
  EXPECT_EQ(message("'abc"), "the string is not closed");
  EXPECT_EQ(message("a b"), "the value ends before this text");
  EXPECT_EQ(message(""), "a value is missing at the end of the line");
  EXPECT_EQ(message("{'k' 1}"), "':' was expected after the key, found '1'");
  EXPECT_EQ(message("12ab"), "a number cannot end in a letter");
  EXPECT_EQ(message(std::string(500, '[')), "values nest deeper than 200 levels");
}

}  // namespace
}  // namespace tg
