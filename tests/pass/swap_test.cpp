#include "core/pass/swap.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace tg {
namespace {

TEST(SwapMap, ChainsAreFollowedAndLaterEntriesReplaceEarlierOnes) {
  SwapMap map;
  map.set(1, 2);
  map.set(2, 3);
  EXPECT_EQ(map.direct(1), 2U);
  EXPECT_EQ(map.end(1, nullptr), 3U);
  map.set(3, 4);
  EXPECT_EQ(map.end(1, nullptr), 4U);
  map.set(2, 5);
  EXPECT_EQ(map.end(1, nullptr), 5U);
  EXPECT_EQ(map.end(9, nullptr), kNoName);
}

TEST(SwapMap, ACycleIsReported) {
  SwapMap map;
  map.set(1, 2);
  map.set(2, 1);
  bool cycle = false;
  EXPECT_EQ(map.end(1, &cycle), kNoName);
  EXPECT_TRUE(cycle);
}

// Thunder's dictionary, shortened entry by entry after each change.
class ShortenedDictionary {
 public:
  bool set(NameId from, NameId to) {
    map_[from] = to;
    for (auto& [key, value] : map_) {
      NameId at = value;
      std::size_t steps = 0;
      while (map_.contains(at)) {
        if (++steps > map_.size()) return false;
        at = map_[at];
      }
      value = at;
    }
    return true;
  }
  NameId end(NameId name) const {
    const auto found = map_.find(name);
    return found == map_.end() ? kNoName : found->second;
  }

 private:
  std::map<NameId, NameId> map_;
};

TEST(ShortenedSwapMap, AgreesWithADictionaryThatIsShortenedAfterEachChange) {
  constexpr NameId kNames = 12;
  std::size_t cycles = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<NameId> any(0, kNames - 1);
    ShortenedSwapMap map;
    ShortenedDictionary dictionary;
    for (int change = 0; change < 30; ++change) {
      const NameId from = any(random);
      const NameId to = any(random);
      const bool ends = dictionary.set(from, to);
      ASSERT_EQ(map.set(from, to), ends) << "seed " << seed << " change " << change;
      if (!ends) {
        ++cycles;
        break;
      }
      for (NameId name = 0; name < kNames; ++name) {
        ASSERT_EQ(map.end(name), dictionary.end(name)) << "seed " << seed << " change " << change;
      }
    }
  }
  EXPECT_GT(cycles, 100U);
}

TEST(ShortenedSwapMap, AnOverwrittenKeyLeavesOthersWhereTheyEnded) {
  ShortenedSwapMap map;
  ASSERT_TRUE(map.set(1, 2));
  ASSERT_TRUE(map.set(2, 3));
  EXPECT_EQ(map.end(1), 3U);
  ASSERT_TRUE(map.set(2, 4));
  EXPECT_EQ(map.end(1), 3U);
  EXPECT_EQ(map.end(2), 4U);
}

}  // namespace
}  // namespace tg
