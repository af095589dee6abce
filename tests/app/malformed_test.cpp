// A hundred hostile inputs: each gets a diagnostic and exit code 3 or 4, and ends soon.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <tuple>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/command.h"
#include "app/session.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

struct Hostile {
  std::string name;
  std::string text;
  std::vector<std::string> words;  // "@" stands for the file
};

constexpr std::string_view kHead =
    "import thunder\n"
    "import thunder.core.prims as prims\n"
    "import thunder.torch as ltorch\n"
    "import torch\n"
    "from thunder.executors.torchex import no_autocast\n"
    "\n"
    "@torch.no_grad()\n"
    "@no_autocast\n";

std::string program(std::string_view body, std::string_view parameters = "a, b") {
  return fmt::format("{}def computation({}):\n{}", kHead, parameters, body);
}

const std::string& good() {
  static const std::string text = program(
      "  # a: \"cpu f32[2, 2]\"\n"
      "  # b: \"cpu f32[2, 2]\"\n"
      "  t0 = ltorch.add(a, b, alpha=1)  # t0: \"cpu f32[2, 2]\"\n"
      "    # t0 = prims.add(a, b)  # t0: \"cpu f32[2, 2]\"\n"
      "  t1 = prims.copy_(t0, a)  # t1: \"cpu f32[2, 2]\"\n"
      "  return (t1,)");
  return text;
}

void add(std::vector<Hostile>& all, std::string name, std::string text,
         std::vector<std::string> words = {"run", "@"}) {
  all.push_back({std::move(name), std::move(text), std::move(words)});
}

std::string nested(char open, char close, std::size_t depth) {
  return std::string(depth, open) + std::string(depth, close);
}

// Texts that break off: in the head, in a name, in a call, in a string.
void add_truncated(std::vector<Hostile>& all) {
  const std::size_t body = good().find("def ");
  const std::size_t last = good().find("copy_(t0, a)");
  constexpr int kPieces = 60;
  for (int i = 0; i < kPieces; ++i) {
    const std::size_t cut = body + 4 + (last - body) * static_cast<std::size_t>(i) / kPieces;
    std::string text = good().substr(0, cut);
    // A cut in a comment leaves a comment, and one behind a whole line a good program: both load.
    while (text.back() == '\n' || text.back() == ')' || text.back() == ' ') text.pop_back();
    const std::string_view line = std::string_view(text).substr(text.rfind('\n') + 1);
    if (line.find('#') != std::string_view::npos || line.ends_with(':')) continue;
    add(all, fmt::format("cut_{:02}", i), text + " = (", {"info", "@"});
  }
}

void add_binary(std::vector<Hostile>& all) {
  std::mt19937 random(7);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{17}, std::size_t{4096}, std::size_t{1} << 20}) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() & 0xFFU);
    add(all, fmt::format("random_bytes_{}", size), bytes, {"info", "@"});
  }
  add(all, "empty", "", {"info", "@"});
  add(all, "only_newlines", std::string(100'000, '\n'), {"info", "@"});
  add(all, "zero_bytes", std::string(4096, '\0'), {"info", "@"});
  add(all, "gzip_header_only", "\x1f\x8b\x08\x00", {"info", "@"});
  add(all, "gzip_damaged",
      std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10) + "not deflate at all",
      {"info", "@"});
  add(all, "zstd_header_only", "\x28\xb5\x2f\xfd", {"info", "@"});
  add(all, "zstd_damaged", std::string("\x28\xb5\x2f\xfd\x24\x10", 6) + "garbage garbage",
      {"info", "@"});
  add(all, "utf16", std::string("\xff\xfe") + std::string("d\0e\0f\0 \0c\0(\0)\0:\0\n\0", 18),
      {"info", "@"});
  add(all, "elf",
      std::string("\x7f"
                  "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
                  16),
      {"info", "@"});
  add(all, "png", "\x89PNG\r\n\x1a\n", {"info", "@"});
}

// Deep and long lines.
void add_big(std::vector<Hostile>& all) {
  const std::size_t deep = 100'000;
  for (const auto& [name, open, close] :
       {std::tuple{"round", '(', ')'}, std::tuple{"square", '[', ']'},
        std::tuple{"curly", '{', '}'}}) {
    add(all, fmt::format("nested_{}", name),
        program(fmt::format("  t0 = ltorch.f({})\n  return t0", nested(open, close, deep))));
    add(all, fmt::format("nested_{}_open", name),
        program(fmt::format("  t0 = ltorch.f({}\n  return t0", std::string(deep, open))));
    add(all, fmt::format("nested_{}_closed", name),
        program(fmt::format("  t0 = ltorch.f({}\n  return t0", std::string(deep, close))));
    add(all, fmt::format("nested_{}_return", name),
        program(fmt::format("  return {}", nested(open, close, deep))));
    add(all, fmt::format("nested_{}_parameter", name),
        program("  return x", fmt::format("x={}", nested(open, close, deep))), {"info", "@"});
    add(all, fmt::format("nested_{}_target", name),
        program(fmt::format("  {} = ltorch.f(a)\n  return a", nested(open, close, deep))),
        {"info", "@"});
    add(all, fmt::format("nested_{}_type", name),
        program(fmt::format("  # a: \"cpu f32{}\"\n  t0 = ltorch.neg(a)\n  return t0",
                            nested(open, close, deep)),
                "a"));
  }
  add(all, "a_line_of_a_megabyte",
      program("  t0 = ltorch." + std::string(1'000'000, 'x') + "(\n  return t0"), {"info", "@"});
  add(all, "a_name_of_a_megabyte",
      program("  t0 = " + std::string(1'000'000, 'x') + "(undefined)\n  return t0"));
  add(all, "a_string_of_a_megabyte",
      program("  t0 = ltorch.f('" + std::string(1'000'000, 'x') + "\n  return t0"), {"info", "@"});
  add(all, "a_number_of_a_megabyte",
      program("  t0 = ltorch.add(a, " + std::string(1'000'000, '9') + ")\n  return t0"));
  add(all, "a_comment_of_a_megabyte", "# " + std::string(1'000'000, 'x'), {"info", "@"});
  std::string attribute = "a";
  for (int i = 0; i < 100'000; ++i) attribute += ".b";
  add(all, "a_hundred_thousand_dots", program("  t0 = ltorch.neg(" + attribute + "()\n  return t0"),
      {"info", "@"});
  std::string minus(100'000, '-');
  add(all, "a_hundred_thousand_minus",
      program("  t0 = ltorch.add(a, " + minus + "1)\n  return t0"));
  std::string steps;
  for (int depth = 1; depth < 2'000; ++depth) {
    steps += std::string(static_cast<std::size_t>(2 * depth), ' ') + (depth > 1 ? "# " : "") +
             "t0 = nobody(zz)\n";
  }
  add(all, "two_thousand_levels_of_sub_statements", program(steps + "  return t0"));
}

// Tensors that cannot be.
void add_shapes(std::vector<Hostile>& all) {
  for (const std::string_view shape :
       {"1000000000000000000", "1000000000, 1000000000", "9223372036854775807",
        "9223372036854775808", "99999999999999999999999999", "-1", "-9223372036854775808",
        "4294967296, 4294967296, 4294967296", "2, , 3", "two", "1e9", "[2]"}) {
    add(all, fmt::format("shape_{}", all.size()),
        program(fmt::format("  # a: \"cpu f32[{0}]\"\n  t0 = ltorch.neg(a)  # t0: \"cpu "
                            "f32[{0}]\"\n  return t0",
                            shape),
                "a"));
  }
  for (const std::string_view type : {"f33[2]", "cpu", "cpu f32", "cpu f32[2", "f32]2[", "cpu  [2]",
                                      "cuda:0 q8[2]", "\"\"", ""}) {
    add(all, fmt::format("type_{}", all.size()),
        program(fmt::format("  # a: \"{}\"\n  t0 = ltorch.exp(a)\n  return t0", type), "a"));
  }
  add(all, "huge_broadcast",
      program("  # a: \"cpu f32[1]\"\n  t0 = ltorch.expand(a, (1000000000000000000,))\n  t1 = "
              "ltorch.neg(t0)\n  return t1",
              "a"));
  add(all, "huge_factory",
      program("  t0 = ltorch.zeros((1000000000, 1000000000), device='cpu', dtype=torch.float32)\n  "
              "return t0",
              ""));
  add(all, "huge_arange",
      program("  t0 = ltorch.arange(0, 1000000000000000000, 1)\n  return t0", ""));
}

// Arguments of the wrong kind, wrong counts, wrong order.
void add_wrong(std::vector<Hostile>& all) {
  const std::string annotations = "  # a: \"cpu f32[2, 2]\"\n  # b: \"cpu i64[3]\"\n";
  for (const std::string_view statement : {"t0 = ltorch.add(a, 'text')",
                                           "t0 = ltorch.add(a, None)",
                                           "t0 = ltorch.add(a)",
                                           "t0 = ltorch.add()",
                                           "t0 = ltorch.add(a, b, a, b, a, b, a, b)",
                                           "t0 = ltorch.add(a, b)",
                                           "t0 = ltorch.add(a, missing)",
                                           "t0 = ltorch.matmul(a, b)",
                                           "t0 = ltorch.reshape(a, (3, 3))",
                                           "t0 = ltorch.reshape(a, (-1, -1))",
                                           "t0 = ltorch.reshape(a, 'x')",
                                           "t0 = ltorch.transpose(a, 7, 9)",
                                           "t0 = prims.copy_(b, a)",
                                           "t0 = prims.copy_(a)",
                                           "t0 = prims.copy_(1, 2)",
                                           "t0 = ltorch.getitem(a, 99)",
                                           "t0 = ltorch.getitem(a, slice(None, None, 0))",
                                           "t0 = ltorch.narrow(a, 0, 1, 7)",
                                           "t0 = prims.broadcast_in_dim(a, (2, 2), (5, 6))",
                                           "t0 = ltorch.nobody_has_this(a)",
                                           "t0 = ltorch.sum(a, 12)",
                                           "t0 = ltorch.cat([a, b], 0)",
                                           "t0 = ltorch.cat([], 0)",
                                           "t0 = t0",
                                           "a b c",
                                           "t0 = = ltorch.add(a, b)",
                                           "t0 = ltorch.add(a b)",
                                           "t0 = ltorch.add(a,, b)",
                                           "(t0, t1) = ltorch.neg(a)"}) {
    add(all, fmt::format("statement_{}", all.size()),
        program(annotations + "  " + std::string(statement) + "\n  return t0"));
  }
  const std::vector<std::vector<std::string>> aliases = {{"a=b", "b=a"},
                                                         {"a=a"},
                                                         {"b=a", "a=c"},
                                                         {"b=zzz"},
                                                         {"zzz=a"},
                                                         {"b"},
                                                         {"="},
                                                         {"b="},
                                                         {"b=a[99:]"},
                                                         {"b=a[0:2:0]"},
                                                         {"b=a.view(7)"},
                                                         {"b=a.nobody()"},
                                                         {"b=a[999999999999999999999]"},
                                                         {"b=a" + nested('[', ']', 5'000)},
                                                         {"b=a.t("}};
  for (const auto& options : aliases) {
    std::vector<std::string> words = {"run", "@"};
    for (const std::string& option : options) {
      words.emplace_back("--alias");
      words.push_back(option);
    }
    add(all, fmt::format("alias_{}", all.size()), good(), words);
  }
  for (const std::string_view inputs :
       {"/nowhere/x.npy", "a=/nowhere/x.npy", "@", "a=@", "zzz=@"}) {
    std::string option(inputs);
    add(all, fmt::format("inputs_{}", all.size()), good(), {"run", "@", "--inputs", option});
  }
}

std::vector<Hostile> hostile_inputs() {
  std::vector<Hostile> all;
  add_truncated(all);
  add_binary(all);
  add_big(all);
  add_shapes(all);
  add_wrong(all);
  return all;
}

// "[malformed-statement]": a code of the table.
bool has_code(const std::string& notes) {
  const std::vector<DiagnosticCode>& codes = all_diagnostic_codes();
  return std::any_of(codes.begin(), codes.end(), [&notes](DiagnosticCode code) {
    return notes.find(fmt::format("[{}]", code_text(code))) != std::string::npos;
  });
}

// "input.txt:12:"
bool has_position(const std::string& notes) {
  constexpr std::string_view kFile = "input.txt:";
  for (std::size_t at = notes.find(kFile); at != std::string::npos;
       at = notes.find(kFile, at + 1)) {
    const std::size_t digit = at + kFile.size();
    if (digit < notes.size() && notes[digit] >= '1' && notes[digit] <= '9') return true;
  }
  return false;
}

// The fault stands in a line of a trace, not in an option, and not in bytes that are no text. A
// text that ends inside its 'def' line is no trace at all.
bool is_about_text(const Hostile& input) {
  return input.words.size() == 2 && input.text.starts_with(kHead) &&
         input.text.find("):\n") != std::string::npos;
}

TEST(Malformed, EachInputGetsADiagnosticAndExitCode3Or4) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("tg-malformed-{}", ::getpid());
  fs::create_directories(folder);
  const std::vector<Hostile> inputs = hostile_inputs();
  ASSERT_GE(inputs.size(), 100U);
  for (const Hostile& input : inputs) {
    const fs::path file = folder / "input.txt";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << input.text;
    std::vector<std::string> words = input.words;
    for (std::string& word : words) {
      const std::size_t at = word.find('@');
      if (at != std::string::npos) word.replace(at, 1, file.string());
    }
    words.emplace_back("--color=never");
    Session session;
    CaptureSink sink;
    const auto start = std::chrono::steady_clock::now();
    const CommandResult result = execute_words(session, words, sink);
    const auto took = std::chrono::steady_clock::now() - start;
    const int exit = static_cast<int>(result.exit);
    EXPECT_TRUE(exit == 3 || exit == 4) << input.name << ": exit " << exit << "\n"
                                        << sink.all.substr(0, 400);
    EXPECT_TRUE(has_code(sink.notes)) << input.name << ": no diagnostic code\n"
                                      << sink.notes.substr(0, 400);
    if (is_about_text(input)) {
      EXPECT_TRUE(has_position(sink.notes)) << input.name << ": no position\n"
                                            << sink.notes.substr(0, 400);
    }
    EXPECT_LT(took, std::chrono::seconds(20)) << input.name;
    for (std::size_t begin = 0, end = 0; begin < sink.notes.size(); begin = end + 1) {
      end = std::min(sink.notes.find('\n', begin), sink.notes.size());
      EXPECT_LT(end - begin, 4'000U) << input.name << ": a message line without end";
    }
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tg
