// What show and list say alike about one statement.
#pragma once

#include <string_view>

#include "app/output.h"
#include "app/program_view.h"
#include "core/export/json.h"

namespace tg {

// The colour of a margin letter of ProgramView::mark.
Role role_of_mark(char mark);

// Line, text, margin letter, names with their storages and readers.
Json statement_json(const ProgramView& view, std::uint32_t index);

}  // namespace tg
