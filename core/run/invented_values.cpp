#include "core/run/invented_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/analysis/call_arguments.h"

namespace tg {
namespace {

// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014): the same on every
// machine.
std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Few, so that integers stay short and their products small.
constexpr std::uint64_t kFewestIntegers = 9;
constexpr std::uint64_t kMostIntegers = 1'000'000;
// At least eighths: a single element is not always 0.5 or 1.5.
constexpr int kFewestBits = 3;

int bits_for(std::uint64_t count) {
  const auto needed = count < 2 ? 0 : static_cast<int>(std::bit_width(count - 1));
  return std::max(kFewestBits, needed);
}

// PyTorch's own names for parameters that select elements.
bool selects(const OpInfo& op, std::size_t parameter) {
  constexpr std::array<std::string_view, 4> kNames = {"index", "indices", "key", "target"};
  if (parameter == 0 && op.has(kFirstIsIndex)) return true;
  return std::find(kNames.begin(), kNames.end(), op.params[parameter].name) != kNames.end();
}

void add_names(const Value& value, std::unordered_set<std::string_view>& names) {
  for_each_leaf(value, [&names](const Value& leaf) {
    if (leaf.is_name()) names.insert(leaf.text);
  });
}

// One step from readers back to what they read: statements are visited last to first.
void visit(const BoundSymbol& statement, std::unordered_set<std::string_view>& names) {
  for (auto child = statement.subsymbols.rbegin(); child != statement.subsymbols.rend(); ++child) {
    visit(**child, names);
  }
  if (statement.kind == StatementKind::Call && statement.op != OpCode::Opaque) {
    const OpInfo& op = statement.op_info();
    for (std::size_t i = 0; i < op.params.size(); ++i) {
      if (!selects(op, i)) continue;
      for (const Value* value : arguments_for(statement, i)) add_names(*value, names);
    }
  }
  for (const std::string_view name : output_names(statement)) {
    if (!names.contains(name)) continue;
    for (const std::string_view read : argument_names(statement)) names.insert(read);
    return;
  }
}

// The largest number that an integer dtype and plain arithmetic with it can bear.
std::uint64_t most_of(DType dtype) {
  switch (size_bytes(dtype)) {
    case 1:
      return 127;
    case 2:
      return 32767;
    default:
      return kMostIntegers;
  }
}

}  // namespace

std::unordered_set<std::string_view> index_names(const Trace& trace) {
  std::unordered_set<std::string_view> names;
  for (auto statement = trace.bound_symbols.rbegin(); statement != trace.bound_symbols.rend();
       ++statement) {
    visit(**statement, names);
  }
  return names;
}

InventedValues::Walk::Walk(std::uint64_t size, std::uint64_t& state)
    : size_(size), step_(splitmix64(state) % size), at_(splitmix64(state) % size) {
  while (std::gcd(step_, size_) != 1) ++step_;
}

std::uint64_t InventedValues::Walk::next() {
  const std::uint64_t now = at_;
  at_ = (at_ + step_) % size_;
  return now;
}

InventedValues::InventedValues(std::uint64_t floats, std::uint64_t integers,
                               std::int64_t index_bound, std::uint64_t seed)
    : state_(seed),
      bits_(bits_for(floats)),
      index_bound_(index_bound),
      points_(std::uint64_t{1} << bits_, state_),
      numbers_(std::clamp(integers, kFewestIntegers, kMostIntegers), state_) {}

// Points of an even grid in (0, 2): short binary fractions, exact in f32 (and in f16 and bf16 for
// small programs) and short when printed.
double InventedValues::magnitude() {
  return std::ldexp(static_cast<double>(points_.next()) * 2.0 + 1.0, -bits_);
}

// Of each two neighbours one is negative; which one is left to chance, so that no row or column of
// a matrix has one sign throughout by construction.
void InventedValues::fill_floats(Tensor& block) {
  const auto count = static_cast<std::size_t>(block.elements());
  std::vector<double> values(is_complex(block.dtype) ? 2 * count : count);
  bool negative = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    negative = i % 2 == 0 ? (splitmix64(state_) & 1U) != 0 : !negative;
    values[i] = negative ? -magnitude() : magnitude();
  }
  fill_from_double(block, values);
}

std::int64_t InventedValues::integer(DType dtype, NumberRole role) {
  if (role == NumberRole::Index) {
    return static_cast<std::int64_t>(splitmix64(state_) % static_cast<std::uint64_t>(index_bound_));
  }
  return static_cast<std::int64_t>(numbers_.next() % most_of(dtype)) + 1;
}

void InventedValues::fill(Tensor& block, NumberRole role) {
  if (block.dtype != DType::Bool && !is_integer(block.dtype)) {
    fill_floats(block);
    return;
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(block.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = block.dtype == DType::Bool ? static_cast<std::int64_t>(i % 2 == 0)
                                           : integer(block.dtype, role);
  }
  fill_from_int(block, values);
}

}  // namespace tg
