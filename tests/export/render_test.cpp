#include "core/export/render.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/export/dot.h"
#include "core/export/graph_layout.h"
#include "sample.h"

namespace tg {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string sample_dot() {
  Graph graph = sample_graph(written_argument());
  lay_out(graph);
  return to_dot(graph);
}

// A program of ours in the place of neato.
class FakeProgram {
 public:
  explicit FakeProgram(const std::string& script) {
    std::string name =
        (std::filesystem::temp_directory_path() / "thunderglass-neato-XXXXXX").string();
    const char* folder = ::mkdtemp(name.data());
    folder_ = folder == nullptr ? "" : folder;
    path_ = folder_ / "neato";
    std::ofstream(path_) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~FakeProgram() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  FakeProgram(const FakeProgram&) = delete;
  FakeProgram& operator=(const FakeProgram&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path folder_, path_;
};

std::string error_of(const Result<Picture>& picture) {
  return picture.has_value() ? "no error" : render(picture.error(), "picture.svg", "");
}

bool has_graphviz() {
  return std::system("command -v neato >/dev/null 2>&1") == 0;
}

TEST(RenderPicture, DrawsSvgWithTitlesOfAllNodes) {
  if (!has_graphviz()) GTEST_SKIP() << "no Graphviz here: neato is not in PATH";
  const Result<Picture> picture = render_picture(sample_dot(), PictureFormat::Svg);
  ASSERT_TRUE(picture.has_value()) << error_of(picture);
  EXPECT_THAT(picture->bytes, HasSubstr("</svg>"));
  for (const std::string id : {"x", "y", "t0", "v", "t1", "t2", "t3", "return"}) {
    EXPECT_THAT(picture->bytes, HasSubstr("<title>" + id + "</title>"));
  }
}

TEST(RenderPicture, DrawsPngAndPdf) {
  if (!has_graphviz()) GTEST_SKIP() << "no Graphviz here: neato is not in PATH";
  const Result<Picture> png = render_picture(sample_dot(), PictureFormat::Png);
  ASSERT_TRUE(png.has_value()) << error_of(png);
  EXPECT_THAT(png->bytes, StartsWith("\x89PNG"));
  const Result<Picture> pdf = render_picture(sample_dot(), PictureFormat::Pdf);
  ASSERT_TRUE(pdf.has_value()) << error_of(pdf);
  EXPECT_THAT(pdf->bytes, StartsWith("%PDF"));
}

TEST(RenderPicture, SaysWhenGraphvizIsMissing) {
  EXPECT_EQ(error_of(render_picture("digraph {}", PictureFormat::Svg, {}, {}, "no-such-neato")),
            "picture.svg: error: cannot draw: 'no-such-neato' is not installed [graphviz-missing]\n"
            "hint: apt-get install graphviz, or write the DOT text with `thunderglass dot`\n");
}

TEST(RenderPicture, PassesOnWhatGraphvizSays) {
  const FakeProgram program("cat >/dev/null; echo 'Error: syntax error in line 1' >&2; exit 1\n");
  EXPECT_EQ(error_of(render_picture("digraph {}", PictureFormat::Svg, {}, {}, program.path())),
            "picture.svg: error: neato ended with exit code 1: Error: syntax error in line 1 "
            "[graphviz-failed]\n");
}

TEST(RenderPicture, SurvivesACrashOfTheChild) {
  const FakeProgram program("kill -ABRT $$\n");
  EXPECT_EQ(error_of(render_picture(std::string(1'000'000, ' '), PictureFormat::Svg, {}, {},
                                    program.path())),
            "picture.svg: error: neato crashed (Aborted) [graphviz-failed]\n");
}

TEST(RenderPicture, StopsAChildThatTakesTooLong) {
  const FakeProgram program("exec sleep 60\n");
  RenderLimits limits;
  limits.time = std::chrono::milliseconds{300};
  EXPECT_EQ(error_of(render_picture("digraph {}", PictureFormat::Svg, limits, {}, program.path())),
            "picture.svg: error: neato was stopped after 0.3 s [graphviz-stopped]\n"
            "hint: draw a part of it: --near NAME --depth N\n");
}

TEST(RenderPicture, StopsAChildThatWritesTooMuch) {
  const FakeProgram program("exec cat /dev/zero\n");
  RenderLimits limits;
  limits.output_bytes = 1'000'000;
  EXPECT_EQ(error_of(render_picture("digraph {}", PictureFormat::Svg, limits, {}, program.path())),
            "picture.svg: error: neato was stopped: the picture is larger than 1.0 MB "
            "[graphviz-stopped]\n"
            "hint: draw a part of it: --near NAME --depth N\n");
}

TEST(RenderPicture, NamesTheMemoryLimit) {
  const FakeProgram program("cat >/dev/null; echo 'out of memory' >&2; exit 1\n");
  RenderLimits limits;
  limits.memory_bytes = 256'000'000;
  EXPECT_EQ(error_of(render_picture("digraph {}", PictureFormat::Svg, limits, {}, program.path())),
            "picture.svg: error: neato needs more than 256.0 MB of memory [graphviz-stopped]\n"
            "hint: draw a part of it: --near NAME --depth N\n");
}

TEST(RenderPicture, StopsOnRequest) {
  const FakeProgram program("exec sleep 60\n");
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(error_of(render_picture("digraph {}", PictureFormat::Svg, {}, source.get_token(),
                                    program.path())),
            "picture.svg: error: drawing was interrupted [cancelled]\n");
}

TEST(PictureFormat, IsToldByTheEnding) {
  EXPECT_EQ(picture_format("a/b.svg"), PictureFormat::Svg);
  EXPECT_EQ(picture_format("png"), PictureFormat::Png);
  EXPECT_EQ(picture_format("x.tar.pdf"), PictureFormat::Pdf);
  EXPECT_EQ(picture_format("x.jpeg"), std::nullopt);
}

}  // namespace
}  // namespace tg
