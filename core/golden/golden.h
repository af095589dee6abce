// The golden runner: holds this program against recordings of real systems.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"

namespace tg {

enum class CheckState : std::uint8_t { Passed, Failed, NotSupported };

// One question asked of one recording.
struct GoldenCheck {
  std::string suite;  // "passes-2024-12"
  std::string kind;   // "round trip"
  std::string id;     // path of what was checked
  CheckState state = CheckState::NotSupported;
  std::string why;  // one line; empty when passed
};

struct GoldenOptions {
  unsigned workers = 0;    // 0: as many as the machine has cores
  std::string only;        // only recordings whose path contains this text
  std::string only_suite;  // only this suite
  bool run_calls = false;  // run operator calls too; they count as not supported otherwise
};

struct GoldenReport {
  std::vector<GoldenCheck> checks;  // in the order of the recordings
  std::size_t recordings = 0;
};

// `path` is a root with suites, a suite, one recording, or a .tar.zst archive of any of these;
// archives inside a folder are opened too. A suite is recognised by its files. Diagnostics:
// cannot-read, bad-compression.
Result<GoldenReport> run_golden(const std::string& path, const GoldenOptions& options);

// The page docs/thunder-2024-12.md: of every recorded program of December 2024 that differs from
// eager, raises or hangs, what `check` finds. Diagnostics: cannot-read, bad-compression.
Result<std::string> tell_stories(const std::string& path);

struct RenderOptions {
  bool kinds = true;           // a line per suite and kind
  bool not_supported = false;  // also what is not supported, with the reason
  std::size_t most = 200;      // failing ids per suite
};
// "suite: N passed, M failed, K not supported", then the failing ids with one line of why.
std::string render(const GoldenReport& report, const RenderOptions& options);

}  // namespace tg
