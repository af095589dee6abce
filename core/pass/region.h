// A group of statements as one fusion.
#pragma once

#include <string>
#include <vector>

#include "core/pass/fusion_rules.h"

namespace tg {

// Names that a group reads from outside, and those that it gives to outside, both in order of first
// appearance: sub-statements first, then arguments, then outputs.
struct RegionBorder {
  std::vector<NameId> inputs;
  std::vector<NameId> outputs;
};

// `producers` and `consumers` are those of the whole trace, in which the group stands.
RegionBorder border_of(const std::vector<StatementId>& group, Statements statements,
                       const NameTable& names, const ProducerMap& producers,
                       const ConsumerMap& consumers);

// `[outs] = nvFusionK(ins)` with the parts that run as sub-statements; parts that nobody needs are
// gone, as dead code elimination sees it.
BoundSymbolRef make_region(const std::vector<BoundSymbolRef>& group, const RegionBorder& border,
                           std::string name, const FusionRules& rules, const NameTable& names,
                           Era era);

// Only changes a shape, with everything that it consists of.
[[nodiscard]] bool is_shape_op(const BoundSymbol& statement);

// Shape operations at both ends of a group that need not be fused: nvFuser before 0.2.10 left them
// outside (bookending). Indices into `group`.
struct Bookends {
  std::vector<std::size_t> front;
  std::vector<std::size_t> middle;
  std::vector<std::size_t> rear;
};
Bookends bookends_of(const std::vector<BoundSymbolRef>& group, const RegionBorder& border,
                     const NameTable& names);

}  // namespace tg
