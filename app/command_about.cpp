// help, completions, version, and the REPL's own commands about the session.
#include <fmt/format.h>

#include "app/help.h"
#include "app/repl.h"
#include "app/session.h"
#include "app/version.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/export/json.h"
#include "core/ir/op.h"

namespace tg {
namespace {

constexpr std::size_t kWidth = 80;

std::string passes_text(const Paint& paint) {
  Table table({"pass", "Thunder's", "what it does"});
  for (const PassInfo& pass : all_passes()) {
    table.add({std::string(pass.name), std::string(pass.thunder), std::string(pass.summary)});
  }
  return table.text(paint);
}

std::string pass_help(const PassInfo& pass) {
  std::string out = fmt::format("{}: {}\n", pass.name, pass.summary);
  if (!pass.thunder.empty()) out += fmt::format("\nReproduces Thunder's {}.\n", pass.thunder);
  if (pass.faithful)
    out += "It keeps Thunder's unsound corners: its result may compute something else.\n";
  if (!pass.idempotent) out += "Running it twice is not the same as running it once.\n";
  out += fmt::format("\n  thunderglass pass {} trace.txt --steps\n", pass.name);
  return out;
}

std::string facts_of(const OpInfo& op) {
  struct Fact {
    Trait trait;
    std::string_view text;
  };
  constexpr Fact kFacts[] = {
      {kElementwise, "elementwise"},
      {kView, "its result is a view: it shares the argument's storage"},
      {kMaybeView, "its result may be a view, depending on strides, dtype or flags"},
      {kThunderView, "Thunder counts it among operations that return views"},
      {kThunderMayView, "Thunder counts it among operations that may return views"},
      {kInPlace, "works in place"},
      {kCopyInto, "writes one tensor into another and returns the destination"},
      {kIdentity, "returns its arguments themselves"},
      {kRandom, "random"},
      {kHidesWrites, "writes arguments inside its sub-statements"},
      {kNoKernel, "cannot be run yet"},
  };
  std::string text;
  for (const Fact& fact : kFacts) {
    if (op.has(fact.trait)) text += fmt::format("  {}\n", fact.text);
  }
  if (op.twin != OpCode::Opaque)
    text += fmt::format("  its functional form is {}\n", info(op.twin).name);
  return text;
}

std::string op_help(const OpInfo& op) {
  std::string out = fmt::format("{}{}\n", op.name, op.schema);
  out += fmt::format("\nPrinted as: {}\n", wrap(op.spellings, kWidth - 12, 12));
  const std::string facts = facts_of(op);
  if (!facts.empty()) out += "\n" + facts;
  return out;
}

std::string ops_text(const Paint& paint) {
  Table table({"operation", "schema"});
  for (const OpInfo& op : all_ops()) {
    if (op.spellings.empty()) continue;
    table.add(
        {std::string(op.spellings.substr(0, op.spellings.find(' '))), std::string(op.schema)});
  }
  return table.text(paint);
}

const OpInfo* find_op(std::string_view word) {
  const OpCode code = op_of(word);
  if (code != OpCode::Opaque && code != OpCode::Fusion) return &info(code);
  for (const OpInfo& op : all_ops()) {
    if (op.code == OpCode::Opaque || op.code == OpCode::Fusion) continue;
    std::string_view spellings = op.spellings;
    while (!spellings.empty()) {
      const std::string_view spelling = spellings.substr(0, spellings.find(' '));
      if (base_name(spelling) == word) return &op;
      spellings.remove_prefix(std::min(spellings.size(), spelling.size() + 1));
    }
  }
  return nullptr;
}

std::string code_page(DiagnosticCode code) {
  return fmt::format("{}\n\n{}\n", code_text(code), wrap(code_help(code), kWidth, 0));
}

}  // namespace

CommandResult command_help(Call& call) {
  if (call.command.has(Option::Man)) {
    call.result(manual_page());
    return {};
  }
  if (call.command.has(Option::Markdown)) {
    call.result(markdown_commands());
    return {};
  }
  if (call.command.has(Option::ListPasses)) {
    call.result(passes_text(call.paint));
    return {};
  }
  if (call.command.has(Option::ListOps)) {
    call.result(ops_text(call.paint));
    return {};
  }
  const auto& operands = call.command.operands;
  const bool in_repl = call.session.interactive;
  if (operands.empty()) {
    call.result(overview(in_repl));
    return {};
  }
  const std::string& word = operands.back();  // also `help op add`, `help pass dce`
  const CommandInfo* command = find_command(word, in_repl);
  if (command == nullptr) command = find_command(word, !in_repl);
  if (command != nullptr && operands.size() == 1) {
    call.result(command_help(*command));
    return {};
  }
  if (const PassInfo* pass = find_pass(word)) {
    call.result(pass_help(*pass));
    return {};
  }
  for (const DiagnosticCode code : all_diagnostic_codes()) {
    if (code_text(code) != word) continue;
    call.result(code_page(code));
    return {};
  }
  if (const OpInfo* op = find_op(word)) {
    call.result(op_help(*op));
    return {};
  }
  std::vector<std::string_view> names = commands_beginning("", in_repl);
  for (const PassInfo& pass : all_passes()) names.push_back(pass.name);
  for (const DiagnosticCode code : all_diagnostic_codes()) names.push_back(code_text(code));
  const std::string_view near = nearest(word, names);
  call.fail(fmt::format("no command, pass, operation or code '{}'", word));
  if (!near.empty()) call.sink.note(fmt::format("did you mean '{}'?\n", near));
  return ExitCode::Usage;
}

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
    said += count_of(document->trace(0).bound_symbols.size(), "statement", "statements");
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
