#include "core/ir/geometry.h"

#include <gtest/gtest.h>

namespace tg {
namespace {

using Sizes = std::vector<std::int64_t>;

Value ints(const Sizes& values) {
  return Value::int_tuple(values);
}

// The one view that `op` gives on `viewed`; the arguments follow the tensor.
Geometry view_of(OpCode op, const Geometry& viewed, std::vector<Value> args,
                 DType dtype = DType::Float32) {
  args.insert(args.begin(), Value::name("a"));
  ViewedFacts facts;
  facts.dtype = dtype;
  const auto outcome = view_outcome(op, viewed, args, size_bytes(dtype), facts);
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error());
  if (!outcome || outcome->kind != ViewOutcome::Kind::View || outcome->outputs.size() != 1)
    return {};
  return outcome->outputs.front();
}

std::string error_of(OpCode op, const Geometry& viewed, std::vector<Value> args) {
  args.insert(args.begin(), Value::name("a"));
  const auto outcome = view_outcome(op, viewed, args, 4);
  return outcome ? "" : outcome.error();
}

TEST(Geometry, ContiguousStridesCountEmptyDimsAsOne) {
  EXPECT_EQ(contiguous_geometry({2, 0, 3}).strides, (Sizes{3, 3, 1}));
  EXPECT_TRUE(is_contiguous(contiguous_geometry({2, 3, 4})));
  EXPECT_FALSE(is_contiguous({{2, 3}, {1, 2}, 0}));
  EXPECT_TRUE(is_contiguous({{1, 3}, {77, 1}, 0}));
}

TEST(Geometry, HostileSizesSaturate) {
  const Geometry huge = contiguous_geometry({1'000'000'000'000, 1'000'000'000'000});
  EXPECT_EQ(element_count(huge), INT64_MAX);
  EXPECT_TRUE(element_span(huge).end == INT64_MAX);
}

TEST(Geometry, SelfOverlap) {
  EXPECT_TRUE(overlaps_itself({{2, 3}, {0, 1}, 0}));   // expand
  EXPECT_TRUE(overlaps_itself({{3, 3}, {1, 1}, 0}));   // unfold with step < size
  EXPECT_FALSE(overlaps_itself({{2, 3}, {1, 2}, 0}));  // transpose
  EXPECT_FALSE(overlaps_itself({{2, 2}, {3, 2}, 0}));  // entangled, yet 0 2 3 5 are distinct
  EXPECT_TRUE(overlaps_itself({{3, 4}, {3, 1}, 0}));   // 3 is reached twice
}

TEST(Geometry, OverlapOfTwoWindows) {
  const Geometry row0{{3}, {1}, 0};
  const Geometry row1{{3}, {1}, 3};
  const Geometry shifted{{3}, {1}, 1};
  const Geometry even{{4}, {2}, 0};
  const Geometry odd{{4}, {2}, 1};
  EXPECT_EQ(overlap(row0, row1), Overlap::None);
  EXPECT_EQ(overlap(row0, shifted), Overlap::Partial);
  EXPECT_EQ(overlap(row0, row0), Overlap::Same);
  EXPECT_EQ(overlap(even, odd), Overlap::None);
  EXPECT_EQ(overlap({{2, 3}, {3, 1}, 0}, {{2, 3}, {1, 2}, 0}), Overlap::Partial);
}

TEST(Geometry, Covers) {
  const Geometry whole = contiguous_geometry({2, 3});
  EXPECT_EQ(covers(whole, {{3}, {1}, 3}), true);
  EXPECT_EQ(covers({{3}, {2}, 0}, {{2}, {4}, 0}), true);
  EXPECT_EQ(covers({{3}, {2}, 0}, {{2}, {1}, 0}), false);
  EXPECT_EQ(covers({{3}, {1}, 3}, whole), false);
}

TEST(ViewRules, ViewKeepsWhatTheStridesAllow) {
  const Geometry step{{4, 3}, {6, 2}, 1};  // x[:, ::2] of (4, 6) with an offset
  EXPECT_EQ(view_of(OpCode::View, step, {ints({2, 2, 3})}), (Geometry{{2, 2, 3}, {12, 6, 2}, 1}));
  EXPECT_EQ(view_of(OpCode::View, step, {Value::integer(-1), Value::integer(3)}).strides,
            (Sizes{6, 2}));
  EXPECT_NE(
      error_of(OpCode::View, {{2, 3}, {1, 2}, 0}, {ints({6})}).find("view size is not compatible"),
      std::string::npos);
  EXPECT_EQ(error_of(OpCode::View, contiguous_geometry({4}), {ints({3})}),
            "shape '[3]' is invalid for input of size 4");
}

TEST(ViewRules, ReshapeCopiesWhereViewIsRefused) {
  const Value args[] = {Value::name("a"), ints({6})};
  const auto outcome = view_outcome(OpCode::Reshape, {{2, 3}, {1, 2}, 0}, args, 4);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->kind, ViewOutcome::Kind::Copy);
  EXPECT_EQ(outcome->outputs.front(), contiguous_geometry({6}));
}

TEST(ViewRules, ExpandAndBroadcast) {
  EXPECT_EQ(
      view_of(OpCode::Expand, contiguous_geometry({3}), {Value::integer(2), Value::integer(3)}),
      (Geometry{{2, 3}, {0, 1}, 0}));
  EXPECT_EQ(view_of(OpCode::BroadcastInDim, contiguous_geometry({3}), {ints({3, 2}), ints({0})}),
            (Geometry{{3, 2}, {1, 0}, 0}));
  EXPECT_NE(error_of(OpCode::Expand, contiguous_geometry({2}), {ints({3})})
                .find("must match the existing size (2)"),
            std::string::npos);
}

TEST(ViewRules, WindowsMoveTheOffset) {
  const Geometry matrix = contiguous_geometry({4, 6});
  EXPECT_EQ(view_of(OpCode::Select, matrix, {Value::integer(0), Value::integer(-1)}),
            (Geometry{{6}, {1}, 18}));
  EXPECT_EQ(view_of(OpCode::SlicePrim, matrix, {ints({1, 0}), ints({3, 6}), ints({1, 2})}),
            (Geometry{{2, 3}, {6, 2}, 6}));
  EXPECT_EQ(view_of(OpCode::Unfold, contiguous_geometry({5}),
                    {Value::integer(0), Value::integer(3), Value::integer(1)}),
            (Geometry{{3, 3}, {1, 1}, 0}));
  EXPECT_EQ(
      view_of(OpCode::Diagonal, matrix, {Value::integer(1), Value::integer(0), Value::integer(1)}),
      (Geometry{{4}, {7}, 1}));
}

TEST(ViewRules, KeysOfGetitem) {
  const Geometry matrix = contiguous_geometry({4, 6});
  const Value rows =
      Value::call("slice", {Value::integer(1), Value::integer(4), Value::integer(2)});
  EXPECT_EQ(view_of(OpCode::Getitem, matrix, {Value::tuple({rows, Value::integer(-1)})}),
            (Geometry{{2}, {12}, 11}));
  EXPECT_EQ(view_of(OpCode::Getitem, matrix, {Value::none()}).sizes, (Sizes{1, 4, 6}));
  EXPECT_EQ(view_of(OpCode::Getitem, matrix,
                    {Value::tuple({Value::leaf(ValueKind::Ellipsis, "..."), Value::integer(2)})}),
            (Geometry{{4}, {6}, 2}));
  const Value gathered[] = {Value::name("a"), Value::list({Value::integer(0), Value::integer(2)})};
  EXPECT_EQ(view_outcome(OpCode::Getitem, matrix, gathered, 4)->kind, ViewOutcome::Kind::Copy);
}

TEST(ViewRules, SeveralResults) {
  const Value args[] = {Value::name("a"), Value::integer(3), Value::integer(0)};
  const auto chunks = view_outcome(OpCode::Chunk, contiguous_geometry({5}), args, 4);
  ASSERT_TRUE(chunks.has_value());
  ASSERT_EQ(chunks->outputs.size(), 3U);
  EXPECT_EQ(chunks->outputs[2], (Geometry{{1}, {1}, 4}));
  const Value by_size[] = {Value::name("a"), Value::integer(1), Value::integer(0)};
  EXPECT_EQ(view_outcome(OpCode::Split, {{1'000'000'000}, {0}, 0}, by_size, 4)->kind,
            ViewOutcome::Kind::Unknown);
}

TEST(ViewRules, ConversionIsAViewWhenNothingChanges) {
  const Geometry transposed{{2, 3}, {1, 2}, 0};
  const Value same[] = {Value::name("a"), Value::leaf(ValueKind::Dotted, "torch.float32")};
  const Value other[] = {Value::name("a"), Value::leaf(ValueKind::Dotted, "torch.float64")};
  ViewedFacts facts;
  EXPECT_EQ(view_outcome(OpCode::To, transposed, same, 4, facts)->kind, ViewOutcome::Kind::Unknown);
  facts.dtype = DType::Float32;
  EXPECT_EQ(view_outcome(OpCode::To, transposed, same, 4, facts)->kind, ViewOutcome::Kind::View);
  const auto cast = view_outcome(OpCode::To, transposed, other, 4, facts);
  EXPECT_EQ(cast->kind, ViewOutcome::Kind::Copy);
  EXPECT_EQ(cast->outputs.front(), transposed);  // dense strides stay
}

TEST(ViewRules, IdentitiesAndDetachKeepTheWindow) {
  const Geometry window{{2, 3}, {1, 2}, 5};
  EXPECT_EQ(view_of(OpCode::Detach, window, {}), window);
  EXPECT_EQ(view_of(OpCode::ShallowCopy, window, {}), window);
}

TEST(MemoryOrder, FirstOperandThatTellsDecides) {
  const std::vector<Sizes> operands{{1, 3}, {4, 1}};
  EXPECT_EQ(memory_order({3, 4}, operands), (std::vector<std::size_t>{0, 1}));
  const std::vector<Sizes> broadcast_first{{0, 1}, {1, 3}};
  EXPECT_EQ(memory_order({3, 4}, broadcast_first), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(memory_order({3, 4}, std::vector<Sizes>{}), (std::vector<std::size_t>{1, 0}));
}

}  // namespace
}  // namespace tg
