#include "app/script.h"

namespace tg {

ScriptLine split_script_line(std::string_view line) {
  ScriptLine result;
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  const auto end_word = [&] {
    if (in_word) words.push_back(std::move(word));
    word.clear();
    in_word = false;
  };
  const auto end_command = [&] {
    end_word();
    if (!words.empty()) result.commands.push_back(std::move(words));
    words.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < line.size()) {
        word += line[++i];
      } else {
        word += c;
      }
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      end_word();
    } else if (c == ';') {
      end_command();
    } else if (c == '#' && !in_word) {
      break;
    } else {
      word += c;
      in_word = true;
    }
  }
  result.open_quote = quote != 0;
  end_command();
  return result;
}

bool begins_trace_text(std::string_view line) {
  return line.starts_with("# Constructed by ") || line.starts_with("import ") ||
         line.starts_with("from ") || line.starts_with("@torch.") ||
         line.starts_with("@no_autocast") ||
         (line.starts_with("def ") && line.find('(') != std::string_view::npos);
}

bool continues_trace_text(std::string_view line) {
  return line.empty() || line.front() == ' ' || line.front() == '\t' || line.front() == '#' ||
         line.front() == '@' || begins_trace_text(line);
}

}  // namespace tg
