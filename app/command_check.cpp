// check and audit.
#include <algorithm>

#include <fmt/format.h>

#include "app/batch.h"
#include "app/compare_text.h"
#include "app/program_view.h"
#include "app/run_options.h"
#include "app/session.h"
#include "core/analysis/findings.h"
#include "core/base/text.h"
#include "core/check/check.h"
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

std::string lower_verdict(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::Same:
      return "same";
    case VerdictKind::Different:
      return "different";
    case VerdictKind::NotEstablished:
      return "not established";
  }
  return "";
}

// The one file that the command is about, or the document of the REPL.
Expected<std::shared_ptr<const TraceFile>, CommandResult> file_of(Call& call) {
  const auto& operands = call.command.operands;
  if (operands.empty()) {
    auto loaded = call.session.interactive ? call.session.document().file : nullptr;
    if (loaded != nullptr) return loaded;
  }
  if (operands.size() != 1) {
    call.fail(fmt::format("{} needs a FILE", call.command.command->name));
    return Unexpected{CommandResult(ExitCode::Usage)};
  }
  auto read = call.session.file(operands.front());
  if (!read) return Unexpected{stop_with(call, read.error())};
  return *read;
}

FileOutcome check_one(const std::string& path, Session& session, Call& call) {
  FileOutcome outcome;
  const auto options = check_options(call);
  const auto file = session.file(path);
  if (!options || !file) {
    outcome.exit = options ? exit_code_of(file.error().code) : ExitCode::Usage;
    outcome.verdict = "unreadable";
    outcome.line = options ? file.error().message : options.error();
    return outcome;
  }
  const CheckReport report = check(**file, *options);
  outcome.exit = static_cast<ExitCode>(exit_code(report));
  outcome.verdict = (*file)->phases.empty() ? "unreadable" : lower_verdict(report.verdict);
  outcome.line =
      fmt::format("{:<15}  {}", call.paint(role_of(report.verdict), verdict_text(report.verdict)),
                  report.headline);
  if (!report.why.empty()) outcome.line += fmt::format(" ({})", report.why);
  if (call.json()) outcome.json = dump(check_json(report, path), -1);
  return outcome;
}

}  // namespace

CommandResult command_check(Call& call) {
  const auto& operands = call.command.operands;
  if (is_batch(operands)) return run_batch(call, expand_globs(operands), check_one);
  const auto file = file_of(call);
  if (!file) return file.error();
  const auto options = check_options(call);
  if (!options) {
    call.fail(options.error());
    return ExitCode::Usage;
  }
  const bool reading_errors = show_reading_findings(call, **file);
  const CheckReport report = check(**file, *options);
  for (const Diagnostic& diagnostic : report.diagnostics) {
    call.sink.note(rendered(diagnostic, (*file)->name, (*file)->text, call.note_paint));
  }
  if (call.json()) {
    call.result(dump(check_json(report, (*file)->name), 2) + "\n");
  } else {
    std::string text = render(report, **file, (*file)->name);
    const std::string word(verdict_text(report.verdict));
    if (text.starts_with(word)) {
      text = call.paint(role_of(report.verdict), word) + text.substr(word.size());
    }
    call.result(text);
  }
  auto exit = static_cast<ExitCode>(exit_code(report));
  if (exit == ExitCode::NotEstablished && reading_errors) exit = ExitCode::Unreadable;
  if (call.command.has(Option::ExitZero) && exit == ExitCode::Finding) exit = ExitCode::Done;
  return exit;
}

CommandResult command_report(Call& call) {
  const auto file = file_of(call);
  if (!file) return file.error();
  const auto options = check_options(call);
  if (!options) {
    call.fail(options.error());
    return ExitCode::Usage;
  }
  const CheckReport checked = check(**file, *options);
  const Report page = make_report(**file, checked, (*file)->name);
  const std::string output = call.command.value(Option::Output);
  const bool markdown = call.command.has(Option::Markdown) || output.ends_with(".md");
  call.result(markdown ? to_markdown(page) : to_html(page));
  return static_cast<ExitCode>(exit_code(checked));
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
};

Result<AuditReport> audit_target(Call& call, const Target& target) {
  auto facts = parse_alias_options(target.trace(), call.command.values(Option::Alias));
  if (!facts) return Unexpected{facts.error()};
  facts->may_alias_each_other = call.command.has(Option::MayAlias);
  AuditReport report;
  report.copies = audit(target.trace(), *facts, earlier_computation(target));
  report.hazards = find_hazards(target.trace(), *facts, earlier_computation(target));
  for (const CopyFinding& copy : report.copies) {
    report.bytes += copy.bytes.value_or(0);
    if (!copy.removable) continue;
    ++report.avoidable;
    report.avoidable_bytes += copy.bytes.value_or(0);
  }
  return report;
}

ExitCode audit_exit(const AuditReport& report) {
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
  if (report.avoidable > 0) {
    text += fmt::format(", {} can go ({})", report.avoidable, bytes_text(report.avoidable_bytes));
  } else if (!report.copies.empty()) {
    text += report.copies.size() == 1 ? ", needed" : ", all needed";
  }
  for (const Finding& finding : report.hazards) {
    if (finding_severity(finding.code) != Severity::Error) continue;
    text += fmt::format("; {}", finding_text(finding.code));
    if (finding.at.line != 0) text += fmt::format(" at line {}", finding.at.line);
  }
  return text;
}

Json report_json(const AuditReport& report, const std::string& address) {
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
  std::string out =
      fmt::format("{}  {}  {}\n", clean ? paint(Role::Good, "CLEAN") : paint(Role::Bad, "FINDINGS"),
                  audit_headline(report), target.shown);
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
  const auto target = resolve(call, address, DefaultPhase::LastComputation);
  const auto report =
      target ? audit_target(call, *target) : Result<AuditReport>(Unexpected{target.error()});
  if (!report) {
    outcome.exit = exit_code_of(report.error().code);
    outcome.verdict = "unreadable";
    outcome.line = report.error().message;
    return outcome;
  }
  outcome.exit = audit_exit(*report);
  outcome.verdict = outcome.exit == ExitCode::Done ? "clean" : "with findings";
  outcome.line = audit_headline(*report);
  if (call.json()) outcome.json = dump(report_json(*report, address), -1);
  return outcome;
}

// The audit as it was once proposed to Thunder, with its own errors.
CommandResult audit_as_proposed(Call& call, const Target& target) {
  const PassInfo* pass = find_pass("audit_raw_copy");
  PassContext context;
  context.stop = call.stop;
  const PassResult result = pass->run(target.trace(), context);
  if (result.error) {
    call.result(
        fmt::format("{}  {}\n", call.paint(Role::Bad, result.error->type), result.error->message));
    return ExitCode::Finding;
  }
  std::size_t dropped = 0;
  Table table({}, {Table::Align::Right});
  for (const Step& step : result.steps) {
    if (!step.edits.empty()) ++dropped;
    table.add({step.at.line == 0 ? "" : std::to_string(step.at.line), step.rule, step.reason});
  }
  call.result(fmt::format("the proposed audit drops {}\n", count_of(dropped, "copy", "copies")));
  call.result(table.text(call.paint, 2));
  return dropped > 0 ? ExitCode::Finding : ExitCode::Done;
}

}  // namespace

CommandResult command_audit(Call& call) {
  const auto& operands = call.command.operands;
  if (is_batch(operands)) return run_batch(call, expand_globs(operands), audit_one);
  const auto target = resolve_only(call, DefaultPhase::LastComputation);
  if (!target) return stop_with(call, target.error());
  show_reading_findings(call, target->file());
  if (call.command.has(Option::Raise)) return audit_as_proposed(call, *target);
  const auto report = audit_target(call, *target);
  if (!report) return stop_with(call, report.error());
  call.result(call.json() ? dump(report_json(*report, target->shown), 2) + "\n"
                          : audit_text(*report, *target, call.paint));
  const ExitCode exit = audit_exit(*report);
  return call.command.has(Option::ExitZero) && exit == ExitCode::Finding ? ExitCode::Done : exit;
}

}  // namespace tg
