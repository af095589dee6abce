#include <gmock/gmock.h>

#include "tests/run/run_support.h"

namespace tg {
namespace {

using test::f32;
using test::messages;
using test::notes;
using test::result_of;
using test::window;
using testing::ElementsAre;
using testing::IsEmpty;

CompareOptions torch_contract() {
  CompareOptions options;
  options.contract = CompareOptions::Contract::Torch;
  return options;
}

TEST(AliasPartition, TextNamesGroupsAndOffsets) {
  const Tensor x = f32({1, 2, 3, 4});
  const Tensor y = f32({5});
  EXPECT_EQ(to_text(alias_partition(result_of({{"x", {x}}, {"y", {y}}}, {{window(x, 2, 2)}, {x}}))),
            "x out[0](+8 B) out[1]");
  EXPECT_EQ(to_text(alias_partition(result_of({{"x", {x}}}, {{y}}))), "none");
}

TEST(AliasDifference, AResultThatIsNoLongerTheArgument) {
  const Tensor left = f32({1, 2});
  const RunResult eager = result_of({{"x", {left}}}, {{left}});
  const RunResult program = result_of({{"x", {f32({1, 2})}}}, {{f32({1, 2})}});
  const Comparison strict = compare(eager, program, torch_contract());
  EXPECT_EQ(strict.verdict, VerdictKind::Different);
  ASSERT_EQ(strict.differences.size(), 1U);
  EXPECT_EQ(strict.differences.front().kind, DifferenceKind::AliasLost);
  EXPECT_EQ(strict.differences.front().message, "out[0] no longer shares storage with x");
}

TEST(AliasDifference, ThundersContractAcceptsTheLoss) {
  const Tensor left = f32({1, 2});
  const Comparison comparison = compare(result_of({{"x", {left}}}, {{left}}),
                                        result_of({{"x", {f32({1, 2})}}}, {{f32({1, 2})}}));
  EXPECT_EQ(comparison.verdict, VerdictKind::Same);
  EXPECT_THAT(notes(comparison), ElementsAre("out[0] no longer shares storage with x"));
}

TEST(AliasDifference, AResultThatBecomesAnArgumentCountsUnderBothContracts) {
  const Tensor right = f32({1, 2});
  const RunResult eager = result_of({{"a", {f32({1, 2})}}}, {{f32({1, 2})}});
  const RunResult program = result_of({{"a", {right}}}, {{right}});
  for (const CompareOptions& options : {CompareOptions{}, torch_contract()}) {
    const Comparison comparison = compare(eager, program, options);
    EXPECT_EQ(comparison.verdict, VerdictKind::Different);
    EXPECT_THAT(messages(comparison), ElementsAre("out[0] now shares storage with a"));
  }
}

TEST(AliasDifference, TwoResultsThatBecomeOneAreAcceptedByThunder) {
  const Tensor right = f32({1, 2});
  const RunResult eager = result_of({}, {{f32({1, 2})}, {f32({1, 2})}});
  const RunResult program = result_of({}, {{right}, {right}});
  EXPECT_EQ(compare(eager, program).verdict, VerdictKind::Same);
  EXPECT_THAT(messages(compare(eager, program, torch_contract())),
              ElementsAre("out[1] now shares storage with out[0]"));
}

TEST(AliasDifference, AnOffsetThatMoves) {
  const Tensor left = f32({1, 1, 1, 1});
  const Tensor right = f32({1, 1, 1, 1});
  const Comparison comparison = compare(result_of({{"x", {left}}}, {{window(left, 1, 2)}}),
                                        result_of({{"x", {right}}}, {{window(right, 2, 2)}}));
  EXPECT_THAT(messages(comparison), ElementsAre("out[0] starts 4 and 8 bytes behind x"));
}

TEST(AliasDifference, ArgumentsNeverComeApart) {
  const Tensor left = f32({1, 2});
  const RunResult before = result_of({{"a", {left}}, {"b", {left}}}, {});
  const RunResult after = result_of({{"a", {f32({1, 2})}}, {"b", {f32({1, 2})}}}, {});
  EXPECT_THAT(messages(compare(before, after)),
              ElementsAre("arguments a and b no longer share storage"));
}

TEST(AliasDifference, OfALargeGroupOnePairIsTold) {
  const Tensor left = f32({1});
  std::vector<RuntimeValue> shared;
  std::vector<RuntimeValue> separate;
  for (int i = 0; i < 50; ++i) {
    shared.push_back({left});
    separate.push_back({i < 25 ? left : f32({1})});
  }
  const Comparison comparison = compare(result_of({}, std::move(shared)),
                                        result_of({}, std::move(separate)), torch_contract());
  EXPECT_EQ(comparison.differences.size(), 25U);
}

TEST(AliasDifference, EmptyTensorsHaveNoMemoryToShare) {
  const Tensor empty = make_tensor(DType::Float32, {0});
  EXPECT_THAT(messages(compare(result_of({{"x", {empty}}}, {{empty}}),
                               result_of({{"x", {empty}}}, {{make_tensor(DType::Float32, {0})}}),
                               torch_contract())),
              IsEmpty());
}

}  // namespace
}  // namespace tg
