#include "core/pass/executors.h"

#include <array>
#include <unordered_map>
#include <unordered_set>

namespace tg {
namespace {

using enum ArgumentForm;
using enum Retrace;

constexpr ExecutorRow kTorchRows[] = {
#define TG_COMPOSITE(callee, printed, form, drop, retrace) \
  {callee, printed, callee, form, drop, "", "", retrace, true, false},
#define TG_PRIM(callee, printed, like, form, order, defaults) \
  {callee, printed, like, form, "", order, defaults, Plain, false, false},
#include "core/pass/executors.def"
};

constexpr ExecutorRow kPythonRows[] = {
#define TG_PYTHON(callee, printed, like) \
  {callee, printed, like, Same, "", "", "", Plain, false, false},
#define TG_PYTHON_NUMBER(callee, printed, like) \
  {callee, printed, like, Same, "", "", "", Plain, false, true},
#include "core/pass/executors.def"
};

constexpr std::string_view kTorchcompileCallees[] = {
#define TG_FUSED_ON_GPU(callee) callee,
#include "core/pass/executors.def"
};

constexpr std::string_view kNeededCallees[] = {
#define TG_FUSION_NEEDS(callee) callee,
#include "core/pass/executors.def"
};

constexpr std::string_view kNvfuserCallees[] = {
#define TG_NVFUSED(callee) callee,
#include "core/pass/executors.def"
};

using Callees = std::unordered_set<std::string_view>;

Callees set_of(std::span<const std::string_view> callees) {
  return {callees.begin(), callees.end()};
}

using RowIndex = std::unordered_map<std::string_view, const ExecutorRow*>;

RowIndex index_of(std::span<const ExecutorRow> rows) {
  RowIndex index;
  for (const ExecutorRow& row : rows) index.emplace(row.callee, &row);
  return index;
}

const ExecutorRow* find(const RowIndex& index, std::string_view callee) {
  const auto found = index.find(callee);
  return found == index.end() ? nullptr : found->second;
}

constexpr std::array<std::string_view, 7> kDefaultExecutors = {
    "apex", "cudnn", "sdpa", "torchcompile_cat", "__ad_hoc_executor", "torch", "python"};
constexpr std::array<std::string_view, 2> kAlwaysExecutors = {"torch", "python"};

}  // namespace

const ExecutorRow* torch_row(std::string_view callee) {
  static const RowIndex kIndex = index_of(kTorchRows);
  return find(kIndex, callee);
}

const ExecutorRow* python_row(std::string_view callee) {
  static const RowIndex kIndex = index_of(kPythonRows);
  return find(kIndex, callee);
}

bool is_fusion_executor(std::string_view executor) {
  return executor == "torchcompile_cat" || executor == "nvfuser";
}

bool may_fuse(std::string_view executor, std::string_view callee) {
  static const Callees kTorchcompile = set_of(kTorchcompileCallees);
  static const Callees kNvfuser = set_of(kNvfuserCallees);
  return (executor == "nvfuser" ? kNvfuser : kTorchcompile).contains(callee);
}

bool fusion_needs(std::string_view callee) {
  static const Callees kNeeded = set_of(kNeededCallees);
  return kNeeded.contains(callee);
}

std::span<const std::string_view> default_executors() {
  return kDefaultExecutors;
}

std::span<const std::string_view> always_executors() {
  return kAlwaysExecutors;
}

}  // namespace tg
