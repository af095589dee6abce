// Small traces for the tests of check, with the head that Thunder prints.
#pragma once

#include <string>

#include "core/text/parser.h"

namespace tg::test {

inline std::string trace_text(const std::string& provenance, const std::string& signature,
                              const std::string& body) {
  std::string text;
  if (!provenance.empty()) text += "# Constructed by " + provenance + "\n";
  text +=
      "import thunder.core.prims as prims\nimport thunder.torch as ltorch\nimport torch\n"
      "from thunder.executors.torchex import no_autocast\n\n@torch.no_grad()\n@no_autocast\n";
  return text + "def computation(" + signature + "):\n" + body + "\n";
}

inline TraceFile file_of(const std::string& text) {
  return parse_trace_file("trace.txt", text);
}

}  // namespace tg::test
