#include "core/check/saved_tensors.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tg {
namespace {

const BoundSymbol* return_of(const Trace& trace) {
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::Return) return statement.get();
  }
  return nullptr;
}

// `return a, (b, c)` may be read as one tuple or as two values.
const Value* saved_collection(const Trace& forward) {
  const BoundSymbol* last = return_of(forward);
  if (last == nullptr) return nullptr;
  const std::vector<Value>& parts =
      last->args.size() == 1 && last->args.front().kind == ValueKind::Tuple
          ? last->args.front().items
          : last->args;
  if (parts.size() != 2 || !parts[1].is_collection()) return nullptr;
  const bool all_groups = std::all_of(parts[1].items.begin(), parts[1].items.end(),
                                      [](const Value& group) { return group.is_collection(); });
  return all_groups ? &parts[1] : nullptr;
}

const BoundSymbol* unpacking_of(const Trace& trace, std::string_view sequence) {
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::UnpackSequence && !statement->args.empty() &&
        statement->args.front().is_name(sequence)) {
      return statement.get();
    }
  }
  return nullptr;
}

const RuntimeValue* entry_of(const RuntimeValue& value, std::string_view key) {
  const Mapping* mapping = value.as<Mapping>();
  if (mapping == nullptr) return nullptr;
  for (const MappingItem& item : mapping->items) {
    if (item.key == key) return &item.value;
  }
  return nullptr;
}

void append_leaves(const RuntimeValue& value, std::vector<RuntimeValue>& leaves) {
  if (const Sequence* sequence = value.as<Sequence>()) {
    for (const RuntimeValue& item : sequence->items) append_leaves(item, leaves);
    return;
  }
  if (const Mapping* mapping = value.as<Mapping>()) {
    for (const MappingItem& item : mapping->items) append_leaves(item.value, leaves);
    return;
  }
  leaves.push_back(value);
}

std::optional<RuntimeValue> cotangent_of(const RuntimeValue& output, std::size_t position) {
  const Tensor* tensor = output.as<Tensor>();
  if (tensor == nullptr || !(is_float(tensor->dtype) || is_complex(tensor->dtype)))
    return std::nullopt;
  Tensor cotangent = make_tensor(tensor->dtype, tensor->geometry.sizes);
  std::vector<double> values;
  for (std::int64_t k = 0; k < cotangent.elements(); ++k) {
    values.push_back(static_cast<double>(k % 3 + 1) + static_cast<double>(position));
    if (is_complex(tensor->dtype)) values.push_back(0.0);
  }
  fill_from_double(cotangent, values);
  return RuntimeValue{std::move(cotangent)};
}

const Sequence* forward_pair(const RunResult& result) {
  const Sequence* pair = result.returned.as<Sequence>();
  return pair != nullptr && pair->items.size() == 2 ? pair : nullptr;
}

// Puts `value` in the place of a saved tensor.
void replace_saved(RunResult& result, const SavedTensor& tensor, const RuntimeValue& value) {
  Sequence* pair = result.returned.as<Sequence>();
  Sequence* groups = pair->items[1].as<Sequence>();
  if (groups == nullptr || tensor.group >= groups->items.size()) return;
  Sequence* group = groups->items[tensor.group].as<Sequence>();
  if (group == nullptr || tensor.position >= group->items.size()) return;
  group->items[tensor.position] = value;
}

std::string witness_text(const Comparison& comparison) {
  for (const Difference& difference : comparison.differences) {
    if (difference.accepted) continue;
    if (difference.index.empty()) return difference.message;
    return fmt::format("gradient {}[{}]: {} with the value that was read, {} with what is saved",
                       difference.subject, fmt::join(difference.index, ", "), difference.left,
                       difference.right);
  }
  return {};
}

}  // namespace

std::optional<std::vector<SavedTensor>> link_saved(const Trace& forward, const Trace& backward) {
  const Value* saved = saved_collection(forward);
  if (saved == nullptr || backward.parameters.size() != 2) return std::nullopt;
  const BoundSymbol* groups = unpacking_of(backward, backward.parameters.front().name);
  if (groups != nullptr && groups->output.items.size() != saved->items.size()) return std::nullopt;
  std::vector<SavedTensor> linked;
  for (std::size_t g = 0; g < saved->items.size(); ++g) {
    const std::vector<Value>& members = saved->items[g].items;
    const BoundSymbol* unpacked =
        groups == nullptr ? nullptr : unpacking_of(backward, groups->output.items[g].text);
    if (unpacked != nullptr && unpacked->output.items.size() != members.size()) return std::nullopt;
    for (std::size_t i = 0; i < members.size(); ++i) {
      SavedTensor tensor{members[i].text, "", g, i};
      if (unpacked != nullptr && unpacked->output.items[i].text != "_")
        tensor.backward_name = unpacked->output.items[i].text;
      linked.push_back(std::move(tensor));
    }
  }
  return linked;
}

std::vector<SavedHazard> find_saved_hazards(const Trace& forward,
                                            const std::vector<SavedTensor>& saved,
                                            const ArgumentFacts& facts) {
  const DefUse def_use(forward);
  const AliasSets aliases(forward, def_use, facts);
  const std::optional<std::uint32_t> end = aliases.return_statement();
  std::vector<SavedHazard> hazards;
  if (!end) return hazards;
  for (const SavedTensor& tensor : saved) {
    if (tensor.backward_name.empty()) continue;
    const DefinitionId definition = def_use.reaching(tensor.name, *end);
    if (definition == kNoDefinition) continue;
    const Placement* placement = aliases.placement(definition);
    if (placement == nullptr) continue;
    const bool is_argument = std::any_of(
        forward.parameters.begin(), forward.parameters.end(),
        [&tensor](const Parameter& parameter) { return parameter.name == tensor.name; });
    const std::uint32_t made = def_use.definitions()[definition].statement;
    std::optional<std::uint32_t> read;
    for (const Access* access : aliases.history_of(placement->storage)) {
      const std::uint32_t at = access->path.front();
      if (at >= *end) break;
      if (!is_argument && at <= made) continue;
      if (access->kind == AccessKind::Read && !read) read = at;
      if (access->kind != AccessKind::Write || !read || *read == at) continue;
      SavedHazard hazard;
      hazard.tensor = tensor;
      hazard.read = *read;
      hazard.write = at;
      hazard.read_at = forward.bound_symbols[*read]->at;
      hazard.write_at = forward.bound_symbols[at]->at;
      hazards.push_back(std::move(hazard));
      break;
    }
  }
  return hazards;
}

Expected<RunResult, RunError> run_backward(const Trace& backward, const RunResult& forward_result,
                                           const RunLimits& limits) {
  const Sequence* pair = forward_pair(forward_result);
  if (pair == nullptr || backward.parameters.size() != 2) {
    RunError error;
    error.message = "the forward trace returns no saved tensors";
    return Unexpected{error};
  }
  const RuntimeValue* outputs = entry_of(pair->items.front(), "flat_output");
  if (outputs == nullptr) outputs = entry_of(pair->items.front(), "output");
  if (outputs == nullptr) outputs = &pair->items.front();
  std::vector<RuntimeValue> leaves;
  append_leaves(*outputs, leaves);
  Sequence cotangents;
  for (const RuntimeValue& output : leaves) {
    if (std::optional<RuntimeValue> cotangent = cotangent_of(output, cotangents.items.size()))
      cotangents.items.push_back(*std::move(cotangent));
  }
  RunInputs inputs;
  inputs.arguments = {{backward.parameters[0].name, pair->items[1]},
                      {backward.parameters[1].name, {std::move(cotangents)}}};
  return run(backward, inputs, limits);
}

void try_saved_values(const Trace& forward, const Trace& backward, const RunInputs& inputs,
                      const CompareOptions& options, const RunLimits& limits,
                      std::vector<SavedHazard>& hazards) {
  if (hazards.empty()) return;
  std::vector<std::optional<Tensor>> as_read(hazards.size());
  RunObserver observer;
  observer.before = [&](std::uint32_t statement, const Environment& environment) {
    for (std::size_t i = 0; i < hazards.size(); ++i) {
      if (hazards[i].write != statement || as_read[i]) continue;
      const RuntimeValue* value = environment.find(hazards[i].tensor.name);
      const Tensor* tensor = value == nullptr ? nullptr : value->as<Tensor>();
      if (tensor != nullptr) as_read[i] = contiguous_copy(*tensor);
    }
    return Continue::Go;
  };
  const Expected<RunResult, RunError> result = run(forward, inputs, limits, &observer);
  if (!result || forward_pair(*result) == nullptr) return;
  const Expected<RunResult, RunError> with_saved = run_backward(backward, *result, limits);
  if (!with_saved) return;
  for (std::size_t i = 0; i < hazards.size(); ++i) {
    if (!as_read[i]) continue;
    RunResult other = *result;
    replace_saved(other, hazards[i].tensor, {*as_read[i]});
    const Expected<RunResult, RunError> with_read = run_backward(backward, other, limits);
    if (!with_read) continue;
    Comparison comparison;
    RunResult left;
    left.outputs = with_read->outputs;
    RunResult right;
    right.outputs = with_saved->outputs;
    comparison = compare(left, right, options);
    const bool values_differ = std::any_of(
        comparison.differences.begin(), comparison.differences.end(),
        [](const Difference& d) { return !d.accepted && d.kind == DifferenceKind::Values; });
    hazards[i].matters = values_differ;
    if (values_differ) {
      std::erase_if(comparison.differences,
                    [](const Difference& d) { return d.kind != DifferenceKind::Values; });
      hazards[i].witness = witness_text(comparison);
    }
  }
}

}  // namespace tg
