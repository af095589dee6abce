#include "app/listing.h"

#include "core/base/text.h"
#include "core/text/printer.h"

namespace tg {
namespace {

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Classifies the printed lines of one statement; `begin` is the first of its header comments.
void mark_statement(std::vector<ListedLine>& lines, std::size_t begin, std::size_t count,
                    std::uint32_t statement, std::size_t header, std::size_t body_indent) {
  bool main_seen = false;
  for (std::size_t i = begin; i < begin + count && i < lines.size(); ++i) {
    ListedLine& line = lines[i];
    line.statement = statement;
    const bool deeper = indentation(line.text) > body_indent;
    if (i < begin + header) {
      line.kind = LineKind::Comment;
    } else if (!main_seen) {
      line.kind = LineKind::Statement;
      main_seen = true;
    } else if (deeper) {
      line.kind = LineKind::Sub;
    } else {
      line.kind = LineKind::Comment;  // continuation and detail lines of an unpacking
    }
  }
}

// Known numbers spread to the lines around them: a line before an anchor counts back from it.
void spread_numbers(std::vector<ListedLine>& lines) {
  std::uint32_t last = 0;
  for (ListedLine& line : lines) {
    if (line.number != 0) {
      last = line.number;
    } else if (last != 0) {
      line.number = ++last;
    }
  }
  std::uint32_t next = 0;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (next != 0 && (line->number == 0 || line->number >= next) && next > 1)
      line->number = next - 1;
    next = line->number;
  }
}

}  // namespace

std::vector<ListedLine> list_lines(const Trace& trace, Numbering numbering) {
  const bool file_lines = numbering != Numbering::Printed;
  const std::string text = print(trace);
  std::vector<ListedLine> lines;
  for (const std::string_view line : split_lines(text)) {
    ListedLine listed;
    listed.text = line;
    const std::string_view content = trim(line);
    if (content.empty()) listed.kind = LineKind::Blank;
    lines.push_back(std::move(listed));
  }
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < trace.bound_symbols.size(); ++i) {
    const BoundSymbol& statement = *trace.bound_symbols[i];
    const std::string printed = print(statement);
    const auto own = split_lines(printed);
    if (own.empty()) continue;
    const std::string_view first = trim(own.front());
    std::size_t found = at;
    while (found < lines.size() && trim(lines[found].text) != first) ++found;
    if (found == lines.size()) continue;
    // What lies between is the source position of this statement.
    for (std::size_t k = at; k < found; ++k) {
      if (i == 0 && (lines[k].kind == LineKind::Blank || indentation(lines[k].text) < 2)) continue;
      if (lines[k].kind == LineKind::Blank) continue;
      lines[k].kind = LineKind::Source;
      lines[k].statement = i;
    }
    mark_statement(lines, found, own.size(), i, statement.header.size(), trace.body_indent);
    if (file_lines && statement.at.line != 0 && found + statement.header.size() < lines.size()) {
      lines[found + statement.header.size()].number = statement.at.line;
    }
    at = found + own.size();
  }
  if (numbering == Numbering::Statements) return lines;
  if (file_lines) {
    if (trace.def_at.line != 0) {
      for (ListedLine& line : lines) {
        if (!line.text.starts_with("def ")) continue;
        if (line.number == 0) line.number = trace.def_at.line;
        break;
      }
    }
    spread_numbers(lines);
  } else {
    std::uint32_t number = 0;
    for (ListedLine& line : lines) line.number = ++number;
  }
  return lines;
}

namespace {

BoundSymbolRef on_line(const BoundSymbol& statement, std::uint32_t line) {
  BoundSymbol moved = statement;
  moved.at = {};
  moved.at.line = line;
  for (BoundSymbolRef& inner : moved.subsymbols) inner = on_line(*inner, line);
  return std::make_shared<const BoundSymbol>(std::move(moved));
}

}  // namespace

Trace with_listed_lines(const Trace& trace, Numbering numbering) {
  if (numbering != Numbering::Printed) return trace;
  Trace listed = trace;
  const std::vector<std::uint32_t> numbers =
      statement_numbers(list_lines(trace, numbering), trace.bound_symbols.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    listed.bound_symbols[i] = on_line(*trace.bound_symbols[i], numbers[i]);
  }
  return listed;
}

std::optional<std::uint32_t> statement_at(const std::vector<ListedLine>& lines,
                                          std::uint32_t number) {
  for (const ListedLine& line : lines) {
    if (line.number == number && line.statement) return line.statement;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> statement_numbers(const std::vector<ListedLine>& lines,
                                             std::size_t count) {
  std::vector<std::uint32_t> numbers(count, 0);
  for (const ListedLine& line : lines) {
    if (line.kind == LineKind::Statement && line.statement) numbers[*line.statement] = line.number;
  }
  return numbers;
}

}  // namespace tg
