// Short ways to traces for the tests of the text room.
#pragma once

#include <string>
#include <string_view>

#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {

inline constexpr std::string_view kHead =
    "import torch\nfrom thunder.executors.torchex import "
    "no_autocast\n\n@torch.no_grad()\n@no_autocast\n";

// A trace `def computation(PARAMETERS):` with these body lines (indentation included).
inline std::string trace_text(std::string_view parameters, std::string_view body) {
  std::string text(kHead);
  text.append("def computation(").append(parameters).append("):\n").append(body);
  return text;
}

inline TraceFile parse(std::string text) {
  return parse_trace_file("trace.txt", std::move(text));
}

inline std::string rendered(const TraceFile& file) {
  std::string out;
  for (const Diagnostic& diagnostic : file.diagnostics)
    out += render(diagnostic, file.name, file.text);
  return out;
}

// Codes in order, separated by blanks: "undefined-name missing-return".
inline std::string codes(const TraceFile& file) {
  std::string out;
  for (const Diagnostic& diagnostic : file.diagnostics) {
    if (!out.empty()) out += ' ';
    out += code_text(diagnostic.code);
  }
  return out;
}

inline const BoundSymbol& statement(const TraceFile& file, std::size_t index) {
  return *file.phases.at(0).trace.bound_symbols.at(index);
}

}  // namespace tg
