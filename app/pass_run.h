// Running passes in a session: options, documents that grow by a phase, steps as text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"

namespace tg {

// Steps to refuse, numbers and rules, from --skip.
StepFilter filter_of(const std::vector<std::string>& skips);

// "0,1-2,3": groups of parameter indices as Thunder writes them. Empty optional when it is no such text.
std::optional<AliasGroups> parse_alias_groups(std::string_view text);

// The document after `pass` on its phase `before`: one phase more when the pass changed something, with the
// cursor behind its last step.
std::shared_ptr<const Document> run_pass(const Document& document, std::size_t before, const PassInfo& pass,
                                         PassContext context);

// The document with the cursor moved to `done` steps.
std::shared_ptr<const Document> move_cursor(const Document& document, std::size_t done);

// "step 3  keep-one-copy  line 12  REASON", with what was erased and put in as "-" and "+" lines. `number` is
// 1-based.
std::string step_text(const Step& step, std::size_t number, const Trace& before, const Paint& paint);
std::string steps_text(std::span<const Step> steps, const Trace& before, const Paint& paint);

// "6 steps of 9 decisions"
std::string step_counts(std::span<const Step> steps);

// Label of a trace that a pass made: its provenance without the time.
std::string label_of(const Trace& trace, std::string_view otherwise);

}  // namespace tg
