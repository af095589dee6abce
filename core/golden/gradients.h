// Texts of a differentiated program: what a forward text saves, the cotangents of the recorded
// loss, and gradients beside recorded ones. Internal to core/golden.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run/recording.h"

namespace tg::golden {

// The loss that was back-propagated (READMEs of passes-2024-12 and passes-2026-01).
enum class Loss : std::uint8_t {
  Sum,     // the sum of all float outputs
  Graded,  // the sum of out_i[k] * (k % 3 + 1 + i)
};

// Its gradient for output `position`; None for outputs that have none.
RuntimeValue cotangent_of(const RuntimeValue& output, std::size_t position, Loss loss);

// The return of a forward text: ({'output': ..., 'flat_args': [...], 'flat_output': ...}, (C0,
// C1)).
struct ForwardReturn {
  std::vector<std::vector<std::string>> saved;  // names per collection
  std::vector<std::string> flat_args;
};
std::optional<ForwardReturn> forward_return(const Trace& trace);

// A joint text returns {'output': gradients, 'flat_args': ..., 'fw_flat_out': outputs}.
struct JointReturn {
  std::vector<std::string> flat_args;
  std::vector<std::string> outputs;
};
std::optional<JointReturn> joint_return(const Trace& trace);

// `backward` unpacks what `forward` saves, under the same names.
bool saves_for(const ForwardReturn& forward, const Trace& backward);

// The entry `key` of the dictionary that a text returns, alone or as the first of a pair; null
// without one.
const RuntimeValue* returned_entry(const RuntimeValue& returned, std::string_view key);

// Gradients by the recorded name of the input that they belong to. `flat_args` has their order.
std::vector<NamedValue> named_gradients(const RuntimeValue& gradients,
                                        const std::vector<std::string>& flat_args,
                                        const InputBinding& binding);

// What differs in the words of text_run.json: "values of gradient of args[0]", "gradient of
// args[0]: none here". Empty: equal.
std::vector<std::string> gradient_differences(const std::vector<NamedValue>& gradients,
                                              const RecordedRun& recorded,
                                              const Recording& recording);

}  // namespace tg::golden
