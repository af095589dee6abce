// The user's own assertions: one comparison of two terms, or a predicate.
//
//   expectation: term OP term | [not] NAME.shares(NAME)
//   term:        NAME [INDEX] [.ATTRIBUTE] | number | tuple | string
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/run/compare.h"
#include "core/run/expectation_terms.h"

namespace tg {
namespace {

class ExpectationParser {
 public:
  ExpectationParser(std::string_view text, const RunResult& result)
      : text_(text), result_(result) {}

  Result<Expectation> parse() {
    Expectation expectation;
    expectation.text = std::string(text_);
    const bool negated = take_word("not");
    Result<Term> left = term();
    if (!left) return Unexpected{left.error()};
    skip_spaces();
    if (predicate_) {
      if (at_ < text_.size()) return rest_not_understood();
      expectation.holds = predicate_->first != negated;
      expectation.explanation = predicate_->second;
      return expectation;
    }
    if (negated)
      return Unexpected{bad_expectation("'not' stands before shares(...) only", 0, 3,
                                        std::string(kExpectationForms))};
    const std::size_t operator_at = at_;
    const std::optional<Operator> op = comparison();
    if (!op) {
      return Unexpected{bad_expectation(
          fmt::format("expected a comparison (==, !=, <, <=, >, >=) after '{}'", left->shown),
          operator_at, 1, std::string(kExpectationForms))};
    }
    Result<Term> right = term();
    if (!right) return Unexpected{right.error()};
    skip_spaces();
    if (at_ < text_.size()) return rest_not_understood();
    return evaluate_comparison(std::move(expectation), *left, *op, *right, operator_at);
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  }
  bool take_word(std::string_view word) {
    const std::size_t before = at_;
    if (take(word) && (at_ == text_.size() || !is_word(text_[at_]))) return true;
    at_ = before;
    return false;
  }
  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Unexpected<Diagnostic> rest_not_understood() const {
    return Unexpected{bad_expectation(fmt::format("'{}' is not understood", text_.substr(at_)), at_,
                                      text_.size() - at_, std::string(kExpectationForms))};
  }

  std::optional<Operator> comparison() {
    if (take("==")) return Operator::Equal;
    if (take("!=")) return Operator::NotEqual;
    if (take("<=")) return Operator::LessEqual;
    if (take(">=")) return Operator::GreaterEqual;
    if (take("<")) return Operator::Less;
    if (take(">")) return Operator::Greater;
    return std::nullopt;
  }

  // ---- literals

  std::optional<double> number() {
    skip_spaces();
    const std::size_t before = at_;
    double sign = 1;
    if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+'))
      sign = text_[at_++] == '-' ? -1 : 1;
    if (take_word("inf")) return sign * HUGE_VAL;
    if (take_word("nan")) return std::nan("");
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '.' || text_[at_] == '_' ||
                                  ((text_[at_] == '-' || text_[at_] == '+') &&
                                   (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')))) {
      ++at_;
    }
    std::string digits(text_.substr(begin, at_ - begin));
    std::erase(digits, '_');
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || end != digits.c_str() + digits.size() ||
        std::isalpha(static_cast<unsigned char>(digits.front())) != 0) {
      at_ = before;
      return std::nullopt;
    }
    return sign * value;
  }

  std::optional<std::vector<std::int64_t>> integers(char close) {
    std::vector<std::int64_t> values;
    for (;;) {
      if (take(std::string_view(&close, 1))) return values;
      const std::optional<double> value = number();
      if (!value || *value != std::floor(*value) || std::fabs(*value) > 1e15) return std::nullopt;
      values.push_back(static_cast<std::int64_t>(*value));
      if (!take(",") && !text_.substr(at_).starts_with(close)) return std::nullopt;
    }
  }

  Result<Term> literal_tuple(std::size_t begin, char close) {
    const std::optional<std::vector<std::int64_t>> sizes = integers(close);
    if (!sizes) {
      return Unexpected{bad_expectation("expected whole numbers between brackets", begin,
                                        at_ - begin + 1, std::string(kExpectationForms))};
    }
    Term term;
    term.kind = Term::Kind::Sizes;
    term.literal = true;
    term.sizes = *sizes;
    return finish(term, begin, python_tuple(*sizes));
  }

  // ---- names

  [[nodiscard]] std::vector<std::string_view> known_names() const {
    std::vector<std::string_view> names;
    for (const NamedValue& argument : result_.final_arguments) names.push_back(argument.name);
    for (const NamedValue& output : result_.outputs) names.push_back(output.name);
    return names;
  }

  const RuntimeValue* find(std::string_view name) const {
    for (const NamedValue& argument : result_.final_arguments) {
      if (argument.name == name) return &argument.value;
    }
    for (const NamedValue& output : result_.outputs) {
      if (output.name == name) return &output.value;
    }
    return nullptr;
  }

  // `x`, `out0`, `out[0]`: `out` alone is no name, so its bracket is part of it.
  Result<const RuntimeValue*> named() {
    const std::size_t begin = at_;
    const std::string_view name = word();
    if (const RuntimeValue* value = find(name)) return value;
    if (name == "out" && text_.substr(at_).starts_with("[")) {
      const std::size_t close = text_.find(']', at_);
      if (close != std::string_view::npos) {
        const std::string_view whole = text_.substr(begin, close + 1 - begin);
        at_ = close + 1;
        if (const RuntimeValue* value = find(whole)) return value;
        return unknown(whole, begin);
      }
    }
    if (name.starts_with("out") && name.size() > 3) {
      if (const RuntimeValue* value = find(fmt::format("out[{}]", name.substr(3)))) return value;
    }
    return unknown(name, begin);
  }

  Unexpected<Diagnostic> unknown(std::string_view name, std::size_t begin) const {
    const std::vector<std::string_view> names = known_names();
    const std::string_view near = nearest(name, names);
    std::string hint;
    if (!near.empty()) {
      hint = fmt::format("did you mean '{}'?", near);
    } else if (!names.empty()) {
      hint = fmt::format("known here: {}", fmt::join(names, ", "));
    }
    return Unexpected{bad_expectation(
        name.empty() ? std::string("expected a name or a number")
                     : fmt::format("'{}' is neither an argument nor an output", name),
        begin, name.size(), name.empty() ? std::string(kExpectationForms) : hint)};
  }

  Result<Term> finish(Term term, std::size_t begin, std::string text) const {
    term.shown = std::string(trim(text_.substr(begin, at_ - begin)));
    term.text = std::move(text);
    return term;
  }

  Result<Term> term() {
    skip_spaces();
    const std::size_t begin = at_;
    if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
      const std::size_t close = text_.find(text_[at_], at_ + 1);
      if (close == std::string_view::npos) {
        return Unexpected{bad_expectation("the string does not end", begin, text_.size() - begin)};
      }
      Term term;
      term.kind = Term::Kind::Text;
      term.literal = true;
      const std::string content(text_.substr(at_ + 1, close - at_ - 1));
      at_ = close + 1;
      return finish(term, begin, content);
    }
    if (take("(")) return literal_tuple(begin, ')');
    if (take("[")) return literal_tuple(begin, ']');
    if (const std::optional<double> value = number()) {
      Term term;
      term.literal = true;
      term.value = {*value};
      return finish(term, begin, std::string(trim(text_.substr(begin, at_ - begin))));
    }
    if (take_word("True") || take_word("False")) {
      Term term;
      term.literal = true;
      const std::string shown(trim(text_.substr(begin, at_ - begin)));
      term.value = {shown == "True" ? 1.0 : 0.0};
      return finish(term, begin, shown);
    }
    if (take_word("None")) {
      Term term;
      term.literal = true;
      return finish(term, begin, "None");
    }
    if (const std::optional<Term> dtype = dtype_name(begin)) return *dtype;
    return reference(begin);
  }

  // torch.float32, f32: text, as x.dtype gives it. An argument of that name comes first.
  std::optional<Term> dtype_name(std::size_t begin) {
    const std::size_t before = at_;
    std::string_view name = word();
    if (name == "torch" && take(".")) {
      word();
      name = text_.substr(before, at_ - before);
    }
    const std::optional<DType> dtype = parse_dtype(name);
    if (!dtype || find(name) != nullptr) {
      at_ = before;
      return std::nullopt;
    }
    Term term;
    term.kind = Term::Kind::Text;
    term.literal = true;
    return *finish(term, begin, fmt::format("torch.{}", torch_name(*dtype)));
  }

  Result<Term> reference(std::size_t begin) {
    Result<const RuntimeValue*> found = named();
    if (!found) return Unexpected{found.error()};
    RuntimeValue value = **found;
    while (text_.substr(at_).starts_with("[")) {
      Result<RuntimeValue> element = indexed(value, begin);
      if (!element) return Unexpected{element.error()};
      value = *std::move(element);
    }
    if (text_.substr(at_).starts_with(".")) return attribute(value, begin);
    Term term;
    term.value = value;
    return finish(term, begin, shown_value(value));
  }

  Result<RuntimeValue> indexed(const RuntimeValue& value, std::size_t begin) {
    const std::string_view shown = text_.substr(begin, at_ - begin);
    const std::size_t bracket = at_;
    take("[");
    const std::optional<std::vector<std::int64_t>> index = integers(']');
    if (!index || index->empty()) {
      return Unexpected{
          bad_expectation("expected whole numbers as index", bracket, at_ - bracket + 1)};
    }
    const Tensor* tensor = value.as<Tensor>();
    if (tensor == nullptr) {
      return Unexpected{
          bad_expectation(fmt::format("'{}' is no tensor and has no elements", shown), bracket, 1)};
    }
    if (index->size() > tensor->geometry.rank()) {
      return Unexpected{bad_expectation(
          fmt::format("'{}' has {}, the index has {}", shown,
                      count_of(tensor->geometry.rank(), "dim", "dims"), index->size()),
          bracket, at_ - bracket)};
    }
    Tensor window = *tensor;
    for (const std::int64_t given : *index) {
      const std::int64_t size = window.geometry.sizes.front();
      const std::int64_t position = given < 0 ? given + size : given;
      if (position < 0 || position >= size) {
        return Unexpected{
            bad_expectation(fmt::format("index {} is out of range: '{}' has shape {}", given, shown,
                                        python_tuple(tensor->geometry.sizes)),
                            bracket, at_ - bracket)};
      }
      window.geometry.offset += position * window.geometry.strides.front();
      window.geometry.sizes.erase(window.geometry.sizes.begin());
      window.geometry.strides.erase(window.geometry.strides.begin());
    }
    return RuntimeValue{window};
  }

  Result<Term> attribute(const RuntimeValue& value, std::size_t begin) {
    const std::string_view shown = text_.substr(begin, at_ - begin);
    const std::size_t dot = at_++;
    const std::string_view name = word();
    const Tensor* tensor = value.as<Tensor>();
    if (tensor == nullptr) {
      return Unexpected{
          bad_expectation(fmt::format("'{}' is no tensor", shown), dot, name.size() + 1)};
    }
    if (name == "shares") return shares(*tensor, std::string(shown), begin);
    take("()");
    Term term;
    if (name == "data_ptr") {
      term.kind = Term::Kind::Pointer;
      term.pointer = {tensor->storage.get(), tensor->offset_bytes()};
      return finish(term, begin, "");
    }
    if (name == "shape" || name == "size") {
      term.kind = Term::Kind::Sizes;
      term.sizes = tensor->geometry.sizes;
      return finish(term, begin, python_tuple(term.sizes));
    }
    if (name == "strides" || name == "stride") {
      term.kind = Term::Kind::Sizes;
      term.sizes = tensor->geometry.strides;
      return finish(term, begin, python_tuple(term.sizes));
    }
    if (name == "dtype") {
      term.kind = Term::Kind::Text;
      return finish(term, begin, fmt::format("torch.{}", torch_name(tensor->dtype)));
    }
    if (name == "offset" || name == "storage_offset") {
      term.value = {static_cast<double>(tensor->geometry.offset)};
      return finish(term, begin, std::to_string(tensor->geometry.offset));
    }
    const std::string_view near =
        nearest(name, {"data_ptr", "shape", "strides", "dtype", "offset", "shares"});
    return Unexpected{bad_expectation(
        fmt::format("'.{}' is no attribute of a tensor here", name), dot, name.size() + 1,
        near.empty() ? "known here: data_ptr, shape, strides, dtype, offset, shares(NAME)"
                     : fmt::format("did you mean '.{}'?", near))};
  }

  Result<Term> shares(const Tensor& tensor, const std::string& shown, std::size_t begin) {
    if (!take("(")) return Unexpected{bad_expectation("expected '(NAME)' after 'shares'", at_, 1)};
    skip_spaces();
    const std::size_t other_at = at_;
    Result<const RuntimeValue*> other = named();
    if (!other) return Unexpected{other.error()};
    const std::string_view other_shown = text_.substr(other_at, at_ - other_at);
    if (!take(")")) return Unexpected{bad_expectation("expected ')'", at_, 1)};
    const Tensor* right = (*other)->as<Tensor>();
    if (right == nullptr) {
      return Unexpected{bad_expectation(fmt::format("'{}' is no tensor", other_shown), other_at,
                                        other_shown.size())};
    }
    const bool same = tensor.shares_storage_with(*right);
    predicate_ = {same, fmt::format("{} and {} {}", shown, other_shown,
                                    same ? "share a storage" : "have storages of their own")};
    return finish(Term{}, begin, "");
  }

  std::string_view text_;
  const RunResult& result_;
  std::size_t at_ = 0;
  std::optional<std::pair<bool, std::string>> predicate_;
};

}  // namespace

Result<Expectation> check_expectation(const std::string& text, const RunResult& result) {
  return ExpectationParser(text, result).parse();
}

}  // namespace tg
