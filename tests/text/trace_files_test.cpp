// Traces of every version and form, one file each: they print back byte for byte from their
// structure alone.
#include <algorithm>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "text_support.h"

namespace tg {
namespace {

std::vector<std::string> trace_files() {
  std::set<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(TG_SOURCE_DIR "/tests/text/traces")) {
    files.insert(entry.path().string());
  }
  return {files.begin(), files.end()};
}

bool is_structural(const BoundSymbol& statement) {
  return !statement.verbatim && statement.kind != StatementKind::Unparsed &&
         statement.kind != StatementKind::Elision &&
         std::all_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [](const BoundSymbolRef& child) { return is_structural(*child); });
}

class TraceFiles : public testing::TestWithParam<std::string> {};

TEST_P(TraceFiles, PrintBackFromStructure) {
  const Result<std::string> text = read_file(GetParam());
  ASSERT_TRUE(text.has_value());
  const TraceFile file = parse(*text);
  ASSERT_FALSE(file.phases.empty());
  EXPECT_EQ(print(file), *text);
  for (const Phase& phase : file.phases) {
    EXPECT_FALSE(phase.trace.verbatim_head.has_value());
    EXPECT_FALSE(phase.trace.verbatim_tail.has_value());
    for (const BoundSymbolRef& statement : phase.trace.bound_symbols) {
      EXPECT_TRUE(is_structural(*statement)) << one_line(*statement);
    }
  }
  for (const Diagnostic& diagnostic : file.diagnostics) {
    EXPECT_NE(diagnostic.severity, Severity::Error) << render(diagnostic, file.name, file.text);
  }
}

TEST_P(TraceFiles, ParseAgainToEqualTraces) {
  const TraceFile file = parse(*read_file(GetParam()));
  const TraceFile again = parse(print(file));
  ASSERT_EQ(again.phases.size(), file.phases.size());
  for (std::size_t i = 0; i < file.phases.size(); ++i) {
    EXPECT_TRUE(again.phases[i].trace == file.phases[i].trace);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, TraceFiles, testing::ValuesIn(trace_files()),
                         [](const auto& file) {
                           std::string name = std::filesystem::path(file.param).stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tg
