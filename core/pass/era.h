// The generations of Thunder that passes reproduce.
#pragma once

#include <cstdint>

namespace tg {

enum class Era : std::uint8_t { Unknown, Thunder2024, Thunder2026 };

}  // namespace tg
