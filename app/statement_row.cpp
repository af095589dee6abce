#include "app/statement_row.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/printer.h"

namespace tg {

Role role_of_mark(char mark) {
  switch (mark) {
    case 'W':
      return Role::Write;
    case 'V':
    case '~':
      return Role::View;
    case 'A':
      return Role::Argument;
    case 'R':
      return Role::Heading;
    case 'D':
      return Role::Dim;
    default:
      return Role::Plain;
  }
}

Json statement_json(const ProgramView& view, std::uint32_t index) {
  const BoundSymbol& statement = view.statement(index);
  Json row;
  row["statement"] = index;
  row["line"] = view.number(index);
  row["text"] = one_line(statement);
  row["mark"] = std::string(1, view.mark(index));
  row["names"] = Json::array();
  for (const DefinitionId id : view.def_use().definitions_of(index)) {
    Json name;
    name["name"] = view.def_use().definitions()[id].name;
    const Placement* placement = view.aliases().placement(id);
    if (placement != nullptr) {
      name["storage"] = placement->storage;
      name["may_share"] = placement->maybe_of;
    }
    name["read_by"] = view.def_use().definitions()[id].readers;
    row["names"].push_back(std::move(name));
  }
  return row;
}

Diagnostic unknown_name(const ProgramView& view, std::string_view name) {
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::BadAddress;
  diagnostic.message =
      fmt::format("phase {} has no name and no line '{}'", view.target().phase, name);
  std::vector<std::string_view> names;
  for (const Definition& definition : view.def_use().definitions())
    names.push_back(definition.name);
  const std::string_view near = nearest(name, names);
  if (!near.empty()) diagnostic.hint = fmt::format("did you mean '{}'?", near);
  return diagnostic;
}

}  // namespace tg
