// Reductions, scans and softmax. Sums are carried in double, products and extremes in the natural
// type.
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"
#include "core/eager/rows.h"

namespace tg {
namespace {

using Dims = std::vector<std::size_t>;

// Elements between two looks at the clock.
constexpr std::int64_t kWorkBetweenChecks = std::int64_t{1} << 20;

template <typename C>
struct WideOf {
  using Type = C;
};
template <>
struct WideOf<float> {
  using Type = double;
};
template <>
struct WideOf<Complex<float>> {
  using Type = Complex<double>;
};

// Calls f(C{}) with the widest computation type of `dtype`: double, int64 or Complex<double>.
template <typename F>
RuntimeValue with_wide_type(DType dtype, F&& f) {
  if (is_complex(dtype)) return f(Complex<double>{});
  if (is_float(dtype)) return f(double{});
  return f(std::int64_t{});
}

// out[row] = f(row elements). The result is contiguous, as PyTorch's reductions give it.
template <typename C, typename F>
Tensor reduce(KernelCall& call, const Tensor& a, const Dims& dims, bool keepdim, DType result_dtype,
              F&& f) {
  using R = std::invoke_result_t<F, const C*, std::int64_t>;
  RowReader reader(a, dims, compute_of<C>());
  Tensor result = call.allocate(result_dtype, reduced_sizes(a.geometry, dims, keepdim));
  if (loader(a.dtype, compute_of<C>()) == nullptr) {
    call.not_supported(fmt::format("'{}' on {} tensors", call.callee(), short_name(a.dtype)));
  }
  if (!call.reserve(reader.row_length(), sizeof(C))) return result;
  std::vector<C> row(static_cast<std::size_t>(reader.row_length()));
  const StoreBlock store = storer(compute_of<R>(), result_dtype);
  const auto step = static_cast<std::int64_t>(size_bytes(result_dtype));
  std::int64_t work = 0;
  for (std::int64_t r = 0; r < reader.rows(); ++r) {
    reader.next(row.data());
    const R value = f(row.data(), reader.row_length());
    store(element_address(result) + r * step, 1, 1, &value);
    work += reader.row_length() + 1;
    if (work > kWorkBetweenChecks && call.interrupted()) return result;
    if (work > kWorkBetweenChecks) work = 0;
  }
  return result;
}

// out[row][i] for every element of the row: scans and softmax.
template <typename C, typename F>
Tensor map_rows(KernelCall& call, const Tensor& a, std::size_t dim, DType result_dtype, F&& f) {
  Dims dims;
  if (a.geometry.rank() != 0) dims.push_back(dim);
  Tensor result = call.allocate(result_dtype, a.geometry.sizes);
  if (call.failed()) return result;
  RowReader reader(a, dims, compute_of<C>());
  if (!call.reserve(reader.row_length(), sizeof(C))) return result;
  std::vector<C> row(static_cast<std::size_t>(reader.row_length()));
  const StoreBlock store = storer(compute_of<C>(), result_dtype);
  const auto element = static_cast<std::int64_t>(size_bytes(result_dtype));
  const std::int64_t stride = dims.empty() ? 1 : result.geometry.strides[dim];
  const std::int64_t length = reader.row_length();
  for (std::int64_t r = 0; r < reader.rows() && length > 0; ++r) {
    reader.next(row.data());
    f(row.data(), length);
    // Row r in row-major order of the other dims: r = outer * stride + inner.
    const std::int64_t first = r / stride * stride * length + r % stride;
    store(element_address(result) + first * element, stride, length, row.data());
    if ((r & 0xfff) == 0xfff && call.interrupted()) return result;
  }
  return result;
}

template <typename C>
C sum_row(const C* row, std::int64_t count) {
  C total{};
  for (std::int64_t i = 0; i < count; ++i) total = scalar::plus(total, row[i]);
  return total;
}

template <typename C>
C product_row(const C* row, std::int64_t count) {
  C total = convert_compute<C>(std::int64_t{1});
  for (std::int64_t i = 0; i < count; ++i) total = scalar::times(total, row[i]);
  return total;
}

bool is_whole(DType dtype) {
  return !is_float(dtype) && !is_complex(dtype);
}

// sum, prod, mean first convert to the wanted dtype.
Tensor converted(KernelCall& call, const Tensor& a, std::optional<DType> dtype) {
  return dtype && *dtype != a.dtype ? call.cast(a, *dtype) : a;
}

RuntimeValue sum(KernelCall& call, std::string_view dims_name, std::string_view dtype_name,
                 bool keepdim) {
  const Tensor a = converted(call, call.tensor("a"), call.dtype(dtype_name));
  const Dims dims = call.dims(dims_name, a.geometry.rank());
  if (call.failed()) return {};
  const DType result = is_whole(a.dtype) && call.is_none(dtype_name) ? DType::Int64 : a.dtype;
  return with_wide_type(a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return {reduce<C>(call, a, dims, keepdim, result, sum_row<C>)};
  });
}

RuntimeValue product(KernelCall& call, std::string_view dims_name, std::string_view dtype_name,
                     bool keepdim) {
  const Tensor a = converted(call, call.tensor("a"), call.dtype(dtype_name));
  const Dims dims = call.dims(dims_name, a.geometry.rank());
  if (call.failed()) return {};
  const DType result = is_whole(a.dtype) && call.is_none(dtype_name) ? DType::Int64 : a.dtype;
  return with_wide_type(a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return {reduce<C>(call, a, dims, keepdim, result, product_row<C>)};
  });
}

bool refuses_empty_rows(KernelCall& call, const Tensor& a, const Dims& dims) {
  for (const std::size_t d : dims) {
    if (a.geometry.sizes[d] != 0 || call.failed()) continue;
    if (call.is_none("dim") || dims.size() == a.geometry.rank()) {
      call.raise(
          fmt::format("{}(): Expected reduction dim to be specified for input.numel() == 0. "
                      "Specify the reduction dim with the 'dim' argument.",
                      call.name()));
      return true;
    }
    call.raise(
        fmt::format("{}(): Expected reduction dim {} to have non-zero size.", call.name(), d),
        "IndexError");
  }
  return call.failed();
}

// +1: largest, -1: smallest. NaN wins.
template <typename C>
std::int64_t extreme_index(const C* row, std::int64_t count, int sign) {
  std::int64_t best = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (scalar::is_nan(row[i])) return i;
    if (sign > 0 ? row[i] > row[best] : row[i] < row[best]) best = i;
  }
  return best;
}

template <typename F>
RuntimeValue with_ordered_type(KernelCall& call, DType dtype, F&& f) {
  if (is_complex(dtype)) {
    refuse_dtype(call, dtype);
    return {};
  }
  return is_float(dtype) ? f(double{}) : f(std::int64_t{});
}

RuntimeValue extreme(KernelCall& call, std::string_view dims_name, bool keepdim, int sign) {
  const Tensor& a = call.tensor("a");
  const Dims dims = call.dims(dims_name, a.geometry.rank());
  if (call.failed() || refuses_empty_rows(call, a, dims)) return {};
  return with_ordered_type(call, a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return {reduce<C>(call, a, dims, keepdim, a.dtype, [sign](const C* row, std::int64_t count) {
      return row[extreme_index(row, count, sign)];
    })};
  });
}

RuntimeValue extreme_position(KernelCall& call, int sign) {
  const Tensor& a = call.tensor("a");
  const bool all = call.is_none("dim");
  Dims dims;
  if (all) {
    dims = call.dims("dim", a.geometry.rank());
  } else if (a.geometry.rank() != 0) {
    dims.push_back(call.dim("dim", a.geometry.rank()));
  } else {
    (void)call.dim("dim", 0);
  }
  const bool keepdim = call.flag("keepdim");
  const bool positions_only = call.op().code == OpCode::Argmax || call.op().code == OpCode::Argmin;
  if (positions_only && a.dtype == DType::Bool && !call.failed())
    call.raise(fmt::format("{}(): does not support bool input", call.name()));
  if (call.failed() || refuses_empty_rows(call, a, dims)) return {};
  return with_ordered_type(call, a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return {reduce<C>(
        call, a, dims, keepdim, DType::Int64,
        [sign](const C* row, std::int64_t count) { return extreme_index(row, count, sign); })};
  });
}

// max(a), max(a, dim, keepdim) -> (values, indices), max(a, b)
RuntimeValue extreme_of(KernelCall& call, int sign) {
  if (call.arg("dim").as<Tensor>() != nullptr) {
    const Tensor& a = call.tensor("a");
    const Tensor& b = call.tensor("dim");
    const std::vector<Operand> operands{{&a, {}}, {&b, {}}};
    if (sign > 0) {
      return elementwise(call, operands, ResultType::Promoted,
                         []<typename T>(T) { return scalar::Maximum<T>{}; });
    }
    return elementwise(call, operands, ResultType::Promoted,
                       []<typename T>(T) { return scalar::Minimum<T>{}; });
  }
  if (call.is_none("dim")) return extreme(call, "dim", false, sign);
  RuntimeValue values = extreme(call, "dim", call.flag("keepdim"), sign);
  if (call.failed()) return {};
  RuntimeValue positions = extreme_position(call, sign);
  return {Sequence{false, {std::move(values), std::move(positions)}}};
}

template <typename C>
struct Moments {
  C mean{};
  double sum_of_squares = 0;
};

template <typename C>
Moments<C> moments(const C* row, std::int64_t count) {
  Moments<C> result;
  result.mean = sum_row(row, count) / convert_compute<C>(static_cast<double>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const C gap = row[i] - result.mean;
    if constexpr (kIsComplex<C>) {
      result.sum_of_squares += gap.re * gap.re + gap.im * gap.im;
    } else {
      result.sum_of_squares += gap * gap;
    }
  }
  return result;
}

double correction(KernelCall& call) {
  if (!call.is_none("correction")) return call.number("correction");
  if (!call.is_none("unbiased")) return call.flag("unbiased") ? 1 : 0;
  return 1;
}

enum class Spread { Variance, Deviation };

RuntimeValue spread(KernelCall& call, std::string_view dims_name, Spread kind) {
  const Tensor& a = call.tensor("a");
  const Dims dims = call.dims(dims_name, a.geometry.rank());
  const double lost = correction(call);
  const bool keepdim = call.flag("keepdim");
  if (call.failed()) return {};
  if (is_whole(a.dtype)) {
    call.raise(fmt::format("{} only support floating point and complex dtypes", call.name()));
    return {};
  }
  return with_wide_type(a.dtype, [&]<typename C>(C) -> RuntimeValue {
    if constexpr (std::is_same_v<C, std::int64_t>) {
      return {};
    } else {
      return {reduce<C>(call, a, dims, keepdim, real_of(a.dtype),
                        [lost, kind](const C* row, std::int64_t count) {
                          const double variance = moments(row, count).sum_of_squares /
                                                  std::max(0.0, static_cast<double>(count) - lost);
                          return kind == Spread::Variance ? variance : std::sqrt(variance);
                        })};
    }
  });
}

RuntimeValue mean_of(KernelCall& call, const Tensor& a, const Dims& dims, bool keepdim) {
  return with_wide_type(a.dtype, [&]<typename C>(C) -> RuntimeValue {
    if constexpr (std::is_same_v<C, std::int64_t>) {
      call.raise(
          "mean(): could not infer output dtype. Input dtype must be either a floating point or "
          "complex "
          "dtype.");
      return {};
    } else {
      return {reduce<C>(call, a, dims, keepdim, a.dtype, [](const C* row, std::int64_t count) {
        return sum_row(row, count) / convert_compute<C>(static_cast<double>(count));
      })};
    }
  });
}

RuntimeValue variance_and_mean(KernelCall& call, std::string_view dims_name) {
  RuntimeValue variance = spread(call, dims_name, Spread::Variance);
  const Tensor& a = call.tensor("a");
  const Dims dims = call.dims(dims_name, a.geometry.rank());
  if (call.failed()) return {};
  RuntimeValue mean = mean_of(call, a, dims, call.flag("keepdim"));
  return {Sequence{false, {std::move(variance), std::move(mean)}}};
}

RuntimeValue truth(KernelCall& call, bool all) {
  const Tensor& a = call.tensor("a");
  const Dims dims = call.dims("dim", a.geometry.rank());
  const bool keepdim = call.flag("keepdim");
  if (call.failed()) return {};
  const DType result = a.dtype == DType::UInt8 ? DType::UInt8 : DType::Bool;
  return with_wide_type(a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return {reduce<C>(call, a, dims, keepdim, result, [all](const C* row, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        if (convert_compute<bool>(row[i]) != all) return !all;
      }
      return all;
    })};
  });
}

RuntimeValue softmax(KernelCall& call, bool logarithm) {
  const Tensor a = converted(call, call.tensor("a"), call.dtype("dtype"));
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  if (!is_float(a.dtype)) {
    refuse_dtype(call, a.dtype);
    return {};
  }
  return {map_rows<double>(call, a, dim, a.dtype, [logarithm](double* row, std::int64_t count) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < count; ++i) largest = scalar::Maximum<double>{}(largest, row[i]);
    double total = 0;
    for (std::int64_t i = 0; i < count; ++i) total += std::exp(row[i] - largest);
    const double log_total = std::log(total);
    for (std::int64_t i = 0; i < count; ++i) {
      row[i] = logarithm ? row[i] - largest - log_total : std::exp(row[i] - largest) / total;
    }
  })};
}

}  // namespace

RuntimeValue kernel_Sum(KernelCall& call) {
  return sum(call, "dim", "dtype", call.flag("keepdim"));
}
RuntimeValue kernel_SumPrim(KernelCall& call) {
  return sum(call, "dims", "output_dtype", false);
}
RuntimeValue kernel_Prod(KernelCall& call) {
  return product(call, "dim", "dtype", call.flag("keepdim"));
}
RuntimeValue kernel_ProdPrim(KernelCall& call) {
  return product(call, "dims", "output_dtype", false);
}
RuntimeValue kernel_Mean(KernelCall& call) {
  const Tensor a = converted(call, call.tensor("a"), call.dtype("dtype"));
  const Dims dims = call.dims("dim", a.geometry.rank());
  const bool keepdim = call.flag("keepdim");
  return call.failed() ? RuntimeValue{} : mean_of(call, a, dims, keepdim);
}
RuntimeValue kernel_Amax(KernelCall& call) {
  return extreme(call, "dim", call.flag("keepdim"), 1);
}
RuntimeValue kernel_AmaxPrim(KernelCall& call) {
  return extreme(call, "dims", false, 1);
}
RuntimeValue kernel_Amin(KernelCall& call) {
  return extreme(call, "dim", call.flag("keepdim"), -1);
}
RuntimeValue kernel_AminPrim(KernelCall& call) {
  return extreme(call, "dims", false, -1);
}
RuntimeValue kernel_Max(KernelCall& call) {
  return extreme_of(call, 1);
}
RuntimeValue kernel_Min(KernelCall& call) {
  return extreme_of(call, -1);
}
RuntimeValue kernel_Argmax(KernelCall& call) {
  return extreme_position(call, 1);
}
RuntimeValue kernel_Argmin(KernelCall& call) {
  return extreme_position(call, -1);
}
RuntimeValue kernel_Var(KernelCall& call) {
  return spread(call, "dim", Spread::Variance);
}
RuntimeValue kernel_VarPrim(KernelCall& call) {
  return spread(call, "dims", Spread::Variance);
}
RuntimeValue kernel_Std(KernelCall& call) {
  return spread(call, "dim", Spread::Deviation);
}
RuntimeValue kernel_StdPrim(KernelCall& call) {
  return spread(call, "dims", Spread::Deviation);
}
RuntimeValue kernel_VarMean(KernelCall& call) {
  return variance_and_mean(call, "dim");
}
RuntimeValue kernel_VarMeanPrim(KernelCall& call) {
  return variance_and_mean(call, "dims");
}
RuntimeValue kernel_All(KernelCall& call) {
  return truth(call, true);
}
RuntimeValue kernel_Any(KernelCall& call) {
  return truth(call, false);
}
RuntimeValue kernel_Softmax(KernelCall& call) {
  return softmax(call, false);
}
RuntimeValue kernel_LogSoftmax(KernelCall& call) {
  return softmax(call, true);
}

RuntimeValue kernel_Norm(KernelCall& call) {
  const Tensor a = converted(call, call.tensor("a"), call.dtype("dtype"));
  const Dims dims = call.dims("dim", a.geometry.rank());
  const bool keepdim = call.flag("keepdim");
  double p = 2;
  if (call.arg("p").as<StringValue>() != nullptr) {
    if (call.text("p") != "fro")
      call.not_supported(fmt::format("norm of kind '{}'", call.text("p")));
  } else if (!call.is_none("p")) {
    p = call.number("p");
  }
  if (call.failed()) return {};
  return with_wide_type(a.dtype, [&]<typename C>(C) -> RuntimeValue {
    if constexpr (std::is_same_v<C, std::int64_t>) {
      refuse_dtype(call, a.dtype);
      return {};
    } else {
      return {reduce<C>(
          call, a, dims, keepdim, real_of(a.dtype), [p](const C* row, std::int64_t count) {
            const double infinity = std::numeric_limits<double>::infinity();
            double total = p == -infinity ? infinity : 0;
            for (std::int64_t i = 0; i < count; ++i) {
              const double size = scalar::Abs<C>{}(row[i]);
              if (p == infinity) {
                total = scalar::Maximum<double>{}(total, size);
              } else if (p == -infinity) {
                total = scalar::Minimum<double>{}(total, size);
              } else {
                total += p == 0 ? (size != 0 ? 1 : 0) : (p == 2 ? size * size : std::pow(size, p));
              }
            }
            if (p == 0 || std::isinf(p)) return total;
            return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
          })};
    }
  });
}

RuntimeValue kernel_Cumsum(KernelCall& call) {
  const Tensor a = converted(call, call.tensor("a"), call.dtype("dtype"));
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  const DType result = is_whole(a.dtype) && call.is_none("dtype") ? DType::Int64 : a.dtype;
  return with_wide_type(a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return {map_rows<C>(call, a, dim, result, [](C* row, std::int64_t count) {
      for (std::int64_t i = 1; i < count; ++i) row[i] = scalar::plus(row[i], row[i - 1]);
    })};
  });
}

RuntimeValue kernel_Cumprod(KernelCall& call) {
  const Tensor a = converted(call, call.tensor("a"), call.dtype("dtype"));
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  const DType result = is_whole(a.dtype) && call.is_none("dtype") ? DType::Int64 : a.dtype;
  return with_wide_type(a.dtype, [&]<typename C>(C) -> RuntimeValue {
    return {map_rows<C>(call, a, dim, result, [](C* row, std::int64_t count) {
      for (std::int64_t i = 1; i < count; ++i) row[i] = scalar::times(row[i], row[i - 1]);
    })};
  });
}

namespace {

// log(exp(a) + exp(b)), also where one of them is infinite.
double log_add(double a, double b) {
  const double larger = scalar::Maximum<double>{}(a, b);
  if (std::isinf(larger) || larger != larger) return larger;
  return larger + std::log(std::exp(a - larger) + std::exp(b - larger));
}

}  // namespace

RuntimeValue kernel_Logcumsumexp(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::size_t dim = call.dim("dim", a.geometry.rank());
  if (call.failed()) return {};
  if (!is_float(a.dtype)) {
    call.not_supported(fmt::format("logcumsumexp of {} tensors", short_name(a.dtype)));
    return {};
  }
  return {map_rows<double>(call, a, dim, a.dtype, [](double* row, std::int64_t count) {
    for (std::int64_t i = 1; i < count; ++i) row[i] = log_add(row[i - 1], row[i]);
  })};
}

RuntimeValue kernel_Logsumexp(KernelCall& call) {
  const Tensor& given = call.tensor("a");
  const Tensor a = is_whole(given.dtype) ? call.cast(given, DType::Float32) : given;
  const Dims dims = call.dims("dim", a.geometry.rank());
  const bool keepdim = call.flag("keepdim");
  if (call.failed()) return {};
  if (!is_float(a.dtype)) {
    call.not_supported(fmt::format("logsumexp of {} tensors", short_name(a.dtype)));
    return {};
  }
  return {
      reduce<double>(call, a, dims, keepdim, a.dtype, [](const double* row, std::int64_t count) {
        double largest = -std::numeric_limits<double>::infinity();
        for (std::int64_t i = 0; i < count; ++i)
          largest = scalar::Maximum<double>{}(largest, row[i]);
        if (!std::isfinite(largest)) return largest;
        double total = 0;
        for (std::int64_t i = 0; i < count; ++i) total += std::exp(row[i] - largest);
        return largest + std::log(total);
      })};
}

}  // namespace tg
