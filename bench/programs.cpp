#include "bench/programs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "core/base/file.h"

namespace tg {
namespace {

// Appends the statements of one parameter as Thunder prints them, sub-statements included.
class AdamWriter {
 public:
  explicit AdamWriter(std::string& out) : out_(out) {}

  void parameter(std::size_t index) {
    constexpr std::array<std::string_view, 5> kShapes = {"4", "2, 4", "3, 2", "16", "5"};
    const std::string shape = fmt::format("cpu f32[{}]", kShapes[index % kShapes.size()]);
    const std::string scalar = "cpu f32[]";
    const std::string p = fmt::format("p{}", index);
    const std::string g = fmt::format("g{}", index);
    const std::string m = fmt::format("m{}", index);
    const std::string v = fmt::format("v{}", index);
    const std::string s = fmt::format("s{}", index);
    in_place("add", s, "1.0", scalar);
    in_place("mul", m, "0.9", shape);
    in_place("add", m, plain("mul", "mul", g, "0.1", shape), shape);
    in_place("mul", v, "0.99", shape);
    in_place("add", v, plain("mul", "mul", plain("mul", "mul", g, g, shape), "0.01", shape), shape);
    const std::string a = plain("sub", "sub", "1.0", plain("pow", "pow", "0.9", s, scalar), scalar);
    const std::string b =
        plain("sub", "sub", "1.0", plain("pow", "pow", "0.99", s, scalar), scalar);
    const std::string ratio = plain("true_divide", "div", v, b, shape);
    const std::string root = fresh();
    line(root, fmt::format("ltorch.sqrt({})", ratio), shape, 0);
    line(root, fmt::format("prims.sqrt({})", ratio), shape, 1);
    const std::string d = plain("add", "add", root, "1e-08", shape);
    const std::string step =
        plain("mul", "mul", "0.01", plain("true_divide", "div", m, a, shape), shape);
    in_place("sub", p, plain("true_divide", "div", step, d, shape), shape);
  }

 private:
  std::string fresh() { return fmt::format("t{}", next_++); }

  static std::string_view alpha(std::string_view name) {
    return name == "add" || name == "sub" ? ", alpha=1" : "";
  }

  void line(std::string_view name, std::string_view call, std::string_view type, int depth) {
    fmt::format_to(std::back_inserter(out_), "  {:{}}{}{} = {}  # {}: \"{}\"\n", "", 2 * depth,
                   depth > 0 ? "# " : "", name, call, name, type);
  }

  std::string plain(std::string_view name, std::string_view prim, std::string_view a,
                    std::string_view b, std::string_view type) {
    std::string result = fresh();
    line(result, fmt::format("ltorch.{}({}, {}{})", name, a, b, alpha(name)), type, 0);
    line(result, fmt::format("prims.{}({}, {})", prim, a, b), type, 1);
    return result;
  }

  void in_place(std::string_view name, std::string_view target, std::string_view other,
                std::string_view type) {
    const std::string value = fresh();
    const std::string copied = fresh();
    line(copied, fmt::format("ltorch.{}_({}, {}{})", name, target, other, alpha(name)), type, 0);
    line(value, fmt::format("ltorch.{}({}, {}{})", name, target, other, alpha(name)), type, 1);
    line(value, fmt::format("prims.{}({}, {})", name, target, other), type, 2);
    line(copied, fmt::format("prims.copy_({}, {})", value, target), type, 1);
  }

  std::string& out_;
  std::size_t next_ = 0;
};

bool is_trace(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (name.starts_with("step.")) return false;
  return name.ends_with(".txt") || name.ends_with(".txt.zst");
}

}  // namespace

std::string adam_text(std::size_t parameters) {
  std::string out =
      "import thunder\nimport thunder.torch as ltorch\nimport torch\n"
      "from thunder.executors.torchex import no_autocast\n\n@torch.no_grad()\n@no_autocast\ndef "
      "step(";
  for (std::size_t i = 0; i < parameters; ++i) {
    fmt::format_to(std::back_inserter(out), "{}p{}, g{}, m{}, v{}, s{}", i > 0 ? ", " : "", i, i, i,
                   i, i);
  }
  out += "):\n";
  constexpr std::array<std::string_view, 5> kShapes = {"4", "2, 4", "3, 2", "16", "5"};
  for (std::size_t i = 0; i < parameters; ++i) {
    for (const char letter : {'p', 'g', 'm', 'v'}) {
      fmt::format_to(std::back_inserter(out), "  # {}{}: \"cpu f32[{}]\"\n", letter, i,
                     kShapes[i % kShapes.size()]);
    }
    fmt::format_to(std::back_inserter(out), "  # s{}: \"cpu f32[]\"\n", i);
  }
  AdamWriter writer(out);
  for (std::size_t i = 0; i < parameters; ++i) writer.parameter(i);
  out += "  return None";
  return out;
}

std::vector<NamedText> recorded_texts(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code failed;
  for (auto at = std::filesystem::recursive_directory_iterator(folder, failed);
       !failed && at != std::filesystem::recursive_directory_iterator(); at.increment(failed)) {
    if (at->is_regular_file() && is_trace(at->path())) paths.push_back(at->path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<NamedText> texts;
  for (const std::filesystem::path& path : paths) {
    Result<std::string> text = read_file(path.string());
    if (text) texts.push_back({std::filesystem::relative(path, folder).string(), std::move(*text)});
  }
  return texts;
}

}  // namespace tg
