// show: the text of a program with what is known about each line.
#include <algorithm>
#include <charconv>
#include <set>
#include <span>

#include <fmt/format.h>

#include "app/program_view.h"
#include "app/session.h"
#include "app/statement_row.h"
#include "core/base/text.h"
#include "core/export/json.h"
#include "core/text/printer.h"

namespace tg {
namespace {

struct LineRange {
  std::uint32_t first = 0;
  std::uint32_t last = UINT32_MAX;
};

// "12", "12-40", "12-", "-40".
std::optional<LineRange> parse_range(std::string_view text) {
  const auto number = [](std::string_view digits,
                         std::uint32_t fallback) -> std::optional<std::uint32_t> {
    if (digits.empty()) return fallback;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const std::size_t dash = text.find('-');
  const auto first = number(text.substr(0, dash), 0);
  if (!first) return std::nullopt;
  if (dash == std::string_view::npos) return LineRange{*first, *first};
  const auto last = number(text.substr(dash + 1), UINT32_MAX);
  if (!last) return std::nullopt;
  return LineRange{*first, *last};
}

// Statements that touch a storage which `name` lies in, or may lie in.
std::set<std::uint32_t> touching(const ProgramView& view, std::string_view name) {
  std::set<StorageId> storages;
  for (const DefinitionId id : view.definitions(name)) {
    const Placement* placement = view.aliases().placement(id);
    if (placement == nullptr) continue;
    storages.insert(placement->storage);
    storages.insert(placement->maybe_of.begin(), placement->maybe_of.end());
  }
  std::set<std::uint32_t> statements;
  for (const StorageId storage : storages) {
    for (const Access* access : view.aliases().history_of(storage)) {
      if (!access->path.empty()) statements.insert(access->path.front());
    }
    for (const DefinitionId id : view.aliases().storages()[storage].definitions) {
      const Definition& definition = view.def_use().definitions()[id];
      if (definition.statement != kArgument) statements.insert(definition.statement);
      statements.insert(definition.readers.begin(), definition.readers.end());
    }
  }
  return statements;
}

// What stands behind a line: the storage, the path of an argument, values that are of the time of
// tracing.
std::string remarks(const ProgramView& view, std::uint32_t index, bool every_storage) {
  const BoundSymbol& statement = view.statement(index);
  std::string text = view.badge(index, every_storage);
  const auto add = [&text](const std::string& remark) {
    if (!remark.empty()) text += (text.empty() ? "" : "  ") + remark;
  };
  if (statement.kind == StatementKind::UnpackTrivial && statement.output.is_name()) {
    const std::string path = view.argument_path(statement.output.text);
    if (!path.empty() && path != statement.output.text) add(path);
  }
  if (statement.type != nullptr && !trace_time_value(*statement.type).empty()) {
    add(fmt::format("{} is from trace time", trace_time_value(*statement.type)));
  }
  if (!view.target().from_file() && statement.at.line != 0) {
    add(fmt::format("from line {}", statement.at.line));
  }
  return text;
}

struct Shown {
  bool subsymbols = false;
  LineRange range;
  std::optional<std::set<std::uint32_t>> statements;
  bool every_storage = false;
};

// The source line behind a tab of Thunder's would stand far to the right.
std::string without_tabs(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

std::string show_text(const ProgramView& view, const Shown& shown, const Paint& paint) {
  std::string out;
  std::uint32_t last_number = 0;
  for (const ListedLine& line : view.lines()) last_number = std::max(last_number, line.number);
  const std::size_t width = std::to_string(last_number).size();
  std::optional<std::uint32_t> previous;
  std::size_t count = view.lines().size();
  while (count > 0 && view.lines()[count - 1].kind == LineKind::Blank) --count;
  for (const ListedLine& line : std::span(view.lines()).first(count)) {
    if (line.number < shown.range.first || line.number > shown.range.last) continue;
    if (line.kind == LineKind::Sub && !shown.subsymbols) continue;
    if (shown.statements) {
      if (!line.statement || !shown.statements->contains(*line.statement)) continue;
      if (line.kind == LineKind::Source || line.kind == LineKind::Blank) continue;
      if (previous && *line.statement > *previous + 1) {
        const std::size_t between = *line.statement - *previous - 1;
        out += paint(Role::Dim, fmt::format("{:>{}}    {} between\n", "", width,
                                            count_of(between, "statement", "statements")));
      }
      previous = line.statement;
    }
    std::string number = line.number == 0 ? "" : std::to_string(line.number);
    const bool main = line.kind == LineKind::Statement;
    const char mark = main ? view.mark(*line.statement) : ' ';
    Role role = Role::Plain;
    if (main) role = role_of_mark(mark);
    if (!main) role = Role::Dim;
    std::string text =
        fmt::format("{} {} {}", paint(Role::Dim, fmt::format("{:>{}}", number, width)),
                    paint(role, std::string(1, mark)), paint(role, without_tabs(line.text)));
    if (main) {
      const std::string remark = remarks(view, *line.statement, shown.every_storage);
      if (!remark.empty()) text += "  " + paint(Role::View, remark);
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + "\n";
  }
  return out;
}

// The producer, the consumers and the storage of a name.
std::string show_name(const ProgramView& view, std::string_view name, const Paint& paint) {
  std::string out;
  const auto definitions = view.definitions(name);
  for (const DefinitionId id : definitions) {
    const Definition& definition = view.def_use().definitions()[id];
    const Type* type = view.types().find(name);
    out += fmt::format("{}  {}\n", paint(Role::Name, name),
                       type == nullptr ? "type not told" : type->text);
    if (definition.statement != kArgument &&
        view.statement(definition.statement).kind == StatementKind::UnpackTrivial) {
      const std::string path = view.argument_path(name);
      if (!path.empty()) out += fmt::format("  argument {}\n", path);
    }
    Table table;
    const auto row = [&](std::string_view what, std::uint32_t statement) {
      table.add(
          {std::string(what), view.line_text(statement), one_line(view.statement(statement))});
    };
    if (definition.statement == kArgument) {
      table.add({"made by", "the caller", ""});
    } else if (view.statement(definition.statement).kind == StatementKind::UnpackTrivial) {
      table.add({"made by", "the caller", "argument of " + view.trace().name});
    } else {
      row("made by", definition.statement);
    }
    std::optional<std::uint32_t> previous;
    for (const std::uint32_t reader : definition.readers) {
      if (previous == reader) continue;
      row(previous ? "" : "read by", reader);
      previous = reader;
    }
    if (definition.readers.empty()) table.add({"read by", "nobody", ""});
    const Placement* placement = view.aliases().placement(id);
    if (placement != nullptr) {
      bool first = true;
      for (const Access* access : view.aliases().writes_to(placement->storage)) {
        if (access->path.empty()) continue;
        row(first ? "written by" : "", access->path.front());
        first = false;
      }
      const StorageFacts& storage = view.aliases().storages()[placement->storage];
      std::string with = fmt::format("S{}", placement->storage);
      if (storage.bytes) with += ", " + bytes_text(*storage.bytes);
      if (storage.is_argument) with += ", of argument " + storage.label;
      std::string others;
      for (const std::string& other : storage.names) {
        if (other != name) others += (others.empty() ? "" : ", ") + other;
      }
      table.add(
          {"storage", with, others.empty() ? "shared with nothing" : "shared with " + others});
      for (const StorageId other : placement->maybe_of) {
        table.add({"may share", fmt::format("S{}", other),
                   "of " + view.aliases().storages()[other].label});
      }
      if (placement->geometry) {
        table.add({"lies", fmt::format("offset {}", placement->geometry->offset),
                   fmt::format("strides {}", python_tuple(placement->geometry->strides))});
      }
    }
    out += table.text(paint, 2);
  }
  return out;
}

Json show_json(const ProgramView& view, const Shown& shown) {
  Json json;
  json["schema"] = "thunderglass.show/1";
  json["address"] = view.target().shown;
  json["label"] = view.target().whole_phase().label;
  json["storages"] = Json::array();
  for (const StorageFacts& storage : view.aliases().storages()) {
    json["storages"].push_back({{"label", storage.label},
                                {"argument", storage.is_argument},
                                {"bytes", storage.bytes ? Json(*storage.bytes) : Json(nullptr)},
                                {"names", storage.names},
                                {"versions", storage.versions}});
  }
  json["statements"] = Json::array();
  for (std::uint32_t i = 0; i < view.trace().bound_symbols.size(); ++i) {
    if (shown.statements && !shown.statements->contains(i)) continue;
    if (view.number(i) < shown.range.first || view.number(i) > shown.range.last) continue;
    json["statements"].push_back(statement_json(view, i));
  }
  return json;
}

CommandResult bad_range(Call& call) {
  call.fail("--lines expects 12, 12-40, 12- or -40");
  return ExitCode::Usage;
}

// The programs of the file that a range of its lines touches, when the address left it open which
// one is meant.
std::vector<Target> programs_in(const Target& target, LineRange range) {
  std::vector<Target> found;
  const Document& document = *target.document;
  for (std::size_t i = 0; i < document.phases.size(); ++i) {
    if (!document.phases[i]->from_file) continue;
    Target other = target;
    other.phase = i;
    other.shown = fmt::format("{}:{}", target.file_shown, i);
    const std::vector<ListedLine> lines = list_lines(other.trace(), other.numbering());
    const bool touches = std::any_of(lines.begin(), lines.end(), [&](const ListedLine& line) {
      return line.number != 0 && line.number >= range.first && line.number <= range.last;
    });
    if (touches) found.push_back(std::move(other));
  }
  return found;
}

CommandResult show_one(Call& call, Target target) {
  if (call.command.has(Option::Raw)) {
    std::string text = print(target.trace());
    if (!text.ends_with('\n')) text += '\n';
    call.result(text);
    return {};
  }
  const std::string place = target.place;
  const ProgramView view(std::move(target));
  Shown shown;
  shown.subsymbols = call.command.has(Option::Subsymbols);
  shown.every_storage = call.command.has(Option::Verbose);
  if (call.command.has(Option::Range)) {
    const auto range = parse_range(call.command.value(Option::Range));
    if (!range) return bad_range(call);
    shown.range = *range;
  }
  if (call.command.has(Option::Touching)) {
    const std::string name = call.command.value(Option::Touching);
    if (view.definitions(name).empty()) return stop_with(call, unknown_name(view.target(), name));
    shown.statements = touching(view, name);
  }
  if (!place.empty()) {
    if (const auto range = parse_range(place)) {
      shown.range = *range;
      shown.subsymbols = true;
      if (range->first == range->last) {
        const auto index = statement_at(view.lines(), range->first);
        if (!index) return stop_with(call, unknown_name(view.target(), place));
        shown.range = {};
        shown.statements = std::set<std::uint32_t>{*index};
      }
    } else {
      if (view.definitions(place).empty())
        return stop_with(call, unknown_name(view.target(), place));
      if (!call.json()) {
        call.result(show_name(view, place, call.paint));
        return {};
      }
      shown.statements = touching(view, place);
    }
  }
  if (call.json()) {
    call.result(dump(show_json(view, shown)) + "\n");
  } else {
    call.result(show_text(view, shown, call.paint));
  }
  return {};
}

}  // namespace

CommandResult command_show(Call& call) {
  std::vector<std::string> addresses = call.command.operands;
  if (addresses.empty()) addresses.emplace_back(":");
  ExitCode exit = ExitCode::Done;
  for (const std::string& address : addresses) {
    auto target = resolve(call, address, Bare::Place);
    if (!target) return stop_with(call, target.error());
    if (show_reading_findings(call, target->file())) exit = ExitCode::Unreadable;
    std::string lines = call.command.has(Option::Range) ? call.command.value(Option::Range) : "";
    if (lines.empty() && target->place.find('-') != std::string::npos) lines = target->place;
    const auto range = lines.empty() ? std::nullopt : parse_range(lines);
    if (!lines.empty() && !range) return bad_range(call);
    std::vector<Target> targets;
    if (range && !target->names_phase && !target->region && target->from_file()) {
      targets = programs_in(*target, *range);
      if (targets.empty()) {
        call.fail(fmt::format("no program has one of the lines {}", lines));
        return ExitCode::Usage;
      }
    } else {
      targets.push_back(std::move(*target));
    }
    for (Target& one : targets) {
      const CommandResult result = show_one(call, std::move(one));
      if (result.exit != ExitCode::Done) return result;
    }
  }
  return {exit};
}

}  // namespace tg
