// The version that `thunderglass version` prints: the project's, from CMake.
#pragma once

#include <string_view>

namespace tg {

constexpr std::string_view kVersion = TG_VERSION;

}  // namespace tg
