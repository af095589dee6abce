#include "core/check/check.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/check/explain.h"
#include "core/check/repair.h"
#include "core/check/write_history.h"
#include "core/run/inputs.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {
namespace {

constexpr std::size_t kMaxWitnesses = 4;

using PhaseResult = std::optional<Expected<RunResult, RunError>>;

bool same_parameters(const Trace& a, const Trace& b) {
  return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    b.parameters.end(),
                    [](const Parameter& x, const Parameter& y) { return x.name == y.name; });
}

std::string statement_place(const Trace& trace, std::uint32_t index) {
  if (index >= trace.bound_symbols.size()) return "the end";
  const SourceRange at = trace.bound_symbols[index]->at;
  return at.line == 0 ? fmt::format("statement {}", index) : fmt::format("line {}", at.line);
}

// "line 15  x[1] = 7.0   model.py:9"
std::string describe_statement(const Trace& trace, std::uint32_t index) {
  const BoundSymbol& statement = *trace.bound_symbols[index];
  std::string text = fmt::format("{}  {}", statement_place(trace, index), one_line(statement));
  if (const auto& program = statement.program_line) {
    text = fmt::format("{}  {}   {}:{}", statement_place(trace, index), trim(program->text),
                       program->file, program->line);
  }
  return text;
}

// As a compiler acquires it: nothing has wrapped its return, split it or dropped names yet. Only on
// such a trace do the era's passes start.
bool is_acquired(const Trace& trace) {
  if (!trace.provenance.empty()) return false;
  std::size_t returns = 0;
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::Del) return false;
    if (statement->kind != StatementKind::Return) continue;
    ++returns;
    if (statement->args.size() > 1) return false;
    if (!statement->args.empty() && statement->args.front().kind == ValueKind::Dict) return false;
  }
  return returns == 1;
}

// The alias options that the file itself states: "Duplicate alias args using {'b': 'a', 'c':
// 't7'}", where t7 is a reshape of the argument that c shares its storage with.
std::vector<std::string> stated_aliases(const TraceFile& file) {
  constexpr std::string_view kProvenance = "Duplicate alias args using {";
  for (const Phase& phase : file.phases) {
    if (!phase.trace.provenance.starts_with(kProvenance)) continue;
    std::vector<std::string> options;
    const Result<Value> map =
        parse_value(std::string_view(phase.trace.provenance).substr(kProvenance.size() - 1));
    if (!map || map->kind != ValueKind::Dict) return {};
    for (std::size_t i = 0; i + 1 < map->items.size(); i += 2) {
      std::string argument = string_content(map->items[i + 1]);
      std::string shape;
      for (const BoundSymbolRef& statement : phase.trace.bound_symbols) {
        if (statement->output.is_name(argument) && statement->args.size() == 2) {
          shape = to_text(statement->args[1]);
          argument = to_text(statement->args[0]);
          break;
        }
      }
      options.push_back(fmt::format("{}={}{}", string_content(map->items[i]), argument,
                                    shape.empty() ? "" : fmt::format(".view({})", shape)));
    }
    return options;
  }
  return {};
}

class Checker {
 public:
  Checker(const TraceFile& file, const CheckOptions& options) : file_(file), options_(options) {
    report_.seed = options.seed;
    report_.era_given = options.era != Era::Unknown;
    report_.era = report_.era_given ? EraGuess{options.era, "given"} : guess_era(file);
  }

  CheckReport take() && {
    collect_phases();
    if (report_.phases.empty()) {
      report_.headline = "nothing to run";
      report_.why = "the input has no computation trace";
      return std::move(report_);
    }
    if (!make_inputs()) {
      report_.headline = "the inputs cannot be made";
      report_.why = report_.diagnostics.empty() ? "no inputs" : report_.diagnostics.front().message;
      return std::move(report_);
    }
    run_phases();
    replay_era();
    compare_neighbours();
    judge();
    if (report_.verdict == VerdictKind::Different && !refused_only()) explain();
    audit_last();
    evaluate_expectations();
    say_not_tested();
    say_next();
    return std::move(report_);
  }

 private:
  void collect_phases() {
    for (std::size_t i = 0; i < file_.phases.size(); ++i) {
      const Phase& phase = file_.phases[i];
      if (phase.kind != TraceKind::Computation || !phase.trace.has_def_line) {
        ++kinds_not_run_[phase.kind];
        continue;
      }
      report_.phases.push_back(CheckedPhase{i, false, phase.label, "",
                                            std::make_shared<const Trace>(phase.trace), false, ""});
    }
  }

  bool make_inputs() {
    const Trace& first = *report_.phases.front().trace;
    Result<ArgumentFacts> facts = parse_alias_options(first, options_.aliases);
    if (options_.aliases.empty() && options_.inputs.empty()) {
      report_.assumed_aliases = stated_aliases(file_);
      Result<ArgumentFacts> stated = parse_alias_options(first, report_.assumed_aliases);
      if (stated) {
        facts = std::move(stated);
      } else {
        report_.assumed_aliases.clear();
      }
    }
    if (!facts) {
      report_.diagnostics.push_back(facts.error());
      return false;
    }
    facts_ = *facts;
    Result<RunInputs> inputs = options_.inputs.empty()
                                   ? invent_inputs(first, facts_, options_.seed)
                                   : load_inputs(first, options_.inputs, facts_, options_.seed);
    if (!inputs) {
      report_.diagnostics.push_back(inputs.error());
      return false;
    }
    inputs_ = std::move(*inputs);
    return true;
  }

  void run_phase(std::size_t index) {
    CheckedPhase& phase = report_.phases[index];
    if (!same_parameters(*phase.trace, *report_.phases.front().trace)) {
      phase.why_not = "its arguments are not those of the first phase";
      results_.emplace_back();
      return;
    }
    results_.emplace_back(run(*phase.trace, inputs_, options_.limits, nullptr, options_.stop));
    if (results_.back()->has_value()) {
      phase.ran = true;
      return;
    }
    const RunError& error = results_.back()->error();
    phase.why_not = fmt::format("{}: {}{}{}", statement_place(*phase.trace, error.statement),
                                error.type, error.type.empty() ? "" : ": ", error.message);
  }

  void run_phases() {
    for (std::size_t i = 0; i < report_.phases.size(); ++i) run_phase(i);
  }

  // A file with one phase says nothing about a compiler. Then our own passes of its era stand in
  // for it.
  void replay_era() {
    if (report_.phases.size() != 1 || !report_.phases.front().ran || !options_.replay_passes)
      return;
    if (report_.era.era != Era::Thunder2024 || !is_acquired(*report_.phases.front().trace)) return;
    PassContext context;
    context.options.alias_groups = alias_groups_of(*report_.phases.front().trace, facts_);
    context.record_steps = false;
    const std::vector<std::string_view> passes = named_pipeline("thunder-2024-12");
    const PipelineResult pipeline = run_pipeline(*report_.phases.front().trace, passes, context);
    for (const PipelineStage& stage : pipeline.stages) {
      if (stage.result.error) {
        SourceRange at;
        const Trace& before = *report_.phases.back().trace;
        if (stage.result.error->statement < before.bound_symbols.size()) {
          at = before.bound_symbols[stage.result.error->statement]->at;
        }
        report_.refusal = PassRefusal{stage.pass, *stage.result.error, at};
        return;
      }
      for (const Trace& trace : stage.result.intermediate) add_replayed(stage.pass, trace);
      if (stage.changed && (stage.result.intermediate.empty() ||
                            !(stage.result.intermediate.back() == stage.result.after))) {
        add_replayed(stage.pass, stage.result.after);
      }
    }
  }

  void add_replayed(const std::string& pass, const Trace& trace) {
    std::string label = trace.provenance.substr(0, trace.provenance.find(" (took "));
    report_.phases.push_back(CheckedPhase{report_.phases.front().file_index, true, std::move(label),
                                          pass, std::make_shared<const Trace>(trace), false, ""});
    run_phase(report_.phases.size() - 1);
  }

  // Phases that did not run are bridged: the next one that ran is compared with the last one that
  // ran.
  void compare_neighbours() {
    std::optional<std::size_t> previous;
    for (std::size_t i = 0; i < report_.phases.size(); ++i) {
      if (!report_.phases[i].ran) {
        if (previous && results_[i] && results_[i]->error().kind == RunErrorKind::RaisesAsTorch) {
          report_.pairs.push_back(
              {*previous, i, compare_raised(*results_[*previous], *results_[i])});
        }
        continue;
      }
      if (previous) {
        report_.pairs.push_back(
            {*previous, i, compare(**results_[*previous], **results_[i], options_.compare)});
      }
      previous = i;
    }
    last_ran_ = previous;
  }

  [[nodiscard]] bool refused_only() const { return !guilty_ && report_.refusal.has_value(); }

  void judge() {
    for (const PhasePair& pair : report_.pairs) {
      for (const Difference& difference : pair.comparison.differences) {
        if (difference.accepted) report_.accepted.push_back(difference);
      }
      if (!guilty_ && pair.comparison.verdict == VerdictKind::Different) {
        guilty_ = static_cast<std::size_t>(&pair - report_.pairs.data());
      }
    }
    if (guilty_) {
      report_.verdict = VerdictKind::Different;
      collect_witnesses(report_.pairs[*guilty_]);
      return;
    }
    if (report_.refusal) {
      report_.verdict = VerdictKind::Different;
      report_.headline = fmt::format("{} raises {} in {}", era_text(report_.era.era),
                                     report_.refusal->error.type, report_.refusal->pass);
      return;
    }
    const auto not_run = std::find_if(report_.phases.begin(), report_.phases.end(),
                                      [](const CheckedPhase& phase) { return !phase.ran; });
    if (not_run != report_.phases.end()) {
      report_.verdict = VerdictKind::NotEstablished;
      const auto index = static_cast<std::size_t>(not_run - report_.phases.begin());
      report_.headline = fmt::format("phase {} did not run", index);
      report_.why = not_run->why_not;
      return;
    }
    const auto undecided =
        std::find_if(report_.pairs.begin(), report_.pairs.end(), [](const PhasePair& pair) {
          return pair.comparison.verdict == VerdictKind::NotEstablished;
        });
    if (undecided != report_.pairs.end()) {
      report_.verdict = VerdictKind::NotEstablished;
      report_.headline =
          fmt::format("phases {} and {} could not be compared", undecided->left, undecided->right);
      report_.why = undecided->comparison.why;
      return;
    }
    report_.verdict = VerdictKind::Same;
    report_.headline =
        report_.pairs.empty()
            ? "one phase, with no other to compare it with"
            : fmt::format("{} agree on values, final arguments and aliases", agreeing());
  }

  // "4 phases", "the trace and 5 replayed passes"
  [[nodiscard]] std::string agreeing() const {
    const auto replayed = static_cast<std::size_t>(
        std::count_if(report_.phases.begin(), report_.phases.end(),
                      [](const CheckedPhase& phase) { return phase.replayed; }));
    if (replayed == 0) return count_of(report_.phases.size(), "phase", "phases");
    return fmt::format("the trace and {}", count_of(replayed, "replayed pass", "replayed passes"));
  }

  void collect_witnesses(const PhasePair& pair) {
    for (const Difference& difference : pair.comparison.differences) {
      if (difference.accepted) continue;
      if (report_.witnesses.size() == kMaxWitnesses) break;
      report_.witnesses.push_back({difference, ""});
    }
    if (report_.witnesses.empty()) return;
    Witness& worst = report_.witnesses.front();
    report_.headline = headline_of(worst.difference);
    for (Witness& witness : report_.witnesses) {
      if (witness.difference.kind == DifferenceKind::FinalArgument) find_lost_write(pair, witness);
    }
  }

  static std::string headline_of(const Difference& difference) {
    if (difference.kind != DifferenceKind::Values) return difference.message;
    return fmt::format("output {} has other values in {}", difference.subject,
                       count_of(difference.differing_elements, "element", "elements"));
  }

  // Who wrote what the right phase lost: "argument x loses 1 of 2 writes".
  void find_lost_write(const PhasePair& pair, Witness& witness) {
    const Trace& left = *report_.phases[pair.left].trace;
    const Trace& right = *report_.phases[pair.right].trace;
    const std::string& name = witness.difference.subject;
    const WriteHistory history = observe_writes(left, inputs_, name, options_.limits);
    const Tensor* wanted = final_argument(pair.left, name);
    const Tensor* found = final_argument(pair.right, name);
    if (!history.complete || history.writers.empty() || !wanted || !found) return;
    const std::size_t element = flat_position(wanted->geometry.sizes, witness.difference.index);
    if (element < history.last_writer.size() &&
        history.last_writer[element] != WriteHistory::kNobody) {
      witness.write = describe_statement(left, history.last_writer[element]);
    }
    std::set<std::uint32_t> lost;
    const std::size_t width = size_bytes(wanted->dtype);
    const std::vector<std::byte> a = contiguous_copy(*wanted).storage->bytes;
    const std::vector<std::byte> b = contiguous_copy(*found).storage->bytes;
    if (a.size() != b.size() || a.size() < history.last_writer.size() * width) return;
    for (std::size_t i = 0; i < history.last_writer.size(); ++i) {
      if (history.last_writer[i] == WriteHistory::kNobody) continue;
      if (!std::equal(a.begin() + static_cast<std::ptrdiff_t>(i * width),
                      a.begin() + static_cast<std::ptrdiff_t>((i + 1) * width),
                      b.begin() + static_cast<std::ptrdiff_t>(i * width))) {
        lost.insert(history.last_writer[i]);
      }
    }
    const WriteHistory right_history = observe_writes(right, inputs_, name, options_.limits);
    const bool fewer =
        right_history.complete && right_history.writers.size() < history.writers.size();
    if (&witness != &report_.witnesses.front() || lost.empty()) return;
    if (fewer) {
      report_.headline = fmt::format("argument {} loses {} of {}", name, lost.size(),
                                     count_of(history.writers.size(), "write", "writes"));
    } else {
      report_.headline = fmt::format("argument {} ends with other values", name);
    }
  }

  [[nodiscard]] const Tensor* final_argument(std::size_t phase, const std::string& name) const {
    for (const NamedValue& argument : (**results_[phase]).final_arguments) {
      if (argument.name == name) return argument.value.as<Tensor>();
    }
    return nullptr;
  }

  void explain() {
    const PhasePair& pair = report_.pairs[*guilty_];
    ExplainRequest request;
    request.left = report_.phases[pair.left].trace.get();
    request.right = report_.phases[pair.right].trace.get();
    request.inputs = &inputs_;
    request.facts = &facts_;
    request.compare = options_.compare;
    request.limits = options_.limits;
    request.alias_groups = alias_groups_of(*request.left, facts_);
    report_.explanation = explain_difference(request);
    if (report_.explanation) {
      report_.explanation->left = pair.left;
      report_.explanation->right = pair.right;
    }
    report_.repairs = try_repairs(request, pair.comparison, report_.explanation);
  }

  void audit_last() {
    if (!last_ran_) return;
    // Lines are the file's, so the text audited is the file's too.
    std::size_t shown = *last_ran_;
    while (shown > 0 && report_.phases[shown].replayed) --shown;
    const Trace& last = *report_.phases[shown].trace;
    const Trace* earlier = shown == 0 ? nullptr : report_.phases.front().trace.get();
    report_.copies = audit(last, facts_, earlier);
    report_.findings = find_hazards(last, facts_, earlier);
    report_.aliases = to_text(alias_partition(**results_[*last_ran_]));
  }

  void evaluate_expectations() {
    if (!last_ran_) return;
    for (const std::string& text : options_.expectations) {
      Result<Expectation> expectation = check_expectation(text, **results_[*last_ran_]);
      if (expectation) {
        report_.expectations.push_back(std::move(*expectation));
      } else {
        report_.diagnostics.push_back(expectation.error());
      }
    }
  }

  void say_not_tested() {
    report_.not_tested.emplace_back("GPU");
    std::vector<std::string> pairs;
    const Trace& first = *report_.phases.front().trace;
    const TypeTable types(first);
    std::vector<const Parameter*> tensors;
    for (const Parameter& parameter : first.parameters) {
      const Type* type = types.find(parameter.name);
      if (type && type->is_tensor()) tensors.push_back(&parameter);
    }
    if (options_.aliases.empty() && options_.inputs.empty() && tensors.size() >= 2) {
      report_.not_tested.push_back(
          tensors.size() == 2
              ? fmt::format("{} aliasing {}", tensors[1]->name, tensors[0]->name)
              : fmt::format("arguments aliasing each other ({} tensors)", tensors.size()));
      alias_hint_ = fmt::format("--alias {}={}", tensors[1]->name, tensors[0]->name);
    }
    for (const auto& [kind, count] : kinds_not_run_) {
      switch (kind) {
        case TraceKind::Prologue:
          add_kind(count, "prologue", "prologues");
          break;
        case TraceKind::Epilogue:
          add_kind(count, "epilogue", "epilogues");
          break;
        case TraceKind::Backward:
          add_kind(count, "backward trace", "backward traces");
          break;
        case TraceKind::Computation:
          add_kind(count, "fragment", "fragments");
          break;
      }
    }
    for (const CheckedPhase& phase : report_.phases) {
      if (!phase.ran)
        report_.not_tested.push_back(fmt::format("\"{}\" ({})", phase.label, phase.why_not));
    }
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (results_[i] && results_[i]->has_value() && (**results_[i]).used_random) {
        report_.not_tested.emplace_back("values of random operations");
        break;
      }
    }
  }

  void add_kind(std::size_t count, std::string_view singular, std::string_view plural) {
    report_.not_tested.push_back(count_of(count, singular, plural));
  }

  // The file's phase whose text has the line of the explanation: a rewrite is explained on what it
  // rewrote, a reorder and a divergence on the phase where they show.
  [[nodiscard]] std::size_t explained_phase() const {
    const bool on_left = !report_.explanation->pass.empty();
    return report_.phases[on_left ? report_.explanation->left : report_.explanation->right]
        .file_index;
  }

  void say_next() {
    const std::string name = file_.name.empty() ? "FILE" : file_.name;
    if (report_.explanation && report_.explanation->at.line != 0) {
      report_.next.push_back(
          fmt::format("explain {}:{}:{}", name, explained_phase(), report_.explanation->at.line));
    }
    if (report_.explanation && !report_.explanation->pass.empty()) {
      const CheckedPhase& left = report_.phases[report_.explanation->left];
      report_.next.push_back(
          fmt::format("pass {} {}:{} --steps", report_.explanation->pass, name, left.file_index));
    }
    if (!report_.copies.empty()) report_.next.push_back(fmt::format("audit {}", name));
    if (!alias_hint_.empty()) report_.next.push_back(fmt::format("check {} {}", name, alias_hint_));
    if (report_.next.empty()) report_.next.push_back(fmt::format("show {}", name));
  }

  const TraceFile& file_;
  const CheckOptions& options_;
  CheckReport report_;
  ArgumentFacts facts_;
  RunInputs inputs_;
  std::vector<PhaseResult> results_;  // parallel to report_.phases
  std::map<TraceKind, std::size_t> kinds_not_run_;
  std::optional<std::size_t> guilty_;  // index of the first differing pair
  std::optional<std::size_t> last_ran_;
  std::string alias_hint_;
};

}  // namespace

CheckReport check(const TraceFile& file, const CheckOptions& options) {
  return Checker(file, options).take();
}

bool has_grave_finding(const CheckReport& report) {
  return std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
    return finding_severity(finding.code) == Severity::Error;
  });
}

int exit_code(const CheckReport& report) {
  const bool broken_expectation =
      std::any_of(report.expectations.begin(), report.expectations.end(),
                  [](const Expectation& expectation) { return !expectation.holds; });
  if (report.verdict == VerdictKind::Different || broken_expectation || has_grave_finding(report))
    return 1;
  if (report.phases.empty()) return 3;
  if (report.verdict == VerdictKind::NotEstablished) return 5;
  return 0;
}

}  // namespace tg
