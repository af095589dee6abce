// view_outcome: which geometry rule an operation's arguments ask for.
#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/ir/view_geometry.h"

namespace tg {
namespace {

using view_geometry::copy;
using view_geometry::Outcome;
using view_geometry::refuse;
using view_geometry::Sizes;
using view_geometry::unknown;
using view_geometry::view;
using view_geometry::views;
using view_geometry::wrap;
using Kind = ViewOutcome::Kind;

// ---- reading arguments

std::optional<std::int64_t> integer(const Value& value) {
  if (value.kind == ValueKind::Bool) return value.text == "True" ? 1 : 0;
  if (value.kind != ValueKind::Int) return std::nullopt;
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// (2, 3), [2, 3], torch.Size([2, 3]) or a lone 2
std::optional<Sizes> integers(const Value& value) {
  if (const std::optional<std::int64_t> one = integer(value)) return Sizes{*one};
  if (value.kind == ValueKind::Call && value.items.size() == 1)
    return integers(value.items.front());
  if (value.kind != ValueKind::Tuple && value.kind != ValueKind::List) return std::nullopt;
  Sizes all;
  for (const Value& item : value.items) {
    const std::optional<std::int64_t> number = integer(item);
    if (!number) return std::nullopt;
    all.push_back(*number);
  }
  return all;
}

// The arguments of one statement by the parameter names of its schema.
class ViewArguments {
 public:
  ViewArguments(const OpInfo& op, std::span<const Value> args) : op_(op), args_(args) {}

  // Null when not given or None.
  [[nodiscard]] const Value* find(std::string_view name) const {
    const Value* found = find_given(name);
    return found != nullptr && found->kind != ValueKind::None ? found : nullptr;
  }

  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const {
    if (const Value* value = find(name)) return integer(*value);
    if (find_given(name) != nullptr) return std::nullopt;
    for (const Param& param : op_.params) {
      if (param.name != name) continue;
      return integer(Value::leaf(ValueKind::Int, param.default_text));
    }
    return std::nullopt;
  }

  // A sequence parameter; view(x, 2, 3) spreads it over the remaining positional arguments.
  [[nodiscard]] std::optional<Sizes> sequence(std::string_view name) const {
    const Value* value = find(name);
    if (value == nullptr) return std::nullopt;
    const std::size_t first = position(name);
    if (integer(*value) && first < args_.size() && value == &args_[first]) {
      Sizes all;
      for (std::size_t i = first; i < args_.size() && args_[i].kind != ValueKind::Keyword; ++i) {
        const std::optional<std::int64_t> one = integer(args_[i]);
        if (!one) return std::nullopt;
        all.push_back(*one);
      }
      return all;
    }
    return integers(*value);
  }

 private:
  [[nodiscard]] std::size_t position(std::string_view name) const {
    std::size_t index = 0;
    for (const Param& param : op_.params) {
      if (param.name == name && !param.keyword_only) return index;
      ++index;
    }
    return args_.size();
  }

  [[nodiscard]] const Value* find_given(std::string_view name) const {
    for (const Value& arg : args_) {
      if (arg.kind == ValueKind::Keyword && arg.text == name) return &arg.items.front();
    }
    const std::size_t index = position(name);
    if (index < args_.size() && args_[index].kind != ValueKind::Keyword) return &args_[index];
    return nullptr;
  }

  const OpInfo& op_;
  std::span<const Value> args_;
};

Outcome split(const Geometry& geometry, const Value* sections, std::int64_t dim) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) return refuse("split expects at least a 1-dimensional tensor");
  if (sections == nullptr) return unknown();
  if (const std::optional<std::int64_t> length = integer(*sections)) {
    return view_geometry::split_every(geometry, *wrapped, *length);
  }
  const std::optional<Sizes> lengths = integers(*sections);
  if (!lengths) return unknown();
  Sizes bounds{0};
  for (const std::int64_t length : *lengths) bounds.push_back(bounds.back() + length);
  if (bounds.back() != geometry.sizes[*wrapped]) {
    return refuse(fmt::format(
        "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at "
        "dimension {}), but got split_sizes=[{}]",
        geometry.sizes[*wrapped], *wrapped, fmt::join(*lengths, ", ")));
  }
  return view_geometry::pieces(geometry, *wrapped, bounds);
}

Outcome tensor_split(const Geometry& geometry, const Value* sections, std::int64_t dim) {
  const Expected<std::size_t, std::string> wrapped = wrap(dim, geometry.rank());
  if (!wrapped) return refuse(wrapped.error());
  if (geometry.rank() == 0) {
    return refuse(
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  }
  if (sections == nullptr) return unknown();
  const std::int64_t size = geometry.sizes[*wrapped];
  if (const std::optional<std::int64_t> count = integer(*sections)) {
    if (*count <= 0)
      return refuse(fmt::format("number of sections must be larger than 0, got {}", *count));
    constexpr std::int64_t kMostPieces = 1'000'000;
    if (*count > kMostPieces) return unknown();
    Sizes bounds{0};
    for (std::int64_t i = 0; i < *count; ++i) {
      bounds.push_back(bounds.back() + size / *count + (i < size % *count ? 1 : 0));
    }
    return view_geometry::pieces(geometry, *wrapped, bounds);
  }
  const std::optional<Sizes> indices = integers(*sections);
  if (!indices) return unknown();
  std::vector<Geometry> parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i <= indices->size(); ++i) {
    const std::int64_t stop = i < indices->size() ? (*indices)[i] : size;
    Geometry part = geometry;
    view_geometry::slice_dim(part, *wrapped, start, stop, 1);
    parts.push_back(std::move(part));
    start = stop;
  }
  return views(std::move(parts));
}

// ---- keys

std::size_t consumed_dims(std::span<const Value> keys) {
  std::size_t count = 0;
  for (const Value& key : keys) {
    if (key.kind != ValueKind::None && key.kind != ValueKind::Ellipsis &&
        key.kind != ValueKind::Bool)
      ++count;
  }
  return count;
}

std::optional<std::int64_t> bound(const Value& call, std::size_t index, std::int64_t fallback) {
  if (index >= call.items.size() || call.items[index].kind == ValueKind::None) return fallback;
  return integer(call.items[index]);
}

// int, slice, None and Ellipsis keys view; tensors, lists and bools gather into a copy.
Outcome getitem(const Geometry& geometry, const Value* key) {
  std::vector<Value> keys{key != nullptr ? *key : Value::none()};
  if (keys.front().kind == ValueKind::Tuple) keys = std::vector<Value>(key->items);
  for (const Value& one : keys) {
    switch (one.kind) {
      case ValueKind::Int:
      case ValueKind::None:
      case ValueKind::Ellipsis:
        break;
      case ValueKind::Call:
        if (one.text != "slice") return unknown();
        break;
      case ValueKind::Tuple:
      case ValueKind::List:
      case ValueKind::Bool:
        return ViewOutcome{Kind::Copy, {}};
      case ValueKind::Absent:
      case ValueKind::Name:
      case ValueKind::Dotted:
      case ValueKind::Float:
      case ValueKind::Complex:
      case ValueKind::String:
      case ValueKind::Dict:
      case ValueKind::Keyword:
      case ValueKind::Subscript:
      case ValueKind::Attribute:
      case ValueKind::Method:
      case ValueKind::Opaque:
        return unknown();
    }
  }
  const std::size_t used = consumed_dims(keys);
  if (used > geometry.rank()) {
    return refuse(fmt::format("too many indices for tensor of dimension {}", geometry.rank()));
  }
  Geometry result = geometry;
  std::size_t dim = 0;
  for (const Value& one : keys) {
    if (one.kind == ValueKind::None) {
      view_geometry::insert_dim(result, dim++);
    } else if (one.kind == ValueKind::Ellipsis) {
      dim += geometry.rank() - used;
    } else if (one.kind == ValueKind::Int) {
      const std::optional<std::int64_t> index = integer(one);
      if (!index) return unknown();
      const std::int64_t size = result.sizes[dim];
      if (*index < -size || *index >= size) {
        return refuse(fmt::format("index {} is out of bounds for dimension {} with size {}", *index,
                                  dim, size));
      }
      Outcome selected = view_geometry::select(result, dim, *index);
      if (!selected) return selected;
      result = std::move(selected->outputs.front());
    } else {
      const bool lone_stop = one.items.size() == 1;
      const std::optional<std::int64_t> start = lone_stop ? 0 : bound(one, 0, 0);
      const std::optional<std::int64_t> stop =
          bound(one, lone_stop ? 0 : 1, std::numeric_limits<std::int64_t>::max());
      const std::optional<std::int64_t> step = bound(one, 2, 1);
      if (!start || !stop || !step) return unknown();
      if (*step <= 0) return refuse("step must be greater than zero");
      view_geometry::slice_dim(result, dim++, *start, *stop, *step);
    }
  }
  return view(std::move(result));
}

// ---- dtype, device, layout

std::string content(const Value& value) {
  if (value.kind == ValueKind::String) return string_content(value);
  if (value.kind == ValueKind::Call && !value.items.empty()) return content(value.items.front());
  return {};
}

bool same_device(std::string_view a, std::string_view b) {
  if (a.empty()) a = "cpu";
  if (a == b) return true;
  const auto kind = [](std::string_view device) { return device.substr(0, device.find(':')); };
  return kind(a) == kind(b) && (a.find(':') == a.npos || b.find(':') == b.npos);
}

// Tensor.to once dtype and device are known: the tensor itself when nothing changes.
Outcome converted(const Geometry& geometry, const ViewArguments& args, const ViewedFacts& facts,
                  std::optional<DType> dtype, std::string_view device) {
  const Value* forced = args.find("copy");
  const Value* format = args.find("memory_format");
  const bool channels_last = format != nullptr && format->text == "torch.channels_last";
  const bool contiguous = format != nullptr && format->text == "torch.contiguous_format";
  if (dtype && !facts.dtype) return ViewOutcome{Kind::Unknown, {geometry}};
  const bool same_layout =
      channels_last ? is_channels_last(geometry) : (!contiguous || is_contiguous(geometry));
  const bool same_type = !dtype || *dtype == *facts.dtype;
  const bool same_place = device.empty() || same_device(facts.device, device);
  const bool copies = forced != nullptr && forced->text == "True";
  if (same_type && same_place && same_layout && !copies) return view(geometry);
  if (channels_last && geometry.rank() == 4)
    return copy(ordered_geometry(geometry.sizes, {1, 3, 2, 0}));
  if (contiguous) return copy(contiguous_geometry(geometry.sizes));
  return copy(cast_like(geometry));
}

Outcome to(const Geometry& geometry, const ViewArguments& args, const ViewedFacts& facts) {
  std::optional<DType> dtype;
  std::string device;
  for (const std::string_view name :
       {"tensor_dtype_or_device", "optional_positional_dtype", "device", "dtype"}) {
    const Value* value = args.find(name);
    if (value == nullptr) continue;
    if (value->kind == ValueKind::Dotted || value->kind == ValueKind::Name) {
      const std::optional<DType> named = parse_dtype(value->text);
      if (!named) return ViewOutcome{Kind::Unknown, {geometry}};
      dtype = named;
    } else if (const std::string text = content(*value); !text.empty()) {
      device = text;
    } else {
      return ViewOutcome{Kind::Unknown, {geometry}};
    }
  }
  return converted(geometry, args, facts, dtype, device);
}

Outcome contiguous(const Geometry& geometry, const Value* format) {
  if (format != nullptr && format->text == "torch.channels_last") {
    if (geometry.rank() != 4) return refuse("required rank 4 tensor to use channels_last format");
    return is_channels_last(geometry) ? view(geometry)
                                      : copy(ordered_geometry(geometry.sizes, {1, 3, 2, 0}));
  }
  if (format != nullptr && format->text == "torch.preserve_format") return view(geometry);
  return is_contiguous(geometry) ? view(geometry) : copy(contiguous_geometry(geometry.sizes));
}

Outcome dropout(const Geometry& geometry, const ViewArguments& args) {
  const Value* p = args.find("p");
  const Value* training = args.find("training");
  const bool off = training != nullptr && training->text == "False";
  const bool keeps_all = p != nullptr && (p->text == "0" || p->text == "0.0");
  return off || keeps_all ? view(geometry) : copy(dense_like(geometry));
}

// ---- the rules by operation

struct Request {
  const Geometry& viewed;
  const ViewArguments& args;
  std::size_t element_bytes;
  const ViewedFacts& facts;
};

// `use` with the sequence, or Unknown when the text does not tell it.
template <typename F>
Outcome with_sizes(const Request& request, std::string_view name, F&& use) {
  const std::optional<Sizes> sizes = request.args.sequence(name);
  return sizes ? use(*sizes) : unknown();
}

template <bool kMustView>
Outcome reshape_to(const Request& request, std::string_view name) {
  return with_sizes(request, name, [&](const Sizes& sizes) {
    return view_geometry::reshape(request.viewed, sizes, kMustView);
  });
}

Outcome view_rule(const Request& request) {
  const Value* first = request.args.find("shape");
  if (first == nullptr || (first->kind != ValueKind::Dotted && first->kind != ValueKind::Name)) {
    return reshape_to<true>(request, "shape");
  }
  const std::optional<DType> dtype = parse_dtype(first->text);
  return dtype ? view_geometry::bit_cast(request.viewed, request.element_bytes, *dtype) : unknown();
}

Outcome bit_cast_rule(const Request& request) {
  const Value* value = request.args.find("dtype");
  const std::optional<DType> dtype = value != nullptr ? parse_dtype(value->text) : std::nullopt;
  return dtype ? view_geometry::bit_cast(request.viewed, request.element_bytes, *dtype) : unknown();
}

Outcome reshape_rule(const Request& request) {
  return reshape_to<false>(request, "shape");
}
Outcome view_as_rule(const Request& request) {
  return reshape_to<true>(request, "b");
}
Outcome reshape_as_rule(const Request& request) {
  return reshape_to<false>(request, "b");
}

Outcome flatten_rule(const Request& request) {
  const auto start = request.args.number("start_dim");
  const auto end = request.args.number("end_dim");
  return start && end ? view_geometry::flatten(request.viewed, *start, *end) : unknown();
}

Outcome unflatten_rule(const Request& request) {
  const auto dim = request.args.number("dim");
  if (!dim) return unknown();
  return with_sizes(request, "sizes", [&](const Sizes& sizes) {
    return view_geometry::unflatten(request.viewed, *dim, sizes);
  });
}

Outcome expand_to(const Request& request, std::string_view name) {
  return with_sizes(request, name, [&](const Sizes& sizes) {
    return view_geometry::expand(request.viewed, sizes);
  });
}
Outcome expand_rule(const Request& request) {
  return expand_to(request, "shape");
}
Outcome expand_as_rule(const Request& request) {
  return expand_to(request, "b");
}

Outcome broadcast_in_dim_rule(const Request& request) {
  const auto dims = request.args.sequence("broadcast_dims");
  if (!dims) return unknown();
  return with_sizes(request, "shape", [&](const Sizes& sizes) {
    return view_geometry::broadcast_in_dim(request.viewed, sizes, *dims);
  });
}

Outcome permute_rule(const Request& request) {
  return with_sizes(request, "dims", [&](const Sizes& dims) {
    return view_geometry::permute(request.viewed, dims);
  });
}
Outcome transpose_prim_rule(const Request& request) {
  return with_sizes(request, "permutation", [&](const Sizes& dims) {
    return view_geometry::permute(request.viewed, dims);
  });
}

Outcome movedim_rule(const Request& request) {
  const Value* source = request.args.find("source");
  const Value* destination = request.args.find("destination");
  if (source == nullptr || destination == nullptr) return unknown();
  const auto from = integers(*source);
  const auto into = integers(*destination);
  return from && into ? view_geometry::movedim(request.viewed, *from, *into) : unknown();
}

Outcome transpose_rule(const Request& request) {
  const auto dim0 = request.args.number("dim0");
  const auto dim1 = request.args.number("dim1");
  return dim0 && dim1 ? view_geometry::transpose(request.viewed, *dim0, *dim1) : unknown();
}

Outcome t_rule(const Request& request) {
  const std::size_t rank = request.viewed.rank();
  if (rank > 2)
    return refuse(fmt::format("t() expects a tensor with <= 2 dimensions, but self is {}D", rank));
  return rank < 2 ? view(request.viewed) : view_geometry::transpose(request.viewed, 0, 1);
}

Outcome matrix_transpose_rule(const Request& request) {
  const std::size_t rank = request.viewed.rank();
  if (rank == 0) return view(request.viewed);
  if (rank == 1) return refuse("tensor.mT is only supported on matrices or batches of matrices");
  return view_geometry::transpose(request.viewed, -2, -1);
}

Outcome select_rule(const Request& request) {
  const auto dim = request.args.number("dim");
  const auto index = request.args.number("index");
  if (!dim || !index) return unknown();
  if (request.viewed.rank() == 0) return refuse("select() cannot be applied to a 0-dim tensor.");
  const Expected<std::size_t, std::string> wrapped = wrap(*dim, request.viewed.rank());
  if (!wrapped) return refuse(wrapped.error());
  return view_geometry::select(request.viewed, *wrapped, *index);
}

Outcome squeeze_rule(const Request& request) {
  if (request.args.find("dim") == nullptr)
    return view_geometry::squeeze(request.viewed, std::nullopt);
  return with_sizes(request, "dim", [&](const Sizes& dims) {
    return view_geometry::squeeze(request.viewed, dims);
  });
}
Outcome squeeze_prim_rule(const Request& request) {
  return with_sizes(request, "dims", [&](const Sizes& dims) {
    return view_geometry::squeeze(request.viewed, dims);
  });
}
Outcome unsqueeze_rule(const Request& request) {
  return with_sizes(request, "dim", [&](const Sizes& dims) {
    return view_geometry::unsqueeze(request.viewed, dims);
  });
}

Outcome narrow_rule(const Request& request) {
  const auto dim = request.args.number("dim");
  const auto start = request.args.number("start");
  const auto length = request.args.number("length");
  return dim && start && length ? view_geometry::narrow(request.viewed, *dim, *start, *length)
                                : unknown();
}

Outcome slice_prim_rule(const Request& request) {
  const std::size_t rank = request.viewed.rank();
  const auto starts = request.args.sequence("start_indices");
  const auto ends = request.args.sequence("end_indices");
  std::optional<Sizes> steps = Sizes(rank, 1);
  if (request.args.find("strides") != nullptr) steps = request.args.sequence("strides");
  if (!starts || !ends || !steps) return unknown();
  if (starts->size() != rank || ends->size() != rank || steps->size() != rank) return unknown();
  Geometry result = request.viewed;
  for (std::size_t d = 0; d < rank; ++d) {
    if ((*steps)[d] <= 0) return refuse("slice step must be positive");
    view_geometry::slice_dim(result, d, (*starts)[d], (*ends)[d], (*steps)[d]);
  }
  return view(std::move(result));
}

Outcome unfold_rule(const Request& request) {
  const auto dim = request.args.number("dim");
  const auto size = request.args.number("size");
  const auto step = request.args.number("step");
  return dim && size && step ? view_geometry::unfold(request.viewed, *dim, *size, *step)
                             : unknown();
}

Outcome diagonal_rule(const Request& request) {
  const auto offset = request.args.number("offset");
  const auto dim1 = request.args.number("dim1");
  const auto dim2 = request.args.number("dim2");
  return offset && dim1 && dim2 ? view_geometry::diagonal(request.viewed, *offset, *dim1, *dim2)
                                : unknown();
}

Outcome as_strided_rule(const Request& request) {
  const auto strides = request.args.sequence("stride");
  if (!strides) return unknown();
  return with_sizes(request, "size", [&](const Sizes& sizes) {
    return view_geometry::as_strided(request.viewed, sizes, *strides,
                                     request.args.number("storage_offset"));
  });
}

Outcome getitem_rule(const Request& request) {
  return getitem(request.viewed, request.args.find("key"));
}

// A real tensor is its own real part and has no imaginary one.
template <int kPart>
Outcome complex_rule(const Request& request) {
  if (!request.facts.dtype) return unknown();
  if (is_complex(*request.facts.dtype)) return view_geometry::complex_parts(request.viewed, kPart);
  if (kPart == 0) return view(request.viewed);
  return refuse(kPart == 1 ? "imag is not implemented for tensors with non-complex dtypes."
                           : "view_as_real is only supported for complex tensors");
}
Outcome view_as_complex_rule(const Request& request) {
  return view_geometry::view_as_complex(request.viewed);
}

Outcome chunk_rule(const Request& request) {
  const auto chunks = request.args.number("chunks");
  const auto dim = request.args.number("dim");
  return chunks && dim ? view_geometry::chunk(request.viewed, *chunks, *dim) : unknown();
}
Outcome split_rule(const Request& request) {
  const auto dim = request.args.number("dim");
  return dim ? split(request.viewed, request.args.find("size_or_sections"), *dim) : unknown();
}
Outcome tensor_split_rule(const Request& request) {
  const auto dim = request.args.number("dim");
  return dim ? tensor_split(request.viewed, request.args.find("indices_or_sections"), *dim)
             : unknown();
}
Outcome unbind_rule(const Request& request) {
  const auto dim = request.args.number("dim");
  return dim ? view_geometry::unbind(request.viewed, *dim) : unknown();
}

Outcome to_rule(const Request& request) {
  return to(request.viewed, request.args, request.facts);
}
template <DType kDType>
Outcome to_dtype_rule(const Request& request) {
  return converted(request.viewed, request.args, request.facts, kDType, {});
}
// The other tensor's dtype is no part of the arguments as view_outcome gets them.
Outcome type_as_rule(const Request& request) {
  return ViewOutcome{Kind::Unknown, {request.viewed}};
}
Outcome contiguous_rule(const Request& request) {
  return contiguous(request.viewed, request.args.find("memory_format"));
}
Outcome stride_order_rule(const Request& request) {
  return view_geometry::stride_order(request.viewed, request.args.sequence("order"));
}
Outcome device_put_rule(const Request& request) {
  const Value* device = request.args.find("device");
  if (device == nullptr) return unknown();
  return same_device(request.facts.device, content(*device)) ? view(request.viewed)
                                                             : copy(cast_like(request.viewed));
}
Outcome dropout_rule(const Request& request) {
  return dropout(request.viewed, request.args);
}
Outcome same_rule(const Request& request) {
  return view(request.viewed);
}

using Rule = Outcome (*)(const Request&);

struct RuleOf {
  OpCode op;
  Rule rule;
};

constexpr RuleOf kRules[] = {
    {OpCode::View, view_rule},
    {OpCode::ViewAs, view_as_rule},
    {OpCode::Reshape, reshape_rule},
    {OpCode::ReshapePrim, reshape_rule},
    {OpCode::ReshapeAs, reshape_as_rule},
    {OpCode::Flatten, flatten_rule},
    {OpCode::Unflatten, unflatten_rule},
    {OpCode::Expand, expand_rule},
    {OpCode::ExpandAs, expand_as_rule},
    {OpCode::BroadcastInDim, broadcast_in_dim_rule},
    {OpCode::Permute, permute_rule},
    {OpCode::TransposePrim, transpose_prim_rule},
    {OpCode::Movedim, movedim_rule},
    {OpCode::Transpose, transpose_rule},
    {OpCode::T, t_rule},
    {OpCode::MatrixTranspose, matrix_transpose_rule},
    {OpCode::Select, select_rule},
    {OpCode::Squeeze, squeeze_rule},
    {OpCode::SqueezePrim, squeeze_prim_rule},
    {OpCode::Unsqueeze, unsqueeze_rule},
    {OpCode::Narrow, narrow_rule},
    {OpCode::SlicePrim, slice_prim_rule},
    {OpCode::Unfold, unfold_rule},
    {OpCode::Diagonal, diagonal_rule},
    {OpCode::AsStrided, as_strided_rule},
    {OpCode::Getitem, getitem_rule},
    {OpCode::Real, complex_rule<0>},
    {OpCode::RealPrim, complex_rule<0>},
    {OpCode::Imag, complex_rule<1>},
    {OpCode::ImagPrim, complex_rule<1>},
    {OpCode::ViewAsReal, complex_rule<-1>},
    {OpCode::ViewAsComplex, view_as_complex_rule},
    {OpCode::Chunk, chunk_rule},
    {OpCode::Split, split_rule},
    {OpCode::TensorSplit, tensor_split_rule},
    {OpCode::Unbind, unbind_rule},
    {OpCode::To, to_rule},
    {OpCode::TypeAs, type_as_rule},
    {OpCode::ToFloat, to_dtype_rule<DType::Float32>},
    {OpCode::ToDouble, to_dtype_rule<DType::Float64>},
    {OpCode::ToHalf, to_dtype_rule<DType::Float16>},
    {OpCode::ToBfloat16, to_dtype_rule<DType::BFloat16>},
    {OpCode::ToLong, to_dtype_rule<DType::Int64>},
    {OpCode::ToInt, to_dtype_rule<DType::Int32>},
    {OpCode::Contiguous, contiguous_rule},
    {OpCode::StrideOrder, stride_order_rule},
    {OpCode::DevicePut, device_put_rule},
    {OpCode::Bitcast, bit_cast_rule},
    {OpCode::Dropout, dropout_rule},
    {OpCode::Detach, same_rule},
    {OpCode::ShallowCopy, same_rule},
    {OpCode::UpdateAliases, same_rule},
};

Rule rule_of(OpCode op) {
  static const std::vector<Rule> table = [] {
    std::vector<Rule> rules(all_ops().size(), nullptr);
    for (const RuleOf& one : kRules) rules[static_cast<std::size_t>(one.op)] = one.rule;
    return rules;
  }();
  return table[static_cast<std::size_t>(op)];
}

}  // namespace

Expected<ViewOutcome, std::string> view_outcome(OpCode op, const Geometry& viewed,
                                                std::span<const Value> args,
                                                std::size_t element_bytes,
                                                const ViewedFacts& facts) {
  const Rule rule = rule_of(op);
  if (rule == nullptr) return unknown();
  const ViewArguments arguments(info(op), args);
  return rule({viewed, arguments, element_bytes, facts});
}

}  // namespace tg
