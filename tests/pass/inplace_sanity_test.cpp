#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::error_of;
using testing::run_pass;
using testing::steps_of;
using testing::trace_of;

std::string region(std::string_view lines) {
  return "def computation(x, y):\n  # x: \"cuda:0 f32[2]\"\n  # y: \"cuda:0 f32[2]\"\n  [t2] = "
         "nvFusion0(x, y)\n" +
         std::string(lines) + "  return t2\n";
}

constexpr std::string_view kTail =
    ", which is not safe. There is a risk of accessing the wrong memory. If you are sure you don't "
    "want to use this "
    "check, it can be disabled by setting `disable_inplace_copy_check=True` in `thunder.jit`.";

TEST(InplaceSanity, ADestinationReadBehindItsCopyIsRefused) {
  const PassResult result = run_pass(
      "inplace_sanity", trace_of(region(R"(    # t0 = prims.mul(x, y)  # t0: "cuda:0 f32[2]"
    # a = prims.copy_(t0, x)  # a: "cuda:0 f32[2]"
    # t2 = prims.add(x, y)  # t2: "cuda:0 f32[2]"
)")));
  EXPECT_EQ(error_of(result),
            "NotImplementedError: t2 = prims.add(x, y)  # t2: \"cuda:0 f32[2]\" trying to use "
            "<TensorProxy(name=\"x\", "
            "dtype=thunder.dtypes.float32, shape=(2,))> (the 'copy_to' argument of 'prims.copy_') "
            "as input" +
                std::string(kTail));
  EXPECT_EQ(result.error->statement, 2U);
}

TEST(InplaceSanity, ACopyResultReadBehindItIsRefused) {
  EXPECT_EQ(error_of(run_pass("inplace_sanity",
                              trace_of(region(R"(    # t0 = prims.mul(x, y)  # t0: "cuda:0 f32[2]"
    # a = prims.copy_(t0, x)  # a: "cuda:0 f32[2]"
    # t2 = prims.add(a, y)  # t2: "cuda:0 f32[2]"
)")))),
            "NotImplementedError: t2 = prims.add(a, y)  # t2: \"cuda:0 f32[2]\" trying to use "
            "<TensorProxy(name=\"a\", "
            "dtype=thunder.dtypes.float32, shape=(2,))> (the output of 'prims.copy_') as input" +
                std::string(kTail));
}

TEST(InplaceSanity, ReadsBeforeTheCopyAreFine) {
  const Trace before = trace_of(region(R"(    # t2 = prims.mul(x, y)  # t2: "cuda:0 f32[2]"
    # prims.copy_(t2, x)
)"));
  const PassResult result = run_pass("inplace_sanity", before);
  EXPECT_EQ(result.after, before);
  EXPECT_EQ(steps_of(result), R"(
checked-region: nothing in nvFusion0 (line 4) reads a destination behind the copy onto it
)");
}

TEST(InplaceSanity, OnlyNvFuserRegionsAreChecked) {
  EXPECT_EQ(error_of(run_pass("inplace_sanity", trace_of(R"(
def computation(x, y):
  # x: "cpu f32[2]"
  # y: "cpu f32[2]"
  [t2] = TorchCompile0(x, y)
    # a = prims.copy_(y, x)  # a: "cpu f32[2]"
    # t2 = prims.add(x, y)  # t2: "cpu f32[2]"
  return t2
)"))),
            "none");
}

}  // namespace
}  // namespace tg
