#include "core/run/recording.h"

#include <gmock/gmock.h>

#include "core/text/parser.h"
#include "tests/run/run_support.h"

namespace tg {
namespace {

using testing::ElementsAre;

Recording read(std::string_view json) {
  Result<Recording> recording = read_recording("sample", json);
  EXPECT_TRUE(recording) << recording.error().message;
  return recording ? *recording : Recording{};
}

TEST(RecordingSchema, ByName) {
  const Recording recording = read(R"({
    "inputs": {"x": {"dtype": "float32", "shape": [2], "strides": [1], "storage": "S0", "offset": 0, "values": [1, 2]}},
    "final_inputs": {"x": {"dtype": "float32", "shape": [2], "strides": [1], "storage": "S0", "offset": 0,
                     "values": [3, "nan"]}},
    "outputs": [{"dtype": "float32", "shape": [1], "strides": [1], "storage": "S0", "offset": 1, "values": ["inf"]}],
    "pairs": [{"a": "x", "b": "out0", "shares_storage": true, "data_ptr_difference_bytes": 4, "same_object": false}]})");
  const RecordedRun& run = recording.runs.at("eager");
  ASSERT_EQ(run.sharing.size(), 1U);
  EXPECT_EQ(run.sharing[0].b, "out[0]");
  EXPECT_EQ(run.sharing[0].offset_bytes, 4);
  const RunResult result = as_run_result(run);
  EXPECT_EQ(to_text(alias_partition(result)), "x out[0](+4 B)");
}

TEST(RecordingSchema, FinalValuesOfLargeAreBareLists) {
  const Recording recording = read(R"({
    "arguments_in_order": ["y", "x"],
    "inputs": {"x": {"dtype": "int64", "shape": [], "values": [5]}, "y": {"dtype": "float32", "shape": [1], "values": [2]}},
    "final_inputs": {"x": [9007199254740993], "y": [2]}, "outputs": [], "output_is_argument": []})");
  EXPECT_EQ(recording.inputs[0].name, "y");
  EXPECT_THAT(recording.runs.at("eager").final_inputs[0].tensor->integers,
              ElementsAre(9007199254740993));
}

TEST(RecordingSchema, ByPathWithStoragesAndNumbers) {
  const Recording recording = read(R"({
    "inputs": [{"path": "args[0]", "kind": "tensor", "dtype": "float32", "device": "cpu", "shape": [2], "strides": [2],
                "storage": "S0", "storage_offset": 1, "requires_grad": false, "values": [1, 3]},
               {"path": "args[1]", "kind": "int", "value": 4}],
    "input_storages": {"S0": {"nbytes": 16, "dtype": "float32", "values": [0, 1, 2, 3]}},
    "input_aliases": [],
    "eager": {"output_structure": "T", "outputs": [{"path": "output", "kind": "NoneType", "value": null}],
              "final_inputs": [], "aliases": []},
    "thunder": {"error": {"type": "RuntimeError", "message": "no"}}})");
  EXPECT_THAT(*recording.inputs[0].tensor->storage_values, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(*recording.inputs[1].number->as<std::int64_t>(), 4);
  EXPECT_NE(recording.runs.at("eager").outputs[0].number->as<NoneValue>(), nullptr);
  EXPECT_EQ(recording.runs.at("thunder").error->first, "RuntimeError");
  EXPECT_EQ(recording.tolerance.at("f32"), 2e-5);
}

TEST(RecordingSchema, StructureGivesTheLeavesInFlatteningOrder) {
  const Recording recording = read(R"({
    "inputs": [], "number_inputs": {"args[0]": {"int": 1}}, "input_sharing": [],
    "eager": {"output_structure": {"dict": {"val": {"tensor": "out['val']"}, "n": {"int": 4}, "none": {"none": true}}},
              "outputs": [{"name": "out['val']", "dtype": "bool", "shape": [2], "strides": [1], "storage": "S0",
                           "storage_offset": 0, "values": [true, false]}],
              "sharing": [], "final_inputs": []}})");
  const std::vector<RecordedValue>& outputs = recording.runs.at("eager").outputs;
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0].name, "out['n']");
  EXPECT_EQ(outputs[1].name, "out['none']");
  EXPECT_THAT(outputs[2].tensor->integers, ElementsAre(1, 0));
}

TEST(RecordingSchema, DefinitionWithSharedOutput) {
  const Recording recording = read(R"({
    "slug": "s", "inputs": [{"kind": "tensor", "dtype": "float32", "size": [1], "stride": [1], "data": [1]},
                            {"kind": "scalar", "type": "Double", "value": 2.5}],
    "outputs": [{"kind": "tensor", "dtype": "float32", "size": [1], "data": [3], "shares": "input:0"},
                {"kind": "tensor", "dtype": "complex64", "size": [1], "data": [[1, -2]], "shares": "fresh"}],
    "inputs_after": {"0": {"kind": "tensor", "dtype": "float32", "size": [1], "stride": [1], "data": [3]}},
    "hazards": [], "evaluated": true})");
  const RecordedRun& run = recording.runs.at("eager");
  EXPECT_EQ(to_text(alias_partition(as_run_result(run))), "T0 out[0]");
  EXPECT_THAT(run.outputs[1].tensor->values, ElementsAre(1, -2));
  EXPECT_THAT(run.final_inputs[0].tensor->values, ElementsAre(3));
}

TEST(RecordingSchema, CaseWithWrongProgram) {
  constexpr std::string_view kMarkdown =
      "# 01: two\n\n```json\n{\"id\": \"00\"}\n```\n\n## Machine-readable\n\n```json\n"
      R"({"id": "01", "runs": [{"label": "", "setup": [], "call": ["p"], "args": {"p": {"storage": "S0", "shape": [1],
         "strides": [1], "offset": 0, "dtype": "f16", "initial": [1], "final": [2], "changed": true}},
         "outputs": [], "wrong": {"args": {"p": {"storage": "S0", "shape": [1], "strides": [1], "offset": 0,
         "dtype": "f16", "initial": [1], "final": [1]}}, "outputs": []}}]})"
      "\n```\n";
  const Recording recording = read(json_block(kMarkdown));
  EXPECT_THAT(recording.inputs[0].tensor->values, ElementsAre(1));
  EXPECT_THAT(recording.runs.at("eager").final_inputs[0].tensor->values, ElementsAre(2));
  EXPECT_THAT(recording.runs.at("wrong").final_inputs[0].tensor->values, ElementsAre(1));
}

TEST(RecordingSchema, OperatorCallFromBase64) {
  const Recording recording = read(R"json({
    "id": "prims/prims.abs/000", "op": "prims.abs", "call": "prims.abs(a)",
    "inputs": {"a": {"dtype": "int16", "shape": [2], "strides": [1], "offset": 1, "storage": "s0"},
               "n": {"number": "float", "value": "inf"}},
    "storages": {"s0": {"dtype": "int16", "size_elements": 3, "data": "AQD+/wMA"}}, "structure": "tensor",
    "outputs": [{"dtype": "int16", "shape": [2], "strides": [1], "offset": 0, "storage": "new", "data": "AgADAA=="}],
    "final_storages": {}, "error": null, "tolerance": "exact", "tags": []})json");
  EXPECT_EQ(recording.call, "prims.abs(a)");
  EXPECT_EQ(recording.exactness, "exact");
  EXPECT_THAT(recording.inputs[0].tensor->integers, ElementsAre(-2, 3));
  EXPECT_THAT(*recording.inputs[0].tensor->storage_values, ElementsAre(1, -2, 3));
  EXPECT_THAT(recording.runs.at("eager").outputs[0].tensor->integers, ElementsAre(2, 3));
}

struct BadRow {
  const char* json;
  const char* message;
};

class BadRecordingRow : public testing::TestWithParam<BadRow> {};

TEST_P(BadRecordingRow, SaysWhatIsWrong) {
  Result<Recording> recording = read_recording("sample", GetParam().json);
  ASSERT_FALSE(recording);
  EXPECT_EQ(render(recording.error(), "values.json", ""),
            std::string("values.json: error: ") + GetParam().message + " [bad-recording]\n");
}

INSTANTIATE_TEST_SUITE_P(
    Messages, BadRecordingRow,
    testing::Values(
        BadRow{"[]", "sample: no JSON object"},
        BadRow{"{}", "sample: of no known schema: neither 'inputs', 'runs', 'slug' nor 'op'"},
        BadRow{R"({"inputs": {"x": {"shape": [1]}}})", "sample: x: no 'dtype'"},
        BadRow{R"({"inputs": {"x": {"dtype": "float31", "shape": [1]}}})",
               "sample: x: unknown dtype 'float31'"},
        BadRow{R"({"inputs": {"x": {"dtype": "f32", "shape": "2"}}})",
               "sample: x: no list 'shape'"},
        BadRow{R"({"inputs": {"x": {"dtype": "f32", "shape": [-1]}}})",
               "sample: x: impossible shape (-1,)"},
        BadRow{R"({"inputs": {"x": {"dtype": "f32", "shape": [4000000000, 4000000000]}}})",
               "sample: x: impossible shape (4000000000, 4000000000)"},
        BadRow{R"({"inputs": {"x": {"dtype": "f32", "shape": [2], "strides": [1, 1]}}})",
               "sample: x: 2 strides for 1 dims"},
        BadRow{
            R"({"inputs": {"x": {"dtype": "f32", "shape": [3], "strides": [9000000000000000000]}}})",
            "sample: x: reaches further than any memory"},
        BadRow{R"({"inputs": {"x": {"dtype": "f32", "shape": [2], "values": [1]}}})",
               "sample: x: expected 2 values, found 1"},
        BadRow{R"({"inputs": {"x": {"dtype": "i64", "shape": [1], "values": [1.5]}}})",
               "sample: x: a value of a int64 tensor is no integer"},
        BadRow{R"({"inputs": {"x": {"dtype": "f32", "shape": [1], "values": ["one"]}}})",
               "sample: x: 'one' is no number"},
        BadRow{R"({"runs": []})", "sample: expected one run"}));

TEST(BadRecording, NotJsonTellsTheParsersWords) {
  Result<Recording> recording = read_recording("sample", "{\"inputs\": ");
  ASSERT_FALSE(recording);
  EXPECT_THAT(recording.error().message, testing::StartsWith("sample: not JSON: "));
  EXPECT_EQ(recording.error().code, DiagnosticCode::BadRecording);
}

TEST(BadRecording, DeepNestingIsRefused) {
  const std::string deep =
      "{\"inputs\": {\"x\": {\"dtype\": \"f32\", \"shape\": [1], \"values\": " +
      std::string(5000, '[') + "1" + std::string(5000, ']') + "}}}";
  Result<Recording> recording = read_recording("sample", deep);
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().message, "sample: x: values nest too deep");
}

// ---- binding

constexpr std::string_view kPrologue = R"(@torch.no_grad()
@no_autocast
def prologue(*args, **kwargs):
  # args: "Any"
  x: "cpu f32[2]" = args[0]
  subscr: "Collection" = args[1]
  # subscr: "Collection"
  w: "cpu f32[2]" = subscr['w']
  module: "Any" = thunder.core.module.get_thunder_module(p0)
  t_bias: "cpu f32[1]" = module.get_parameter('lin.bias')
  return ((t_bias, w), ())
)";

constexpr std::string_view kComputation = R"(@torch.no_grad()
@no_autocast
def computation(t_bias, w, i0):
  # t_bias: "cpu f32[1]"
  # w: "cpu f32[2]"
  # i0: "int 7"
  return w
)";

RecordedValue recorded(std::string name, const std::string& storage, std::vector<double> values) {
  RecordedTensor tensor;
  tensor.geometry = contiguous_geometry({static_cast<std::int64_t>(values.size())});
  tensor.storage = storage;
  tensor.values = std::move(values);
  return {std::move(name), std::move(tensor), std::nullopt};
}

TEST(BindRecording, ThePrologueSaysWhichPathIsWhichParameter) {
  Recording recording;
  recording.id = "sample";
  recording.inputs = {recorded("args[0]", "S0", {1, 2}), recorded("args[1]['w']", "S0", {1, 2}),
                      recorded("param:lin.bias", "S1", {9})};
  const TraceFile prologue = parse_trace_file("prologue", std::string(kPrologue));
  const TraceFile computation = parse_trace_file("computation", std::string(kComputation));
  ASSERT_EQ(computation.phases.size(), 1U);
  Result<InputBinding> binding =
      bind_recording(recording, computation.phases[0].trace, &prologue.phases[0].trace);
  ASSERT_TRUE(binding) << binding.error().message;
  EXPECT_THAT(binding->recorded_names, ElementsAre("param:lin.bias", "args[1]['w']", "i0"));
  EXPECT_THAT(values_as_double(*binding->inputs.arguments[0].value.as<Tensor>()), ElementsAre(9));
  EXPECT_EQ(*binding->inputs.arguments[2].value.as<std::int64_t>(), 7);
  // args[0] is no parameter, but lies in the storage of w.
  ASSERT_EQ(binding->unbound.size(), 1U);
  EXPECT_TRUE(binding->unbound[0].value.as<Tensor>()->shares_storage_with(
      *binding->inputs.arguments[1].value.as<Tensor>()));
}

TEST(BindRecording, AnotherShapeThanAnnotatedIsRefused) {
  Recording recording;
  recording.id = "sample";
  recording.inputs = {recorded("t_bias", "S0", {1, 2}), recorded("w", "S1", {1, 2})};
  const TraceFile computation = parse_trace_file("computation", std::string(kComputation));
  Result<InputBinding> binding = bind_recording(recording, computation.phases[0].trace, nullptr);
  ASSERT_FALSE(binding);
  EXPECT_EQ(binding.error().code, DiagnosticCode::InputMismatch);
  EXPECT_EQ(binding.error().message,
            "argument 't_bias' is annotated f32(1,), the recording gives f32(2,)");
}

TEST(CompareWithRecording, ATornAliasIsToldByTheRecordedNames) {
  RecordedRun run;
  run.final_inputs = {recorded("args[0]", "S0", {1, 2})};
  run.outputs = {recorded("output", "S0", {1, 2})};
  run.has_sharing = true;
  const RunResult result =
      test::result_of({{"args[0]", {test::f32({1, 2})}}}, {{test::f32({1, 2})}});
  CompareOptions options;
  options.contract = CompareOptions::Contract::Torch;
  EXPECT_THAT(test::messages(compare_with_recording(result, run, Recording{}, options)),
              ElementsAre("out[0] no longer shares storage with args[0]"));
  run.has_sharing = false;
  EXPECT_EQ(compare_with_recording(result, run, Recording{}, options).verdict, VerdictKind::Same);
}

TEST(RecordingTree, AMissingFolderIsADiagnostic) {
  Result<std::unique_ptr<RecordingTree>> tree = open_recording_tree("/nowhere/at/all");
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().message, "cannot open '/nowhere/at/all': No such file or directory");
}

TEST(RecordingTree, ArchivesAndFoldersReadAlike) {
  const std::string archive = std::string(TG_SOURCE_DIR) + "/tests/recordings/paste.tar.zst";
  Result<std::unique_ptr<RecordingTree>> tree = open_recording_tree(archive);
  ASSERT_TRUE(tree) << tree.error().message;
  const std::vector<std::string> files = (*tree)->files();
  EXPECT_THAT(files, testing::Contains("43-empty.txt"));
  EXPECT_EQ(*(*tree)->read("43-empty.txt"), "");
  EXPECT_FALSE((*tree)->read("nothing.txt").has_value());
}

}  // namespace
}  // namespace tg
