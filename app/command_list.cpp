// list: statements that write, copy or alias, one a line.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "app/program_view.h"
#include "app/session.h"
#include "app/statement_row.h"
#include "core/analysis/copy_cost.h"
#include "core/base/text.h"
#include "core/export/json.h"
#include "core/text/printer.h"

namespace tg {
namespace {

struct Filter {
  bool writes = false, copies = false, views = false, all = false;
  std::unique_ptr<RE2> pattern;
};

bool has_copy(const BoundSymbol& statement) {
  if (statement.kind == StatementKind::Call && statement.op_info().has(kCopyInto)) return true;
  return std::any_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [](const BoundSymbolRef& inner) { return has_copy(*inner); });
}

std::string what_text(const ProgramView& view, std::uint32_t index) {
  const BoundSymbol& statement = view.statement(index);
  const char mark = view.mark(index);
  if (statement.kind == StatementKind::UnpackTrivial) return "argument";
  if (statement.kind == StatementKind::Return) return "return";
  if (statement.kind == StatementKind::Del) return "del";
  if (statement.kind != StatementKind::Call) return "";
  if (statement.op_info().has(kCopyInto)) return "copy";
  if (is_fusion_name(statement.callee)) return has_copy(statement) ? "fusion, copies" : "fusion";
  if (statement.op_info().has(kInPlace)) return "in-place";
  if (mark == 'W') return has_copy(statement) ? "writes inside" : "writes";
  if (mark == 'V') return "view";
  if (mark == '~') return "maybe view";
  return "";
}

// What the statement writes into, as "x" or "t3 (of x)".
std::string written_text(const ProgramView& view, std::uint32_t index) {
  std::string text;
  std::set<StorageId> seen;
  for (const Access* access : view.aliases().accesses_of(index)) {
    if (access->kind != AccessKind::Write && access->kind != AccessKind::MayWrite) continue;
    if (!seen.insert(access->storage).second) continue;
    const StorageFacts& storage = view.aliases().storages()[access->storage];
    text += text.empty() ? "" : ", ";
    text += fmt::format("S{} {}", access->storage, storage.label);
    if (access->kind == AccessKind::MayWrite) text += "?";
  }
  return text.empty() ? view.badge(index) : text;
}

Json arguments_json(const ProgramView& view) {
  Json json;
  json["schema"] = "thunderglass.arguments/1";
  json["address"] = view.target().shown;
  json["arguments"] = Json::array();
  for (const Parameter& parameter : view.trace().parameters) {
    if (parameter.name.empty()) continue;
    const auto definitions = view.definitions(parameter.name);
    const Type* type = view.types().find(parameter.name);
    const Placement* placement =
        definitions.empty() ? nullptr : view.aliases().placement(definitions.front());
    const std::string path = view.argument_path(parameter.name);
    Json row;
    row["name"] = parameter.prefix + parameter.name;
    row["type"] = type == nullptr ? Json(nullptr) : Json(type->text);
    row["path"] = path.empty() ? Json(nullptr) : Json(path);
    row["read_by"] = definitions.empty()
                         ? std::vector<std::uint32_t>{}
                         : view.def_use().definitions()[definitions.front()].readers;
    row["storage"] = placement == nullptr ? Json(nullptr) : Json(placement->storage);
    json["arguments"].push_back(std::move(row));
  }
  return json;
}

// "setitem_" for a copy inside a composite, "nvFusion0" for one inside a region; empty at depth 0.
std::string around_text(const ProgramView& view, const CopySite& copy) {
  return copy.path.size() < 2 ? ""
                              : std::string(base_name(view.statement(copy.path.front()).callee));
}

// Every copy_ wherever it stands, one a row.
CommandResult list_copies(Call& call, const ProgramView& view, const RE2* pattern) {
  Json rows = Json::array();
  Table table({"line", "", "what", "copy", "bytes", "storage"},
              {Table::Align::Right, Table::Align::Left, Table::Align::Left, Table::Align::Left,
               Table::Align::Right});
  for (const CopySite& copy : view.aliases().copies()) {
    const std::string text = one_line(*copy.statement);
    if (pattern != nullptr && !RE2::PartialMatch(text, *pattern)) continue;
    const std::string around = around_text(view, copy);
    const std::string storage = view.aliases().storages()[copy.destination_at.storage].label;
    const auto bytes = bytes_moved(copy);
    // Inner statements know their own line only where the text has one.
    const std::uint32_t line = copy.statement->at.line != 0 && view.target().from_file()
                                   ? copy.statement->at.line
                                   : view.number(copy.path.front());
    if (call.json()) {
      rows.push_back({{"path", copy.path},
                      {"line", line},
                      {"text", text},
                      {"inside", around.empty() ? Json(nullptr) : Json(around)},
                      {"source", copy.source},
                      {"destination", copy.destination},
                      {"storage", copy.destination_at.storage},
                      {"bytes", bytes ? Json(*bytes) : Json(nullptr)}});
      continue;
    }
    table.add({line == 0 ? "" : std::to_string(line), call.paint(Role::Write, "W"),
               around.empty() ? "copy" : "copy in " + around, text, bytes ? bytes_text(*bytes) : "",
               fmt::format("S{} {}", copy.destination_at.storage, storage)});
  }
  if (call.json()) {
    Json json;
    json["schema"] = "thunderglass.copies/1";
    json["address"] = view.target().shown;
    json["copies"] = std::move(rows);
    call.result(dump(json) + "\n");
  } else {
    call.result(table.empty() ? "no copies\n" : table.text(call.paint));
  }
  return {};
}

CommandResult list_arguments(Call& call, const ProgramView& view) {
  if (call.json()) {
    call.result(dump(arguments_json(view)) + "\n");
    return {};
  }
  Table table({"argument", "type", "path in the call", "read", "storage"},
              {Table::Align::Left, Table::Align::Left, Table::Align::Left, Table::Align::Right});
  for (const Parameter& parameter : view.trace().parameters) {
    if (parameter.name.empty()) continue;
    const DefinitionId id = view.definitions(parameter.name).empty()
                                ? kNoDefinition
                                : view.definitions(parameter.name).front();
    const Type* type = view.types().find(parameter.name);
    const Placement* placement = id == kNoDefinition ? nullptr : view.aliases().placement(id);
    table.add(
        {parameter.prefix + parameter.name, type == nullptr ? "" : type->text,
         view.argument_path(parameter.name),
         id == kNoDefinition ? "" : std::to_string(view.def_use().definitions()[id].readers.size()),
         placement == nullptr ? "" : fmt::format("S{}", placement->storage)});
  }
  call.result(table.text(call.paint));
  return {};
}

}  // namespace

CommandResult command_list(Call& call) {
  auto target = resolve_only_program(call);
  if (!target) return stop_with(call, target.error());
  const ExitCode exit =
      show_reading_findings(call, target->file()) ? ExitCode::Unreadable : ExitCode::Done;
  const ProgramView view(std::move(*target));
  if (call.command.has(Option::Arguments)) return list_arguments(call, view);
  Filter filter{call.command.has(Option::Writes), call.command.has(Option::Copies),
                call.command.has(Option::Views), call.command.has(Option::All), nullptr};
  if (call.command.has(Option::Grep)) {
    RE2::Options options;
    options.set_log_errors(false);
    filter.pattern = std::make_unique<RE2>(call.command.value(Option::Grep), options);
    if (!filter.pattern->ok()) {
      call.fail(fmt::format("--grep: {}", filter.pattern->error()));
      return ExitCode::Usage;
    }
  }
  const bool copies_only = filter.copies && !filter.writes && !filter.views && !filter.all;
  if (copies_only) {
    CommandResult listed = list_copies(call, view, filter.pattern.get());
    listed.exit = std::max(listed.exit, exit);
    return listed;
  }
  const bool any_kind = filter.writes || filter.copies || filter.views;
  Json rows = Json::array();
  Table table({"line", "", "what", "statement", "storage"}, {Table::Align::Right});
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < view.trace().bound_symbols.size(); ++i) {
    const char mark = view.mark(i);
    const bool copy = has_copy(view.statement(i));
    const bool write = mark == 'W' || copy;
    const bool shares = mark == 'V' || mark == '~';
    const bool kind_fits =
        filter.all ||
        (any_kind ? (filter.writes && write) || (filter.copies && copy) || (filter.views && shares)
                  : filter.pattern != nullptr || write || shares);
    const std::string text = one_line(view.statement(i));
    if (!kind_fits || (filter.pattern && !RE2::PartialMatch(text, *filter.pattern))) continue;
    ++count;
    if (call.json()) {
      Json row = statement_json(view, i);
      row["what"] = what_text(view, i);
      rows.push_back(std::move(row));
      continue;
    }
    constexpr std::size_t kLongestText = 100;
    table.add({view.number(i) == 0 ? "" : std::to_string(view.number(i)),
               call.paint(role_of_mark(mark), mark == ' ' && copy ? "W" : std::string(1, mark)),
               what_text(view, i),
               text.size() > kLongestText ? text.substr(0, kLongestText - 3) + "..." : text,
               written_text(view, i)});
  }
  if (call.json()) {
    Json json;
    json["schema"] = "thunderglass.list/1";
    json["address"] = view.target().shown;
    json["statements"] = std::move(rows);
    call.result(dump(json) + "\n");
  } else if (count == 0) {
    call.result("nothing here writes, copies or shares storage as asked\n");
  } else {
    call.result(table.text(call.paint));
  }
  return {exit};
}

}  // namespace tg
