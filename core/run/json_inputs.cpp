#include "core/run/json_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/run/recording.h"

namespace tg {
namespace {

using Json = nlohmann::json;

// Tensors have few dims; deeper text is damage, and recursion on it must end.
constexpr int kMaxDepth = 64;

Diagnostic problem(DiagnosticCode code, std::string_view subject, std::string message,
                   std::string hint = "") {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.subject = std::string(subject);
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

// ---- text to JSON

// Python's json module writes NaN and Infinity as bare words, which JSON does not know.
std::string with_quoted_words(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords = {"-Infinity", "Infinity", "NaN", "-inf"};
  std::string out;
  out.reserve(text.size());
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (c == '"') inside = !inside;
    const auto word =
        inside ? kWords.end() : std::find_if(kWords.begin(), kWords.end(), [&](std::string_view w) {
          return text.substr(i).starts_with(w);
        });
    if (word == kWords.end()) {
      out += c;
      continue;
    }
    out.append("\"").append(*word).append("\"");
    i += word->size() - 1;
  }
  return out;
}

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n');
  const std::size_t column = start == before.npos ? before.size() : before.size() - start - 1;
  return fmt::format("line {}, column {}", line, std::max<std::size_t>(column, 1));
}

Result<Json> parse_json(const std::string& path, std::string_view text) {
  const std::string quoted = with_quoted_words(text);
  bool too_deep = false;
  const Json::parser_callback_t watch = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  try {
    Json json = Json::parse(quoted, watch);
    if (!too_deep) return json;
  } catch (const Json::parse_error& error) {
    if (!too_deep) {
      return Unexpected{problem(DiagnosticCode::BadInputFile, path,
                                fmt::format("'{}' is no JSON: it cannot be read beyond {}", path,
                                            line_and_column(quoted, error.byte)),
                                "for example {\"x\": [[1.5, 2], [3, \"nan\"]], \"n\": 3}")};
    }
  } catch (const Json::exception& error) {
    return Unexpected{problem(DiagnosticCode::BadInputFile, path,
                              fmt::format("'{}' cannot be used: {}", path, error.what()))};
  }
  return Unexpected{problem(DiagnosticCode::BadInputFile, path,
                            fmt::format("'{}' nests deeper than {} levels", path, kMaxDepth))};
}

// ---- one value

std::optional<double> special(const std::string& word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower == "nan" || lower == "-nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower == "inf" || lower == "infinity") return std::numeric_limits<double>::infinity();
  if (lower == "-inf" || lower == "-infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// Elements of nested lists, row by row. Lists of one depth must have one length.
struct Elements {
  std::vector<std::int64_t> shape;
  std::vector<const Json*> leaves;
};

std::optional<std::string> collect(const Json& node, std::size_t depth, Elements& into) {
  if (!node.is_array()) {
    if (depth < into.shape.size()) return "a number stands where others have a list";
    into.leaves.push_back(&node);
    return std::nullopt;
  }
  const auto length = static_cast<std::int64_t>(node.size());
  if (depth == into.shape.size()) {
    if (!into.leaves.empty()) return "a list stands where others have a number";
    into.shape.push_back(length);
  } else if (into.shape[depth] != length) {
    return fmt::format("lists of {} and of {} elements stand side by side", into.shape[depth],
                       length);
  }
  for (const Json& item : node) {
    if (auto wrong = collect(item, depth + 1, into)) return wrong;
  }
  return std::nullopt;
}

std::optional<double> real_of(const Json& leaf) {
  if (leaf.is_boolean()) return leaf.get<bool>() ? 1.0 : 0.0;
  if (leaf.is_number()) return leaf.get<double>();
  if (leaf.is_string()) return special(leaf.get<std::string>());
  return std::nullopt;
}

// What the integer dtypes can hold; 64-bit ones keep the bits.
bool holds(DType dtype, const Json& leaf) {
  if (size_bytes(dtype) == 8) {
    return dtype == DType::UInt64 ? !leaf.is_number_integer() || leaf.is_number_unsigned()
                                  : !leaf.is_number_unsigned() ||
                                        leaf.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
  }
  const double value = leaf.get<double>();
  const auto bits = static_cast<int>(8 * size_bytes(dtype));
  const double above = std::ldexp(1.0, is_signed(dtype) ? bits - 1 : bits);
  return value < above && value >= (is_signed(dtype) ? -above : 0.0);
}

std::optional<std::string> append_integer(const Json& leaf, DType dtype,
                                          std::vector<std::int64_t>& values) {
  if (leaf.is_boolean()) {
    values.push_back(leaf.get<bool>() ? 1 : 0);
    return std::nullopt;
  }
  const std::optional<double> real = real_of(leaf);
  if (!real) return fmt::format("{} is no number", leaf.dump());
  if (dtype == DType::Bool) {
    if (*real != 0.0 && *real != 1.0)
      return fmt::format("{} is neither true nor false", leaf.dump());
    values.push_back(*real != 0.0 ? 1 : 0);
    return std::nullopt;
  }
  if (!std::isfinite(*real) || *real != std::floor(*real)) {
    return fmt::format("{} is no integer", leaf.dump());
  }
  const bool whole = leaf.is_number_integer();
  if (!(whole ? holds(dtype, leaf)
              : std::fabs(*real) < 1e15 && holds(dtype, Json(std::int64_t(*real))))) {
    return fmt::format("{} does not fit into {}", leaf.dump(), torch_name(dtype));
  }
  values.push_back(!whole ? static_cast<std::int64_t>(*real)
                   : leaf.is_number_unsigned()
                       ? static_cast<std::int64_t>(leaf.get<std::uint64_t>())
                       : leaf.get<std::int64_t>());
  return std::nullopt;
}

// torch.tensor's rule for Python numbers.
DType inferred_dtype(const std::vector<const Json*>& leaves) {
  const auto all = [&leaves](auto&& is) {
    return std::all_of(leaves.begin(), leaves.end(), [&](const Json* leaf) { return is(*leaf); });
  };
  if (leaves.empty()) return DType::Float32;
  if (all([](const Json& leaf) { return leaf.is_boolean(); })) return DType::Bool;
  if (all([](const Json& leaf) { return leaf.is_number_integer() || leaf.is_boolean(); })) {
    return DType::Int64;
  }
  return DType::Float32;
}

Expected<RuntimeValue, std::string> tensor_value(const Json& node, const Type* type) {
  Elements elements;
  if (auto wrong = collect(node, 0, elements)) return Unexpected{std::move(*wrong)};
  const DType dtype = type && type->dtype ? *type->dtype : inferred_dtype(elements.leaves);
  if (is_complex(dtype)) {
    // [real, imaginary] for each element.
    if (elements.shape.empty() || elements.shape.back() != 2) {
      return Unexpected{std::string("a complex element is a list of two numbers")};
    }
    elements.shape.pop_back();
  }
  // A list without elements has the shape that the annotation gives it: [] for f32[0, 3].
  if (elements.leaves.empty() && type && type->shape &&
      element_count(*type->shape) == std::optional<std::int64_t>(0)) {
    elements.shape = *type->shape;
  }
  Tensor tensor = make_tensor(dtype, elements.shape);
  if (dtype == DType::Bool || is_integer(dtype)) {
    std::vector<std::int64_t> values;
    for (const Json* leaf : elements.leaves) {
      if (auto wrong = append_integer(*leaf, dtype, values)) return Unexpected{std::move(*wrong)};
    }
    fill_from_int(tensor, values);
  } else {
    std::vector<double> values;
    for (const Json* leaf : elements.leaves) {
      const std::optional<double> real = real_of(*leaf);
      if (!real) return Unexpected{fmt::format("{} is no number", leaf->dump())};
      values.push_back(*real);
    }
    fill_from_double(tensor, values);
  }
  return RuntimeValue{std::move(tensor)};
}

RuntimeValue plain_value(const Json& node) {
  if (node.is_boolean()) return {node.get<bool>()};
  if (node.is_number_float()) return {node.get<double>()};
  if (node.is_number()) return {node.get<std::int64_t>()};
  if (node.is_string()) {
    if (const auto number = special(node.get<std::string>())) return {*number};
    return {StringValue{node.get<std::string>()}};
  }
  return {NoneValue{}};
}

class Reader {
 public:
  Reader(const Trace& trace, const TypeTable& types, const std::string& path, const Trace* prologue)
      : trace_(trace), types_(types), path_(path), prologue_(prologue) {}

  Result<std::vector<NamedValue>> document(const Json& json, std::string_view argument) {
    if (!argument.empty()) return single(std::string(argument), json);
    if (json.is_array()) return in_order(json);
    if (json.is_object() && is_table(json)) return table(json);
    if (json.is_object()) return recording(json, trace_);
    return Unexpected{problem(DiagnosticCode::BadInputFile, path_,
                              fmt::format("'{}' holds one value without a name", path_),
                              fmt::format("say whose it is: --inputs NAME={}", path_))};
  }

 private:
  [[nodiscard]] bool is_parameter(std::string_view name) const {
    return std::any_of(trace_.parameters.begin(), trace_.parameters.end(),
                       [name](const Parameter& p) { return p.name == name; });
  }

  // Arguments may be called as a recording's members are ("inputs"): all keys must be arguments
  // then.
  [[nodiscard]] bool is_table(const Json& json) const {
    bool all = true;
    for (const auto& [name, value] : json.items()) all = all && is_parameter(name);
    if (all && !json.empty()) return true;
    return std::none_of(kSchemaKeys.begin(), kSchemaKeys.end(),
                        [&json](const char* key) { return json.contains(key); });
  }

  Result<std::vector<NamedValue>> table(const Json& json) {
    std::vector<NamedValue> values;
    Json windows = Json::object();
    for (const auto& [name, node] : json.items()) {
      if (node.is_object() && node.contains("shape")) {
        windows[name] = node;
        continue;
      }
      Result<std::vector<NamedValue>> one = single(name, node);
      if (!one) return one;
      values.push_back(std::move(one->front()));
    }
    if (windows.empty()) return values;
    Result<std::vector<NamedValue>> placed = as_recorded(std::move(windows));
    if (!placed) return placed;
    std::move(placed->begin(), placed->end(), std::back_inserter(values));
    return values;
  }

  // {"dtype": "f32", "shape": [2], "strides": [2], "offset": 1, "storage": "S0", "values": [...]}:
  // the rules for values, strides and storages of recordings.
  Result<std::vector<NamedValue>> as_recorded(Json windows) {
    std::size_t storage = 0;
    for (auto& [name, value] : windows.items()) {
      if (!value.contains("storage")) value["storage"] = fmt::format("own{}", storage++);
      if (!value.contains("offset")) value["offset"] = 0;
    }
    const Json wrapped = {{"program", "inputs"}, {"inputs", windows}};
    // A recording has all arguments, this has some.
    Trace asked = trace_;
    std::erase_if(asked.parameters,
                  [&windows](const Parameter& p) { return !windows.contains(p.name); });
    Result<std::vector<NamedValue>> all = recording(wrapped, asked);
    if (!all) return all;
    for (const auto& [name, value] : windows.items()) {
      if (!is_parameter(name)) all->push_back({name, {NoneValue{}}});
    }
    return all;
  }

  Result<std::vector<NamedValue>> recording(const Json& json, const Trace& trace) {
    const Result<Recording> recording = read_recording(path_, json.dump());
    if (!recording) return Unexpected{recording.error()};
    Result<RunInputs> inputs = inputs_from_recording(*recording, trace, prologue_);
    if (!inputs && inputs.error().code == DiagnosticCode::UnknownArgument) {
      if (const auto renamed = in_order_of_call(*recording, trace)) {
        inputs = inputs_from_recording(*renamed, trace, nullptr);
      }
    }
    if (!inputs) return Unexpected{inputs.error()};
    return std::move(inputs->arguments);
  }

  // `args[0]`, `args[1]`, ... of a call are its program's parameters in order, when each tensor and
  // each number finds a parameter; a number may be missing among the parameters, since Thunder
  // bakes it into the program. Empty when the recording has other inputs or another count.
  [[nodiscard]] std::optional<Recording> in_order_of_call(Recording recording,
                                                          const Trace& trace) const {
    std::vector<const std::string*> tensors;
    std::vector<const std::string*> numbers;
    for (const Parameter& parameter : trace.parameters) {
      const Type* type = types_.find(parameter.name);
      const bool number =
          type != nullptr && (type->kind == TypeKind::Int || type->kind == TypeKind::Float ||
                              type->kind == TypeKind::Bool || type->kind == TypeKind::Complex ||
                              type->kind == TypeKind::String);
      (number ? numbers : tensors).push_back(&parameter.name);
    }
    std::size_t tensor = 0;
    std::size_t number = 0;
    const auto recorded_numbers = static_cast<std::size_t>(
        std::count_if(recording.inputs.begin(), recording.inputs.end(),
                      [](const RecordedValue& input) { return !input.tensor; }));
    for (std::size_t i = 0; i < recording.inputs.size(); ++i) {
      RecordedValue& input = recording.inputs[i];
      if (input.name != fmt::format("args[{}]", i)) return std::nullopt;
      if (input.tensor) {
        if (tensor == tensors.size()) return std::nullopt;
        input.name = *tensors[tensor++];
      } else if (recorded_numbers == numbers.size()) {
        input.name = *numbers[number++];
      }
    }
    if (tensor != tensors.size()) return std::nullopt;
    return recording;
  }

  Result<std::vector<NamedValue>> in_order(const Json& json) {
    std::vector<const Parameter*> parameters;
    for (const Parameter& parameter : trace_.parameters) {
      if (!parameter.name.empty()) parameters.push_back(&parameter);
    }
    if (json.size() > parameters.size()) {
      return Unexpected{
          problem(DiagnosticCode::InputMismatch, path_,
                  fmt::format("'{}' lists {} values, but '{}' has {}", path_, json.size(),
                              trace_.name, count_of(parameters.size(), "argument", "arguments")),
                  "the list holds one value for each argument, in order; NAME=FILE gives all of it "
                  "to one")};
    }
    std::vector<NamedValue> values;
    for (std::size_t i = 0; i < json.size(); ++i) {
      Result<std::vector<NamedValue>> one = single(parameters[i]->name, json[i]);
      if (!one) return one;
      values.push_back(std::move(one->front()));
    }
    return values;
  }

  Result<std::vector<NamedValue>> single(const std::string& name, const Json& node) {
    if (node.is_object()) return single_object(name, node);
    const Type* type = types_.find(name);
    const bool tensor = node.is_array() || (type && type->is_tensor());
    if (tensor && type && !type->is_tensor() && type->kind != TypeKind::Unknown) {
      return Unexpected{
          problem(DiagnosticCode::InputMismatch, name,
                  fmt::format("argument '{}' is '{}' in the trace, but '{}' gives a list", name,
                              type->text, path_))};
    }
    if (!tensor) return std::vector<NamedValue>{{name, plain_value(node)}};
    Expected<RuntimeValue, std::string> value = tensor_value(node, type);
    if (!value) {
      return Unexpected{problem(
          DiagnosticCode::InputMismatch, name,
          fmt::format("the value of '{}' in '{}' cannot be used: {}", name, path_, value.error()),
          type ? fmt::format("'{}' is '{}' in the trace", name, type->text) : "")};
    }
    return std::vector<NamedValue>{{name, std::move(*value)}};
  }

  Result<std::vector<NamedValue>> single_object(const std::string& name, const Json& node) {
    if (node.contains("shape")) return as_recorded({{name, node}});
    if (node.contains("values")) return single(name, node["values"]);
    if (node.contains(name)) return single(name, node[name]);
    return Unexpected{problem(
        DiagnosticCode::BadInputFile, name,
        fmt::format("the entry of '{}' in '{}' has neither 'values' nor 'shape'", name, path_),
        "a tensor is a list of numbers, or {\"dtype\": \"f32\", \"shape\": [2], \"values\": [1, "
        "2]}")};
  }

  static constexpr std::array<const char*, 6> kSchemaKeys = {"inputs", "runs", "slug",
                                                             "op",     "call", "program"};
  const Trace& trace_;
  const TypeTable& types_;
  const std::string& path_;
  const Trace* prologue_;
};

}  // namespace

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Result<std::vector<NamedValue>> read_json_inputs(const Trace& trace, const TypeTable& types,
                                                 const std::string& path, std::string_view text,
                                                 std::string_view argument, const Trace* prologue) {
  Result<Json> json = parse_json(path, text);
  if (!json) return Unexpected{json.error()};
  return Reader(trace, types, path, prologue).document(*json, argument);
}

}  // namespace tg
