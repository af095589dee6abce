#include "core/run/inputs.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/run/invented_values.h"

namespace tg {
namespace {

constexpr std::uint64_t kMaxStorageBytes = std::uint64_t{4} << 30;

Diagnostic problem(DiagnosticCode code, const Trace& trace, std::string_view subject,
                   std::string message, std::string hint) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.subject = std::string(subject);
  diagnostic.hint = std::move(hint);
  diagnostic.at = trace.def_at;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::UnpackTrivial && statement->output.is_name(subject)) {
      diagnostic.at = statement->at;
      break;
    }
  }
  return diagnostic;
}

// What lies where: one block per storage number, one window per argument.
struct Plan {
  struct Block {
    DType dtype = DType::Float32;
    std::int64_t elements = 0;
    NumberRole role = NumberRole::Number;
  };
  struct Item {
    const Parameter* parameter = nullptr;
    const Type* type = nullptr;  // null: no annotation
    std::size_t block = 0;       // tensors
    Geometry geometry;
  };
  std::vector<Block> blocks;
  std::vector<Item> items;
};

const ArgumentFacts::Window* window_of(const ArgumentFacts& facts, std::string_view name) {
  for (const ArgumentFacts::Window& window : facts.windows) {
    if (window.name == name) return &window;
  }
  return nullptr;
}

Result<Plan> plan_storages(const Trace& trace, const TypeTable& types, const ArgumentFacts& facts,
                           const GivenNames& given) {
  Plan plan;
  std::map<std::uint32_t, std::size_t> shared;
  const std::unordered_set<std::string_view> indices = index_names(trace);
  for (const Parameter& parameter : trace.parameters) {
    if (parameter.name.empty()) continue;
    Plan::Item item;
    item.parameter = &parameter;
    item.type = types.find(parameter.name);
    const bool countable =
        item.type && type_bytes(*item.type).value_or(kMaxStorageBytes + 1) <= kMaxStorageBytes;
    if (item.type && item.type->is_tensor() && !countable && given.contains(parameter.name)) {
      item.type = nullptr;
    } else if (item.type && item.type->is_tensor()) {
      if (!item.type->is_concrete_tensor()) {
        return Unexpected{problem(DiagnosticCode::InputMismatch, trace, parameter.name,
                                  fmt::format("no value can be invented for '{}' of type '{}'",
                                              parameter.name, item.type->text),
                                  fmt::format("give one: --inputs {}=FILE.npy", parameter.name))};
      }
      const ArgumentFacts::Window* window = window_of(facts, parameter.name);
      const std::optional<std::uint64_t> bytes = type_bytes(*item.type);
      if (!bytes || *bytes > kMaxStorageBytes) {
        return Unexpected{problem(DiagnosticCode::CannotRun, trace, parameter.name,
                                  fmt::format("argument '{}' of type '{}' is too large to run here",
                                              parameter.name, item.type->text),
                                  "show, audit and dot work without running")};
      }
      item.geometry = window ? window->geometry : contiguous_geometry(*item.type->shape);
      item.block = plan.blocks.size();
      if (window) item.block = shared.try_emplace(window->storage, item.block).first->second;
      if (item.block == plan.blocks.size()) plan.blocks.push_back({*item.type->dtype});
      Plan::Block& block = plan.blocks[item.block];
      block.elements = std::max(block.elements, element_span(item.geometry).end);
      if (indices.contains(parameter.name)) block.role = NumberRole::Index;
    }
    plan.items.push_back(std::move(item));
  }
  return plan;
}

std::int64_t smallest_dim(const Plan& plan) {
  std::int64_t smallest = 8;
  for (const Plan::Item& item : plan.items) {
    for (const std::int64_t size : item.geometry.sizes) {
      if (size > 0) smallest = std::min(smallest, size);
    }
  }
  return smallest;
}

double parse_double(std::string_view text, double fallback) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  double value = fallback;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Numbers of the first call stand in the annotation ("int 3"); "?" means that Thunder did not know.
RuntimeValue invent_number(const Type& type) {
  RuntimeValue value;
  switch (type.kind) {
    case TypeKind::Int: {
      std::int64_t number = 2;
      std::from_chars(type.value.data(), type.value.data() + type.value.size(), number);
      value.value = number;
      break;
    }
    case TypeKind::Bool:
      value.value = type.value != "False";
      break;
    case TypeKind::Float:
      value.value = parse_double(type.value, 0.5);
      break;
    case TypeKind::Complex:
      value.value = std::complex<double>(0.5, -0.25);
      break;
    case TypeKind::String:
      value.value = StringValue{};
      break;
    case TypeKind::Class:
      if (type.text != "<class 'NoneType'>") value.value = OpaqueValue{type.text};
      break;
    case TypeKind::Unknown:
    case TypeKind::Tensor:
    case TypeKind::FutureTensor:
    case TypeKind::DistributedTensor:
    case TypeKind::Collection:
    case TypeKind::Any:
    case TypeKind::Opaque:
      value.value = OpaqueValue{type.text};
      break;
  }
  return value;
}

RuntimeValue default_of(const Parameter& parameter) {
  RuntimeValue value;
  value.value = OpaqueValue{fmt::format("argument '{}' has no type in this trace", parameter.name)};
  return value;
}

// `prims.check_len(args, 2)` in a prologue: what `*args` and `**kwargs` are, though not what they
// hold.
std::unordered_map<std::string_view, std::int64_t> asked_lengths(const Trace& trace) {
  std::unordered_map<std::string_view, std::int64_t> lengths;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (!statement->is_call(OpCode::CheckLen) || statement->args.size() != 2) continue;
    const Value& length = statement->args.back();
    if (!statement->args.front().is_name() || length.kind != ValueKind::Int) continue;
    std::int64_t count = 0;
    std::from_chars(length.text.data(), length.text.data() + length.text.size(), count);
    lengths.emplace(statement->args.front().text, count);
  }
  return lengths;
}

}  // namespace

Result<RunInputs> invent_inputs(const Trace& trace, const ArgumentFacts& facts,
                                std::uint64_t seed) {
  return invent_other_inputs(trace, facts, seed, {});
}

Result<RunInputs> invent_other_inputs(const Trace& trace, const ArgumentFacts& facts,
                                      std::uint64_t seed, const GivenNames& given) {
  const TypeTable types(trace);
  Result<Plan> planned = plan_storages(trace, types, facts, given);
  if (!planned) return Unexpected{planned.error()};
  const Plan& plan = *planned;
  std::uint64_t floats = 0;
  std::uint64_t integers = 0;
  std::uint64_t bytes_needed = 0;
  for (const Plan::Block& block : plan.blocks) {
    const auto elements = static_cast<std::uint64_t>(block.elements);
    const bool whole = block.dtype == DType::Bool || is_integer(block.dtype);
    (whole ? integers : floats) += is_complex(block.dtype) ? 2 * elements : elements;
    bytes_needed += elements * size_bytes(block.dtype);
  }
  if (bytes_needed > kMaxStorageBytes) {
    return Unexpected{problem(DiagnosticCode::MemoryLimit, trace, "",
                              fmt::format("the arguments take {} bytes together", bytes_needed),
                              "show, audit and dot work without running")};
  }
  InventedValues values(floats, integers, smallest_dim(plan), seed);
  std::vector<Tensor> blocks;
  blocks.reserve(plan.blocks.size());
  for (const Plan::Block& block : plan.blocks) {
    blocks.push_back(make_tensor(block.dtype, {block.elements}));
    values.fill(blocks.back(), block.role);
  }
  RunInputs inputs;
  inputs.seed = seed;
  const auto lengths = asked_lengths(trace);
  for (const Plan::Item& item : plan.items) {
    NamedValue argument;
    argument.name = item.parameter->name;
    if (!item.type) {
      argument.value = default_of(*item.parameter);
    } else if (item.type->is_tensor()) {
      Tensor tensor = blocks[item.block];
      tensor.dtype = *item.type->dtype;
      tensor.geometry = item.geometry;
      argument.value.value = std::move(tensor);
    } else {
      argument.value = invent_number(*item.type);
    }
    const auto length = lengths.find(item.parameter->name);
    if (length != lengths.end() && argument.value.as<OpaqueValue>() != nullptr) {
      const std::string_view kind = item.parameter->prefix == "**" ? "dict" : "tuple";
      argument.value = {OpaqueValue{fmt::format("a {} of {}", kind, length->second)}};
    }
    inputs.arguments.push_back(std::move(argument));
  }
  return inputs;
}

}  // namespace tg
