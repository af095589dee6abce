#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tg {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr,
               "thunderglass: internal error: check failed: %s (%s:%d)\n"
               "This is a fault of Thunderglass, not of your trace. Please report the command line "
               "and the input together with this line.\n",
               expression, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace tg
