// Foreach operations: each tensor of the first list is written in place, in order. Their operands
// are tensors that exist before the call, so nothing of them is recomputed between the writes.
#include <fmt/format.h>

#include "core/eager/kernel_table.h"

namespace tg {
namespace {

// Item i of a list, or the number that stands for all items.
RuntimeValue item_of(const RuntimeValue& list, std::size_t i) {
  const Sequence* sequence = list.as<Sequence>();
  if (sequence == nullptr) return list;
  return i < sequence->items.size() ? sequence->items[i] : RuntimeValue{};
}

// Runs `op` (an in-place row of the table) on item i of every argument.
RuntimeValue each(KernelCall& call, OpCode op, std::span<const std::string_view> lists,
                  std::string_view keyword, std::string_view keyword_argument) {
  const std::vector<Tensor> tensors = call.tensors("tensors");
  if (call.failed()) return {};
  for (const std::string_view list : lists) {
    const Sequence* sequence = call.arg(list).as<Sequence>();
    if (sequence != nullptr && sequence->items.size() != tensors.size()) {
      call.raise(fmt::format("Tensor lists must have the same number of tensors, got {} and {}",
                             tensors.size(), sequence->items.size()));
      return {};
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    KernelCall one(call.run(), info(op), call.callee());
    std::vector<RuntimeValue> positional{{tensors[i]}};
    for (const std::string_view list : lists) positional.push_back(item_of(call.arg(list), i));
    std::vector<NamedValue> keywords;
    if (!keyword.empty())
      keywords.push_back({std::string(keyword), item_of(call.arg(keyword_argument), i)});
    one.bind(std::move(positional), std::move(keywords));
    run_operation(one);
    call.adopt(one);
    if (call.failed()) return {};
  }
  return {NoneValue{}};
}

constexpr std::string_view kOthers[] = {"others"};
constexpr std::string_view kFactors[] = {"b", "c"};

}  // namespace

RuntimeValue kernel_ForeachAddInto(KernelCall& call) {
  return each(call, OpCode::AddInPlace, kOthers, "alpha", "alpha");
}
RuntimeValue kernel_ForeachSubInto(KernelCall& call) {
  return each(call, OpCode::SubInPlace, kOthers, "alpha", "alpha");
}
RuntimeValue kernel_ForeachMulInto(KernelCall& call) {
  return each(call, OpCode::MulInPlace, kOthers, {}, {});
}
RuntimeValue kernel_ForeachDivInto(KernelCall& call) {
  return each(call, OpCode::DivInPlace, kOthers, {}, {});
}
RuntimeValue kernel_ForeachAddcmulInto(KernelCall& call) {
  return each(call, OpCode::AddcmulInPlace, kFactors, "value", "value");
}
RuntimeValue kernel_ForeachAddcdivInto(KernelCall& call) {
  return each(call, OpCode::AddcdivInPlace, kFactors, "value", "value");
}

}  // namespace tg
