// Small programs from text, run on small tensors.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/eager/interpreter.h"
#include "core/text/parser.h"

namespace tg {

inline Tensor tensor_of(const std::vector<double>& values, const std::vector<std::int64_t>& sizes,
                        DType dtype = DType::Float32) {
  Tensor tensor = make_tensor(dtype, sizes);
  fill_from_double(tensor, values);
  return tensor;
}

inline Tensor vector_of(const std::vector<double>& values, DType dtype = DType::Float32) {
  return tensor_of(values, {static_cast<std::int64_t>(values.size())}, dtype);
}

// A trace with these body lines; parameters are the names of the inputs.
inline Trace program(const std::string& body, const std::vector<NamedValue>& inputs) {
  std::string head;
  for (const NamedValue& input : inputs) head += (head.empty() ? "" : ", ") + input.name;
  std::string text =
      "import thunder\n"
      "import thunder.core.prims as prims\n"
      "import thunder.torch as ltorch\n"
      "import torch\n"
      "from thunder.executors.torchex import no_autocast\n"
      "\n"
      "@torch.no_grad()\n"
      "@no_autocast\n"
      "def computation(" +
      head + "):\n";
  std::size_t begin = 0;
  while (begin < body.size()) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    if (end > begin) text += "  " + body.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  TraceFile file = parse_trace_file("test", text);
  EXPECT_EQ(file.phases.size(), 1U);
  return file.phases.empty() ? Trace{} : file.phases.front().trace;
}

inline Expected<RunResult, RunError> run_text(const std::string& body,
                                              const std::vector<NamedValue>& inputs,
                                              const RunLimits& limits = {}) {
  RunInputs run_inputs;
  run_inputs.arguments = inputs;
  return run(program(body, inputs), run_inputs, limits);
}

// The run, which must succeed.
inline RunResult must_run(const std::string& body, const std::vector<NamedValue>& inputs) {
  Expected<RunResult, RunError> result = run_text(body, inputs);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? std::move(*result) : RunResult{};
}

inline RunError must_fail(const std::string& body, const std::vector<NamedValue>& inputs,
                          const RunLimits& limits = {}) {
  Expected<RunResult, RunError> result = run_text(body, inputs, limits);
  EXPECT_FALSE(result.has_value());
  return result ? RunError{} : result.error();
}

inline const Tensor& output_tensor(const RunResult& result, std::size_t index) {
  static const Tensor nothing = make_tensor(DType::Float32, {0});
  if (index >= result.outputs.size()) {
    ADD_FAILURE() << "no output " << index;
    return nothing;
  }
  const Tensor* tensor = result.outputs[index].value.as<Tensor>();
  EXPECT_NE(tensor, nullptr);
  return tensor != nullptr ? *tensor : nothing;
}

inline std::vector<double> output(const RunResult& result, std::size_t index) {
  return values_as_double(output_tensor(result, index));
}

inline std::vector<double> argument(const RunResult& result, std::size_t index) {
  const Tensor* tensor = result.final_arguments.at(index).value.as<Tensor>();
  EXPECT_NE(tensor, nullptr);
  return tensor != nullptr ? values_as_double(*tensor) : std::vector<double>{};
}

using Doubles = std::vector<double>;

}  // namespace tg
