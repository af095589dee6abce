#include "core/pass/functional_plan.h"

#include <algorithm>

namespace tg {
namespace {

constexpr std::uint32_t kSharesStorage =
    kView | kMaybeView | kThunderView | kThunderMayView | kIdentity;

const OpInfo& op_of_call(const BoundSymbol& statement) {
  return info(statement.kind == StatementKind::Call ? statement.op : OpCode::Opaque);
}

}  // namespace

FunctionalPlan::FunctionalPlan(const Trace& signature, const std::vector<PlacedStatement>& before,
                               const CanonicalForm& canonical, const FunctionalForm& functional,
                               const NameTable& names)
    : before_(before),
      canonical_(canonical),
      functional_(functional),
      names_(names),
      statements_(before.size()),
      storage_(names.size(), kNoName),
      stage_(names.size(), 0),
      is_argument_(names.size(), false),
      at_depth_0_(names.size(), false),
      writes_to_(names.size()),
      makers_of_(names.size()),
      old_readers_(names.size()) {
  find_storages(signature);
  plan_statements();
  find_old_readers();
}

std::uint32_t FunctionalPlan::origin(std::uint32_t index) const {
  return canonical_.statements[functional_.statements[index].origin].origin;
}

bool FunctionalPlan::is_original(std::uint32_t index) const {
  const FunctionalStatement& statement = functional_.statements[index];
  return !statement.propagated && !canonical_.statements[statement.origin].rebuild;
}

void FunctionalPlan::find_storages(const Trace& signature) {
  for (const Parameter& parameter : signature.parameters) {
    const NameId name = names_.find(parameter.name);
    if (name == kNoName) continue;
    is_argument_[name] = true;
    at_depth_0_[name] = true;
  }
  for (const PlacedStatement& placed : before_) {
    const BoundSymbol& statement = *placed.statement;
    const std::vector<NameId> outs = proxy_outs(statement, names_);
    for (const NameId out : outs) at_depth_0_[out] = true;
    const OpInfo& op = op_of_call(statement);
    NameId source = kNoName;
    if (is_functionalizable(statement)) {
      const BoundSymbol& copy = *statement.subsymbols.back();
      const std::vector<NameId> operands = proxy_args(copy, names_);
      if (operands.size() > 1) source = operands[1];
      for (const NameId out : proxy_outs(copy, names_)) share(out, source);
    } else if (op.has(kCopyInto)) {
      const auto index = static_cast<std::size_t>(std::max(op.mutated_param, 0));
      const std::vector<NameId> operands = proxy_args(statement, names_);
      if (index < operands.size()) source = operands[index];
    } else if (op.has(kSharesStorage)) {
      source = first_tensor_arg(statement, names_);
    }
    for (const NameId out : outs) share(out, source);
  }
}

void FunctionalPlan::share(NameId name, NameId source) {
  if (source == kNoName || name == source || storage_[name] != kNoName) return;
  const NameId storage = storage_of(source);
  if (storage != name) storage_[name] = storage;
}

void FunctionalPlan::plan_statements() {
  std::vector<std::uint32_t> rebuilds;  // of the statement to come
  for (std::uint32_t i = 0; i < functional_.statements.size(); ++i) {
    const BoundSymbol& statement = *functional_.statements[i].statement;
    if (functional_.statements[i].propagated) {
      writes_.back().propagated.push_back(i);
      mark_outputs(statement, static_cast<std::uint32_t>(writes_.size()));
      continue;
    }
    if (!is_original(i)) {
      mark_outputs(statement, latest_stage(statement));
      rebuilds.push_back(i);
      continue;
    }
    StatementPlan& plan = statements_[origin(i)];
    plan.form = functional_.statements[i].statement;
    plan.index = i;
    plan.rebuilds = std::move(rebuilds);
    rebuilds.clear();
    plan_statement(origin(i));
  }
  for (const PlacedCopy& copy : functional_.copies) {
    WritePlan& write = writes_[copy.write];
    write.kept = true;
    for (const BoundSymbolRef& statement : functional_.writes[copy.write].copies) {
      for (const NameId out : proxy_outs(*statement, names_)) share(out, write.storage);
    }
  }
}

void FunctionalPlan::plan_statement(std::uint32_t i) {
  StatementPlan& plan = statements_[i];
  const BoundSymbol& statement = original(i);
  if (is_functionalizable(statement)) {
    plan_write(i);
    return;
  }
  plan.changes = plan.form != before_[i].statement || !plan.rebuilds.empty();
  if (!plan.changes) return;
  plan.stage = latest_stage(*plan.form);
  plan.makes_view = op_of_call(statement).has(kSharesStorage);
  if (plan.makes_view) {
    makers_.push_back(i);
    const NameId source = first_tensor_arg(statement, names_);
    if (source == kNoName) return;
    plan.storage = storage_of(source);
    makers_of_[plan.storage].push_back(i);
  } else if (!writes_.empty()) {
    writes_[plan.stage == 0 ? 0 : plan.stage - 1].readers.push_back(i);
  }
}

void FunctionalPlan::plan_write(std::uint32_t i) {
  StatementPlan& plan = statements_[i];
  plan.write = static_cast<std::uint32_t>(writes_.size());
  plan.stage = plan.write + 1;
  WritePlan write;
  write.statement = i;
  write.literal = copy_back_of(original(i));
  const std::vector<NameId> operands = proxy_args(*write.literal, names_);
  if (operands.size() > 1) {
    write.storage = storage_of(operands[1]);
    if (writes_to_[write.storage].empty()) written_storages_.push_back(write.storage);
    writes_to_[write.storage].push_back(plan.write);
  }
  plan.storage = write.storage;
  writes_.push_back(std::move(write));
  mark_outputs(*plan.form, plan.stage);
}

void FunctionalPlan::mark_outputs(const BoundSymbol& statement, std::uint32_t stage) {
  for (const NameId out : proxy_outs(statement, names_)) {
    if (!at_depth_0_[out]) stage_[out] = stage;
  }
}

std::uint32_t FunctionalPlan::latest_stage(const BoundSymbol& statement) const {
  std::uint32_t latest = 0;
  for (const NameId name : proxy_args(statement, names_)) latest = std::max(latest, stage_[name]);
  return latest;
}

void FunctionalPlan::find_old_readers() {
  for (std::uint32_t i = 0; i < statements_.size(); ++i) {
    const StatementPlan& plan = statements_[i];
    if (plan.write != kNoIndex || is_return(original(i)) ||
        op_of_call(original(i)).has(kSharesStorage)) {
      continue;
    }
    for (const NameId name : proxy_args(*plan.form, names_)) {
      const NameId storage = storage_of(name);
      if (!writes_to_[storage].empty() && stage_[name] == 0) {
        old_readers_[storage].emplace_back(i, name);
      }
    }
  }
}

std::uint32_t FunctionalPlan::last_write_before(NameId storage, std::uint32_t i) const {
  if (storage == kNoName) return kNoIndex;
  const std::vector<std::uint32_t>& writes = writes_to_[storage];
  const auto after = std::partition_point(writes.begin(), writes.end(), [&](std::uint32_t write) {
    return writes_[write].statement < i;
  });
  return after == writes.begin() ? kNoIndex : *(after - 1);
}

std::pair<std::uint32_t, NameId> FunctionalPlan::old_reader(NameId storage, std::uint32_t from,
                                                            std::uint32_t to) const {
  const auto& readers = old_readers_[storage];
  const auto found = std::partition_point(
      readers.begin(), readers.end(), [from](const auto& reader) { return reader.first <= from; });
  if (found == readers.end() || found->first > to) return {kNoIndex, kNoName};
  return *found;
}

}  // namespace tg
