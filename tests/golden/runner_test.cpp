#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "core/golden/golden.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrace = R"(import thunder
import thunder.core.prims as prims
import torch
from thunder.executors.torchex import no_autocast

@torch.no_grad()
@no_autocast
def computation(x):
  # x: "cpu f32[2]"
  t0 = prims.neg(x)  # t0: "cpu f32[2]"
  t1 = prims.copy_(t0, x)  # t1: "cpu f32[2]"
  return t0
)";

// A recording of the form of the seed: x = [1, 2] becomes [-1, -2], a fresh copy of it is returned.
std::string values(std::string_view output, std::string_view output_storage,
                   std::string_view pair) {
  return std::string(
             R"({"inputs": {"x": {"dtype": "float32", "shape": [2], "strides": [1], "storage": "S0",
    "offset": 0, "values": [1, 2]}}, "final_inputs": {"x": {"dtype": "float32", "shape": [2], "strides": [1],
    "storage": "S0", "offset": 0, "values": [-1, -2]}}, "outputs": [{"dtype": "float32", "shape": [2],
    "strides": [1], "offset": 0, "storage": ")") +
         std::string(output_storage) + "\", \"values\": " + std::string(output) +
         "}], \"pairs\": [" + std::string(pair) + "]}";
}

class GoldenFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "golden-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, std::string_view text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  [[nodiscard]] GoldenReport report() const {
    Result<GoldenReport> report = run_golden(root_.string(), {});
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : GoldenReport{};
  }
  [[nodiscard]] static std::vector<std::string> failures(const GoldenReport& report) {
    std::vector<std::string> texts;
    for (const GoldenCheck& check : report.checks) {
      if (check.state == CheckState::Failed)
        texts.push_back(check.id + " [" + check.kind + "]: " + check.why);
    }
    return texts;
  }

  fs::path root_;
};

TEST_F(GoldenFolder, ARecordingThatHoldsPasses) {
  write("any/name/trace.txt", kTrace);
  write("any/name/values.json", values("[-1, -2]", "fresh0", ""));
  const GoldenReport result = report();
  EXPECT_EQ(result.recordings, 1U);
  EXPECT_EQ(render(result, {}),
            "seed: 4 passed, 0 failed, 0 not supported\n"
            "  seed/data_ptr: 1 passed, 0 failed, 0 not supported\n"
            "  seed/eager values: 1 passed, 0 failed, 0 not supported\n"
            "  seed/final arguments: 1 passed, 0 failed, 0 not supported\n"
            "  seed/round trip: 1 passed, 0 failed, 0 not supported\n");
}

TEST_F(GoldenFolder, AWrongValueFails) {
  write("p/trace.txt", kTrace);
  write("p/values.json", values("[-1, -3]", "fresh0", ""));
  EXPECT_THAT(failures(report()),
              testing::ElementsAre("p/trace.txt [eager values]: values of out[0]"));
}

TEST_F(GoldenFolder, AWrongStorageFails) {
  write("p/trace.txt", kTrace);
  write(
      "p/values.json",
      values("[-1, -2]", "S0",
             R"({"a": "x", "b": "out0", "shares_storage": true, "data_ptr_difference_bytes": 0})"));
  EXPECT_THAT(
      failures(report()),
      testing::ElementsAre(
          "p/trace.txt [data_ptr]: sharing of x and out[0]: separate here, recorded as shared"));
}

TEST_F(GoldenFolder, ARecordingThatContradictsItselfFails) {
  write("p/trace.txt", kTrace);
  write(
      "p/values.json",
      values("[-1, -2]", "fresh0",
             R"({"a": "x", "b": "out0", "shares_storage": true, "data_ptr_difference_bytes": 0})"));
  EXPECT_THAT(failures(report()),
              testing::ElementsAre(
                  "p/trace.txt [data_ptr]: the recording contradicts itself on x and out[0]"));
}

TEST_F(GoldenFolder, ADamagedRecordingFails) {
  write("p/trace.txt", kTrace);
  write("p/values.json", "{\"inputs\": {");
  const std::vector<std::string> texts = failures(report());
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_THAT(texts[0], testing::StartsWith("p/values.json [values.json]: p: not JSON"));
}

TEST_F(GoldenFolder, WhatIsNotCheckedIsNotPassed) {
  write("d/io.json", R"({"slug": "s", "inputs": [], "outputs": []})");
  write("f/phases/00-dynamo.txt", "class GraphModule:\n");
  write("o/x.jsonl", "{\"op\": \"prims.abs\", \"call\": \"prims.abs(a)\"}\n");
  for (const GoldenCheck& check : report().checks)
    EXPECT_EQ(check.state, CheckState::NotSupported) << check.id;
  EXPECT_EQ(report().checks.size(), 3U);
}

TEST_F(GoldenFolder, AnUnreadableLineIsNoRoundTrip) {
  write("t/a.txt", std::string(kTrace) + "\n");
  EXPECT_THAT(failures(report()), testing::IsEmpty());
  EXPECT_EQ(report().recordings, 1U);
}

TEST_F(GoldenFolder, NothingToRecogniseIsNoRecording) {
  write("notes.txt", "just words\n");
  EXPECT_EQ(report().recordings, 0U);
}

TEST(Golden, AMissingFolderIsADiagnostic) {
  Result<GoldenReport> report = run_golden("/nowhere/at/all", {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, DiagnosticCode::CannotRead);
}

TEST(Stories, ThePageInTheDocsIsWhatTheRecordingsSay) {
  const std::string root = TG_SOURCE_DIR;
  const Result<std::string> page = tell_stories(root + "/tests/recordings/passes-2024-12.tar.zst");
  ASSERT_TRUE(page.has_value()) << page.error().message;
  std::ifstream file(root + "/docs/thunder-2024-12.md");
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, *page) << "make it anew: ./dev golden --stories tests/recordings/"
                               "passes-2024-12.tar.zst > docs/thunder-2024-12.md";
}

}  // namespace
}  // namespace tg
