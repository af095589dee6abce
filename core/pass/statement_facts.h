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

[[nodiscard]] bool is_return(const BoundSymbol& statement);
// prims.copy_, the raw copy; `ltorch.copy_` and fusions with copies inside are not.
[[nodiscard]] bool is_raw_copy(const BoundSymbol& statement);
// An in-place operation with a functional twin whose last sub-statement copies back (passes.md
// 0.6). The flag forms (`relu(x, True)`) count, `relu(x, False)` and `ltorch.copy_` do not.
[[nodiscard]] bool is_functionalizable(const BoundSymbol& statement);
// `ltorch.to` that gives back its own argument, judged as Thunder judges it: by dtype, device,
// flags.
[[nodiscard]] bool to_returns_input(const BoundSymbol& statement, const NameTable& names);

// Depth 0 only. Requires that the statements outlive nothing: names are copied out.
class ProducerMap {
 public:
  ProducerMap(Statements statements, const NameTable& names);
  // Index of the first statement that binds the name without reading it; kNoStatement if none.
  [[nodiscard]] StatementId of(NameId name) const {
    return name < producer_.size() ? producer_[name] : kNoStatement;
  }

 private:
  std::vector<StatementId> producer_;
};

class ConsumerMap {
 public:
  ConsumerMap(Statements statements, const NameTable& names);
  // Indices of the readers in order, one per occurrence, `return` included.
  [[nodiscard]] std::span<const StatementId> of(NameId name) const;

 private:
  std::vector<std::uint32_t> begin_;  // by name, one more at the end
  std::vector<StatementId> readers_;
};

// Thunder keys maps by statement equality: symbol, arguments and outputs, but a statement with
// keyword arguments, a list or a dict equals only itself. Entry i is the last index of a statement
// equal to statement i.
std::vector<StatementId> last_equal_index(Statements statements, const NameTable& names);

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

}  // namespace tg
