// cases_table THUNDERGLASS ARCHIVE FILES TABLE: for each row of the table a command line, its exit
// code and what its output must contain. Runs in a folder with NN.txt (the right program),
// NN-wrong.txt, NN.json (inputs and right results) and NN.md of every case in the archive, and with
// the files of FILES.
//
// Columns, separated by tabs: case, command, exit code, texts that must occur (separated by " ;; ",
// in any order; one that begins with "!" must not occur). A command "needs WHAT" is a row that
// waits for WHAT.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <sys/wait.h>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/golden/case_text.h"
#include "core/run/recording.h"

namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

void write_text(const fs::path& path, const std::string& text) {
  if (!text.empty()) std::ofstream(path, std::ios::binary) << text;
}

bool lay_out(const std::string& archive, const fs::path& folder) {
  tg::Result<std::unique_ptr<tg::RecordingTree>> tree = tg::open_recording_tree(archive);
  if (!tree) {
    std::cerr << tree.error().message << '\n';
    return false;
  }
  for (const std::string& file : (*tree)->files()) {
    if (!file.ends_with(".md")) continue;
    tg::Result<std::string> markdown = (*tree)->read(file);
    if (!markdown) return false;
    const std::string number = file.substr(0, 2);
    const tg::golden::CaseText text = tg::golden::read_case_text(*markdown);
    write_text(folder / (number + ".md"), *markdown);
    write_text(folder / (number + ".txt"), text.right);
    write_text(folder / (number + "-wrong.txt"), text.wrong);
    write_text(folder / (number + ".json"), text.json);
  }
  return true;
}

struct Outcome {
  int exit_code = -1;
  std::string output;
};

// Standard output and standard error together, as a user sees them.
Outcome run_shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return outcome;
}

std::string fault(const Outcome& outcome, const std::string& exit_code, const std::string& texts) {
  std::string wrong;
  if (std::to_string(outcome.exit_code) != exit_code) {
    wrong = fmt::format("exit code {} instead of {}", outcome.exit_code, exit_code);
  }
  for (const std::string& text : split(texts, " ;; ")) {
    const bool forbidden = text.starts_with("!");
    const std::string wanted = forbidden ? text.substr(1) : text;
    if (wanted.empty() || (outcome.output.find(wanted) != std::string::npos) != forbidden) continue;
    wrong +=
        fmt::format("{}{} '{}'", wrong.empty() ? "" : "; ", forbidden ? "has" : "lacks", wanted);
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: cases_table THUNDERGLASS ARCHIVE FILES TABLE\n";
    return 2;
  }
  const fs::path binary = fs::absolute(argv[1]);
  const std::string archive = fs::absolute(argv[2]).string();
  const fs::path files = fs::absolute(argv[3]);
  std::ifstream table(argv[4]);
  if (!table) {
    std::cerr << "cannot read " << argv[4] << '\n';
    return 4;
  }
  std::string pattern = (fs::temp_directory_path() / "thunderglass-cases-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return 4;
  const fs::path folder = pattern;
  if (!lay_out(archive, folder)) return 4;
  for (const fs::directory_entry& entry : fs::directory_iterator(files)) {
    fs::copy_file(entry.path(), folder / entry.path().filename(),
                  fs::copy_options::overwrite_existing);
  }
  fs::current_path(folder);
  setenv("PATH", (binary.parent_path().string() + ":" + std::getenv("PATH")).c_str(), 1);
  setenv("NO_COLOR", "1", 1);

  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t waiting = 0;
  std::set<std::string> cases;
  std::string line;
  for (std::size_t number = 1; std::getline(table, line); ++number) {
    if (line.empty() || line.starts_with("#")) continue;
    const std::vector<std::string> columns = split(line, "\t");
    cases.insert(columns.front());
    if (columns.size() >= 2 && columns[1].starts_with("needs ")) {
      ++waiting;
      std::cout << fmt::format("case {} waits: {}\n", columns[0], columns[1]);
      continue;
    }
    if (columns.size() != 4) {
      ++failed;
      std::cout << fmt::format("line {}: expected 4 columns, found {}\n", number, columns.size());
      continue;
    }
    const Outcome outcome = run_shell(columns[1]);
    const std::string wrong = fault(outcome, columns[2], columns[3]);
    if (wrong.empty()) {
      ++passed;
      continue;
    }
    ++failed;
    std::cout << fmt::format("FAILED case {}: {}\n  $ {}\n{}\n", columns[0], wrong, columns[1],
                             outcome.output);
  }
  fs::current_path("/");
  fs::remove_all(folder);
  std::cout << fmt::format("{} cases: {} rows passed, {} failed, {} wait\n", cases.size(), passed,
                           failed, waiting);
  return failed == 0 ? 0 : 1;
}
