#include "core/pass/region.h"

#include <algorithm>
#include <unordered_set>

#include "core/pass/all_passes.h"

namespace tg {
namespace {

using NameSet = std::unordered_set<NameId>;

void append_appearances(const BoundSymbol& statement, const NameTable& names,
                        std::vector<NameId>& order, NameSet& seen) {
  for (const BoundSymbolRef& child : statement.subsymbols) {
    append_appearances(*child, names, order, seen);
  }
  for (const NameId name : proxy_args(statement, names)) {
    if (seen.insert(name).second) order.push_back(name);
  }
  for (const NameId name : proxy_outs(statement, names)) {
    if (seen.insert(name).second) order.push_back(name);
  }
}

Value names_value(const std::vector<NameId>& list, const NameTable& names) {
  std::vector<Value> items;
  for (const NameId name : list) items.push_back(Value::name(names.text(name)));
  return Value::list(std::move(items));
}

}  // namespace

bool is_shape_op(const BoundSymbol& statement) {
  const auto tagged = [](const BoundSymbol& part) {
    if (part.op_info().has(kShapeOp)) return true;
    return std::any_of(part.subsymbols.begin(), part.subsymbols.end(),
                       [](const BoundSymbolRef& child) { return child->op_info().has(kShapeOp); });
  };
  return tagged(statement) &&
         std::all_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [&tagged](const BoundSymbolRef& child) { return tagged(*child); });
}

RegionBorder border_of(const std::vector<StatementId>& group, Statements statements,
                       const NameTable& names, const ProducerMap& producers,
                       const ConsumerMap& consumers) {
  const std::unordered_set<StatementId> members(group.begin(), group.end());
  std::vector<NameId> order;
  NameSet seen;
  NameSet consumed;
  NameSet produced;
  for (const StatementId id : group) {
    append_appearances(*statements[id], names, order, seen);
    for (const NameId name : proxy_args(*statements[id], names)) consumed.insert(name);
    for (const NameId name : proxy_outs(*statements[id], names)) {
      if (producers.of(name) == id) produced.insert(name);
    }
  }
  RegionBorder border;
  for (const NameId name : order) {
    const StatementId producer = producers.of(name);
    if (consumed.contains(name) && !members.contains(producer)) border.inputs.push_back(name);
    if (!produced.contains(name)) continue;
    const std::span<const StatementId> readers = consumers.of(name);
    if (std::any_of(readers.begin(), readers.end(),
                    [&members](StatementId reader) { return !members.contains(reader); })) {
      border.outputs.push_back(name);
    }
  }
  return border;
}

BoundSymbolRef make_region(const std::vector<BoundSymbolRef>& group, const RegionBorder& border,
                           std::string name, const FusionRules& rules, const NameTable& names,
                           Era era) {
  Trace body;
  body.name = "region";
  std::unordered_set<std::string_view> parameters;
  for (const NameId input : border.inputs) {
    parameters.insert(names.text(input));
    body.parameters.push_back({"", std::string(names.text(input)), Value::absent()});
  }
  for (const BoundSymbolRef& statement : group) {
    std::vector<BoundSymbolRef> leaves;
    rules.append_leaves(statement, leaves);
    for (const BoundSymbolRef& leaf : leaves) {
      auto part = std::make_shared<BoundSymbol>(*leaf);
      if (leaf == statement) part->header = statement->header;
      part->program_line = nullptr;
      part->verbatim.reset();
      body.bound_symbols.push_back(std::move(part));
    }
  }
  BoundSymbol last;
  last.kind = StatementKind::Return;
  last.args = {names_value(border.outputs, names)};
  body.bound_symbols.push_back(std::make_shared<const BoundSymbol>(std::move(last)));
  PassContext context;
  context.record_steps = false;
  context.options.era = era;
  const PassResult needed = dead_code(body, context);
  BoundSymbol region;
  region.op = OpCode::Fusion;
  region.callee = std::move(name);
  region.subsymbols = needed.after.bound_symbols;
  if (!region.subsymbols.empty()) region.subsymbols.pop_back();
  const NameTable inner(needed.after);
  std::unordered_set<std::string_view> read;
  for (const BoundSymbolRef& part : region.subsymbols) {
    for (const NameId arg : proxy_args(*part, inner)) read.insert(inner.text(arg));
  }
  for (const NameId input : border.inputs) {
    if (read.contains(names.text(input))) region.args.push_back(Value::name(names.text(input)));
  }
  if (!border.outputs.empty()) region.output = names_value(border.outputs, names);
  for (const BoundSymbolRef& statement : group) {
    if (region.at.line == 0) region.at = statement->at;
  }
  return std::make_shared<const BoundSymbol>(std::move(region));
}

Bookends bookends_of(const std::vector<BoundSymbolRef>& group, const RegionBorder& border,
                     const NameTable& names) {
  Bookends ends;
  NameSet outside(border.inputs.begin(), border.inputs.end());
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::vector<NameId> inputs = proxy_args(*group[i], names);
    const bool ready = std::all_of(inputs.begin(), inputs.end(),
                                   [&outside](NameId name) { return outside.contains(name); });
    if (!is_shape_op(*group[i]) || !ready) {
      rest.push_back(i);
      continue;
    }
    ends.front.push_back(i);
    for (const NameId out : proxy_outs(*group[i], names)) outside.insert(out);
  }
  NameSet needed;
  for (std::size_t k = rest.size(); k-- > 0;) {
    const std::size_t i = rest[k];
    const std::vector<NameId> outs = proxy_outs(*group[i], names);
    const bool is_read = std::any_of(outs.begin(), outs.end(),
                                     [&needed](NameId name) { return needed.contains(name); });
    if (is_shape_op(*group[i]) && !is_read) {
      ends.rear.insert(ends.rear.begin(), i);
      continue;
    }
    ends.middle.insert(ends.middle.begin(), i);
    for (const NameId name : proxy_args(*group[i], names)) needed.insert(name);
  }
  return ends;
}

}  // namespace tg
