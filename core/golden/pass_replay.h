// Replaying recorded pass calls with this program's passes. Internal to core/golden.
#pragma once

#include "core/golden/checks.h"
#include "core/golden/find_recordings.h"
#include "core/ir/trace.h"

namespace tg::golden {

// Seed: what the proposed audit says of the program (audit/result.json).
void check_proposed_audit(const Unit& unit, const TraceFile& acquired, Checks& checks);

// passes-2024-12: every pass call of stages/index.json that one of our passes reproduces.
void replay_calls(const Unit& unit, Checks& checks);

// Why `got` is not the recorded trace, up to a consistent renaming of fresh names and up to
// milliseconds.
std::string trace_fault(const Trace& input, const Trace& got, const std::string& recorded_text);

// Messages agree, with the five ids of "the output of (...)" in any order.
bool same_message(const std::string& a, const std::string& b);

}  // namespace tg::golden
