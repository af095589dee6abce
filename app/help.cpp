#include "app/help.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace tg {
namespace {

constexpr std::string_view kProgram = "thunderglass";
constexpr std::size_t kWidth = 80;

struct ExitRow {
  ExitCode code;
  std::string_view meaning;
};
constexpr ExitRow kExitRows[] = {
    {ExitCode::Done, "done, no finding"},
    {ExitCode::Finding, "a finding: a difference, an avoidable copy, a false --expect"},
    {ExitCode::Usage, "the command line is wrong: an option, an address, an edit"},
    {ExitCode::Unreadable,
     "a file cannot be read, parsed or written; --alias or --inputs do not fit"},
    {ExitCode::RunFailed, "a program, or Graphviz, failed to run"},
    {ExitCode::NotEstablished, "not established: out of time or memory, or something cannot run"},
    {ExitCode::Internal, "a mistake in thunderglass itself"},
    {ExitCode::Interrupted, "interrupted"},
};

struct CommandSection {
  std::string_view title;
  std::string_view first;  // the command that it begins with
};
constexpr CommandSection kSections[] = {
    {"The whole job", "check"}, {"Looking", "info"}, {"Passes", "functionalize"},
    {"Running", "run"},         {"Pictures", "dot"}, {"In the REPL", "load"},
    {"About", "repl"},
};

std::string option_words(const OptionInfo& option) {
  std::string words = option.short_name == 0
                          ? fmt::format("    {}", option.long_name)
                          : fmt::format("-{}, {}", option.short_name, option.long_name);
  if (option.kind != OptionKind::Flag) words += fmt::format(" {}", option.argument);
  return words;
}

std::string option_help(const OptionInfo& option) {
  std::string help(option.help);
  if (!option.default_text.empty()) help += fmt::format(" ({})", option.default_text);
  return help;
}

std::string invocation(const CommandInfo& command, std::string_view example) {
  return command.where == Where::Repl ? std::string(example)
                                      : fmt::format("{} {}", kProgram, example);
}

std::string usage(const CommandInfo& command) {
  std::string text = invocation(command, command.name);
  text += " [OPTION...]";
  if (!command.operands.empty()) text += fmt::format(" {}", command.operands);
  return text;
}

// A backslash and a leading dot or quote mean something to roff.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string_view first_spelling(const OpInfo& op) {
  return op.spellings.empty() ? std::string_view(op.name)
                              : std::string_view(op.spellings).substr(0, op.spellings.find(' '));
}

std::string exit_codes_text(std::size_t indent) {
  std::string out;
  for (const ExitRow& row : kExitRows) {
    out += fmt::format("{:{}}{:>3}  {}\n", "", indent, static_cast<int>(row.code), row.meaning);
  }
  return out;
}

std::string command_help(const CommandInfo& command) {
  std::string out = fmt::format("{}: {}\n", command.name, command.summary);
  out += "\nExamples:\n";
  for (const std::string_view example : command.examples) {
    out += fmt::format("  {}\n", invocation(command, example));
  }
  out += fmt::format("\nUsage: {}\n", wrap(usage(command), kWidth - 7, 7));
  if (!command.details.empty()) out += fmt::format("\n{}\n", wrap(command.details, kWidth, 0));
  out += "\nOptions:\n";
  constexpr std::size_t kHelpColumn = 28;
  for (const Option id : command.options) {
    const OptionInfo& option = info(id);
    const std::string words = "  " + option_words(option);
    const std::string help = std::string(kHelpColumn, ' ') +
                             wrap(option_help(option), kWidth - kHelpColumn, kHelpColumn);
    if (words.size() + 2 > kHelpColumn) {
      out += words + "\n" + help + "\n";
    } else {
      out += words + help.substr(words.size()) + "\n";
    }
  }
  return out;
}

std::string overview(bool in_repl) {
  std::string out;
  if (!in_repl) {
    out +=
        "thunderglass shows what a copy really does in compiled PyTorch programs:\n"
        "what shares storage with what, which copies are needed, which pass broke it.\n\n"
        "  thunderglass check trace.txt     the whole job on one file\n"
        "  thunderglass repl trace.txt      step through it\n"
        "  thunderglass help COMMAND        examples and options\n";
  }
  for (const CommandInfo& command : all_commands()) {
    for (const CommandSection& section : kSections) {
      if (section.first == command.name && (in_repl || command.where != Where::Repl)) {
        out += fmt::format("{}{}\n", out.empty() ? "" : "\n", section.title);
      }
    }
    const bool shown = command.where == Where::Both || (command.where == Where::Repl) == in_repl;
    if (shown) out += fmt::format("  {:<14} {}\n", command.name, command.summary);
  }
  if (!in_repl) {
    out +=
        "\nAn ADDRESS is FILE[:phase[:name-or-line]]: trace.txt, trace.txt:-1, trace.txt:2:t7,\n"
        "trace.txt::31, trace.txt:-1:nvFusion0. A FILE may be -, .gz, .zst, an issue, a log.\n"
        "Without a phase it is the first computation, with a line the program it is in.\n"
        "\nExit codes\n" +
        exit_codes_text(2);
  } else {
    out +=
        "\nThe loaded file is implied: show t7, show :2:31, run :-1. `;` separates commands,\n"
        "# begins a comment, a unique beginning of a command will do, an empty line\n"
        "repeats a step.\n";
  }
  return out;
}

std::string manual_page() {
  std::string out =
      ".TH THUNDERGLASS 1 \"\" \"thunderglass\" \"User Commands\"\n"
      ".SH NAME\nthunderglass \\- shows what a copy really does in compiled PyTorch programs\n"
      ".SH SYNOPSIS\n.B thunderglass\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIADDRESS\\fR...]\n"
      ".SH DESCRIPTION\n";
  out += roff(
      "Thunderglass reads the traces that lightning-thunder prints, tells which values share "
      "storage, which "
      "copies are needed and why, steps through functionalization, runs every phase on the CPU and "
      "compares "
      "values, final arguments and aliases.");
  out += "\n.PP\n";
  out += roff(
      "An ADDRESS is FILE[:phase[:name-or-line]]. A phase is a number (-1 is the last) or the "
      "beginning of its "
      "label. A FILE may be - for standard input, compressed (.gz, .zst), or any text that "
      "contains traces: an "
      "issue, a log, a mail, a notebook. Without a phase the first computation of the file is "
      "meant, in "
      "the REPL the current program; a line of the file means the program that it is in. Commands "
      "on whole "
      "files (check, report, info, compare) take FILE:PHASE as the file from that phase on, info "
      "as that "
      "phase alone.");
  out += "\n.SH COMMANDS\n";
  for (const CommandInfo& command : all_commands()) {
    out += fmt::format(".SS {}\n{}.\n", roff(fmt::format("{} {}", command.name, command.operands)),
                       roff(command.summary));
    if (command.where == Where::Repl) out += "Only in the REPL.\n";
    if (!command.details.empty()) out += fmt::format(".PP\n{}\n", roff(command.details));
    for (const Option id : command.options) {
      const OptionInfo& option = info(id);
      if (id == Option::Help || id == Option::Color || id == Option::Quiet || id == Option::Verbose)
        continue;
      out += fmt::format(".TP\n.B {}\n{}\n", roff(trim(option_words(option))),
                         roff(option_help(option)));
    }
    out += ".PP\nExamples:\n.nf\n";
    for (const std::string_view example : command.examples) {
      out += fmt::format("  {}\n", roff(invocation(command, example)));
    }
    out += ".fi\n";
  }
  out += ".SH OPTIONS OF EVERY COMMAND\n";
  for (const Option id : {Option::Help, Option::Color, Option::Quiet, Option::Verbose}) {
    out += fmt::format(".TP\n.B {}\n{}\n", roff(trim(option_words(info(id)))),
                       roff(option_help(info(id))));
  }
  out += ".SH EXIT STATUS\n";
  for (const ExitRow& row : kExitRows) {
    out += fmt::format(".TP\n.B {}\n{}\n", static_cast<int>(row.code), roff(row.meaning));
  }
  out += ".PP\nWith many files the exit status is the largest of the files' codes.\n";
  out +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR, CLICOLOR_FORCE, TERM\ndecide about colours when "
      "\\-\\-color is auto.\n"
      ".TP\n.B XDG_STATE_HOME\nthe REPL's history lies in thunderglass/history below it "
      "(~/.local/state by "
      "default).\n";
  return out;
}

std::string completion_script(std::string_view shell) {
  std::string names;
  std::string cases;
  for (const CommandInfo& command : all_commands()) {
    if (command.where == Where::Repl) continue;
    if (!names.empty()) names += ' ';
    names += command.name;
  }
  if (shell == "bash") {
    for (const CommandInfo& command : all_commands()) {
      if (command.where == Where::Repl) continue;
      std::string options;
      for (const Option id : command.options) options += fmt::format(" {}", info(id).long_name);
      cases += fmt::format("    {}) options=\"{}\" ;;\n", command.name, options.substr(1));
    }
    return fmt::format(
        "# bash completion of thunderglass\n"
        "_thunderglass() {{\n"
        "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" options=\"\"\n"
        "  COMPREPLY=()\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "    COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n"
        "    return\n"
        "  fi\n"
        "  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n"
        "  case \"$word\" in\n"
        "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
        "    *) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
        "  esac\n"
        "}}\n"
        "complete -F _thunderglass thunderglass\n",
        names, cases);
  }
  const auto quoted = [](std::string_view text, std::string_view special) {
    std::string out;
    for (const char c : text) {
      if (special.find(c) != std::string_view::npos) out += c == '\'' ? "'\\'" : "\\";
      out += c;
    }
    return out;
  };
  if (shell == "zsh") {
    std::string list;
    for (const CommandInfo& command : all_commands()) {
      if (command.where == Where::Repl) continue;
      list += fmt::format("    '{}:{}'\n", command.name, quoted(command.summary, "'"));
      std::string arguments;
      for (const Option id : command.options) {
        const OptionInfo& option = info(id);
        arguments +=
            fmt::format(" \\\n        '{}{}[{}]{}'", option.long_name,
                        option.kind == OptionKind::Flag ? "" : "=", quoted(option.help, "'[]:"),
                        option.kind == OptionKind::Flag ? "" : ":value:");
      }
      cases += fmt::format("      {}) _arguments{} '*:file:_files' ;;\n", command.name, arguments);
    }
    return fmt::format(
        "#compdef thunderglass\n"
        "_thunderglass() {{\n"
        "  local -a commands=(\n{}  )\n"
        "  if (( CURRENT == 2 )); then\n"
        "    _describe command commands\n"
        "  else\n"
        "    local verb=$words[2]\n"
        "    shift words; (( CURRENT-- ))\n"
        "    case $verb in\n{}    esac\n"
        "  fi\n"
        "}}\n"
        "if [ \"$funcstack[1]\" = _thunderglass ]; then _thunderglass \"$@\"; else compdef "
        "_thunderglass "
        "thunderglass; fi\n",
        list, cases);
  }
  if (shell == "fish") {
    std::string out = "# fish completion of thunderglass\n";
    for (const CommandInfo& command : all_commands()) {
      if (command.where == Where::Repl) continue;
      out += fmt::format("complete -c thunderglass -n __fish_use_subcommand -a {} -d '{}'\n",
                         command.name, quoted(command.summary, "'\\"));
      for (const Option id : command.options) {
        const OptionInfo& option = info(id);
        out += fmt::format(
            "complete -c thunderglass -n '__fish_seen_subcommand_from {}' -l {}{}{} -d '{}'\n",
            command.name, option.long_name.substr(2),
            option.short_name == 0 ? "" : fmt::format(" -s {}", option.short_name),
            option.kind == OptionKind::Flag ? "" : " -r", quoted(option.help, "'\\"));
      }
    }
    return out;
  }
  return {};
}

std::string markdown_commands() {
  std::string out = "| command | what it does |\n|---|---|\n";
  for (const CommandInfo& command : all_commands()) {
    std::string operands(command.operands);
    std::string name =
        operands.empty() ? std::string(command.name) : fmt::format("{} {}", command.name, operands);
    std::string escaped;
    for (const char c : name) {
      if (c == '|') escaped += '\\';
      escaped += c;
    }
    out += fmt::format("| `{}` | {}{} |\n", escaped, command.summary,
                       command.where == Where::Repl ? " (REPL)" : "");
  }
  return out;
}

}  // namespace tg
