#include "core/ir/verifier.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/base/text.h"

namespace tg {
namespace {

// Looking for the nearest name costs time in proportion to the trace: only the first findings get
// it.
constexpr std::size_t kHintedFindings = 20;
// Every short name is near to every other one.
constexpr std::size_t kHintedLength = 3;

// Words that Thunder prints as arguments and that are no values of the trace.
bool is_python_word(std::string_view name) {
  constexpr std::array<std::string_view, 14> kWords = {
      "float", "int",   "bool",     "complex", "str", "tuple", "list",
      "dict",  "slice", "ellipsis", "type",    "inf", "nan",   "torch"};
  return std::find(kWords.begin(), kWords.end(), name) != kWords.end();
}

// Objects of the hidden context: _torch_memory_format_0.
bool is_context_name(std::string_view name) {
  return name.starts_with('_');
}

// i0, f3, b12, c1: how Thunder names number proxies. Traces split into forward and backward read
// them unbound.
bool is_number_name(std::string_view name) {
  constexpr std::string_view kPrefixes = "ifbc";
  return name.size() >= 2 && kPrefixes.find(name.front()) != std::string_view::npos &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// `b83 = prims.eq(a, a)  # b83: "bool True"`: arithmetic on numbers, whatever their names.
bool yields_number(const BoundSymbol& statement) {
  if (!statement.type) return false;
  const TypeKind kind = statement.type->kind;
  return kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Bool ||
         kind == TypeKind::Complex;
}

class Verifier {
 public:
  Verifier(const Trace& trace, DiagnosticSink& sink) : trace_(trace), sink_(sink) {
    names_.reserve(trace.bound_symbols.size() * 2 + trace.parameters.size());
  }

  void run() {
    for (const Parameter& parameter : trace_.parameters) define(parameter.name, nullptr);
    for (const BoundSymbolRef& statement : trace_.bound_symbols) visit(*statement);
    const bool cut = !trace_.bound_symbols.empty() &&
                     trace_.bound_symbols.back()->kind == StatementKind::Elision;
    if (trace_.has_signature && return_ == nullptr && !cut) missing_return();
  }

 private:
  struct Fact {
    const BoundSymbol* defined_by = nullptr;  // null: an argument
    const BoundSymbol* deleted_by = nullptr;
  };

  void define(std::string_view name, const BoundSymbol* by) {
    if (!name.empty()) names_[name] = Fact{by, nullptr};
  }

  void visit(const BoundSymbol& statement) {
    switch (statement.kind) {
      case StatementKind::Elision:
      case StatementKind::Unparsed:
        incomplete_ = true;
        return;
      case StatementKind::Comment:
      case StatementKind::EmptyCollection:
        return;  // comments: nothing is executed
      case StatementKind::UnpackTrivial:
        // An annotation; where the signature has no such name it defines it.
        if (statement.output.is_name() && !names_.contains(statement.output.text)) {
          define(statement.output.text, &statement);
        }
        annotation(statement);
        return;
      case StatementKind::Del:
        deletion(statement);
        return;
      case StatementKind::Return:
        after_return(statement);
        reads(statement);
        return_ = &statement;
        return;
      case StatementKind::PackAssign:
        for_each_leaf(statement.output, [&](const Value& leaf) { read_leaf(statement, leaf); });
        break;
      case StatementKind::Call:
        callee(statement);
        break;
      case StatementKind::UnpackSequence:
      case StatementKind::UnpackAccess:
      case StatementKind::PackList:
      case StatementKind::Print:
        break;
    }
    after_return(statement);
    reads(statement);
    definitions(statement);
  }

  // The first annotation of a name counts: another one that says something else is a slip.
  void annotation(const BoundSymbol& statement) {
    if (!statement.output.is_name() || !statement.type) return;
    const auto [first, is_new] = annotations_.try_emplace(statement.output.text, &statement);
    if (is_new || *first->second->type == *statement.type) return;
    Diagnostic finding = at(statement, DiagnosticCode::DuplicateDefinition, Severity::Warning,
                            fmt::format("'{}' is annotated again, as '{}'", statement.output.text,
                                        statement.type->text));
    finding.subject = statement.output.text;
    finding.hint =
        fmt::format("it counts as '{}': take one of the two out", first->second->type->text);
    finding.notes.push_back({"first annotated here", first->second->at});
    sink_.add(std::move(finding));
  }

  void after_return(const BoundSymbol& statement) {
    if (return_ == nullptr || reported_after_return_) return;
    reported_after_return_ = true;
    Diagnostic finding = at(statement, DiagnosticCode::StatementAfterReturn, Severity::Warning,
                            "this statement stands after 'return' and is never executed");
    if (statement.op_info().has(kCopyInto | kInPlace)) finding.hint = "its write is lost";
    finding.notes.push_back({"the trace returns here", return_->at});
    sink_.add(std::move(finding));
  }

  void reads(const BoundSymbol& statement) {
    for (const std::string_view name : argument_names(statement)) read(statement, name);
  }

  void read_leaf(const BoundSymbol& statement, const Value& leaf) {
    if (leaf.is_name()) read(statement, leaf.text);
  }

  void read(const BoundSymbol& statement, std::string_view name) {
    const auto known = names_.find(name);
    if (known == names_.end()) {
      undefined(statement, name);
      return;
    }
    if (known->second.deleted_by == nullptr) return;
    Diagnostic finding = at(statement, DiagnosticCode::UseAfterDel, Severity::Error,
                            fmt::format("'{}' is read after it was deleted", name));
    finding.subject = std::string(name);
    finding.notes.push_back({"deleted here", known->second.deleted_by->at});
    if (known->second.defined_by != nullptr) {
      finding.notes.push_back({"defined here", known->second.defined_by->at});
    }
    sink_.add(std::move(finding));
    known->second.deleted_by = nullptr;  // one finding per cause
  }

  void undefined(const BoundSymbol& statement, std::string_view name) {
    if (incomplete_ || !trace_.has_signature || is_python_word(name) || is_context_name(name))
      return;
    Diagnostic finding = at(statement, DiagnosticCode::UndefinedName, Severity::Error,
                            fmt::format("nothing defines '{}'", name));
    finding.subject = std::string(name);
    if (const BoundSymbol* inner = sub_definition(name)) {
      finding.severity = Severity::Note;
      finding.message = fmt::format("'{}' is defined by a sub-statement only", name);
      finding.notes.push_back({"defined here", inner->at});
    } else if (is_number_name(name) || yields_number(statement)) {
      finding.severity = Severity::Note;
      finding.message = fmt::format("the number '{}' is not bound in this trace", name);
    } else if (name.size() >= kHintedLength && undefined_count_++ < kHintedFindings) {
      hint_nearest(finding, name);
    }
    sink_.add(std::move(finding));
    define(name, nullptr);  // one finding per cause
  }

  void hint_nearest(Diagnostic& finding, std::string_view name) {
    std::vector<std::string_view> candidates;
    candidates.reserve(names_.size());
    for (const auto& [candidate, fact] : names_) {
      if (fact.deleted_by == nullptr) candidates.push_back(candidate);
    }
    std::sort(candidates.begin(), candidates.end());
    const std::string_view near = nearest(name, candidates);
    if (near.empty()) return;
    finding.hint = fmt::format("did you mean '{}'?", near);
    const Fact& fact = names_[near];
    const SourceRange where = fact.defined_by != nullptr ? fact.defined_by->at : trace_.def_at;
    if (where.line != 0)
      finding.notes.push_back({fmt::format("'{}' is defined here", near), where});
  }

  // The first sub-statement that defines `name`, null if none.
  const BoundSymbol* sub_definition(std::string_view name) {
    if (!collected_subs_) {
      collected_subs_ = true;
      for (const BoundSymbolRef& statement : trace_.bound_symbols) collect_subs(*statement);
    }
    const auto found = sub_names_.find(name);
    return found == sub_names_.end() ? nullptr : found->second;
  }

  void collect_subs(const BoundSymbol& statement) {
    for (const BoundSymbolRef& child : statement.subsymbols) {
      for (const std::string_view name : output_names(*child))
        sub_names_.try_emplace(name, child.get());
      collect_subs(*child);
    }
  }

  void definitions(const BoundSymbol& statement) {
    if (statement.output.kind == ValueKind::Absent) return;
    const std::vector<std::string_view> reads = argument_names(statement);
    for (const std::string_view name : output_names(statement)) {
      const auto known = names_.find(name);
      // `t3 = ltorch.to(t3, ...)`: an operation that changed nothing keeps the name.
      const bool unpacks = statement.kind == StatementKind::UnpackTrivial;
      if (known != names_.end() && known->second.deleted_by == nullptr && !unpacks &&
          known->second.defined_by != &statement &&
          std::find(reads.begin(), reads.end(), name) == reads.end()) {
        Diagnostic finding = at(statement, DiagnosticCode::DuplicateDefinition, Severity::Warning,
                                fmt::format("'{}' is defined again", name));
        finding.subject = std::string(name);
        const BoundSymbol* first = known->second.defined_by;
        finding.notes.push_back(first == nullptr ? Note{"it is an argument here", trace_.def_at}
                                                 : Note{"first defined here", first->at});
        sink_.add(std::move(finding));
      }
      if (known != names_.end() && known->second.defined_by == &statement) {
        Diagnostic finding = at(statement, DiagnosticCode::DuplicateDefinition, Severity::Warning,
                                fmt::format("'{}' is defined twice by one statement", name));
        finding.subject = std::string(name);
        finding.hint = "the last of the two values has the name";
        sink_.add(std::move(finding));
      }
      define(name, &statement);
    }
  }

  void deletion(const BoundSymbol& statement) {
    for (const Value& name : statement.args) {
      if (!name.is_name()) continue;
      const auto known = names_.find(name.text);
      // Thunder may name one value twice in a `del`; Python accepts neither that nor unknown names,
      // and the interpreter says so when it runs.
      if (known != names_.end() && known->second.deleted_by == &statement) {
        Diagnostic finding = at(statement, DiagnosticCode::UseAfterDel, Severity::Note,
                                fmt::format("'{}' is named twice in one 'del'", name.text));
        finding.subject = name.text;
        sink_.add(std::move(finding));
        continue;
      }
      read(statement, name.text);
      names_[name.text].deleted_by = &statement;
    }
  }

  void callee(const BoundSymbol& statement) {
    if (statement.op_info().has(kMutatesMetadata)) {
      Diagnostic finding =
          at(statement, DiagnosticCode::MetadataMutation, Severity::Warning,
             fmt::format("'{}' changes shape or strides of its argument, which is not modelled",
                         statement.callee));
      finding.subject = statement.callee;
      finding.hint = "what aliases say from here on is about the tensor as it was; it cannot run";
      sink_.add(std::move(finding));
    }
    if (statement.op != OpCode::Opaque || !unknown_callees_.insert(statement.callee).second) return;
    const std::string_view root =
        std::string_view(statement.callee).substr(0, statement.callee.find('.'));
    if (root.size() != statement.callee.size() && names_.contains(root))
      return;  // a method of a value
    Diagnostic finding = at(statement, DiagnosticCode::UnknownCallee, Severity::Note,
                            fmt::format("'{}' is no operation known here", statement.callee));
    finding.subject = statement.callee;
    finding.hint = statement.subsymbols.empty() ? "it loads and shows; it cannot run"
                                                : "running it uses its sub-statements";
    sink_.add(std::move(finding));
  }

  void missing_return() {
    Diagnostic finding;
    finding.code = DiagnosticCode::MissingReturn;
    finding.severity = Severity::Warning;
    finding.message = fmt::format("'{}' has no return statement", trace_.name);
    finding.subject = trace_.name;
    if (trace_.def_at.line != 0) finding.notes.push_back({"the trace begins here", trace_.def_at});
    sink_.add(std::move(finding));
  }

  static Diagnostic at(const BoundSymbol& statement, DiagnosticCode code, Severity severity,
                       std::string message) {
    Diagnostic finding;
    finding.code = code;
    finding.severity = severity;
    finding.message = std::move(message);
    finding.at = statement.at;
    return finding;
  }

  const Trace& trace_;
  DiagnosticSink& sink_;
  std::unordered_map<std::string_view, Fact> names_;
  std::unordered_map<std::string_view, const BoundSymbol*> sub_names_;
  std::unordered_set<std::string_view> unknown_callees_;
  std::unordered_map<std::string_view, const BoundSymbol*> annotations_;
  bool collected_subs_ = false;
  bool incomplete_ = false;  // lines were left out before this statement
  const BoundSymbol* return_ = nullptr;
  bool reported_after_return_ = false;
  std::size_t undefined_count_ = 0;
};

}  // namespace

void verify(const Trace& trace, DiagnosticSink& sink) {
  Verifier(trace, sink).run();
}

}  // namespace tg
