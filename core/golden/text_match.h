// Texts that are equal up to what no recording can promise. Internal to core/golden.
#pragma once

#include <string>
#include <string_view>

namespace tg::golden {

// Why `got` is not `recorded`; empty when they agree up to a consistent renaming of names that
// `input` does not have (t12, p3, i0), of objects that are renamed at every print
// (_torch_memory_format_7), of milliseconds, and of the order of pairs in update_aliases.
// Independent of the parser on purpose: it sees tokens only.
std::string text_fault(std::string_view input, std::string_view recorded, std::string_view got);

}  // namespace tg::golden
