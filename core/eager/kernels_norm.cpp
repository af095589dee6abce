// Normalisations. batch_norm in training updates its running statistics inside the call.
#include <cmath>

#include <fmt/format.h>

#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"
#include "core/eager/rows.h"

namespace tg {
namespace {

std::vector<double> optional_doubles(KernelCall& call, const Tensor* tensor) {
  return tensor != nullptr ? call.all_doubles(*tensor) : std::vector<double>{};
}

struct Statistics {
  double mean = 0;
  double variance = 0;  // biased
};

Statistics statistics(const std::vector<double>& row) {
  Statistics result;
  for (const double value : row) result.mean += value;
  result.mean /= static_cast<double>(row.size());
  for (const double value : row) result.variance += (value - result.mean) * (value - result.mean);
  result.variance /= static_cast<double>(row.size());
  return result;
}

void check_size(KernelCall& call, const Tensor* tensor, std::int64_t channels,
                std::string_view name) {
  if (tensor == nullptr || call.failed() || tensor->elements() == channels) return;
  call.raise(
      fmt::format("{} should contain {} elements not {}", name, channels, tensor->elements()));
}

}  // namespace

RuntimeValue kernel_BatchNorm(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor* running_mean = call.optional_tensor("running_mean");
  const Tensor* running_var = call.optional_tensor("running_var");
  const Tensor* weight = call.optional_tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  const bool training = call.flag("training");
  const double momentum = call.number("momentum");
  const double eps = call.number("eps");
  if (call.failed()) return {};
  if (a.geometry.rank() < 2) {
    call.raise(fmt::format("Expected more than 1 dimension, got input with {} dimensions",
                           a.geometry.rank()));
    return {};
  }
  const std::int64_t channels = a.geometry.sizes[1];
  check_size(call, running_mean, channels, "running_mean");
  check_size(call, running_var, channels, "running_var");
  check_size(call, weight, channels, "weight");
  check_size(call, bias, channels, "bias");
  const bool uses_batch = training || running_mean == nullptr || running_var == nullptr;
  if (training && channels != 0 && a.elements() / channels == 1) {
    call.raise("Expected more than 1 value per channel when training", "ValueError");
  }
  if (call.failed()) return {};
  Geometry like =
      is_channels_last(a.geometry) ? dense_like(a.geometry) : contiguous_geometry(a.geometry.sizes);
  Tensor result = call.allocate(a.dtype, like);
  std::vector<std::size_t> row_dims{0};
  for (std::size_t d = 2; d < a.geometry.rank(); ++d) row_dims.push_back(d);
  RowReader reader(a, row_dims, Compute::Double);
  if (!call.reserve(reader.row_length(), sizeof(double))) return {};
  std::vector<double> means = optional_doubles(call, running_mean);
  std::vector<double> variances = optional_doubles(call, running_var);
  const std::vector<double> scales = optional_doubles(call, weight);
  const std::vector<double> shifts = optional_doubles(call, bias);
  std::vector<double> row(static_cast<std::size_t>(reader.row_length()));
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    reader.next(row.data());
    Statistics used;
    if (uses_batch) {
      used = statistics(row);
      const double unbiased =
          used.variance * static_cast<double>(row.size()) / (static_cast<double>(row.size()) - 1);
      if (training && running_mean != nullptr)
        means[c] = (1 - momentum) * means[c] + momentum * used.mean;
      if (training && running_var != nullptr)
        variances[c] = (1 - momentum) * variances[c] + momentum * unbiased;
    } else {
      used = {means[c], variances[c]};
    }
    const double scale = (scales.empty() ? 1 : scales[c]) / std::sqrt(used.variance + eps);
    const double shift = shifts.empty() ? 0 : shifts[c];
    for (double& value : row) value = (value - used.mean) * scale + shift;
    Tensor slice = result;
    slice.geometry.sizes[1] = 1;
    slice.geometry.offset += channel * slice.geometry.strides[1];
    fill_from_double(slice, row);
    if (call.interrupted()) return {};
  }
  if (training) {
    if (running_mean != nullptr) {
      Tensor target = *running_mean;
      fill_from_double(target, means);
      ++target.storage->version;
    }
    if (running_var != nullptr) {
      Tensor target = *running_var;
      fill_from_double(target, variances);
      ++target.storage->version;
    }
  }
  return {std::move(result)};
}

RuntimeValue kernel_LayerNorm(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::vector<std::int64_t> shape = call.integers("normalized_shape");
  const Tensor* weight = call.optional_tensor("weight");
  const Tensor* bias = call.optional_tensor("bias");
  const double eps = call.number("eps");
  if (call.failed()) return {};
  const std::size_t rank = a.geometry.rank();
  if (shape.empty() || shape.size() > rank ||
      !std::equal(shape.begin(), shape.end(),
                  a.geometry.sizes.end() - static_cast<std::ptrdiff_t>(shape.size()))) {
    call.raise(
        fmt::format("Given normalized_shape={}, expected input with shape ending in it, but got "
                    "input of size {}",
                    python_tuple(shape), python_tuple(a.geometry.sizes)));
    return {};
  }
  std::vector<std::size_t> row_dims;
  for (std::size_t d = rank - shape.size(); d < rank; ++d) row_dims.push_back(d);
  Tensor result = call.allocate(a.dtype, a.geometry.sizes);
  if (call.failed()) return {};
  RowReader reader(a, row_dims, Compute::Double);
  if (!call.reserve(reader.row_length(), sizeof(double))) return {};
  const std::vector<double> scales = optional_doubles(call, weight);
  const std::vector<double> shifts = optional_doubles(call, bias);
  std::vector<double> row(static_cast<std::size_t>(reader.row_length()));
  const StoreBlock store = storer(Compute::Double, a.dtype);
  const auto row_bytes = reader.row_length() * static_cast<std::int64_t>(size_bytes(a.dtype));
  for (std::int64_t r = 0; r < reader.rows() && reader.row_length() > 0; ++r) {
    reader.next(row.data());
    const Statistics used = statistics(row);
    const double scale = 1 / std::sqrt(used.variance + eps);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = (row[i] - used.mean) * scale * (scales.empty() ? 1 : scales[i]) +
               (shifts.empty() ? 0 : shifts[i]);
    }
    store(element_address(result) + r * row_bytes, 1, reader.row_length(), row.data());
    if ((r & 0xff) == 0xff && call.interrupted()) return {};
  }
  return {std::move(result)};
}

}  // namespace tg
