#include "core/check/next_steps.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/shell_word.h"

namespace tg {
namespace {

// Two arguments that could be one tensor: equal type, shape, dtype and device. Empty if there are
// none.
std::string possible_alias(const Trace& trace) {
  const TypeTable types(trace);
  std::map<std::string_view, std::string_view> first_of_type;
  for (const Parameter& parameter : trace.parameters) {
    const Type* type = types.find(parameter.name);
    if (type == nullptr || !type->is_tensor()) continue;
    const auto [other, is_new] = first_of_type.try_emplace(type->text, parameter.name);
    if (!is_new) return fmt::format("{}={}", parameter.name, other->second);
  }
  return {};
}

class NextSteps {
 public:
  NextSteps(const CheckReport& report, const CheckOptions& options, const std::string& name)
      : report_(report), name_(name) {
    for (const std::string& alias :
         options.aliases.empty() ? report.assumed_aliases : options.aliases) {
      aliases_ += " --alias " + shell_word(alias);
    }
    may_alias_ = report.verdict != VerdictKind::NotEstablished && options.aliases.empty() &&
                 options.inputs.empty() && report.assumed_aliases.empty();
  }

  std::vector<std::string> take() && {
    if (report_.explanation && report_.explanation->at.line != 0) explain_line();
    if (report_.explanation && !report_.explanation->pass.empty()) show_steps();
    if (!report_.copies.empty()) audit_phase();
    if (may_alias_) {
      const std::string alias = possible_alias(*report_.phases.front().trace);
      if (!alias.empty()) {
        add(fmt::format("check{} --alias {}", name_.empty() ? "" : " " + shell_word(name_),
                        shell_word(alias)));
      }
    }
    if (next_.empty()) add("show " + address(report_.phases.front().file_index));
    return std::move(next_);
  }

 private:
  void add(std::string command) { next_.push_back(std::move(command)); }

  [[nodiscard]] std::string address(std::size_t phase, std::string_view place = {}) const {
    return shell_word(fmt::format("{}:{}{}{}", name_, phase, place.empty() ? "" : ":", place));
  }

  // The file's phase whose text has the line of the explanation: a rewrite is explained on what it
  // rewrote, a reorder and a divergence on the phase where they show.
  void explain_line() {
    const Explanation& why = *report_.explanation;
    const CheckedPhase& phase = report_.phases[why.pass.empty() ? why.right : why.left];
    add(fmt::format("explain {}{}", address(phase.file_index, std::to_string(why.at.line)),
                    aliases_));
  }

  // A replayed phase is in no file: the passes that led to it come first.
  void show_steps() {
    const Explanation& why = *report_.explanation;
    std::vector<std::string> passes;
    for (std::size_t i = 0; i <= why.left; ++i) {
      const CheckedPhase& phase = report_.phases[i];
      if (phase.replayed && (passes.empty() || passes.back() != phase.pass)) {
        passes.push_back(phase.pass);
      }
    }
    const CheckedPhase& left = report_.phases[why.left];
    const CheckedPhase& right = report_.phases[why.right];
    const std::string& last = right.replayed ? right.pass : why.pass;
    if (passes.empty() || passes.back() != last) passes.push_back(last);
    add(fmt::format("pass {} {} --steps{}", fmt::join(passes, ","), address(left.file_index),
                    aliases_));
  }

  void audit_phase() {
    std::optional<std::size_t> audited;
    for (const CheckedPhase& phase : report_.phases) {
      if (phase.ran && !phase.replayed) audited = phase.file_index;
    }
    if (audited) add(fmt::format("audit {}{}", address(*audited), aliases_));
  }

  const CheckReport& report_;
  const std::string& name_;
  std::string aliases_;
  bool may_alias_ = false;
  std::vector<std::string> next_;
};

}  // namespace

std::vector<std::string> next_steps(const CheckReport& report, const CheckOptions& options,
                                    const std::string& name) {
  const bool began = std::any_of(report.phases.begin(), report.phases.end(),
                                 [](const CheckedPhase& phase) { return phase.ran; });
  if (name == "-" || report.phases.empty() || (!began && !report.diagnostics.empty())) return {};
  return NextSteps(report, options, name).take();
}

}  // namespace tg
