#include "core/text/printer.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "text_support.h"

namespace tg {
namespace {

TEST(Printer, LeavesSubStatementsOut) {
  const TraceFile file = parse(*read_file(TG_SOURCE_DIR "/tests/text/traces/05-three-levels.txt"));
  PrintOptions options;
  options.subsymbols = false;
  EXPECT_EQ(print(file.phases[0].trace, options),
            trace_text("x",
                       "  # x: \"cpu bf16[4, 8]\"\n"
                       "  t3 = ltorch.softmax(x, -1, dtype=None)  # t3: \"cpu bf16[4, 8]\"\n"
                       "  return (t3,)"));
}

TEST(Printer, LeavesProgramLinesOut) {
  const TraceFile file =
      parse(*read_file(TG_SOURCE_DIR "/tests/text/traces/13-source-positions.txt"));
  PrintOptions options;
  options.program_lines = false;
  EXPECT_EQ(print(file.phases[0].trace, options).find("model.py"), std::string::npos);
}

TEST(Printer, PrintsAPositionWhenItChanges) {
  TraceFile file = parse(*read_file(TG_SOURCE_DIR "/tests/text/traces/13-source-positions.txt"));
  Trace trace = file.phases[0].trace;
  // Without the `del` between them, three statements of one line show it once.
  trace.bound_symbols.erase(trace.bound_symbols.begin() + 2);
  const std::string text = print(trace);
  EXPECT_EQ(text.find("model.py:12"), text.rfind("model.py:12"));
}

TEST(Printer, WrapsUnpacksGreedilyAtEightyColumns) {
  BoundSymbol unpack;
  unpack.kind = StatementKind::UnpackSequence;
  std::vector<Value> names;
  for (int i = 10; i < 28; ++i) names.push_back(Value::name("t" + std::to_string(i)));
  unpack.output = Value::tuple(names);
  unpack.args.push_back(Value::name("C0"));
  EXPECT_EQ(print(unpack),
            "  t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, t20, t21, t22, t23, t24, t25, \\\n"
            "  t26, t27, = C0");
}

TEST(Printer, ShowsOneLine) {
  const TraceFile file =
      parse(*read_file(TG_SOURCE_DIR "/tests/text/traces/15-backward-2025-02.txt"));
  EXPECT_EQ(one_line(statement(file, 2)), "C0, _, = saved_for_backward");
  EXPECT_EQ(one_line(statement(file, 0)), "# saved_for_backward: \"Collection\"");
}

std::string imports_of(std::string_view body) {
  const TraceFile file = parse(trace_text("x, module", body));
  Trace trace = file.phases[0].trace;
  derive_imports(trace, file.phases[0].trace);
  std::string lines;
  for (const std::string& line : trace.imports) lines += line + '\n';
  return lines;
}

constexpr std::string_view kLast = "from thunder.executors.torchex import no_autocast\n";

TEST(Imports, TorchIsAlwaysThere) {
  EXPECT_EQ(imports_of("  return x\n"), std::string("import torch\n").append(kLast));
}

TEST(Imports, ModulesBringTheirPackage) {
  EXPECT_EQ(
      imports_of(
          "  t0 = ltorch.add(x, x)\n  t1 = prims.neg(t0)\n  t2 = torch.nn.functional.relu(t1)\n"
          "  t3 = operator.add(1, 2)\n  return t2\n"),
      std::string("import operator\nimport thunder\nimport thunder.core.prims as prims\n"
                  "import thunder.torch as ltorch\nimport torch\nimport torch.nn.functional\n")
          .append(kLast));
}

TEST(Imports, AClassSortsAsItsModuleInOrderOfNeed) {
  EXPECT_EQ(imports_of("  t0 = Tensor.view(x, 2)\n  t1 = torch.sin(t0)\n  return t1\n"),
            std::string("from torch import Tensor\nimport torch\n").append(kLast));
  EXPECT_EQ(imports_of("  t0 = torch.sin(x)\n  t1 = Tensor.view(t0, 2)\n  return t1\n"),
            std::string("import torch\nfrom torch import Tensor\n").append(kLast));
}

TEST(Imports, ArgumentsNeedModulesToo) {
  EXPECT_EQ(imports_of("  t0 = torch.full((2,), 0, device=devices.Device(\"cpu\"), "
                       "dtype=dtypes.float32)\n  return t0\n"),
            std::string("import thunder.core.devices as devices\nimport thunder.core.dtypes as "
                        "dtypes\nimport torch\n")
                .append(kLast));
}

TEST(Imports, OnlyDepthZeroCounts) {
  EXPECT_EQ(imports_of("  t0 = torch.sin(x)\n    # t0 = prims.sin(x)\n  return t0\n"),
            std::string("import torch\n").append(kLast));
}

TEST(Imports, MethodsOfValuesNeedNone) {
  EXPECT_EQ(imports_of("  module.set_buffer('b', x)\n  return x\n"),
            std::string("import torch\n").append(kLast));
}

}  // namespace
}  // namespace tg
