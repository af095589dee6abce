// What Thunder's passes ask about a statement: its flattened arguments, who produces and who reads
// a name, whether it is written in place. One spelling of each question for all passes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pass/name_table.h"
#include "core/pass/rewriter.h"

namespace tg {

using Statements = std::span<const BoundSymbolRef>;

// Leaves of the arguments in Thunder's flattening order: positionals, then keyword values by key.
std::vector<const Value*> flat_args(const BoundSymbol& statement);
// Values of the program among them, with repetitions. An annotation reads nothing.
std::vector<NameId> proxy_args(const BoundSymbol& statement, const NameTable& names);
std::vector<NameId> tensor_args(const BoundSymbol& statement, const NameTable& names);
std::vector<NameId> proxy_outs(const BoundSymbol& statement, const NameTable& names);
NameId first_tensor_arg(const BoundSymbol& statement, const NameTable& names);  // kNoName if none

// Calls f(NameId) for the same values as proxy_args, in the same order, without a list.
template <typename F>
void for_each_proxy_arg(const BoundSymbol& statement, const NameTable& names, F&& f);
template <typename F>
void for_each_proxy_out(const BoundSymbol& statement, const NameTable& names, F&& f);

[[nodiscard]] bool is_return(const BoundSymbol& statement);
// prims.copy_, the raw copy; `ltorch.copy_` and fusions with copies inside are not.
[[nodiscard]] bool is_raw_copy(const BoundSymbol& statement);
// An in-place operation with a functional twin whose last sub-statement copies back (passes.md
// 0.6). The flag forms (`relu(x, True)`) count, `relu(x, False)` and `ltorch.copy_` do not.
[[nodiscard]] bool is_functionalizable(const BoundSymbol& statement);
// `ltorch.to` that gives back its own argument, judged as Thunder judges it: by dtype, device,
// flags.
[[nodiscard]] bool to_returns_input(const BoundSymbol& statement, const NameTable& names);

// What proxy_args and proxy_outs give for each statement of a list, side by side in memory: several
// questions about one list then walk the statements once.
class StatementNames {
 public:
  StatementNames() = default;
  StatementNames(Statements statements, const NameTable& names);
  void append(const BoundSymbol& statement, const NameTable& names);

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::span<const NameId> args(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1].args;
    return std::span(args_).subspan(begin, ends_[i].args - begin);
  }
  [[nodiscard]] std::span<const NameId> outs(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1].outs;
    return std::span(outs_).subspan(begin, ends_[i].outs - begin);
  }
  [[nodiscard]] std::span<const NameId> all_args() const { return args_; }

 private:
  struct Ends {
    std::uint32_t args = 0;
    std::uint32_t outs = 0;
  };
  std::vector<Ends> ends_;
  std::vector<NameId> args_;
  std::vector<NameId> outs_;
};

// Depth 0 only. Requires that the statements outlive nothing: names are copied out.
class ProducerMap {
 public:
  ProducerMap(Statements statements, const NameTable& names)
      : ProducerMap(StatementNames(statements, names), names.size()) {}
  ProducerMap(const StatementNames& statements, std::size_t name_count);
  // Index of the first statement that binds the name without reading it; kNoStatement if none.
  [[nodiscard]] StatementId of(NameId name) const {
    return name < producer_.size() ? producer_[name] : kNoStatement;
  }

 private:
  std::vector<StatementId> producer_;
};

class ConsumerMap {
 public:
  ConsumerMap(Statements statements, const NameTable& names)
      : ConsumerMap(StatementNames(statements, names), names.size()) {}
  ConsumerMap(const StatementNames& statements, std::size_t name_count);
  // Indices of the readers in order, one per occurrence, `return` included.
  [[nodiscard]] std::span<const StatementId> of(NameId name) const;

 private:
  std::vector<std::uint32_t> begin_;  // by name, one more at the end
  std::vector<StatementId> readers_;
};

// Thunder keys maps by statement equality: symbol, arguments and outputs, but a statement with
// keyword arguments, a list or a dict equals only itself. Entry i is the last index of a statement
// equal to statement i.
std::vector<StatementId> last_equal_index(Statements statements, const StatementNames& names_of,
                                          std::size_t name_count);

// `<TensorProxy(name="t1", dtype=thunder.dtypes.float32, shape=(4,))>`
std::string tensor_repr(NameId name, const NameTable& names);
// A leaf as Python's str() shows it inside Thunder's messages.
std::string python_str(const Value& leaf);
std::string python_name_list(const std::vector<NameId>& list,
                             const NameTable& names);  // ['a', 'b']

// "`k` is replaced by `v`" or "['a', 'b'] are replaced by ['c', 'd'], respectively".
std::string replaced_header(const std::vector<NameId>& keys, const std::vector<NameId>& values,
                            const NameTable& names);

// "line 7" of the user's file, or "statement 3" (1-based) when the text has no position.
std::string place_of(const BoundSymbol& statement, StatementId id);
// "exp_ (line 7)"
std::string callee_at(const BoundSymbol& statement, StatementId id);

// `r = prims.reshape(source, shape)`, without a position in the user's program; `at` is the line of
// the trace that it serves.
BoundSymbolRef make_reshape(NameId source, const std::vector<std::int64_t>& shape, NameId result,
                            const NameTable& names, SourceRange at = {});
// Type of `like` with another shape.
TypeRef reshaped_type(const TypeRef& like, const std::vector<std::int64_t>& shape);
// Thunder's refusal when the element counts differ; empty when they agree or are unknown.
std::optional<PassError> reshape_error(NameId source, const std::vector<std::int64_t>& shape,
                                       const NameTable& names);

// ---- template definitions

// Keyword values can be visited as they stand: they are in order of their names. Reads no
// expression texts, binds nothing and is no annotation.
[[nodiscard]] bool is_plain_reader(const BoundSymbol& statement);

template <typename F>
void for_each_proxy_arg(const BoundSymbol& statement, const NameTable& names, F&& f) {
  if (!is_plain_reader(statement)) {
    for (const NameId name : proxy_args(statement, names)) f(name);
    return;
  }
  const auto visit = [&](const Value& leaf) {
    if (!leaf.is_name()) return;
    const NameId id = names.find(leaf.text);
    if (id != kNoName && names.is_proxy(id)) f(id);
  };
  for (const Value& arg : statement.args) {
    if (arg.is_name()) {
      visit(arg);
    } else if (!arg.items.empty()) {
      for_each_leaf(arg, visit);
    }
  }
}

template <typename F>
void for_each_proxy_out(const BoundSymbol& statement, const NameTable& names, F&& f) {
  if (statement.kind == StatementKind::PackAssign || statement.output.kind == ValueKind::Absent) {
    return;
  }
  const auto visit = [&](const Value& leaf) {
    if (!leaf.is_name() || leaf.text == "_") return;
    const NameId id = names.find(leaf.text);
    if (id != kNoName) f(id);
  };
  if (statement.output.is_name()) {
    visit(statement.output);
  } else {
    for_each_leaf(statement.output, visit);
  }
}

}  // namespace tg
