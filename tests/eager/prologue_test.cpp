#include "core/eager/guards.h"
#include "eager_support.h"

namespace tg {
namespace {

constexpr const char* kPrologue = R"(import thunder
import thunder.core.prims as prims
import torch
from thunder.executors.torchex import no_autocast

@torch.no_grad()
@no_autocast
def prologue(*args, **kwargs):
  # args: "Any"
  prims.check_len(args, 2)
  # kwargs: "Any"
  prims.check_len(kwargs, 1)
  x: "cpu f32[2]" = args[0]
  n: "int 3" = args[1]
  y: "cpu f32[2]" = kwargs['y']
  module: "Any" = thunder.core.module.get_thunder_module(p0)
  w: "cpu f32[2]" = module.get_parameter('w')
  b0: "bool True" = module.training
  prims.check_number_type_and_value(b0, True)
  prims.check_tensor_shape_and_metadata(x, (2,), 'cpu', torch.float32, False)
  prims.check_number_type_and_value(n, 3)
  cache_info: "Any" = thunder._get_cache_info()
  cache_info_default_dtype: "<class 'torch.dtype'>" = cache_info['default_dtype']
  prims.check_literal_like(cache_info_default_dtype, torch.float32)
  return ((x, y, w), ())
)";

Expected<RunResult, RunError> run_prologue(std::vector<RuntimeValue> args,
                                           std::vector<MappingItem> kwargs) {
  const TraceFile file = parse_trace_file("test", kPrologue);
  RunInputs inputs;
  inputs.arguments = {{"args", {Sequence{false, std::move(args)}}},
                      {"kwargs", {Mapping{std::move(kwargs)}}}};
  inputs.outside = {{"module.get_parameter('w')", {vector_of({7, 8})}}};
  return run(file.phases.at(0).trace, inputs);
}

RuntimeValue ones(std::int64_t count) {
  return {vector_of(Doubles(static_cast<std::size_t>(count), 1))};
}

TEST(Prologue, HandsTheComputationItsArguments) {
  const auto result = run_prologue({ones(2), {std::int64_t{3}}}, {{"y", ones(2)}});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  const Sequence* pair = result->returned.as<Sequence>();
  ASSERT_NE(pair, nullptr);
  const Sequence* values = pair->items.at(0).as<Sequence>();
  ASSERT_EQ(values->items.size(), 3U);
  EXPECT_EQ(values_as_double(*values->items[2].as<Tensor>()), (Doubles{7, 8}));
  // The default dtype is not known here: it is said that nothing asked for it.
  ASSERT_EQ(result->notes.size(), 1U);
  EXPECT_EQ(result->notes[0],
            "'prims.check_literal_like' asks for what is not known here, so it was not asked");
}

TEST(Prologue, RefusesAnotherShape) {
  const auto result = run_prologue({ones(3), {std::int64_t{3}}}, {{"y", ones(2)}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().type, "AssertionError");
  EXPECT_EQ(result.error().message,
            "expected tensor with (2,), cpu, torch.float32, requires_grad=False, got (3,), cpu, "
            "torch.float32, False");
}

TEST(Prologue, RefusesAnotherNumberAndAnotherType) {
  auto result = run_prologue({ones(2), {std::int64_t{4}}}, {{"y", ones(2)}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().type, "RuntimeError");
  EXPECT_EQ(result.error().message, "Expected 4 to be equal to and have the type of 3");
  result = run_prologue({ones(2), {3.0}}, {{"y", ones(2)}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "Expected 3.0 to be equal to and have the type of 3");
}

TEST(Prologue, RefusesAnotherCount) {
  const auto result = run_prologue({ones(2)}, {{"y", ones(2)}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "Expected seq=(tensor(...),) to be of length 2");
}

TEST(Prologue, AMissingKeyIsAKeyError) {
  const auto result = run_prologue({ones(2), {std::int64_t{3}}}, {{"z", ones(2)}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().type, "KeyError");
  EXPECT_EQ(result.error().message, "'y'");
}

TEST(Guards, AskTypesExactlyOrByInstance) {
  const RuntimeValue truth{true};
  const RuntimeValue integer{DTypeValue{DType::Int64, true}};
  const RuntimeValue arguments[] = {truth, integer};
  EXPECT_TRUE(check_guard(OpCode::CheckType, arguments).refused.has_value());
  EXPECT_FALSE(check_guard(OpCode::CheckInstance, arguments).refused.has_value());
  const RuntimeValue none[] = {RuntimeValue{}};
  EXPECT_FALSE(check_guard(OpCode::CheckNone, none).refused.has_value());
  const RuntimeValue text[] = {{StringValue{"a"}}, {StringValue{"b"}}};
  EXPECT_EQ(*check_guard(OpCode::CheckStringValue, text).refused,
            "Expected 'a' to be equal to 'b'");
}

TEST(Prologue, IndexingATensorIsAView) {
  const RunResult result =
      must_run("t0 = x[1]\nt1 = prims.copy_(y, t0)\nreturn (t0,)",
               {{"x", {tensor_of({1, 2, 3, 4}, {2, 2})}}, {"y", {vector_of({8, 9})}}});
  EXPECT_EQ(argument(result, 0), (Doubles{1, 2, 8, 9}));
}

TEST(Joint, GradientsOfTheSumUnlessCotangentsAreGiven) {
  const Trace trace = program(
      "t0 = ltorch.mul(x, 2.0)\nt1 = prims.get_grad(t0)\nt2 = ltorch.mul(t1, 2.0)\nreturn (t2,)",
      {{"x", {}}});
  RunInputs inputs;
  inputs.arguments = {{"x", {vector_of({1, 2})}}};
  Expected<RunResult, RunError> result = run(trace, inputs);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(output(*result, 0), (Doubles{2, 2}));
  inputs.cotangents = {{"t0", {vector_of({3, 5})}}};
  result = run(trace, inputs);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(output(*result, 0), (Doubles{6, 10}));
}

TEST(Numbers, AStatementOnUnboundNumbersTakesItsStatedValue) {
  const RunResult result = must_run("b0 = prims.eq(d, d)  # b0: \"bool True\"\nreturn (b0,)", {});
  ASSERT_EQ(result.outputs.size(), 1U);
  EXPECT_TRUE(*result.outputs[0].value.as<bool>());
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_EQ(result.notes[0], "'b0' took its value from its type comment");
}

}  // namespace
}  // namespace tg
