// Command: one row of commands.def, and one line of the user parsed against it. Command line, REPL
// and scripts go through execute().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/output.h"
#include "core/base/diagnostic.h"

namespace tg {

// Documented in the manual page; scripts rely on them.
enum class ExitCode : int {
  Done = 0,
  Finding = 1,  // the answer is "no": a difference, an avoidable copy, a failed assertion
  Usage = 2,
  Unreadable = 3,  // a file cannot be read, parsed or written
  RunFailed = 4,
  NotEstablished = 5,  // out of time or memory, or parts that cannot run
  Internal = 70,
  Interrupted = 130,
};

enum class Option : std::uint8_t {
#define TG_OPTION(id, long_name, short_name, kind, argument, default_text, help) id,
#include "app/commands.def"
};

enum class OptionKind : std::uint8_t { Flag, Text, List, Count, Real, Size, Seconds, Choice };

struct OptionInfo {
  Option id;
  std::string_view long_name;  // "--seed"
  char short_name;             // 0: none
  OptionKind kind;
  std::string_view argument;  // "N"; of a Choice "auto|always|never"
  std::string_view default_text;
  std::string_view help;
};

enum class Where : std::uint8_t { Both, CommandLine, Repl };

struct Call;
struct CommandResult;

struct CommandInfo {
  std::string_view name;
  std::string_view operands;
  Where where;
  std::vector<Option> options;  // in help order
  std::string_view summary;
  std::vector<std::string_view> examples;
  std::string_view details;
  CommandResult (*run)(Call&);

  [[nodiscard]] bool takes(Option option) const;
};

std::span<const CommandInfo> all_commands();
const OptionInfo& info(Option option);
std::span<const OptionInfo> all_options();
// By name; in the REPL (`in_repl`) also by an unambiguous beginning. Null if unknown or ambiguous.
const CommandInfo* find_command(std::string_view name, bool in_repl);
// The names that a beginning could mean, for messages.
std::vector<std::string_view> commands_beginning(std::string_view prefix, bool in_repl);

// A command with its operands and options, all checked against the table.
struct ParsedCommand {
  const CommandInfo* command = nullptr;
  std::vector<std::string> operands;
  std::map<Option, std::vector<std::string>> given;
  std::string text;  // as it was typed

  [[nodiscard]] bool has(Option option) const { return given.contains(option); }
  // The last value given, else the table's default.
  [[nodiscard]] std::string value(Option option) const;
  [[nodiscard]] const std::vector<std::string>& values(Option option) const;
  [[nodiscard]] std::uint64_t count(Option option) const;  // Count and Size
  [[nodiscard]] double real(Option option) const;          // Real and Seconds
};

// A usage error in one or two sentences, ready to be shown.
struct UsageError {
  std::string message;  // "unknown option '--sed' of 'run'"
  std::string hint;     // "did you mean '--seed'?"
};

// The first word names the command; options and operands may mix, `--` ends options.
Expected<ParsedCommand, UsageError> parse_command(const std::vector<std::string>& words,
                                                  bool in_repl);

// "512M", "4G", "1000": powers of 1000 (k, M, G, T). Empty when it is no size.
std::optional<std::uint64_t> parse_size(std::string_view text);

// ---- carrying out

class Session;
struct Document;

struct CommandResult {
  // NOLINTNEXTLINE(google-explicit-constructor): `return ExitCode::Usage;` is the point.
  CommandResult(ExitCode code = ExitCode::Done, std::shared_ptr<const Document> document = nullptr)
      : exit(code), next(std::move(document)) {}

  ExitCode exit;
  std::shared_ptr<const Document> next;  // the REPL's new document; null: unchanged
  bool leave = false;                    // quit
  bool wants_text = false;               // `paste`: the lines that follow, up to a dot
};

// What a command gets. The result goes to `sink.result`, everything else to `sink.note`.
struct Call {
  Session& session;
  const ParsedCommand& command;
  Sink& sink;
  std::stop_token stop;
  Paint paint{false};                  // for the result
  Paint note_paint{false};             // for notes
  std::vector<Diagnostic> stopped_by;  // what stop_with() showed
  std::vector<std::string> failed_by;  // what fail() showed

  [[nodiscard]] bool json() const { return command.has(Option::Json); }
  void result(std::string_view text) { sink.result(text); }
  // Left out under --quiet.
  void note(std::string_view text);
  // Shown always: "thunderglass: TEXT".
  void fail(std::string_view text);
};

#define TG_COMMAND(function, name, operands, where, options, summary, examples, details) \
  CommandResult command_##function(Call& call);
#include "app/commands.def"

// Carries the command out, writes -o files, and pushes the new document. Never throws.
CommandResult execute(Session& session, const ParsedCommand& command, Sink& sink,
                      std::stop_token stop = {});

// Parses and executes; a usage error is shown and is exit code 2.
CommandResult execute_words(Session& session, const std::vector<std::string>& words, Sink& sink,
                            std::stop_token stop = {});

}  // namespace tg
