#include "core/export/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.h"

namespace tg {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TraceFile two_phases() {
  return parse_trace_file("sample.txt",
                          "def computation(x):\n"
                          "  # x: \"cpu f32[2]\"\n"
                          "  ltorch.mul_(x, 2.0)\n"
                          "  return None\n"
                          "\n"
                          "# Constructed by Functionalize in-place ops\n"
                          "def computation(x):\n"
                          "  # x: \"cpu f32[2]\"\n"
                          "  t0 = ltorch.mul(x, 2.0)  # t0: \"cpu f32[2]\"\n"
                          "  prims.copy_(t0, x)\n"
                          "  return None\n");
}

CheckReport sample_check() {
  CheckReport check;
  check.verdict = VerdictKind::Different;
  check.headline = "argument x loses 1 of 2 writes";
  check.phases.resize(2);
  check.phases[1].file_index = 1;
  check.pairs.push_back({0, 1, {}});
  check.pairs[0].comparison.verdict = VerdictKind::Different;
  check.not_tested = {"GPU", "x aliasing y"};
  return check;
}

TEST(Report, HasVerdictPhasesAndDifferencesAsMarkdown) {
  const TraceFile file = two_phases();
  ASSERT_EQ(file.phases.size(), 2U);
  const std::string text = to_markdown(make_report(file, sample_check(), "sample.txt"));
  EXPECT_THAT(text, HasSubstr("# Thunderglass report: sample.txt\n\n## Verdict\n\n"
                              "DIFFERENT: argument x loses 1 of 2 writes\n"));
  EXPECT_THAT(text, HasSubstr("Not tested: GPU; x aliasing y.\n"));
  EXPECT_THAT(text, HasSubstr("| 1 Functionalize in-place ops | 2 | 1 |"));
  EXPECT_THAT(text, HasSubstr("+ t0 = ltorch.mul(x, 2.0)\n+ prims.copy_(t0, x)\n"));
  EXPECT_THAT(text, HasSubstr("- ltorch.mul_(x, 2.0)\n"));
}

TEST(Report, IsOneHtmlPageWithAnchorsAndWithoutLinksOutside) {
  const std::string page = to_html(make_report(two_phases(), sample_check(), "<b>.txt"));
  EXPECT_THAT(page, HasSubstr("<title>Thunderglass report: &lt;b&gt;.txt</title>"));
  EXPECT_THAT(page, HasSubstr("<span id=\"L3\" class=\"same\">"));
  EXPECT_THAT(page, HasSubstr("<span id=\"L10\" class=\"same\">"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST(Report, FencesCodeThatContainsFences) {
  Report report{"t", {{"s", {ReportCode{"text", {{' ', 0, "a ```` b"}}}}}}};
  EXPECT_EQ(to_markdown(report),
            "# t\n\n## s\n\n<details><summary>text</summary>\n\n`````python\na ```` "
            "b\n`````\n\n</details>\n");
}

}  // namespace
}  // namespace tg
