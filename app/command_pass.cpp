// pass, functionalize, and moving through their steps.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/address.h"
#include "app/help.h"
#include "app/pass_run.h"
#include "app/session.h"
#include "core/base/shell_word.h"
#include "core/base/text.h"
#include "core/export/json.h"
#include "core/export/trace_diff.h"
#include "core/pass/pipeline.h"
#include "core/text/printer.h"

namespace tg {
namespace {

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    // 'thunder 2024-12' means thunder-2024-12.
    std::string joined(name);
    std::replace(joined.begin(), joined.end(), ' ', '-');
    const std::vector<std::string_view> pipeline = named_pipeline(joined);
    names.insert(names.end(), pipeline.begin(), pipeline.end());
    if (comma > 0 && pipeline.empty()) names.emplace_back(name);
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return names;
}

CommandResult unknown_pass(Call& call, std::string_view name) {
  std::vector<std::string_view> names;
  for (const PassInfo& pass : all_passes()) names.push_back(pass.name);
  for (const NamedPipeline& pipeline : named_pipelines()) names.push_back(pipeline.name);
  const std::string_view near = nearest(name, names);
  call.fail(fmt::format("unknown pass '{}'", name));
  call.sink.note(near.empty() ? "'pass --list-passes' lists them\n"
                              : fmt::format("did you mean '{}'?\n", near));
  return ExitCode::Usage;
}

// One line about what a pass did: "functionalize: 4 steps, 2 notes; 2 removed, 1 added".
std::string pass_line(const Document& document, const Paint& paint) {
  const Cursor& cursor = *document.cursor;
  const PassResult& result = cursor.run->result;
  const Trace& before = document.trace(cursor.run->before);
  std::string line =
      fmt::format("{}: {}", paint(Role::Heading, cursor.run->pass), step_counts(result.steps));
  if (result.error) {
    const std::string type = result.error->type;
    const std::string message = result.error->message.empty() ? "" : ": " + result.error->message;
    if (type == "DoesNotTerminate") {
      return line +
             fmt::format("; {}{}\n", paint(Role::Bad, "Thunder does not terminate"), message);
    }
    return line + fmt::format("; {} {}{}\n", paint(Role::Bad, "raises"), type, message);
  }
  if (cursor.phase == cursor.run->before) return line + "; nothing changed\n";
  const TraceDiff diff = diff_traces(before, result.after);
  return line + fmt::format("; phase {}: {}\n", cursor.phase,
                            diff.identical() ? "the same statements" : summary(diff));
}

struct Ran {
  std::shared_ptr<const Document> document;
  std::vector<std::shared_ptr<const Document>> stages;  // after each pass
  bool raised = false;
  std::optional<SkipRefusal> refused;  // of --skip
};

Ran run_passes(Call& call, const Target& target, const std::vector<const PassInfo*>& passes,
               const PassContext& context) {
  Ran ran;
  ran.document = target.document;
  std::size_t phase = target.phase;
  if (target.region) {
    DocumentPhase region;
    region.phase.trace = *target.region;
    region.phase.label = target.region->name;
    region.from_file = false;
    region.made_by = "region";
    ran.document = with_phase(*ran.document, std::move(region));
    phase = ran.document->current;
  }
  for (std::size_t i = 0; i < passes.size(); ++i) {
    PassContext own = context;
    own.stop = call.stop;
    if (i + 1 < passes.size()) own.filter = {};  // --skip speaks of the last pass
    ran.document = run_pass(*ran.document, phase, *passes[i], std::move(own));
    ran.stages.push_back(ran.document);
    phase = ran.document->cursor->phase;
    const PassRun& run = *ran.document->cursor->run;
    if (run.result.error) {
      ran.raised = true;
      break;
    }
    if (i + 1 == passes.size()) {
      ran.refused = refused_skip(context.filter, run.pass, run.result.steps);
    }
  }
  return ran;
}

CommandResult refuse(Call& call, const SkipRefusal& refusal) {
  call.fail(refusal.message);
  call.sink.note(refusal.hint + "\n");
  return ExitCode::Usage;
}

CommandResult show_ran(Call& call, const Ran& ran) {
  if (ran.refused) return refuse(call, *ran.refused);
  const bool steps = call.command.has(Option::Steps);
  const bool to_file =
      call.command.has(Option::Output) && call.command.value(Option::Output) != "-";
  if (call.json()) {
    Json json;
    json["schema"] = fmt::format("thunderglass.{}/1", call.command.command->name);
    json["passes"] = Json::array();
    for (const auto& stage : ran.stages) {
      const PassRun& run = *stage->cursor->run;
      Json row = steps_json(run.pass, run.result.steps);
      row.erase("schema");
      if (run.result.error) {
        row["error"] = {{"type", run.result.error->type}, {"message", run.result.error->message}};
      }
      row["changed"] = stage->cursor->phase != run.before;
      json["passes"].push_back(std::move(row));
    }
    json["text"] = print(ran.document->trace(ran.document->cursor->phase));
    call.result(dump(json) + "\n");
  } else {
    // The trace is the result; in the REPL and with --steps the rewrites are.
    const bool rewrites_are_result = (call.session.interactive || steps) && !to_file;
    for (const auto& stage : ran.stages) {
      const PassRun& run = *stage->cursor->run;
      std::string text = pass_line(*stage, rewrites_are_result ? call.paint : call.note_paint);
      if (steps)
        text +=
            with_short_lines(steps_text(run.result.steps, stage->trace(run.before), call.paint));
      if (rewrites_are_result) {
        call.result(text);
      } else {
        call.note(text);
      }
    }
    if (!rewrites_are_result && !ran.raised) {
      std::string text = print(ran.document->trace(ran.document->cursor->phase));
      if (!text.ends_with('\n')) text += '\n';
      call.result(text);
    }
  }
  CommandResult result(ran.raised ? ExitCode::Finding : ExitCode::Done);
  if (call.session.interactive) {
    auto next = std::make_shared<Document>(*ran.document);
    next->current = next->cursor->phase;
    result.next = std::move(next);
  }
  return result;
}

// Parameters that lie in one storage, as passes want them.
AliasGroups groups_of(const ArgumentFacts& facts, const Trace& trace) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_storage;
  for (const ArgumentFacts::Window& window : facts.windows) {
    for (std::size_t i = 0; i < trace.parameters.size(); ++i) {
      if (trace.parameters[i].name == window.name) by_storage[window.storage].push_back(i);
    }
  }
  AliasGroups groups;
  for (auto& [storage, members] : by_storage) {
    std::sort(members.begin(), members.end());
    if (members.size() > 1) groups.push_back(std::move(members));
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

Result<PassContext> context_of(Call& call, const Target& target) {
  const Trace& trace = target.trace();
  PassContext context;
  context.filter = filter_of(call.command.values(Option::Skip));
  auto facts = alias_facts(target, call.command.values(Option::Alias));
  if (!facts) return Unexpected{facts.error()};
  context.options.alias_groups = groups_of(*facts, trace);
  context.options.argument_facts = std::move(*facts);
  if (call.command.has(Option::Groups)) {
    const auto groups = parse_alias_groups(call.command.value(Option::Groups));
    if (!groups) {
      Diagnostic diagnostic;
      diagnostic.code = DiagnosticCode::BadAlias;
      diagnostic.message = "--alias-groups expects groups such as 0,1-2,3";
      return Unexpected{std::move(diagnostic)};
    }
    context.options.alias_groups = *groups;
  }
  context.options.may_alias_arguments =
      call.command.command->takes(Option::MayAlias) && call.command.has(Option::MayAlias);
  return context;
}

bool returns_wrapped(const Trace& trace) {
  if (trace.bound_symbols.empty()) return false;
  const BoundSymbol& last = *trace.bound_symbols.back();
  if (last.kind != StatementKind::Return || last.args.empty() ||
      last.args.front().kind != ValueKind::Dict) {
    return false;
  }
  const auto& items = last.args.front().items;
  return std::any_of(items.begin(), items.end(), [](const Value& item) {
    return item.kind == ValueKind::String && string_content(item) == "flat_args";
  });
}

}  // namespace

CommandResult command_pass(Call& call) {
  if (call.command.has(Option::ListPasses)) {
    call.result(passes_text(call.paint));
    return {};
  }
  const auto& operands = call.command.operands;
  if (operands.empty() || operands.size() > 2) {
    call.fail("pass needs the names of passes and an address");
    return ExitCode::Usage;
  }
  std::vector<const PassInfo*> passes;
  for (const std::string& name : split_names(operands[0])) {
    const PassInfo* pass = find_pass(name);
    std::error_code error;
    if (pass == nullptr && std::filesystem::is_regular_file(operands[0], error)) {
      call.fail("the names of passes come first");
      call.sink.note(fmt::format("for example: pass dead_code {}\n", shell_word(operands[0])));
      return ExitCode::Usage;
    }
    if (pass == nullptr) return unknown_pass(call, name);
    passes.push_back(pass);
  }
  if (passes.empty()) return unknown_pass(call, operands[0]);
  const auto target = resolve_program(call, operands.size() == 2 ? operands[1] : ":");
  if (!target) return stop_with(call, target.error());
  const auto context = context_of(call, *target);
  if (!context) return stop_with(call, context.error());
  return show_ran(call, run_passes(call, *target, passes, *context));
}

CommandResult command_functionalize(Call& call) {
  const auto target = resolve_only_program(call);
  if (!target) return stop_with(call, target.error());
  const auto context = context_of(call, *target);
  if (!context) return stop_with(call, context.error());
  // What Thunder did in December 2024 before dead code elimination.
  constexpr std::string_view kPasses[] = {"wrap_return", "remove_context_managers",
                                          "check_inplace_views", "functionalize"};
  std::vector<const PassInfo*> passes;
  for (const std::string_view name : kPasses) {
    if (name == "wrap_return" && returns_wrapped(target->trace())) continue;
    const PassInfo* pass = find_pass(name);
    TG_CHECK(pass != nullptr);
    passes.push_back(pass);
  }
  return show_ran(call, run_passes(call, *target, passes, *context));
}

namespace {

// The step count of an operand, 1 by default; empty when it is no number.
std::optional<std::size_t> amount(Call& call) {
  const auto& operands = call.command.operands;
  if (operands.empty()) return 1;
  std::size_t number = 0;
  const std::string& text = operands.front();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (operands.size() > 1 || error != std::errc{} || end != text.data() + text.size() ||
      number == 0) {
    return std::nullopt;
  }
  return number;
}

CommandResult no_pass(Call& call) {
  call.fail("no pass was run; 'pass functionalize' runs one");
  return ExitCode::Usage;
}

// Moves the cursor and tells which rewrites were applied or taken back.
CommandResult go_to(Call& call, std::size_t done) {
  const Document& document = call.session.document();
  const Cursor& cursor = *document.cursor;
  const PassResult& result = cursor.run->result;
  const Trace& before = document.trace(cursor.run->before);
  const std::size_t goal = std::min(done, result.steps.size());
  if (goal == cursor.done) {
    call.result(goal == 0 ? "at the start: no step is applied\n"
                          : fmt::format("at the end: all {} are applied\n",
                                        count_of(result.steps.size(), "step", "steps")));
    return {};
  }
  const std::size_t last = std::max(goal, cursor.done);
  const auto texts = step_texts(std::span(result.steps).first(last), before, call.paint);
  for (std::size_t i = cursor.done; i < goal; ++i) call.result(texts[i]);
  for (std::size_t i = cursor.done; i > goal; --i) call.result("back  " + texts[i - 1]);
  call.result(fmt::format("{} of {}\n", goal, count_of(result.steps.size(), "step", "steps")));
  return {ExitCode::Done, move_cursor(document, goal)};
}

}  // namespace

CommandResult command_step(Call& call) {
  if (!call.session.document().cursor) return no_pass(call);
  const auto count = amount(call);
  if (!count) {
    call.fail("step takes the number of steps, 1 or more ('back' goes the other way)");
    return ExitCode::Usage;
  }
  return go_to(call, call.session.document().cursor->done + *count);
}

CommandResult command_back(Call& call) {
  if (!call.session.document().cursor) return no_pass(call);
  const auto count = amount(call);
  if (!count) {
    call.fail("back takes the number of steps, 1 or more");
    return ExitCode::Usage;
  }
  const std::size_t done = call.session.document().cursor->done;
  return go_to(call, done - std::min(done, *count));
}

CommandResult command_next(Call& call) {
  if (!call.session.document().cursor) return no_pass(call);
  const Cursor& cursor = *call.session.document().cursor;
  const auto& steps = cursor.run->result.steps;
  std::size_t goal = cursor.done;
  if (goal < steps.size()) {
    const std::string& group = steps[goal].group;
    ++goal;
    while (!group.empty() && goal < steps.size() && steps[goal].group == group) ++goal;
  }
  return go_to(call, goal);
}

CommandResult command_finish(Call& call) {
  if (!call.session.document().cursor) return no_pass(call);
  return go_to(call, call.session.document().cursor->run->result.steps.size());
}

CommandResult command_steps(Call& call) {
  const Document& document = call.session.document();
  if (!document.cursor) return no_pass(call);
  const PassResult& result = document.cursor->run->result;
  call.result(pass_line(document, call.paint));
  call.result(steps_text(result.steps, document.trace(document.cursor->run->before), call.paint));
  if (document.cursor->done < result.steps.size()) {
    call.result(fmt::format("{} of {} applied\n", document.cursor->done, result.steps.size()));
  }
  return {};
}

CommandResult command_skip(Call& call) {
  const Document& document = call.session.document();
  if (!document.cursor) return no_pass(call);
  if (call.command.operands.empty()) {
    call.fail("skip needs the number or the rule of a step");
    return ExitCode::Usage;
  }
  const Cursor& cursor = *document.cursor;
  const PassInfo* pass = find_pass(cursor.run->pass);
  TG_CHECK(pass != nullptr);
  PassContext context = cursor.run->context;
  context.stop = call.stop;
  const StepFilter more = filter_of(call.command.operands);
  StepFilter& filter = context.filter;
  std::vector<std::string> before = filter.skip_rules;
  for (const std::size_t number : filter.skip_numbers) before.push_back(std::to_string(number));
  const std::string stays =
      before.empty() ? ""
                     : fmt::format("skipped before and still: {}; 'undo' takes a skip back\n",
                                   fmt::join(before, ", "));
  if (const auto refusal = refused_skip(more, cursor.run->pass, cursor.run->result.steps)) {
    CommandResult refused = refuse(call, *refusal);
    call.note(stays);
    return refused;
  }
  filter.skip_numbers.insert(filter.skip_numbers.end(), more.skip_numbers.begin(),
                             more.skip_numbers.end());
  filter.skip_rules.insert(filter.skip_rules.end(), more.skip_rules.begin(), more.skip_rules.end());
  // The pass runs again on the program that it started from; what it made before is replaced.
  Document start = document;
  if (cursor.phase != cursor.run->before) start.phases.resize(cursor.phase);
  auto next =
      std::make_shared<Document>(*run_pass(start, cursor.run->before, *pass, std::move(context)));
  next->current = next->cursor->phase;
  call.result(pass_line(*next, call.paint));
  CommandResult result(ExitCode::Done, next);
  for (const Step& step : next->cursor->run->result.steps) {
    if (step.reason.starts_with("skipped: ")) {
      call.result(fmt::format("  skipped {}: {}\n", step.rule, step.reason.substr(9)));
    }
  }
  if (!stays.empty()) call.result("  " + stays);
  if (next->cursor->run->result.error) result.exit = ExitCode::Finding;
  return result;
}

}  // namespace tg
