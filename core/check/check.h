// check: the whole job on one file. Load, verify, audit, run every phase that is in the file and
// compare neighbours, replay our own passes to explain a difference, try what would repair it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/analysis/findings.h"
#include "core/check/backward.h"
#include "core/pass/audit_copies.h"
#include "core/pass/pipeline.h"
#include "core/run/compare.h"
#include "core/run/recording.h"

namespace tg {

struct CheckOptions {
  std::vector<std::string> aliases;       // --alias
  std::vector<std::string> inputs;        // --inputs
  std::optional<RunInputs> given_inputs;  // instead of all of these: values made by the caller
  std::vector<std::string> expectations;  // --expect
  std::uint64_t seed = 1;
  CompareOptions compare;
  RunLimits limits;
  Era era = Era::Unknown;     // overrides the guess
  bool replay_passes = true;  // where the file ends early, also run our own passes of its era
  // The program as acquired, when the file given is only the later part of a dump: tells which
  // value of an argument is the newest.
  const Trace* origin = nullptr;
  std::stop_token stop;
};

// A phase that was run: one of the file, or one that our own pass made from the file's only phase.
struct CheckedPhase {
  std::size_t file_index = 0;  // of the phase, or of the phase that it was made from
  bool replayed = false;
  std::string label;  // "Functionalize in-place ops"
  std::string pass;   // our pass that made it (replayed), else empty
  std::shared_ptr<const Trace> trace;
  bool ran = false;
  std::string why_not;  // "phase 3 line 12: no kernel for 'my_op'"
};

// Two neighbouring phases.
struct PhasePair {
  std::size_t left = 0, right = 0;  // indices into CheckReport.phases
  Comparison comparison;
};

// Where a difference comes from.
struct Explanation {
  std::size_t left = 0, right = 0;  // indices into CheckReport.phases
  std::string pass;                 // "functionalize"; empty when none of our passes explains it
  std::size_t step = 0, step_count = 0;  // 1-based; 0 when no step was found
  std::string rule;
  std::string reason;  // one sentence
  SourceRange at;
};

struct Repair {
  std::string what;  // "insert prims.copy_(t2, x) before line 33"
  bool helps = false;
};

struct Witness {
  Difference difference;
  std::string write;  // "line 15  x[1] = 7.0   model.py:9": who wrote the value that was lost
};

struct PassRefusal {  // our replay of the era's pass raised as Thunder's does
  std::string pass;
  PassError error;
  SourceRange at;
  std::string statement;  // the statement, when it has no line in the file
  std::string why;        // where Thunder's message is empty: what the pass asserts
};

struct CheckReport {
  VerdictKind verdict = VerdictKind::NotEstablished;
  std::string headline;  // "argument x loses 1 of 2 writes"
  std::string why;       // NotEstablished: the reason
  EraGuess era;
  bool era_given = false;
  std::uint64_t seed = 1;
  std::vector<CheckedPhase> phases;
  std::vector<PhasePair> pairs;
  std::vector<Witness> witnesses;    // of the verdict, worst first
  std::vector<Difference> accepted;  // D1-D3 notes
  std::optional<Explanation> explanation;
  std::optional<PassRefusal> refusal;
  std::vector<Repair> repairs;
  std::vector<CopyFinding> copies;  // of the last phase that ran
  std::vector<Finding> findings;    // of the last phase that ran
  BackwardReport backward;          // of the file's backward traces, if any
  std::vector<Expectation> expectations;
  std::vector<std::string> assumed_aliases;  // "b=a": read from the file's own provenance lines
  std::string aliases;                       // who shares storage after the last phase that ran
  std::vector<std::string> not_tested;       // always said: "GPU", "x aliasing y"
  std::vector<std::string> next;             // commands to try next, without "thunderglass"
  std::vector<Diagnostic> diagnostics;  // of options and inputs; the file's own are in the file
};

CheckReport check(const TraceFile& file, const CheckOptions& options);

// The report as text, the verdict first, no colour. `file_name` as the user gave it, empty in the
// REPL, where commands to try next stand without "thunderglass".
std::string render(const CheckReport& report, const TraceFile& file, const std::string& file_name);

// How a phase of the report is called in sentences: by its place in the file; what was replayed
// from it goes on from there.
std::size_t phase_number(const CheckReport& report, std::size_t index);

// DIFFERENT, SAME, NOT ESTABLISHED
std::string_view verdict_text(VerdictKind verdict);

// A finding of severity error: something is lost or stale whatever the phases say.
bool has_grave_finding(const CheckReport& report);

// 0 same, 1 different, a failed expectation or a finding of severity error, 3 nothing to check, 5
// not established.
int exit_code(const CheckReport& report);

}  // namespace tg
