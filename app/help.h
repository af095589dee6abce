// Help, the manual page, shell completions and the README's list: all made from commands.def.
#pragma once

#include <string>
#include <string_view>

#include "app/command.h"
#include "core/ir/op.h"

namespace tg {

// Examples first, then usage and options; at most 80 columns.
std::string command_help(const CommandInfo& command);
// What `help` alone prints.
std::string overview(bool in_repl);
// roff for man(1).
std::string manual_page();
// The script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion_script(std::string_view shell);
// The table of commands as the README has it.
std::string markdown_commands();

// The passes and the pipelines that have a name.
std::string passes_text(const Paint& paint);

// An operation as traces print it; the table's own name only where no trace does.
std::string_view first_spelling(const OpInfo& op);

// "0  done, no finding" ...: the exit codes, one a line.
std::string exit_codes_text(std::size_t indent);

}  // namespace tg
