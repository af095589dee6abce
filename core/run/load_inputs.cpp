// load_inputs: from files, with the rest invented.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/run/input_files.h"
#include "core/run/inputs.h"
#include "core/run/invented_values.h"
#include "core/run/json_inputs.h"

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

bool is_number_word(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {"True", "False", "true", "false", "None",
                                                      "null", "nan",   "inf",  "-inf"};
  if (std::find(kWords.begin(), kWords.end(), text) != kWords.end()) return true;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// "FILE" or "NAME=FILE".
struct Source {
  std::string argument;  // empty: the file names its arrays
  std::string path;      // or the value itself
  std::string shown;     // in messages
};

Source parse_source(const Trace& trace, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", text, text};
  const std::string name = text.substr(0, equals);
  const bool is_argument = std::any_of(trace.parameters.begin(), trace.parameters.end(),
                                       [&name](const Parameter& p) { return p.name == name; });
  if (!is_argument && !is_identifier(name)) return {"", text, text};
  const std::string rest = text.substr(equals + 1);
  const bool is_value = is_number_word(rest) || looks_like_json(rest);
  return {name, rest, is_value ? fmt::format("--inputs {}=...", name) : rest};
}

// A number as JSON spells it; words stay words.
std::string as_json(const std::string& text) {
  if (text == "True") return "true";
  if (text == "False") return "false";
  if (text == "None") return "null";
  if (text == "nan" || text == "inf" || text == "-inf") return fmt::format("\"{}\"", text);
  return text;
}

Result<std::vector<NamedValue>> read_source(const Trace& trace, const TypeTable& types,
                                            const Source& source, const Trace* prologue) {
  if (!source.argument.empty()) {
    const bool number = is_number_word(source.path);
    if (number || looks_like_json(source.path)) {
      return read_json_inputs(trace, types, source.shown,
                              number ? as_json(source.path) : source.path, source.argument);
    }
  }
  const Result<std::string> bytes = read_file(source.path);
  if (!bytes) return Unexpected{bytes.error()};
  if (looks_like_json(*bytes) || source.path.ends_with(".json")) {
    return read_json_inputs(trace, types, source.path, *bytes, source.argument, prologue);
  }
  return read_array_file(source.path, *bytes);
}

std::string kind_text(const RuntimeValue& value) {
  if (const Tensor* tensor = value.as<Tensor>()) return fmt::format("'{}'", type_of(*tensor));
  if (value.as<bool>()) return "a bool";
  if (value.as<std::int64_t>()) return "an integer";
  if (value.as<double>()) return "a float";
  if (value.as<std::complex<double>>()) return "a complex number";
  if (value.as<StringValue>()) return "a string";
  return "no value";
}

// A float may be given as an integer; everything else as what the annotation says.
bool fits(const RuntimeValue& value, const Type& type) {
  switch (type.kind) {
    case TypeKind::Tensor:
    case TypeKind::FutureTensor:
    case TypeKind::DistributedTensor: {
      const Tensor* tensor = value.as<Tensor>();
      return tensor != nullptr && (!type.dtype || *type.dtype == tensor->dtype) &&
             (!type.shape || *type.shape == tensor->geometry.sizes);
    }
    case TypeKind::Int:
      return value.as<std::int64_t>() != nullptr;
    case TypeKind::Float:
      return value.as<double>() || value.as<std::int64_t>();
    case TypeKind::Bool:
      return value.as<bool>() != nullptr;
    case TypeKind::Complex:
      return value.is_number();
    case TypeKind::String:
      return value.as<StringValue>() != nullptr;
    case TypeKind::Unknown:
    case TypeKind::Collection:
    case TypeKind::Any:
    case TypeKind::Class:
    case TypeKind::Opaque:
      return true;
  }
  return true;
}

bool same_values(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = values_as_double(a);
  const std::vector<double> right = values_as_double(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

struct Given {
  std::string name;
  RuntimeValue value;
  std::string shown;  // where it comes from
};

// All values of one source, by argument.
Result<std::vector<Given>> given_by(const Trace& trace, const TypeTable& types,
                                    const std::string& text, const Trace* prologue) {
  const Source source = parse_source(trace, text);
  Result<std::vector<NamedValue>> values = read_source(trace, types, source, prologue);
  if (!values) return Unexpected{values.error()};
  std::vector<Given> given;
  for (NamedValue& value : *values) {
    if (value.name.empty() && source.argument.empty()) {
      return problem(DiagnosticCode::BadInputFile, source.path,
                     fmt::format("'{}' holds one array without a name", source.path),
                     fmt::format("say whose it is: --inputs NAME={}", source.path));
    }
    given.push_back({source.argument.empty() ? value.name : source.argument, std::move(value.value),
                     source.shown});
  }
  return given;
}

class Loader {
 public:
  Loader(const Trace& trace, const ArgumentFacts& facts, RunInputs inputs)
      : trace_(trace), facts_(facts), types_(trace), inputs_(std::move(inputs)) {}

  Result<bool> assign(const std::vector<Given>& given) {
    for (const Given& one : given) {
      Result<bool> assigned = assign(one.name, one.value, one.shown);
      if (!assigned) return assigned;
    }
    return true;
  }

  // Arguments that share storage have one set of values.
  Result<RunInputs> finish() {
    for (const auto& [name, given] : windows_) {
      const Tensor* now = slot(name)->value.as<Tensor>();
      if (same_values(*now, given)) continue;
      return problem(DiagnosticCode::InputMismatch, name,
                     fmt::format("the values given for '{}' are not those of the argument whose "
                                 "storage it shares by --alias",
                                 name),
                     "give values to one of the two, or the same values to both");
    }
    return std::move(inputs_);
  }

 private:
  NamedValue* slot(std::string_view name) {
    const auto found = std::find_if(inputs_.arguments.begin(), inputs_.arguments.end(),
                                    [name](const NamedValue& a) { return a.name == name; });
    return found == inputs_.arguments.end() ? nullptr : &*found;
  }

  Result<bool> assign(const std::string& name, const RuntimeValue& value, const std::string& path) {
    NamedValue* argument = slot(name);
    if (argument == nullptr) return no_such_argument(name, path);
    const Type* type = types_.find(name);
    if (type && !fits(value, *type)) {
      return problem(DiagnosticCode::InputMismatch, name,
                     fmt::format("argument '{}' is '{}' in the trace, but '{}' gives {}", name,
                                 type->text, path, kind_text(value)));
    }
    const bool shares =
        std::any_of(facts_.windows.begin(), facts_.windows.end(),
                    [&name](const ArgumentFacts::Window& window) { return window.name == name; });
    Tensor* window = argument->value.as<Tensor>();
    const Tensor* given = value.as<Tensor>();
    if (!shares || window == nullptr || given == nullptr) {
      argument->value = value;
      return true;
    }
    if (window->dtype == DType::Bool || is_integer(window->dtype)) {
      fill_from_int(*window, values_as_int(*given));
    } else {
      fill_from_double(*window, values_as_double(*given));
    }
    windows_.emplace_back(name, *given);
    return true;
  }

  [[nodiscard]] Result<bool> no_such_argument(const std::string& name,
                                              const std::string& path) const {
    std::vector<std::string_view> names;
    std::string listed;
    for (const Parameter& parameter : trace_.parameters) {
      if (parameter.name.empty()) continue;
      names.push_back(parameter.name);
      if (names.size() <= kMostListed) {
        listed += fmt::format("{}{}", listed.empty() ? "" : ", ", parameter.name);
      }
    }
    if (names.size() > kMostListed) listed += ", ...";
    const std::string_view near = nearest(name, names);
    std::string hint = names.empty() ? "it has no arguments" : fmt::format("it has {}", listed);
    if (!near.empty()) hint = fmt::format("did you mean '{}'?", near);
    return problem(
        DiagnosticCode::UnknownArgument, name,
        fmt::format("'{}' gives '{}', which is no argument of '{}'", path, name, trace_.name),
        std::move(hint));
  }

  static constexpr std::size_t kMostListed = 12;
  const Trace& trace_;
  const ArgumentFacts& facts_;
  TypeTable types_;
  RunInputs inputs_;
  std::vector<std::pair<std::string, Tensor>> windows_;  // given values of aliased arguments
};

}  // namespace

Result<RunInputs> load_inputs(const Trace& trace, const std::vector<std::string>& sources,
                              const ArgumentFacts& facts, std::uint64_t seed,
                              const Trace* prologue) {
  const TypeTable types(trace);
  std::vector<Given> given;
  GivenNames names;
  for (const std::string& source : sources) {
    Result<std::vector<Given>> some = given_by(trace, types, source, prologue);
    if (!some) return Unexpected{some.error()};
    for (Given& one : *some) {
      names.insert(one.name);
      given.push_back(std::move(one));
    }
  }
  Result<RunInputs> inputs = invent_other_inputs(trace, facts, seed, names);
  if (!inputs) return inputs;
  Loader loader(trace, facts, std::move(*inputs));
  Result<bool> assigned = loader.assign(given);
  if (!assigned) return Unexpected{assigned.error()};
  return loader.finish();
}

}  // namespace tg
