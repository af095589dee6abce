#include "core/pass/name_table.h"

#include <gtest/gtest.h>

namespace tg {
namespace {

TEST(NameIndex, NumbersFollowTheOrderOfInsertion) {
  NameIndex index;
  EXPECT_EQ(index.insert("t7"), (std::pair<NameId, bool>(0, true)));
  EXPECT_EQ(index.insert("weight_of_layer_3"), (std::pair<NameId, bool>(1, true)));
  EXPECT_EQ(index.insert("t7"), (std::pair<NameId, bool>(0, false)));
  EXPECT_EQ(index.find("weight_of_layer_3"), 1U);
  EXPECT_EQ(index.find("t8"), kNoName);
}

TEST(NameIndex, ALeadingZeroMakesAnotherName) {
  NameIndex index;
  index.insert("t1");
  index.insert("t01");
  EXPECT_NE(index.find("t1"), index.find("t01"));
  EXPECT_EQ(index.find("t001"), kNoName);
}

TEST(NameIndex, ANumberFarBeyondTheCountIsFoundLaterToo) {
  NameIndex index;
  index.insert("t9999999");
  EXPECT_EQ(index.find("t9999999"), 0U);
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.push_back("t" + std::to_string(i));
  for (const std::string& text : texts) index.insert(text);
  EXPECT_EQ(index.insert("t9999999"), (std::pair<NameId, bool>(0, false)));
  for (NameId i = 0; i < texts.size(); ++i) EXPECT_EQ(index.find(texts[i]), i + 1);
}

TEST(NameIndex, WordsThatDifferInOneByteAreTold) {
  NameIndex index;
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) texts.push_back("layers_" + std::to_string(i) + "_weight");
  for (int i = 0; i < 3000; ++i) texts.push_back("k_" + std::to_string(i));
  for (const std::string& text : texts) EXPECT_TRUE(index.insert(text).second) << text;
  for (NameId i = 0; i < texts.size(); ++i) EXPECT_EQ(index.find(texts[i]), i);
}

}  // namespace
}  // namespace tg
