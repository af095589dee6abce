#include "core/golden/gradients.h"

#include <gtest/gtest.h>

#include "core/golden/stage_run.h"
#include "core/text/parser.h"

namespace tg::golden {
namespace {

Trace trace_of_text(const std::string& name, const std::string& parameters,
                    const std::string& body) {
  const TraceFile file =
      parse_trace_file("test", "import torch\n\n@torch.no_grad()\n@no_autocast\ndef " + name + "(" +
                                   parameters + "):\n" + body);
  EXPECT_EQ(file.phases.size(), 1U);
  return file.phases.empty() ? Trace{} : file.phases.front().trace;
}

Tensor vector_of(const std::vector<double>& values) {
  Tensor tensor = make_tensor(DType::Float32, {static_cast<std::int64_t>(values.size())});
  fill_from_double(tensor, values);
  return tensor;
}

TEST(Cotangents, FollowTheRecordedLoss) {
  const RuntimeValue output{vector_of({0, 0, 0, 0})};
  using Doubles = std::vector<double>;
  EXPECT_EQ(values_as_double(*cotangent_of(output, 1, Loss::Sum).as<Tensor>()),
            (Doubles{1, 1, 1, 1}));
  EXPECT_EQ(values_as_double(*cotangent_of(output, 1, Loss::Graded).as<Tensor>()),
            (Doubles{2, 3, 4, 2}));
  EXPECT_EQ(cotangent_of({std::int64_t{3}}, 0, Loss::Sum).as<Tensor>(), nullptr);
}

TEST(SavedTensors, AreMatchedByNameAndDroppedOnesMatchAll) {
  const Trace forward = trace_of_text(
      "computation", "x, y",
      "  t0 = torch.mul(x, y)\n"
      "  return {'output': (t0,), 'flat_args': [x, y], 'flat_output': (t0,)}, ((x, y), ())\n");
  const std::optional<ForwardReturn> saved = forward_return(forward);
  ASSERT_TRUE(saved.has_value());
  EXPECT_EQ(saved->flat_args, (std::vector<std::string>{"x", "y"}));
  const auto backward = [](const std::string& names) {
    return trace_of_text(
        "backward_fn", "saved_for_backward, cotangents",
        "  C0, _, = saved_for_backward\n  " + names + ", = C0\n  return (None,)\n");
  };
  EXPECT_TRUE(saves_for(*saved, backward("x, y")));
  EXPECT_TRUE(saves_for(*saved, backward("_, y")));
  EXPECT_FALSE(saves_for(*saved, backward("y, x")));
  EXPECT_FALSE(saves_for(*saved, backward("x")));
}

TEST(Gradients, OfOneObjectPassedTwiceAreSummed) {
  Recording recording;
  RecordedTensor input;
  input.geometry = contiguous_geometry({2});
  input.storage = "S0";
  recording.inputs = {{"args[0]", input, std::nullopt}, {"args[1]", input, std::nullopt}};
  RecordedRun recorded;
  RecordedTensor gradient;
  gradient.geometry = contiguous_geometry({2});
  gradient.values = {4, 6};
  recorded.gradients = {{"args[0]", gradient, std::nullopt}};
  const std::vector<NamedValue> here{{"args[0]", {vector_of({1, 2})}},
                                     {"args[1]", {vector_of({3, 4})}}};
  EXPECT_TRUE(gradient_differences(here, recorded, recording).empty());
  const std::vector<NamedValue> other{{"args[0]", {vector_of({1, 2})}}};
  EXPECT_EQ(gradient_differences(other, recorded, recording),
            (std::vector<std::string>{"values of gradient of args[0]"}));
  EXPECT_EQ(gradient_differences({}, recorded, recording),
            (std::vector<std::string>{"gradient of args[0]: none here"}));
}

TEST(Regions, RunInsideTheTextThatCallsThem) {
  const Trace host = trace_of_text("computation", "x",
                                   "  [t1] = TorchCompile0(x)\n"
                                   "    # t1 = torch.add(x, 1.0)\n"
                                   "  return (t1,)\n");
  const Trace region =
      trace_of_text("to_be_compiled", "x", "  t7 = torch.mul(x, 3.0)\n  return [t7]\n");
  const Trace first =
      trace_of_text("to_be_compiled", "x", "  t1 = torch.mul(x, 3.0)\n  return [t1]\n");
  EXPECT_FALSE(host_with_body(host, region, region, true).has_value());
  const std::optional<Trace> whole = host_with_body(host, region, first, true);
  ASSERT_TRUE(whole.has_value());
  RunInputs inputs;
  inputs.arguments = {{"x", {vector_of({2})}}};
  const Expected<RunResult, RunError> result = run(*whole, inputs);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(values_as_double(*result->outputs.at(0).value.as<Tensor>()), (std::vector<double>{6}));
  const Trace other = trace_of_text("to_be_compiled", "y", "  return [y]\n");
  EXPECT_FALSE(host_with_body(host, other, other, false).has_value());
}

}  // namespace
}  // namespace tg::golden
