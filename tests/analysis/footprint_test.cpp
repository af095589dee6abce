#include "core/analysis/footprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tg {
namespace {

using testing::ElementsAre;

TEST(Footprint, ContiguousIsOnePiece) {
  const Footprint bytes = footprint({{2, 3}, {3, 1}, 4}, 4);
  EXPECT_THAT(bytes.intervals, ElementsAre(ByteInterval{16, 40}));
  EXPECT_TRUE(bytes.exact);
}

TEST(Footprint, ColumnIsOnePiecePerRow) {
  const Footprint bytes = footprint({{2}, {3}, 1}, 4);
  EXPECT_THAT(bytes.intervals, ElementsAre(ByteInterval{4, 8}, ByteInterval{16, 20}));
  EXPECT_EQ(bytes.bytes(), 8U);
}

TEST(Footprint, TransposeIsDense) {
  EXPECT_THAT(footprint({{3, 2}, {1, 3}, 0}, 4).intervals, ElementsAre(ByteInterval{0, 24}));
}

TEST(Footprint, ExpandAddressesBytesTwice) {
  const Footprint bytes = footprint({{2, 3}, {0, 1}, 0}, 4);
  EXPECT_THAT(bytes.intervals, ElementsAre(ByteInterval{0, 12}));
  EXPECT_TRUE(bytes.overlaps_itself);
}

TEST(Footprint, OverlappingWindowsAreFound) {
  EXPECT_TRUE(footprint({{3, 2}, {1, 1}, 0}, 4).overlaps_itself);
  EXPECT_FALSE(footprint({{2, 2}, {3, 2}, 0}, 4).overlaps_itself);
}

TEST(Footprint, RankZeroAndZeroSize) {
  EXPECT_THAT(footprint({{}, {}, 5}, 8).intervals, ElementsAre(ByteInterval{40, 48}));
  EXPECT_TRUE(footprint({{2, 0}, {1, 1}, 0}, 4).empty());
}

TEST(Footprint, TooManyPiecesGiveTheSpan) {
  const Footprint bytes = footprint({{10}, {2}, 0}, 4, 5);
  EXPECT_FALSE(bytes.exact);
  EXPECT_THAT(bytes.intervals, ElementsAre(ByteInterval{0, 76}));
}

TEST(ByteMap, EqualNeighboursJoin) {
  ByteMap<int> map(0);
  map.change({4, 8}, [](int& value) { value = 1; });
  EXPECT_EQ(map.pieces(), 3U);
  map.change({8, 12}, [](int& value) { value = 1; });
  EXPECT_EQ(map.pieces(), 3U);
  map.change({0, kEndOfStorage}, [](int& value) { value = 2; });
  EXPECT_EQ(map.pieces(), 1U);
}

TEST(ByteMap, LookSeesPiecesThatTouch) {
  ByteMap<int> map(0);
  map.change({4, 8}, [](int& value) { value = 7; });
  std::vector<int> seen;
  map.look({6, 9}, [&seen](int value) { seen.push_back(value); });
  EXPECT_THAT(seen, ElementsAre(7, 0));
}

}  // namespace
}  // namespace tg
