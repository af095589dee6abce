#include "core/base/text.h"

#include <gtest/gtest.h>

namespace tg {
namespace {

TEST(Text, SplitsLines) {
  EXPECT_EQ(split_lines("a\n\nb\n"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split_lines("a"), (std::vector<std::string_view>{"a"}));
  EXPECT_TRUE(split_lines("").empty());
}

TEST(Text, TrimsBothEnds) {
  EXPECT_EQ(trim(" \ta b\t "), "a b");
  EXPECT_EQ(trim(" \t"), "");
}

TEST(Text, KnowsIdentifiers) {
  EXPECT_TRUE(is_identifier("größe_2"));
  EXPECT_FALSE(is_identifier("2t"));
  EXPECT_FALSE(is_identifier("a.b"));
  EXPECT_FALSE(is_identifier(""));
}

TEST(Text, FindsTheNearestWord) {
  EXPECT_EQ(nearest("wieght", {"bias", "weight", "x"}), "weight");
  EXPECT_EQ(nearest("computation", {"bias", "weight"}), "");
  EXPECT_EQ(nearest("z", {"x", "y"}), "");
}

TEST(Text, CountsAndBytesInSentences) {
  EXPECT_EQ(count_of(1, "copy", "copies"), "1 copy");
  EXPECT_EQ(count_of(0, "copy", "copies"), "0 copies");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1500000), "1.5 MB");
}

}  // namespace
}  // namespace tg
