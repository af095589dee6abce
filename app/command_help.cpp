// help: commands, passes, rules, operations, diagnostic codes, findings, answers.
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/help.h"
#include "app/session.h"
#include "core/analysis/findings.h"
#include "core/base/text.h"
#include "core/ir/op.h"
#include "core/pass/audit_copies.h"
#include "core/pass/pipeline.h"

namespace tg {

std::string passes_text(const Paint& paint) {
  Table table({"pass", "Thunder's", "what it does"});
  for (const PassInfo& pass : all_passes()) {
    table.add({std::string(pass.name), std::string(pass.thunder), std::string(pass.summary)});
  }
  std::string text = table.text(paint) + "\nSeveral under one name:\n";
  for (const NamedPipeline& pipeline : named_pipelines()) {
    text += fmt::format("{}: {}\n  {}\n", pipeline.name, pipeline.summary,
                        wrap(fmt::format("{}", fmt::join(pipeline.passes, ", ")), 90, 2));
  }
  return text;
}

namespace {

constexpr std::size_t kWidth = 80;

std::string pipeline_help(const NamedPipeline& pipeline) {
  std::string out = fmt::format("{}: {}\n\n", pipeline.name, pipeline.summary);
  for (const std::string_view pass : pipeline.passes) out += fmt::format("  {}\n", pass);
  return out + fmt::format("\n  thunderglass pass {} trace.txt\n", pipeline.name);
}

std::string pass_help(const PassInfo& pass) {
  std::string out = fmt::format("{}: {}\n", pass.name, pass.summary);
  if (!pass.thunder.empty()) out += fmt::format("\nReproduces Thunder's {}.\n", pass.thunder);
  if (pass.faithful)
    out += "It keeps Thunder's unsound corners: its result may compute something else.\n";
  if (!pass.idempotent) out += "Running it twice is not the same as running it once.\n";
  out += fmt::format("\n  thunderglass pass {} trace.txt --steps\n", pass.name);
  return out;
}

std::string facts_of(const OpInfo& op) {
  struct Fact {
    Trait trait;
    std::string_view text;
  };
  constexpr Fact kFacts[] = {
      {kElementwise, "elementwise"},
      {kView, "its result is a view: it shares the argument's storage"},
      {kMaybeView, "its result may be a view, depending on strides, dtype or flags"},
      {kThunderView, "Thunder counts it among operations that return views"},
      {kThunderMayView, "Thunder counts it among operations that may return views"},
      {kInPlace, "works in place"},
      {kCopyInto, "writes one tensor into another and returns the destination"},
      {kIdentity, "returns its arguments themselves"},
      {kRandom, "random"},
      {kHidesWrites, "writes arguments inside its sub-statements"},
      {kNoKernel, "cannot be run yet"},
  };
  std::string text;
  for (const Fact& fact : kFacts) {
    if (op.has(fact.trait)) text += fmt::format("  {}\n", fact.text);
  }
  if (op.twin != OpCode::Opaque)
    text += fmt::format("  its functional form is {}\n", first_spelling(info(op.twin)));
  return text;
}

std::string op_help(const OpInfo& op) {
  std::string out = fmt::format("{}{}\n", first_spelling(op), op.schema);
  out += fmt::format("\nPrinted as: {}\n", wrap(op.spellings, kWidth - 12, 12));
  const std::string facts = facts_of(op);
  if (!facts.empty()) out += "\n" + facts;
  return out;
}

std::string ops_text(const Paint& paint) {
  Table table({"operation", "schema"});
  for (const OpInfo& op : all_ops()) {
    if (op.spellings.empty()) continue;
    table.add({std::string(first_spelling(op)), std::string(op.schema)});
  }
  return table.text(paint);
}

const OpInfo* find_op(std::string_view word) {
  const OpCode code = op_of(word);
  if (code != OpCode::Opaque && code != OpCode::Fusion) return &info(code);
  for (const OpInfo& op : all_ops()) {
    if (op.code == OpCode::Opaque || op.code == OpCode::Fusion) continue;
    std::string_view spellings = op.spellings;
    while (!spellings.empty()) {
      const std::string_view spelling = spellings.substr(0, spellings.find(' '));
      if (base_name(spelling) == word) return &op;
      spellings.remove_prefix(std::min(spellings.size(), spelling.size() + 1));
    }
  }
  return nullptr;
}

std::string page(std::string_view title, std::string_view text) {
  return fmt::format("{}\n\n{}\n", title, wrap(text, kWidth, 0));
}

struct RuleInfo {
  std::string_view name, passes, text;
};
constexpr RuleInfo kRules[] = {
#define TG_RULE(name, passes, text) {name, passes, text},
#include "app/rules.def"
};

std::string rule_page(const RuleInfo& rule) {
  const std::string_view first = rule.passes.substr(0, rule.passes.find(','));
  std::string text = page(fmt::format("{}, a rule of {}", rule.name, rule.passes), rule.text);
  if (find_pass(first) != nullptr) {
    text += fmt::format("\n  thunderglass pass {} trace.txt --steps\n", first);
  }
  return text;
}

// What can stand behind a word that `help` knows, and the candidates for a slip of the finger.
class Lookup {
 public:
  explicit Lookup(std::string_view word) : word_(word) {}

  void offer(std::string_view name, const std::function<std::string()>& text) {
    names_.push_back(name);
    if (name == word_ && !found_) found_ = text();
  }
  [[nodiscard]] const std::optional<std::string>& found() const { return found_; }
  [[nodiscard]] std::string_view near() const { return nearest(word_, names_); }

 private:
  std::string_view word_;
  std::vector<std::string_view> names_;
  std::optional<std::string> found_;
};

void offer_everything(Lookup& lookup, bool in_repl) {
  for (const bool side : {in_repl, !in_repl}) {
    for (const CommandInfo& command : all_commands()) {
      if (find_command(command.name, side) != &command) continue;
      lookup.offer(command.name, [&] { return command_help(command); });
    }
  }
  for (const PassInfo& pass : all_passes()) {
    lookup.offer(pass.name, [&] { return pass_help(pass); });
    if (!pass.thunder.empty()) lookup.offer(pass.thunder, [&] { return pass_help(pass); });
  }
  for (const NamedPipeline& pipeline : named_pipelines()) {
    lookup.offer(pipeline.name, [&] { return pipeline_help(pipeline); });
  }
  for (const RuleInfo& rule : kRules) lookup.offer(rule.name, [&] { return rule_page(rule); });
  for (const DiagnosticCode code : all_diagnostic_codes()) {
    lookup.offer(code_text(code), [&] { return page(code_text(code), code_help(code)); });
  }
  for (const FindingCode code : all_finding_codes()) {
    lookup.offer(finding_text(code), [&] {
      return page(fmt::format("{}, a finding ({})", finding_text(code),
                              severity_text(finding_severity(code))),
                  finding_help(code));
    });
  }
  for (const CopyAnswer answer : all_copy_answers()) {
    lookup.offer(answer_text(answer), [&] {
      return page(fmt::format("{}, an answer of audit", answer_text(answer)), answer_help(answer));
    });
  }
}

}  // namespace

CommandResult command_help(Call& call) {
  if (call.command.has(Option::Man)) {
    call.result(manual_page());
    return {};
  }
  if (call.command.has(Option::Markdown)) {
    call.result(markdown_commands());
    return {};
  }
  if (call.command.has(Option::ListPasses)) {
    call.result(passes_text(call.paint));
    return {};
  }
  if (call.command.has(Option::ListOps)) {
    call.result(ops_text(call.paint));
    return {};
  }
  const auto& operands = call.command.operands;
  const bool in_repl = call.session.interactive;
  if (operands.empty()) {
    call.result(overview(in_repl));
    return {};
  }
  // `help pass functionalize` and `help op add` say which of several meanings is asked for.
  const std::string& word = operands.back();
  const std::string kind = operands.size() == 2 ? operands.front() : "";
  if (const PassInfo* pass = kind == "pass" ? find_pass(word) : nullptr) {
    call.result(pass_help(*pass));
    return {};
  }
  if (const OpInfo* op = kind == "op" ? find_op(word) : nullptr) {
    call.result(op_help(*op));
    return {};
  }
  Lookup lookup(word);
  offer_everything(lookup, in_repl);
  if (lookup.found()) {
    call.result(*lookup.found());
    return {};
  }
  // A unique beginning of a command in the REPL, then operations in any spelling.
  if (const CommandInfo* command = find_command(word, in_repl)) {
    call.result(command_help(*command));
    return {};
  }
  if (const OpInfo* op = find_op(word)) {
    call.result(op_help(*op));
    return {};
  }
  call.fail(fmt::format("no command, pass, rule, operation, code, finding or answer '{}'", word));
  if (!lookup.near().empty()) {
    call.sink.note(fmt::format("did you mean '{}'?\n", lookup.near()));
  }
  return ExitCode::Usage;
}

}  // namespace tg
