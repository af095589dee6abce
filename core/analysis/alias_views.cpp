// AliasBuilder's part that decides views: which window a view is, and whether a maybe-view is one.
#include <algorithm>

#include "core/analysis/alias_builder.h"

namespace tg {
namespace {

constexpr std::uint32_t kUnknownBytes = 0;

bool same_shape(const TypeRef& type, const Geometry& geometry) {
  return !type || !type->shape || *type->shape == geometry.sizes;
}

// view(torch.int32), bitcast: the dtype that an argument names.
std::optional<DType> dtype_argument(const BoundSymbol& call) {
  for (const Value& arg : call.args) {
    const Value& value = arg.kind == ValueKind::Keyword ? arg.items.front() : arg;
    if (value.kind != ValueKind::Dotted) continue;
    if (const std::optional<DType> dtype = parse_dtype(value.text)) return dtype;
  }
  return std::nullopt;
}

// convert_element_type: one tensor and the dtype that it gets.
bool is_cast(const OpInfo& op) {
  return op.params.size() == 2 && op.params[0].type == "Tensor" && op.params[1].type == "dtype" &&
         !op.has(kReduction | kFactory);
}

}  // namespace

void AliasBuilder::view(const BoundSymbol& call) {
  const OpInfo& op = call.op_info();
  const std::vector<const Value*> given =
      op.viewed_param < 0 ? std::vector<const Value*>{}
                          : arguments_for(call, static_cast<std::size_t>(op.viewed_param));
  if (given.empty()) return unknown(call);
  const Binding binding = evaluate(*given.front(), given.front()->is_name());
  if (!binding.is_tensor()) return pure(call);
  const TensorIndex viewed = binding.tensor;
  const std::string_view name = given.front()->text;
  // Other tensor arguments: expand_as takes only sizes from them, an index is read.
  std::size_t max_key_rank = 0;
  bool has_key_tensor = false;
  bool key_rank_unknown = false;
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    if (op.params[i].name != "key") continue;
    for (const Value* value : arguments_for(call, i)) {
      for (const TensorIndex tensor : tensors_in(*value, false)) {
        has_key_tensor = true;
        const TypeRef& type = tensors_[tensor].type;
        if (type && type->shape) {
          max_key_rank = std::max(max_key_rank, type->shape->size());
        } else {
          key_rank_unknown = true;
        }
      }
      read_value(*value, call.at, false);
    }
  }
  const std::vector<std::string_view> outputs = output_names(call);
  const TypeRef result_type = outputs.size() == 1 ? type_of(outputs.front(), call) : nullptr;

  ViewOutcome outcome;
  if (has_key_tensor) {
    // An index tensor makes a copy; one of rank 0 selects like a number and may be a view.
    if (!key_rank_unknown && max_key_rank > 0) outcome.kind = ViewOutcome::Kind::Copy;
  } else if (const Placement& at = tensors_[viewed]; at.geometry) {
    std::vector<Value> args;
    for (const Value& arg : call.args) args.push_back(with_numbers(arg, name));
    ViewedFacts facts;
    if (at.type) {
      facts.dtype = at.type->dtype;
      facts.device = at.type->device;
    }
    auto known = view_outcome(op.code, *at.geometry, args, at.element_bytes, facts);
    if (known) outcome = std::move(*known);
  }
  if (outcome.kind == ViewOutcome::Kind::Unknown && op.has(kMaybeView)) {
    const TypeRef& from = tensors_[viewed].type;
    const bool converts = from && result_type && from->dtype && result_type->dtype &&
                          *from->dtype != *result_type->dtype;
    if (converts) outcome.kind = ViewOutcome::Kind::Copy;
  }
  if (outcome.kind == ViewOutcome::Kind::Copy) {
    touch(AccessKind::Read, viewed, name, call.at);
    std::optional<Geometry> geometry;
    if (outcome.outputs.size() == 1 && same_shape(result_type, outcome.outputs.front())) {
      geometry = outcome.outputs.front();
    }
    for (const std::string_view output : outputs) {
      const Binding copy = fresh(output, type_of(output, call), geometry);
      scopes_.bind(output, copy);
      touch(AccessKind::Allocate, copy.tensor, output, call.at);
    }
    return;
  }
  if (outcome.kind == ViewOutcome::Kind::View || op.has(kView)) {
    touch(AccessKind::MakeView, viewed, name, call.at);
    bind_views(call, viewed, outcome.kind == ViewOutcome::Kind::View ? &outcome.outputs : nullptr);
    return;
  }
  touch(AccessKind::Read, viewed, name, call.at, true);
  for (const std::string_view output : outputs) {
    // `x = ltorch.to(x)` without a new name is Thunder's way to print that nothing happens.
    if (output == name) continue;
    scopes_.bind(output, fresh_or_alias(output, type_of(output, call), {viewed}));
  }
}

void AliasBuilder::bind_views(const BoundSymbol& call, TensorIndex viewed,
                              const std::vector<Geometry>* geometries) {
  const std::optional<DType> cast = dtype_argument(call);
  const auto make = [&](std::string_view name, std::size_t index) {
    Placement placement = tensors_[viewed];
    const TypeRef type = name.empty() ? nullptr : type_of(name, call);
    const bool complex_base =
        placement.type && placement.type->dtype && is_complex(*placement.type->dtype);
    const Placement base = placement;
    placement.geometry.reset();
    placement.whole = false;
    placement.type = type;
    if (type && type->dtype) {
      placement.element_bytes = static_cast<std::uint32_t>(size_bytes(*type->dtype));
    } else if (cast) {
      placement.element_bytes = static_cast<std::uint32_t>(size_bytes(*cast));
    } else if (complex_base) {
      placement.element_bytes = kUnknownBytes;
    }
    if (geometries != nullptr && index < geometries->size() &&
        same_shape(type, (*geometries)[index])) {
      placement.geometry = (*geometries)[index];
      // Without a dtype, bytes cannot be counted; a view that is the whole base is still all of it.
      placement.whole = base.whole && base.geometry == placement.geometry;
    }
    return Binding::of_tensor(add_tensor(std::move(placement)));
  };
  if (call.output.is_name() && geometries != nullptr && geometries->size() > 1) {
    std::vector<Binding> items;
    for (std::size_t i = 0; i < geometries->size(); ++i) items.push_back(make("", i));
    bind_output(call.output, Binding::sequence(std::move(items)));
    return;
  }
  std::size_t index = 0;
  for_each_leaf(call.output, [&](const Value& leaf) {
    if (leaf.is_name() && leaf.text != "_") scopes_.bind(leaf.text, make(leaf.text, index));
    ++index;
  });
}

// Strides of a fresh result. Elementwise operations keep the memory order of their operands; of
// others we only know that contiguous operands give contiguous results.
std::optional<Geometry> AliasBuilder::fresh_geometry(const BoundSymbol& call, const TypeRef& type,
                                                     const std::vector<TensorIndex>& inputs) const {
  std::optional<std::vector<std::int64_t>> shape = type ? type->shape : std::nullopt;
  const OpInfo& op = call.op_info();
  if (op.code == OpCode::Opaque || op.code == OpCode::Fusion) return std::nullopt;
  bool all_known = true;
  bool all_contiguous = true;
  for (const TensorIndex input : inputs) {
    const std::optional<Geometry>& geometry = tensors_[input].geometry;
    all_known = all_known && geometry.has_value();
    all_contiguous = all_contiguous && geometry && is_contiguous(*geometry);
  }
  if (!shape && op.has(kElementwise) && all_known && !inputs.empty()) {
    std::vector<std::int64_t> result;
    for (const TensorIndex input : inputs) {
      const std::vector<std::int64_t>& sizes = tensors_[input].geometry->sizes;
      if (sizes.size() > result.size())
        result.insert(result.begin(), sizes.size() - result.size(), 1);
      const std::size_t lead = result.size() - sizes.size();
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] != 1) result[lead + d] = sizes[d];
      }
    }
    shape = std::move(result);
  }
  if (!shape || !element_count(*shape)) return std::nullopt;
  if (inputs.size() == 1 && all_known) {
    const Geometry& input = *tensors_[inputs.front()].geometry;
    const bool same_sizes = input.sizes == *shape;
    if (same_sizes && op.code == OpCode::Clone && call.args.size() == 1) return dense_like(input);
    if (same_sizes && is_cast(op)) return cast_like(input);
  }
  if (all_contiguous) return contiguous_geometry(*shape);
  if (!op.has(kElementwise) || !all_known) return std::nullopt;
  std::vector<std::vector<std::int64_t>> operands;
  for (const TensorIndex input : inputs) {
    const Geometry& geometry = *tensors_[input].geometry;
    if (geometry.rank() > shape->size()) return std::nullopt;
    std::vector<std::int64_t> strides(shape->size(), 0);
    const std::size_t lead = shape->size() - geometry.rank();
    for (std::size_t d = 0; d < geometry.rank(); ++d) {
      if (geometry.sizes[d] == (*shape)[lead + d]) strides[lead + d] = geometry.strides[d];
    }
    operands.push_back(std::move(strides));
  }
  return ordered_geometry(*shape, memory_order(*shape, operands));
}

}  // namespace tg
