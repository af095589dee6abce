#include "core/check/write_history.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tg {
namespace {

constexpr std::int64_t kMaxElements = 1 << 20;

// The elements of the window, densely, in row-major order.
std::vector<std::byte> window_bytes(const Tensor& tensor) {
  return contiguous_copy(tensor).storage->bytes;
}

class Recorder {
 public:
  explicit Recorder(const std::string& argument) : argument_(argument) {}

  Continue before(const Environment& environment) {
    if (!started_) start(environment);
    return argument_tensor_ ? Continue::Go : Continue::Stop;
  }

  Continue after(std::uint32_t statement) {
    if (argument_tensor_->storage->version == version_) return Continue::Go;
    version_ = argument_tensor_->storage->version;
    if (history_.writers.empty() || history_.writers.back() != statement) {
      history_.writers.push_back(statement);
    }
    std::vector<std::byte> now = window_bytes(*argument_tensor_);
    const std::size_t width = size_bytes(argument_tensor_->dtype);
    for (std::size_t i = 0; i < history_.last_writer.size(); ++i) {
      if (std::memcmp(now.data() + i * width, bytes_.data() + i * width, width) != 0) {
        history_.last_writer[i] = statement;
      }
    }
    bytes_ = std::move(now);
    return Continue::Go;
  }

  WriteHistory take(bool finished) && {
    history_.complete = finished && argument_tensor_.has_value();
    return std::move(history_);
  }

 private:
  void start(const Environment& environment) {
    started_ = true;
    const RuntimeValue* value = environment.find(argument_);
    const Tensor* tensor = value ? value->as<Tensor>() : nullptr;
    if (!tensor || tensor->elements() > kMaxElements) return;
    argument_tensor_ = *tensor;
    version_ = tensor->storage->version;
    bytes_ = window_bytes(*tensor);
    history_.last_writer.assign(static_cast<std::size_t>(tensor->elements()),
                                WriteHistory::kNobody);
  }

  const std::string& argument_;
  bool started_ = false;
  std::optional<Tensor> argument_tensor_;
  std::uint32_t version_ = 0;
  std::vector<std::byte> bytes_;
  WriteHistory history_;
};

}  // namespace

WriteHistory observe_writes(const Trace& trace, const RunInputs& inputs,
                            const std::string& argument, const RunLimits& limits) {
  Recorder recorder(argument);
  RunObserver observer;
  observer.before = [&recorder](std::uint32_t, const Environment& environment) {
    return recorder.before(environment);
  };
  observer.after = [&recorder](std::uint32_t statement, const Environment&) {
    return recorder.after(statement);
  };
  const Expected<RunResult, RunError> result = run(trace, inputs, limits, &observer);
  return std::move(recorder).take(result.has_value());
}

std::size_t flat_position(const std::vector<std::int64_t>& sizes,
                          const std::vector<std::int64_t>& index) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < sizes.size() && i < index.size(); ++i) {
    position = position * sizes[i] + index[i];
  }
  return static_cast<std::size_t>(position);
}

}  // namespace tg
