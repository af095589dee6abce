#include "app/address.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"

namespace tg {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return out;
}

constexpr std::pair<std::string_view, TraceKind> kKindWords[] = {
    {"computation", TraceKind::Computation},
    {"prologue", TraceKind::Prologue},
    {"backward", TraceKind::Backward},
    {"epilogue", TraceKind::Epilogue},
};

bool is_file(const std::string& path) {
  if (path == "-") return true;
  std::error_code error;
  return std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error);
}

// The split of an address; `file` empty means the document of the session.
struct Parts {
  std::string file;
  std::string phase;
  std::string place;
};

Parts split_rest(std::string file, std::string_view rest) {
  Parts parts;
  parts.file = std::move(file);
  const std::size_t colon = rest.find(':');
  parts.phase = rest.substr(0, colon);
  if (colon != std::string_view::npos) parts.place = rest.substr(colon + 1);
  return parts;
}

// The file is the longest beginning that exists, so that names with colons work.
Parts split(const std::string& address, bool implied, const Document& document, Bare bare) {
  if (is_file(address)) return {address, "", ""};
  if (implied && address.starts_with(':'))
    return split_rest("", std::string_view(address).substr(1));
  // "-1" is a phase, "-:3" standard input.
  if (implied && address.starts_with('-') && !address.starts_with("-:"))
    return split_rest("", address);
  for (std::size_t colon = address.rfind(':'); colon != std::string::npos && colon > 0;
       colon = address.rfind(':', colon - 1)) {
    const std::string file = address.substr(0, colon);
    if (is_file(file)) return split_rest(file, std::string_view(address).substr(colon + 1));
  }
  const bool looks_like_path = address.find('/') != std::string::npos || address.ends_with(".txt");
  if (implied && !looks_like_path) {
    if (address == "initial" || address == "last") return {"", address, ""};
    if (bare == Bare::Phase && find_phase(document, address)) return {"", address, ""};
    return {"", "", address};
  }
  const std::size_t colon = address.find(':');
  if (colon == std::string::npos) return {address, "", ""};
  return split_rest(address.substr(0, colon), std::string_view(address).substr(colon + 1));
}

Diagnostic bad_address(std::string message, std::string hint) {
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::BadAddress;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

std::string phase_list(const Document& document) {
  std::vector<std::string> shown;
  constexpr std::size_t kMostShown = 6;
  for (std::size_t i = 0; i < document.phases.size() && i < kMostShown; ++i) {
    shown.push_back(fmt::format("{} {}", i, document.phases[i]->phase.label));
  }
  if (document.phases.size() > kMostShown) shown.emplace_back("...");
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::optional<std::size_t> find_phase(const Document& document, std::string_view text) {
  const std::size_t count = document.phases.size();
  if (count == 0) return std::nullopt;
  if (text == "initial") return 0;
  if (text == "last") return count - 1;
  if (const auto number = whole_number(text)) {
    const std::int64_t index = *number < 0 ? *number + static_cast<std::int64_t>(count) : *number;
    if (index < 0 || index >= static_cast<std::int64_t>(count)) return std::nullopt;
    return static_cast<std::size_t>(index);
  }
  if (text.empty()) return std::nullopt;
  const std::string wanted = lower(text);
  for (std::size_t i = 0; i < count; ++i) {
    if (lower(document.phases[i]->phase.label).starts_with(wanted)) return i;
  }
  for (const auto& [word, kind] : kKindWords) {
    if (word != wanted) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if (document.phases[i]->phase.kind == kind) return i;
    }
  }
  return std::nullopt;
}

const Trace* earlier_computation(const Target& target) {
  if (target.region) return nullptr;
  for (std::size_t i = 0; i < target.phase; ++i) {
    if (target.document->phases[i]->phase.kind == TraceKind::Computation)
      return &target.document->trace(i);
  }
  return nullptr;
}

Trace with_argument_types(const Target& target) {
  Trace typed = target.trace();
  if (target.region) return typed;
  const TypeTable own(typed);
  std::vector<std::string_view> missing;
  for (const Parameter& parameter : typed.parameters) {
    if (!parameter.name.empty() && own.find(parameter.name) == nullptr) {
      missing.push_back(parameter.name);
    }
  }
  const TraceKind kind = target.whole_phase().kind;
  std::vector<BoundSymbolRef> annotations;
  for (std::size_t i = 0; i < target.phase && !missing.empty(); ++i) {
    if (target.document->phases[i]->phase.kind != kind) continue;
    const Trace& earlier = target.document->trace(i);
    const TypeTable types(earlier);
    std::set<std::string_view> parameters;
    for (const Parameter& parameter : earlier.parameters) parameters.insert(parameter.name);
    std::erase_if(missing, [&](std::string_view name) {
      if (!parameters.contains(name) || types.find(name) == nullptr) return false;
      BoundSymbol annotation;
      annotation.kind = StatementKind::UnpackTrivial;
      annotation.output = Value::name(name);
      annotation.type = types.find_ref(name);
      annotations.push_back(std::make_shared<const BoundSymbol>(std::move(annotation)));
      return true;
    });
  }
  typed.bound_symbols.insert(typed.bound_symbols.begin(), annotations.begin(), annotations.end());
  return typed;
}

Result<ArgumentFacts> alias_facts(const Target& target, const std::vector<std::string>& options) {
  if (options.empty()) return ArgumentFacts{};
  return parse_alias_options(with_argument_types(target), options);
}

std::optional<std::size_t> phase_with_line(const Document& document, std::uint32_t line) {
  for (std::size_t i = document.phases.size(); i-- > 0;) {
    if (document.phases[i]->from_file && document.trace(i).def_at.line <= line) return i;
  }
  return std::nullopt;
}

std::optional<Trace> region_trace(const Trace& trace, std::string_view callee) {
  const auto found = std::find_if(
      trace.bound_symbols.begin(), trace.bound_symbols.end(), [&](const BoundSymbolRef& statement) {
        return statement->kind == StatementKind::Call && statement->callee == callee &&
               !statement->subsymbols.empty();
      });
  if (found == trace.bound_symbols.end()) return std::nullopt;
  const BoundSymbol& call = **found;
  const TypeTable types(trace);
  Trace region;
  region.name = callee;
  region.imports = trace.imports;
  region.def_at = call.at;
  std::vector<std::string_view> seen;
  for (const std::string_view name : argument_names(call)) {
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    region.parameters.push_back({"", std::string(name), Value::absent()});
    BoundSymbol annotation;
    annotation.kind = StatementKind::UnpackTrivial;
    annotation.output = Value::name(name);
    annotation.type = types.find_ref(name);
    region.bound_symbols.push_back(std::make_shared<const BoundSymbol>(std::move(annotation)));
  }
  for (const BoundSymbolRef& inner : call.subsymbols) region.bound_symbols.push_back(inner);
  BoundSymbol last;
  last.kind = StatementKind::Return;
  last.args = {call.output.kind == ValueKind::Absent ? Value::none() : call.output};
  region.bound_symbols.push_back(std::make_shared<const BoundSymbol>(std::move(last)));
  return region;
}

std::string Target::label() const {
  if (!shown.starts_with(':')) return shown;
  const std::string& name = whole_phase().label;
  std::string text = fmt::format("phase {}", phase);
  if (region) return fmt::format("{}, {}", text, region->name);
  return name.empty() ? text : fmt::format("{} ({})", text, name);
}

std::vector<std::size_t> phases_with_name(const Document& document, std::string_view name) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < document.phases.size(); ++i) {
    const Trace& trace = document.trace(i);
    const bool has =
        std::any_of(trace.parameters.begin(), trace.parameters.end(),
                    [&](const Parameter& p) { return p.name == name; }) ||
        std::any_of(trace.bound_symbols.begin(), trace.bound_symbols.end(),
                    [&](const BoundSymbolRef& statement) {
                      const auto names = output_names(*statement);
                      return std::find(names.begin(), names.end(), name) != names.end();
                    });
    if (has) found.push_back(i);
  }
  return found;
}

Diagnostic unknown_name(const Target& target, std::string_view name) {
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::NoSuchName;
  diagnostic.subject = name;
  if (const auto line = whole_number(name)) {
    diagnostic.message = fmt::format("line {} holds no statement of phase {}", *line, target.phase);
    const auto other = *line > 0 && target.from_file()
                           ? phase_with_line(*target.document, static_cast<std::uint32_t>(*line))
                           : std::nullopt;
    if (other && *other != target.phase) {
      diagnostic.hint = fmt::format("the line belongs to phase {}", *other);
    }
    return diagnostic;
  }
  diagnostic.message = fmt::format("nothing in phase {} is called '{}'", target.phase, name);
  const std::vector<std::size_t> elsewhere = phases_with_name(*target.document, name);
  if (!elsewhere.empty()) {
    diagnostic.hint =
        fmt::format("{} {}; {}:{}:{} is the first",
                    elsewhere.size() == 1 ? "it is in phase" : "it is in phases",
                    fmt::join(elsewhere, ", "), target.file_shown, elsewhere.front(), name);
    return diagnostic;
  }
  std::vector<std::string_view> names;
  for (const Parameter& parameter : target.trace().parameters) names.push_back(parameter.name);
  for (const BoundSymbolRef& statement : target.trace().bound_symbols) {
    for (const std::string_view other : output_names(*statement)) names.push_back(other);
  }
  const std::string_view near = nearest(name, names);
  if (!near.empty()) diagnostic.hint = fmt::format("did you mean '{}'?", near);
  return diagnostic;
}

namespace {

Diagnostic no_place(const Call& call, const std::string& address, std::string_view whole) {
  return bad_address(fmt::format("'{}' names a place in a program; {} takes a whole {}", address,
                                 call.command.command->name, whole),
                     "leave away what follows the second colon");
}

// In a file of many programs the one taken must be visible, unless the user said which.
enum class SayPhase { Yes, No };

Result<Target> resolve_any(Call& call, const std::string& address, Bare bare, SayPhase say) {
  const Document& loaded = call.session.document();
  const bool implied = call.session.interactive && loaded.file != nullptr;
  const Parts parts = split(address, implied, loaded, bare);
  Target target;
  if (parts.file.empty()) {
    if (!implied) {
      const CommandInfo& command = *call.command.command;
      return Unexpected{bad_address(
          "no file is named", call.session.interactive ? "'load FILE' first, or name one"
                                                       : fmt::format("for example: thunderglass {}",
                                                                     command.examples.front()))};
    }
    target.document = call.session.shared_document();
  } else {
    auto file = call.session.file(parts.file);
    if (!file) return Unexpected{file.error()};
    const bool same_as_loaded = implied && loaded.file == *file;
    target.document = same_as_loaded ? call.session.shared_document() : document_of(*file);
    target.file_shown = parts.file;
  }
  const Document& document = *target.document;
  if (document.phases.empty()) {
    Diagnostic diagnostic;
    diagnostic.code = DiagnosticCode::NoTraceFound;
    diagnostic.message = "nothing in it is a trace";
    for (const Diagnostic& found : document.file->diagnostics) {
      if (found.severity == Severity::Error || found.code == DiagnosticCode::NoTraceFound) {
        diagnostic = found;
        break;
      }
    }
    diagnostic.message = document.file->name + ": " + diagnostic.message;
    return Unexpected{std::move(diagnostic)};
  }
  target.place = parts.place;
  std::string wanted = parts.phase;
  const auto wanted_number = whole_number(wanted);
  // FILE:106 where there is no phase 106: a line of the file.
  const bool line_for_phase =
      bare == Bare::Place && parts.place.empty() && wanted_number && *wanted_number > 0 &&
      !find_phase(document, wanted) &&
      *wanted_number <= static_cast<std::int64_t>(split_lines(document.file->text).size());
  if (line_for_phase) {
    target.place = wanted;
    wanted.clear();
  }
  const auto line = whole_number(target.place);
  // FILE::106 and ::106 are lines of the file. A bare 106 is one too, unless the program at hand
  // was made here: then its own lines are meant.
  const bool of_file = line_for_phase || !parts.file.empty() || address.starts_with("::") ||
                       document.phases[document.current]->from_file;
  const auto by_line = wanted.empty() && of_file && line && *line > 0
                           ? phase_with_line(document, static_cast<std::uint32_t>(*line))
                           : std::nullopt;
  if (by_line) {
    target.phase = *by_line;
  } else if (!wanted.empty()) {
    const auto index = find_phase(document, wanted);
    if (!index) {
      return Unexpected{
          bad_address(fmt::format("'{}' has no phase '{}'", document.file->name, wanted),
                      "its phases are " + phase_list(document))};
    }
    target.phase = *index;
    target.names_phase = true;
  } else {
    target.phase = parts.file.empty() ? document.current : first_computation(document);
  }
  target.shown = fmt::format("{}:{}", target.file_shown, target.phase);
  if (is_fusion_name(target.place)) {
    auto region = region_trace(document.trace(target.phase), target.place);
    if (!region) {
      std::vector<std::size_t> elsewhere;
      for (std::size_t i = 0; i < document.phases.size(); ++i) {
        if (region_trace(document.trace(i), target.place)) elsewhere.push_back(i);
      }
      return Unexpected{bad_address(
          fmt::format("phase {} has no region '{}' with statements in it", target.phase,
                      target.place),
          elsewhere.empty()
              ? ""
              : fmt::format("it is in {} {}", elsewhere.size() == 1 ? "phase" : "phases",
                            fmt::join(elsewhere, ", ")))};
    }
    target.region = std::make_shared<const Trace>(std::move(*region));
    target.shown += ":" + target.place;
    target.place.clear();
  }
  if (say == SayPhase::Yes && !target.names_phase && !parts.file.empty() &&
      document.phases.size() > 1 && target.place.empty()) {
    call.note(fmt::format("phase {} of {}: {}\n", target.phase, document.phases.size(),
                          target.whole_phase().label));
  }
  return target;
}

}  // namespace

Result<Target> resolve(Call& call, const std::string& address, Bare bare) {
  return resolve_any(call, address, bare, SayPhase::Yes);
}

Result<Target> resolve_program(Call& call, const std::string& address) {
  auto target = resolve_any(call, address, Bare::Phase, SayPhase::Yes);
  if (target && !target->place.empty()) return Unexpected{no_place(call, address, "program")};
  return target;
}

Result<Target> resolve_file(Call& call, const std::string& address) {
  auto target = resolve_any(call, address, Bare::Phase, SayPhase::No);
  if (target && (!target->place.empty() || target->region)) {
    return Unexpected{no_place(call, address, "file, or one from a phase on")};
  }
  if (target && !target->names_phase) target->phase = 0;
  return target;
}

namespace {

std::optional<Diagnostic> more_than_one(const Call& call) {
  const auto& operands = call.command.operands;
  if (operands.size() <= 1) return std::nullopt;
  return bad_address(
      fmt::format("one address expected, found {}", operands.size()),
      fmt::format("usage: {} {}", call.command.command->name, call.command.command->operands));
}

std::string only_operand(const Call& call) {
  const auto& operands = call.command.operands;
  return operands.empty() ? ":" : operands.front();
}

}  // namespace

Result<Target> resolve_only(Call& call, Bare bare) {
  if (auto wrong = more_than_one(call)) return Unexpected{std::move(*wrong)};
  return resolve(call, only_operand(call), bare);
}

Result<Target> resolve_only_program(Call& call) {
  if (auto wrong = more_than_one(call)) return Unexpected{std::move(*wrong)};
  return resolve_program(call, only_operand(call));
}

}  // namespace tg
