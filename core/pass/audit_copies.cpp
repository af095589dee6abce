// audit_copies
//
// Problem: a trace holds more copy_ than its observable result needs; each one moves bytes and
// orders others.
//
//   a = prims.mul(x, y)                   a = prims.mul(x, y)
//   t1 = prims.copy_(a, x)       =>       b = prims.exp(y)
//   b = prims.exp(y)                      t3 = prims.copy_(b, x)
//   t3 = prims.copy_(b, x)                return (b,)
//   return (b,)
//
// Rules: `dead-copy` (no byte that it writes is read before it is overwritten or out of sight),
// `self-copy` (source and destination are the same elements). Notes: `kept`, `inside` (removable,
// but in the text of a composite or region, which stays), `after-return` (never executed).
//
// It refuses to remove: a copy whose bytes something may read, whatever the name (views, other
// arguments, unknown strides); a copy onto a view in which elements overlap; a copy whose result is
// read where the destination's name means something else. Legality follows passes.md P22 "Sound":
// storage-level backward liveness; what the caller can see at exit is all of every argument's
// storage and every returned storage. Autograd's version counters are not modelled.
#include "core/pass/audit_copies.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/analysis/findings.h"
#include "core/base/text.h"
#include "core/pass/copy_auditor.h"
#include "core/pass/name_table.h"
#include "core/pass/swap.h"

namespace tg {
namespace {

struct AnswerRow {
  CopyAnswer answer;
  std::string_view text;
  std::string_view help;
};

constexpr AnswerRow kAnswers[] = {
    {CopyAnswer::NoOp, "no_op",
     "Source and destination are the same elements of the same storage, or the destination has no "
     "elements."},
    {CopyAnswer::NeededByArgument, "needed_by_argument",
     "The bytes belong to an argument and nothing overwrites them: the caller sees them when the "
     "program is over."},
    {CopyAnswer::NeededSeparateBuffer, "needed_separate_buffer",
     "The bytes are read later, and before that the source or the destination changes, so the "
     "value needs a "
     "buffer of its own."},
    {CopyAnswer::LayoutOrDtypeChange, "layout_or_dtype_change",
     "The bytes are read later, and the source holds the value in another dtype, shape or memory "
     "layout."},
    {CopyAnswer::NeededByLaterRead, "needed_by_later_read",
     "A later statement, or the return, reads the written bytes through some name."},
    {CopyAnswer::MayAliasUnknown, "may_alias_unknown",
     "Strides or sharing are not known from the text, so something might read the written bytes; "
     "it is kept."},
    {CopyAnswer::OverwrittenLater, "overwritten_later",
     "Written bytes are overwritten before anything reads them: the copy can go."},
    {CopyAnswer::NeverRead, "never_read",
     "Nothing reads the written bytes and the caller cannot see them: the copy can go."},
};

const AnswerRow& row(CopyAnswer answer) {
  return kAnswers[static_cast<std::size_t>(answer)];
}

std::string sentence(const CopyFinding& finding) {
  std::string text = fmt::format("{}: {}", answer_text(finding.answer), finding.reason);
  if (finding.stale) text += fmt::format("; stale: {}", *finding.stale);
  return text;
}

// Groups say who shares a storage, not where in it.
ArgumentFacts facts_of(const PassContext& context) {
  ArgumentFacts facts = context.options.argument_facts;
  const bool groups_alone = !context.options.alias_groups.empty() && facts.windows.empty();
  facts.may_alias_each_other =
      facts.may_alias_each_other || context.options.may_alias_arguments || groups_alone;
  return facts;
}

// Readers of a removed copy's result read its destination, which lives as long as they need it.
void rename_readers(Rewriter& rewriter, Rewriter::StepHandle& step, const CopyRemoval& removal,
                    const NameTable& names) {
  if (removal.result.empty()) return;
  const NameId from = names.find(removal.result);
  const NameId to = names.find(removal.destination);
  const auto lookup = [from, to](NameId name) { return name == from ? to : kNoName; };
  for (const std::uint32_t reader : removal.readers) {
    const BoundSymbolRef statement = rewriter.statement(reader);
    if (!statement) continue;
    const BoundSymbolRef renamed = swap_names(statement, names, lookup, {.output = false});
    if (renamed != statement) step.replace(reader, renamed);
  }
  const auto shorten = [&](std::uint32_t del, std::string_view dropped) {
    const BoundSymbolRef statement = rewriter.statement(del);
    if (!statement) return;
    BoundSymbol shorter = *statement;
    shorter.verbatim.reset();
    std::erase_if(shorter.args, [dropped](const Value& name) { return name.is_name(dropped); });
    if (shorter.args.empty()) {
      step.erase(del);
    } else {
      step.replace(del, std::move(shorter));
    }
  };
  for (const std::uint32_t del : removal.dels) shorten(del, removal.result);
  for (const std::uint32_t del : removal.too_early) shorten(del, removal.destination);
}

}  // namespace

std::string_view answer_text(CopyAnswer answer) {
  return row(answer).text;
}
std::string_view answer_help(CopyAnswer answer) {
  return row(answer).help;
}

const std::vector<CopyAnswer>& all_copy_answers() {
  static const std::vector<CopyAnswer> all = [] {
    std::vector<CopyAnswer> answers;
    for (const AnswerRow& answer : kAnswers) answers.push_back(answer.answer);
    return answers;
  }();
  return all;
}

std::vector<CopyFinding> audit(const Trace& trace, const ArgumentFacts& facts,
                               const Trace* earlier) {
  return audit_with(trace, facts, earlier, nullptr);
}

std::string one_line(const CopyFinding& finding) {
  std::string text = fmt::format("{} {}", place_text(finding.at, finding.path), finding.text);
  if (finding.bytes) text += " " + bytes_text(*finding.bytes);
  text += fmt::format(": {}", answer_text(finding.answer));
  if (finding.stale) text += fmt::format(", but stale: {}", *finding.stale);
  return text;
}

PassResult audit_copies(const Trace& before, PassContext& context) {
  Rewriter rewriter(before, context);
  const NameTable names(before);
  const auto erase = [&](const CopyRemoval& removal, const CopyFinding& finding) {
    const bool self = finding.answer == CopyAnswer::NoOp;
    auto step = rewriter.step(self ? "self-copy" : "dead-copy", removal.statement, [&] {
      std::string reason = fmt::format("removed {}: {}", finding.text, sentence(finding));
      if (!removal.readers.empty()) {
        reason += fmt::format("; `{}` is replaced by `{}`", removal.result, removal.destination);
      }
      return reason;
    });
    if (!step.applied()) return false;
    step.erase(removal.statement);
    rename_readers(rewriter, step, removal, names);
    return true;
  };
  const std::vector<CopyFinding> findings = audit_with(before, facts_of(context), nullptr, erase);
  for (const CopyFinding& finding : findings) {
    if (finding.removable && finding.at_depth_0) continue;
    const bool executed = finding.answer != CopyAnswer::NeverRead || finding.removable;
    const std::string_view rule = finding.removable ? "inside" : executed ? "kept" : "after-return";
    rewriter.note(rule, finding.path.front(), [&finding] {
      return fmt::format("{}{}: {}",
                         finding.removable ? "would be removable: " : "kept: ", finding.text,
                         sentence(finding));
    });
  }
  return std::move(rewriter).finish("`prims.copy_` audit (sound)");
}

}  // namespace tg
