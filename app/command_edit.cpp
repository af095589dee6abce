// try: what if the program were a little different?
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "app/compare_text.h"
#include "app/pass_run.h"
#include "app/program_view.h"
#include "app/run_options.h"
#include "app/session.h"
#include "core/base/text.h"
#include "core/check/check.h"
#include "core/edit/edit.h"
#include "core/edit/move.h"
#include "core/export/json.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {
namespace {

struct TryOperands {
  std::vector<std::string> edits;
  std::string address;  // empty: the document
};

// On the command line the address comes last, or first; in the REPL it may be missing.
TryOperands split_operands(Call& call) {
  TryOperands split;
  split.edits = call.command.operands;
  const auto is_edit = [](const std::string& word) { return word.find(' ') != std::string::npos; };
  if (split.edits.size() > 1 && !is_edit(split.edits.back())) {
    split.address = split.edits.back();
    split.edits.pop_back();
  } else if (split.edits.size() > 1 && !is_edit(split.edits.front())) {
    split.address = split.edits.front();
    split.edits.erase(split.edits.begin());
  }
  // In the REPL quotes may be left out: try drop line 7
  if (call.session.interactive && !split.edits.empty() &&
      std::none_of(call.command.operands.begin(), call.command.operands.end(), is_edit)) {
    std::string joined;
    for (const std::string& word : call.command.operands)
      joined += (joined.empty() ? "" : " ") + word;
    return {{joined}, ""};
  }
  return split;
}

// The first line that an edit names; 0 if none does.
std::uint32_t first_line(const std::vector<ProgramEdit>& edits) {
  for (const ProgramEdit& edit : edits) {
    if (edit.line != 0) return edit.line;
    if (edit.anchor != 0) return edit.anchor;
  }
  return 0;
}

LineIndex line_index(const ProgramView& view) {
  return [&view](std::uint32_t line) -> StatementId {
    const auto statement = statement_at(view.lines(), line);
    return statement ? *statement : kNoStatement;
  };
}

// What is wrong with the edited program and was not wrong before, on the edited program's own text:
// a caret in the file would point at lines that nobody touched.
struct EditedText {
  TraceFile file;
  std::vector<Diagnostic> wrong;
};

EditedText edited_text(const Trace& before, const Trace& after) {
  EditedText edited;
  const TraceFile old = parse_trace_file("", print(before));
  edited.file = parse_trace_file("edited program", print(after));
  for (const Diagnostic& diagnostic : edited.file.diagnostics) {
    if (diagnostic.severity == Severity::Note) continue;
    const bool known =
        std::any_of(old.diagnostics.begin(), old.diagnostics.end(), [&](const Diagnostic& other) {
          return other.code == diagnostic.code && other.message == diagnostic.message;
        });
    if (!known) edited.wrong.push_back(diagnostic);
  }
  return edited;
}

// The text of an edited program is nowhere to be seen, so its lines are shown and not counted.
std::string in_edited_program(const Diagnostic& diagnostic, std::string_view text,
                              const Paint& paint) {
  const auto lines = split_lines(text);
  const auto statement = [&](const SourceRange& at) {
    return at.line == 0 || at.line > lines.size() ? std::string()
                                                  : fmt::format("  {}\n", trim(lines[at.line - 1]));
  };
  const Role role = diagnostic.severity == Severity::Error ? Role::Bad : Role::Warning;
  std::string out =
      fmt::format("{} in the edited program: {} [{}]\n{}",
                  paint(role, std::string(severity_text(diagnostic.severity)) + ":"),
                  diagnostic.message, code_text(diagnostic.code), statement(diagnostic.at));
  if (!diagnostic.hint.empty()) out += fmt::format("  hint: {}\n", diagnostic.hint);
  for (const Note& note : diagnostic.notes) {
    out += fmt::format("  note: {}\n{}", note.message, statement(note.at));
  }
  return with_short_lines(out);
}

// An edit that names a line without a statement: where the next one stands.
Diagnostic with_near_line(Diagnostic diagnostic, const ProgramView& view,
                          const std::vector<ProgramEdit>& edits) {
  if (!diagnostic.hint.empty()) return diagnostic;
  for (const ProgramEdit& edit : edits) {
    for (const std::uint32_t line : {edit.line, edit.anchor}) {
      if (line == 0 || statement_at(view.lines(), line)) continue;
      const auto next =
          std::find_if(view.lines().begin(), view.lines().end(), [line](const ListedLine& listed) {
            return listed.kind == LineKind::Statement && listed.number > line;
          });
      if (next != view.lines().end()) {
        diagnostic.hint =
            fmt::format("the next statement stands on line {}: {}", next->number, trim(next->text));
        return diagnostic;
      }
    }
  }
  return diagnostic;
}

// "moves line 14": the first and the last place, with what stands in the way.
std::optional<std::uint32_t> moves_line(std::string_view edit) {
  constexpr std::string_view kWord = "moves line ";
  if (!edit.starts_with(kWord)) return std::nullopt;
  const std::string_view digits = edit.substr(kWord.size());
  std::uint32_t line = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return line;
}

struct Compared {
  Comparison comparison;
  std::optional<RunError> error;  // of the side that could not run
};

Compared run_and_compare(Call& call, const Trace& left, const Trace& right, const RunInputs& inputs,
                         const CompareOptions& options) {
  const RunLimits limits = limits_of(call.command);
  const auto first = run(left, inputs, limits, nullptr, call.stop);
  RunInputs renamed = inputs;
  for (std::size_t i = 0; i < renamed.arguments.size() && i < right.parameters.size(); ++i) {
    renamed.arguments[i].name = right.parameters[i].name;
  }
  auto second = run(right, left.parameters.size() == right.parameters.size() ? renamed : inputs,
                    limits, nullptr, call.stop);
  if (!first || !second) {
    return {compare_raised(first, second), first ? second.error() : first.error()};
  }
  for (std::size_t i = 0; i < second->final_arguments.size() && i < first->final_arguments.size();
       ++i) {
    second->final_arguments[i].name = first->final_arguments[i].name;
  }
  return {compare(*first, *second, options), std::nullopt};
}

// The trace with one statement moved to stand before statement `before` (an index of the old
// trace).
Trace moved(const Trace& trace, std::uint32_t statement, std::uint32_t before) {
  Trace after = trace;
  auto& list = after.bound_symbols;
  const BoundSymbolRef symbol = list[statement];
  if (before > statement) {
    list.insert(list.begin() + before, symbol);
    list.erase(list.begin() + statement);
  } else {
    list.erase(list.begin() + statement);
    list.insert(list.begin() + before, symbol);
  }
  return after;
}

CommandResult show_moves(Call& call, const ProgramView& view, std::uint32_t line,
                         const RunInputs* inputs, const CompareOptions& options) {
  const auto index = statement_at(view.lines(), line);
  if (!index) {
    call.fail(fmt::format("line {} holds no statement", line));
    return ExitCode::Usage;
  }
  const MoveRange range = legal_moves(view.trace(), view.def_use(), view.aliases(), *index);
  // A position is named by the statement that it comes after.
  const auto first = range.earliest;
  const auto last = range.latest;
  if (call.json()) {
    Json json;
    json["schema"] = "thunderglass.moves/1";
    json["line"] = line;
    json["statement"] = *index;
    json["earliest"] = first;
    json["latest"] = last;
    const auto obstacle = [](const std::optional<MoveObstacle>& blocked) {
      return blocked ? Json{{"statement", blocked->statement}, {"reason", blocked->reason}}
                     : Json(nullptr);
    };
    json["above"] = obstacle(range.above);
    json["below"] = obstacle(range.below);
    call.result(dump(json) + "\n");
    return {};
  }
  const std::string text = one_line(view.statement(*index));
  call.result(fmt::format("line {} may stand {}: {}\n", line,
                          first == last ? "only where it is"
                                        : fmt::format("anywhere from {} to {}",
                                                      view.line_text(first), view.line_text(last)),
                          text));
  Table table;
  constexpr std::uint32_t kMostShown = 40;
  const std::uint32_t begin = first > 0 ? first - 1 : first;
  const std::uint32_t end = std::min<std::uint32_t>(
      last + 1, static_cast<std::uint32_t>(view.trace().bound_symbols.size()) - 1);
  std::uint32_t shown = 0;
  for (std::uint32_t other = begin; other <= end && shown < kMostShown; ++other, ++shown) {
    if (other == *index) {
      table.add({view.line_text(other), "here", text});
      continue;
    }
    const auto reason = conflict(view.trace(), view.def_use(), view.aliases(), *index, other);
    const std::string side = other < *index ? "before " : "after ";
    std::string ran;
    if (inputs != nullptr) {
      const Trace after = moved(view.trace(), *index, other < *index ? other : other + 1);
      const Comparison comparison =
          run_and_compare(call, view.trace(), after, *inputs, options).comparison;
      ran = comparison.verdict == VerdictKind::Same ? "ran: same"
            : comparison.verdict == VerdictKind::Different
                ? fmt::format("ran: {}", comparison.differences.empty()
                                             ? "different"
                                             : comparison.differences.front().message)
                : "";
    }
    table.add({side + view.line_text(other),
               reason ? call.paint(Role::Bad, "no") : call.paint(Role::Good, "yes"),
               reason.value_or(""), ran});
  }
  call.result(table.text(call.paint, 2));
  return {};
}

}  // namespace

CommandResult command_try_edit(Call& call) {
  const TryOperands operands = split_operands(call);
  if (operands.edits.empty()) {
    call.fail("try needs an edit");
    call.sink.note("for example: try 'drop line 7' trace.txt\n");
    return ExitCode::Usage;
  }
  std::vector<ProgramEdit> edits;
  std::optional<std::uint32_t> asked_line;
  for (const std::string& text : operands.edits) {
    if (operands.edits.size() == 1) asked_line = moves_line(text);
    if (asked_line) break;
    auto edit = parse_edit(text);
    if (!edit) return stop_with(call, edit.error());
    edits.push_back(std::move(*edit));
  }
  auto target = resolve_program(call, operands.address.empty() ? ":" : operands.address);
  if (!target) return stop_with(call, target.error());
  // Lines are lines of the file: they tell which of its programs is meant.
  const std::uint32_t line = asked_line ? *asked_line : first_line(edits);
  if (!target->names_phase && !target->region && target->from_file() && line != 0) {
    if (const auto phase = phase_with_line(*target->document, line)) target->phase = *phase;
  }
  const auto options = compare_options_of(call.command);
  if (!options) {
    call.fail(options.error());
    return ExitCode::Usage;
  }
  const auto facts = alias_facts(*target, call.command.values(Option::Alias));
  if (!facts) return stop_with(call, facts.error());
  const ProgramView view(*target, *facts);
  const auto inputs = inputs_of(call.command, view.target());
  if (asked_line) return show_moves(call, view, *asked_line, inputs ? &*inputs : nullptr, *options);

  const auto edited = apply_edits(view.trace(), edits, line_index(view));
  if (!edited) return stop_with(call, with_near_line(edited.error(), view, edits));
  const EditedText text_after = edited_text(view.trace(), edited->after);
  for (const Diagnostic& diagnostic : text_after.wrong) {
    call.sink.note(in_edited_program(diagnostic, text_after.file.text, call.note_paint));
  }
  if (!inputs) return stop_with(call, inputs.error());
  // The edited program against the unedited one, or against the one that it should equal.
  std::optional<Target> reference;
  if (call.command.has(Option::Against)) {
    auto against = resolve_program(call, call.command.value(Option::Against));
    if (!against) return stop_with(call, against.error());
    reference = std::move(*against);
  }
  const std::string left = reference ? reference->label() : "the program";
  const auto [comparison, error] = run_and_compare(
      call, reference ? reference->trace() : view.trace(), edited->after, *inputs, *options);

  if (call.json()) {
    Json json = comparison_json(comparison);
    json["schema"] = "thunderglass.try/1";
    json["seed"] = inputs->seed;
    json["steps"] = steps_json("try", edited->steps)["steps"];
    json["diagnostics"] = Json::array();
    for (const Diagnostic& diagnostic : text_after.wrong)
      json["diagnostics"].push_back(to_json(diagnostic));
    json["text"] = print(edited->after);
    call.result(dump(json) + "\n");
  } else if (call.command.has(Option::Output) && call.command.value(Option::Output) != "-") {
    std::string text = print(edited->after);
    if (!text.ends_with('\n')) text += '\n';
    call.result(text);
    call.note(comparison_text(comparison, left, "the edited one", inputs->seed, call.note_paint));
  } else {
    call.result(comparison_text(comparison, left, "the edited one", inputs->seed, call.paint));
    for (const Step& step : edited->steps)
      call.result(with_short_lines(fmt::format("  {}\n", step.reason)));
  }
  CommandResult result = comparison_exit(comparison, error);
  if (call.session.interactive) {
    DocumentPhase made;
    made.phase.trace = edited->after;
    made.phase.kind = target->whole_phase().kind;
    made.phase.label = label_of(edited->after, "edited");
    made.from_file = false;
    made.made_by = "try";
    // A region's edits are compared with the region, which is no phase.
    if (!target->region) made.made_from = target->phase;
    result.next = with_phase(*target->document, std::move(made));
    call.result(
        fmt::format("phase {} is the edited program; undo takes it back\n", result.next->current));
  }
  return result;
}

}  // namespace tg
