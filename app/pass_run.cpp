#include "app/pass_run.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/printer.h"

namespace tg {
namespace {

bool read_number(std::string_view text, std::size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

}  // namespace

StepFilter filter_of(const std::vector<std::string>& skips) {
  StepFilter filter;
  for (const std::string& skip : skips) {
    std::size_t number = 0;
    if (read_number(skip, number)) {
      filter.skip_numbers.push_back(number);
    } else {
      filter.skip_rules.push_back(skip);
    }
  }
  return filter;
}

std::optional<SkipRefusal> refused_skip(const StepFilter& asked, std::string_view pass,
                                        std::span<const Step> steps) {
  const auto can_be_skipped = [](const Step& step) {
    return !step.edits.empty() || step.reason.starts_with("skipped: ");
  };
  const auto refusal = [&](std::string message) {
    std::string listed;
    std::size_t shown = 0;
    constexpr std::size_t kMostShown = 12;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (!can_be_skipped(steps[i])) continue;
      if (++shown > kMostShown) {
        listed += ", ...";
        break;
      }
      listed += fmt::format("{}{} {}", listed.empty() ? "" : ", ", i + 1, steps[i].rule);
    }
    return SkipRefusal{std::move(message),
                       listed.empty() ? fmt::format("{} has no step here", pass)
                                      : fmt::format("the steps of {} are {}", pass, listed)};
  };
  for (const std::size_t number : asked.skip_numbers) {
    if (number == 0 || number > steps.size()) {
      return refusal(fmt::format("there is no step {} to skip", number));
    }
    if (!can_be_skipped(steps[number - 1])) {
      return refusal(fmt::format("step {} is a note and changes nothing", number));
    }
  }
  for (const std::string& rule : asked.skip_rules) {
    const bool known = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
      return step.rule == rule && can_be_skipped(step);
    });
    if (!known) return refusal(fmt::format("no step has the rule '{}'", rule));
  }
  return std::nullopt;
}

std::optional<AliasGroups> parse_alias_groups(std::string_view text) {
  AliasGroups groups;
  while (!text.empty()) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    std::string_view group = text.substr(0, dash);
    text.remove_prefix(std::min(text.size(), dash + 1));
    std::vector<std::size_t> indices;
    while (!group.empty()) {
      const std::size_t comma = std::min(group.find(','), group.size());
      std::size_t index = 0;
      if (!read_number(group.substr(0, comma), index)) return std::nullopt;
      indices.push_back(index);
      group.remove_prefix(std::min(group.size(), comma + 1));
    }
    if (indices.size() < 2) return std::nullopt;
    groups.push_back(std::move(indices));
  }
  return groups;
}

std::string label_of(const Trace& trace, std::string_view otherwise) {
  if (trace.provenance.empty()) return std::string(otherwise);
  return trace.provenance.substr(0, trace.provenance.rfind(" (took "));
}

std::shared_ptr<const Document> run_pass(const Document& document, std::size_t before,
                                         const PassInfo& pass, PassContext context) {
  auto run = std::make_shared<PassRun>();
  run->pass = pass.name;
  run->before = before;
  const Trace& start = document.trace(before);
  run->result = pass.run(start, context);
  run->context = std::move(context);
  const bool changed = !run->result.error && !(run->result.after == start);
  std::shared_ptr<Document> next;
  if (changed) {
    DocumentPhase made;
    made.phase.trace = run->result.after;
    made.phase.kind = document.phases[before]->phase.kind;
    made.phase.label = label_of(run->result.after, pass.name);
    made.from_file = false;
    made.made_by = pass.name;
    made.made_from = before;
    next = with_phase(document, std::move(made));
  } else {
    next = std::make_shared<Document>(document);
  }
  Cursor cursor;
  cursor.phase = changed ? next->phases.size() - 1 : before;
  cursor.done = run->result.steps.size();
  cursor.run = std::move(run);
  next->cursor = std::move(cursor);
  return next;
}

std::shared_ptr<const Document> move_cursor(const Document& document, std::size_t done) {
  auto next = std::make_shared<Document>(document);
  Cursor& cursor = *next->cursor;
  const PassResult& result = cursor.run->result;
  cursor.done = std::min(done, result.steps.size());
  if (cursor.phase != cursor.run->before) {
    DocumentPhase made = *next->phases[cursor.phase];
    const std::span<const Step> applied(result.steps.data(), cursor.done);
    made.phase.trace = cursor.done == result.steps.size()
                           ? result.after
                           : replay(document.trace(cursor.run->before), applied);
    next->phases[cursor.phase] = std::make_shared<const DocumentPhase>(std::move(made));
  }
  return next;
}

std::string StepPrinter::statement_text(StatementId id) const {
  const auto found = current_.find(id);
  if (found != current_.end() && found->second) return one_line(*found->second);
  return id < before_.bound_symbols.size() ? one_line(*before_.bound_symbols[id]) : "";
}

std::string StepPrinter::text(const Step& step, std::size_t number) {
  const std::string indent(2 * static_cast<std::size_t>(step.depth), ' ');
  const bool acts = !step.edits.empty();
  const std::string place = step.at.line == 0 ? "" : fmt::format("  line {}", step.at.line);
  std::string out = fmt::format("{}{} {:>2}  {}{}\n", indent, acts ? "step" : "note", number,
                                paint_(acts ? Role::Heading : Role::Dim, step.rule), place);
  constexpr std::size_t kWidth = 96;
  const std::size_t column = indent.size() + 9;
  const std::string margin(column, ' ');
  out += margin + wrap(step.reason, kWidth, column) + "\n";
  // What is erased in one place and put into another has moved.
  std::vector<std::string> erased;
  for (const Edit& edit : step.edits) {
    if (edit.kind == Edit::Kind::Erase) erased.push_back(statement_text(edit.at));
  }
  std::vector<std::string> moved;
  for (const Edit& edit : step.edits) {
    if (edit.kind == Edit::Kind::Replace || !edit.statement) continue;
    const auto from = std::find(erased.begin(), erased.end(), one_line(*edit.statement));
    if (from == erased.end()) continue;
    moved.push_back(*from);
    erased.erase(from);
  }
  for (const Edit& edit : step.edits) {
    if (edit.kind == Edit::Kind::Erase || edit.kind == Edit::Kind::Replace) {
      const std::string gone = statement_text(edit.at);
      const bool stays = edit.kind == Edit::Kind::Erase &&
                         std::find(moved.begin(), moved.end(), gone) != moved.end();
      const bool inside =
          edit.kind == Edit::Kind::Replace && edit.statement && one_line(*edit.statement) == gone;
      if (inside) {
        out += margin + paint_(Role::Changed, "~ " + gone) + "  (its sub-statements)\n";
        current_[edit.at] = edit.statement;
        continue;
      }
      if (!stays) out += margin + paint_(Role::Removed, "- " + gone) + "\n";
    }
    if (!edit.statement) continue;
    const std::string come = one_line(*edit.statement);
    const bool moves = edit.kind != Edit::Kind::Replace &&
                       std::find(moved.begin(), moved.end(), come) != moved.end();
    out += margin +
           (moves ? paint_(Role::Changed, "> " + come) : paint_(Role::Added, "+ " + come)) + "\n";
    current_[edit.kind == Edit::Kind::Replace ? edit.at : edit.inserted] = edit.statement;
  }
  return out;
}

std::vector<std::string> step_texts(std::span<const Step> steps, const Trace& before,
                                    const Paint& paint) {
  StepPrinter printer(before, paint);
  std::vector<std::string> texts;
  for (const Step& step : steps) texts.push_back(printer.text(step, texts.size() + 1));
  return texts;
}

std::string steps_text(std::span<const Step> steps, const Trace& before, const Paint& paint) {
  const std::vector<std::string> texts = step_texts(steps, before, paint);
  std::string out;
  std::string group;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].group != group) {
      group = steps[i].group;
      const std::size_t depth = steps[i].depth > 0 ? steps[i].depth - 1 : 0;
      if (!group.empty()) out += std::string(2 * depth, ' ') + paint(Role::View, group) + "\n";
    }
    out += texts[i];
  }
  return out;
}

std::string step_counts(std::span<const Step> steps) {
  const auto acting = static_cast<std::size_t>(std::count_if(
      steps.begin(), steps.end(), [](const Step& step) { return !step.edits.empty(); }));
  std::string text = count_of(acting, "step", "steps");
  if (acting < steps.size()) text += ", " + count_of(steps.size() - acting, "note", "notes");
  return text;
}

}  // namespace tg
