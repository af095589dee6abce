#include "core/base/file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tg {
namespace {

// A directory of its own for each test, removed afterwards.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tg_file_test_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (directory_ / name).string();
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }

  std::filesystem::path directory_;
};

// "hello hello\n", made by `gzip -n` and `zstd`.
const std::string kGzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\x57\xc8\x00\x91\x5c\x00\xa5\x6a"
    "\x0a\x44\x0c\x00\x00\x00",
    29);
const std::string kZstd(
    "\x28\xb5\x2f\xfd\x04\x58\x61\x00\x00\x68\x65\x6c\x6c\x6f\x20\x68\x65\x6c\x6c\x6f\x0a\xff\x7a"
    "\xd5\x1a",
    25);

TEST_F(Files, ReadsPlainBytes) {
  put("a", std::string("a\0b\n", 4));
  EXPECT_EQ(*read_file(path("a")), std::string("a\0b\n", 4));
  put("empty", "");
  EXPECT_EQ(*read_file(path("empty")), "");
}

TEST_F(Files, UndoesCompressionByContent) {
  put("a.txt", kGzip);
  put("b.txt", kZstd);
  EXPECT_EQ(*read_file(path("a.txt")), "hello hello\n");
  EXPECT_EQ(*read_file(path("b.txt")), "hello hello\n");
}

TEST_F(Files, DamagedCompressionIsAnError) {
  for (const std::string& bytes :
       {kGzip.substr(0, 20), kZstd.substr(0, 14), std::string("\x1f\x8b\x08garbage")}) {
    put("bad", bytes);
    const Result<std::string> read = read_file(path("bad"));
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, DiagnosticCode::BadCompression);
    EXPECT_TRUE(read.error().message.starts_with("cannot decompress '" + path("bad") + "': "))
        << read.error().message;
  }
}

// The whole message, with the test's directory left out.
std::string said(const Diagnostic& diagnostic, const std::string& directory) {
  std::string text = render(diagnostic, "thunderglass", "");
  for (std::size_t at = text.find(directory + "/"); at != std::string::npos;
       at = text.find(directory + "/", at)) {
    text.erase(at, directory.size() + 1);
  }
  return text;
}

TEST_F(Files, MessagesSayWhatToDo) {
  put("a", std::string(1000, 'x'));
  put("bad.gz", kGzip.substr(0, 20));
  const std::string here = directory_.string();
  EXPECT_EQ(said(read_file(path("a"), 999).error(), here),
            "thunderglass: error: 'a' holds more than 999 B [too-large]\n"
            "hint: split the file\n");
  EXPECT_EQ(said(read_file(path("bad.gz")).error(), here),
            "thunderglass: error: cannot decompress 'bad.gz': truncated gzip input "
            "[bad-compression]\n"
            "hint: the file is damaged or truncated: get it anew\n");
  EXPECT_EQ(said(read_file(path("none")).error(), here),
            "thunderglass: error: cannot open 'none': No such file or directory [cannot-read]\n");
  EXPECT_EQ(said(write_file(path("a"), "x", Overwrite::Refuse).error(), here),
            "thunderglass: error: 'a' exists already [would-overwrite]\n"
            "hint: --force overwrites it\n");
  EXPECT_EQ(said(write_file(path("no/place"), "x", Overwrite::Allow).error(), here),
            "thunderglass: error: cannot write 'no/place': No such file or directory "
            "[cannot-write]\n");
}

TEST_F(Files, LimitCountsPlainBytes) {
  put("a", std::string(1000, 'x'));
  put("b", kGzip);
  EXPECT_EQ(read_file(path("a"), 999).error().code, DiagnosticCode::TooLarge);
  EXPECT_EQ(read_file(path("a"), 999).error().message, "'" + path("a") + "' holds more than 999 B");
  EXPECT_EQ(read_file(path("b"), 11).error().code, DiagnosticCode::TooLarge);
  EXPECT_TRUE(read_file(path("a"), 1000).has_value());
}

TEST_F(Files, MissingFileIsNamed) {
  const Result<std::string> read = read_file(path("none"));
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, DiagnosticCode::CannotRead);
  EXPECT_EQ(read.error().message, "cannot open '" + path("none") + "': No such file or directory");
}

TEST_F(Files, DirectoryIsNoFile) {
  const Result<std::string> read = read_file(directory_.string());
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().message, "cannot read '" + directory_.string() + "': Is a directory");
}

TEST_F(Files, WritesWholeOrNotAtAll) {
  ASSERT_TRUE(write_file(path("out"), "one", Overwrite::Refuse).has_value());
  EXPECT_EQ(*read_file(path("out")), "one");
  const Result<bool> refused = write_file(path("out"), "two", Overwrite::Refuse);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, DiagnosticCode::WouldOverwrite);
  EXPECT_EQ(*read_file(path("out")), "one");
  ASSERT_TRUE(write_file(path("out"), "two", Overwrite::Allow).has_value());
  EXPECT_EQ(*read_file(path("out")), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(Files, CannotWriteIntoNothing) {
  const Result<bool> written = write_file(path("no/such/place"), "x", Overwrite::Allow);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message,
            "cannot write '" + path("no/such/place") + "': No such file or directory");
}

}  // namespace
}  // namespace tg
