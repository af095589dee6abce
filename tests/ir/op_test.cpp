#include "core/ir/op.h"

#include <gtest/gtest.h>

namespace tg {
namespace {

TEST(OpTable, EverySpellingIsFoundAndSchemasParse) {
  for (const OpInfo& op : all_ops()) {
    std::string_view rest = op.spellings;
    while (!rest.empty()) {
      const std::size_t space = rest.find(' ');
      EXPECT_EQ(op_of(rest.substr(0, space)), op.code) << rest;
      rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
    }
    if (op.has(kInPlace)) {
      EXPECT_GE(op.mutated_param, 0) << op.name;
      EXPECT_NE(op.twin, OpCode::Opaque) << op.name;
    }
    if (op.has(kView | kMaybeView)) {
      EXPECT_GE(op.viewed_param, 0) << op.name;
    }
  }
}

TEST(OpTable, FusionNames) {
  EXPECT_EQ(op_of("nvFusion12"), OpCode::Fusion);
  EXPECT_EQ(op_of("TorchCompile0"), OpCode::Fusion);
  EXPECT_EQ(op_of("nvFusion"), OpCode::Opaque);
  EXPECT_EQ(op_of("ltorch.add"), OpCode::Add);
  EXPECT_EQ(op_of("no.such_op"), OpCode::Opaque);
}

}  // namespace
}  // namespace tg
