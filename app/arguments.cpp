// parse_command: words against the table. CLI11 does the syntax of options (--long=value, -s,
// clusters,
// `--`); the messages are ours, because they name what is near.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "app/command.h"
#include "core/base/shell_word.h"
#include "core/base/text.h"

namespace tg {
namespace {

UsageError unknown_command(std::string_view word, bool in_repl) {
  const auto candidates = commands_beginning(word, in_repl);
  if (in_repl && candidates.size() > 1) {
    return {fmt::format("'{}' could be {}", word, fmt::join(candidates, ", ")), ""};
  }
  for (const CommandInfo& command : all_commands()) {
    if (command.name != word) continue;
    return {
        fmt::format("'{}' exists only {}", word, in_repl ? "on the command line" : "in the REPL"),
        in_repl ? "" : "start it with 'thunderglass repl'"};
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(std::string(word), error)) {
    return {fmt::format("'{}' is a file, not a command", word),
            fmt::format("for example: {}{} {}", in_repl ? "" : "thunderglass ",
                        in_repl ? "load" : "check", shell_word(word))};
  }
  std::vector<std::string_view> names = commands_beginning("", in_repl);
  const std::string_view near = nearest(word, names);
  if (!near.empty()) {
    return {fmt::format("unknown command '{}'", word), fmt::format("did you mean '{}'?", near)};
  }
  return {fmt::format("unknown command '{}'", word),
          in_repl ? "'help' lists the commands" : "'thunderglass help' lists the commands"};
}

UsageError unknown_option(const CommandInfo& command, std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  std::vector<std::string_view> names;
  for (const Option option : command.options) names.push_back(info(option).long_name);
  const std::string_view near = nearest(name, names);
  return {fmt::format("unknown option '{}' of '{}'", name, command.name),
          near.empty() ? fmt::format("'help {}' lists its options", command.name)
                       : fmt::format("did you mean '{}'?", near)};
}

bool is_real(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0;
}

// What is wrong with a value, empty when it fits.
std::string value_error(const OptionInfo& option, std::string_view value) {
  const auto expected = [&](std::string_view what) {
    return fmt::format("{} expects {}, found '{}'", option.long_name, what, value);
  };
  switch (option.kind) {
    case OptionKind::Flag:
    case OptionKind::Text:
    case OptionKind::List:
      return "";
    case OptionKind::Count:
      if (value.empty() || value.size() > 19 ||
          !std::all_of(value.begin(), value.end(),
                       [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; })) {
        return expected("a whole number");
      }
      if (option.id == Option::Jobs && value.find_first_not_of('0') == std::string_view::npos) {
        return expected("at least 1");
      }
      return "";
    case OptionKind::Real:
      return is_real(value) ? "" : expected("a number");
    case OptionKind::Seconds:
      return is_real(value) && value.find_first_of("123456789") != std::string_view::npos
                 ? ""
                 : expected("a number of seconds above 0");
    case OptionKind::Size:
      return parse_size(value) ? "" : expected("a number of bytes such as 512M");
    case OptionKind::Choice: {
      std::string_view rest = option.argument;
      while (true) {
        const std::size_t bar = rest.find('|');
        if (rest.substr(0, bar) == value) return "";
        if (bar == std::string_view::npos) break;
        rest.remove_prefix(bar + 1);
      }
      std::string choices(option.argument);
      std::replace(choices.begin(), choices.end(), '|', ',');
      return expected("one of " + choices);
    }
  }
  return "";
}

// A word that begins with '-' and is no option: "-" and "-:3" are standard input, "-1" is the last
// phase.
bool is_operand(std::string_view word) {
  if (word.size() < 2 || word.front() != '-') return true;
  const std::string_view rest = word.substr(1, word.find(':') - 1);
  return std::all_of(rest.begin(), rest.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

// The option whose value the next word is: `--seed`, `-j`, and the last letter of `-qj`.
const OptionInfo* wants_next_word(const CommandInfo& command, std::string_view word) {
  if (is_operand(word) || word.find('=') != std::string_view::npos) return nullptr;
  const bool is_long = word.starts_with("--");
  for (std::size_t i = is_long ? word.size() - 1 : 1; i < word.size(); ++i) {
    for (const Option id : command.options) {
      const OptionInfo& option = info(id);
      const bool fits = is_long ? option.long_name == word : option.short_name == word[i];
      if (!fits || option.kind == OptionKind::Flag) continue;
      return i + 1 == word.size() ? &option : nullptr;  // -j4 has its value already
    }
  }
  return nullptr;
}

}  // namespace

Expected<ParsedCommand, UsageError> parse_command(const std::vector<std::string>& words,
                                                  bool in_repl) {
  if (words.empty()) return Unexpected{UsageError{"no command given", ""}};
  const CommandInfo* command = find_command(words.front(), in_repl);
  if (command == nullptr) return Unexpected{unknown_command(words.front(), in_repl)};

  ParsedCommand parsed;
  parsed.command = command;
  for (const std::string& word : words) {
    if (!parsed.text.empty()) parsed.text += ' ';
    parsed.text += shell_word(word);
  }

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<Option, CLI::Option*> handles;
  for (const Option id : command->options) {
    const OptionInfo& option = info(id);
    std::string name(option.long_name);
    if (option.short_name != 0) name = fmt::format("-{},{}", option.short_name, name);
    CLI::Option* handle =
        option.kind == OptionKind::Flag ? app.add_flag(name) : app.add_option(name);
    if (option.kind != OptionKind::Flag) {
      handle->expected(1, -1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->allow_extra_args(false);
    }
    handles[id] = handle;
  }
  // CLI11 sees options only, each value tied to its option: a value or an operand may begin with
  // '-'.
  std::vector<std::string> arguments;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      parsed.operands.insert(parsed.operands.end(),
                             words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    const OptionInfo* option = wants_next_word(*command, word);
    if (option != nullptr) {
      if (i + 1 == words.size() || words[i + 1].empty()) {
        return Unexpected{
            UsageError{fmt::format("{} needs a value ({})", word, option->argument), ""}};
      }
      if (!word.starts_with("--") && word.size() > 2) {
        arguments.push_back(word.substr(0, word.size() - 1));
      }
      arguments.push_back(fmt::format("{}={}", option->long_name, words[++i]));
    } else if (is_operand(word)) {
      parsed.operands.push_back(word);
    } else {
      arguments.push_back(word);
    }
  }
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ArgumentMismatch&) {
    return Unexpected{UsageError{"an option lacks its value, or a flag has one",
                                 fmt::format("'help {}' shows the usage", command->name)}};
  } catch (const CLI::Error& error) {
    return Unexpected{
        UsageError{error.what(), fmt::format("'help {}' shows the usage", command->name)}};
  }
  for (const auto& [id, handle] : handles) {
    if (handle->count() == 0) continue;
    const OptionInfo& option = info(id);
    std::vector<std::string> values = handle->results();
    for (const std::string& value : values) {
      std::string wrong = value_error(option, value);
      if (!wrong.empty()) return Unexpected{UsageError{std::move(wrong), ""}};
    }
    parsed.given[id] = std::move(values);
  }
  for (const std::string& word : app.remaining()) {
    return Unexpected{unknown_option(*command, word)};
  }
  return parsed;
}

}  // namespace tg
