#include "core/text/value_parser.h"

#include <algorithm>

#include <fmt/format.h>

namespace tg::text {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

constexpr std::size_t kMostKeywords = 64;

bool is_string_prefix(std::string_view word) {
  return word.size() <= 2 && word.find_first_not_of("rRbBuUfF") == std::string_view::npos;
}

ValueKind word_kind(std::string_view word) {
  if (word == "None") return ValueKind::None;
  if (word == "True" || word == "False") return ValueKind::Bool;
  return ValueKind::Name;
}

void set_leaf(Value& out, ValueKind kind, std::string_view text) {
  out.kind = kind;
  out.text.assign(text);
}

}  // namespace

bool ValueParser::fail(DiagnosticCode code, std::size_t offset, std::size_t length,
                       std::string message) {
  error_ = {code, offset, length, std::move(message), {}};
  return false;
}

void ValueParser::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool ValueParser::take(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool ValueParser::unexpected(std::string_view wanted, std::string_view where) {
  const std::size_t length = std::max<std::size_t>(invisible_length(text_, at_), 1);
  return fail(DiagnosticCode::MalformedStatement, at_, length,
              fmt::format("{} expected{}, found {}", wanted, where, shown_character(text_, at_)));
}

bool ValueParser::not_closed(std::size_t opened_at) {
  return fail(DiagnosticCode::UnbalancedBrackets, opened_at, 1,
              fmt::format("'{}' is not closed", text_[opened_at]));
}

bool ValueParser::value(Value& out, int depth) {
  skip_space();
  if (depth > kMaxValueDepth) {
    fail(DiagnosticCode::TooDeep, at_, 1,
         fmt::format("values nest deeper than {} levels", kMaxValueDepth));
    error_.hint = "give the inner part a name of its own in a statement before";
    return false;
  }
  return primary(out, depth) && postfix(out, depth);
}

bool ValueParser::primary(Value& out, int depth) {
  const std::size_t begin = at_;
  const char c = peek();
  if (is_name_start(c) && invisible_length(text_, at_) == 0) return named(out, depth);
  if (is_digit(c) || c == '-' || (c == '.' && !text_.substr(at_).starts_with("..."))) {
    return number(out);
  }
  switch (c) {
    case '(':
      // Thunder's stand-in for an argument that it cannot print.
      if (text_.substr(at_).starts_with("(object of type ")) return opaque_bracket(out, begin);
      return sequence(out, ValueKind::Tuple, ')', depth);
    case '[': {
      // A repr such as [IntegerProxy name=i0, value=2]: a word and, after one space, another one.
      const std::size_t word = name_end(text_, at_ + 1);
      if (word != at_ + 1 && word + 1 < text_.size() && text_[word] == ' ' &&
          (is_name_start(text_[word + 1]) || text_[word + 1] == '(')) {
        return opaque_bracket(out, begin);
      }
      return sequence(out, ValueKind::List, ']', depth);
    }
    case '{':
      return dict(out, depth);
    case '<':
      return angle_repr(out);
    case '\'':
    case '"':
      return quoted(out, begin);
    case '.':
      at_ += 3;
      set_leaf(out, ValueKind::Ellipsis, "...");
      return true;
    case '\\': {
      // Thunder's quote stripping inside collections leaves \'say "hi"\' behind.
      const std::size_t close = text_.find("\\'", at_ + 2);
      if (!text_.substr(at_).starts_with("\\'") || close == std::string_view::npos) break;
      at_ = close + 2;
      set_leaf(out, ValueKind::Opaque, text_.substr(begin, at_ - begin));
      return true;
    }
    default:
      break;
  }
  if (at_end()) {
    return fail(DiagnosticCode::MalformedStatement, at_, 1,
                "a value is missing at the end of the line");
  }
  return unexpected("a value was");
}

bool ValueParser::named(Value& out, int depth) {
  const std::size_t begin = at_;
  const std::size_t first = name_end(text_, at_);
  const std::size_t end =
      first < text_.size() && text_[first] == '.' ? dotted_end(text_, at_) : first;
  const std::string_view word = text_.substr(begin, end - begin);
  at_ = end;
  const char next = peek();
  if ((next == '\'' || next == '"') && is_string_prefix(word)) return quoted(out, begin);
  if (next == '(') {
    if (word == "float" || word == "complex") {
      const std::size_t close = bracket_end(text_, at_);
      if (close == std::string_view::npos) return not_closed(at_);
      at_ = close;
      set_leaf(out, word == "float" ? ValueKind::Float : ValueKind::Complex,
               text_.substr(begin, close - begin));
      return true;
    }
    set_leaf(out, ValueKind::Call, word);
    ++at_;
    return arguments(out, at_ - 1, depth + 1);
  }
  set_leaf(out, end == first ? word_kind(word) : ValueKind::Dotted, word);
  return true;
}

bool ValueParser::number(Value& out) {
  const std::size_t begin = at_;
  if (peek() == '-') {
    ++at_;
    if (text_.substr(at_).starts_with("float(") || text_.substr(at_).starts_with("complex(")) {
      Value positive;
      if (!named(positive, 0)) return false;
      set_leaf(out, positive.kind, text_.substr(begin, at_ - begin));
      return true;
    }
  }
  const std::size_t end = number_end(text_, at_);
  if (end == at_) {
    return fail(DiagnosticCode::MalformedStatement, begin, 1,
                fmt::format("a number was expected after '{}'", text_[begin]));
  }
  if (end < text_.size() && is_name_char(text_[end])) {
    return fail(DiagnosticCode::MalformedStatement, begin, name_end(text_, end) - begin,
                "a number cannot end in a letter");
  }
  const std::string_view lexeme = text_.substr(begin, end - begin);
  at_ = end;
  if (lexeme.back() == 'j' || lexeme.back() == 'J') {
    set_leaf(out, ValueKind::Complex, lexeme);
  } else {
    const bool whole = lexeme.find_first_of(".eE") == std::string_view::npos;
    set_leaf(out, whole ? ValueKind::Int : ValueKind::Float, lexeme);
  }
  return true;
}

bool ValueParser::quoted(Value& out, std::size_t begin) {
  const std::size_t end = string_end(text_, at_);
  if (end == std::string_view::npos) {
    return fail(DiagnosticCode::UnbalancedBrackets, at_, 1, "the string is not closed");
  }
  at_ = end;
  set_leaf(out, ValueKind::String, text_.substr(begin, end - begin));
  return true;
}

// "<TensorProxy(name="a")>", "<Foo object at 0x1>"
bool ValueParser::angle_repr(Value& out) {
  const std::size_t begin = at_;
  std::size_t open = 0;
  for (std::size_t i = at_; i < text_.size(); ++i) {
    if (text_[i] == '<') ++open;
    if (text_[i] == '>' && i > 0 && text_[i - 1] != '-' && --open == 0) {
      at_ = i + 1;
      set_leaf(out, ValueKind::Opaque, text_.substr(begin, at_ - begin));
      return true;
    }
  }
  return not_closed(begin);
}

bool ValueParser::opaque_bracket(Value& out, std::size_t begin) {
  const std::size_t end = bracket_end(text_, at_);
  if (end == std::string_view::npos) return not_closed(at_);
  at_ = end;
  set_leaf(out, ValueKind::Opaque, text_.substr(begin, end - begin));
  return true;
}

bool ValueParser::sequence(Value& out, ValueKind kind, char close, int depth) {
  const std::size_t opened_at = at_++;
  out.kind = kind;
  bool comma = false;
  while (true) {
    skip_space();
    if (at_end()) return not_closed(opened_at);
    if (peek() == close) break;
    if (!out.items.empty() && !comma) {
      return unexpected(fmt::format("',' or '{}' was", close));
    }
    out.items.emplace_back();
    if (!value(out.items.back(), depth + 1)) return false;
    skip_space();
    comma = peek() == ',';
    if (comma) ++at_;
  }
  ++at_;
  if (kind == ValueKind::List) {
    out.trailing_comma = comma;
  } else if (out.items.size() == 1 && !comma) {
    // Plain parentheses, as people write them: the value itself.
    Value inner = std::move(out.items.front());
    out = std::move(inner);
  }
  return true;
}

bool ValueParser::dict(Value& out, int depth) {
  const std::size_t opened_at = at_++;
  out.kind = ValueKind::Dict;
  while (true) {
    skip_space();
    if (at_end()) return not_closed(opened_at);
    if (peek() == '}') break;
    if (!out.items.empty()) {
      if (peek() != ',') {
        return unexpected("',' or '}' was");
      }
      ++at_;
      skip_space();
      if (peek() == '}') break;
    }
    out.items.emplace_back();
    if (!value(out.items.back(), depth + 1)) return false;
    skip_space();
    if (at_end()) return not_closed(opened_at);
    if (peek() != ':') {
      return unexpected("':' was", " after the key");
    }
    ++at_;
    out.items.emplace_back();
    if (!value(out.items.back(), depth + 1)) return false;
  }
  ++at_;
  return true;
}

bool ValueParser::arguments(Value& call, std::size_t opened_at, int depth) {
  bool comma = false;
  bool first = true;
  if (peek() == '\n') call.one_per_line = true;
  while (true) {
    skip_space();
    if (at_end()) return not_closed(opened_at);
    if (peek() == ')') break;
    if (!first && !comma) {
      return unexpected("',' or ')' was");
    }
    first = false;
    const std::size_t begin = at_;
    call.items.emplace_back();
    const bool parsed = argument(call.items.back(), depth);
    skip_space();
    // Reprs of other libraries nested inside an argument hold text that is no value of ours
    // (DeviceMesh((2,), device: 'cuda')): such an argument is kept as it stands.
    if ((!parsed || (peek() != ',' && peek() != ')')) && depth > 1 &&
        error_.code == DiagnosticCode::MalformedStatement && !at_end()) {
      at_ = begin;
      call.items.back() = Value{};
      if (!foreign_argument(call.items.back())) return not_closed(opened_at);
    } else if (!parsed) {
      return false;
    }
    if (!follows_rules(call, begin)) return false;
    comma = peek() == ',';
    if (comma) {
      ++at_;
      if (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != ')') call.tight = true;
    }
  }
  ++at_;
  return true;
}

// What Python refuses in a list of arguments whose last one begins at `begin`.
bool ValueParser::follows_rules(const Value& call, std::size_t begin) {
  if (call.items.size() < 2) return true;
  const Value& last = call.items.back();
  if (last.kind != ValueKind::Keyword) {
    if (call.items[call.items.size() - 2].kind != ValueKind::Keyword) return true;
    return fail(DiagnosticCode::MalformedStatement, begin, std::max<std::size_t>(at_ - begin, 1),
                "a positional argument follows a keyword argument");
  }
  // Not further back than any call of PyTorch's has keywords: the whole stays linear.
  const std::size_t end = call.items.size() - 1;
  for (std::size_t i = end; i-- > 0 && end - i <= kMostKeywords;) {
    if (call.items[i].kind != ValueKind::Keyword || call.items[i].text != last.text) continue;
    return fail(DiagnosticCode::MalformedStatement, begin, last.text.size(),
                fmt::format("argument '{}' is given twice", last.text));
  }
  return true;
}

bool ValueParser::argument(Value& out, int depth) {
  const std::size_t begin = at_;
  const std::size_t end = name_end(text_, at_);
  if (end != begin && end + 1 < text_.size() && text_[end] == '=' && text_[end + 1] != '=') {
    set_leaf(out, ValueKind::Keyword, text_.substr(begin, end - begin));
    out.items.emplace_back();
    at_ = end + 1;
    return value(out.items.back(), depth);
  }
  return value(out, depth);
}

bool ValueParser::foreign_argument(Value& out) {
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')') {
    const char c = text_[at_];
    const std::size_t end = c == '\'' || c == '"'              ? string_end(text_, at_)
                            : c == '(' || c == '[' || c == '{' ? bracket_end(text_, at_)
                                                               : at_ + 1;
    if (end == std::string_view::npos) return false;
    at_ = end;
  }
  if (at_end()) return false;
  set_leaf(out, ValueKind::Opaque, text_.substr(begin, at_ - begin));
  return true;
}

bool ValueParser::postfix(Value& out, int depth) {
  for (int links = 0; at_ < text_.size(); ++links) {
    const char c = text_[at_];
    if (c != '[' && c != '.') return true;
    if (depth + links > kMaxValueDepth) {
      return fail(DiagnosticCode::TooDeep, at_, 1,
                  fmt::format("values nest deeper than {} levels", kMaxValueDepth));
    }
    Value object = std::move(out);
    out = Value{};
    if (c == '[') {
      const std::size_t opened_at = at_++;
      out.kind = ValueKind::Subscript;
      out.items.push_back(std::move(object));
      out.items.emplace_back();
      if (!value(out.items.back(), depth + 1)) return false;
      skip_space();
      if (at_end()) return not_closed(opened_at);
      if (peek() != ']') {
        return unexpected("']' was");
      }
      ++at_;
      continue;
    }
    const std::size_t end = name_end(text_, at_ + 1);
    if (end == at_ + 1) {
      return fail(DiagnosticCode::MalformedStatement, at_, 1, "a name was expected after '.'");
    }
    set_leaf(out, ValueKind::Attribute, text_.substr(at_ + 1, end - at_ - 1));
    out.items.push_back(std::move(object));
    at_ = end;
    if (peek() == '(') {
      out.kind = ValueKind::Method;
      ++at_;
      if (!arguments(out, at_ - 1, depth + 1)) return false;
    }
  }
  return true;
}

}  // namespace tg::text
