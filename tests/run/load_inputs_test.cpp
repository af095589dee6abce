// --inputs: files and values of every form, and what is said when they do not fit.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/run/inputs.h"
#include "core/text/parser.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

class LoadInputs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("tg_inputs_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path("/");
    fs::remove_all(folder_);
  }

  static Trace trace() {
    return parse_trace_file("t.txt",
                            "@no_autocast\ndef computation(x, k, n, s):\n"
                            "  # x: \"cpu f32[2, 2]\"\n  # k: \"cpu i8[2]\"\n  # n: \"int 3\"\n"
                            "  # s: \"float 0.5\"\n  return x\n")
        .phases.at(0)
        .trace;
  }

  static void write(const std::string& name, const std::string& bytes) {
    std::ofstream(name, std::ios::binary) << bytes;
  }

  // "code: message | hint", or the values of `name`.
  static std::string load(const std::vector<std::string>& sources, const std::string& name = "x",
                          const ArgumentFacts& facts = {}) {
    const Trace loaded = trace();
    const Result<RunInputs> inputs = load_inputs(loaded, sources, facts, 1);
    if (!inputs) {
      const Diagnostic& error = inputs.error();
      return std::string(code_text(error.code)) + ": " + error.message +
             (error.hint.empty() ? "" : " | " + error.hint);
    }
    for (const NamedValue& argument : inputs->arguments) {
      if (argument.name != name) continue;
      std::string text;
      if (const Tensor* tensor = argument.value.as<Tensor>()) {
        for (const double value : values_as_double(*tensor)) {
          text += (text.empty() ? "" : " ") + number(value);
        }
      } else if (const auto* whole = argument.value.as<std::int64_t>()) {
        text = std::to_string(*whole);
      } else if (const auto* real = argument.value.as<double>()) {
        text = number(*real);
      }
      return text;
    }
    return "no such argument";
  }

  static std::string json(const std::string& text, const std::string& name = "x") {
    write("v.json", text);
    return load({"v.json"}, name);
  }

 private:
  static std::string number(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%g", value);
    return buffer;
  }
  fs::path folder_;
};

TEST_F(LoadInputs, NestedListsByName) {
  EXPECT_EQ(json(R"({"x": [[1, 2.5], [3, -4]], "n": 7})"), "1 2.5 3 -4");
  EXPECT_EQ(json(R"({"x": [[1, 2.5], [3, -4]], "n": 7})", "n"), "7");
}

TEST_F(LoadInputs, ListsInOrder) {
  EXPECT_EQ(json("[[[1, 2], [3, 4]], [5, 6], 7]"), "1 2 3 4");
  EXPECT_EQ(json("[[[1, 2], [3, 4]], [5, 6], 7]", "k"), "5 6");
  EXPECT_EQ(json("[[[1, 2], [3, 4]], [5, 6], 7]", "n"), "7");
}

TEST_F(LoadInputs, NotANumberAndInfinity) {
  EXPECT_EQ(json(R"({"x": [["nan", "inf"], ["-inf", "-Infinity"]]})"), "nan inf -inf -inf");
  EXPECT_EQ(json(R"({"x": [[NaN, Infinity], [-Infinity, 1]]})"), "nan inf -inf 1");
  EXPECT_EQ(json(R"({"s": "nan"})", "s"), "nan");
}

TEST_F(LoadInputs, TensorObjects) {
  EXPECT_EQ(json(R"({"x": {"dtype": "f32", "shape": [2, 2], "values": [1, 2, 3, 4]}})"), "1 2 3 4");
  EXPECT_EQ(json(R"({"x": {"values": [[1, 2], [3, 4]]}, "n": 2})"), "1 2 3 4");
}

TEST_F(LoadInputs, ValuesOnTheCommandLine) {
  EXPECT_EQ(load({"x=[[1, 2], [NaN, 4]]"}), "1 2 nan 4");
  EXPECT_EQ(load({"n=5"}, "n"), "5");
  EXPECT_EQ(load({"s=-inf"}, "s"), "-inf");
  EXPECT_EQ(load({"s=2"}, "s"), "2");
}

TEST_F(LoadInputs, OneFileForOneArgument) {
  write("v.json", "[[1, 2], [3, 4]]");
  EXPECT_EQ(load({"x=v.json"}), "1 2 3 4");
}

TEST_F(LoadInputs, GoIntoTheSharedStorage) {
  const Trace aliased =
      parse_trace_file("t.txt",
                       "@no_autocast\ndef computation(x, y):\n"
                       "  # x: \"cpu f32[4]\"\n  # y: \"cpu f32[2]\"\n  return x\n")
          .phases.at(0)
          .trace;
  const Result<ArgumentFacts> windows = parse_alias_options(aliased, {"y=x[1:3]"});
  ASSERT_TRUE(windows.has_value());
  const Result<RunInputs> inputs = load_inputs(aliased, {"x=[1, 2, 3, 4]"}, *windows, 1);
  ASSERT_TRUE(inputs.has_value());
  EXPECT_EQ(values_as_double(*inputs->arguments[1].value.as<Tensor>()),
            (std::vector<double>{2, 3}));
  const Result<RunInputs> wrong = load_inputs(aliased, {"x=[1, 2, 3, 4]", "y=[2, 9]"}, *windows, 1);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, DiagnosticCode::InputMismatch);
}

TEST_F(LoadInputs, WhatCannotBeInventedCanBeGiven) {
  const Trace odd = parse_trace_file("t.txt",
                                     "@no_autocast\ndef computation(x):\n"
                                     "  # x: \"cpu f32[two]\"\n  return x\n")
                        .phases.at(0)
                        .trace;
  const Result<RunInputs> invented = invent_inputs(odd, {}, 1);
  ASSERT_FALSE(invented.has_value());
  EXPECT_EQ(invented.error().at.line, 3U);
  const Result<RunInputs> given = load_inputs(odd, {"x=[1, 2, 3]"}, {}, 1);
  ASSERT_TRUE(given.has_value());
  EXPECT_EQ(values_as_double(*given->arguments[0].value.as<Tensor>()),
            (std::vector<double>{1, 2, 3}));
}

TEST_F(LoadInputs, JsonThatDoesNotFit) {
  EXPECT_EQ(json(R"({"x": [1, 2]})"),
            "input-mismatch: argument 'x' is 'cpu f32[2, 2]' in the trace, but 'v.json' gives 'cpu "
            "f32[2]'");
  EXPECT_EQ(json(R"({"x": [[1, 2], [3]]})"),
            "input-mismatch: the value of 'x' in 'v.json' cannot be used: lists of 2 and of 1 "
            "elements stand side by side | 'x' is 'cpu f32[2, 2]' in the trace");
  EXPECT_EQ(json(R"({"x": [[1, 2], 3]})"),
            "input-mismatch: the value of 'x' in 'v.json' cannot be used: a number stands where "
            "others have a list | 'x' is 'cpu f32[2, 2]' in the trace");
  EXPECT_EQ(
      json(R"({"x": [[1, "two"], [3, 4]]})"),
      "input-mismatch: the value of 'x' in 'v.json' cannot be used: \"two\" is no number | 'x' "
      "is 'cpu f32[2, 2]' in the trace");
  EXPECT_EQ(
      json(R"({"k": [1.5, 2]})"),
      "input-mismatch: the value of 'k' in 'v.json' cannot be used: 1.5 is no integer | 'k' is "
      "'cpu i8[2]' in the trace");
  EXPECT_EQ(
      json(R"({"k": [128, 2]})"),
      "input-mismatch: the value of 'k' in 'v.json' cannot be used: 128 does not fit into int8 "
      "| 'k' is 'cpu i8[2]' in the trace");
  EXPECT_EQ(json(R"({"n": 2.5})"),
            "input-mismatch: argument 'n' is 'int 3' in the trace, but 'v.json' gives a float");
  EXPECT_EQ(json(R"({"n": [2]})"),
            "input-mismatch: argument 'n' is 'int 3' in the trace, but 'v.json' gives a list");
  EXPECT_EQ(
      json(R"({"xx": 1})"),
      "unknown-argument: 'v.json' gives 'xx', which is no argument of 'computation' | it has x, k, "
      "n, s");
  EXPECT_EQ(json("[1, 2, 3, 4, 5]"),
            "input-mismatch: 'v.json' lists 5 values, but 'computation' has 4 arguments | the list "
            "holds one value for each argument, in order; NAME=FILE gives all of it to one");
  EXPECT_EQ(json(R"({"x": {"dtype": "f32"}})"),
            "bad-input-file: the entry of 'x' in 'v.json' has neither 'values' nor 'shape' | a "
            "tensor is a list of numbers, or {\"dtype\": \"f32\", \"shape\": [2], \"values\": [1, "
            "2]}");
}

TEST_F(LoadInputs, TextThatIsNoJson) {
  EXPECT_EQ(json("{\"x\": [[1, 2],\n [3, 4}}"),
            "bad-input-file: 'v.json' is no JSON: it cannot be read beyond line 2, column 7 | for "
            "example {\"x\": [[1.5, 2], [3, \"nan\"]], \"n\": 3}");
  EXPECT_EQ(json("{\"x\": " + std::string(100'000, '[')),
            "bad-input-file: 'v.json' nests deeper than 64 levels");
  EXPECT_EQ(json("7"),
            "bad-input-file: 'v.json' holds one value without a name | say whose it is: --inputs "
            "NAME=v.json");
}

std::string npy(const std::string& header, const std::string& data) {
  std::string text = std::string("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xffU);
  text += static_cast<char>(header.size() >> 8U);
  return text + header + data;
}

std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_F(LoadInputs, NumpyArrays) {
  write("x.npy",
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", floats({1, 2, 3, 4})));
  EXPECT_EQ(load({"x=x.npy"}), "1 2 3 4");
  EXPECT_EQ(load({"x.npy"}),
            "bad-input-file: 'x.npy' holds one array without a name | say whose it is: --inputs "
            "NAME=x.npy");
  write("x.npy",
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", floats({1, 2, 3})));
  EXPECT_EQ(
      load({"x=x.npy"}),
      "bad-input-file: cannot read 'x.npy': (2, 2) elements of float32 take 16 bytes, the file "
      "has 12 | the file is damaged or truncated: save it again");
  write("x.npy", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 2), }\n", ""));
  EXPECT_EQ(
      load({"x=x.npy"}),
      "bad-input-file: cannot read 'x.npy': arrays of dtype '>f4' cannot be read | convert it "
      "to a little-endian number type: array.astype('<f4')");
  write("x.npy", "\x93NUMPY");
  EXPECT_EQ(load({"x=x.npy"}),
            "bad-input-file: cannot read 'x.npy': no .npy file, its mark is missing | the file is "
            "damaged or truncated: save it again");
}

TEST_F(LoadInputs, SafetensorsThatAreDamaged) {
  const auto file = [](std::string header, const std::string& data) {
    std::string bytes(8, '\0');
    const std::uint64_t size = header.size();
    std::memcpy(bytes.data(), &size, 8);
    return bytes + header + data;
  };
  write("x.safetensors",
        file(R"({"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})", floats({1, 2, 3, 4})));
  EXPECT_EQ(load({"x.safetensors"}), "1 2 3 4");
  write("x.safetensors",
        file(R"({"x":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})", floats({1, 2})));
  EXPECT_EQ(
      load({"x.safetensors"}),
      "bad-input-file: cannot read 'x.safetensors': the data of 'x' lie outside the file | the "
      "file is damaged or truncated: save it again");
  write("x.safetensors",
        file(R"({"x":{"dtype":"F6","shape":[2,2],"data_offsets":[0,16]}})", floats({1, 2, 3, 4})));
  EXPECT_EQ(
      load({"x.safetensors"}),
      "bad-input-file: cannot read 'x.safetensors': 'x' has dtype \"F6\", which cannot be read");
  write("x.safetensors", "abc");
  EXPECT_EQ(load({"x.safetensors"}),
            "bad-input-file: cannot read 'x.safetensors': too short for a safetensors file | the "
            "file is damaged or truncated: save it again");
}

TEST_F(LoadInputs, FilesOfNoKnownForm) {
  write("x.txt", "hello world");
  EXPECT_EQ(load({"x=x.txt"}),
            "bad-input-file: cannot read 'x.txt': it holds no values of a known form | values come "
            "from .npy, .npz, .safetensors and JSON files");
  write("x.npz", "PK\x03\x04 and then nothing");
  EXPECT_EQ(load({"x.npz"}).substr(0, 36), "bad-input-file: cannot read 'x.npz':");
}

}  // namespace
}  // namespace tg
