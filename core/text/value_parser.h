// Reads values (arguments, outputs, defaults, returns) from a piece of text, front to back.
#pragma once

#include <string_view>
#include <vector>

#include "core/ir/value.h"
#include "core/text/lexer.h"

namespace tg::text {

// Values nest at most this deep; deeper text is the error too-deep.
inline constexpr int kMaxValueDepth = 200;

// A cursor over one logical line. Functions return false on the first error, which error() then
// describes; the cursor is undefined afterwards. Linear in the text.
class ValueParser {
 public:
  explicit ValueParser(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  // One value, leading white space skipped.
  bool value(Value& out) { return value(out, 0); }
  // Arguments up to and with the closing bracket; the opening one is already consumed. `opened_at`
  // is where it stands, for the error text.
  bool arguments(std::vector<Value>& out, std::size_t opened_at) {
    Value call;
    const bool parsed = arguments(call, opened_at, 0);
    out = std::move(call.items);
    return parsed;
  }

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }
  void skip_space();
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  // Consumes `word` if the text goes on with it.
  bool take(std::string_view word);
  [[nodiscard]] const SyntaxError& error() const { return error_; }
  bool fail(DiagnosticCode code, std::size_t offset, std::size_t length, std::string message);
  // "`wanted` expected`where`, found ...": the character at the cursor is not the right one.
  bool unexpected(std::string_view wanted, std::string_view where = "");

 private:
  bool value(Value& out, int depth);
  bool primary(Value& out, int depth);
  bool postfix(Value& out, int depth);
  bool named(Value& out, int depth);
  bool number(Value& out);
  bool quoted(Value& out, std::size_t begin);
  bool angle_repr(Value& out);
  bool sequence(Value& out, ValueKind kind, char close, int depth);
  bool dict(Value& out, int depth);
  bool arguments(Value& call, std::size_t opened_at, int depth);
  bool argument(Value& out, int depth);
  bool foreign_argument(Value& out);
  bool opaque_bracket(Value& out, std::size_t begin);
  bool not_closed(std::size_t opened_at);
  bool follows_rules(const Value& call, std::size_t begin);

  std::string_view text_;
  std::size_t at_ = 0;
  SyntaxError error_;
};

}  // namespace tg::text
