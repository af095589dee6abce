// TG_CHECK(condition): our own mistakes. Prints expression, place and reproducer, then aborts.
// The user's mistakes are Diagnostics (diagnostic.h), never checks.
#pragma once

namespace tg {

// Prints "internal error: EXPRESSION at FILE:LINE" and the text of crash_context(), aborts.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace tg

#define TG_CHECK(condition)                                       \
  do {                                                            \
    if (!(condition)) ::tg::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)
