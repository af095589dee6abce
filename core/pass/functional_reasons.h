// The sentences of the steps of functionalize.
#pragma once

#include <string>
#include <vector>

#include "core/pass/functional_plan.h"

namespace tg {

// "exp_ (line 7)"
std::string at(const FunctionalPlan& plan, std::uint32_t statement);

std::string split_reason(const FunctionalPlan& plan, std::uint32_t write);
// `ready`: the statements that are renamed; `rebuilds`: one of them reads a rebuilt base.
std::string rename_reason(const FunctionalPlan& plan, std::uint32_t write,
                          const std::vector<std::uint32_t>& ready, bool rebuilds);
std::string copy_to_argument_reason(const FunctionalPlan& plan, std::uint32_t write);
std::string rename_views_reason(const FunctionalPlan& plan, NameId storage);
// `last_kept`: the last write to the storage whose copy is kept, kNoIndex if none.
std::string erase_reason(const FunctionalPlan& plan, std::uint32_t write, std::uint32_t last_kept);
// `anchor`: id of the statement that the copy moves behind.
std::string place_reason(const FunctionalPlan& plan, const PlacedCopy& copy, StatementId anchor);

}  // namespace tg
