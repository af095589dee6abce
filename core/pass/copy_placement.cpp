#include "core/pass/copy_placement.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/pass/swap.h"

namespace tg {
namespace {

std::string unexpected_copy_message(const std::vector<StatementId>& readers,
                                    const std::vector<BoundSymbolRef>& statements, NameId source,
                                    const NameTable& names) {
  std::string symbols;
  for (const StatementId reader : readers) {
    symbols += fmt::format("{}[Symbol name={}]", symbols.empty() ? "" : ", ",
                           base_name(statements[reader]->callee));
  }
  return fmt::format("Unexpected `prims.copy_` found in [{}] for {}", symbols,
                     tensor_repr(source, names));
}

}  // namespace

void place_copies(FunctionalForm& form, const std::vector<KeptCopy>& kept, const NameTable& names) {
  std::vector<BoundSymbolRef> statements;
  statements.reserve(form.statements.size());
  for (const FunctionalStatement& item : form.statements) statements.push_back(item.statement);
  const ConsumerMap consumers(form.names, names.size());
  const ProducerMap producers(form.names, names.size());
  // Thunder looks the anchor up by statement equality.
  const std::vector<StatementId> last_equal =
      last_equal_index(statements, form.names, names.size());
  std::vector<std::vector<std::uint32_t>> behind(statements.size());
  for (const KeptCopy& copy : kept) {
    const std::uint32_t origin = form.writes[copy.write].origin;
    StatementId anchor = producers.of(copy.source);
    if (anchor == kNoStatement) {
      form.error = PassError{"KeyError", fmt::format("'{}'", names.text(copy.source)), origin};
      return;
    }
    std::vector<StatementId> readers;
    for (const StatementId reader : consumers.of(copy.source)) {
      if (!is_return(*statements[reader])) readers.push_back(reader);
    }
    if (std::any_of(readers.begin(), readers.end(),
                    [&](StatementId reader) { return is_raw_copy(*statements[reader]); })) {
      form.error = PassError{
          "RuntimeError", unexpected_copy_message(readers, statements, copy.source, names), origin};
      return;
    }
    if (!readers.empty()) anchor = readers.back();
    behind[last_equal[anchor]].push_back(static_cast<std::uint32_t>(form.copies.size()));
    form.copies.push_back({copy.write, anchor, !readers.empty()});
  }

  // The return names the result of the last copy behind each anchor, and of that alone.
  SwapMap returned;
  for (std::uint32_t i = 0; i + 1 < statements.size(); ++i) {
    form.order.push_back({i, false});
    const std::vector<std::uint32_t>& copies = behind[last_equal[i]];
    for (const std::uint32_t copy : copies) form.order.push_back({copy, true});
    if (copies.empty()) continue;
    const BoundSymbol& last_copy = *form.writes[form.copies[copies.back()].write].copies.back();
    returned.set(first_tensor_arg(last_copy, names), proxy_outs(last_copy, names).front());
  }
  form.order.push_back({static_cast<std::uint32_t>(statements.size() - 1), false});
  form.last = returned.empty() ? statements.back()
                               : swap_names(statements.back(), names, [&returned](NameId name) {
                                   return returned.end(name, nullptr);
                                 });
}

}  // namespace tg
