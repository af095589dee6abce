// check and audit.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "app/address.h"
#include "app/batch.h"
#include "app/compare_text.h"
#include "app/program_view.h"
#include "app/run_options.h"
#include "app/session.h"
#include "core/analysis/findings.h"
#include "core/base/text.h"
#include "core/check/check.h"
#include "core/check/next_steps.h"
#include "core/export/json.h"
#include "core/export/report.h"
#include "core/pass/audit_copies.h"

namespace tg {
namespace {

Expected<CheckOptions, std::string> check_options(Call& call) {
  CheckOptions options;
  options.aliases = call.command.values(Option::Alias);
  options.inputs = call.command.values(Option::Inputs);
  options.expectations = call.command.values(Option::Expect);
  options.seed = call.command.count(Option::Seed);
  auto compare = compare_options_of(call.command);
  if (!compare) return Unexpected{compare.error()};
  options.compare = std::move(*compare);
  options.limits = limits_of(call.command);
  options.stop = call.stop;
  if (call.command.has(Option::Era)) {
    options.era =
        call.command.value(Option::Era) == "2024-12" ? Era::Thunder2024 : Era::Thunder2026;
  }
  return options;
}

Role role_of(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::Same:
      return Role::Good;
    case VerdictKind::Different:
      return Role::Bad;
    case VerdictKind::NotEstablished:
      return Role::Warning;
  }
  return Role::Plain;
}

// The word that the report's text begins with: a program that had nothing to be compared with has
// only run, and is not called the same.
std::string report_word(const std::string& text) {
  return text.substr(0, text.find("  "));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

bool has_errors(const TraceFile& file) {
  return std::any_of(
      file.diagnostics.begin(), file.diagnostics.end(),
      [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; });
}

// A file, or FILE:PHASE: the file from that phase on.
struct CheckedFile {
  std::shared_ptr<const TraceFile> file;
  std::size_t first = 0;
  std::string name;  // as the user named it; empty: the document of the REPL
};

Result<CheckedFile> checked_file(Call& call, const std::string& address) {
  const auto target = resolve_file(call, address);
  if (!target) return Unexpected{target.error()};
  if (target->from_file()) {
    return CheckedFile{target->document->file, target->phase, target->file_shown};
  }
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::BadAddress;
  diagnostic.message = fmt::format("phase {} was made here and is in no file", target->phase);
  diagnostic.hint = fmt::format("'compare 0 {}' compares it with the first phase", target->phase);
  return Unexpected{std::move(diagnostic)};
}

bool only(const TraceFile& file, TraceKind kind) {
  return !file.phases.empty() &&
         std::all_of(file.phases.begin(), file.phases.end(),
                     [kind](const Phase& phase) { return phase.kind == kind; });
}

// FORWARD BACKWARD in either order: two files, one with backward traces alone and one with none of
// them. As one file with the phases of both; a position in a backward trace is its own file's.
std::optional<CheckedFile> forward_and_backward(Call& call,
                                                const std::vector<std::string>& operands) {
  if (operands.size() != 2) return std::nullopt;
  Result<CheckedFile> forward = checked_file(call, operands[0]);
  Result<CheckedFile> backward = checked_file(call, operands[1]);
  if (!forward || !backward) return std::nullopt;
  if (only(*forward->file, TraceKind::Backward)) std::swap(forward, backward);
  if (!only(*backward->file, TraceKind::Backward)) return std::nullopt;
  const std::vector<Phase>& phases = forward->file->phases;
  const bool has_backward = std::any_of(phases.begin(), phases.end(), [](const Phase& phase) {
    return phase.kind == TraceKind::Backward;
  });
  if (has_backward) return std::nullopt;
  TraceFile joined = *forward->file;
  joined.phases.insert(joined.phases.end(), backward->file->phases.begin(),
                       backward->file->phases.end());
  return CheckedFile{std::make_shared<const TraceFile>(std::move(joined)), forward->first,
                     forward->name};
}

CheckReport check_from(const CheckedFile& checked, const CheckOptions& options) {
  CheckReport report;
  if (checked.first == 0) {
    report = check(*checked.file, options);
  } else {
    TraceFile part = *checked.file;
    part.phases.erase(part.phases.begin(),
                      part.phases.begin() + static_cast<std::ptrdiff_t>(checked.first));
    CheckOptions later = options;
    const auto acquired =
        std::find_if(checked.file->phases.begin(), checked.file->phases.end(),
                     [](const Phase& phase) { return phase.kind == TraceKind::Computation; });
    if (acquired != checked.file->phases.end()) later.origin = &acquired->trace;
    report = check(part, later);
    for (CheckedPhase& phase : report.phases) phase.file_index += checked.first;
  }
  report.next = next_steps(report, options, checked.name);
  if (has_errors(*checked.file)) {
    if (report.verdict == VerdictKind::Same) {
      report.verdict = VerdictKind::NotEstablished;
      report.why = "the file was not read whole";
    }
    // `show` of such a file ends as a failure.
    std::erase_if(report.next,
                  [](const std::string& command) { return command.starts_with("show "); });
  }
  const auto avoidable = static_cast<std::size_t>(
      std::count_if(report.copies.begin(), report.copies.end(),
                    [](const CopyFinding& copy) { return copy.removable; }));
  if (report.verdict == VerdictKind::Same && avoidable > 0) {
    report.headline += fmt::format(", {} of {} avoidable", avoidable,
                                   count_of(report.copies.size(), "copy", "copies"));
  }
  return report;
}

// A file that was not read whole is exit code 3, unless what was read is enough for a difference.
ExitCode check_exit(const CheckReport& report, const TraceFile& file) {
  const auto exit = static_cast<ExitCode>(exit_code(report));
  // Nothing that could run (a file of backward traces) establishes nothing: the file was read.
  if (!has_errors(file)) return exit == ExitCode::Unreadable ? ExitCode::NotEstablished : exit;
  return exit == ExitCode::NotEstablished || exit == ExitCode::Done ? ExitCode::Unreadable : exit;
}

Json report_json(const CheckReport& report, const CheckedFile& file) {
  Json json = check_json(report, file.name);
  // "same" needs something to be the same as.
  const std::string word = report_word(render(report, *file.file, file.name));
  if (word == "RAN") json["verdict"] = "ran";
  return json;
}

// Options or inputs that cannot be used: nothing was checked. Null when the check began.
const Diagnostic* refusal_of(const CheckReport& report) {
  const bool began = std::any_of(report.phases.begin(), report.phases.end(),
                                 [](const CheckedPhase& phase) { return phase.ran; });
  for (const Diagnostic& diagnostic : report.diagnostics) {
    if (diagnostic.severity != Severity::Error) continue;
    if (!began || exit_code_of(diagnostic.code) == ExitCode::Usage) return &diagnostic;
  }
  return nullptr;
}

FileOutcome check_one(const std::string& address, Session&, Call& call) {
  FileOutcome outcome;
  const auto options = check_options(call);
  const auto file = checked_file(call, address);
  if (!options || !file) {
    outcome.exit = options ? exit_code_of(file.error().code) : ExitCode::Usage;
    outcome.verdict = "unreadable";
    outcome.line = options ? file.error().message : options.error();
    return outcome;
  }
  const CheckReport report = check_from(*file, *options);
  if (const Diagnostic* wrong = refusal_of(report)) {
    outcome.exit = exit_code_of(wrong->code);
    outcome.verdict = "not checked";
    outcome.line = wrong->message;
    return outcome;
  }
  outcome.exit = check_exit(report, *file->file);
  const std::string word = report_word(render(report, *file->file, file->name));
  outcome.verdict = lower(word);
  outcome.line =
      fmt::format("{:<15}  {}", call.paint(role_of(report.verdict), word), report.headline);
  if (!report.why.empty()) outcome.line += fmt::format(" ({})", report.why);
  if (call.json()) outcome.json = dump(report_json(report, *file), -1);
  return outcome;
}

// The operand and the options of check and report, read and checked.
struct Checked {
  CheckedFile file;
  CheckReport report;
};

// What goes wrong is shown already.
Expected<Checked, CommandResult> checked_operand(Call& call) {
  const auto& operands = call.command.operands;
  std::optional<CheckedFile> pair = forward_and_backward(call, operands);
  if ((operands.size() > 1 && !pair) || (operands.empty() && !call.session.interactive)) {
    call.fail(fmt::format("{} needs a FILE", call.command.command->name));
    return Unexpected{CommandResult(ExitCode::Usage)};
  }
  const auto options = check_options(call);
  if (!options) {
    call.fail(options.error());
    return Unexpected{CommandResult(ExitCode::Usage)};
  }
  Result<CheckedFile> file = pair ? Result<CheckedFile>(*std::move(pair))
                                  : checked_file(call, operands.empty() ? ":" : operands.front());
  if (!file) return Unexpected{stop_with(call, file.error())};
  Checked checked;
  checked.file = std::move(*file);
  show_reading_findings(call, *checked.file.file);
  checked.report = check_from(checked.file, *options);
  // A command that names the first file alone would not check the pair.
  if (operands.size() == 2) {
    std::erase_if(checked.report.next,
                  [](const std::string& command) { return command.starts_with("check "); });
  }
  if (const Diagnostic* wrong = refusal_of(checked.report)) {
    return Unexpected{stop_with(call, *wrong)};
  }
  return checked;
}

}  // namespace

CommandResult command_check(Call& call) {
  const auto& operands = call.command.operands;
  if (is_batch(operands) && !forward_and_backward(call, operands))
    return run_batch(call, expand_globs(operands), check_one);
  const auto checked = checked_operand(call);
  if (!checked) return checked.error();
  const CheckReport& report = checked->report;
  const TraceFile& file = *checked->file.file;
  for (const Diagnostic& diagnostic : report.diagnostics) {
    call.sink.note(rendered(diagnostic, file.name, file.text, call.note_paint));
  }
  if (call.json()) {
    Json json = report_json(report, checked->file);
    json["file"] = file.name;
    call.result(dump(json, 2) + "\n");
  } else {
    // A statement may be as long as its constants.
    std::string text = with_short_lines(render(report, file, checked->file.name));
    const std::string word = report_word(text);
    text = call.paint(role_of(report.verdict), word) + text.substr(word.size());
    call.result(text);
  }
  ExitCode exit = check_exit(report, file);
  if (call.command.has(Option::ExitZero) && exit == ExitCode::Finding) exit = ExitCode::Done;
  return exit;
}

CommandResult command_report(Call& call) {
  const auto checked = checked_operand(call);
  if (!checked) return checked.error();
  const Report page = make_report(*checked->file.file, checked->report, checked->file.file->name);
  const std::string output = call.command.value(Option::Output);
  const bool markdown = call.command.has(Option::Markdown) || output.ends_with(".md");
  call.result(markdown ? to_markdown(page) : to_html(page));
  return check_exit(checked->report, *checked->file.file);
}

namespace {

Role role_of(const CopyFinding& copy) {
  if (copy.removable) return Role::Avoidable;
  return copy.answer == CopyAnswer::MayAliasUnknown ? Role::Warning : Role::Needed;
}

struct AuditReport {
  std::vector<CopyFinding> copies;
  std::vector<Finding> hazards;
  std::uint64_t bytes = 0;
  std::uint64_t avoidable_bytes = 0;
  std::size_t avoidable = 0;
  bool whole = true;  // false: statements of the file could not be read
};

Result<AuditReport> audit_target(Call& call, const Target& target) {
  auto facts = alias_facts(target, call.command.values(Option::Alias));
  if (!facts) return Unexpected{facts.error()};
  facts->may_alias_each_other = call.command.has(Option::MayAlias);
  AuditReport report;
  const Trace trace = with_listed_lines(target.trace(), target.numbering());
  const DefUse def_use(trace);
  const AliasSets aliases(trace, def_use, *facts);
  report.copies = audit(trace, def_use, aliases, earlier_computation(target));
  report.hazards = find_hazards(trace, def_use, aliases, earlier_computation(target));
  const auto& found = target.file().diagnostics;
  report.whole = std::none_of(found.begin(), found.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::Error;
  });
  for (const CopyFinding& copy : report.copies) {
    report.bytes += copy.bytes.value_or(0);
    if (!copy.removable) continue;
    ++report.avoidable;
    report.avoidable_bytes += copy.bytes.value_or(0);
  }
  return report;
}

ExitCode audit_exit(const AuditReport& report) {
  // What was not read may read or overwrite any copy.
  if (!report.whole) return ExitCode::Unreadable;
  const bool hazard = std::any_of(
      report.hazards.begin(), report.hazards.end(),
      [](const Finding& finding) { return finding_severity(finding.code) == Severity::Error; });
  return report.avoidable > 0 || hazard ? ExitCode::Finding : ExitCode::Done;
}

std::string audit_headline(const AuditReport& report) {
  std::string text = report.copies.empty()
                         ? "no copies"
                         : fmt::format("{}, {}", count_of(report.copies.size(), "copy", "copies"),
                                       bytes_text(report.bytes));
  if (!report.whole) text += ", of what could be read";
  // A copy behind the return is neither needed nor to be removed: its write is lost.
  const auto lost =
      std::count_if(report.copies.begin(), report.copies.end(), [](const CopyFinding& copy) {
        return copy.answer == CopyAnswer::NeverRead && !copy.removable && copy.at_depth_0;
      });
  if (lost > 0) text += fmt::format(", {} never runs", lost);
  if (report.avoidable > 0) {
    text += fmt::format(", {} can go ({})", report.avoidable, bytes_text(report.avoidable_bytes));
  } else if (!report.copies.empty() && lost == 0) {
    text += report.copies.size() == 1 ? ", needed" : ", all needed";
  }
  for (const Finding& finding : report.hazards) {
    if (finding_severity(finding.code) != Severity::Error) continue;
    text += fmt::format("; {}", finding_text(finding.code));
    if (finding.at.line != 0) text += fmt::format(" at line {}", finding.at.line);
  }
  return text;
}

Json audit_report_json(const AuditReport& report, const std::string& address) {
  Json json = audit_json(report.copies);
  json["address"] = address;
  json["bytes"] = report.bytes;
  json["avoidable"] = report.avoidable;
  json["avoidable_bytes"] = report.avoidable_bytes;
  json["findings"] = Json::array();
  for (const Finding& finding : report.hazards) {
    json["findings"].push_back({{"code", finding_text(finding.code)},
                                {"severity", severity_text(finding_severity(finding.code))},
                                {"at", to_json(finding.at)},
                                {"message", finding.message}});
  }
  return json;
}

std::string audit_text(const AuditReport& report, const Target& target, const Paint& paint) {
  const bool clean = audit_exit(report) == ExitCode::Done;
  std::string out = fmt::format("{}  {}  {}\n",
                                !report.whole ? paint(Role::Warning, "NOT WHOLE")
                                : clean       ? paint(Role::Good, "CLEAN")
                                              : paint(Role::Bad, "FINDINGS"),
                                audit_headline(report), target.label());
  Table table({"line", "copy", "bytes", "answer", "because"},
              {Table::Align::Right, Table::Align::Left, Table::Align::Right});
  for (const CopyFinding& copy : report.copies) {
    std::string because = copy.reason;
    if (copy.stale) because += ", but stale: " + *copy.stale;
    table.add({copy.at.line == 0 ? "" : std::to_string(copy.at.line), copy.text,
               copy.bytes ? bytes_text(*copy.bytes) : "",
               paint(role_of(copy), answer_text(copy.answer)), because});
  }
  out += table.text(paint, 2);
  if (report.hazards.empty()) return out;
  out += paint(Role::Heading, "findings") + "\n";
  Table findings({}, {Table::Align::Right});
  for (const Finding& finding : report.hazards) {
    const Severity severity = finding_severity(finding.code);
    const Role role = severity == Severity::Error     ? Role::Bad
                      : severity == Severity::Warning ? Role::Warning
                                                      : Role::Dim;
    findings.add({finding.at.line == 0 ? "" : std::to_string(finding.at.line),
                  paint(role, finding_text(finding.code)), finding.message});
    for (const Note& note : finding.notes) {
      findings.add({note.at.line == 0 ? "" : std::to_string(note.at.line), "", note.message});
    }
  }
  return out + findings.text(paint, 2);
}

FileOutcome audit_one(const std::string& address, Session&, Call& call) {
  FileOutcome outcome;
  const auto target = resolve_program(call, address);
  const auto report =
      target ? audit_target(call, *target) : Result<AuditReport>(Unexpected{target.error()});
  if (!report) {
    outcome.exit = exit_code_of(report.error().code);
    outcome.verdict = "unreadable";
    outcome.line = report.error().message;
    return outcome;
  }
  outcome.exit = audit_exit(*report);
  outcome.verdict = !report->whole                   ? "not whole"
                    : outcome.exit == ExitCode::Done ? "clean"
                                                     : "with findings";
  outcome.line = audit_headline(*report);
  if (call.json()) outcome.json = dump(audit_report_json(*report, address), -1);
  return outcome;
}

// The audit as it was once proposed to Thunder, with its own errors.
ExitCode audit_as_proposed(Call& call, const Target& target) {
  const PassInfo* pass = find_pass("audit_raw_copy");
  PassContext context;
  context.stop = call.stop;
  const PassResult result = pass->run(target.trace(), context);
  const auto dropped =
      static_cast<std::size_t>(std::count_if(result.steps.begin(), result.steps.end(),
                                             [](const Step& step) { return !step.edits.empty(); }));
  const ExitCode exit = dropped > 0 || result.error ? ExitCode::Finding : ExitCode::Done;
  if (call.json()) {
    Json json = steps_json(pass->name, result.steps);
    json["schema"] = "thunderglass.audit-proposal/1";
    json["address"] = target.shown;
    json["dropped"] = dropped;
    json["error"] = result.error
                        ? Json{{"type", result.error->type}, {"message", result.error->message}}
                        : Json(nullptr);
    call.result(dump(json) + "\n");
    return exit;
  }
  if (result.error) {
    call.result(
        fmt::format("{}  {}\n", call.paint(Role::Bad, result.error->type), result.error->message));
    return exit;
  }
  Table table({}, {Table::Align::Right});
  for (const Step& step : result.steps) {
    table.add({step.at.line == 0 ? "" : std::to_string(step.at.line), step.rule, step.reason});
  }
  call.result(fmt::format("the proposed audit drops {}\n", count_of(dropped, "copy", "copies")));
  call.result(table.text(call.paint, 2));
  return exit;
}

}  // namespace

CommandResult command_audit(Call& call) {
  const auto& operands = call.command.operands;
  if (is_batch(operands)) return run_batch(call, expand_globs(operands), audit_one);
  const auto target = resolve_only_program(call);
  if (!target) return stop_with(call, target.error());
  show_reading_findings(call, target->file());
  const auto exit_of = [&call](ExitCode exit) {
    return call.command.has(Option::ExitZero) && exit == ExitCode::Finding ? ExitCode::Done : exit;
  };
  if (call.command.has(Option::Raise)) return exit_of(audit_as_proposed(call, *target));
  const auto report = audit_target(call, *target);
  if (!report) return stop_with(call, report.error());
  call.result(call.json() ? dump(audit_report_json(*report, target->shown), 2) + "\n"
                          : with_short_lines(audit_text(*report, *target, call.paint)));
  return exit_of(audit_exit(*report));
}

}  // namespace tg
