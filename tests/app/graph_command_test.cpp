// dot and render: options, refusals, links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/command_line.h"

namespace tg {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using GraphCommand = CommandLine;

TEST_F(GraphCommand, AnUnknownSuffixIsRefusedWithTheFormats) {
  for (const char* name : {"a.xyz", "a", "a.dot"}) {
    const std::string path = (folder_ / name).string();
    const Ran ran = run({"render", "lost_write.txt", "-o", path});
    EXPECT_EQ(ran.exit, 2) << name;
    EXPECT_FALSE(std::filesystem::exists(path)) << name;
  }
  EXPECT_THAT(run({"render", "lost_write.txt", "-o", "a.xyz"}).err,
              HasSubstr("'xyz' is no picture format; formats are svg, png and pdf"));
  EXPECT_THAT(run({"render", "lost_write.txt", "-o", "a.gv"}).err, HasSubstr("'dot' writes DOT"));
}

TEST_F(GraphCommand, StatementsLinkToTheirLines) {
  EXPECT_THAT(run({"dot", "lost_write.txt"}).out, HasSubstr("URL=\"lost_write.txt#L12\""));
  EXPECT_THAT(run({"dot", "lost_write.txt", "--link", "none"}).out, Not(HasSubstr("URL=")));
  EXPECT_THAT(run({"dot", "lost_write.txt", "--link", "https://x.org/{file}?line={line}"}).out,
              HasSubstr("URL=\"https://x.org/lost_write.txt?line=12\""));
}

TEST_F(GraphCommand, LinksAreSeenFromTheOutputsFolder) {
  const Ran ran = run({"dot", "seed/copy-forward.txt", "-o", (folder_ / "links.dot").string()});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(read(folder_ / "links.dot"), HasSubstr("/seed/copy-forward.txt#L"));
  EXPECT_THAT(read(folder_ / "links.dot"), HasSubstr("URL=\"../"));
}

TEST_F(GraphCommand, AFileNameThatIsNoUrlIsEncoded) {
  const std::string path = write("a b#c.txt", read("lost_write.txt"));
  EXPECT_THAT(run({"dot", path}).out, HasSubstr("/a%20b%23c.txt#L12\""));
}

TEST_F(GraphCommand, ALineIsANeighbourhoodToo) {
  EXPECT_EQ(run({"dot", "issue_1109.txt:0:20", "--depth", "1"}).exit, 0);
  EXPECT_THAT(run({"dot", "issue_1109.txt:0:20", "--depth", "1"}).out, HasSubstr("\"second\""));
}

TEST_F(GraphCommand, AliasesOfArgumentsAreDrawn) {
  EXPECT_THAT(run({"dot", "aliased_arguments.txt"}).out, Not(HasSubstr("one storage")));
  EXPECT_THAT(run({"dot", "aliased_arguments.txt", "--alias", "b=a[1:3]"}).out,
              HasSubstr("one storage"));
}

TEST_F(GraphCommand, TwentyThousandStatementsAreDrawnAndMoreComeWithAWarning) {
  const auto chain = [](std::size_t statements) {
    std::string text = "def computation(a):\n  # a: \"cpu f32[2]\"\n";
    for (std::size_t i = 0; i < statements; ++i) {
      text += fmt::format("  t{} = ltorch.neg({})\n", i, i == 0 ? "a" : fmt::format("t{}", i - 1));
    }
    return text + fmt::format("  return t{}\n", statements - 1);
  };
  const std::string out = (folder_ / "chain.dot").string();
  const Ran exact = run({"dot", write("a.txt", chain(20'000)), "-o", out, "-f"});
  EXPECT_EQ(exact.exit, 0);
  EXPECT_THAT(exact.err, IsEmpty());
  const Ran more = run({"dot", write("b.txt", chain(20'001)), "-o", out, "-f"});
  EXPECT_EQ(more.exit, 0);
  EXPECT_THAT(more.err, HasSubstr("--near NAME shows a part"));
  EXPECT_EQ(run({"dot", write("b.txt", chain(30)), "--max-nodes", "20"}).exit, 2);
}

}  // namespace
}  // namespace tg
