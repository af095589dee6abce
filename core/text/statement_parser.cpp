#include "core/text/statement_parser.h"

#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/value_parser.h"

namespace tg::text {
namespace {

bool is_access(const Value& value) {
  switch (value.kind) {
    case ValueKind::Dotted:
    case ValueKind::Subscript:
    case ValueKind::Attribute:
    case ValueKind::Method:
      return true;
    case ValueKind::Absent:
    case ValueKind::Name:
    case ValueKind::Int:
    case ValueKind::Float:
    case ValueKind::Complex:
    case ValueKind::Bool:
    case ValueKind::None:
    case ValueKind::Ellipsis:
    case ValueKind::String:
    case ValueKind::Tuple:
    case ValueKind::List:
    case ValueKind::Dict:
    case ValueKind::Call:
    case ValueKind::Keyword:
    case ValueKind::Opaque:
      return false;
  }
  return false;
}

// `NAME: "TYPE"` -> the type's text. A trailing space is dropped and reported.
std::optional<std::string_view> type_of_comment(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return std::nullopt;
  text.remove_prefix(name.size());
  if (!text.starts_with(": \"") || text.size() < 4 || text.back() != '"') return std::nullopt;
  return text.substr(3, text.size() - 4);
}

class LineParser {
 public:
  LineParser(std::string_view line, TypeCache& types, BoundSymbol& out)
      : line_(line), types_(types), out_(out), values_(line) {}

  bool statement() {
    if (line_.starts_with("del ")) return del();
    if (line_ == "return" || line_.starts_with("return ")) return returned();
    if (line_.starts_with("print(")) return print();
    return assignment();
  }
  [[nodiscard]] std::size_t end() const { return end_; }
  [[nodiscard]] const SyntaxError& error() const { return values_.error(); }

 private:
  bool del() {
    out_.kind = StatementKind::Del;
    values_.move_to(4);
    return list_until_end(out_.args) && finish_comment();
  }

  bool returned() {
    out_.kind = StatementKind::Return;
    values_.move_to(6);
    values_.skip_space();
    if (values_.at_end()) {
      end_ = line_.size();
      return true;
    }
    return list_until_end(out_.args) && finish_comment();
  }

  bool print() {
    out_.kind = StatementKind::Print;
    values_.move_to(6);
    if (!values_.arguments(out_.args, 5)) return false;
    end_ = values_.at();
    return finish_comment();
  }

  bool list_until_end(std::vector<Value>& into) {
    while (true) {
      into.emplace_back();
      if (!values_.value(into.back())) return false;
      end_ = values_.at();
      values_.skip_space();
      if (values_.peek() != ',') return true;
      values_.move_to(values_.at() + 1);
      values_.skip_space();
      if (values_.at_end()) return true;
    }
  }

  bool assignment() {
    Value first;
    if (!values_.value(first)) return false;
    const std::size_t first_end = values_.at();
    values_.skip_space();
    if (values_.at_end() || values_.peek() == '#') return bare_call(std::move(first), first_end);
    if (values_.peek() == ',') return unpack(std::move(first));
    if (values_.peek() == ':') return annotated(std::move(first));
    if (values_.peek() != '=') {
      return values_.unexpected("'=' was");
    }
    values_.move_to(values_.at() + 1);
    return right_side(std::move(first));
  }

  bool bare_call(Value call, std::size_t end) {
    end_ = end;
    if (call.kind != ValueKind::Call) {
      return values_.fail(
          DiagnosticCode::MalformedStatement, 0, std::max<std::size_t>(end, 1),
          "this is no statement: an assignment, a call, 'del' or 'return' was expected");
    }
    take_call(std::move(call));
    return finish_comment();
  }

  void take_call(Value call) {
    out_.kind = StatementKind::Call;
    out_.callee = std::move(call.text);
    out_.op = op_of(out_.callee);
    out_.args = std::move(call.items);
  }

  // `a, _, c, = C0`; also `a, b = f(x)` as people write it.
  bool unpack(Value first) {
    std::vector<Value> targets;
    targets.push_back(std::move(first));
    while (values_.peek() == ',') {
      values_.move_to(values_.at() + 1);
      values_.skip_space();
      if (values_.peek() == '=') break;
      targets.emplace_back();
      if (!values_.value(targets.back())) return false;
      values_.skip_space();
    }
    if (values_.peek() != '=') {
      return values_.fail(DiagnosticCode::MalformedStatement, values_.at(), 1,
                          "'=' was expected after the names to unpack into");
    }
    values_.move_to(values_.at() + 1);
    Value sequence;
    if (!values_.value(sequence)) return false;
    end_ = values_.at();
    if (sequence.kind == ValueKind::Call) {
      take_call(std::move(sequence));
    } else {
      out_.kind = StatementKind::UnpackSequence;
      out_.args.push_back(std::move(sequence));
    }
    out_.output = Value::tuple(std::move(targets));
    return finish_comment();
  }

  // `x: "cpu f32[2]" = args[0]`
  bool annotated(Value target) {
    const std::size_t colon = values_.at();
    const std::size_t close = line_.find("\" = ", colon);
    if (!target.is_name() || !line_.substr(colon).starts_with(": \"") ||
        close == std::string_view::npos) {
      return values_.fail(DiagnosticCode::MalformedStatement, colon, 1,
                          "a type in double quotes and ' = ' were expected after the name");
    }
    out_.kind = StatementKind::UnpackAccess;
    out_.type = types_.type(line_.substr(colon + 3, close - colon - 3));
    out_.output = std::move(target);
    values_.move_to(close + 4);
    out_.args.emplace_back();
    if (!values_.value(out_.args.back())) return false;
    end_ = values_.at();
    return finish_comment();
  }

  bool right_side(Value target) {
    Value right;
    if (!values_.value(right)) return false;
    end_ = values_.at();
    if (is_access(target)) {
      out_.kind = StatementKind::PackAssign;
      out_.args.push_back(std::move(right));
    } else if (right.kind == ValueKind::Call) {
      take_call(std::move(right));
    } else if (right.kind == ValueKind::List) {
      out_.kind = StatementKind::PackList;
      out_.args.push_back(std::move(right));
    } else {
      out_.kind = StatementKind::UnpackAccess;
      out_.args.push_back(std::move(right));
    }
    out_.output = std::move(target);
    return finish_comment();
  }

  // The type comment, or whatever comment people put there (which the structural print drops).
  bool finish_comment() {
    std::string_view rest = line_.substr(values_.at());
    const std::size_t hash = rest.find_first_not_of(" \t\n");
    if (hash == std::string_view::npos) return true;
    if (rest[hash] != '#') {
      return values_.fail(DiagnosticCode::MalformedStatement, values_.at() + hash,
                          rest.size() - hash, "the statement ends before this text");
    }
    rest = trim(rest.substr(hash + 1));
    if (out_.kind != StatementKind::Call || !out_.output.is_name()) return true;
    if (rest == out_.output.text) {
      out_.layout.untyped_comment = true;
    } else if (const auto type = type_of_comment(rest, out_.output.text)) {
      out_.type = types_.type(*type);
    }
    return true;
  }

  std::string_view line_;
  TypeCache& types_;
  BoundSymbol& out_;
  ValueParser values_;
  std::size_t end_ = 0;
};

// Strings whose quotes Thunder broke cannot be tokenized. The type comment still tells where the
// call ends: `t0 = f(RAW)  # t0: "TYPE"`.
bool parse_by_type_comment(std::string_view line, TypeCache& types, BoundSymbol& out,
                           std::size_t& end) {
  const std::size_t name = name_end(line, 0);
  if (name == 0 || !line.substr(name).starts_with(" = ")) return false;
  const std::string_view target = line.substr(0, name);
  const std::size_t callee = dotted_end(line, name + 3);
  if (callee == name + 3 || callee >= line.size() || line[callee] != '(') return false;
  const std::string mark = fmt::format(")  # {}: \"", target);
  const std::size_t close = line.rfind(mark);
  if (close == std::string_view::npos || close <= callee || line.back() != '"') return false;
  const std::string_view raw = line.substr(callee + 1, close - callee - 1);
  if (raw.find_first_of("'\"\\") == std::string_view::npos) return false;
  out = BoundSymbol{};
  out.callee = std::string(line.substr(name + 3, callee - name - 3));
  out.op = op_of(out.callee);
  out.output = Value::name(target);
  out.args.push_back(Value::leaf(ValueKind::Opaque, raw));
  const std::size_t type = close + mark.size();
  out.type = types.type(line.substr(type, line.size() - 1 - type));
  end = close + 1;
  return true;
}

// An assignment or a call, no words about what is missing.
bool is_code(std::string_view words) {
  if (words.find('=') != std::string_view::npos) return true;
  const std::size_t open = words.find('(');
  return open != std::string_view::npos && open > 0 && is_name_char(words[open - 1]);
}

}  // namespace

bool parse_statement_line(std::string_view line, TypeCache& types, BoundSymbol& out,
                          std::size_t& end, SyntaxError& error) {
  LineParser parser(line, types, out);
  if (parser.statement()) {
    end = parser.end();
    return true;
  }
  error = parser.error();
  return error.code != DiagnosticCode::TooDeep && parse_by_type_comment(line, types, out, end);
}

namespace {

// `x: "cpu f32[3]"   (requires_grad=True, leaf)`: people say what the type does not.
std::optional<BoundSymbol> annotation_with_remarks(std::string_view text, std::string_view name,
                                                   TypeCache& types) {
  if (!text.ends_with(')')) return std::nullopt;
  const std::size_t close = text.find("\" ", name.size() + 3);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view rest = trim(text.substr(close + 1));
  const std::optional<std::string_view> type = type_of_comment(text.substr(0, close + 1), name);
  if (!type || !rest.starts_with('(')) return std::nullopt;
  BoundSymbol out;
  out.kind = StatementKind::UnpackTrivial;
  out.output = Value::name(name);
  out.type = types.type(*type);
  out.callee = std::string(rest.substr(1, rest.size() - 2));
  return out;
}

}  // namespace

std::optional<BoundSymbol> parse_comment_statement(std::string_view text, TypeCache& types,
                                                   bool lone_name_is_parameter) {
  BoundSymbol out;
  const bool trailing_space = text.ends_with(' ');
  const std::string_view bare = trailing_space ? text.substr(0, text.size() - 1) : text;
  const std::size_t name = name_end(bare, 0);
  if (name != 0) {
    const std::string_view word = bare.substr(0, name);
    if (const auto type = type_of_comment(bare, word)) {
      out.kind = StatementKind::UnpackTrivial;
      out.output = Value::name(word);
      out.type = types.type(*type);
      out.layout.trailing_space = trailing_space;
      return out;
    }
    if (auto remarked = annotation_with_remarks(text, word, types)) return remarked;
    if (text == "_ (unused)" || text == "None") {
      out.kind = StatementKind::UnpackTrivial;
      out.output = text == "None" ? Value::none() : Value::name("_");
      return out;
    }
    if (name == bare.size() && lone_name_is_parameter) {
      out.kind = StatementKind::UnpackTrivial;
      out.output = Value::name(word);
      out.layout.trailing_space = trailing_space;
      return out;
    }
  }
  for (const std::string_view word : {"Before ", "After "}) {
    if (!text.starts_with(word)) continue;
    const std::size_t end = dotted_end(text, word.size());
    if (end != word.size() && end == text.size()) {
      out.kind = StatementKind::Comment;
      out.callee = std::string(text);
      return out;
    }
  }
  if (text.ends_with(')')) {
    for (const std::string_view word : {"sequence", "tuple", "list", "dict"}) {
      const std::string mark = fmt::format(" (empty {})", word);
      if (!text.ends_with(mark)) continue;
      ValueParser values(text.substr(0, text.size() - mark.size()));
      Value value;
      if (!values.value(value) || !values.at_end()) return std::nullopt;
      out.kind = StatementKind::EmptyCollection;
      out.callee = std::string(word);
      out.args.push_back(std::move(value));
      return out;
    }
  }
  return std::nullopt;
}

bool take_unpack_detail(std::string_view text, TypeCache& types, BoundSymbol& unpack) {
  const std::size_t index = unpack.details.size();
  if (index >= unpack.output.items.size()) return false;
  const Value& target = unpack.output.items[index];
  if (target.is_name()) {
    const std::size_t name = name_end(text, 0);
    const std::string_view word = text.substr(0, name);
    // Dead code elimination turns a target into `_` and leaves its detail line as it was.
    if (name != 0 && (target.text == word || target.text == "_")) {
      if (const auto type = type_of_comment(text, word)) {
        unpack.details.push_back(Value::name(word));
        unpack.detail_types.push_back(types.type(*type));
        return true;
      }
    }
  }
  ValueParser values(text);
  Value literal;
  if (!values.value(literal) || !values.at_end() || literal.is_name()) return false;
  unpack.details.push_back(std::move(literal));
  unpack.detail_types.emplace_back();
  return true;
}

std::optional<ProgramLine> parse_program_line(std::string_view text, bool& canonical) {
  for (std::size_t colon = text.find(':', 1);
       colon != std::string_view::npos && colon + 1 < text.size();
       colon = text.find(':', colon + 1)) {
    std::size_t at = colon + 1;
    std::uint64_t line = 0;
    while (at < text.size() && is_digit(text[at]) && line < 100'000'000) {
      line = line * 10 + static_cast<std::uint64_t>(text[at] - '0');
      ++at;
    }
    if (at == colon + 1 || at >= text.size() || text[at] != ':') continue;
    std::string_view rest = text.substr(at + 1);
    canonical = rest.starts_with(" \t");
    if (canonical) {
      rest.remove_prefix(2);
    } else if (rest.starts_with('\t')) {
      rest.remove_prefix(1);
    } else if (rest.starts_with("  ")) {
      rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    } else if (trim(rest).empty()) {
      rest = {};
    } else {
      continue;
    }
    return ProgramLine{std::string(text.substr(0, colon)), static_cast<std::uint32_t>(line),
                       std::string(rest)};
  }
  return std::nullopt;
}

bool is_elision(std::string_view line) {
  line = trim(line);
  while (line.starts_with('#')) line = trim(line.substr(1));
  if (line.size() > 80 || line.empty()) return false;
  if (line.starts_with("...") || line.starts_with("\xe2\x80\xa6")) {
    // "..." alone, or with words about what is missing ("... 300 lines more").
    return !is_code(trim(line.substr(3)));
  }
  constexpr std::array<std::string_view, 8> kMarks = {
      "[...]", "(...)", "(truncated)", "[truncated]", "<snip>", "[snip]", "(snip)", "<truncated>"};
  for (const std::string_view mark : kMarks) {
    if (line == mark) return true;
  }
  return line.starts_with("many more") || line.ends_with("(truncated)") ||
         (line.ends_with("...") && line.starts_with("more"));
}

}  // namespace tg::text
