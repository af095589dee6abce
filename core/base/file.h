// Reading and writing files. World failures are Diagnostics that name the operation, the object and
// the system's own words.
#pragma once

#include <string>

#include "core/base/diagnostic.h"

namespace tg {

// The whole file; "-" is standard input. gzip and zstd are recognised by their content and undone,
// up to `max_bytes` of plain text (too-large beyond that).
Result<std::string> read_file(const std::string& path,
                              std::size_t max_bytes = std::size_t{1} << 30);

enum class Overwrite { Refuse, Allow };
// Writes atomically (temporary file, rename); "-" is standard output. Refuses an existing file
// unless Allow.
Result<bool> write_file(const std::string& path, const std::string& bytes, Overwrite overwrite);

}  // namespace tg
