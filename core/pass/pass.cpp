#include "core/pass/pass.h"

#include <algorithm>

#include "core/pass/all_passes.h"

namespace tg {
namespace {

constexpr PassInfo kPasses[] = {
#define TG_PASS(function, thunder, faithful, idempotent, summary) \
  {#function, thunder, summary, &function, faithful, idempotent},
#include "core/pass/passes.def"
#undef TG_PASS
};

}  // namespace

std::span<const PassInfo> all_passes() {
  return kPasses;
}

const PassInfo* find_pass(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kPasses), std::end(kPasses), [name](const PassInfo& pass) {
        return pass.name == name || (!pass.thunder.empty() && pass.thunder == name);
      });
  return found == std::end(kPasses) ? nullptr : found;
}

}  // namespace tg
