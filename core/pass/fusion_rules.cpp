#include "core/pass/fusion_rules.h"

#include <algorithm>

namespace tg {
namespace {

constexpr int kMaxDepth = 200;

bool on_cpu(const TypeRef& type) {
  return !type || type->device.empty() || type->device.starts_with("cpu");
}

bool holds_needed(const BoundSymbol& statement, int depth) {
  if (fusion_needs(statement.callee)) return true;
  return depth < kMaxDepth && std::any_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                                          [depth](const BoundSymbolRef& child) {
                                            return holds_needed(*child, depth + 1);
                                          });
}

}  // namespace

bool FusionRules::runs_whole(const BoundSymbol& statement) const {
  if (statement.kind != StatementKind::Call || !may_fuse(executor_, statement.callee)) return false;
  const std::vector<NameId> tensors = tensor_args(statement, names_);
  return std::none_of(tensors.begin(), tensors.end(),
                      [this](NameId name) { return on_cpu(names_.type(name)); });
}

bool FusionRules::can_fuse(const BoundSymbol& statement) const {
  if (statement.op == OpCode::Fusion || statement.kind != StatementKind::Call) return false;
  if (runs_whole(statement)) return true;
  return !statement.subsymbols.empty() &&
         std::all_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [this](const BoundSymbolRef& child) { return can_fuse(*child); });
}

bool FusionRules::touches_gpu(const BoundSymbol& statement) const {
  const auto is_gpu = [this](NameId name) {
    return names_.is_tensor(name) && !on_cpu(names_.type(name));
  };
  const std::vector<NameId> inputs = proxy_args(statement, names_);
  const std::vector<NameId> outs = proxy_outs(statement, names_);
  return std::any_of(inputs.begin(), inputs.end(), is_gpu) ||
         std::any_of(outs.begin(), outs.end(), is_gpu);
}

void FusionRules::append_leaves(const BoundSymbolRef& statement,
                                std::vector<BoundSymbolRef>& leaves) const {
  if (runs_whole(*statement) || statement->subsymbols.empty()) {
    leaves.push_back(statement);
    return;
  }
  for (const BoundSymbolRef& child : statement->subsymbols) append_leaves(child, leaves);
}

bool FusionRules::wants_region(const std::vector<BoundSymbolRef>& group) const {
  if (group.size() == 1 && !(can_fuse(*group.front()) && touches_gpu(*group.front()))) return false;
  if (executor_ == "nvfuser") return true;
  return std::any_of(group.begin(), group.end(),
                     [](const BoundSymbolRef& statement) { return holds_needed(*statement, 0); });
}

}  // namespace tg
