// info and paste: what is in a file, and what can be found in a text.
#include <algorithm>

#include <fmt/format.h>

#include "app/address.h"
#include "app/batch.h"
#include "app/paste_text.h"
#include "app/program_view.h"
#include "app/session.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/export/json.h"
#include "core/pass/pipeline.h"
#include "core/text/parser.h"
#include "core/text/paste.h"

namespace tg {
namespace {

std::string_view kind_text(TraceKind kind) {
  switch (kind) {
    case TraceKind::Computation:
      return "computation";
    case TraceKind::Prologue:
      return "prologue";
    case TraceKind::Backward:
      return "backward";
    case TraceKind::Epilogue:
      return "epilogue";
  }
  return "";
}

std::string copied_text(const PhaseCounts& counts) {
  if (counts.copies == 0) return "";
  return (counts.bytes_known ? "" : "over ") + bytes_text(counts.bytes_copied);
}

std::string number_or_blank(std::size_t number) {
  return number == 0 ? "" : std::to_string(number);
}

struct Findings {
  std::size_t errors = 0, warnings = 0, notes = 0;
};

Findings count_findings(const std::vector<Diagnostic>& diagnostics) {
  Findings findings;
  for (const Diagnostic& diagnostic : diagnostics) {
    switch (diagnostic.severity) {
      case Severity::Error:
        ++findings.errors;
        break;
      case Severity::Warning:
        ++findings.warnings;
        break;
      case Severity::Note:
        ++findings.notes;
        break;
    }
  }
  return findings;
}

std::string findings_text(const Findings& findings) {
  std::string text;
  const auto add = [&text](std::size_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + count_of(count, one, many);
  };
  add(findings.errors, "error", "errors");
  add(findings.warnings, "warning", "warnings");
  add(findings.notes, "note", "notes");
  return text;
}

// FILE:PHASE is about that phase alone.
bool is_asked(const std::optional<std::size_t>& only, std::size_t phase) {
  return !only || *only == phase;
}

Json info_json(const Document& document, const std::optional<std::size_t>& only) {
  Json json;
  const TraceFile& file = *document.file;
  json["schema"] = "thunderglass.info/1";
  json["file"] = file.name;
  const EraGuess era = guess_era(file);
  json["era"] = {{"guess", era_text(era.era)}, {"reason", era.reason}};
  json["phases"] = Json::array();
  for (std::size_t i = 0; i < document.phases.size(); ++i) {
    if (!is_asked(only, i)) continue;
    const Phase& phase = document.phases[i]->phase;
    const PhaseCounts counts = count_phase(phase.trace);
    Json row;
    row["index"] = i;
    row["label"] = phase.label;
    row["kind"] = kind_text(phase.kind);
    row["line"] = phase.trace.def_at.line;
    row["statements"] = counts.statements;
    row["arguments"] = counts.arguments;
    row["copies"] = counts.copies;
    row["bytes_copied"] = counts.bytes_known ? Json(counts.bytes_copied) : Json(nullptr);
    row["in_place"] = counts.in_place;
    row["fusions"] = counts.fusions;
    row["unknown_callees"] = counts.unknown;
    json["phases"].push_back(std::move(row));
  }
  json["diagnostics"] = Json::array();
  for (const Diagnostic& diagnostic : file.diagnostics) {
    json["diagnostics"].push_back(to_json(diagnostic));
  }
  return json;
}

std::string info_text(const Document& document, const std::optional<std::size_t>& only,
                      const Paint& paint) {
  const TraceFile& file = *document.file;
  std::string out = fmt::format("{}  {}, {}\n", paint(Role::Heading, file.name),
                                count_of(document.phases.size(), "program", "programs"),
                                count_of(split_lines(file.text).size(), "line", "lines"));
  const EraGuess era = guess_era(file);
  if (era.era != Era::Unknown) {
    out += fmt::format("written by {} ({})\n", era_text(era.era), era.reason);
  }
  using Align = Table::Align;
  Table table({"", "kind", "line", "statements", "copies", "moved", "in-place", "args", "fusions",
               "unknown", "made by"},
              {Align::Right, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
               Align::Right, Align::Right, Align::Right, Align::Right, Align::Left});
  for (std::size_t i = 0; i < document.phases.size(); ++i) {
    if (!is_asked(only, i)) continue;
    const Phase& phase = document.phases[i]->phase;
    const PhaseCounts counts = count_phase(phase.trace);
    table.add({std::to_string(i), std::string(kind_text(phase.kind)),
               number_or_blank(phase.trace.def_at.line), std::to_string(counts.statements),
               number_or_blank(counts.copies), copied_text(counts),
               number_or_blank(counts.in_place), std::to_string(counts.arguments),
               number_or_blank(counts.fusions), number_or_blank(counts.unknown),
               document.phases[i]->from_file ? phase.label : phase.label + " (here)"});
  }
  out += table.text(paint);
  const std::string findings = findings_text(count_findings(file.diagnostics));
  if (!findings.empty()) out += fmt::format("reading found {}\n", findings);
  return out;
}

ExitCode reading_exit(const TraceFile& file) {
  const bool errors = count_findings(file.diagnostics).errors > 0;
  return file.phases.empty() || errors ? ExitCode::Unreadable : ExitCode::Done;
}

FileOutcome info_of(const std::string& path, Session&, Call& call) {
  FileOutcome outcome;
  const auto target = resolve_file(call, path);
  if (!target) {
    outcome.exit = exit_code_of(target.error().code);
    outcome.verdict = "unreadable";
    outcome.line = target.error().message;
    return outcome;
  }
  const Document& document = *target->document;
  const std::optional<std::size_t> only =
      target->names_phase ? std::optional(target->phase) : std::nullopt;
  outcome.exit = reading_exit(*document.file);
  if (call.json()) outcome.json = dump(info_json(document, only), -1);
  PhaseCounts sum;
  std::size_t programs = 0;
  for (std::size_t i = 0; i < document.phases.size(); ++i) {
    if (!is_asked(only, i)) continue;
    ++programs;
    const PhaseCounts counts = count_phase(document.trace(i));
    sum.statements += counts.statements;
    sum.copies += counts.copies;
    sum.bytes_copied += counts.bytes_copied;
    sum.in_place += counts.in_place;
    sum.unknown += counts.unknown;
  }
  outcome.verdict = outcome.exit == ExitCode::Done ? "read" : "read with errors";
  outcome.line = fmt::format("{}, {}, {}, {} in-place", count_of(programs, "program", "programs"),
                             count_of(sum.statements, "statement", "statements"),
                             count_of(sum.copies, "copy", "copies"), sum.in_place);
  if (sum.unknown > 0) outcome.line += fmt::format(", {} unknown", sum.unknown);
  const std::string findings = findings_text(count_findings(document.file->diagnostics));
  if (!findings.empty()) outcome.line += fmt::format(" ({})", findings);
  return outcome;
}

}  // namespace

CommandResult command_info(Call& call) {
  const auto& operands = call.command.operands;
  if (is_batch(operands)) return run_batch(call, expand_globs(operands), info_of);
  if (operands.empty() && !call.session.interactive) {
    call.fail("info needs a FILE");
    return ExitCode::Usage;
  }
  const auto target = resolve_file(call, operands.empty() ? ":" : operands.front());
  if (!target) return stop_with(call, target.error());
  const Document& document = *target->document;
  const std::optional<std::size_t> only =
      target->names_phase ? std::optional(target->phase) : std::nullopt;
  show_reading_findings(call, *document.file);
  call.result(call.json() ? dump(info_json(document, only)) + "\n"
                          : info_text(document, only, call.paint));
  return {reading_exit(*document.file)};
}

namespace {

Json paste_json(const PasteResult& found) {
  Json json;
  json["schema"] = "thunderglass.paste/1";
  json["programs"] = Json::array();
  for (const FoundProgram& program : found.programs) {
    json["programs"].push_back(
        {{"first_line",
          program.text.original_line.empty() ? 0 : program.text.original_line.front()},
         {"lines", program.text.original_line.size()},
         {"undone", program.undone},
         {"text", program.text.text}});
  }
  return json;
}

std::string undone_text(const FoundProgram& program) {
  const auto& lines = program.text.original_line;
  std::string text =
      lines.empty() ? "program" : fmt::format("lines {}-{}", lines.front(), lines.back());
  text += program.undone.empty() ? ": clean"
                                 : fmt::format(": undid {}", fmt::join(program.undone, ", "));
  return text;
}

}  // namespace

CommandResult command_paste(Call& call) {
  const auto& operands = call.command.operands;
  if (operands.size() > 1) {
    call.fail("paste takes one FILE");
    return ExitCode::Usage;
  }
  if (operands.empty() && call.session.interactive) {
    call.note("paste the text; end it with a line that holds one dot\n");
    CommandResult result;
    result.wants_text = true;
    return result;
  }
  const std::string path = operands.empty() ? "-" : operands.front();
  const auto text = read_file(path);
  if (!text) return stop_with(call, text.error());
  const PasteResult found = find_programs(*text);
  for (const Diagnostic& diagnostic : found.diagnostics) {
    if (diagnostic.severity == Severity::Note && !call.command.has(Option::Verbose)) continue;
    call.note(rendered(diagnostic, path, *text, call.note_paint));
  }
  if (call.json()) {
    call.result(dump(paste_json(found)) + "\n");
  } else {
    for (const FoundProgram& program : found.programs) {
      call.note(undone_text(program) + "\n");
      std::string clean = program.text.text;
      if (!clean.ends_with('\n')) clean += '\n';
      if (&program != &found.programs.front()) call.result("\n");
      call.result(clean);
    }
  }
  return {found.programs.empty() ? ExitCode::Unreadable : ExitCode::Done};
}

ExitCode load_pasted_text(Session& session, Sink& sink, std::string text, std::stop_token) {
  auto file = std::make_shared<const TraceFile>(parse_trace_file("pasted", std::move(text)));
  const Paint paint(wants_color(session.color));
  for (const Diagnostic& diagnostic : file->diagnostics) {
    if (diagnostic.severity == Severity::Note) continue;
    sink.note(rendered(diagnostic, file->name, file->text, paint));
  }
  if (file->phases.empty()) {
    sink.note("thunderglass: no trace found in the pasted text\n");
    return ExitCode::Unreadable;
  }
  const auto document = document_of(file);
  sink.result(info_text(*document, {}, paint));
  session.push(document, "paste");
  return reading_exit(*file);
}

}  // namespace tg
