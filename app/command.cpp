#include "app/command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "app/help.h"
#include "app/session.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/export/json.h"

namespace tg {
namespace {

constexpr OptionInfo kOptions[] = {
#define TG_OPTION(id, long_name, short_name, kind, argument, default_text, help) \
  {Option::id, long_name, short_name, OptionKind::kind, argument, default_text, help},
#include "app/commands.def"
};

struct OptionGroup {
  std::string_view name;
  std::string_view options;
};
constexpr OptionGroup kGroups[] = {
#define TG_OPTION_GROUP(name, options) {name, options},
#include "app/commands.def"
};

void append_options(std::string_view words, std::vector<Option>& out) {
  std::size_t begin = 0;
  while (begin < words.size()) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    const std::string_view word = words.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    if (word.front() == '@') {
      for (const OptionGroup& group : kGroups) {
        if (group.name == word.substr(1)) append_options(group.options, out);
      }
      continue;
    }
    const auto* found =
        std::find_if(std::begin(kOptions), std::end(kOptions),
                     [&](const auto& option) { return option.long_name.substr(2) == word; });
    TG_CHECK(found != std::end(kOptions));
    out.push_back(found->id);
  }
}

// Options that matter for the command first, those of every command last.
std::vector<Option> option_list(std::string_view words) {
  std::vector<Option> options;
  append_options(words, options);
  std::vector<Option> always;
  append_options("@always", always);
  std::stable_partition(options.begin(), options.end(), [&always](Option option) {
    return std::find(always.begin(), always.end(), option) == always.end();
  });
  return options;
}

const std::vector<CommandInfo>& table() {
  static const std::vector<CommandInfo> commands = {
#define TG_COMMAND(function, name, operands, where, options, summary, examples, details)           \
  {name,    operands,          Where::where, option_list(options), summary, split_lines(examples), \
   details, command_##function},
#include "app/commands.def"
  };
  return commands;
}

bool offered(const CommandInfo& command, bool in_repl) {
  return command.where == Where::Both || (command.where == Where::Repl) == in_repl;
}

const std::vector<std::string> kNoValues;

}  // namespace

bool CommandInfo::takes(Option option) const {
  return std::find(options.begin(), options.end(), option) != options.end();
}

std::span<const CommandInfo> all_commands() {
  return table();
}
const OptionInfo& info(Option option) {
  return kOptions[static_cast<std::size_t>(option)];
}
std::span<const OptionInfo> all_options() {
  return kOptions;
}

const CommandInfo* find_command(std::string_view name, bool in_repl) {
  for (const CommandInfo& command : table()) {
    if (command.name == name && offered(command, in_repl)) return &command;
  }
  if (!in_repl) return nullptr;
  const auto candidates = commands_beginning(name, in_repl);
  return candidates.size() == 1 ? find_command(candidates.front(), in_repl) : nullptr;
}

std::vector<std::string_view> commands_beginning(std::string_view prefix, bool in_repl) {
  std::vector<std::string_view> names;
  for (const CommandInfo& command : table()) {
    if (offered(command, in_repl) && command.name.starts_with(prefix))
      names.push_back(command.name);
  }
  return names;
}

std::string ParsedCommand::value(Option option) const {
  const auto& all = values(option);
  return all.empty() ? std::string(info(option).default_text) : all.back();
}

const std::vector<std::string>& ParsedCommand::values(Option option) const {
  const auto found = given.find(option);
  return found == given.end() ? kNoValues : found->second;
}

std::uint64_t ParsedCommand::count(Option option) const {
  return parse_size(value(option)).value_or(0);  // checked by parse_command
}

double ParsedCommand::real(Option option) const {
  const std::string digits = value(option);
  double number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.ends_with('B')) unit.remove_suffix(1);
  if (unit.empty()) return number;
  constexpr std::string_view kUnits = "kMGT";
  const std::size_t power = unit == "K" ? 0 : kUnits.find(unit);
  if (unit.size() != 1 || power == std::string_view::npos) return std::nullopt;
  for (std::size_t i = 0; i <= power; ++i) {
    if (number > UINT64_MAX / 1000) return std::nullopt;
    number *= 1000;
  }
  return number;
}

void Call::note(std::string_view text) {
  if (!command.has(Option::Quiet)) sink.note(text);
}

void Call::fail(std::string_view text) {
  failed_by.emplace_back(text);
  sink.note(fmt::format("{} {}\n", note_paint(Role::Bad, "thunderglass:"), text));
}

namespace {

// Results collected for -o, or passed on; notes pass through.
class OutputSink : public Sink {
 public:
  OutputSink(Sink& outer, bool keep) : outer_(outer), keep_(keep) {}
  void result(std::string_view text) override {
    any_ = any_ || !text.empty();
    if (keep_) {
      text_ += text;
    } else {
      outer_.result(text);
    }
  }
  void note(std::string_view text) override { outer_.note(text); }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool any() const { return any_; }

 private:
  Sink& outer_;
  bool keep_;
  bool any_ = false;
  std::string text_;
};

// What a command that stopped without a result says under --json.
Json failure_json(const Call& call, ExitCode exit) {
  Json json;
  json["schema"] = fmt::format("thunderglass.{}/1", call.command.command->name);
  json["exit"] = static_cast<int>(exit);
  json["diagnostics"] = Json::array();
  for (const Diagnostic& diagnostic : call.stopped_by) {
    json["diagnostics"].push_back(to_json(diagnostic));
  }
  for (const std::string& text : call.failed_by) {
    json["diagnostics"].push_back({{"code", nullptr}, {"severity", "error"}, {"message", text}});
  }
  return json;
}

CommandResult run_guarded(Call& call) {
  // Libraries throw; our own functions do not. This is the one catch around a command.
  try {
    return call.command.command->run(call);
  } catch (const std::bad_alloc&) {
    call.fail("out of memory");
    return ExitCode::NotEstablished;
  } catch (const std::exception& error) {
    call.fail(fmt::format("internal error: {}", error.what()));
    return ExitCode::Internal;
  }
}

}  // namespace

CommandResult execute(Session& session, const ParsedCommand& command, Sink& sink,
                      std::stop_token stop) {
  const std::string choice =
      command.has(Option::Color) ? command.value(Option::Color) : session.color;
  const bool color = wants_color(choice);
  if (command.has(Option::Help)) {
    sink.result(command_help(*command.command));
    return {};
  }
  const std::string output =
      command.command->takes(Option::Output) ? command.value(Option::Output) : std::string();
  // `render` writes pictures itself; everything else is text.
  const bool to_file = !output.empty() && output != "-" && !command.command->takes(Option::Format);
  OutputSink collected(sink, to_file);
  Call call{session,
            command,
            collected,
            stop,
            Paint(color && !to_file),
            Paint(wants_color(choice, Stream::Error)),
            {},
            {}};
  CommandResult result = run_guarded(call);
  if (stop.stop_requested()) result.exit = ExitCode::Interrupted;
  if (call.json() && !collected.any() && result.exit != ExitCode::Done) {
    call.result(dump(failure_json(call, result.exit)) + "\n");
  }
  // A command that failed to produce anything must not leave an empty file behind.
  if (to_file && !collected.text().empty()) {
    const auto written =
        write_file(output, collected.text(),
                   command.has(Option::Force) ? Overwrite::Allow : Overwrite::Refuse);
    if (!written) {
      result.exit = stop_with(call, written.error()).exit;
    }
  }
  if (result.next) session.push(result.next, command.text);
  return result;
}

CommandResult execute_words(Session& session, const std::vector<std::string>& words, Sink& sink,
                            std::stop_token stop) {
  const auto parsed = parse_command(words, session.interactive);
  if (!parsed) {
    const Paint paint(wants_color(session.color, Stream::Error));
    sink.note(fmt::format("{} {}\n", paint(Role::Bad, "thunderglass:"), parsed.error().message));
    if (!parsed.error().hint.empty()) sink.note(parsed.error().hint + "\n");
    return ExitCode::Usage;
  }
  return execute(session, *parsed, sink, stop);
}

}  // namespace tg
