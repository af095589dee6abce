#include "core/export/json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sample.h"

namespace tg {
namespace {

TEST(Json, WritesWhatIsNoNumberAsText) {
  EXPECT_EQ(dump(json_number(std::nan("")), -1), "\"NaN\"");
  EXPECT_EQ(dump(json_number(std::numeric_limits<double>::infinity()), -1), "\"Infinity\"");
  EXPECT_EQ(dump(json_number(-std::numeric_limits<double>::infinity()), -1), "\"-Infinity\"");
  EXPECT_EQ(dump(json_number(0.5), -1), "0.5");
}

TEST(Json, OfADiagnostic) {
  const Diagnostic diagnostic{DiagnosticCode::UndefinedName,
                              Severity::Error,
                              "'t7' is used before it is defined",
                              {4, 16, 2},
                              "t7",
                              "",
                              {{"'t7' is defined here", {9, 3, 2}}}};
  EXPECT_EQ(
      dump(to_json(diagnostic), -1),
      R"({"code":"undefined-name","severity":"error","message":"'t7' is used before it is defined",)"
      R"("at":{"line":4,"column":16,"length":2},"subject":"t7","hint":null,)"
      R"("notes":[{"message":"'t7' is defined here","at":{"line":9,"column":3,"length":2}}]})");
}

TEST(Json, OfATraceHasItsSchemaAndStatements) {
  const TraceFile file = parse_trace_file("sample.txt",
                                          "def computation(x):\n"
                                          "  # x: \"cpu f32[2]\"\n"
                                          "  a = ltorch.neg(x)  # a: \"cpu f32[2]\"\n"
                                          "    # a = prims.neg(x)  # a: \"cpu f32[2]\"\n"
                                          "  return a\n");
  const Json json = trace_json(file);
  EXPECT_EQ(json["schema"], "thunderglass.trace/1");
  EXPECT_EQ(json["file"], "sample.txt");
  ASSERT_EQ(json["phases"].size(), 1U);
  const Json& statement = json["phases"][0]["statements"][1];
  EXPECT_EQ(statement["text"], "a = ltorch.neg(x)");
  EXPECT_EQ(statement["callee"], "ltorch.neg");
  EXPECT_EQ(statement["operation"], "Neg");
  EXPECT_EQ(statement["outputs"], Json::array({"a"}));
  EXPECT_EQ(statement["arguments"], Json::array({"x"}));
  EXPECT_EQ(statement["type"], "cpu f32[2]");
  EXPECT_EQ(statement["at"]["line"], 3);
  EXPECT_EQ(statement["inside"][0]["text"], "a = prims.neg(x)");
}

TEST(Json, OfAliases) {
  const Trace trace = written_argument();
  const DefUse def_use(trace);
  const AliasSets sets(trace, def_use);
  const Json json = aliases_json(trace, def_use, sets);
  EXPECT_EQ(json["schema"], "thunderglass.aliases/1");
  EXPECT_EQ(json["storages"][0]["label"], "x");
  EXPECT_EQ(json["storages"][0]["argument"], true);
  EXPECT_EQ(json["storages"][0]["bytes"], 24);
  EXPECT_EQ(json["storages"][0]["writes"], 1);
  EXPECT_EQ(json["storages"][0]["names"], Json::array({"x", "v", "t1"}));
}

TEST(Json, OfADiff) {
  const Trace left = sample_trace("x", "  a = ltorch.neg(x)\n  return a\n");
  const Trace right = sample_trace("x", "  a = ltorch.exp(x)\n  return a\n");
  EXPECT_EQ(
      dump(diff_json(diff_traces(left, right), left, right), -1),
      R"j({"schema":"thunderglass.diff/1","identical":false,)j"
      R"j("counts":{"same":1,"changed":1,"moved":0,"removed":0,"added":0},)j"
      R"j("parameters_changed":false,"imports_changed":false,"differences":[{"kind":"changed",)j"
      R"j("left":{"index":0,"at":{"line":2,"column":3,"length":17},"text":"a = ltorch.neg(x)"},)j"
      R"j("right":{"index":0,"at":{"line":2,"column":3,"length":17},"text":"a = ltorch.exp(x)"},)j"
      R"j("only_inside":false}]})j");
}

TEST(Json, OfAStep) {
  Step step;
  step.rule = "unread";
  step.subject = 3;
  step.reason = "nothing reads t3";
  step.edits.push_back({Edit::Kind::Erase, 3, nullptr, kNoStatement});
  EXPECT_EQ(
      dump(steps_json("dce", std::vector<Step>{step}), -1),
      R"({"schema":"thunderglass.steps/1","pass":"dce","steps":[{"rule":"unread","subject":3,"at":null,)"
      R"("reason":"nothing reads t3","depth":0,"group":null,)"
      R"("edits":[{"kind":"erase","statement":3,"text":null,"inserted":null}]}]})");
}

TEST(Json, OfAComparisonKeepsNaNsReadable) {
  Comparison comparison;
  comparison.verdict = VerdictKind::Different;
  comparison.differences.emplace_back();
  comparison.differences[0].max_absolute = std::nan("");
  const Json json = comparison_json(comparison);
  EXPECT_EQ(json["schema"], "thunderglass.comparison/1");
  EXPECT_EQ(json["verdict"], "different");
  EXPECT_EQ(json["differences"][0]["max_absolute"], "NaN");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  Json json;
  json["text"] = "a\xff";
  EXPECT_EQ(dump(json, -1), "{\"text\":\"a\xef\xbf\xbd\"}");
}

TEST(Json, OfACheckReport) {
  CheckReport report;
  report.verdict = VerdictKind::Different;
  report.headline = "argument x loses 1 of 2 writes";
  report.not_tested = {"GPU"};
  report.explanation = Explanation{1, 2, "functionalize", 4, 6, "keep-one-copy", "why", {}};
  const Json json = check_json(report, "trace.txt");
  EXPECT_EQ(json["schema"], "thunderglass.check/1");
  EXPECT_EQ(json["verdict"], "different");
  EXPECT_EQ(json["explanation"]["rule"], "keep-one-copy");
  EXPECT_EQ(json["not_tested"], Json::array({"GPU"}));
  EXPECT_EQ(json["refusal"], nullptr);
}

}  // namespace
}  // namespace tg
