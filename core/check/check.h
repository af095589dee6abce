// check: the whole job on one file. Load, verify, audit, run every phase that is in the file and compare
// neighbours, replay our own passes to explain a difference, try what would repair it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/pass/pipeline.h"
#include "core/run/compare.h"
#include "core/run/recording.h"

namespace tg {

struct CheckOptions {
  std::vector<std::string> aliases;      // --alias
  std::vector<std::string> inputs;       // --inputs
  std::vector<std::string> expectations; // --expect
  std::uint64_t seed = 1;
  CompareOptions compare;
  RunLimits limits;
  Era era = Era::Unknown;                // overrides the guess
};

// Two neighbouring phases of the file.
struct PhasePair {
  std::size_t left = 0, right = 0;       // indices into file.phases
  Comparison comparison;
};

// Where a difference comes from, found by replaying our pass between the two phases.
struct Explanation {
  std::size_t left = 0, right = 0;
  std::string pass;                      // "functionalize"
  std::string provenance;                // "Functionalize in-place ops"
  std::size_t step = 0, step_count = 0;  // 1-based
  std::string rule;
  std::string reason;
  SourceRange at;
};

struct Repair {
  std::string what;      // "try 'return x_relu'", "insert t9 = prims.clone(t3) before line 8"
  bool helps = false;
  std::string detail;
};

struct CopyLine {        // one copy_ of the last runnable phase and the audit's answer
  SourceRange at;
  std::string text;      // "copy_(t0, x)"
  std::optional<std::uint64_t> bytes;
  std::string answer;    // closed list of audit_copies.h
  std::string reason;
};

struct CheckReport {
  VerdictKind verdict = VerdictKind::NotEstablished;
  std::string headline;                  // "argument x loses 1 of 2 writes"
  EraGuess era;
  std::uint64_t seed = 1;
  std::vector<PhasePair> pairs;
  std::vector<Difference> witnesses;     // of the verdict, worst first, with `write_line` context in message
  std::optional<Explanation> explanation;
  std::vector<Repair> repairs;
  std::vector<CopyLine> copies;
  std::vector<Expectation> expectations;
  std::vector<std::string> not_tested;   // always said: "GPU", "x aliasing y"
  std::vector<std::string> next;         // commands to try next
  std::vector<Diagnostic> diagnostics;
};

CheckReport check(const TraceFile& file, const CheckOptions& options);
// The report as text: the verdict first. `file_name` as the user gave it.
std::string render(const CheckReport& report, const TraceFile& file);

}  // namespace tg
