#include "core/golden/text_match.h"

#include <gtest/gtest.h>

namespace tg::golden {
namespace {

TEST(TextMatch, FreshNamesMayBeRenamedConsistently) {
  EXPECT_EQ(text_fault("t0 = f(x)", "t0 = f(x)\nt7 = g(t0, t7)", "t0 = f(x)\nt9 = g(t0, t9)"), "");
}

TEST(TextMatch, ARenamingMustBeOneToOne) {
  EXPECT_NE(text_fault("", "t1 = f(t2)", "t1 = f(t1)"), "");
  EXPECT_NE(text_fault("", "t1 = f(t1)", "t1 = f(t2)"), "");
}

TEST(TextMatch, NamesOfTheInputStay) {
  EXPECT_EQ(text_fault("t0 = f(x)\nt1 = f(x)", "del t0", "del t1"),
            "recorded 'del t0', here 'del t1'");
}

TEST(TextMatch, DtypesAreNoFreshNames) {
  EXPECT_NE(text_fault("", "t1: \"cpu f32[2]\"", "t1: \"cpu f16[2]\""), "");
}

TEST(TextMatch, UpdatesOfAliasesMayListTheirPairsInAnyOrder) {
  constexpr std::string_view kInput = "x y";
  constexpr std::string_view kRecorded =
      "(t1, t2) = prims.update_aliases((y, x))\n(t3, t4) = update_aliases((t1, t2))\nf(t3, t4)";
  EXPECT_EQ(text_fault(kInput, kRecorded,
                       "(t5, t6) = prims.update_aliases((x, y))\n"
                       "(t7, t8) = update_aliases((t6, t5))\nf(t7, t8)"),
            "");
  EXPECT_NE(text_fault(kInput, kRecorded,
                       "(t5, t6) = prims.update_aliases((x, y))\n"
                       "(t7, t8) = update_aliases((t6, t5))\nf(t8, t7)"),
            "");
}

TEST(TextMatch, MillisecondsDiffer) {
  EXPECT_EQ(text_fault("", "# Constructed by Delete Last Used (took 3 milliseconds)",
                       "# Constructed by Delete Last Used (took 0 milliseconds)"),
            "");
  EXPECT_NE(text_fault("", "f(3)", "f(0)"), "");
}

TEST(TextMatch, ObjectsThatPrintingRenames) {
  EXPECT_EQ(text_fault("_torch_memory_format_3", "clone(a, _torch_memory_format_3)",
                       "clone(a, _torch_memory_format_4)"),
            "");
}

TEST(TextMatch, ARepeatedPositionLineIsOptional) {
  const char* once = "\n  # m.py:1: \t  a\n  x\n  del y\n  z\n";
  EXPECT_EQ(text_fault("", once, "\n  # m.py:1: \t  a\n  x\n  del y\n\n  # m.py:1: \t  a\n  z\n"),
            "");
  EXPECT_NE(text_fault("", once, "\n  # m.py:1: \t  a\n  x\n  del y\n\n  # m.py:2: \t  b\n  z\n"),
            "");
}

TEST(TextMatch, AMissingEndIsSeen) {
  EXPECT_NE(text_fault("", "a\nb", "a\n"), "");
  EXPECT_NE(text_fault("", "a\n", "a\nb"), "");
}

}  // namespace
}  // namespace tg::golden
