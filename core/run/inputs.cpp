#include "core/run/inputs.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

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
  return diagnostic;
}

// Deterministic on every machine: Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators" (2014).
std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Distinct values for all float elements of a run: a full-period walk over 2^bits equidistant
// points in
// (-2, 2) that avoids 0. Points are short binary fractions, so they are exact in f32 (and in f16
// and bf16 for small programs) and short when printed.
class DistinctFloats {
 public:
  DistinctFloats(std::uint64_t count, std::uint64_t seed) {
    bits_ = std::max(4, static_cast<int>(std::bit_width(std::max<std::uint64_t>(count, 1) * 2)));
    std::uint64_t state = seed;
    multiplier_ = splitmix64(state) | 1U;
    start_ = splitmix64(state);
  }
  double next() {
    const std::uint64_t points = std::uint64_t{1} << bits_;
    const std::uint64_t point = (start_ + multiplier_ * used_++) & (points - 1);
    return std::ldexp(static_cast<double>(point) * 2.0 + 1.0 - static_cast<double>(points),
                      1 - bits_);
  }

 private:
  int bits_ = 4;
  std::uint64_t multiplier_ = 1;
  std::uint64_t start_ = 0;
  std::uint64_t used_ = 0;
};

// What lies where: one block per storage number, one window per argument.
struct Plan {
  struct Block {
    DType dtype = DType::Float32;
    std::int64_t elements = 0;
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

Result<Plan> plan_storages(const Trace& trace, const TypeTable& types, const ArgumentFacts& facts) {
  Plan plan;
  std::map<std::uint32_t, std::size_t> shared;
  for (const Parameter& parameter : trace.parameters) {
    if (parameter.name.empty()) continue;
    Plan::Item item;
    item.parameter = &parameter;
    item.type = types.find(parameter.name);
    if (item.type && item.type->is_tensor()) {
      if (!item.type->is_concrete_tensor()) {
        return Unexpected{problem(DiagnosticCode::InputMismatch, trace, parameter.name,
                                  fmt::format("no value can be invented for '{}' of type '{}'",
                                              parameter.name, item.type->text),
                                  fmt::format("give it: --inputs {}=FILE.npy", parameter.name))};
      }
      const ArgumentFacts::Window* window = window_of(facts, parameter.name);
      const std::optional<std::uint64_t> bytes = type_bytes(*item.type);
      if (!bytes || *bytes > kMaxStorageBytes) {
        return Unexpected{problem(DiagnosticCode::MemoryLimit, trace, parameter.name,
                                  fmt::format("argument '{}' of type '{}' is too large to run here",
                                              parameter.name, item.type->text),
                                  "show, audit and dot work without running")};
      }
      item.geometry = window ? window->geometry : contiguous_geometry(*item.type->shape);
      item.block = plan.blocks.size();
      if (window) item.block = shared.try_emplace(window->storage, item.block).first->second;
      if (item.block == plan.blocks.size()) plan.blocks.push_back({*item.type->dtype, 0});
      Plan::Block& block = plan.blocks[item.block];
      block.elements = std::max(block.elements, element_span(item.geometry).end);
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

void fill_block(Tensor& block, DistinctFloats& floats, std::int64_t index_bound,
                std::uint64_t& state) {
  const auto count = static_cast<std::size_t>(block.elements());
  if (block.dtype == DType::Bool || is_integer(block.dtype)) {
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = block.dtype == DType::Bool
                      ? static_cast<std::int64_t>(i % 2 == 0)
                      : static_cast<std::int64_t>(splitmix64(state) %
                                                  static_cast<std::uint64_t>(index_bound));
    }
    fill_from_int(block, values);
    return;
  }
  std::vector<double> values(is_complex(block.dtype) ? 2 * count : count);
  for (double& value : values) value = floats.next();
  fill_from_double(block, values);
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

}  // namespace

Result<RunInputs> invent_inputs(const Trace& trace, const ArgumentFacts& facts,
                                std::uint64_t seed) {
  const TypeTable types(trace);
  Result<Plan> planned = plan_storages(trace, types, facts);
  if (!planned) return Unexpected{planned.error()};
  const Plan& plan = *planned;
  std::uint64_t floats_needed = 0;
  std::uint64_t bytes_needed = 0;
  for (const Plan::Block& block : plan.blocks) {
    floats_needed += 2 * static_cast<std::uint64_t>(block.elements);
    bytes_needed += static_cast<std::uint64_t>(block.elements) * size_bytes(block.dtype);
  }
  if (bytes_needed > kMaxStorageBytes) {
    return Unexpected{problem(DiagnosticCode::MemoryLimit, trace, "",
                              fmt::format("the arguments take {} bytes together", bytes_needed),
                              "show, audit and dot work without running")};
  }
  DistinctFloats floats(floats_needed, seed);
  std::uint64_t state = seed;
  const std::int64_t index_bound = smallest_dim(plan);
  std::vector<Tensor> blocks;
  blocks.reserve(plan.blocks.size());
  for (const Plan::Block& block : plan.blocks) {
    blocks.push_back(make_tensor(block.dtype, {block.elements}));
    fill_block(blocks.back(), floats, index_bound, state);
  }
  RunInputs inputs;
  inputs.seed = seed;
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
    inputs.arguments.push_back(std::move(argument));
  }
  return inputs;
}

}  // namespace tg
