// Fusion regions that read their inputs as they were at entry, as nvFuser runs them.
#include "eager_support.h"

namespace tg {
namespace {

Expected<RunResult, RunError> run_regions(const std::string& body,
                                          const std::vector<NamedValue>& inputs,
                                          RegionReads regions) {
  RunInputs run_inputs;
  run_inputs.arguments = inputs;
  return run(program(body, inputs), run_inputs, {}, nullptr, {}, regions);
}

RunResult must_run_regions(const std::string& body, const std::vector<NamedValue>& inputs,
                           RegionReads regions) {
  Expected<RunResult, RunError> result = run_regions(body, inputs, regions);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? std::move(*result) : RunResult{};
}

constexpr const char* kReadBehindCopy =
    "v = prims.reshape(x, (2, 1))\n"
    "[t1, t2, t3, t4] = nvFusion0(x, v)\n"
    "  # t0 = prims.neg(x)\n"
    "  # t1 = prims.copy_(t0, x)\n"
    "  # t2 = prims.mul(v, 10.0)\n"
    "  # t3 = prims.mul(x, 10.0)\n"
    "  # t4 = prims.mul(t1, 10.0)\n"
    "return (t1, t2, t3, t4)";

TEST(Regions, AtEntryNoLineSeesWhatAnotherCopied) {
  const RunResult result =
      must_run_regions(kReadBehindCopy, {{"x", {vector_of({1, 2})}}}, RegionReads::AtEntry);
  EXPECT_EQ(output(result, 1), (Doubles{10, 20})) << "a view of the destination";
  EXPECT_EQ(output(result, 2), (Doubles{10, 20})) << "the destination";
  EXPECT_EQ(output(result, 3), (Doubles{-10, -20})) << "what the copy gives is its source";
  EXPECT_EQ(argument(result, 0), (Doubles{-1, -2}));
}

TEST(Regions, InOrderEveryLineSeesTheCopy) {
  const RunResult result =
      must_run_regions(kReadBehindCopy, {{"x", {vector_of({1, 2})}}}, RegionReads::InOrder);
  EXPECT_EQ(output(result, 1), (Doubles{-10, -20}));
  EXPECT_EQ(output(result, 2), (Doubles{-10, -20}));
}

TEST(Regions, AReturnedCopyIsItsDestination) {
  const RunResult result =
      must_run_regions(kReadBehindCopy, {{"x", {vector_of({1, 2})}}}, RegionReads::AtEntry);
  EXPECT_TRUE(output_tensor(result, 0).shares_storage_with(
      *result.final_arguments.front().value.as<Tensor>()));
}

TEST(Regions, AtEntryTheLastOfTwoCopiesStays) {
  const RunResult result = must_run_regions(
      "[t1, t2] = nvFusion0(x, y)\n"
      "  # t1 = prims.copy_(y, x)\n"
      "  # t0 = prims.mul(t1, 2.0)\n"
      "  # t2 = prims.copy_(t0, t1)\n"
      "return t2",
      {{"x", {vector_of({1})}}, {"y", {vector_of({5})}}}, RegionReads::AtEntry);
  EXPECT_EQ(argument(result, 0), (Doubles{10}));
  EXPECT_EQ(argument(result, 1), (Doubles{5}));
}

TEST(Regions, AtEntryACopyOntoAnInnerValueIsNotSupported) {
  const Expected<RunResult, RunError> result = run_regions(
      "[t1] = nvFusion0(x)\n"
      "  # t0 = prims.neg(x)\n"
      "  # t1 = prims.copy_(x, t0)\n"
      "return t1",
      {{"x", {vector_of({1})}}}, RegionReads::AtEntry);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, RunErrorKind::NotSupported);
}

}  // namespace
}  // namespace tg
