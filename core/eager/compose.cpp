#include "core/eager/compose.h"

#include <fmt/format.h>

namespace tg {

RuntimeValue invoke(KernelCall& call, OpCode op, std::vector<RuntimeValue> positional,
                    std::vector<NamedValue> keywords) {
  if (call.failed()) return {};
  KernelCall inner(call.run(), info(op), call.callee());
  inner.bind(std::move(positional), std::move(keywords));
  RuntimeValue result = run_operation(inner);
  call.adopt(inner);
  return call.failed() ? RuntimeValue{} : std::move(result);
}

RuntimeValue int_tuple(const std::vector<std::int64_t>& values) {
  Sequence sequence;
  for (const std::int64_t value : values) sequence.items.push_back({value});
  return {std::move(sequence)};
}

RuntimeValue reduce_loss(KernelCall& call, RuntimeValue losses) {
  const std::string reduction = call.text("reduction");
  if (reduction == "none" || call.failed()) return losses;
  if (reduction == "mean") return invoke(call, OpCode::Mean, {std::move(losses)});
  if (reduction == "sum") return invoke(call, OpCode::Sum, {std::move(losses)});
  call.raise(fmt::format("{} is not a valid value for reduction", reduction), "ValueError");
  return {};
}

}  // namespace tg
