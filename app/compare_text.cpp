#include "app/compare_text.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/check/check.h"

namespace tg {

std::string_view difference_text(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::Values:
      return "values";
    case DifferenceKind::DType:
      return "dtype";
    case DifferenceKind::Shape:
      return "shape";
    case DifferenceKind::Strides:
      return "strides";
    case DifferenceKind::FinalArgument:
      return "final argument";
    case DifferenceKind::AliasLost:
      return "alias lost";
    case DifferenceKind::AliasGained:
      return "alias gained";
    case DifferenceKind::AliasOffset:
      return "alias moved";
    case DifferenceKind::Structure:
      return "structure";
    case DifferenceKind::Raised:
      return "raised";
  }
  return "";
}

std::string comparison_text(const Comparison& comparison, const std::string& left,
                            const std::string& right, std::uint64_t seed, const Paint& paint) {
  Role role = Role::Good;
  if (comparison.verdict == VerdictKind::Different) role = Role::Bad;
  if (comparison.verdict == VerdictKind::NotEstablished) role = Role::Warning;
  std::string out = fmt::format("{}  {} and {}, seed {}\n",
                                paint(role, verdict_text(comparison.verdict)), left, right, seed);
  if (!comparison.why.empty()) out += fmt::format("  why  {}\n", comparison.why);
  Table table;
  for (const Difference& difference : comparison.differences) {
    table.add(
        {difference.accepted ? "accepted" : paint(Role::Bad, difference_text(difference.kind)),
         difference.message});
  }
  return out + table.text(paint, 2);
}

ExitCode comparison_exit(const Comparison& comparison, const std::optional<RunError>& error) {
  switch (comparison.verdict) {
    case VerdictKind::Same:
      return ExitCode::Done;
    case VerdictKind::Different:
      return ExitCode::Finding;
    case VerdictKind::NotEstablished:
      break;
  }
  if (!error) return ExitCode::NotEstablished;
  switch (error->kind) {
    case RunErrorKind::OutOfMemory:
    case RunErrorKind::TimedOut:
      return ExitCode::NotEstablished;
    case RunErrorKind::Cancelled:
      return ExitCode::Interrupted;
    case RunErrorKind::BadProgram:
    case RunErrorKind::NotSupported:
    case RunErrorKind::RaisesAsTorch:
      break;
  }
  return ExitCode::RunFailed;
}

}  // namespace tg
