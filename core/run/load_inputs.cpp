// load_inputs: from files, with the rest invented.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/run/input_files.h"
#include "core/run/inputs.h"
#include "core/run/recording.h"

namespace tg {
namespace {

Unexpected<Diagnostic> problem(DiagnosticCode code, std::string subject, std::string message,
                               std::string hint = "") {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.subject = std::move(subject);
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return Unexpected{std::move(diagnostic)};
}

std::string type_of(const Tensor& tensor) {
  return tensor_type("cpu", tensor.dtype, tensor.geometry.sizes)->text;
}

// "FILE" or "NAME=FILE".
struct Source {
  std::string argument;  // empty: the file names its arrays
  std::string path;
};

Source parse_source(const Trace& trace, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", text};
  const std::string name = text.substr(0, equals);
  const bool is_argument = std::any_of(trace.parameters.begin(), trace.parameters.end(),
                                       [&name](const Parameter& p) { return p.name == name; });
  if (is_argument || is_identifier(name)) return {name, text.substr(equals + 1)};
  return {"", text};
}

// {"x": {"dtype": "f32", "shape": [2], "values": [...]}, "n": 3}: written by hand. Reading it as a
// recording gives it the same rules for values, strides and storages.
std::string as_recording(const std::string& bytes) {
  const nlohmann::json json = nlohmann::json::parse(bytes, nullptr, false);
  if (!json.is_object() || json.contains("inputs") || json.contains("runs")) return bytes;
  const bool is_table = std::any_of(json.begin(), json.end(), [](const nlohmann::json& value) {
    return value.is_object() && value.contains("shape");
  });
  if (!is_table) return bytes;
  nlohmann::json wrapped;
  wrapped["program"] = "inputs";
  wrapped["inputs"] = json;
  std::size_t storage = 0;
  for (auto& [name, value] : wrapped["inputs"].items()) {
    if (!value.is_object()) continue;
    if (!value.contains("storage")) value["storage"] = fmt::format("own{}", storage++);
    if (!value.contains("offset")) value["offset"] = 0;
  }
  return wrapped.dump();
}

Result<std::vector<NamedValue>> read_source(const Trace& trace, const Source& source) {
  const Result<std::string> bytes = read_file(source.path);
  if (!bytes) return Unexpected{bytes.error()};
  const std::size_t first = bytes->find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (*bytes)[first] == '{') {
    const Result<Recording> recording = read_recording(source.path, as_recording(*bytes));
    if (!recording) return Unexpected{recording.error()};
    Result<RunInputs> inputs = inputs_from_recording(*recording, trace, nullptr);
    if (!inputs) return Unexpected{inputs.error()};
    return std::move(inputs->arguments);
  }
  return read_array_file(source.path, *bytes);
}

Result<bool> assign(const Trace& trace, const TypeTable& types, RunInputs& inputs,
                    const std::string& name, const RuntimeValue& value, const std::string& path) {
  const auto slot = std::find_if(inputs.arguments.begin(), inputs.arguments.end(),
                                 [&name](const NamedValue& a) { return a.name == name; });
  if (slot == inputs.arguments.end()) {
    std::vector<std::string_view> names;
    for (const Parameter& parameter : trace.parameters) names.push_back(parameter.name);
    const std::string_view near = nearest(name, names);
    return problem(
        DiagnosticCode::UnknownArgument, name,
        fmt::format("'{}' gives '{}', which is no argument of '{}'", path, name, trace.name),
        near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  const Type* type = types.find(name);
  const Tensor* tensor = value.as<Tensor>();
  if (type && type->is_concrete_tensor() && tensor &&
      (*type->dtype != tensor->dtype || *type->shape != tensor->geometry.sizes)) {
    return problem(DiagnosticCode::InputMismatch, name,
                   fmt::format("argument '{}' is '{}' in the trace, but '{}' gives '{}'", name,
                               type->text, path, type_of(*tensor)));
  }
  slot->value = value;
  return true;
}

}  // namespace

Result<RunInputs> load_inputs(const Trace& trace, const std::vector<std::string>& sources,
                              const ArgumentFacts& facts, std::uint64_t seed) {
  Result<RunInputs> inputs = invent_inputs(trace, facts, seed);
  if (!inputs) return inputs;
  const TypeTable types(trace);
  for (const std::string& text : sources) {
    const Source source = parse_source(trace, text);
    Result<std::vector<NamedValue>> values = read_source(trace, source);
    if (!values) return Unexpected{values.error()};
    for (const NamedValue& value : *values) {
      if (value.name.empty() && source.argument.empty()) {
        return problem(DiagnosticCode::BadInputFile, source.path,
                       fmt::format("'{}' holds one array without a name", source.path),
                       fmt::format("say whose it is: --inputs NAME={}", source.path));
      }
      const std::string name = source.argument.empty() ? value.name : source.argument;
      Result<bool> assigned = assign(trace, types, *inputs, name, value.value, source.path);
      if (!assigned) return Unexpected{assigned.error()};
    }
  }
  return inputs;
}

}  // namespace tg
