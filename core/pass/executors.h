// The executors of December 2024 as data: executors.def and its reader.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tg {

// How the arguments of the executed line follow from those of the statement.
enum class ArgumentForm : std::uint8_t {
  Same,
  Tuple,          // reshape(a, 3, 3) prints reshape(a, (3, 3))
  NoLastNone,     // squeeze(a, None) prints squeeze(a)
  Arange,         // arange(9, None, 1) prints arange(start=0, step=1, end=9)
  To,             // dtype and device by keyword
  Sort,           // dim, descending, stable by keyword
  Broadcast,      // one unsqueeze for each new dim, then expand
  Convert,        // convert_element_type(a, dtypes.float32) prints to(a, torch.float32, copy=True)
  DevicePut,      // device_put(a, Device("cpu")) prints to(a, "cpu")
  TorchKeywords,  // devices and dtypes in torch's spelling
  Iota,           // arange by keyword
};

// An executor's line has a meta function: it is traced again, and what dead code elimination had
// dropped from the sub-statements is back. This says what that is, beside literals that change
// their type.
enum class Retrace : std::uint8_t {
  Plain,
  Cast,      // casts of the first argument and of the results to the dtype that they have
  CastAll,   // casts of every tensor argument, and of the result
  Shape,     // the shape of the first argument is asked for
  Diagonal,  // shape and offset are asked for
  Division,  // rounding_mode chooses other sub-statements
};

struct ExecutorRow {
  std::string_view callee;   // as printed before
  std::string_view printed;  // and after
  std::string_view like;     // the statement that documents the executed line; empty: none
  ArgumentForm form = ArgumentForm::Same;
  std::string_view drop;      // "alpha? out!"
  std::string_view order;     // "0 2 1"
  std::string_view defaults;  // "False, dtype=None"
  Retrace retrace = Retrace::Plain;
  bool is_composite = false;
  bool numbers_only = false;
};

// The row of the torch executor, of the python executor; null if it does not take the callee.
const ExecutorRow* torch_row(std::string_view callee);
const ExecutorRow* python_row(std::string_view callee);
// torchcompile_cat, nvfuser: executors that put statements together into regions.
bool is_fusion_executor(std::string_view executor);
// Its regions may hold the callee, when no argument is a tensor on the CPU.
bool may_fuse(std::string_view executor, std::string_view callee);
// torchcompile_cat makes a region only of a group that holds one of these.
bool fusion_needs(std::string_view callee);

// What `thunder.jit` uses on a machine without GPU.
std::span<const std::string_view> default_executors();
// The executors that run last, whatever the list says: torch, python.
std::span<const std::string_view> always_executors();

}  // namespace tg
