// Rules
//   return    the program returns another value
//   drop      a statement goes
//   move      a statement stands elsewhere
//   insert    a statement is added
//   replace   a statement becomes another one
//   rename    a value gets another name in every statement, sub-statement, header and in the
//   signature
// Refuses: lines without a statement, a name that is taken, names that nobody has.
#include "core/edit/edit.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {
namespace {

Diagnostic bad_edit(std::string message, std::string hint = {}) {
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::BadEdit;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

constexpr std::string_view kForms =
    "return VALUE; drop line N; move line N before|after line M; insert STATEMENT before|after "
    "line N; "
    "replace line N with STATEMENT; rename A to B";

// Takes `word` from the front of `text` if it stands there as a word of its own.
bool take_word(std::string_view& text, std::string_view word) {
  text = trim(text);
  if (!text.starts_with(word)) return false;
  const std::string_view rest = text.substr(word.size());
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return false;
  text = trim(rest);
  return true;
}

bool take_number(std::string_view& text, std::uint32_t& number) {
  text = trim(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data()) return false;
  text = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  return true;
}

// "line 7", "lines 7", "7".
bool take_line(std::string_view& text, std::uint32_t& line) {
  if (!take_word(text, "line")) take_word(text, "lines");
  return take_number(text, line);
}

// "before line 8" / "after line 8" at the end of the text; `text` keeps what stands before.
bool take_place(std::string_view& text, ProgramEdit& edit) {
  for (const auto& [word, side] : {std::pair{" before ", ProgramEdit::Side::Before},
                                   std::pair{" after ", ProgramEdit::Side::After}}) {
    const std::size_t at = text.rfind(word);
    if (at == std::string_view::npos) continue;
    std::string_view place = text.substr(at + std::string_view(word).size());
    std::uint32_t line = 0;
    if (!take_line(place, line) || !place.empty()) continue;
    edit.side = side;
    edit.anchor = line;
    text = trim(text.substr(0, at));
    return true;
  }
  return false;
}

Result<ProgramEdit> parse_return(std::string_view rest, ProgramEdit edit) {
  edit.kind = ProgramEdit::Kind::Return;
  if (rest.empty())
    return Unexpected{bad_edit("return needs a value", "for example: return (t3, x)")};
  auto value = parse_value(rest);
  // `return a, b` is a tuple without its parentheses.
  if (!value) value = parse_value(fmt::format("({})", rest));
  if (!value)
    return Unexpected{bad_edit(fmt::format("'{}' is no value: {}", rest, value.error().message))};
  edit.value = std::move(*value);
  return edit;
}

Result<BoundSymbol> statement_of(std::string_view text) {
  auto statement = parse_statement(text);
  if (!statement || statement->kind == StatementKind::Unparsed) {
    return Unexpected{bad_edit(fmt::format("'{}' is no statement", text),
                               "a statement looks like t9 = prims.clone(t3)")};
  }
  return statement;
}

}  // namespace

Result<ProgramEdit> parse_edit(std::string_view text) {
  ProgramEdit edit;
  edit.text = trim(text);
  std::string_view rest = edit.text;
  if (take_word(rest, "return")) return parse_return(rest, std::move(edit));
  if (take_word(rest, "drop")) {
    edit.kind = ProgramEdit::Kind::Drop;
    if (take_line(rest, edit.line)) {
      edit.last = edit.line;
      if (rest.starts_with('-')) {
        rest.remove_prefix(1);
        if (!take_number(rest, edit.last)) edit.last = 0;
      }
      if (rest.empty() && edit.last >= edit.line) return edit;
    }
    return Unexpected{bad_edit("drop needs a line", "for example: drop line 7")};
  }
  if (take_word(rest, "move")) {
    edit.kind = ProgramEdit::Kind::Move;
    std::string_view what = rest;
    if (take_place(what, edit) && take_line(what, edit.line) && what.empty()) return edit;
    return Unexpected{
        bad_edit("move needs a line and a place", "for example: move line 7 after line 9")};
  }
  if (take_word(rest, "insert")) {
    edit.kind = ProgramEdit::Kind::Insert;
    if (!take_place(rest, edit)) {
      return Unexpected{bad_edit("insert needs a place",
                                 "for example: insert t9 = prims.clone(t3) before line 8")};
    }
    auto statement = statement_of(rest);
    if (!statement) return Unexpected{statement.error()};
    edit.statement = std::move(*statement);
    return edit;
  }
  if (take_word(rest, "replace")) {
    edit.kind = ProgramEdit::Kind::Replace;
    if (!take_line(rest, edit.line) || !take_word(rest, "with")) {
      return Unexpected{bad_edit("replace needs a line and a statement",
                                 "for example: replace line 7 with t1 = prims.exp(a)")};
    }
    auto statement = statement_of(rest);
    if (!statement) return Unexpected{statement.error()};
    edit.statement = std::move(*statement);
    return edit;
  }
  if (take_word(rest, "rename")) {
    edit.kind = ProgramEdit::Kind::Rename;
    const std::size_t to = rest.find(" to ");
    if (to != std::string_view::npos) {
      edit.from = trim(rest.substr(0, to));
      edit.to = trim(rest.substr(to + 4));
      if (is_identifier(edit.from) && is_identifier(edit.to)) return edit;
    }
    return Unexpected{bad_edit("rename needs two names", "for example: rename t7 to hidden")};
  }
  return Unexpected{bad_edit(fmt::format("'{}' is no edit", text), std::string(kForms))};
}

namespace {

bool rename_in(Value& value, const std::string& from, const std::string& to) {
  bool changed = false;
  if (value.is_name(from)) {
    value.text = to;
    changed = true;
  } else if (value.kind == ValueKind::Dotted && value.text.starts_with(from) &&
             value.text.size() > from.size() && value.text[from.size()] == '.') {
    value.text = to + value.text.substr(from.size());
    changed = true;
  }
  for (Value& part : value.items) changed = rename_in(part, from, to) || changed;
  return changed;
}

// Headers name values in backticks or quotes: "`x` is replaced by `t1`", "['t1', 't3'] are ...".
bool rename_in(std::string& text, const std::string& from, const std::string& to) {
  bool changed = false;
  for (const char quote : {'`', '\''}) {
    const std::string quoted = quote + from + quote;
    for (std::size_t at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at)) {
      text.replace(at + 1, from.size(), to);
      at += to.size() + 2;
      changed = true;
    }
  }
  return changed;
}

// The statement with the name changed, null when it does not mention it.
BoundSymbolRef renamed(const BoundSymbol& statement, const std::string& from,
                       const std::string& to) {
  BoundSymbol copy = statement;
  bool changed = rename_in(copy.output, from, to);
  for (Value& argument : copy.args) changed = rename_in(argument, from, to) || changed;
  for (Value& detail : copy.details) changed = rename_in(detail, from, to) || changed;
  for (std::string& line : copy.header) changed = rename_in(line, from, to) || changed;
  for (BoundSymbolRef& inner : copy.subsymbols) {
    const BoundSymbolRef other = renamed(*inner, from, to);
    if (other == nullptr) continue;
    inner = other;
    changed = true;
  }
  if (!changed) return nullptr;
  copy.verbatim.reset();
  return std::make_shared<const BoundSymbol>(std::move(copy));
}

bool mentions(const Value& value, std::string_view name) {
  if (value.is_name(name)) return true;
  return std::any_of(value.items.begin(), value.items.end(),
                     [&](const Value& part) { return mentions(part, name); });
}

bool mentions(const BoundSymbol& statement, std::string_view name) {
  const auto in = [&](const Value& value) { return mentions(value, name); };
  return in(statement.output) || std::any_of(statement.args.begin(), statement.args.end(), in) ||
         std::any_of(statement.details.begin(), statement.details.end(), in) ||
         std::any_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [&](const BoundSymbolRef& inner) { return mentions(*inner, name); });
}

class Editor {
 public:
  Editor(const Trace& before, const PassContext& context, const LineIndex& lines)
      : rw_(before, context), lines_(lines) {}

  std::optional<Diagnostic> apply(const ProgramEdit& edit) {
    switch (edit.kind) {
      case ProgramEdit::Kind::Return:
        return set_return(edit);
      case ProgramEdit::Kind::Drop:
        return drop(edit);
      case ProgramEdit::Kind::Move:
        return move(edit);
      case ProgramEdit::Kind::Insert:
        return insert(edit);
      case ProgramEdit::Kind::Replace:
        return replace(edit);
      case ProgramEdit::Kind::Rename:
        return rename(edit);
    }
    return std::nullopt;
  }

  PassResult finish(const std::vector<ProgramEdit>& edits) && {
    std::string texts;
    for (const ProgramEdit& edit : edits) texts += (texts.empty() ? "" : "; ") + edit.text;
    PassResult result = std::move(rw_).finish("Edited by hand: " + texts);
    for (const ProgramEdit& edit : edits) {
      if (edit.kind != ProgramEdit::Kind::Rename) continue;
      for (Parameter& parameter : result.after.parameters) {
        if (parameter.name == edit.from) parameter.name = edit.to;
      }
    }
    // The head as it was read may hold a name that is gone.
    result.after.verbatim_head.reset();
    return result;
  }

 private:
  std::optional<Diagnostic> find(std::uint32_t line, StatementId& id) const {
    id = lines_(line);
    if (id != kNoStatement && rw_.statement(id) != nullptr) return std::nullopt;
    return bad_edit(fmt::format("line {} holds no statement of this program", line));
  }

  std::string text_of(StatementId id) const { return one_line(*rw_.statement(id)); }

  std::optional<Diagnostic> set_return(const ProgramEdit& edit) {
    StatementId id = rw_.last();
    while (id != kNoStatement && rw_.statement(id)->kind != StatementKind::Return)
      id = rw_.previous(id);
    if (id == kNoStatement) return bad_edit("the program has no return");
    BoundSymbol statement = *rw_.statement(id);
    statement.verbatim.reset();
    Value* place = nullptr;
    // A wrapped return keeps its 'flat_args', so that writes to arguments stay observable.
    if (!statement.args.empty() && statement.args.front().kind == ValueKind::Dict) {
      auto& items = statement.args.front().items;
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        if (items[i].kind == ValueKind::String && string_content(items[i]) == "output")
          place = &items[i + 1];
      }
    }
    const std::string before = place != nullptr         ? to_text(*place)
                               : statement.args.empty() ? "nothing"
                                                        : to_text(statement.args.front());
    if (place != nullptr) {
      *place = edit.value;
    } else {
      statement.args = {edit.value};
    }
    rw_.step("return", id,
             fmt::format("the program returns {} instead of {}", to_text(edit.value), before))
        .replace(id, std::move(statement));
    return std::nullopt;
  }

  std::optional<Diagnostic> drop(const ProgramEdit& edit) {
    bool any = false;
    StatementId previous = kNoStatement;
    for (std::uint32_t line = edit.line; line <= edit.last; ++line) {
      const StatementId id = lines_(line);
      if (id == kNoStatement || id == previous || rw_.statement(id) == nullptr) continue;
      previous = id;
      any = true;
      rw_.step("drop", id, fmt::format("line {} is dropped: {}", line, text_of(id))).erase(id);
    }
    if (any) return std::nullopt;
    return bad_edit(fmt::format("line {} holds no statement of this program", edit.line));
  }

  std::optional<Diagnostic> move(const ProgramEdit& edit) {
    StatementId id = kNoStatement;
    StatementId anchor = kNoStatement;
    if (auto wrong = find(edit.line, id)) return wrong;
    if (auto wrong = find(edit.anchor, anchor)) return wrong;
    if (id == anchor) return bad_edit(fmt::format("line {} cannot move next to itself", edit.line));
    const BoundSymbolRef statement = rw_.statement(id);
    const bool before = edit.side == ProgramEdit::Side::Before;
    auto step = rw_.step("move", id,
                         fmt::format("line {} moves {} line {}: {}", edit.line,
                                     before ? "before" : "after", edit.anchor, text_of(id)));
    step.erase(id);
    if (before) {
      step.insert_before(anchor, statement);
    } else {
      step.insert_after(anchor, statement);
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> insert(const ProgramEdit& edit) {
    StatementId anchor = kNoStatement;
    if (auto wrong = find(edit.anchor, anchor)) return wrong;
    BoundSymbol statement = edit.statement;
    statement.at = rw_.statement(anchor)->at;
    statement.program_line = rw_.statement(anchor)->program_line;
    const bool before = edit.side == ProgramEdit::Side::Before;
    auto step = rw_.step("insert", anchor,
                         fmt::format("{} is put {} line {}", one_line(statement),
                                     before ? "before" : "after", edit.anchor));
    if (before) {
      step.insert_before(anchor, std::move(statement));
    } else {
      step.insert_after(anchor, std::move(statement));
    }
    return std::nullopt;
  }

  std::optional<Diagnostic> replace(const ProgramEdit& edit) {
    StatementId id = kNoStatement;
    if (auto wrong = find(edit.line, id)) return wrong;
    BoundSymbol statement = edit.statement;
    statement.at = rw_.statement(id)->at;
    statement.program_line = rw_.statement(id)->program_line;
    rw_.step("replace", id, fmt::format("line {} becomes {}", edit.line, one_line(statement)))
        .replace(id, std::move(statement));
    return std::nullopt;
  }

  std::optional<Diagnostic> rename(const ProgramEdit& edit) {
    for (StatementId id = rw_.first(); id != kNoStatement; id = rw_.next(id)) {
      if (mentions(*rw_.statement(id), edit.to)) {
        return bad_edit(fmt::format("the name '{}' is taken: {}", edit.to, text_of(id)));
      }
    }
    std::vector<std::pair<StatementId, BoundSymbolRef>> changes;
    for (StatementId id = rw_.first(); id != kNoStatement; id = rw_.next(id)) {
      if (BoundSymbolRef other = renamed(*rw_.statement(id), edit.from, edit.to)) {
        changes.emplace_back(id, std::move(other));
      }
    }
    const auto& parameters = rw_.before().parameters;
    const bool parameter = std::any_of(parameters.begin(), parameters.end(),
                                       [&](const Parameter& p) { return p.name == edit.from; });
    if (changes.empty() && !parameter)
      return bad_edit(fmt::format("nothing is called '{}'", edit.from));
    auto step = rw_.step("rename", changes.empty() ? kNoStatement : changes.front().first,
                         fmt::format("{} is called {} in {}", edit.from, edit.to,
                                     count_of(changes.size(), "statement", "statements")));
    for (auto& [id, statement] : changes) step.replace(id, std::move(statement));
    return std::nullopt;
  }

  Rewriter rw_;
  const LineIndex& lines_;
};

}  // namespace

Result<PassResult> apply_edits(const Trace& before, const std::vector<ProgramEdit>& edits,
                               const LineIndex& lines) {
  const PassContext context;
  Editor editor(before, context, lines);
  for (const ProgramEdit& edit : edits) {
    if (auto wrong = editor.apply(edit)) return Unexpected{std::move(*wrong)};
  }
  return std::move(editor).finish(edits);
}

}  // namespace tg
