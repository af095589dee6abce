#include "core/export/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/analysis/alias_analysis.h"
#include "core/analysis/def_use.h"
#include "core/base/text.h"
#include "core/export/trace_diff.h"
#include "core/text/printer.h"

namespace tg {
namespace {

std::string line_text(const SourceRange& at) {
  return at.line > 0 ? std::to_string(at.line) : std::string();
}

struct PhaseFacts {
  std::size_t statements = 0;
  std::size_t copies = 0;
  std::string shared;  // "x v | buf t1"
};

PhaseFacts facts_of(const Trace& trace) {
  const DefUse def_use(trace);
  const AliasSets sets(trace, def_use);
  PhaseFacts facts;
  // As `info` counts: without annotations, unpacking, del and return.
  facts.statements = static_cast<std::size_t>(std::count_if(
      trace.bound_symbols.begin(), trace.bound_symbols.end(),
      [](const BoundSymbolRef& statement) { return statement->kind == StatementKind::Call; }));
  facts.copies = sets.copies().size();
  std::size_t groups = 0;
  for (const StorageFacts& storage : sets.storages()) {
    if (storage.names.size() < 2) continue;
    // A row of a table has room for a few; the count tells the rest.
    if (++groups > 3) continue;
    if (!facts.shared.empty()) facts.shared += " | ";
    for (std::size_t i = 0; i < std::min<std::size_t>(storage.names.size(), 4); ++i) {
      facts.shared += (i > 0 ? " " : "") + storage.names[i];
    }
    if (storage.names.size() > 4)
      facts.shared += fmt::format(" and {} more", storage.names.size() - 4);
  }
  if (groups > 3) facts.shared += fmt::format(" | and {} more groups", groups - 3);
  if (groups == 0) facts.shared = "none";
  return facts;
}

ReportSection verdict_section(const CheckReport& check) {
  ReportSection section{"Verdict", {}};
  std::string headline = fmt::format("{}: {}", verdict_text(check.verdict), check.headline);
  if (!check.why.empty()) headline += fmt::format(" ({})", check.why);
  section.blocks.emplace_back(headline);
  section.blocks.emplace_back(fmt::format("Compiler: {}{}. Run on the CPU with seed {}.",
                                          era_text(check.era.era),
                                          check.era_given ? "" : " (guessed)", check.seed));
  if (check.explanation) {
    const Explanation& why = *check.explanation;
    std::string text = fmt::format("Phase {} to {}", phase_number(check, why.left),
                                   phase_number(check, why.right));
    if (!why.pass.empty()) text += fmt::format(", pass {}", why.pass);
    if (why.step > 0)
      text += fmt::format(", step {} of {}, rule {}", why.step, why.step_count, why.rule);
    section.blocks.emplace_back(text + ": " + why.reason);
  }
  if (check.refusal) {
    section.blocks.emplace_back(fmt::format("Pass {} refuses the program: {}: {}",
                                            check.refusal->pass, check.refusal->error.type,
                                            check.refusal->error.message));
  }
  ReportTable witnesses{{"what", "kind of fact", "before", "after", "written by"}, {}};
  for (const Witness& witness : check.witnesses) {
    witnesses.rows.push_back({witness.difference.subject, witness.difference.message,
                              witness.difference.left, witness.difference.right, witness.write});
  }
  if (!witnesses.rows.empty()) section.blocks.emplace_back(std::move(witnesses));
  ReportTable repairs{{"repair", "helps"}, {}};
  for (const Repair& repair : check.repairs)
    repairs.rows.push_back({repair.what, repair.helps ? "yes" : "no"});
  if (!repairs.rows.empty()) section.blocks.emplace_back(std::move(repairs));
  std::string untested;
  for (const std::string& what : check.not_tested)
    untested += (untested.empty() ? "" : "; ") + what;
  if (!untested.empty()) section.blocks.emplace_back("Not tested: " + untested + ".");
  return section;
}

ReportSection phases_section(const TraceFile& file, const CheckReport& check) {
  ReportTable table{
      {"phase", "statements", "copies", "share storage", "compared with the phase before"}, {}};
  for (std::size_t i = 0; i < file.phases.size(); ++i) {
    const PhaseFacts facts = facts_of(file.phases[i].trace);
    std::string compared;
    for (const PhasePair& pair : check.pairs) {
      if (pair.right >= check.phases.size()) continue;
      const CheckedPhase& right = check.phases[pair.right];
      if (!right.replayed && right.file_index == i)
        compared = verdict_text(pair.comparison.verdict);
    }
    if (compared.empty()) compared = i == 0 ? "first" : "did not run";
    table.rows.push_back({fmt::format("{} {}", i, file.phases[i].label),
                          std::to_string(facts.statements), std::to_string(facts.copies),
                          facts.shared, compared});
  }
  return {"Phases", {std::move(table)}};
}

ReportSection copies_section(const CheckReport& check) {
  ReportSection section{"Copies of the last phase that ran", {}};
  if (check.copies.empty()) {
    section.blocks.emplace_back("none");
    return section;
  }
  ReportTable table{{"line", "copy", "bytes", "answer", "reason"}, {}};
  for (const CopyFinding& finding : check.copies) {
    std::string answer(answer_text(finding.answer));
    if (finding.removable) answer += ", removable";
    if (finding.stale) answer += ", but stale: " + *finding.stale;
    table.rows.push_back({line_text(finding.at), finding.text,
                          finding.bytes ? bytes_text(*finding.bytes) : "?", std::move(answer),
                          finding.reason});
  }
  section.blocks.emplace_back(std::move(table));
  return section;
}

ReportCode whole_text(const Phase& phase) {
  ReportCode code{"text", {}};
  std::uint32_t number = 0;
  const std::string text = print(phase.trace);
  for (const std::string_view line : split_lines(text)) {
    code.lines.push_back({' ', number > 0 ? number++ : 0, std::string(line)});
    // The printed text and the file's run side by side from the `def` line on.
    if (number == 0 && line.starts_with("def ") && phase.trace.def_at.line > 0) {
      code.lines.back().line = phase.trace.def_at.line;
      number = phase.trace.def_at.line + 1;
    }
  }
  return code;
}

ReportCode difference(const Phase& before, const Phase& after) {
  const TraceDiff diff = diff_traces(before.trace, after.trace);
  ReportCode code{"changes against the phase before: " + summary(diff), {}};
  const auto add = [&](char mark, const Trace& trace, std::optional<std::uint32_t> index,
                       std::string_view remark) {
    const BoundSymbol& statement = *trace.bound_symbols[*index];
    std::string text = one_line(statement);
    if (!remark.empty()) text += fmt::format("  ({})", remark);
    code.lines.push_back({mark, statement.at.line, std::move(text)});
  };
  for (const DiffEntry& entry : diff.entries) {
    const char mark = diff_mark(entry.kind);
    switch (entry.kind) {
      case DiffKind::Same:
        break;
      case DiffKind::Added:
        add(mark, after.trace, entry.right, "");
        break;
      case DiffKind::Moved:
        add(mark, after.trace, entry.right, "moved");
        break;
      case DiffKind::Removed:
        add(mark, before.trace, entry.left, "");
        break;
      case DiffKind::Changed:
        if (entry.only_inside) {
          add(mark, after.trace, entry.right, "its sub-statements differ");
        } else {
          add(mark, before.trace, entry.left, "before");
          add(mark, after.trace, entry.right, "after");
        }
        break;
    }
  }
  return code;
}

ReportSection phase_section(const TraceFile& file, std::size_t index, const CheckReport& check) {
  ReportSection section{fmt::format("Phase {}: {}", index, file.phases[index].label), {}};
  for (const CheckedPhase& phase : check.phases) {
    if (phase.file_index == index && !phase.replayed && !phase.ran && !phase.why_not.empty()) {
      section.blocks.emplace_back("Did not run: " + phase.why_not);
    }
  }
  if (index > 0)
    section.blocks.emplace_back(difference(file.phases[index - 1], file.phases[index]));
  section.blocks.emplace_back(whole_text(file.phases[index]));
  return section;
}

// ---- Markdown

std::string cell_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void append_markdown(std::string& out, const ReportTable& table) {
  const auto row = [&](const std::vector<std::string>& cells) {
    out += '|';
    for (const std::string& cell : cells) out += " " + cell_text(cell) + " |";
    out += '\n';
  };
  row(table.columns);
  row(std::vector<std::string>(table.columns.size(), "---"));
  for (const std::vector<std::string>& cells : table.rows) row(cells);
  out += '\n';
}

void append_markdown(std::string& out, const ReportCode& code) {
  // A fence longer than any run of backticks inside.
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const ReportLine& line : code.lines) {
    for (const char c : line.text) {
      run = c == '`' ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  const std::string fence(longest + 1, '`');
  const bool diff = std::any_of(code.lines.begin(), code.lines.end(),
                                [](const ReportLine& line) { return line.mark != ' '; });
  out += fmt::format("<details><summary>{}</summary>\n\n{}{}\n", code.name, fence,
                     diff ? "diff" : "python");
  for (const ReportLine& line : code.lines) {
    if (diff) {
      out += line.mark;
      out += ' ';
    }
    out += line.text + "\n";
  }
  out += fence + "\n\n</details>\n\n";
}

void append_markdown(std::string& out, const std::string& paragraph) {
  out += paragraph + "\n\n";
}

// ---- HTML

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Okabe and Ito's hues; every colour goes with a sign in the text.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --line: #8885; --add: #009e73; --gone: #d55e00; --changed: #b37400; --moved: #a9588a; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .25rem .7rem; border-bottom: 1px solid var(--line); }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; padding: .6rem; font: 13px/1.45 "DejaVu Sans Mono", monospace; }
summary { cursor: pointer; }
.n { display: inline-block; width: 4em; opacity: .55; user-select: none; }
.add { color: var(--add); } .gone { color: var(--gone); } .changed { color: var(--changed); } .moved { color: var(--moved); }
:target { outline: 2px solid var(--changed); }
)";

std::string_view class_of(char mark) {
  switch (mark) {
    case '+':
      return "add";
    case '-':
      return "gone";
    case '~':
      return "changed";
    case '>':
      return "moved";
    default:
      return "same";
  }
}

void append_html(std::string& out, const ReportTable& table) {
  out += "<table>\n<tr>";
  for (const std::string& cell : table.columns) out += "<th>" + escaped(cell) + "</th>";
  out += "</tr>\n";
  for (const std::vector<std::string>& cells : table.rows) {
    out += "<tr>";
    for (const std::string& cell : cells) out += "<td>" + escaped(cell) + "</td>";
    out += "</tr>\n";
  }
  out += "</table>\n";
}

void append_html(std::string& out, const ReportCode& code) {
  const bool diff = std::any_of(code.lines.begin(), code.lines.end(),
                                [](const ReportLine& line) { return line.mark != ' '; });
  out += fmt::format("<details{}><summary>{}</summary>\n<pre>", diff ? " open" : "",
                     escaped(code.name));
  for (const ReportLine& line : code.lines) {
    // Anchors stand in the whole texts alone, where each line of the file occurs once.
    const std::string anchor =
        line.line > 0 && !diff ? fmt::format(" id=\"L{}\"", line.line) : std::string();
    out += fmt::format("<span{} class=\"{}\"><span class=\"n\">{}</span>{} {}</span>\n", anchor,
                       class_of(line.mark), line.line > 0 ? std::to_string(line.line) : "",
                       line.mark, escaped(line.text));
  }
  out += "</pre></details>\n";
}

void append_html(std::string& out, const std::string& paragraph) {
  out += "<p>" + escaped(paragraph) + "</p>\n";
}

}  // namespace

Report make_report(const TraceFile& file, const CheckReport& check, const std::string& file_name) {
  Report report{"Thunderglass report: " + file_name, {}};
  report.sections.push_back(verdict_section(check));
  report.sections.push_back(phases_section(file, check));
  report.sections.push_back(copies_section(check));
  for (std::size_t i = 0; i < file.phases.size(); ++i)
    report.sections.push_back(phase_section(file, i, check));
  return report;
}

std::string to_markdown(const Report& report) {
  std::string out = "# " + report.title + "\n\n";
  for (const ReportSection& section : report.sections) {
    out += "## " + section.title + "\n\n";
    for (const ReportBlock& block : section.blocks) {
      std::visit([&](const auto& content) { append_markdown(out, content); }, block);
    }
  }
  out.pop_back();
  return out;
}

std::string to_html(const Report& report) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      escaped(report.title), kStyle, escaped(report.title));
  for (const ReportSection& section : report.sections) {
    out += "<h2>" + escaped(section.title) + "</h2>\n";
    for (const ReportBlock& block : section.blocks) {
      std::visit([&](const auto& content) { append_html(out, content); }, block);
    }
  }
  return out + "</body>\n</html>\n";
}

}  // namespace tg
