// completions, version, and the REPL's own commands about the session.
#include <fmt/format.h>

#include "app/help.h"
#include "app/program_view.h"
#include "app/repl.h"
#include "app/session.h"
#include "app/version.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/export/json.h"

namespace tg {

CommandResult command_completions(Call& call) {
  const auto& operands = call.command.operands;
  const std::string script = operands.size() == 1 ? completion_script(operands.front()) : "";
  if (script.empty()) {
    call.fail("completions needs the name of a shell: bash, zsh or fish");
    return ExitCode::Usage;
  }
  call.result(script);
  return {};
}

CommandResult command_version(Call& call) {
  if (call.json()) {
    Json json;
    json["schema"] = "thunderglass.version/1";
    json["version"] = kVersion;
    call.result(dump(json) + "\n");
  } else {
    call.result(fmt::format("thunderglass {}\n", kVersion));
  }
  return {};
}

CommandResult command_repl(Call& call) {
  const auto& operands = call.command.operands;
  if (operands.size() > 1) {
    call.fail("repl takes one FILE");
    return ExitCode::Usage;
  }
  if (call.command.has(Option::Color)) call.session.color = call.command.value(Option::Color);
  ReplOptions options;
  if (!operands.empty()) options.file = operands.front();
  options.keep_going = call.command.has(Option::KeepGoing);
  options.echo = call.command.has(Option::Echo);
  return run_repl(call.session, call.sink, options);
}

CommandResult command_load(Call& call) {
  if (call.command.operands.size() != 1) {
    call.fail("load needs a FILE");
    return ExitCode::Usage;
  }
  const auto file = call.session.file(call.command.operands.front(), true);
  if (!file) return stop_with(call, file.error());
  const bool errors = show_reading_findings(call, **file);
  if ((*file)->phases.empty()) {
    if (!errors) call.fail("no trace found");
    return ExitCode::Unreadable;
  }
  const auto document = document_of(*file);
  std::string said = fmt::format("{}: ", (*file)->name);
  if (document->phases.size() == 1) {
    said += count_of(count_phase(document->trace(0)).statements, "statement", "statements");
  } else {
    said += fmt::format("{} programs; current is {} {}", document->phases.size(), document->current,
                        document->phases[document->current]->phase.label);
  }
  call.result(said + "\n");
  return {errors ? ExitCode::Unreadable : ExitCode::Done, document};
}

CommandResult command_undo(Call& call) {
  const std::string undone = call.session.undo();
  if (undone.empty()) {
    call.result("nothing to undo\n");
    return {};
  }
  call.result(fmt::format("undone: {}\n", undone));
  return {};
}

CommandResult command_history(Call& call) {
  for (const std::string& text : call.session.commands()) call.result(text + "\n");
  return {};
}

CommandResult command_quit(Call&) {
  CommandResult result;
  result.leave = true;
  return result;
}

CommandResult command_source(Call& call) {
  if (call.command.operands.size() != 1) {
    call.fail("source needs a FILE");
    return ExitCode::Usage;
  }
  constexpr int kDeepestSource = 16;
  if (call.session.source_depth >= kDeepestSource) {
    call.fail(fmt::format("source goes more than {} files deep", kDeepestSource));
    return ExitCode::Usage;
  }
  const std::string& path = call.command.operands.front();
  const auto text = read_file(path);
  if (!text) return stop_with(call, text.error());
  ++call.session.source_depth;
  Repl script(call.session, call.sink);
  std::uint32_t number = 0;
  for (const std::string_view line : split_lines(*text)) {
    ++number;
    if (call.command.has(Option::Echo)) call.result(fmt::format("> {}\n", line));
    script.feed(line, call.stop);
    if (script.left()) break;
    if (stops_script(script.last_exit()) && !call.command.has(Option::KeepGoing)) {
      call.sink.note(fmt::format("{}:{}: the script stops here\n", path, number));
      break;
    }
  }
  script.end(call.stop);
  --call.session.source_depth;
  CommandResult result = script.worst_exit();
  result.leave = script.left();
  return result;
}

}  // namespace tg
