#include "core/check/check.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/check/explain.h"
#include "core/check/next_steps.h"
#include "core/check/repair.h"
#include "core/check/replay.h"
#include "core/check/write_history.h"
#include "core/ir/program_source.h"
#include "core/run/inputs.h"
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
std::string describe_statement(const Trace& trace, std::uint32_t index,
                               const std::vector<const Trace*>& earlier) {
  const BoundSymbol& statement = *trace.bound_symbols[index];
  const ProgramSource source = source_of(trace, index, earlier);
  const std::string place = statement_place(trace, index);
  if (source.line != nullptr) {
    return fmt::format("{}  {}   {}:{}", place, trim(source.line->text), source.line->file,
                       source.line->line);
  }
  return fmt::format("{}  {}{}", place, one_line(statement),
                     source.added_by_pass ? "   added by a pass" : "");
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
    run_backward_traces();
    judge();
    if (guilty_) explain();
    audit_last();
    evaluate_expectations();
    say_not_tested();
    report_.next = next_steps(report_, options_, file_.name);
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
    if (options_.given_inputs) {
      inputs_ = *options_.given_inputs;
      facts_ = facts_of(inputs_);
      return true;
    }
    Result<RunInputs> inputs = options_.inputs.empty() ? invent_inputs(first, facts_, options_.seed)
                                                       : load_inputs(first, options_.inputs, facts_,
                                                                     options_.seed, prologue());
    if (!inputs) {
      report_.diagnostics.push_back(inputs.error());
      return false;
    }
    inputs_ = std::move(*inputs);
    if (!options_.inputs.empty()) facts_ = facts_of(inputs_);
    return true;
  }

  // Tells which recorded path becomes which argument, if the file has one.
  [[nodiscard]] const Trace* prologue() const {
    for (const Phase& phase : file_.phases) {
      if (phase.kind == TraceKind::Prologue) return &phase.trace;
    }
    return nullptr;
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

  // A file with one phase says nothing about a compiler: then our own passes of its era stand in
  // for it. A dump that ends early ends where a pass raised: then they go on from there.
  void replay_era() {
    if (!options_.replay_passes || report_.era.era != Era::Thunder2024) return;
    const CheckedPhase& last = report_.phases.back();
    if (!last.ran) return;
    std::vector<std::string_view> passes;
    if (is_acquired(*last.trace) && report_.phases.size() == 1) {
      if (const std::string why = why_no_replay(*last.trace); !why.empty()) {
        not_replayed_ = fmt::format("the passes of {} ({})", era_text(report_.era.era), why);
        return;
      }
      passes = named_pipeline("thunder-2024-12");
    } else if (report_.phases.size() > 1 && kinds_not_run_.count(TraceKind::Backward) == 0) {
      passes = passes_after(*last.trace);
    }
    replay_passes(last.trace, passes);
  }

  void replay_passes(const std::shared_ptr<const Trace>& start,
                     const std::vector<std::string_view>& passes) {
    if (passes.empty()) return;
    PassContext context;
    context.options.alias_groups = alias_groups_of(*start, facts_);
    context.options.argument_facts = facts_;
    context.record_steps = false;
    const std::size_t file_index = report_.phases.back().file_index;
    const PipelineResult pipeline = run_pipeline(*start, passes, context);
    for (const PipelineStage& stage : pipeline.stages) {
      if (stage.result.error) {
        refuse(stage);
        return;
      }
      for (const Trace& trace : stage.result.intermediate) {
        add_replayed(stage.pass, trace, file_index);
      }
      if (stage.changed && (stage.result.intermediate.empty() ||
                            !(stage.result.intermediate.back() == stage.result.after))) {
        add_replayed(stage.pass, stage.result.after, file_index);
      }
    }
  }

  void refuse(const PipelineStage& stage) {
    const Trace& before = *report_.phases.back().trace;
    PassRefusal refusal{stage.pass, *stage.result.error, {}, "", ""};
    if (refusal.error.statement < before.bound_symbols.size()) {
      refusal.at = before.bound_symbols[refusal.error.statement]->at;
      if (refusal.at.line == 0)
        refusal.statement = one_line(*before.bound_symbols[refusal.error.statement]);
    }
    // The passes ran without steps; the one that raised says why in its last note.
    const PassInfo* pass = find_pass(stage.pass);
    if (pass != nullptr && refusal.error.message.empty()) {
      PassContext context;
      context.options.alias_groups = alias_groups_of(before, facts_);
      const PassResult again = pass->run(before, context);
      for (const Step& step : again.steps) {
        if (step.rule != "raises") refusal.why = step.reason;
      }
    }
    report_.refusal = std::move(refusal);
  }

  void add_replayed(const std::string& pass, const Trace& trace, std::size_t file_index) {
    std::string label = trace.provenance.substr(0, trace.provenance.find(" (took "));
    report_.phases.push_back(CheckedPhase{file_index, true, std::move(label), pass,
                                          std::make_shared<const Trace>(trace), false, ""});
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

  void run_backward_traces() {
    if (kinds_not_run_.count(TraceKind::Backward) == 0) return;
    report_.backward =
        check_backward({&file_, &inputs_, &facts_, options_.compare, options_.limits});
    kinds_not_run_.erase(TraceKind::Backward);
  }

  // The first thing wrong with the backward traces, empty if nothing is known to be.
  [[nodiscard]] std::string backward_fault() const {
    for (const SavedHazard& hazard : report_.backward.hazards) {
      if (hazard.matters.value_or(false)) {
        return fmt::format("{} is saved for backward and overwritten before it",
                           hazard.tensor.name);
      }
    }
    for (const BackwardPair& pair : report_.backward.pairs) {
      if (pair.comparison.verdict == VerdictKind::Different) {
        return fmt::format("gradients differ between phases {} and {}",
                           report_.backward.phases[pair.left].file_index,
                           report_.backward.phases[pair.right].file_index);
      }
    }
    return {};
  }

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
    if (std::string fault = backward_fault(); !fault.empty()) {
      report_.verdict = VerdictKind::Different;
      report_.headline = std::move(fault);
      return;
    }
    if (report_.refusal) {
      report_.verdict = VerdictKind::Different;
      const bool hangs = report_.refusal->error.type == "DoesNotTerminate";
      report_.headline = hangs ? fmt::format("{} does not terminate in {}",
                                             era_text(report_.era.era), report_.refusal->pass)
                               : fmt::format("{} raises {} in {}", era_text(report_.era.era),
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
    if (!report_.accepted.empty()) {
      report_.headline = fmt::format(
          "{} agree on values and final arguments; {} accepted", agreeing(),
          count_of(report_.accepted.size(), "alias or stride change", "alias or stride changes"));
    }
  }

  // "4 phases", "the trace and 5 replayed passes"
  [[nodiscard]] std::string agreeing() const {
    const auto replayed = static_cast<std::size_t>(
        std::count_if(report_.phases.begin(), report_.phases.end(),
                      [](const CheckedPhase& phase) { return phase.replayed; }));
    if (replayed == 0) return count_of(report_.phases.size(), "phase", "phases");
    const std::size_t in_file = report_.phases.size() - replayed;
    return fmt::format("{} and {}",
                       in_file == 1 ? "the trace" : count_of(in_file, "phase", "phases"),
                       count_of(replayed, "replayed pass", "replayed passes"));
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
    // No compiler's dump shows this: it is what our own passes make of the only phase.
    if (report_.phases[pair.right].replayed) {
      report_.headline +=
          fmt::format(", as our passes of {} compile it", era_text(report_.era.era));
    }
  }

  static std::string headline_of(const Difference& difference) {
    if (difference.kind != DifferenceKind::Values) return difference.message;
    return fmt::format("output {} has other values in {}", difference.subject,
                       count_of(difference.differing_elements, "element", "elements"));
  }

  [[nodiscard]] std::vector<const Trace*> traces_before(std::size_t phase) const {
    std::vector<const Trace*> traces;
    for (std::size_t i = 0; i < phase; ++i) traces.push_back(report_.phases[i].trace.get());
    return traces;
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
      witness.write =
          describe_statement(left, history.last_writer[element], traces_before(pair.left));
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
    const Trace* earlier = shown == 0 ? options_.origin : report_.phases.front().trace.get();
    if (options_.origin != nullptr) earlier = options_.origin;
    const DefUse def_use(last);
    const AliasSets aliases(last, def_use, facts_);
    report_.copies = audit(last, def_use, aliases, earlier);
    report_.findings = find_hazards(last, def_use, aliases, earlier);
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
    if (!not_replayed_.empty()) report_.not_tested.push_back(not_replayed_);
    std::vector<std::string> pairs;
    const Trace& first = *report_.phases.front().trace;
    const TypeTable types(first);
    std::vector<const Parameter*> tensors;
    for (const Parameter& parameter : first.parameters) {
      const Type* type = types.find(parameter.name);
      if (type && type->is_tensor()) tensors.push_back(&parameter);
    }
    if (report_.backward.phases.empty()) report_.not_tested.emplace_back("gradients");
    for (const std::string& alias : report_.assumed_aliases) {
      const std::size_t equals = alias.find('=');
      report_.not_tested.push_back(fmt::format("{} elsewhere in memory than {}",
                                               alias.substr(0, equals), alias.substr(equals + 1)));
    }
    if (options_.aliases.empty() && options_.inputs.empty() && report_.assumed_aliases.empty() &&
        tensors.size() >= 2) {
      report_.not_tested.push_back(
          tensors.size() == 2
              ? fmt::format("{} aliasing {}", tensors[1]->name, tensors[0]->name)
              : fmt::format("arguments aliasing each other ({} tensors)", tensors.size()));
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
    if (last_ran_) {
      const std::vector<std::string>& wrong = (**results_[*last_ran_]).wrong_types;
      for (std::size_t i = 0; i < wrong.size() && i < kMaxWitnesses; ++i) {
        report_.not_tested.push_back(wrong[i]);
      }
    }
    for (const BackwardPhase& phase : report_.backward.phases) {
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

  const TraceFile& file_;
  const CheckOptions& options_;
  CheckReport report_;
  ArgumentFacts facts_;
  RunInputs inputs_;
  std::vector<PhaseResult> results_;  // parallel to report_.phases
  std::map<TraceKind, std::size_t> kinds_not_run_;
  std::optional<std::size_t> guilty_;  // index of the first differing pair
  std::optional<std::size_t> last_ran_;
  std::string not_replayed_;  // why the era's passes did not stand in for a compiler, if so
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
