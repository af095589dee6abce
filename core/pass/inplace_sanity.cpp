// Problem: inside one fusion all copies happen at its exit, so a read of a copy's destination
// behind the copy would see the old value.
//
//   [t2] = nvFusion0(x, y)
//     # t0 = prims.mul(x, y)
//     # a = prims.copy_(t0, x)
//     # t2 = prims.add(x, y)          reads x after the copy: refused
//
// Rules (notes; the trace is never changed)
//   checked-region   a region whose copies are not read behind them
// Refuses: a region that uses a destination, or a copy's result, behind the copy
// (NotImplementedError). Does not see reads through views or aliases, reads before the copy, or
// other kinds of regions; neither does Thunder.

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/pass/all_passes.h"
#include "core/pass/statement_facts.h"
#include "core/text/printer.h"

namespace tg {
namespace {

// As Python shows a statement of Thunder: all lines, without the indentation of a function body.
std::string print_unindented(const BoundSymbol& statement) {
  const std::string printed = print(statement);
  std::string text;
  for (const std::string_view line : split_lines(printed)) {
    if (!text.empty()) text += '\n';
    text += line.starts_with("  ") ? line.substr(2) : line;
  }
  return text;
}

std::optional<PassError> unsafe_use(const BoundSymbol& region, const NameTable& names) {
  const ConsumerMap consumers(region.subsymbols, names);
  for (std::size_t i = 0; i < region.subsymbols.size(); ++i) {
    const BoundSymbol& copy = *region.subsymbols[i];
    if (!is_raw_copy(copy)) continue;
    const auto check = [&](std::string_view text,
                           std::string_view role) -> std::optional<PassError> {
      const NameId name = names.find(text);
      if (name == kNoName || !names.is_proxy(name)) return std::nullopt;
      const std::span<const StatementId> readers = consumers.of(name);
      if (readers.empty() || readers.back() <= i) return std::nullopt;
      const BoundSymbol& reader = *region.subsymbols[readers.back()];
      return PassError{
          "NotImplementedError",
          fmt::format(
              "{} trying to use {} (the {} of 'prims.copy_') as input, which is not safe. There "
              "is a risk of accessing the wrong memory. If you are sure you don't want to use "
              "this check, it can be disabled by setting `disable_inplace_copy_check=True` in "
              "`thunder.jit`.",
              print_unindented(reader), tensor_repr(name, names), role),
          kNoStatement};
    };
    const std::vector<const Value*> args = flat_args(copy);
    if (args.size() > 1 && args[1]->is_name()) {
      if (auto error = check(args[1]->text, "'copy_to' argument")) return error;
    }
    if (copy.output.is_name()) {
      if (auto error = check(copy.output.text, "output")) return error;
    }
  }
  return std::nullopt;
}

}  // namespace

PassResult inplace_sanity(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  const NameTable names(before);
  for (StatementId id = 0; id < before.bound_symbols.size(); ++id) {
    const BoundSymbol& region = *before.bound_symbols[id];
    if (region.kind != StatementKind::Call || !base_name(region.callee).starts_with("nvFusion")) {
      continue;
    }
    if (auto error = unsafe_use(region, names)) {
      error->statement = id;
      return std::move(rw).fail(std::move(*error));
    }
    rw.note("checked-region", id, [&] {
      return fmt::format("nothing in {} reads a destination behind the copy onto it",
                         callee_at(region, id));
    });
  }
  return std::move(rw).unchanged();
}

}  // namespace tg
