#include "core/analysis/findings.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/parser.h"
#include "core/text/printer.h"
#include "tests/support/trace_text.h"

namespace tg {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> messages(std::string_view arguments, std::string_view statements) {
  const Trace trace = test::make_trace(arguments, statements);
  std::vector<std::string> texts;
  for (const Finding& finding : find_hazards(trace)) {
    texts.push_back(std::string(finding_text(finding.code)) + ": " + finding.message);
  }
  return texts;
}

TEST(Findings, CleanProgramHasNone) {
  EXPECT_THAT(
      messages("x: f32[2]; y: f32[2]",
               "t0 = prims.mul(x, y)  # t0: \"cpu f32[2]\"\nt1 = prims.copy_(t0, x)\nreturn (t0,)"),
      IsEmpty());
}

TEST(Findings, WriteAfterReturn) {
  EXPECT_THAT(
      messages("x: f32[2]; y: f32[2]", "return (y,)\nt1 = prims.copy_(y, x)"),
      ElementsAre(
          "write-after-return: write-after-return: line 5 (prims.copy_) stands after `return` "
          "(line 4) and is never executed: the write is lost"));
}

TEST(Findings, AWriteToALeafThatRequiresGrad) {
  const auto found = [](const std::string& remark, const std::string& grad) {
    const Trace trace = test::make_trace("x: f32[3]",
                                         "t1 = ltorch.mul(x, 2)  # t1: \"cpu f32[3]\"\n"
                                         "t0 = prims.copy_(t1, x" +
                                             grad + ")  # t0: \"cpu f32[3]\"\nreturn (t0,)");
    std::string text = print(trace);
    const std::size_t end = text.find('\n', text.find("# x: "));
    text.insert(end, remark);
    const TraceFile file = parse_trace_file("t", text);
    std::vector<std::string> texts;
    for (const Finding& finding : find_hazards(file.phases.front().trace))
      texts.push_back(finding.message);
    return texts;
  };
  EXPECT_THAT(found("   (requires_grad=True, leaf)", ""),
              ElementsAre("argument `x` requires grad, is a leaf and is written in place"));
  EXPECT_THAT(found("   (requires_grad=True, leaf)", ", grad_enabled=False"), IsEmpty());
  EXPECT_THAT(found("   (requires_grad=True)", ""), IsEmpty());
  EXPECT_THAT(found("", ""), IsEmpty());
}

TEST(Findings, CopyOntoIntermediate) {
  EXPECT_THAT(messages("p: f32[]",
                       "t0 = ltorch.add(p, 1.0)  # t0: \"cpu f32[]\"\n"
                       "t3 = prims.copy_(t0, p)  # t3: \"cpu f32[]\"\n"
                       "t1 = ltorch.mul(t0, t0)  # t1: \"cpu f32[]\"\n"
                       "t2 = prims.copy_(t1, t0)  # t2: \"cpu f32[]\"\nreturn (t2,)"),
              ElementsAre("copy-onto-intermediate: copy-onto-intermediate: line 6 writes `t0`, a "
                          "temporary whose value "
                          "line 4 had already copied to argument `p`: `p` keeps the older value"));
}

TEST(Findings, CopyOntoIntermediateThatIsCopiedOutAgainIsFine) {
  EXPECT_THAT(messages("p: f32[]",
                       "t0 = ltorch.add(p, 1.0)  # t0: \"cpu f32[]\"\n"
                       "t3 = prims.copy_(t0, p)\n"
                       "t1 = ltorch.mul(t0, t0)  # t1: \"cpu f32[]\"\n"
                       "t2 = prims.copy_(t1, t0)\nt4 = prims.copy_(t0, p)\nreturn (t1,)"),
              IsEmpty());
}

TEST(Findings, CopyOntoCastOfArgument) {
  EXPECT_THAT(
      messages("x: f32[2]; m: f16[2]",
               "t0 = prims.convert_element_type(m, dtypes.float32)  # t0: \"cpu f32[2]\"\n"
               "t1 = prims.copy_(x, t0)  # t1: \"cpu f32[2]\"\nreturn (x,)"),
      ElementsAre(
          "copy-onto-intermediate: copy-onto-intermediate: line 5 writes `t0`, which line 4 "
          "(prims.convert_element_type) made as a copy of argument `m`, and nothing reads it "
          "afterwards: `m` does not get the value"));
}

TEST(Findings, StaleCopyByHeaders) {
  EXPECT_THAT(messages("x: f32[2]",
                       "# Functionalized from `t1 = exp_(x)`\n"
                       "t0 = ltorch.exp(x)  # t0: \"cpu f32[2]\"\n"
                       "# Functionalized from `t3 = sin_(t1)`\n"
                       "t2 = ltorch.sin(t0)  # t2: \"cpu f32[2]\"\n"
                       "t4 = prims.copy_(t0, x)  # t4: \"cpu f32[2]\"\nreturn (t2,)"),
              ElementsAre("stale-copy: stale copy onto `x`: line 7 stores `t0`, but the newest "
                          "value of `x` is `t2`"));
}

TEST(Findings, NewestCopyIsNotStale) {
  EXPECT_THAT(messages("x: f32[2]",
                       "# Functionalized from `t1 = exp_(x)`\n"
                       "t0 = ltorch.exp(x)  # t0: \"cpu f32[2]\"\n"
                       "# Functionalized from `t3 = sin_(t1)`\n"
                       "t2 = ltorch.sin(t0)  # t2: \"cpu f32[2]\"\n"
                       "t4 = prims.copy_(t2, x)  # t4: \"cpu f32[2]\"\nreturn (t2,)"),
              IsEmpty());
}

TEST(Findings, StaleCopyByTheEarlierTrace) {
  const Trace earlier =
      test::make_trace("p: f32[3]",
                       "t0 = ltorch.relu_(p)  # t0: \"cpu f32[3]\"\n"
                       "  # t50 = ltorch.relu(p)  # t50: \"cpu f32[3]\"\n"
                       "  # t0 = prims.copy_(t50, p)  # t0: \"cpu f32[3]\"\n"
                       "t1 = ltorch.mul_(p, 10.0)  # t1: \"cpu f32[3]\"\n"
                       "  # t51 = ltorch.mul(p, 10.0)  # t51: \"cpu f32[3]\"\n"
                       "  # t1 = prims.copy_(t51, p)  # t1: \"cpu f32[3]\"\nreturn (t1,)");
  const Trace later =
      test::make_trace("p: f32[3]",
                       "t0 = ltorch.relu(p)  # t0: \"cpu f32[3]\"\n"
                       "t1 = ltorch.mul(t0, 10.0)  # t1: \"cpu f32[3]\"\n"
                       "t3 = prims.copy_(t0, p)  # t3: \"cpu f32[3]\"\nreturn (t1,)");
  EXPECT_TRUE(find_hazards(later).empty());
  const std::vector<Finding> findings = find_hazards(later, {}, &earlier);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message,
            "stale copy onto `p`: line 5 stores `t0`, but the newest value of `p` is `t1`");
}

TEST(Findings, BroadcastReadRacesWithTheWrite) {
  EXPECT_THAT(
      messages("p: f32[2]; q: f32[2, 2]",
               "[t2] = nvFusion0(p, q)\n"
               "  # t0 = prims.neg(p)  # t0: \"cpu f32[2]\"\n"
               "  # t1 = prims.broadcast_in_dim(p, (2, 2), (1,))  # t1: \"cpu f32[2, 2]\"\n"
               "  # t2 = prims.add(t1, q)  # t2: \"cpu f32[2, 2]\"\n"
               "  # t3 = prims.copy_(t0, p)  # t3: \"cpu f32[2]\"\nreturn (t2,)"),
      ElementsAre(
          "write-after-read: write-after-read on the storage of `p`: line 6 "
          "(prims.broadcast_in_dim) "
          "reads `p` not element by element, and line 8 (prims.copy_) writes it in the same kernel "
          "nvFusion0; the write must come in a later segment"));
}

TEST(Findings, ElementByElementReadIsNoHazard) {
  EXPECT_THAT(
      messages("p: f32[1, 2]; q: f32[1, 2]",
               "[t1] = nvFusion0(p, q)\n"
               "  # t0 = prims.broadcast_in_dim(p, (1, 2), (0, 1))  # t0: \"cpu f32[1, 2]\"\n"
               "  # t1 = prims.add(q, t0)  # t1: \"cpu f32[1, 2]\"\n"
               "  # t2 = prims.copy_(t1, p)  # t2: \"cpu f32[1, 2]\"\nreturn (t1,)"),
      IsEmpty());
}

TEST(Findings, ReadAfterWriteInOneKernel) {
  EXPECT_THAT(messages("p: f32[2]",
                       "[t2] = nvFusion0(p)\n"
                       "  # t0 = prims.neg(p)  # t0: \"cpu f32[2]\"\n"
                       "  # t1 = prims.copy_(t0, p)  # t1: \"cpu f32[2]\"\n"
                       "  # t2 = prims.sin(p)  # t2: \"cpu f32[2]\"\nreturn (t2,)"),
              ElementsAre("read-after-write-in-region: read-after-write on the storage of `p`: "
                          "line 6 (prims.sin) reads "
                          "`p` after line 5 (prims.copy_) wrote it in the same kernel nvFusion0: "
                          "run line by line it "
                          "reads the new value, as one kernel the old one"));
}

TEST(Findings, ReadOfTheCopyResultIsNoHazard) {
  EXPECT_THAT(messages("p: f32[2]",
                       "[t2] = nvFusion0(p)\n"
                       "  # t0 = prims.neg(p)  # t0: \"cpu f32[2]\"\n"
                       "  # t1 = prims.copy_(t0, p)  # t1: \"cpu f32[2]\"\n"
                       "  # t2 = prims.sin(t1)  # t2: \"cpu f32[2]\"\nreturn (t2,)"),
              IsEmpty());
}

TEST(Findings, TorchCompileKeepsTheOrder) {
  EXPECT_THAT(messages("p: f32[2]; q: f32[2, 2]",
                       "[t2] = TorchCompile0(p, q)\n"
                       "  # t0 = prims.neg(p)  # t0: \"cpu f32[2]\"\n"
                       "  # t1 = prims.broadcast_in_dim(p, (2, 2), (1,))  # t1: \"cpu f32[2, 2]\"\n"
                       "  # t2 = prims.add(t1, q)  # t2: \"cpu f32[2, 2]\"\n"
                       "  # t3 = prims.copy_(t0, p)  # t3: \"cpu f32[2]\"\nreturn (t2,)"),
              IsEmpty());
}

TEST(Findings, WriteThroughExpandedView) {
  EXPECT_THAT(
      messages("p: f32[3]; y: f32[2, 3]",
               "t0 = ltorch.expand(p, 2, 3)  # t0: \"cpu f32[2, 3]\"\n"
               "t1 = prims.copy_(y, t0)  # t1: \"cpu f32[2, 3]\"\nreturn (p,)"),
      ElementsAre("refused-write: in `t0` several elements are one memory cell of "
                  "`p`, and PyTorch refuses to write there (RuntimeError: more than one element of "
                  "the written-to tensor refers to a single memory location)"));
  // It looks for expanded dims only.
  EXPECT_THAT(
      messages("p: f32[3]; y: f32[2, 2]",
               "t0 = ltorch.as_strided(p, (2, 2), (1, 1), 0)  # t0: \"cpu f32[2, 2]\"\n"
               "t1 = prims.copy_(y, t0)  # t1: \"cpu f32[2, 2]\"\nreturn (p,)"),
      ElementsAre(
          "write-through-overlap: write through `t0`, in which several elements are one "
          "memory cell of `p`: PyTorch does not notice, and element by element the last one "
          "wins"));
}

TEST(Findings, OneValueMayBeWrittenToAnExpandedView) {
  EXPECT_THAT(messages("p: f32[3]",
                       "t0 = ltorch.expand(p, 2, 3)  # t0: \"cpu f32[2, 3]\"\n"
                       "t1 = ltorch.zero_(t0)  # t1: \"cpu f32[2, 3]\"\nreturn (p,)"),
              IsEmpty());
}

TEST(Findings, RedundantAliasUpdates) {
  EXPECT_THAT(
      messages("p: f32[2]",
               "(t0,) = prims.update_aliases((p,))\n"
               "t1 = ltorch.neg_(t0)  # t1: \"cpu f32[2]\"\n"
               "(t2,) = prims.update_aliases((t1,))\n"
               "t3 = ltorch.mul(t2, t2)  # t3: \"cpu f32[2]\"\n"
               "(t4,) = prims.update_aliases((t2,))\n"
               "t5 = ltorch.mul(t3, t4)  # t5: \"cpu f32[2]\"\n"
               "(t6,) = prims.update_aliases((t4,))\n"
               "t7 = ltorch.mul(t5, t6)  # t7: \"cpu f32[2]\"\nreturn (t7,)"),
      ElementsAre(
          "redundant-alias-update: 1 needed of 4 update_aliases: the others have no write to their "
          "storages since the update before"));
}

TEST(Findings, WholeCopyForPartialWrite) {
  EXPECT_THAT(messages("cache: f32[3, 2]; pos: i64[1]; k: f32[1, 2]",
                       "t0 = prims.copy_with_setitem(cache, pos, k)  # t0: \"cpu f32[3, 2]\"\n"
                       "t1 = prims.copy_(t0, cache)  # t1: \"cpu f32[3, 2]\"\nreturn (t1,)"),
              ElementsAre("whole-copy-for-partial-write: clone and copy_ of all of `cache` (24 B "
                          "cloned and 24 B copied "
                          "back, the part is 8 B) can be one write of the part that line 5 "
                          "(prims.copy_with_setitem) "
                          "changes"));
}

TEST(Findings, DeadWriteToTemporary) {
  EXPECT_THAT(
      messages("p: f32[2]",
               "t0 = ltorch.add(p, 1.0)  # t0: \"cpu f32[2]\"\n"
               "t1 = ltorch.mul_(t0, 10.0)  # t1: \"cpu f32[2]\"\n"
               "t2 = ltorch.add_(p, 5.0)  # t2: \"cpu f32[2]\"\nreturn ()"),
      ElementsAre(
          "dead-write: dead write: line 4 (ltorch.mul_) writes temporary `t0`, which nothing reads "
          "afterwards"));
}

TEST(Findings, DuplicateDefinition) {
  EXPECT_THAT(messages("t0: f32[2]",
                       "t1 = ltorch.mul(t0, 2.0)  # t1: \"cpu f32[2]\"\n"
                       "t0 = ltorch.add(t1, 1.0)  # t0: \"cpu f32[2]\"\nreturn (t0,)"),
              ElementsAre("duplicate-definition: `t0` is defined twice: as an argument (line 2) "
                          "and at line 4; the later "
                          "one is another value, not a write to the earlier one"));
}

TEST(Findings, BindingTheSameTensorAgainIsNoDuplicate) {
  EXPECT_THAT(
      messages("x: f32[2]; y: f32[2]", "x = prims.copy_(y, x)  # x: \"cpu f32[2]\"\nreturn (x,)"),
      IsEmpty());
}

TEST(Findings, OverlappingOperands) {
  EXPECT_THAT(
      messages("p: f32[4]",
               "t0 = prims.slice_prim(p, [0], [3])  # t0: \"cpu f32[3]\"\n"
               "t1 = prims.slice_prim(p, [1], [4])  # t1: \"cpu f32[3]\"\n"
               "t2 = prims.copy_(t0, t1)  # t2: \"cpu f32[3]\"\nreturn (p,)"),
      ElementsAre(
          "refused-write: `t0` and `t1` overlap in the storage of `p` without being "
          "the same elements, and PyTorch refuses that (RuntimeError: some elements of the input "
          "tensor and the written-to tensor refer to a single memory location)"));
  EXPECT_EQ(finding_severity(FindingCode::RefusedWrite), Severity::Error);
}

TEST(Findings, OverlappingOperandsWithGapsAreNotNoticed) {
  EXPECT_THAT(
      messages("p: f32[6]",
               "t0 = ltorch.getitem(p, slice(0, 3, 2))  # t0: \"cpu f32[2]\"\n"
               "t1 = ltorch.getitem(p, slice(2, 5, 2))  # t1: \"cpu f32[2]\"\n"
               "t2 = prims.copy_(t0, t1)  # t2: \"cpu f32[2]\"\nreturn (p,)"),
      ElementsAre("overlapping-operands: `t0` and `t1` overlap in the storage of `p` without being "
                  "the same elements, and PyTorch does not notice: what is read last may be what "
                  "was written first"));
}

TEST(Findings, CloneBetweenOverlappingViewsIsNeeded) {
  EXPECT_THAT(
      messages("p: f32[4]",
               "t0 = prims.slice_prim(p, [0], [3])  # t0: \"cpu f32[3]\"\n"
               "t1 = ltorch.clone(t0)  # t1: \"cpu f32[3]\"\n"
               "t2 = prims.slice_prim(p, [1], [4])  # t2: \"cpu f32[3]\"\n"
               "t3 = prims.copy_(t1, t2)  # t3: \"cpu f32[3]\"\nreturn (p,)"),
      ElementsAre("clone-needed: clone needed: `t0` and `t2`, the destination of line 6, overlap "
                  "in the storage "
                  "of `p`; without the clone the copy_ would read what it has just written"));
}

TEST(Findings, CodesAreUniqueAndExplained) {
  std::set<std::string_view> texts;
  for (const FindingCode code : all_finding_codes()) {
    EXPECT_TRUE(texts.insert(finding_text(code)).second) << finding_text(code);
    EXPECT_FALSE(finding_help(code).empty());
  }
}

}  // namespace
}  // namespace tg
