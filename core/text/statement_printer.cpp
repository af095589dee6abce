#include "core/text/statement_printer.h"

#include <fmt/format.h>

namespace tg::text {
namespace {

constexpr std::size_t kUnpackWidth = 80;

void append_list(std::string& out, const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ", ";
    append_text(out, values[i]);
  }
}

void append_typed_name(std::string& out, const Value& name, const TypeRef& type) {
  append_text(out, name);
  if (!type) return;
  out += ": \"";
  out += type->text;
  out += '"';
}

// The text of a sequence unpack in pieces: "a, ", "_, ", "= C0".
template <typename F>
void for_each_piece(const BoundSymbol& unpack, F&& f) {
  std::string piece;
  for (const Value& target : unpack.output.items) {
    piece.clear();
    append_text(piece, target);
    piece += ", ";
    f(piece);
  }
  piece = "= ";
  append_list(piece, unpack.args);
  f(piece);
}

class Lines {
 public:
  Lines(std::string& out, SubStatements subs) : out_(out), subs_(subs) {}

  void append(const BoundSymbol& statement, std::size_t indent, bool commented) {
    indent_ = indent;
    commented_ = commented;
    for (const std::string& header : statement.header) comment(header);
    body(statement);
    for (std::size_t i = 0; i < statement.details.size(); ++i) {
      begin();
      out_ += "# ";
      append_typed_name(out_, statement.details[i],
                        i < statement.detail_types.size() ? statement.detail_types[i] : nullptr);
      out_ += '\n';
    }
    if (subs_ == SubStatements::Omit) return;
    for (const BoundSymbolRef& child : statement.subsymbols) append(*child, indent + 2, true);
  }

 private:
  void begin() {
    out_.append(indent_, ' ');
    if (commented_) out_ += "# ";
  }

  void comment(std::string_view text) {
    begin();
    out_ += "# ";
    out_ += text;
    out_ += '\n';
  }

  void body(const BoundSymbol& statement) {
    if (statement.kind == StatementKind::UnpackSequence) {
      unpack(statement);
      return;
    }
    begin();
    append_one_line(out_, statement);
    if (statement.kind == StatementKind::Call) {
      if (statement.type) {
        out_ += "  # ";
        append_typed_name(out_, statement.output, statement.type);
      } else if (statement.layout.untyped_comment) {
        out_ += "  # ";
        append_text(out_, statement.output);
      }
    } else if (statement.kind == StatementKind::UnpackTrivial && statement.layout.trailing_space) {
      out_ += ' ';
    }
    out_ += '\n';
  }

  void unpack(const BoundSymbol& statement) {
    begin();
    std::size_t width = 0;
    for_each_piece(statement, [&](std::string_view piece) {
      const bool wraps = statement.layout.one_name_per_line
                             ? width != 0
                             : width != 0 && width + piece.size() > kUnpackWidth;
      if (wraps) {
        out_ += "\\\n";
        begin();
        width = 0;
      }
      out_ += piece;
      width += piece.size();
    });
    out_ += '\n';
  }

  std::string& out_;
  SubStatements subs_;
  std::size_t indent_ = 0;
  bool commented_ = false;
};

void append_assignment(std::string& out, const BoundSymbol& statement) {
  if (statement.output.kind != ValueKind::Absent) {
    append_text(out, statement.output);
    out += " = ";
  }
}

}  // namespace

void append_one_line(std::string& out, const BoundSymbol& statement) {
  switch (statement.kind) {
    case StatementKind::Call:
      append_assignment(out, statement);
      out += statement.callee;
      out += '(';
      append_list(out, statement.args);
      out += ')';
      return;
    case StatementKind::UnpackTrivial:
      out += "# ";
      append_typed_name(out, statement.output, statement.type);
      if (statement.output.is_name("_") && !statement.type) out += " (unused)";
      if (!statement.callee.empty()) out += fmt::format("   ({})", statement.callee);
      return;
    case StatementKind::UnpackSequence:
      for_each_piece(statement, [&out](std::string_view piece) { out += piece; });
      return;
    case StatementKind::UnpackAccess:
      append_typed_name(out, statement.output, statement.type);
      out += " = ";
      append_list(out, statement.args);
      return;
    case StatementKind::EmptyCollection:
      out += "# ";
      append_list(out, statement.args);
      out += " (empty ";
      out += statement.callee;
      out += ')';
      return;
    case StatementKind::PackList:
    case StatementKind::PackAssign:
      append_assignment(out, statement);
      append_list(out, statement.args);
      return;
    case StatementKind::Del:
      out += "del ";
      append_list(out, statement.args);
      return;
    case StatementKind::Return:
      out += "return ";
      append_list(out, statement.args);
      return;
    case StatementKind::Print:
      out += "print(";
      append_list(out, statement.args);
      out += ')';
      return;
    case StatementKind::Comment:
      out += "# ";
      out += statement.callee;
      return;
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      out += statement.callee;
      return;
  }
}

void append_statement(std::string& out, const BoundSymbol& statement, std::size_t indent,
                      SubStatements subs) {
  Lines(out, subs).append(statement, indent, false);
}

void append_program_line(std::string& out, const ProgramLine& line, std::size_t indent) {
  out.append(indent, ' ');
  out += fmt::format("# {}:{}: \t{}\n", line.file, line.line, line.text);
}

void append_head(std::string& out, const Trace& trace) {
  if (!trace.has_def_line) return;
  if (!trace.provenance.empty()) {
    if (!trace.bare_provenance) out += "# Constructed by ";
    out += trace.provenance;
    out += '\n';
  }
  for (const std::string& line : trace.imports) out += line + '\n';
  if (!trace.imports.empty()) out += '\n';
  for (const std::string& line : trace.decorators) out += line + '\n';
  if (!trace.has_signature) {
    out += "# No signature available\n";
    return;
  }
  out += "def ";
  out += trace.name;
  out += '(';
  bool first = true;
  for (const Parameter& parameter : trace.parameters) {
    if (!first) out += ", ";
    first = false;
    out += parameter.prefix;
    out += parameter.name;
    if (parameter.default_value.kind != ValueKind::Absent) {
      out += '=';
      append_text(out, parameter.default_value);
    }
  }
  out += "):\n";
}

bool shows_program_line(const ProgramLine* previous, const ProgramLine* current) {
  if (current == nullptr || current == previous) return false;
  return previous == nullptr || previous->line != current->line || previous->file != current->file;
}

}  // namespace tg::text
