// --alias b=a[1:3]: a window onto another argument, in Python's notation.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analysis/alias_analysis.h"
#include "core/base/text.h"

namespace tg {
namespace {

Diagnostic bad_alias(std::string_view option, std::string message) {
  Diagnostic diagnostic{
      DiagnosticCode::BadAlias, Severity::Error, std::move(message), {}, "", "", {}};
  diagnostic.subject = std::string(option);
  diagnostic.hint = "forms: b=a, b=a[1:3], b=a[0], b=a.view(4), b=a.t()";
  return diagnostic;
}

// One operation applied to the other argument: [key] or .method(args).
struct Link {
  std::string method;       // "__getitem__" for brackets
  std::vector<Value> args;  // without the viewed tensor
};

struct Option {
  std::string text;
  std::string name;
  std::string base;
  std::vector<Link> links;
};

// Reads NAME { '[' key ']' | '.' method '(' numbers ')' }.
class OptionReader {
 public:
  explicit OptionReader(std::string_view text) : rest_(text) {}

  bool read(Option& option) {
    option.name = identifier();
    if (option.name.empty() || !accept('=')) return false;
    option.base = identifier();
    if (option.base.empty()) return false;
    while (skip_spaces(), !rest_.empty()) {
      Link link;
      if (accept('[')) {
        link.method = "__getitem__";
        Value key = Value::tuple({});
        if (!list(']', key.items)) return false;
        if (key.items.empty()) return false;
        link.args.push_back(key.items.size() == 1 ? key.items.front() : std::move(key));
      } else if (accept('.')) {
        link.method = identifier();
        if (link.method.empty()) return false;
        // mT and T are written without brackets.
        if (accept('(') && !list(')', link.args)) return false;
      } else {
        return false;
      }
      option.links.push_back(std::move(link));
    }
    return true;
  }

 private:
  void skip_spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string identifier() {
    skip_spaces();
    std::size_t length = 0;
    while (length < rest_.size() && is_identifier(rest_.substr(0, length + 1))) ++length;
    std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return name;
  }
  std::optional<Value> number() {
    skip_spaces();
    std::int64_t value = 0;
    const auto parsed = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (parsed.ec != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest_.data()));
    return Value::integer(value);
  }
  // 1, 1:3, :, ::2, ..., None, (2, 2), dim=0, torch.int32
  bool item(std::vector<Value>& out) {
    skip_spaces();
    if (rest_.starts_with("...")) {
      rest_.remove_prefix(3);
      out.push_back(Value::leaf(ValueKind::Ellipsis, "..."));
      return true;
    }
    if (rest_.starts_with("(") || rest_.starts_with("[")) {
      const char close = rest_.front() == '(' ? ')' : ']';
      rest_.remove_prefix(1);
      Value tuple = Value::tuple({});
      if (++depth_ > 8 || !list(close, tuple.items)) return false;
      --depth_;
      out.push_back(std::move(tuple));
      return true;
    }
    if (!rest_.empty() && is_identifier(rest_.substr(0, 1))) {
      std::string word = identifier();
      if (word == "None") {
        out.push_back(Value::none());
        return true;
      }
      if (accept('=')) {
        std::vector<Value> value;
        if (++depth_ > 8 || !item(value) || value.size() != 1) return false;
        --depth_;
        out.push_back(Value::keyword(word, std::move(value.front())));
        return true;
      }
      if (!accept('.')) return false;
      out.push_back(Value::leaf(ValueKind::Dotted, word + "." + identifier()));
      return true;
    }
    std::vector<Value> parts;
    std::optional<Value> part = number();
    if (!accept(':')) {
      if (!part) return false;
      out.push_back(std::move(*part));
      return true;
    }
    parts.push_back(part ? std::move(*part) : Value::none());
    for (int i = 0; i < 2; ++i) {
      part = number();
      parts.push_back(part ? std::move(*part) : Value::none());
      if (i == 0 && !accept(':')) {
        parts.push_back(Value::none());
        break;
      }
    }
    out.push_back(Value::call("slice", std::move(parts)));
    return true;
  }
  bool list(char close, std::vector<Value>& out) {
    if (accept(close)) return true;
    while (true) {
      if (!item(out)) return false;
      if (accept(close)) return true;
      if (!accept(',')) return false;
      if (accept(close)) return true;
    }
  }

  std::string_view rest_;
  int depth_ = 0;
};

OpCode method_op(std::string_view method) {
  for (const std::string_view prefix : {"Tensor.", "ltorch.", "torch."}) {
    const OpCode op = op_of(std::string(prefix) + std::string(method));
    if (op != OpCode::Opaque) return op;
  }
  return OpCode::Opaque;
}

class AliasResolver {
 public:
  explicit AliasResolver(const Trace& trace) : trace_(trace), types_(trace) {}

  Result<ArgumentFacts> resolve(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      Option option;
      option.text = text;
      if (!OptionReader(text).read(option)) {
        return Unexpected{bad_alias(text, fmt::format("'{}' is no alias option", text))};
      }
      for (const std::string& name : {option.name, option.base}) {
        if (const std::optional<Diagnostic> problem = check_argument(name, text)) {
          return Unexpected{*problem};
        }
      }
      if (by_name_.contains(option.name)) {
        return Unexpected{bad_alias(text, fmt::format("'{}' is placed twice", option.name))};
      }
      by_name_[option.name] = options_.size();
      options_.push_back(std::move(option));
    }
    for (const Option& option : options_) {
      if (const std::optional<Diagnostic> problem = place(option)) return Unexpected{*problem};
    }
    return std::move(facts_);
  }

 private:
  std::optional<Diagnostic> check_argument(const std::string& name, const std::string& text) {
    std::vector<std::string_view> names;
    for (const BoundSymbolRef& statement : trace_.bound_symbols) {
      if (statement->kind == StatementKind::UnpackTrivial && statement->output.is_name()) {
        names.push_back(statement->output.text);
      }
    }
    for (const Parameter& parameter : trace_.parameters) {
      if (!parameter.name.empty()) names.push_back(parameter.name);
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      Diagnostic unknown{DiagnosticCode::UnknownArgument,
                         Severity::Error,
                         fmt::format("the trace has no argument '{}' (in --alias {})", name, text),
                         {},
                         name,
                         "",
                         {}};
      const std::string_view near = nearest(name, names);
      if (!near.empty()) unknown.hint = fmt::format("did you mean '{}'?", near);
      return unknown;
    }
    const Type* type = types_.find(name);
    if (type == nullptr || !type->is_concrete_tensor()) {
      return bad_alias(text,
                       fmt::format("'{}' has no tensor type with known dtype and shape", name));
    }
    if (!element_count(*type->shape)) {
      return bad_alias(text, fmt::format("'{}' has more elements than can be counted", name));
    }
    return std::nullopt;
  }

  // Places the chain of bases first; a chain longer than the number of options is a cycle.
  std::optional<Diagnostic> place(const Option& option) {
    std::vector<const Option*> chain = {&option};
    while (true) {
      const auto base = by_name_.find(chain.back()->base);
      if (base == by_name_.end()) break;
      chain.push_back(&options_[base->second]);
      if (chain.size() > options_.size()) {
        return bad_alias(
            option.text,
            fmt::format("'{}' leads back to itself: the aliases form a cycle", option.name));
      }
      if (placed_.contains(chain.back()->name)) {
        chain.pop_back();
        break;
      }
    }
    while (!chain.empty()) {
      if (auto problem = place_one(*chain.back())) return problem;
      chain.pop_back();
    }
    return std::nullopt;
  }

  std::size_t window_of(const std::string& name) {
    const auto [found, is_new] = placed_.emplace(name, facts_.windows.size());
    if (is_new) {
      facts_.windows.push_back(
          {name, next_storage_++, contiguous_geometry(*types_.find(name)->shape)});
    }
    return found->second;
  }

  std::optional<Diagnostic> place_one(const Option& option) {
    if (placed_.contains(option.name)) return std::nullopt;
    const std::size_t base = window_of(option.base);
    const Type& base_type = *types_.find(option.base);
    const Type& type = *types_.find(option.name);
    Geometry geometry = facts_.windows[base].geometry;
    DType dtype = *base_type.dtype;
    for (const Link& link : option.links) {
      const OpCode op = method_op(link.method);
      if (!info(op).has(kView | kMaybeView)) {
        return bad_alias(option.text,
                         fmt::format("'{}' is no operation that gives a view", link.method));
      }
      std::vector<Value> args = {Value::name(option.base)};
      args.insert(args.end(), link.args.begin(), link.args.end());
      const auto outcome =
          view_outcome(op, geometry, args, size_bytes(dtype), {dtype, base_type.device});
      if (!outcome) return bad_alias(option.text, outcome.error());
      if (outcome->kind != ViewOutcome::Kind::View || outcome->outputs.size() != 1) {
        return bad_alias(option.text, fmt::format("'{}' gives no single view of '{}' here",
                                                  link.method, option.base));
      }
      geometry = outcome->outputs.front();
      for (const Value& arg : link.args) {
        if (arg.kind != ValueKind::Dotted) continue;
        if (const std::optional<DType> cast = parse_dtype(arg.text)) dtype = *cast;
      }
    }
    if (dtype != *type.dtype) {
      return bad_alias(
          option.text,
          fmt::format("'{}' is {}, but '{}' is {}", option.name, short_name(*type.dtype),
                      option.text.substr(option.text.find('=') + 1), short_name(dtype)));
    }
    if (geometry.sizes != *type.shape) {
      return bad_alias(option.text, fmt::format("'{}' has shape {}, but '{}' has shape {}",
                                                option.name, python_tuple(*type.shape),
                                                trim(option.text.substr(option.text.find('=') + 1)),
                                                python_tuple(geometry.sizes)));
    }
    placed_.emplace(option.name, facts_.windows.size());
    facts_.windows.push_back({option.name, facts_.windows[base].storage, std::move(geometry)});
    return std::nullopt;
  }

  const Trace& trace_;
  TypeTable types_;
  std::vector<Option> options_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::string, std::size_t> placed_;
  ArgumentFacts facts_;
  std::uint32_t next_storage_ = 0;
};

}  // namespace

Result<ArgumentFacts> parse_alias_options(const Trace& trace,
                                          const std::vector<std::string>& options) {
  if (options.empty()) return ArgumentFacts{};
  return AliasResolver(trace).resolve(options);
}

}  // namespace tg
