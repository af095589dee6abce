#include "core/golden/stage_run.h"

#include <unordered_map>

#include <fmt/format.h>

#include "core/run/compare.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg::golden {
namespace {

// A stage text of a recording is small; what takes longer than this is not what was asked.
constexpr RunLimits kLimits{std::chrono::milliseconds(20'000), std::uint64_t{1} << 31};

bool keeps_unparsed_text(const BoundSymbol& statement) {
  if (statement.kind == StatementKind::Unparsed || statement.verbatim) return true;
  for (const BoundSymbolRef& inner : statement.subsymbols) {
    if (keeps_unparsed_text(*inner)) return true;
  }
  return false;
}

std::string first_difference(const std::string& expected, const std::string& got) {
  std::size_t line = 1;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    if (expected[i] != got[i]) break;
    if (expected[i] == '\n') {
      ++line;
      begin = i + 1;
    }
  }
  const auto cut = [begin](const std::string& text) {
    return text.substr(std::min(begin, text.size()), text.find('\n', begin) - begin).substr(0, 120);
  };
  return fmt::format("line {}: '{}' is printed as '{}'", line, cut(expected), cut(got));
}

// `p5.set_buffer('.n', value)`
bool sets_buffer(const BoundSymbol& statement) {
  return statement.callee.ends_with(".set_buffer") && statement.args.size() == 2 &&
         statement.args[0].kind == ValueKind::String && statement.args[1].is_name();
}

bool is_plain_epilogue(const Trace& epilogue) {
  for (const BoundSymbolRef& statement : epilogue.bound_symbols) {
    switch (statement->kind) {
      case StatementKind::UnpackTrivial:
      case StatementKind::UnpackSequence:
      case StatementKind::EmptyCollection:
      case StatementKind::Return:
      case StatementKind::Comment:
        continue;
      case StatementKind::Call:
        if (sets_buffer(*statement)) continue;
        return false;
      case StatementKind::UnpackAccess:
      case StatementKind::PackList:
      case StatementKind::PackAssign:
      case StatementKind::Del:
      case StatementKind::Print:
      case StatementKind::Elision:
      case StatementKind::Unparsed:
        return false;
    }
  }
  return true;
}

std::optional<RuntimeValue> literal(const Value& value) {
  switch (value.kind) {
    case ValueKind::Int:
      return RuntimeValue{static_cast<std::int64_t>(std::strtoll(value.text.c_str(), nullptr, 10))};
    case ValueKind::Float:
      return RuntimeValue{std::strtod(value.text.c_str(), nullptr)};
    case ValueKind::Bool:
      return RuntimeValue{value.text == "True"};
    case ValueKind::None:
      return RuntimeValue{NoneValue{}};
    case ValueKind::String:
      return RuntimeValue{StringValue{string_content(value)}};
    case ValueKind::Absent:
    case ValueKind::Name:
    case ValueKind::Dotted:
    case ValueKind::Complex:
    case ValueKind::Ellipsis:
    case ValueKind::Tuple:
    case ValueKind::List:
    case ValueKind::Dict:
    case ValueKind::Call:
    case ValueKind::Keyword:
    case ValueKind::Subscript:
    case ValueKind::Attribute:
    case ValueKind::Method:
    case ValueKind::Opaque:
      return std::nullopt;
  }
  return std::nullopt;
}

const Value* returned_value(const Trace& trace) {
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::Return)
      return statement->args.empty() ? nullptr : &statement->args.front();
  }
  return nullptr;
}

// The program's outputs are what the epilogue makes of the computation's. False: it does more than
// pass on.
// `buffers` are those it sets, by the module's name for them: ".n".
bool pass_through_epilogue(RunResult& result, const Trace& epilogue,
                           std::vector<NamedValue>& buffers) {
  if (!is_plain_epilogue(epilogue)) return false;
  std::unordered_map<std::string, std::size_t> position;
  // What the prologue hands on stands before the results: the modules whose buffers are set.
  if (epilogue.parameters.size() < result.outputs.size()) return false;
  const std::size_t handed_on = epilogue.parameters.size() - result.outputs.size();
  for (std::size_t i = handed_on; i < epilogue.parameters.size(); ++i)
    position.emplace(epilogue.parameters[i].name, i - handed_on);
  for (const BoundSymbolRef& statement : epilogue.bound_symbols) {
    if (statement->kind != StatementKind::Call) continue;
    const auto value = position.find(statement->args[1].text);
    if (value == position.end()) return false;
    buffers.push_back({string_content(statement->args[0]), result.outputs[value->second].value});
  }
  if (handed_on > buffers.size()) return false;
  std::vector<NamedValue> outputs;
  bool understood = true;
  const Value* returned = returned_value(epilogue);
  if (returned == nullptr) return false;
  for_each_leaf(*returned, [&](const Value& leaf) {
    NamedValue output{fmt::format("out[{}]", outputs.size()), {}};
    if (leaf.is_name()) {
      const auto found = position.find(leaf.text);
      if (found == position.end()) {
        understood = false;
        return;
      }
      output.value = result.outputs[found->second].value;
    } else if (std::optional<RuntimeValue> value = literal(leaf)) {
      output.value = *std::move(value);
    } else {
      understood = false;
    }
    outputs.push_back(std::move(output));
  });
  if (!understood) return false;
  result.outputs = std::move(outputs);
  return true;
}

void append_leaves(const RuntimeValue& value, std::vector<NamedValue>& outputs, int depth) {
  if (depth > 100) return;
  if (const Sequence* sequence = value.as<Sequence>()) {
    for (const RuntimeValue& item : sequence->items) append_leaves(item, outputs, depth + 1);
    return;
  }
  if (const Mapping* mapping = value.as<Mapping>()) {
    for (const auto& [key, item] : mapping->items) append_leaves(item, outputs, depth + 1);
    return;
  }
  outputs.push_back({fmt::format("out[{}]", outputs.size()), value});
}

// A forward trace returns ({'output': ..., 'flat_output': ...}, saved tensors), a joint trace the
// outputs as 'fw_flat_out' beside the gradients.
void separate_outputs(RunResult& result) {
  const RuntimeValue* output = returned_entry(result.returned, "fw_flat_out");
  if (output == nullptr && result.returned.as<Sequence>() != nullptr)
    output = returned_entry(result.returned, "output");
  if (output == nullptr) return;
  std::vector<NamedValue> outputs;
  append_leaves(*output, outputs, 0);
  result.outputs = std::move(outputs);
}

// "t33" of "name 't33' has no value" and "no sub-statement of 'TorchCompile0' defines 't22'".
std::string undefined_name(const std::string& message) {
  if (!message.ends_with(" has no value") && message.find(" defines ") == std::string::npos)
    return {};
  const std::size_t close = message.rfind('\'');
  if (close == std::string::npos || close == 0) return {};
  const std::size_t open = message.rfind('\'', close - 1);
  return open == std::string::npos ? std::string() : message.substr(open + 1, close - open - 1);
}

// The next call finds the objects as this one left them.
void leave_as_found(InputBinding& binding, const RunResult& result) {
  const RunResult renamed = with_recorded_names(result, binding);
  for (std::size_t i = 0; i < binding.inputs.arguments.size() && i < result.final_arguments.size();
       ++i) {
    binding.inputs.arguments[i].value = result.final_arguments[i].value;
  }
  const std::size_t first = renamed.final_arguments.size() - binding.unbound.size();
  for (std::size_t i = 0; i < binding.unbound.size(); ++i) {
    binding.unbound[i].value = renamed.final_arguments[first + i].value;
  }
}

struct SharingMember {
  std::string name;
  Tensor tensor;
};

// Pairs are told one by one, as text_run.json does; recordings are small.
void add_sharing(const std::vector<SharingMember>& here, const std::vector<SharingMember>& recorded,
                 std::vector<std::string>& out) {
  for (std::size_t i = 0; i < here.size(); ++i) {
    for (std::size_t j = i + 1; j < here.size(); ++j) {
      const bool shared = here[i].tensor.shares_storage_with(here[j].tensor);
      const bool was_shared = recorded[i].tensor.shares_storage_with(recorded[j].tensor);
      if (!shared && !was_shared) continue;
      const std::string& a = recorded[i].name;
      const std::string& b = recorded[j].name;
      if (shared != was_shared) {
        out.push_back(fmt::format(
            "sharing of {} and {}: {}", a, b,
            shared ? "shared here, recorded as separate" : "separate here, recorded as shared"));
        continue;
      }
      const std::int64_t offset = here[j].tensor.offset_bytes() - here[i].tensor.offset_bytes();
      const std::int64_t was =
          recorded[j].tensor.offset_bytes() - recorded[i].tensor.offset_bytes();
      if (offset != was) {
        out.push_back(fmt::format("address difference of {} and {}: {} here, recorded {}", a, b,
                                  offset, was));
      }
    }
  }
}

std::string words(const Difference& difference, const std::string& name) {
  switch (difference.kind) {
    case DifferenceKind::Values:
      return "values of " + name;
    case DifferenceKind::FinalArgument:
      return "values of final " + name;
    case DifferenceKind::DType:
      return "dtype of " + name;
    case DifferenceKind::Shape:
      return "shape of " + name;
    case DifferenceKind::Strides:
      return "strides of " + name;
    case DifferenceKind::Structure:
      return "structure of " + name;
    case DifferenceKind::AliasLost:
    case DifferenceKind::AliasGained:
    case DifferenceKind::AliasOffset:
    case DifferenceKind::Raised:
      return {};
  }
  return {};
}

std::vector<Value> returned_leaves(const Trace& trace) {
  std::vector<Value> leaves;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind != StatementKind::Return) continue;
    for (const Value& value : statement->args)
      for_each_leaf(value, [&leaves](const Value& leaf) { leaves.push_back(leaf); });
    break;
  }
  return leaves;
}

void record_error(const RunError& error, StageRun& stage) {
  if (error.kind == RunErrorKind::RaisesAsTorch) {
    stage.raised = error;
    return;
  }
  stage.not_run = error.message;
  if (error.kind == RunErrorKind::BadProgram) stage.undefined = undefined_name(stage.not_run);
}

// What get_grad gives in a joint text, from the annotations of the outputs.
void add_cotangents(const Trace& trace, Loss loss, RunInputs& inputs) {
  const std::optional<JointReturn> joint = joint_return(trace);
  if (!joint) return;
  const TypeTable types(trace);
  std::unordered_map<std::string_view, const Type*> asked;  // by the output that is asked for
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->is_call(OpCode::GetGrad) && statement->args.size() == 1)
      asked[statement->args.front().text] = statement->type.get();
  }
  std::size_t position = 0;
  for (const std::string& name : joint->outputs) {
    const Type* type = types.find(name);
    if (const auto found = asked.find(name); type == nullptr && found != asked.end())
      type = found->second;
    if (type == nullptr || !type->is_concrete_tensor()) continue;
    Tensor shaped;
    shaped.dtype = *type->dtype;
    shaped.geometry = contiguous_geometry(*type->shape);
    RuntimeValue cotangent = cotangent_of({std::move(shaped)}, position, loss);
    if (cotangent.as<Tensor>() == nullptr) continue;
    ++position;
    inputs.cotangents.push_back({name, std::move(cotangent)});
  }
}

// The last call's result; without one `stage` says why.
std::optional<RunResult> run_calls(const Trace& trace, const StageContext& context,
                                   InputBinding& binding, StageRun& stage) {
  Result<InputBinding> bound = bind_recording(*context.recording, trace, context.prologue);
  if (!bound) {
    stage.not_run = bound.error().message;
    return std::nullopt;
  }
  binding = *std::move(bound);
  add_cotangents(trace, context.loss, binding.inputs);
  std::optional<RunResult> result;
  for (std::uint32_t call = 0; call < context.calls; ++call) {
    Expected<RunResult, RunError> outcome = run(trace, binding.inputs, kLimits);
    if (!outcome) {
      record_error(outcome.error(), stage);
      return std::nullopt;
    }
    result = *std::move(outcome);
    if (call + 1 < context.calls) leave_as_found(binding, *result);
  }
  return result;
}

}  // namespace

std::string round_trip_fault(const std::string& name, const std::string& text) {
  const TraceFile file = parse_trace_file(name, text);
  const std::string printed = print(file);
  if (printed != text) return first_difference(text, printed);
  if (file.phases.empty()) return "no trace was found";
  for (const Phase& phase : file.phases) {
    if (phase.trace.verbatim_head) return "its head is kept as text, not understood";
    for (const BoundSymbolRef& statement : phase.trace.bound_symbols) {
      if (keeps_unparsed_text(*statement)) {
        return fmt::format("line {} is kept as text, not understood", statement->at.line);
      }
    }
  }
  return {};
}

StageRun run_stage(const Trace& trace, const StageContext& context) {
  StageRun stage;
  InputBinding binding;
  std::optional<RunResult> result = run_calls(trace, context, binding, stage);
  if (!result) return stage;
  if (const std::optional<JointReturn> joint = joint_return(trace)) {
    const RuntimeValue* gradients = returned_entry(result->returned, "output");
    if (gradients != nullptr)
      stage.gradients = named_gradients(*gradients, joint->flat_args, binding);
  }
  separate_outputs(*result);
  std::vector<NamedValue> buffers;
  if (context.epilogue != nullptr && !pass_through_epilogue(*result, *context.epilogue, buffers)) {
    stage.not_run = "the epilogue does more than pass results on";
    return stage;
  }
  stage.result = with_recorded_names(*std::move(result), binding);
  for (const NamedValue& buffer : buffers) {
    for (NamedValue& argument : stage.result->final_arguments) {
      if (argument.name == "module" + buffer.name ||
          argument.name == "buffer:" + buffer.name.substr(1))
        argument.value = buffer.value;
    }
  }
  return stage;
}

StageRun run_backward(const Trace& backward, const Trace& forward, const ForwardReturn& saved,
                      const StageContext& context) {
  StageRun stage;
  InputBinding binding;
  const std::optional<RunResult> before = run_calls(forward, context, binding, stage);
  if (!before) {
    stage.not_run =
        fmt::format("its forward text: {}", stage.raised ? stage.raised->message : stage.not_run);
    stage.raised.reset();
    return stage;
  }
  const Sequence* pair = before->returned.as<Sequence>();
  const RuntimeValue* outputs = returned_entry(before->returned, "flat_output");
  if (outputs == nullptr) outputs = returned_entry(before->returned, "output");
  if (pair == nullptr || pair->items.size() != 2 || outputs == nullptr ||
      backward.parameters.size() != 2) {
    stage.not_run = "the forward text returns no saved tensors";
    return stage;
  }
  std::vector<NamedValue> flat;
  append_leaves(*outputs, flat, 0);
  Sequence cotangents;
  for (const NamedValue& output : flat) {
    RuntimeValue cotangent = cotangent_of(output.value, cotangents.items.size(), context.loss);
    if (cotangent.as<Tensor>() != nullptr) cotangents.items.push_back(std::move(cotangent));
  }
  RunInputs inputs;
  inputs.arguments = {{backward.parameters[0].name, pair->items[1]},
                      {backward.parameters[1].name, {std::move(cotangents)}}};
  Expected<RunResult, RunError> outcome = run(backward, inputs, kLimits);
  if (!outcome) {
    record_error(outcome.error(), stage);
    return stage;
  }
  stage.has_outputs = false;
  stage.gradients = named_gradients(outcome->returned, saved.flat_args, binding);
  stage.result = *std::move(outcome);
  return stage;
}

std::optional<Trace> host_with_body(const Trace& host, const Trace& region, const Trace& form,
                                    bool by_name) {
  const std::vector<Value> results = returned_leaves(region);
  const std::vector<Value> names = returned_leaves(form);
  if (names.size() != results.size()) return std::nullopt;
  std::vector<BoundSymbolRef> body;
  for (const BoundSymbolRef& statement : region.bound_symbols) {
    if (statement->kind == StatementKind::Return) break;
    body.push_back(statement);
  }
  Trace composed = host;
  for (BoundSymbolRef& statement : composed.bound_symbols) {
    if (!statement->is_call(OpCode::Fusion)) continue;
    std::vector<Value> targets;
    for_each_leaf(statement->output, [&targets](const Value& leaf) { targets.push_back(leaf); });
    bool same = targets.size() == results.size() &&
                statement->args.size() == region.parameters.size() &&
                (!by_name || targets == names);
    for (std::size_t i = 0; same && i < statement->args.size(); ++i)
      same = statement->args[i].is_name(region.parameters[i].name);
    if (!same) continue;
    BoundSymbol filled = *statement;
    filled.subsymbols = body;
    BoundSymbol handover;
    handover.op = OpCode::UpdateAliases;
    handover.callee = "prims.update_aliases";
    handover.output = Value::tuple(targets);
    handover.args = {Value::tuple(results)};
    filled.subsymbols.push_back(std::make_shared<const BoundSymbol>(std::move(handover)));
    statement = std::make_shared<const BoundSymbol>(std::move(filled));
    return composed;
  }
  return std::nullopt;
}

std::vector<std::string> differences(const RunResult& result, const RecordedRun& recorded,
                                     const Recording& recording) {
  CompareOptions options;
  options.contract = CompareOptions::Contract::Torch;
  options.strides = true;
  const Comparison comparison = compare_with_recording(result, recorded, recording, options);
  // Outputs are compared by position; the recording has names of its own for them.
  std::unordered_map<std::string, std::string> names;
  for (std::size_t i = 0; i < recorded.outputs.size(); ++i) {
    names.emplace(fmt::format("out[{}]", i), recorded.outputs[i].name);
  }
  std::vector<std::string> out;
  std::unordered_map<std::string, int> told;
  for (const Difference& difference : comparison.differences) {
    if (difference.accepted) continue;
    const auto known = names.find(difference.subject);
    std::string text = words(difference, known != names.end() ? known->second : difference.subject);
    // Of one tensor the first is told: dtype, shape, values, strides. Differences come in that
    // order.
    if (!text.empty() && told[difference.subject]++ == 0) out.push_back(std::move(text));
  }
  if (!recorded.has_sharing) return out;

  const RunResult reference = as_run_result(recorded);
  std::unordered_map<std::string, const RuntimeValue*> here;
  for (const NamedValue& argument : result.final_arguments)
    here.emplace(argument.name, &argument.value);
  for (const NamedValue& output : result.outputs) here.emplace(output.name, &output.value);
  std::vector<SharingMember> left;
  std::vector<SharingMember> right;
  const auto add = [&](const NamedValue& value, const std::string& shown) {
    const auto found = here.find(value.name);
    const Tensor* was = value.value.as<Tensor>();
    const Tensor* is = found != here.end() ? found->second->as<Tensor>() : nullptr;
    if (was == nullptr || is == nullptr) return;
    left.push_back({shown, *is});
    right.push_back({shown, *was});
  };
  for (const NamedValue& argument : reference.final_arguments) add(argument, argument.name);
  for (std::size_t i = 0; i < reference.outputs.size(); ++i)
    add(reference.outputs[i], recorded.outputs[i].name);
  add_sharing(left, right, out);
  return out;
}

bool has_statement_after_return(const Trace& trace) {
  bool returned = false;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (returned && statement->kind != StatementKind::Comment) return true;
    returned = returned || statement->kind == StatementKind::Return;
  }
  return false;
}

const Trace* only_trace(const TraceFile& file, std::string& why) {
  if (file.phases.size() == 1) return &file.phases.front().trace;
  why = fmt::format("expected one trace, found {}", file.phases.size());
  return nullptr;
}

}  // namespace tg::golden
