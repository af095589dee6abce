// Lines of the REPL and of scripts: words, quotes, `;` between commands, `#` comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tg {

struct ScriptLine {
  std::vector<std::vector<std::string>> commands;  // words of each command, none of them empty
  bool open_quote = false;                         // the line goes on in the next one
};

// Single and double quotes group; a backslash takes the next character as it is, except in single
// quotes.
ScriptLine split_script_line(std::string_view line);

// Could this line begin the text of a trace? Then what follows is a paste, not commands.
bool begins_trace_text(std::string_view line);
// Does a pasted trace go on with this line?
bool continues_trace_text(std::string_view line);

}  // namespace tg
