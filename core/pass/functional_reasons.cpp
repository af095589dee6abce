#include "core/pass/functional_reasons.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/printer.h"

namespace tg {
namespace {

// "cos (line 7), neg (line 8)", shortened when there are many.
std::string listed(const FunctionalPlan& plan, const std::vector<std::uint32_t>& statements) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < statements.size() && i < kMost; ++i) {
    text += (text.empty() ? "" : ", ") + at(plan, statements[i]);
  }
  if (statements.size() > kMost) text += fmt::format(" and {} more", statements.size() - kMost);
  return text;
}

std::string_view destination(const FunctionalPlan& plan, const WritePlan& write) {
  return plan.names().text(proxy_args(*write.literal, plan.names())[1]);
}

// "; return (line 9) reads t1, the value after exp_ (line 4), although add_ (line 6) writes the
// same storage in between": Thunder reads a value that is not the newest.
std::string stale_text(const FunctionalPlan& plan, std::uint32_t reader) {
  for (const NameId name : proxy_args(*plan.statements()[reader].form, plan.names())) {
    const std::uint32_t stage = plan.stage_of(name);
    if (stage == 0) continue;
    const WritePlan& write = plan.writes()[stage - 1];
    const std::uint32_t later = plan.last_write_before(write.storage, reader);
    if (later == kNoIndex || later < stage) continue;
    return fmt::format(
        "; {} reads {}, the value after {}, although {} writes the same storage in between",
        at(plan, reader), plan.names().text(name), at(plan, write.statement),
        at(plan, plan.writes()[later].statement));
  }
  return {};
}

// "; cos (line 11) still reads t0, which shares its storage"
std::string old_reader_text(const FunctionalPlan& plan, NameId storage, std::uint32_t from,
                            std::uint32_t to) {
  const auto [reader, name] = plan.old_reader(storage, from, to);
  if (reader == kNoIndex) return {};
  return fmt::format(
      "; {} still reads {}, which {}", at(plan, reader), plan.names().text(name),
      plan.storage_of(name) == name ? "the copy would have written" : "shares its storage");
}

// Why Thunder copies nothing back to the argument that the write belongs to.
std::string no_copy_back_text(const FunctionalPlan& plan, const WritePlan& write,
                              const FunctionalWrite& form) {
  const std::string_view storage = plan.names().text(write.storage);
  const std::string_view name =
      form.gave_up_at == kNoName ? "" : plan.names().text(form.gave_up_at);
  const std::string who = at(plan, write.statement);
  switch (form.why) {
    case NoCopyBack::NoProducer:
      return fmt::format(
          "{} has no producer line, so the write of {} is kept on a temporary only: no copy "
          "back, so {} keeps what was copied before",
          name, who, storage);
    case NoCopyBack::Factory:
      return fmt::format(
          "{} is made from no tensor, so the write of {} is not known as one to {}: no copy "
          "back, so {} keeps what was copied before",
          name, who, storage, storage);
    case NoCopyBack::NotAView:
      return fmt::format(
          "{} is made by a line that is neither a view nor marked in place, so the write of {} is "
          "not known as one to {}: no copy back, so {} keeps what was copied before",
          name, who, storage, storage);
    case NoCopyBack::HasCopyBack:
      break;
  }
  return {};
}

std::string erase_sentence(const FunctionalPlan& plan, std::uint32_t index,
                           std::uint32_t next_kept) {
  const WritePlan& write = plan.writes()[index];
  const FunctionalWrite& form = plan.functional().writes[index];
  const std::string_view storage = plan.names().text(write.storage);
  const std::string what =
      fmt::format("the copy of {} onto {} by {}", plan.names().text(form.source),
                  destination(plan, write), at(plan, write.statement));
  if (!plan.is_argument(write.storage)) {
    return fmt::format("{} is dropped: {} is a temporary and its readers read {}", what, storage,
                       plan.names().text(form.source));
  }
  if (write.kept) {
    return fmt::format("{} is not needed: {} writes the argument itself", what,
                       one_line(*form.copies.back()));
  }
  if (form.argument == kNoName) return no_copy_back_text(plan, write, form);
  if (next_kept == kNoIndex) return fmt::format("{} is dropped: another copy took its place", what);
  return fmt::format("{} is superseded by that of {}: one copy onto {} is kept, the last", what,
                     at(plan, plan.writes()[next_kept].statement), storage);
}

}  // namespace

std::string at(const FunctionalPlan& plan, std::uint32_t statement) {
  return callee_at(plan.original(statement), plan.id(statement));
}

std::string split_reason(const FunctionalPlan& plan, std::uint32_t index) {
  const WritePlan& write = plan.writes()[index];
  return fmt::format("{} writes {}; it becomes {}, followed by the copy of {} back onto {}",
                     at(plan, write.statement), destination(plan, write),
                     base_name(plan.statements()[write.statement].form->callee),
                     plan.names().text(plan.functional().writes[index].source),
                     destination(plan, write));
}

std::string rename_reason(const FunctionalPlan& plan, std::uint32_t index,
                          const std::vector<std::uint32_t>& ready, bool rebuilds) {
  const WritePlan& write = plan.writes()[index];
  std::string text = fmt::format("{} is the value of {} after {}",
                                 plan.names().text(plan.functional().writes[index].source),
                                 destination(plan, write), at(plan, write.statement));
  if (!write.propagated.empty()) {
    text += fmt::format("; {} of the same storage {} rebuilt from it",
                        count_of(write.propagated.size(), "name", "names"),
                        write.propagated.size() == 1 ? "is" : "are");
  }
  if (!ready.empty()) {
    text += fmt::format("; {} {} the new value{}", listed(plan, ready),
                        ready.size() == 1 ? "reads" : "read",
                        rebuilds ? ", the base as a reshape of it" : "");
  }
  for (const std::uint32_t reader : ready) {
    const std::string stale = stale_text(plan, reader);
    if (!stale.empty()) return text + stale;
  }
  return text;
}

std::string copy_to_argument_reason(const FunctionalPlan& plan, std::uint32_t index) {
  const WritePlan& write = plan.writes()[index];
  const FunctionalWrite& form = plan.functional().writes[index];
  const bool names_argument = proxy_args(*write.literal, plan.names())[1] == form.argument;
  if (form.copies.size() == 1 && names_argument) {
    return fmt::format(
        "{} is not the first write to {}; Thunder copies its value under a new name, {}",
        at(plan, write.statement), destination(plan, write), to_text(form.copies.front()->output));
  }
  return fmt::format(
      "{} belongs to argument {}, so the value of {} is copied to the argument instead{}",
      destination(plan, write), plan.names().text(form.argument), at(plan, write.statement),
      form.copies.size() > 1 ? ", through a reshape" : "");
}

std::string rename_views_reason(const FunctionalPlan& plan, NameId storage) {
  const std::vector<std::uint32_t>& makers = plan.makers_of(storage);
  const WritePlan& last = plan.writes()[plan.writes_to(storage).back()];
  return fmt::format("every write to {} is functional now, the last is {}; {} {} of the new value",
                     plan.names().text(storage), at(plan, last.statement), listed(plan, makers),
                     makers.size() == 1 ? "becomes a view" : "become views");
}

std::string erase_reason(const FunctionalPlan& plan, std::uint32_t index, std::uint32_t last_kept) {
  const WritePlan& write = plan.writes()[index];
  const std::uint32_t next_kept = last_kept != kNoIndex && last_kept > index ? last_kept : kNoIndex;
  const std::uint32_t until = next_kept == kNoIndex
                                  ? static_cast<std::uint32_t>(plan.statements().size())
                                  : plan.writes()[next_kept].statement;
  return erase_sentence(plan, index, next_kept) +
         old_reader_text(plan, write.storage, write.statement, until);
}

std::string place_reason(const FunctionalPlan& plan, const PlacedCopy& copy, StatementId anchor) {
  const WritePlan& write = plan.writes()[copy.write];
  const FunctionalWrite& form = plan.functional().writes[copy.write];
  return fmt::format(
      "{} moves behind {}, {} {}{}", one_line(*form.copies.back()),
      callee_at(*plan.functional().statements[copy.anchor].statement, anchor),
      copy.has_reader ? "the last reader of" : "which makes", plan.names().text(form.source),
      old_reader_text(plan, write.storage, write.statement, plan.origin(copy.anchor)));
}

}  // namespace tg
