#include "app/run_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "app/argument_paths.h"

namespace tg {

namespace {

Diagnostic input_error(DiagnosticCode code, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  return diagnostic;
}

// "n=3", "s=0.5", "flag=True".
std::optional<NamedValue> number_argument(std::string_view source) {
  const std::size_t equals = source.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view text = source.substr(equals + 1);
  NamedValue named;
  named.name = source.substr(0, equals);
  std::int64_t whole = 0;
  double real = 0;
  const char* const last = text.data() + text.size();
  if (text == "True" || text == "False") {
    named.value.value = text == "True";
  } else if (const auto [end, error] = std::from_chars(text.data(), last, whole);
             error == std::errc{} && end == last) {
    named.value.value = whole;
  } else if (const auto [stop, wrong] = std::from_chars(text.data(), last, real);
             wrong == std::errc{} && stop == last && !text.empty()) {
    named.value.value = real;
  } else {
    return std::nullopt;
  }
  return named;
}

}  // namespace

RunLimits limits_of(const ParsedCommand& command) {
  RunLimits limits;
  constexpr double kLongestSeconds = 1e9;
  const double seconds = std::min(command.real(Option::Timeout), kLongestSeconds);
  limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
  limits.bytes = command.count(Option::MaxMemory);
  return limits;
}

Result<RunInputs> inputs_of(const ParsedCommand& command, const Target& target) {
  // An argument that shares storage needs its type, also where this phase has dropped it.
  const Trace trace =
      command.has(Option::Alias) ? with_argument_types(target) : Trace(target.trace());
  auto facts = alias_facts(target, command.values(Option::Alias));
  if (!facts) return Unexpected{facts.error()};
  // NAME=3 is a number argument; everything else names a file.
  std::vector<std::string> sources;
  std::vector<NamedValue> numbers;
  for (const std::string& source : command.values(Option::Inputs)) {
    if (auto number = number_argument(source)) {
      numbers.push_back(std::move(*number));
    } else {
      sources.push_back(source);
    }
  }
  const std::uint64_t seed = command.count(Option::Seed);
  auto inputs = sources.empty()
                    ? invent_inputs(trace, *facts, seed)
                    : load_inputs(trace, sources, *facts, seed, prologue_of(target.file()));
  if (!inputs) return inputs;
  for (NamedValue& number : numbers) {
    const auto argument =
        std::find_if(inputs->arguments.begin(), inputs->arguments.end(),
                     [&](const NamedValue& value) { return value.name == number.name; });
    if (argument == inputs->arguments.end()) {
      return Unexpected{input_error(
          DiagnosticCode::UnknownArgument,
          fmt::format("--inputs {}: there is no argument '{}'", number.name, number.name))};
    }
    if (argument->value.as<Tensor>() != nullptr) {
      return Unexpected{
          input_error(DiagnosticCode::InputMismatch,
                      fmt::format("--inputs: '{}' is a tensor, a number was given", number.name))};
    }
    argument->value = std::move(number.value);
  }
  return inputs;
}

Expected<CompareOptions, std::string> compare_options_of(const ParsedCommand& command) {
  CompareOptions options;
  options.strides = command.has(Option::Strides);
  options.contract = command.value(Option::Contract) == "torch" ? CompareOptions::Contract::Torch
                                                                : CompareOptions::Contract::Thunder;
  // A bound without a name is for everything; what is not given keeps float32's default.
  const Tolerance base = default_tolerance(DType::Float32);
  std::map<std::string, Tolerance> by_name;
  const auto read = [&](Option option, double Tolerance::*bound) -> std::string {
    for (const std::string& text : command.values(option)) {
      const std::size_t colon = text.rfind(':');
      const std::string name = colon == std::string::npos ? "" : text.substr(0, colon);
      const std::string number = colon == std::string::npos ? text : text.substr(colon + 1);
      double value = 0;
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), value);
      if (error != std::errc{} || end != number.data() + number.size() || !std::isfinite(value) ||
          std::signbit(value)) {
        return fmt::format("{} expects a finite number that is not negative, found '{}'",
                           info(option).long_name, text);
      }
      by_name.try_emplace(name, base).first->second.*bound = value;
    }
    return "";
  };
  for (const std::string& wrong :
       {read(Option::Rtol, &Tolerance::relative), read(Option::Atol, &Tolerance::absolute)}) {
    if (!wrong.empty()) return Unexpected{wrong};
  }
  if (command.has(Option::Ulp))
    by_name.try_emplace("", base).first->second.ulp = command.count(Option::Ulp);
  for (auto& [name, tolerance] : by_name) {
    if (name.empty()) {
      options.tolerance = tolerance;
    } else {
      options.by_name.emplace_back(name, tolerance);
    }
  }
  return options;
}

std::string run_error_text(const RunError& error, const std::string& where) {
  const std::string place = error.at.line == 0 ? fmt::format("statement {}", error.statement)
                                               : fmt::format("line {}", error.at.line);
  const std::string type = error.type.empty() ? "" : error.type + ": ";
  return fmt::format("{} {}: {}{}", where, place, type, error.message);
}

}  // namespace tg
