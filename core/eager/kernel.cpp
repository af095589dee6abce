#include "core/eager/kernel.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tg {
namespace {

const RuntimeValue kNoValue{NoneValue{}};

// The default of a schema: None, True, 0.5, 'none', ().
RuntimeValue default_value(std::string_view text) {
  if (text == "None") return {NoneValue{}};
  if (text == "True" || text == "False") return {text == "True"};
  if (text == "()") return {Sequence{}};
  if (text.size() >= 2 && text.front() == '\'') {
    return {StringValue{std::string(text.substr(1, text.size() - 2))}};
  }
  std::int64_t integer = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer);
  if (error == std::errc{} && stop == end) return {integer};
  return {std::strtod(std::string(text).c_str(), nullptr)};
}

// PyTorch accepts these for most parameters.
std::string_view canonical_keyword(std::string_view name, const OpInfo& op) {
  const auto has = [&op](std::string_view wanted) {
    return std::any_of(op.params.begin(), op.params.end(),
                       [wanted](const Param& param) { return param.name == wanted; });
  };
  if (has(name)) return name;
  struct Synonym {
    std::string_view given;
    std::string_view meant;
  };
  constexpr Synonym kSynonyms[] = {
      {"input", "a"},    {"self", "a"},         {"other", "b"},
      {"dim", "dims"},   {"dims", "dim"},       {"axis", "dim"},
      {"size", "shape"}, {"shape", "size"},     {"tensor1", "b"},
      {"tensor2", "c"},  {"condition", "pred"}, {"source", "src"},
      {"mat2", "b"},     {"vec", "b"},          {"dtype", "output_dtype"},
      {"weight", "w"},   {"data", "sequence"},  {"split_size_or_sections", "size_or_sections"}};
  for (const Synonym& synonym : kSynonyms) {
    if (synonym.given == name && has(synonym.meant)) return synonym.meant;
  }
  return {};
}

// Keywords that change nothing that a run shows.
bool is_inert_keyword(std::string_view name) {
  constexpr std::string_view kInert[] = {
      "requires_grad", "layout", "pin_memory", "generator", "out", "non_blocking", "grad_enabled"};
  return std::find(std::begin(kInert), std::end(kInert), name) != std::end(kInert);
}

}  // namespace

std::uint64_t RunContext::random_bits() {
  used_random = true;
  random_state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = random_state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

std::shared_ptr<Storage> allocate_storage(RunContext& run, std::uint64_t bytes) {
  if (bytes > run.limits.bytes || *run.live_bytes > run.limits.bytes - bytes) return nullptr;
  *run.live_bytes += bytes;
  auto owned = std::make_unique<Storage>();
  owned->bytes.resize(bytes);
  owned->number = run.next_storage++;
  const std::shared_ptr<std::uint64_t> meter = run.live_bytes;
  return {owned.release(), [meter, bytes](Storage* storage) {
            *meter -= bytes;
            std::default_delete<Storage>{}(storage);
          }};
}

std::optional<Number> number_of(const RuntimeValue& value) {
  if (const bool* flag = value.as<bool>()) return Number{*flag};
  if (const std::int64_t* integer = value.as<std::int64_t>()) return Number{*integer};
  if (const double* real = value.as<double>()) return Number{*real};
  if (const auto* complex = value.as<std::complex<double>>()) return Number{*complex};
  return std::nullopt;
}

double to_double(const Number& number) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::complex<double>>) {
          return value.real();
        } else {
          return static_cast<double>(value);
        }
      },
      number);
}

RuntimeValue to_value(const Number& number) {
  return std::visit([](const auto& value) { return RuntimeValue{value}; }, number);
}

void KernelCall::bind(std::vector<RuntimeValue> positional, std::vector<NamedValue> keywords) {
  const std::vector<Param>& params = op_.params;
  args_.assign(params.size(), kNoValue);
  std::vector<bool> given(params.size(), false);
  std::size_t positional_params = 0;
  for (const Param& param : params) positional_params += param.keyword_only ? 0 : 1;
  const std::size_t excess =
      positional.size() > positional_params ? positional.size() - positional_params : 0;
  std::size_t next = 0;
  bool spread = excess == 0;
  for (std::size_t i = 0; i < params.size() && next < positional.size(); ++i) {
    if (params[i].keyword_only) break;
    given[i] = true;
    // view(x, 2, 3): the sequence parameter takes what is too many.
    if (!spread && params[i].type == "int[]" && positional[next].as<std::int64_t>() != nullptr) {
      spread = true;
      Sequence all;
      for (std::size_t k = 0; k <= excess; ++k) all.items.push_back(std::move(positional[next++]));
      args_[i] = {std::move(all)};
      continue;
    }
    args_[i] = std::move(positional[next++]);
  }
  if (next < positional.size()) {
    bad_program(fmt::format("'{}' takes {} positional arguments and {} are given", callee_,
                            positional_params, positional.size()));
    return;
  }
  for (NamedValue& keyword : keywords) {
    const std::string_view name = canonical_keyword(keyword.name, op_);
    if (name.empty()) {
      if (is_inert_keyword(keyword.name)) continue;
      const OpaqueValue* format = keyword.value.as<OpaqueValue>();
      if (keyword.name == "memory_format" && format != nullptr &&
          format->text != "torch.channels_last")
        continue;
      if (keyword.value.as<NoneValue>() != nullptr) continue;
      bad_program(fmt::format("'{}' has no parameter '{}'", callee_, keyword.name));
      return;
    }
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (params[i].name != name) continue;
      args_[i] = std::move(keyword.value);
      given[i] = true;
    }
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    // Thunder before November 2024 printed `alpha=None` where the parameter has a default.
    const bool means_default =
        args_[i].as<NoneValue>() != nullptr && !params[i].default_text.empty();
    if (given[i] && !means_default) continue;
    if (params[i].default_text.empty()) {
      bad_program(fmt::format("'{}' needs its argument '{}'", callee_, params[i].name));
      return;
    }
    args_[i] = default_value(params[i].default_text);
  }
}

const RuntimeValue& KernelCall::arg(std::string_view name) const {
  for (std::size_t i = 0; i < args_.size(); ++i) {
    if (op_.params[i].name == name) return args_[i];
  }
  return kNoValue;
}

void KernelCall::forget(std::string_view name) {
  for (std::size_t i = 0; i < args_.size(); ++i) {
    if (op_.params[i].name == name) args_[i] = kNoValue;
  }
}

const Tensor& KernelCall::tensor(std::string_view name) {
  if (const Tensor* found = arg(name).as<Tensor>()) return *found;
  static const Tensor nothing = make_tensor(DType::Float32, {0});
  if (!failed()) bad_program(fmt::format("argument '{}' of '{}' must be a tensor", name, callee_));
  return nothing;
}

const Tensor* KernelCall::optional_tensor(std::string_view name) {
  return is_none(name) ? nullptr : &tensor(name);
}

std::vector<Tensor> KernelCall::tensors(std::string_view name) {
  std::vector<Tensor> all;
  const Sequence* sequence = arg(name).as<Sequence>();
  if (sequence == nullptr) {
    bad_program(fmt::format("argument '{}' of '{}' must be a sequence of tensors", name, callee_));
    return all;
  }
  for (const RuntimeValue& item : sequence->items) {
    if (const Tensor* one = item.as<Tensor>()) {
      all.push_back(*one);
    } else {
      bad_program(
          fmt::format("argument '{}' of '{}' holds something that is no tensor", name, callee_));
    }
  }
  return all;
}

namespace {

std::optional<std::int64_t> as_integer(const RuntimeValue& value) {
  if (const std::int64_t* integer = value.as<std::int64_t>()) return *integer;
  if (const bool* flag = value.as<bool>()) return *flag ? 1 : 0;
  if (const Tensor* tensor = value.as<Tensor>(); tensor != nullptr && tensor->elements() == 1) {
    return values_as_int(*tensor).front();
  }
  return std::nullopt;
}

}  // namespace

std::int64_t KernelCall::integer(std::string_view name) {
  if (const std::optional<std::int64_t> found = as_integer(arg(name))) return *found;
  if (!failed())
    bad_program(fmt::format("argument '{}' of '{}' must be an integer", name, callee_));
  return 0;
}

double KernelCall::number(std::string_view name) {
  const RuntimeValue& value = arg(name);
  if (const std::optional<Number> found = number_of(value)) return to_double(*found);
  if (const Tensor* found = value.as<Tensor>(); found != nullptr && found->elements() == 1) {
    return values_as_double(*found).front();
  }
  if (!failed()) bad_program(fmt::format("argument '{}' of '{}' must be a number", name, callee_));
  return 0;
}

bool KernelCall::flag(std::string_view name) {
  if (is_none(name)) return false;
  return integer(name) != 0;
}

std::string KernelCall::text(std::string_view name) {
  if (is_none(name)) return {};
  if (const StringValue* found = arg(name).as<StringValue>()) return found->text;
  if (!failed()) bad_program(fmt::format("argument '{}' of '{}' must be a string", name, callee_));
  return {};
}

std::optional<DType> KernelCall::dtype(std::string_view name) {
  if (is_none(name)) return std::nullopt;
  if (const DTypeValue* found = arg(name).as<DTypeValue>()) return found->dtype;
  if (!failed()) bad_program(fmt::format("argument '{}' of '{}' must be a dtype", name, callee_));
  return std::nullopt;
}

std::vector<std::int64_t> KernelCall::integers(std::string_view name) {
  const RuntimeValue& value = arg(name);
  if (const std::optional<std::int64_t> one = as_integer(value)) return {*one};
  std::vector<std::int64_t> all;
  const Sequence* sequence = value.as<Sequence>();
  if (sequence == nullptr) {
    if (!failed())
      bad_program(fmt::format("argument '{}' of '{}' must be integers", name, callee_));
    return all;
  }
  for (const RuntimeValue& item : sequence->items) {
    const std::optional<std::int64_t> one = as_integer(item);
    if (!one && !failed())
      bad_program(fmt::format("argument '{}' of '{}' must be integers", name, callee_));
    all.push_back(one.value_or(0));
  }
  return all;
}

std::size_t KernelCall::wrap_dim(std::int64_t dim, std::size_t rank) {
  const auto range = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (dim < -range || dim >= range) {
    raise(fmt::format("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                      -range, range - 1, dim),
          "IndexError");
    return 0;
  }
  return static_cast<std::size_t>(dim < 0 ? dim + range : dim);
}

std::size_t KernelCall::dim(std::string_view name, std::size_t rank) {
  return wrap_dim(integer(name), rank);
}

std::vector<std::size_t> KernelCall::dims(std::string_view name, std::size_t rank) {
  std::vector<std::size_t> all;
  std::vector<std::int64_t> given;
  if (!is_none(name)) given = integers(name);
  if (given.empty()) {
    for (std::size_t d = 0; d < rank; ++d) all.push_back(d);
    return all;
  }
  for (const std::int64_t dim : given) {
    const std::size_t wrapped = wrap_dim(dim, rank);
    if (std::find(all.begin(), all.end(), wrapped) != all.end()) {
      raise(fmt::format("dim {} appears multiple times in the list of dims", wrapped));
    } else if (rank != 0) {
      all.push_back(wrapped);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

Tensor KernelCall::allocate(DType dtype, const Geometry& geometry) {
  Tensor tensor;
  tensor.dtype = dtype;
  for (const std::int64_t size : geometry.sizes) {
    if (size < 0)
      raise(fmt::format("Trying to create tensor with negative dimension {}: [{}]", size,
                        fmt::join(geometry.sizes, ", ")));
  }
  tensor.geometry = geometry;
  tensor.geometry.offset = 0;
  const ElementSpan span = element_span(tensor.geometry);
  std::uint64_t bytes = 0;
  if (!failed()) {
    const bool too_large =
        __builtin_mul_overflow(static_cast<std::uint64_t>(span.end), size_bytes(dtype), &bytes);
    if (!too_large) tensor.storage = allocate_storage(run_, bytes);
    if (tensor.storage == nullptr) {
      // No --max-memory helps where the bytes exceed any address space: then the program is wrong.
      constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << 47;
      const bool impossible = too_large || bytes > kAddressSpace;
      fail(impossible ? RunErrorKind::BadProgram : RunErrorKind::OutOfMemory, "",
           fmt::format("'{}' needs a tensor of shape {}, more than {}", callee_,
                       python_tuple(geometry.sizes),
                       impossible ? "any machine can address" : "the memory limit allows"));
    }
  }
  if (tensor.storage == nullptr) tensor = make_tensor(dtype, {0});
  return tensor;
}

Tensor KernelCall::allocate(DType dtype, const std::vector<std::int64_t>& sizes) {
  return allocate(dtype, contiguous_geometry(sizes));
}

Tensor KernelCall::cast(const Tensor& tensor, DType to) {
  Tensor result = allocate(to, cast_like(tensor.geometry));
  if (!failed()) copy_values(tensor, result);
  return result;
}

std::vector<std::int64_t> KernelCall::all_integers(const Tensor& tensor) {
  if (!reserve(tensor.elements(), 2 * sizeof(std::int64_t))) return {};
  return values_as_int(tensor);
}

std::vector<double> KernelCall::all_doubles(const Tensor& tensor) {
  if (!reserve(tensor.elements(), 2 * sizeof(double))) return {};
  return values_as_double(tensor);
}

bool KernelCall::reserve(std::int64_t count, std::size_t bytes_each) {
  if (failed()) return false;
  std::uint64_t bytes = 0;
  const bool fits = !__builtin_mul_overflow(static_cast<std::uint64_t>(count), bytes_each, &bytes);
  if (fits && bytes <= run_.limits.bytes && *run_.live_bytes <= run_.limits.bytes - bytes)
    return true;
  fail(RunErrorKind::OutOfMemory, "",
       fmt::format("'{}' needs more memory than the limit allows", callee_));
  return false;
}

void KernelCall::fail(RunErrorKind kind, std::string type, std::string message) {
  if (error_) return;
  RunError error;
  error.kind = kind;
  error.type = std::move(type);
  error.message = std::move(message);
  error_ = std::move(error);
}

void KernelCall::raise(std::string message, std::string type) {
  fail(RunErrorKind::RaisesAsTorch, std::move(type), std::move(message));
}
void KernelCall::not_supported(std::string message) {
  fail(RunErrorKind::NotSupported, "", std::move(message));
}
void KernelCall::bad_program(std::string message) {
  fail(RunErrorKind::BadProgram, "", std::move(message));
}

bool KernelCall::interrupted() {
  if (failed()) return true;
  if (run_.stop.stop_requested()) {
    fail(RunErrorKind::Cancelled, "", "the run was interrupted");
  } else if (std::chrono::steady_clock::now() > run_.deadline) {
    fail(
        RunErrorKind::TimedOut, "",
        fmt::format("the run took longer than {} ms (in '{}')", run_.limits.time.count(), callee_));
  }
  return failed();
}

}  // namespace tg
