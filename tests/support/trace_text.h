// Traces written into tests as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/text/parser.h"

namespace tg::test {

// "x: f32[2, 2]; n: i64[]" and statements (one a line, sub-statements indented by two more) as the
// first trace of a file, "cpu" everywhere. Statements may carry type comments.
Trace make_trace(std::string_view arguments, std::string_view statements);

// The statements of a trace as printed, without head and argument lines.
std::string body_text(const Trace& trace);

// The whole file, CHECK-fails when it cannot be read.
std::string file_text(const std::string& path);

}  // namespace tg::test
