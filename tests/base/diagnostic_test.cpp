#include "core/base/diagnostic.h"

#include <set>

#include <gtest/gtest.h>

namespace tg {
namespace {

Diagnostic finding() {
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::UndefinedName;
  diagnostic.message = "nothing defines 'u'";
  diagnostic.at = {2, 8, 1};
  return diagnostic;
}

TEST(Diagnostics, CodesAreUniqueAndExplained) {
  std::set<std::string_view> seen;
  for (const DiagnosticCode code : all_diagnostic_codes()) {
    EXPECT_TRUE(seen.insert(code_text(code)).second) << code_text(code);
    EXPECT_FALSE(code_help(code).empty()) << code_text(code);
  }
}

TEST(Diagnostics, RenderPointsToTheSpan) {
  EXPECT_EQ(render(finding(), "f.txt", "first\nt0 = f(u)\n"),
            "f.txt:2:8: error: nothing defines 'u' [undefined-name]\n"
            "    t0 = f(u)\n"
            "           ^\n");
}

TEST(Diagnostics, RenderWithoutText) {
  EXPECT_EQ(render(finding(), "f.txt", ""),
            "f.txt:2:8: error: nothing defines 'u' [undefined-name]\n");
}

TEST(Diagnostics, RenderHintAndNotes) {
  Diagnostic diagnostic = finding();
  diagnostic.hint = "did you mean 'x'?";
  diagnostic.notes.push_back({"'x' is defined here", {1, 1, 5}});
  EXPECT_EQ(render(diagnostic, "f.txt", "first\nt0 = f(u)\n"),
            "f.txt:2:8: error: nothing defines 'u' [undefined-name]\n"
            "    t0 = f(u)\n"
            "           ^\n"
            "hint: did you mean 'x'?\n"
            "f.txt:1:1: note: 'x' is defined here\n"
            "    first\n"
            "    ^~~~~\n");
}

TEST(Diagnostics, RenderCutsLongLinesAroundTheSpan) {
  Diagnostic diagnostic = finding();
  diagnostic.at = {1, 5001, 3};
  const std::string text =
      render(diagnostic, "f", std::string(5000, 'a') + "bcd" + std::string(5000, 'e'));
  EXPECT_NE(text.find("abcde"), std::string::npos);
  EXPECT_LT(text.size(), 500U);
}

TEST(Diagnostics, RenderShowsControlCharactersAsBlanks) {
  EXPECT_NE(render(finding(), "f", "\nt0 = \x1b(u)").find("    t0 =  (u)"), std::string::npos);
}

TEST(Diagnostics, SinkKnowsErrors) {
  DiagnosticSink sink;
  Diagnostic note = finding();
  note.severity = Severity::Note;
  sink.add(note);
  EXPECT_FALSE(sink.has_errors());
  sink.add(finding());
  EXPECT_TRUE(sink.has_errors());
  EXPECT_EQ(sink.all().size(), 2U);
}

}  // namespace
}  // namespace tg
