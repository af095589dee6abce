#include "core/analysis/call_arguments.h"

#include <algorithm>

namespace tg {

std::vector<const Value*> arguments_for(const BoundSymbol& call, std::size_t index) {
  std::vector<const Value*> given;
  const std::vector<Param>& params = call.op_info().params;
  const Param& param = params[index];
  if (const Value* keyword = keyword_argument(call, param.name)) return {keyword};
  if (param.keyword_only) return given;
  const std::size_t positional = positional_count(call);
  if (index >= positional) return given;
  given.push_back(&call.args[index]);
  const bool is_last = index + 1 == params.size() || params[index + 1].keyword_only;
  for (std::size_t i = index + 1; is_last && i < positional; ++i) given.push_back(&call.args[i]);
  return given;
}

std::optional<bool> flag_argument(const BoundSymbol& call, std::string_view parameter) {
  const std::vector<Param>& params = call.op_info().params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i].name != parameter) continue;
    const std::vector<const Value*> given = arguments_for(call, i);
    if (given.empty()) return params[i].default_text == "True";
    if (given.front()->kind == ValueKind::Bool) return given.front()->text == "True";
    return std::nullopt;
  }
  return false;
}

WrittenParameters written_parameters(const BoundSymbol& call) {
  WrittenParameters written;
  const OpInfo& op = call.op_info();
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    if (op.params[i].alias == "a!") written.parameters.push_back(i);
  }
  if (op.has(kHidesWrites)) {
    // Running statistics: the flag `training` decides.
    const std::optional<bool> training = flag_argument(call, "training");
    if (training == false) written.parameters.clear();
    written.sure = training.has_value();
  }
  if (op.inplace_flag >= 0 && written.parameters.empty()) {
    const std::optional<bool> inplace = flag_argument(call, "inplace");
    if (inplace != false) written.parameters.push_back(0);
    written.sure = inplace.has_value();
  }
  return written;
}

bool reads_written_argument(const OpInfo& op) {
  if (op.has(kCopyInto)) return false;
  return !info(op.twin).has(kFactory);
}

bool contains_copy(const BoundSymbol& statement) {
  std::vector<const BoundSymbol*> open = {&statement};
  while (!open.empty()) {
    const BoundSymbol* at = open.back();
    open.pop_back();
    for (const BoundSymbolRef& child : at->subsymbols) {
      if (child->kind == StatementKind::Call && child->op_info().has(kCopyInto)) return true;
      open.push_back(child.get());
    }
  }
  return false;
}

}  // namespace tg
