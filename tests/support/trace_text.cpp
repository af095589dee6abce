#include "tests/support/trace_text.h"

#include <fstream>
#include <sstream>

#include "core/base/check.h"
#include "core/base/text.h"
#include "core/text/printer.h"

namespace tg::test {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

Trace make_trace(std::string_view arguments, std::string_view statements) {
  std::string head = "def computation(";
  std::string annotations;
  for (const std::string_view argument : split(arguments, ';')) {
    const std::size_t colon = argument.find(':');
    const std::string name(trim(argument.substr(0, colon)));
    if (!head.ends_with('(')) head += ", ";
    head += name;
    if (colon == std::string_view::npos) continue;
    const std::string type(trim(argument.substr(colon + 1)));
    const bool is_tensor = type.find('[') != std::string::npos;
    annotations += "  # " + name + ": \"" + (is_tensor ? "cpu " : "") + type + "\"\n";
  }
  std::string body;
  for (const std::string_view line : split_lines(statements)) {
    if (!trim(line).empty()) body += "  " + std::string(line) + "\n";
  }
  TraceFile file = parse_trace_file("test", head + "):\n" + annotations + body);
  TG_CHECK(!file.phases.empty());
  return std::move(file.phases.front().trace);
}

std::string body_text(const Trace& trace) {
  std::string text;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind != StatementKind::UnpackTrivial) text += one_line(*statement) + "\n";
  }
  return text;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  TG_CHECK(in.good());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace tg::test
