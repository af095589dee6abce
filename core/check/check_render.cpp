#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/check/check.h"

namespace tg {
namespace {

constexpr std::size_t kMaxLines = 8;  // of one kind; the rest is counted

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("  {:<10} {}\n", label, text);
}

std::string first_line(const CheckReport& report) {
  std::string left = fmt::format("{}  {}", verdict_text(report.verdict), report.headline);
  if (report.verdict == VerdictKind::Same && has_grave_finding(report)) {
    left = fmt::format("FINDING  {}", report.headline);
  } else if (report.verdict == VerdictKind::Same && report.pairs.empty()) {
    left = fmt::format("RAN  {}", report.headline);
  }
  for (const Expectation& expectation : report.expectations) {
    if (expectation.holds) continue;
    left = fmt::format("EXPECTATION FAILS  {}; {}", expectation.text, left);
    break;
  }
  std::string right = report.era.era == Era::Unknown
                          ? "era unknown"
                          : fmt::format("{} ({})", era_text(report.era.era),
                                        report.era_given ? "given" : "guessed");
  right += fmt::format("  cpu  seed {}", report.seed);
  return fmt::format("{:<53}  {}\n", left, right);
}

std::string pair_text(const CheckReport& report, std::size_t left, std::size_t right) {
  return fmt::format("{}->{}", phase_number(report, left), phase_number(report, right));
}

std::string phases_line(const CheckReport& report) {
  std::string text;
  for (const PhasePair& pair : report.pairs) {
    std::string verdict(verdict_text(pair.comparison.verdict));
    if (pair.comparison.verdict == VerdictKind::Same) verdict = "same";
    text += fmt::format("{}{} {}", text.empty() ? "" : "    ",
                        pair_text(report, pair.left, pair.right), verdict);
  }
  return text;
}

std::string short_phases(const CheckReport& report) {
  if (report.pairs.size() <= kMaxLines) return phases_line(report);
  std::string text;
  const auto same = std::count_if(
      report.pairs.begin(), report.pairs.end(),
      [](const PhasePair& pair) { return pair.comparison.verdict == VerdictKind::Same; });
  text = fmt::format("{} same", same);
  for (const PhasePair& pair : report.pairs) {
    if (pair.comparison.verdict == VerdictKind::Same) continue;
    text += fmt::format("    {} {}", pair_text(report, pair.left, pair.right),
                        verdict_text(pair.comparison.verdict));
  }
  return text;
}

std::string explanation_lines(const CheckReport& report) {
  if (!report.explanation) return {};
  const Explanation& why = *report.explanation;
  const CheckedPhase& right = report.phases[why.right];
  std::string where = fmt::format("phase {} \"{}\"{}", pair_text(report, why.left, why.right),
                                  right.label, right.replayed ? " (replayed here)" : "");
  if (why.step != 0) {
    where += fmt::format(", step {} of {}, rule {}", why.step, why.step_count, why.rule);
  } else if (!why.rule.empty()) {
    where += fmt::format(", {}", why.rule);
  }
  std::string out = line("from", where);
  out += line("because", why.reason);
  return out;
}

std::string backward_line(const BackwardReport& backward) {
  std::string text;
  const auto same_pairs = std::count_if(
      backward.pairs.begin(), backward.pairs.end(),
      [](const BackwardPair& pair) { return pair.comparison.verdict == VerdictKind::Same; });
  const bool brief = backward.pairs.size() > kMaxLines;
  if (brief) text = fmt::format("{} same", same_pairs);
  for (const BackwardPair& pair : backward.pairs) {
    const bool same = pair.comparison.verdict == VerdictKind::Same;
    if (brief && same) continue;
    text +=
        fmt::format("{}{}->{} {}", text.empty() ? "" : "    ",
                    backward.phases[pair.left].file_index, backward.phases[pair.right].file_index,
                    same ? "same" : verdict_text(pair.comparison.verdict));
  }
  for (const BackwardPhase& phase : backward.phases) {
    if (phase.left_out == 0) continue;
    text += fmt::format("    from phase {} on {}", phase.file_index,
                        count_of(phase.left_out, "gradient is None", "gradients are None"));
  }
  const BackwardPhase& last = backward.phases.back();
  if (last.forward) {
    text += fmt::format("{}phase {} reads {} of {} saved by phase {}{}", text.empty() ? "" : "    ",
                        last.file_index, last.read, count_of(last.saved, "value", "values"),
                        *last.forward, last.ran ? "" : " (did not run)");
  } else {
    text += last.why_not;
  }
  return text;
}

std::string refusal_lines(const CheckReport& report) {
  const PassRefusal& refusal = *report.refusal;
  const std::string_view message = refusal.error.message;
  std::string text =
      refusal.error.type == "DoesNotTerminate" ? "nothing, it hangs" : refusal.error.type;
  if (!message.empty()) text += fmt::format(": {}", message.substr(0, message.find('\n')));
  std::string out = line("raises", fmt::format("{}, in {}", text, refusal.pass));
  const std::size_t rest = message.find('\n');
  if (rest != std::string_view::npos) {
    out += line("", fmt::format("(the message goes on for {} characters)", message.size() - rest));
  }
  if (refusal.at.line != 0) {
    out += line("at", fmt::format("line {}", refusal.at.line));
  } else if (!refusal.statement.empty()) {
    out += line("at", refusal.statement);
  }
  if (!refusal.why.empty()) out += line("because", refusal.why);
  if (report.phases.front().ran) {
    out += line("sound",
                "phase 0 runs as it stands, statement by statement: without functionalization and "
                "in this order it compiles to eager's program");
  }
  return out;
}

std::string list_lines(std::string_view label, const std::vector<std::string>& texts) {
  std::string out;
  for (std::size_t i = 0; i < texts.size() && i < kMaxLines; ++i) {
    out += line(i == 0 ? label : "", texts[i]);
  }
  if (texts.size() > kMaxLines)
    out += line("", fmt::format("... and {} more", texts.size() - kMaxLines));
  return out;
}

}  // namespace

std::size_t phase_number(const CheckReport& report, std::size_t index) {
  std::size_t origin = index;
  while (origin > 0 && report.phases[origin].replayed) --origin;
  return report.phases[origin].file_index + (index - origin);
}

std::string_view verdict_text(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::Same:
      return "SAME";
    case VerdictKind::Different:
      return "DIFFERENT";
    case VerdictKind::NotEstablished:
      return "NOT ESTABLISHED";
  }
  return "NOT ESTABLISHED";
}

std::string render(const CheckReport& report, const TraceFile& file, const std::string& file_name) {
  (void)file;
  std::string out = first_line(report);
  if (!report.why.empty()) out += line("why", report.why);
  for (const Witness& witness : report.witnesses) {
    const Difference& difference = witness.difference;
    std::string text = difference.message;
    if (!difference.left.empty() && !difference.right.empty() && !difference.index.empty()) {
      text = fmt::format("{}[{}]   eager {}   program {}", difference.subject,
                         fmt::join(difference.index, ", "), difference.left, difference.right);
    }
    if (!witness.write.empty()) text += fmt::format("      write: {}", witness.write);
    out += fmt::format("  {}\n", text);
  }
  if (report.refusal) out += refusal_lines(report);
  out += explanation_lines(report);
  if (!report.pairs.empty()) out += line("phases", short_phases(report));
  if (!report.backward.phases.empty()) {
    out += line("backward", backward_line(report.backward));
    for (const BackwardPair& pair : report.backward.pairs) {
      if (pair.comparison.verdict != VerdictKind::Different) continue;
      out += line("", fmt::format("gradients: {}", pair.comparison.differences.front().message));
      break;
    }
    std::vector<std::string> saved;
    for (const SavedHazard& hazard : report.backward.hazards) saved.push_back(one_line(hazard));
    out += list_lines("saved", saved);
  }
  if (!report.assumed_aliases.empty()) {
    out += line(
        "assumed",
        fmt::format("{} at the same address (the file says what was replaced, not where it lay)",
                    fmt::join(report.assumed_aliases, ", ")));
  }
  if (!report.aliases.empty()) out += line("aliases", report.aliases);
  std::vector<std::string> accepted;
  for (const Difference& difference : report.accepted) accepted.push_back(difference.message);
  out += list_lines("accepted", accepted);
  std::vector<std::string> copies;
  for (const CopyFinding& copy : report.copies) copies.push_back(one_line(copy));
  out += list_lines("copies", copies);
  std::vector<std::string> findings;
  for (const Finding& finding : report.findings) {
    findings.push_back(finding.at.line == 0
                           ? finding.message
                           : fmt::format("line {} {}", finding.at.line, finding.message));
  }
  out += list_lines("findings", findings);
  std::vector<std::string> repairs;
  for (const Repair& repair : report.repairs) {
    repairs.push_back(
        fmt::format("{}: {}", repair.what, repair.helps ? "repairs it" : "does not help"));
  }
  out += list_lines("tried", repairs);
  std::vector<std::string> expectations;
  for (const Expectation& expectation : report.expectations) {
    expectations.push_back(fmt::format("{}: {} ({})", expectation.text,
                                       expectation.holds ? "holds" : "FAILS",
                                       expectation.explanation));
  }
  out += list_lines("expected", expectations);
  if (!report.not_tested.empty()) {
    out += line("not tested", fmt::format("{}", fmt::join(report.not_tested, "; ")));
  }
  // One command a line, so that each can be pasted as it stands.
  for (std::size_t i = 0; i < report.next.size(); ++i) {
    out += fmt::format("{} {}{}\n", i == 0 ? "next:" : "     ",
                       file_name.empty() ? "" : "thunderglass ", report.next[i]);
  }
  return out;
}

}  // namespace tg
