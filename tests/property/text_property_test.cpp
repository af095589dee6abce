// Reading and printing are inverse on random programs.
#include <gtest/gtest.h>

#include "core/text/printer.h"
#include "tests/property/program.h"

namespace tg {
namespace {

TEST(TextProperty, PrintGivesTheTextBack) {
  EXPECT_TRUE(test::holds("print(parse(text)) == text", 400, [](const test::ProgramGenes& genes) {
    const std::string text = test::grow(genes).text;
    const TraceFile file = parse_trace_file("generated", text);
    RC_ASSERT(file.diagnostics.empty());
    RC_ASSERT(print(file) == text);
  }));
}

TEST(TextProperty, ParseGivesTheTraceBack) {
  EXPECT_TRUE(test::holds("parse(print(trace)) == trace", 200, [](const test::ProgramGenes& genes) {
    const Trace trace = parse_trace_file("generated", test::grow(genes).text).phases.front().trace;
    const TraceFile again = parse_trace_file("again", print(trace));
    RC_ASSERT(again.phases.size() == 1U);
    RC_ASSERT(again.phases.front().trace == trace);
  }));
}

}  // namespace
}  // namespace tg
