#include "bench/peers.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdlib.h>

#include <fmt/format.h>

namespace tg {
namespace {

constexpr const char* kScript =
    "import ast, sys, time\n"
    "texts = [open(name, encoding='utf-8', errors='replace').read() for name in sys.argv[1:]]\n"
    "seconds = 0.0\n"
    "for text in texts:\n"
    "    start = time.perf_counter()\n"
    "    try:\n"
    "        ast.parse(text)\n"
    "    except SyntaxError:\n"
    "        pass\n"
    "    seconds += time.perf_counter() - start\n"
    "print(seconds)\n";

}  // namespace

std::string first_output_line(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string line;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) line += buffer.data();
  ::pclose(pipe);
  return line.substr(0, line.find('\n'));
}

std::optional<double> python_parse_seconds(const std::vector<NamedText>& texts) {
  std::string folder_name =
      (std::filesystem::temp_directory_path() / "thunderglass-bench-XXXXXX").string();
  if (::mkdtemp(folder_name.data()) == nullptr) return std::nullopt;
  const std::filesystem::path folder = folder_name;
  std::ofstream(folder / "parse.py") << kScript;
  std::string command = fmt::format("cd '{}' && python3 parse.py", folder.string());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string name = fmt::format("{}.txt", i);
    std::ofstream(folder / name, std::ios::binary) << texts[i].text;
    command += " " + name;
  }
  const std::string line = first_output_line(command);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (line.empty()) return std::nullopt;
  return std::atof(line.c_str());
}

}  // namespace tg
