// The import lines of a trace. Thunder gathers, statement by statement, the modules that printed
// callees and arguments of depth 0 need, then sorts them by module name; a class (`from torch
// import Tensor`) sorts as its module, and ties keep the order in which they were needed. Checked
// against every recorded stage.
#include <algorithm>
#include <array>
#include <unordered_set>

#include <fmt/format.h>

#include "core/text/printer.h"

namespace tg {
namespace {

struct ShortName {
  std::string_view name;
  std::string_view module;
};

constexpr std::array<ShortName, 6> kShortNames = {
    {{"ltorch", "thunder.torch"},
     {"prims", "thunder.core.prims"},
     {"lnp", "thunder.numpy"},
     {"devices", "thunder.core.devices"},
     {"dtypes", "thunder.core.dtypes"},
     {"transformer_engine", "transformer_engine.pytorch"}}};
constexpr std::string_view kNoAutocast = "from thunder.executors.torchex import no_autocast";

struct Import {
  std::string module;
  std::string line;
};

class Imports {
 public:
  explicit Imports(const Trace& trace) {
    for (const Parameter& parameter : trace.parameters) names_.insert(parameter.name);
    for (const BoundSymbolRef& statement : trace.bound_symbols) {
      // Statements that the printer spells itself (unpacking, packing, del, return) need no module.
      if (statement->kind == StatementKind::Call) callee(statement->callee);
      for (const Value& arg : statement->args) argument(arg);
      if (statement->kind == StatementKind::UnpackAccess ||
          statement->kind == StatementKind::UnpackSequence) {
        for (const std::string_view name : output_names(*statement)) names_.insert(name);
      }
    }
    add("torch", "import torch");
  }

  std::vector<std::string> sorted_lines() {
    std::stable_sort(imports_.begin(), imports_.end(),
                     [](const Import& a, const Import& b) { return a.module < b.module; });
    std::vector<std::string> lines;
    for (Import& import : imports_) lines.push_back(std::move(import.line));
    return lines;
  }

 private:
  void callee(std::string_view callee) {
    const std::size_t dot = callee.rfind('.');
    if (dot == std::string_view::npos || !seen_callees_.insert(callee).second) return;
    const std::string_view module = callee.substr(0, dot);
    const std::string_view root = module.substr(0, module.find('.'));
    // module.set_buffer('x', t0): the object is a value of the trace.
    if (names_.contains(root)) return;
    if (module == "Tensor") {
      add("torch", "from torch import Tensor");
    } else if (module.starts_with("torch.torch")) {
      // torch.torch.ops.aten.X: the module is torch, the rest is the function's name.
      add("torch", "import torch");
    } else {
      add_module(module);
    }
  }

  void add_module(std::string_view printed) {
    for (const ShortName& known : kShortNames) {
      if (known.name != printed) continue;
      package_of(known.module);
      add(known.module, fmt::format("import {} as {}", known.module, known.name));
      return;
    }
    package_of(printed);
    add(printed, fmt::format("import {}", printed));
  }

  void package_of(std::string_view module) {
    const std::size_t dot = module.find('.');
    if (dot == std::string_view::npos) return;
    add(module.substr(0, dot), fmt::format("import {}", module.substr(0, dot)));
  }

  void argument(const Value& value) {
    if (value.kind == ValueKind::Dotted && value.text.starts_with("dtypes.")) short_name("dtypes");
    if (value.kind == ValueKind::Call && value.text.starts_with("devices.")) short_name("devices");
    for (const Value& inner : value.items) argument(inner);
  }

  void short_name(std::string_view name) {
    for (const ShortName& known : kShortNames) {
      if (known.name == name) add(known.module, fmt::format("import {} as {}", known.module, name));
    }
  }

  void add(std::string_view module, std::string line) {
    if (seen_lines_.insert(line).second) imports_.push_back({std::string(module), std::move(line)});
  }

  std::unordered_set<std::string_view> names_;
  std::unordered_set<std::string_view> seen_callees_;
  std::unordered_set<std::string> seen_lines_;
  std::vector<Import> imports_;
};

}  // namespace

void derive_imports(Trace& trace, const Trace& before) {
  trace.imports = Imports(trace).sorted_lines();
  // Printed without decorators, a trace has no such line either.
  const bool has_decorators = before.imports.empty() || before.imports.back() == kNoAutocast;
  if (has_decorators) trace.imports.emplace_back(kNoAutocast);
}

}  // namespace tg
