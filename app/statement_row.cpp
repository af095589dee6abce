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

}  // namespace tg
