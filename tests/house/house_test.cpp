// The rules of the house that a compiler does not check: each test names the files that break one.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "core/base/text.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 800;

const fs::path& source_root() {
  static const fs::path root = TG_SOURCE_DIR;
  return root;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Files below `folder` with one of the endings, relative to the root, sorted.
std::vector<fs::path> files_below(const fs::path& folder, const std::set<std::string>& endings) {
  std::vector<fs::path> files;
  if (!fs::exists(source_root() / folder)) return files;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(source_root() / folder)) {
    if (!entry.is_regular_file() || !endings.contains(entry.path().extension().string())) continue;
    files.push_back(fs::relative(entry.path(), source_root()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> sources(const std::set<std::string>& endings = {".h", ".cpp"}) {
  std::vector<fs::path> all;
  for (const char* folder : {"core", "app", "gpu", "tests", "bench"}) {
    const std::vector<fs::path> some = files_below(folder, endings);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::string listed(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "  " + line + "\n";
  return out;
}

// The CMakeLists.txt that a source belongs to: in its folder, or the nearest one above.
fs::path cmake_list_of(const fs::path& source) {
  for (fs::path folder = source.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const fs::path list = folder / "CMakeLists.txt";
    if (fs::exists(source_root() / list)) return list;
  }
  return "CMakeLists.txt";
}

TEST(House, CMakeListsEverySource) {
  std::map<fs::path, std::set<std::string>> words;
  std::vector<std::string> missing;
  for (const fs::path& source : sources({".cpp"})) {
    const fs::path list = cmake_list_of(source);
    if (!words.contains(list)) {
      std::string text = read(source_root() / list);
      std::replace_if(
          text.begin(), text.end(), [](char c) { return c == '(' || c == ')' || c == '"'; }, ' ');
      std::istringstream stream(text);
      std::string word;
      while (stream >> word) words[list].insert(word);
    }
    const std::string name = fs::relative(source, list.parent_path()).generic_string();
    if (!words[list].contains(name))
      missing.push_back(source.string() + " is not in " + list.string());
  }
  EXPECT_TRUE(missing.empty()) << listed(missing);
}

// What each room may include besides itself. Data flows one way: text -> trace -> passes -> runs ->
// reports.
const std::map<std::string, std::set<std::string>>& allowed_rooms() {
  static const std::map<std::string, std::set<std::string>> rooms = {
      {"base", {}},
      {"ir", {"base"}},
      {"text", {"base", "ir"}},
      {"analysis", {"base", "ir"}},
      {"eager", {"base", "ir"}},
      {"pass", {"base", "ir", "text", "analysis"}},
      {"edit", {"base", "ir", "text", "analysis", "pass"}},
      {"run", {"base", "ir", "text", "analysis", "eager"}},
      {"check", {"base", "ir", "text", "analysis", "eager", "pass", "edit", "run"}},
      {"golden", {"base", "ir", "text", "analysis", "eager", "pass", "edit", "run", "check"}},
      {"export", {"base", "ir", "text", "analysis", "eager", "pass", "edit", "run", "check"}},
  };
  return rooms;
}

// Paths in `#include "..."` lines.
std::vector<std::string> includes_of(const fs::path& source) {
  std::vector<std::string> result;
  const std::string text = read(source_root() / source);
  for (const std::string_view line : split_lines(text)) {
    constexpr std::string_view kStart = "#include \"";
    if (!line.starts_with(kStart)) continue;
    const std::string_view rest = line.substr(kStart.size());
    result.emplace_back(rest.substr(0, rest.find('"')));
  }
  return result;
}

TEST(House, RoomsIncludeOnlyWhatLiesBelowThem) {
  std::vector<std::string> wrong;
  for (const fs::path& source : files_below("core", {".h", ".cpp", ".def"})) {
    const std::string room = std::next(source.begin())->string();
    const auto allowed = allowed_rooms().find(room);
    if (allowed == allowed_rooms().end()) {
      wrong.push_back(source.string() + " is in an unknown room");
      continue;
    }
    for (const std::string& include : includes_of(source)) {
      const fs::path path(include);
      if (path.begin()->string() != "core") {
        wrong.push_back(fmt::format("{} includes {}", source.string(), include));
        continue;
      }
      const std::string other = std::next(path.begin())->string();
      if (other != room && !allowed->second.contains(other)) {
        wrong.push_back(fmt::format("{} includes {}", source.string(), include));
      }
    }
  }
  EXPECT_TRUE(wrong.empty()) << listed(wrong);
}

TEST(House, NoFileIsLongerThanItsLimit) {
  std::vector<std::string> wrong;
  for (const fs::path& source : sources()) {
    const std::size_t lines = split_lines(read(source_root() / source)).size();
    if (lines > kMostLines) wrong.push_back(fmt::format("{} has {} lines", source.string(), lines));
  }
  EXPECT_TRUE(wrong.empty()) << listed(wrong);
}

// A variable that lives as long as the program and can change.
bool is_mutable_static(std::string_view line) {
  std::string_view text = trim(line);
  bool found = false;
  for (const std::string_view word : {"inline ", "static ", "thread_local "}) {
    if (text.starts_with(word)) {
      text.remove_prefix(word.size());
      found = found || word != "inline ";
    }
  }
  if (!found) return false;
  for (const std::string_view word :
       {"const ", "constexpr ", "constinit const ", "consteval ", "inline constexpr "}) {
    if (text.starts_with(word)) return false;
  }
  // `static T name(` is a function, `static T name = f(` is a variable.
  const std::size_t end = text.find_first_of("(={;");
  return end != std::string_view::npos && text[end] != '(' &&
         text.find("operator") == std::string_view::npos;
}

TEST(House, TellsMutableStatics) {
  EXPECT_TRUE(is_mutable_static("  static int counter = 0;"));
  EXPECT_TRUE(is_mutable_static("static std::map<int, int> cache;"));
  EXPECT_TRUE(is_mutable_static("thread_local Fusion* current = nullptr;"));
  EXPECT_FALSE(is_mutable_static("  static const std::map<int, int> table = make();"));
  EXPECT_FALSE(is_mutable_static("  static constexpr int kMost = 3;"));
  EXPECT_FALSE(is_mutable_static("  static Value none() { return {}; }"));
  EXPECT_FALSE(is_mutable_static("  int counter = 0;"));
}

TEST(House, HasNoMutableStatics) {
  std::vector<std::string> wrong;
  for (const char* folder : {"core", "app"}) {
    for (const fs::path& source : files_below(folder, {".h", ".cpp"})) {
      const std::string text = read(source_root() / source);
      std::size_t number = 0;
      for (const std::string_view line : split_lines(text)) {
        ++number;
        if (is_mutable_static(line))
          wrong.push_back(fmt::format("{}:{}: {}", source.string(), number, trim(line)));
      }
    }
  }
  EXPECT_TRUE(wrong.empty()) << listed(wrong);
}

TEST(House, HeadersAreIncludedOnceAndHaveNoUsingNamespace) {
  std::vector<std::string> wrong;
  for (const fs::path& header : sources({".h"})) {
    const std::string text = read(source_root() / header);
    if (text.find("#pragma once") == std::string::npos)
      wrong.push_back(header.string() + " lacks #pragma once");
    if (text.find("using namespace") != std::string::npos)
      wrong.push_back(header.string() + " says using namespace");
  }
  EXPECT_TRUE(wrong.empty()) << listed(wrong);
}

// Words that promise what is not there.
TEST(House, NothingIsLeftOpen) {
  const std::vector<std::string> words = {std::string("TO") + "DO", std::string("FIX") + "ME",
                                          std::string("XX") + "X:"};
  std::vector<std::string> wrong;
  for (const fs::path& source : sources({".h", ".cpp", ".def", ".txt"})) {
    // Texts of other programs may contain anything.
    if (source.string().find("recordings") != std::string::npos) continue;
    const std::string text = read(source_root() / source);
    for (const std::string& word : words) {
      if (text.find(word) != std::string::npos)
        wrong.push_back(fmt::format("{}: {}", source.string(), word));
    }
  }
  EXPECT_TRUE(wrong.empty()) << listed(wrong);
}

// A message that no test shows in full is a message that nobody has read.
TEST(House, EveryDiagnosticCodeIsInAnExpectedMessage) {
  std::string all;
  for (const fs::path& file :
       files_below("tests", {".cpp", ".h", ".txt", ".expected", ".md", ".json"})) {
    all += read(source_root() / file);
  }
  std::vector<std::string> missing;
  for (const DiagnosticCode code : all_diagnostic_codes()) {
    const std::string shown = fmt::format("[{}]", code_text(code));
    if (all.find(shown) == std::string::npos) missing.push_back(shown);
  }
  EXPECT_TRUE(missing.empty()) << listed(missing);
}

TEST(House, EveryDiagnosticCodeIsUsed) {
  std::string all;
  for (const char* folder : {"core", "app"}) {
    for (const fs::path& file : files_below(folder, {".cpp", ".h"}))
      all += read(source_root() / file);
  }
  std::vector<std::string> missing;
  for (const std::string_view line :
       split_lines(read(source_root() / "core/base/diagnostic_codes.def"))) {
    constexpr std::string_view kStart = "TG_DIAGNOSTIC(";
    if (!line.starts_with(kStart)) continue;
    const std::string_view name = line.substr(kStart.size(), line.find(',') - kStart.size());
    if (all.find(fmt::format("DiagnosticCode::{}", name)) == std::string::npos)
      missing.emplace_back(name);
  }
  EXPECT_TRUE(missing.empty()) << listed(missing);
}

// The names in the first column of the README's command table.
std::set<std::string> readme_commands() {
  std::set<std::string> names;
  const std::string text = read(source_root() / "README.md");
  for (const std::string_view line : split_lines(text)) {
    constexpr std::string_view kStart = "| `";
    if (!line.starts_with(kStart)) continue;
    const std::string_view rest = line.substr(kStart.size());
    names.emplace(rest.substr(0, rest.find_first_of("` ")));
  }
  return names;
}

std::set<std::string> table_commands() {
  std::set<std::string> names;
#define TG_COMMAND(function, name, operands, where, options, summary, examples, details) \
  names.emplace(name);
#include "app/commands.def"
#undef TG_COMMAND
  return names;
}

TEST(House, ReadmeListsTheCommands) {
  if (!fs::exists(source_root() / "README.md")) GTEST_SKIP() << "no README.md";
  std::vector<std::string> missing;
  const std::set<std::string> shown = readme_commands();
  for (const std::string& name : table_commands()) {
    if (!shown.contains(name)) missing.push_back(name);
  }
  EXPECT_TRUE(missing.empty()) << "commands that README.md does not list:\n" << listed(missing);
}

}  // namespace
}  // namespace tg
