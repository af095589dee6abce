// Running passes in a session: options, documents that grow by a phase, steps as text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/session.h"

namespace tg {

// Steps to refuse, numbers and rules, from --skip.
StepFilter filter_of(const std::vector<std::string>& skips);

// What of --skip or `skip` means no step of `steps` (those of a run that has taken `asked` or of
// the run before it), with what there is instead; empty when each means one.
struct SkipRefusal {
  std::string message;  // "there is no step 99"
  std::string hint;     // "functionalize has 5 steps: 1 functionalize-inplace, ..."
};
std::optional<SkipRefusal> refused_skip(const StepFilter& asked, std::string_view pass,
                                        std::span<const Step> steps);

// "0,1-2,3": groups of parameter indices as Thunder writes them. Empty optional when it is no such
// text.
std::optional<AliasGroups> parse_alias_groups(std::string_view text);

// The document after `pass` on its phase `before`: one phase more when the pass changed something,
// with the cursor behind its last step.
std::shared_ptr<const Document> run_pass(const Document& document, std::size_t before,
                                         const PassInfo& pass, PassContext context);

// The document with the cursor moved to `done` steps.
std::shared_ptr<const Document> move_cursor(const Document& document, std::size_t done);

// Steps as text, one after another: it keeps what the earlier steps made of each statement.
class StepPrinter {
 public:
  StepPrinter(const Trace& before, const Paint& paint) : before_(before), paint_(paint) {}
  // "step 3  keep-one-copy  line 12", the reason, what goes as "-", what comes as "+", what moves
  // as ">" lines. `number` is 1-based. Call it for every step in order.
  std::string text(const Step& step, std::size_t number);

 private:
  [[nodiscard]] std::string statement_text(StatementId id) const;

  const Trace& before_;
  const Paint& paint_;
  std::unordered_map<StatementId, BoundSymbolRef> current_;  // statements that a step put there
};
std::vector<std::string> step_texts(std::span<const Step> steps, const Trace& before,
                                    const Paint& paint);
// All of them, with the names of their groups.
std::string steps_text(std::span<const Step> steps, const Trace& before, const Paint& paint);

// "6 steps, 3 notes"
std::string step_counts(std::span<const Step> steps);

// Label of a trace that a pass made: its provenance without the time.
std::string label_of(const Trace& trace, std::string_view otherwise);

}  // namespace tg
