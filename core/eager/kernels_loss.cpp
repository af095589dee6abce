// Losses. Per-element losses are composed as PyTorch composes them; those over classes run in
// double.
#include <cmath>

#include <fmt/format.h>

#include "core/eager/compose.h"
#include "core/eager/elementwise.h"
#include "core/eager/kernel_table.h"

namespace tg {
namespace {

// The class dim of [N, C, d1...] or [C], and the cells around it.
struct Classes {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
  std::vector<std::int64_t> target_sizes;
};

std::optional<Classes> classes_of(KernelCall& call, const Tensor& a) {
  const std::vector<std::int64_t>& sizes = a.geometry.sizes;
  if (sizes.empty()) {
    call.raise("Expected a tensor with at least one dim of classes");
    return std::nullopt;
  }
  Classes classes;
  if (sizes.size() == 1) {
    classes.count = sizes[0];
    return classes;
  }
  classes.outer = sizes[0];
  classes.count = sizes[1];
  classes.target_sizes.push_back(sizes[0]);
  for (std::size_t d = 2; d < sizes.size(); ++d) {
    classes.inner *= sizes[d];
    classes.target_sizes.push_back(sizes[d]);
  }
  return classes;
}

struct NllArguments {
  Tensor a;
  Tensor target;
  std::vector<double> weights;  // empty: all 1
  std::int64_t ignored = -100;
  std::string reduction;
  double smoothing = 0;
};

std::optional<NllArguments> nll_arguments(KernelCall& call) {
  NllArguments arguments;
  arguments.a = call.tensor("a");
  arguments.target = call.tensor("target");
  if (const Tensor* weight = call.optional_tensor("weight"))
    arguments.weights = call.all_doubles(*weight);
  arguments.ignored = call.integer("ignore_index");
  arguments.reduction = call.text("reduction");
  if (call.failed()) return std::nullopt;
  if (arguments.reduction != "none" && arguments.reduction != "mean" &&
      arguments.reduction != "sum") {
    call.raise(fmt::format("{} is not a valid value for reduction", arguments.reduction),
               "ValueError");
    return std::nullopt;
  }
  return arguments;
}

// Row-major position of class `c` beside target cell `cell`.
std::size_t position(const Classes& classes, std::int64_t cell, std::int64_t c) {
  const std::int64_t outer = cell / classes.inner;
  const std::int64_t inner = cell % classes.inner;
  return static_cast<std::size_t>((outer * classes.count + c) * classes.inner + inner);
}

bool check_targets(KernelCall& call, const NllArguments& arguments, const Classes& classes,
                   const std::vector<std::int64_t>& targets) {
  if (arguments.target.geometry.sizes != classes.target_sizes) {
    call.raise(fmt::format("Expected target size {}, got {}", python_tuple(classes.target_sizes),
                           python_tuple(arguments.target.geometry.sizes)));
    return false;
  }
  if (!arguments.weights.empty() &&
      static_cast<std::int64_t>(arguments.weights.size()) != classes.count) {
    call.raise(
        fmt::format("weight tensor should be defined either for all {} classes or no "
                    "classes but got weight tensor of shape: [{}]",
                    classes.count, arguments.weights.size()));
    return false;
  }
  for (const std::int64_t target : targets) {
    if (target == arguments.ignored || (target >= 0 && target < classes.count)) continue;
    call.raise(fmt::format("Target {} is out of bounds.", target), "IndexError");
    return false;
  }
  return true;
}

// The loss of log-probabilities against class numbers.
RuntimeValue nll(KernelCall& call, const NllArguments& arguments) {
  const std::optional<Classes> classes = classes_of(call, arguments.a);
  if (!classes) return {};
  const std::vector<double> values = call.all_doubles(arguments.a);
  const std::vector<std::int64_t> targets = call.all_integers(arguments.target);
  if (call.failed() || !check_targets(call, arguments, *classes, targets)) return {};
  const auto weight_of = [&](std::int64_t c) {
    return arguments.weights.empty() ? 1.0 : arguments.weights[static_cast<std::size_t>(c)];
  };
  std::vector<double> losses(targets.size(), 0);
  std::vector<double> smooth(targets.size(), 0);
  double total_weight = 0;
  double total = 0;
  double smooth_total = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == arguments.ignored) continue;
    const auto cell = static_cast<std::int64_t>(i);
    const double weight = weight_of(targets[i]);
    total_weight += weight;
    losses[i] = -weight * values[position(*classes, cell, targets[i])];
    total += losses[i];
    for (std::int64_t c = 0; arguments.smoothing > 0 && c < classes->count; ++c)
      smooth[i] -= weight_of(c) * values[position(*classes, cell, c)];
    smooth_total += smooth[i];
    if ((i & 0xffff) == 0xffff && call.interrupted()) return {};
  }
  const double sharp = 1 - arguments.smoothing;
  const double spread = arguments.smoothing / static_cast<double>(classes->count);
  const bool per_cell = arguments.reduction == "none";
  Tensor result = call.allocate(arguments.a.dtype,
                                per_cell ? classes->target_sizes : std::vector<std::int64_t>{});
  if (call.failed()) return {};
  if (per_cell) {
    for (std::size_t i = 0; i < losses.size(); ++i)
      losses[i] = sharp * losses[i] + spread * smooth[i];
    fill_from_double(result, losses);
    return {std::move(result)};
  }
  const double divisor = arguments.reduction == "mean" ? total_weight : 1.0;
  double loss = total / divisor;
  if (arguments.smoothing > 0) loss = sharp * loss + spread * smooth_total / divisor;
  fill_from_double(result, {loss});
  return {std::move(result)};
}

// Targets that are probabilities.
RuntimeValue cross_entropy_of_probabilities(KernelCall& call, const NllArguments& arguments) {
  const std::optional<Classes> classes = classes_of(call, arguments.a);
  if (!classes) return {};
  const std::vector<double> values = call.all_doubles(arguments.a);
  const std::vector<double> targets = call.all_doubles(arguments.target);
  if (call.failed()) return {};
  std::int64_t cells = classes->outer * classes->inner;
  std::vector<double> losses(static_cast<std::size_t>(cells), 0);
  double total = 0;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    double loss = 0;
    for (std::int64_t c = 0; c < classes->count; ++c) {
      const std::size_t at = position(*classes, cell, c);
      const double weight =
          arguments.weights.empty() ? 1.0 : arguments.weights[static_cast<std::size_t>(c)];
      const double target = targets[at] * (1 - arguments.smoothing) +
                            arguments.smoothing / static_cast<double>(classes->count);
      loss -= weight * target * values[at];
    }
    losses[static_cast<std::size_t>(cell)] = loss;
    total += loss;
    if ((cell & 0xffff) == 0xffff && call.interrupted()) return {};
  }
  const bool per_cell = arguments.reduction == "none";
  Tensor result = call.allocate(arguments.a.dtype,
                                per_cell ? classes->target_sizes : std::vector<std::int64_t>{});
  if (call.failed()) return {};
  if (!per_cell) {
    losses = {arguments.reduction == "mean" ? total / static_cast<double>(cells) : total};
  }
  fill_from_double(result, losses);
  return {std::move(result)};
}

}  // namespace

RuntimeValue kernel_NllLoss(KernelCall& call) {
  const std::optional<NllArguments> arguments = nll_arguments(call);
  return arguments ? nll(call, *arguments) : RuntimeValue{};
}
RuntimeValue kernel_NllLossSymbol(KernelCall& call) {
  return kernel_NllLoss(call);
}

RuntimeValue kernel_CrossEntropy(KernelCall& call) {
  std::optional<NllArguments> arguments = nll_arguments(call);
  if (!arguments) return {};
  arguments->smoothing = call.number("label_smoothing");
  const std::int64_t dim = arguments->a.geometry.rank() > 1 ? 1 : 0;
  const RuntimeValue logs = invoke(call, OpCode::LogSoftmax, {call.arg("a"), whole_number(dim)});
  const Tensor* tensor = logs.as<Tensor>();
  if (tensor == nullptr) return {};
  arguments->a = *tensor;
  const bool probabilities = is_float(arguments->target.dtype) &&
                             arguments->target.geometry.sizes == tensor->geometry.sizes;
  return probabilities ? cross_entropy_of_probabilities(call, *arguments) : nll(call, *arguments);
}

RuntimeValue kernel_NllLossBackward(KernelCall& call) {
  const std::optional<NllArguments> arguments = nll_arguments(call);
  const Tensor& g = call.tensor("g");
  const Tensor* total_weight = call.optional_tensor("total_weight");
  if (!arguments || call.failed()) return {};
  const std::optional<Classes> classes = classes_of(call, arguments->a);
  if (!classes) return {};
  const std::vector<std::int64_t> targets = call.all_integers(arguments->target);
  const std::vector<double> gradients = call.all_doubles(g);
  if (call.failed() || !check_targets(call, *arguments, *classes, targets)) return {};
  const bool mean = arguments->reduction == "mean";
  const double divisor =
      mean && total_weight != nullptr ? call.all_doubles(*total_weight).front() : 1.0;
  Tensor result = call.allocate(arguments->a.dtype, arguments->a.geometry.sizes);
  if (call.failed() || gradients.empty()) return {std::move(result)};
  std::vector<double> values(static_cast<std::size_t>(result.elements()), 0);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == arguments->ignored) continue;
    const double weight =
        arguments->weights.empty() ? 1.0 : arguments->weights[static_cast<std::size_t>(targets[i])];
    const double gradient = gradients.size() == 1 ? gradients.front() : gradients[i];
    values[position(*classes, static_cast<std::int64_t>(i), targets[i])] =
        -weight * gradient / divisor;
  }
  fill_from_double(result, values);
  return {std::move(result)};
}

// nvFuser's pair: the loss, and what its backward needs: the largest logit of each row, the
// logarithm of its sum of exponentials, the number of targets that count.
RuntimeValue kernel_NvCrossEntropyForward(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& target = call.tensor("target");
  const std::int64_t ignored = call.integer("ignore_index");
  if (call.failed()) return {};
  Sequence results;
  results.items.push_back(kernel_CrossEntropy(call));
  results.items.push_back(invoke(call, OpCode::Amax, {call.arg("a"), whole_number(1)}));
  results.items.push_back(invoke(call, OpCode::Logsumexp, {call.arg("a"), whole_number(1)}));
  double valid = 0;
  for (const std::int64_t one : call.all_integers(target)) valid += one == ignored ? 0 : 1;
  Tensor count = call.allocate(a.dtype, std::vector<std::int64_t>{});
  if (call.failed()) return {};
  fill_from_double(count, {valid});
  results.items.push_back({std::move(count)});
  return {std::move(results)};
}

// (softmax(a) - one_hot(target)) * g / valid
RuntimeValue kernel_NvCrossEntropyBackward(KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const Tensor& target = call.tensor("target");
  const std::vector<double> sums = call.all_doubles(call.tensor("max_log_sum_exp"));
  const std::vector<double> valid = call.all_doubles(call.tensor("valid_indices"));
  const std::vector<double> gradient = call.all_doubles(call.tensor("g"));
  const std::int64_t ignored = call.integer("ignore_index");
  if (call.number("label_smoothing") != 0)
    call.not_supported("the backward of a smoothed cross entropy");
  if (call.failed()) return {};
  std::vector<double> values = call.all_doubles(a);
  const std::vector<std::int64_t> targets = call.all_integers(target);
  Tensor result = call.allocate(a.dtype, a.geometry.sizes);
  if (call.failed()) return {};
  const bool fits = a.geometry.rank() == 2 && sums.size() == targets.size() &&
                    a.geometry.sizes[0] == static_cast<std::int64_t>(targets.size()) &&
                    valid.size() == 1 && gradient.size() == 1;
  if (!fits) {
    call.not_supported("the backward of a cross entropy over other than [N, C]");
    return {};
  }
  const auto classes = static_cast<std::size_t>(a.geometry.sizes[1]);
  for (std::size_t row = 0; row < targets.size(); ++row) {
    for (std::size_t c = 0; c < classes; ++c) {
      double& value = values[row * classes + c];
      const double hit = targets[row] == static_cast<std::int64_t>(c) ? 1 : 0;
      value = targets[row] == ignored
                  ? 0
                  : (std::exp(value - sums[row]) - hit) * gradient[0] / valid[0];
    }
    if ((row & 0xfff) == 0xfff && call.interrupted()) return {};
  }
  fill_from_double(result, values);
  return {std::move(result)};
}

// g - exp(output) * sum(g, dim)
RuntimeValue kernel_LogSoftmaxBackward(KernelCall& call) {
  const RuntimeValue g = call.arg("g");
  const RuntimeValue total = invoke(call, OpCode::Sum, {g, call.arg("dim"), {true}});
  const RuntimeValue shares = invoke(call, OpCode::Exp, {call.arg("output")});
  const RuntimeValue taken = invoke(call, OpCode::Mul, {shares, total});
  const RuntimeValue result = invoke(call, OpCode::Sub, {g, taken});
  return invoke(call, OpCode::To, {result, call.arg("dtype")});
}
// output * (g - sum(g * output, dim))
RuntimeValue kernel_SoftmaxBackward(KernelCall& call) {
  const RuntimeValue weighted = invoke(call, OpCode::Mul, {call.arg("g"), call.arg("output")});
  const RuntimeValue total = invoke(call, OpCode::Sum, {weighted, call.arg("dim"), {true}});
  const RuntimeValue rest = invoke(call, OpCode::Sub, {call.arg("g"), total});
  const RuntimeValue result = invoke(call, OpCode::Mul, {call.arg("output"), rest});
  return invoke(call, OpCode::To, {result, call.arg("dtype")});
}

RuntimeValue kernel_MseLoss(KernelCall& call) {
  if (!call.is_none("weight")) call.not_supported("mse_loss with weights");
  const RuntimeValue difference = invoke(call, OpCode::Sub, {call.arg("a"), call.arg("target")});
  return reduce_loss(call, invoke(call, OpCode::Mul, {difference, difference}));
}
RuntimeValue kernel_L1Loss(KernelCall& call) {
  const RuntimeValue difference = invoke(call, OpCode::Sub, {call.arg("a"), call.arg("target")});
  return reduce_loss(call, invoke(call, OpCode::Abs, {difference}));
}

namespace {

// Quadratic below `delta`, linear above. smooth_l1 divides by delta.
RuntimeValue huber(KernelCall& call, double delta, bool divided) {
  const RuntimeValue size =
      invoke(call, OpCode::Abs, {invoke(call, OpCode::Sub, {call.arg("a"), call.arg("target")})});
  const RuntimeValue small = invoke(call, OpCode::Lt, {size, {delta}});
  RuntimeValue square = invoke(call, OpCode::Mul, {{0.5}, invoke(call, OpCode::Mul, {size, size})});
  RuntimeValue line = invoke(call, OpCode::Sub, {size, {0.5 * delta}});
  if (divided) {
    square = invoke(call, OpCode::TrueDivide, {square, {delta}});
  } else {
    line = invoke(call, OpCode::Mul, {line, {delta}});
  }
  return reduce_loss(call, invoke(call, OpCode::Where, {small, square, line}));
}

}  // namespace

RuntimeValue kernel_SmoothL1Loss(KernelCall& call) {
  const double beta = call.number("beta");
  return beta == 0 ? kernel_L1Loss(call) : huber(call, beta, true);
}
RuntimeValue kernel_HuberLoss(KernelCall& call) {
  return huber(call, call.number("delta"), false);
}

RuntimeValue kernel_BinaryCrossEntropy(KernelCall& call) {
  const RuntimeValue a = call.arg("a");
  const RuntimeValue target = call.arg("target");
  const auto bounded_log = [&](const RuntimeValue& value) {
    return invoke(call, OpCode::Clamp, {invoke(call, OpCode::Log, {value}), {-100.0}});
  };
  const RuntimeValue yes = invoke(call, OpCode::Mul, {target, bounded_log(a)});
  const RuntimeValue rest = invoke(call, OpCode::Sub, {whole_number(1), a});
  const RuntimeValue no = invoke(
      call, OpCode::Mul, {invoke(call, OpCode::Sub, {whole_number(1), target}), bounded_log(rest)});
  RuntimeValue losses = invoke(call, OpCode::Neg, {invoke(call, OpCode::Add, {yes, no})});
  if (!call.is_none("weight")) losses = invoke(call, OpCode::Mul, {losses, call.arg("weight")});
  return reduce_loss(call, std::move(losses));
}

// (1 - target) * a + factor * log(1 + exp(-|a|)) + ..., in the form that does not overflow.
RuntimeValue kernel_BinaryCrossEntropyWithLogits(KernelCall& call) {
  const RuntimeValue a = call.arg("a");
  const RuntimeValue target = call.arg("target");
  const RuntimeValue log = invoke(call, OpCode::Logsigmoid, {a});
  const RuntimeValue first =
      invoke(call, OpCode::Mul, {invoke(call, OpCode::Sub, {whole_number(1), target}), a});
  RuntimeValue scaled = log;
  if (!call.is_none("pos_weight")) {
    const RuntimeValue extra = invoke(call, OpCode::Sub, {call.arg("pos_weight"), whole_number(1)});
    const RuntimeValue factor =
        invoke(call, OpCode::Add, {invoke(call, OpCode::Mul, {extra, target}), whole_number(1)});
    scaled = invoke(call, OpCode::Mul, {factor, log});
  }
  RuntimeValue losses = invoke(call, OpCode::Sub, {first, scaled});
  if (!call.is_none("weight")) losses = invoke(call, OpCode::Mul, {losses, call.arg("weight")});
  return reduce_loss(call, std::move(losses));
}

}  // namespace tg
