// What PyTorch refuses, with its exception types.
#include "eager_support.h"

namespace tg {
namespace {

struct Refusal {
  const char* statement;
  const char* type;
  const char* message;
};

void expect_refusal(const Refusal& refusal, const std::vector<NamedValue>& inputs) {
  const RunError error =
      must_fail(std::string("r = ") + refusal.statement + "\nreturn (r,)", inputs);
  EXPECT_EQ(error.kind, RunErrorKind::RaisesAsTorch) << refusal.statement;
  EXPECT_EQ(error.type, refusal.type) << refusal.statement;
  EXPECT_EQ(error.message, refusal.message) << refusal.statement;
}

TEST(Refusals, DivisionOfPythonNumbersByZero) {
  for (const Refusal& refusal : {
           Refusal{"prims.remainder(3, 0)", "ZeroDivisionError", "integer modulo by zero"},
           Refusal{"prims.remainder(3.0, 0.0)", "ZeroDivisionError", "float modulo"},
           Refusal{"operator.floordiv(3, 0)", "ZeroDivisionError",
                   "integer division or modulo by zero"},
           Refusal{"prims.div(3, 0)", "ZeroDivisionError", "integer division or modulo by zero"},
           Refusal{"prims.div(3.0, 0.0)", "ZeroDivisionError", "float division by zero"},
           Refusal{"operator.truediv(3, 0)", "ZeroDivisionError", "division by zero"},
           Refusal{"prims.fmod(3.0, 0.0)", "ValueError", "math domain error"},
       }) {
    expect_refusal(refusal, {});
  }
}

TEST(Keys, WhatNoTensorCanBeIndexedWithIsNamed) {
  const std::vector<NamedValue> inputs{{"x", {vector_of({1, 2})}}};
  for (const char* statement : {"ltorch.setitem_(x, \"abc\", 2.0)", "ltorch.setitem(x, 'abc', 2.0)",
                                "ltorch.getitem(x, 'abc')"}) {
    const RunError error = must_fail(std::string("r = ") + statement + "\nreturn (r,)", inputs);
    const std::string callee = std::string(statement).substr(0, std::string(statement).find('('));
    EXPECT_EQ(error.message,
              "'" + callee +
                  "' cannot index a tensor with 'abc': a key is made of integers, slices, `...`, "
                  "None, tensors and lists");
  }
  expect_refusal({"ltorch.getitem(x, 1.5)", "IndexError",
                  "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                  "are valid indices (got float)"},
                 inputs);
}

TEST(Refusals, DtypesWithoutAKernel) {
  const std::vector<NamedValue> inputs{{"c", {tensor_of({1, 0, 2, 0}, {2}, DType::Complex64)}},
                                       {"b", {vector_of({1, 0}, DType::Bool)}}};
  for (const Refusal& refusal : {
           Refusal{"ltorch.lt(c, c)", "NotImplementedError",
                   "\"lt_cpu\" not implemented for 'ComplexFloat'"},
           Refusal{"ltorch.abs(b)", "NotImplementedError",
                   "\"abs_cpu\" not implemented for 'Bool'"},
           Refusal{"ltorch.sign(c)", "NotImplementedError",
                   "Unlike NumPy, torch.sign is not intended to support complex numbers. Please "
                   "use torch.sgn instead."},
           Refusal{"ltorch.relu(c)", "NotImplementedError",
                   "clamp is not supported for complex types"},
           Refusal{"ltorch.pow(b, b)", "NotImplementedError",
                   "\"pow_cpu\" not implemented for 'Bool'"},
       }) {
    expect_refusal(refusal, inputs);
  }
}

TEST(Refusals, IndicesAndMasks) {
  const std::vector<NamedValue> inputs{{"a", {vector_of({1, 2, 3})}},
                                       {"m", {vector_of({1, 0, 1, 1}, DType::Bool)}},
                                       {"f", {vector_of({0, 1})}},
                                       {"i", {vector_of({0, 1}, DType::Int64)}},
                                       {"j", {vector_of({0, 1, 2}, DType::Int64)}},
                                       {"s", {tensor_of({1, 2, 3, 4}, {2, 2})}}};
  for (const Refusal& refusal : {
           Refusal{"Tensor.__getitem__(a, m)", "IndexError",
                   "The shape of the mask [4] at index 0 does not match the shape of the indexed "
                   "tensor [3] at index 0"},
           Refusal{"Tensor.__getitem__(a, f)", "IndexError",
                   "tensors used as indices must be long, int, byte or bool tensors"},
           Refusal{"Tensor.__getitem__(s, (i, j))", "IndexError",
                   "shape mismatch: indexing tensors could not be broadcast together with shapes "
                   "[2], [3]"},
           Refusal{"Tensor.__getitem__(a, slice(None, None, -1))", "ValueError",
                   "step must be greater than zero"},
           Refusal{"torch.index_select(a, 0, f)", "RuntimeError",
                   "index_select(): Expected dtype int32 or int64 for index"},
           Refusal{"torch.gather(a, 0, f)", "RuntimeError",
                   "gather(): Expected dtype int32/int64 for index"},
       }) {
    expect_refusal(refusal, inputs);
  }
}

TEST(Refusals, NumbersThatTheDtypeCannotHold) {
  const std::vector<NamedValue> inputs{{"a", {vector_of({1, 2}, DType::Int64)}},
                                       {"m", {vector_of({1, 0}, DType::Bool)}}};
  expect_refusal({"torch.full((2,), 300, dtype=torch.int8)", "RuntimeError",
                  "value cannot be converted to type int8_t without overflow"},
                 inputs);
  expect_refusal({"ltorch.masked_fill(a, m, float('-inf'))", "RuntimeError",
                  "value cannot be converted to type int64_t without overflow"},
                 inputs);
}

TEST(Refusals, MatricesOfOtherRanks) {
  const std::vector<NamedValue> inputs{{"v", {vector_of({1, 2})}},
                                       {"s", {tensor_of({1, 2, 3, 4}, {2, 2})}},
                                       {"b", {tensor_of({1, 2, 3, 4}, {1, 2, 2})}},
                                       {"c", {tensor_of(Doubles(8, 1), {2, 2, 2})}}};
  expect_refusal({"torch.mm(v, s)", "RuntimeError", "self must be a matrix"}, inputs);
  expect_refusal({"torch.bmm(s, s)", "RuntimeError", "batch1 must be a 3D tensor"}, inputs);
  expect_refusal({"torch.bmm(c, b)", "RuntimeError",
                  "Expected size for first two dimensions of batch2 tensor to be: [2, 2] but got: "
                  "[1, 2]."},
                 inputs);
}

TEST(Refusals, ANumberBeforeATensorHasNoOverload) {
  const std::vector<NamedValue> inputs{{"a", {vector_of({1, 3})}}};
  EXPECT_EQ(must_fail("r = torch.lt(2, a)\nreturn (r,)", inputs).type, "TypeError");
  EXPECT_EQ(output(must_run("r = operator.lt(2, a)\nreturn (r,)", inputs), 0), (Doubles{0, 1}));
}

}  // namespace
}  // namespace tg
