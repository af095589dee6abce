#include "core/golden/pass_replay.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/golden/positions.h"
#include "core/golden/text_match.h"
#include "core/pass/pass.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg::golden {
namespace {

using Json = nlohmann::json;

// ---- error messages

// The names in "the output of ('a', 'b', 'c') is a copy": Python prints a set there.
std::string with_sorted_set(std::string text) {
  constexpr std::string_view kOpen = "the output of (";
  const std::size_t open = text.find(kOpen);
  if (open == std::string::npos) return text;
  const std::size_t begin = open + kOpen.size();
  const std::size_t end = text.find(')', begin);
  if (end == std::string::npos) return text;
  std::set<std::string> names;
  std::size_t at = begin;
  while (at < end) {
    const std::size_t next = std::min(text.find(", ", at), end);
    names.insert(text.substr(at, next - at));
    at = next + 2;
  }
  return text.substr(0, begin) + fmt::format("{}", fmt::join(names, ", ")) + text.substr(end);
}

std::string error_fault(const Json& recorded, const std::optional<PassError>& error) {
  const bool raised = recorded.is_object();
  if (!raised)
    return error ? fmt::format("raises {}: {}", error->type, error->message) : std::string();
  const std::string type = recorded.value("type", std::string());
  const std::string message = recorded.value("message", std::string());
  if (!error) return fmt::format("recorded to raise {}: {}; here it does not", type, message);
  if (error->type != type) return fmt::format("raises {} instead of {}", error->type, type);
  // DoesNotTerminate is our word for a loop; Thunder prints nothing there.
  if (type == "DoesNotTerminate" || same_message(error->message, message)) return {};
  return fmt::format("raises '{}' instead of '{}'", error->message, message);
}

// ---- one recorded program

class Replay {
 public:
  Replay(const Unit& unit, Checks& checks) : unit_(unit), checks_(checks) {}

  void run() {
    const Result<std::string> text = unit_.read("stages/index.json");
    root_ = text.has_value() ? Json::parse(*text, nullptr, false) : Json();
    if (!root_.is_object() || !root_["stages"].is_array() || !root_["calls"].is_array()) {
      return checks_.fail("calls", "stages/index.json", "cannot be read");
    }
    for (const Json& stage : root_["stages"]) stages_.emplace(stage.value("id", -1), &stage);
    find_traced_positions();
    for (const Json& call : root_["calls"]) replay(call);
  }

 private:
  std::optional<std::string> stage_text(const Json& id) {
    const auto found = stages_.find(id.is_number_integer() ? id.get<int>() : -1);
    if (found == stages_.end()) return std::nullopt;
    const Json& stage = *found->second;
    Result<std::string> text = unit_.read("stages/" + stage.value("file", std::string()));
    if (!text.has_value()) return std::nullopt;
    // A stage with `first_line` is its file with the first line replaced.
    if (const std::string line = stage.value("first_line", std::string()); !line.empty()) {
      return line + text->substr(std::min(text->find('\n'), text->size()));
    }
    return *std::move(text);
  }

  // The first trace of the computation: what the tracing gave.
  void find_traced_positions() {
    for (const Json& stage : root_["stages"]) {
      const bool splits = stage.value("pass", std::string()) == "forward_and_backward_from_trace";
      if (splits) first_split_ = std::min(first_split_, stage.value("id", first_split_));
    }
    for (const Json& stage : root_["stages"]) {
      if (stage.value("phase", std::string()) != "computation") continue;
      if (const std::optional<std::string> text = stage_text(stage["id"])) {
        const TraceFile file = parse_trace_file("traced", *text);
        if (file.phases.size() == 1) positions_.emplace(file.phases.front().trace);
      }
      return;
    }
  }

  bool is_computation(const Json& id) const {
    const auto found = stages_.find(id.is_number_integer() ? id.get<int>() : -1);
    return found != stages_.end() && found->second->value("phase", std::string()) == "computation";
  }

  static PassContext context_of(const Json& call) {
    PassContext context;
    const Json extra = call.value("extra_inputs", Json::object());
    if (extra.contains("alias_tensor_indices") && extra["alias_tensor_indices"].is_array()) {
      for (const Json& group : extra["alias_tensor_indices"]) {
        context.options.alias_groups.push_back(group.get<std::vector<std::size_t>>());
      }
    }
    if (extra.contains("orig_to_view_swap_map") && extra["orig_to_view_swap_map"].is_object()) {
      for (const auto& [base, view] : extra["orig_to_view_swap_map"].items()) {
        context.options.base_to_view.emplace_back(base, view.get<std::string>());
      }
    }
    if (extra.contains("needed_proxies") && extra["needed_proxies"].is_array()) {
      for (const Json& name : extra["needed_proxies"]) {
        if (name.is_string()) context.options.needed_names.push_back(name.get<std::string>());
      }
    }
    if (extra.contains("executors_list") && extra["executors_list"].is_array()) {
      for (const Json& name : extra["executors_list"]) {
        context.options.executors.push_back(name.get<std::string>());
      }
    }
    context.options.clear_mutable_collections = extra.value("clear_mutable_collections", false);
    return context;
  }

  void replay(const Json& call) {
    const std::string name = call.value("name", std::string());
    const std::string kind = "calls " + name.substr(0, name.find(" ("));
    const std::string part = fmt::format("call {}", call.value("id", -1));
    const PassInfo* pass = find_pass(name.substr(0, name.find(" (")));
    if (pass == nullptr)
      return checks_.not_supported(kind, part, "no pass of this program does that");
    const Json inputs = call.value("inputs", Json::array());
    const std::optional<std::string> text =
        inputs.size() == 1 ? stage_text(inputs[0]) : std::nullopt;
    if (!text) return checks_.not_supported(kind, part, "the call has no single input trace");
    const TraceFile file = parse_trace_file("input", *text);
    if (file.phases.size() != 1) return checks_.fail(kind, part, "the input is not one trace");
    const bool has_positions = positions_ && is_computation(inputs[0]);
    const Trace before = has_positions ? positions_->settled(file.phases.front().trace,
                                                             inputs[0].get<int>() >= first_split_)
                                       : file.phases.front().trace;
    PassContext context = context_of(call);
    const PassResult result = pass->run(before, context);
    const std::string wrong = fault(call, *text, before, result);
    const std::string open =
        wrong.empty() ? std::string() : untold_type(call, *text, before, result);
    if (!open.empty()) return checks_.not_supported(kind, part, open);
    checks_.decide(kind, part, wrong);
  }

  std::string fault(const Json& call, const std::string& input, const Trace& before,
                    const PassResult& result) {
    const Json error = call.value("error", Json());
    if (std::string wrong = error_fault(error, result.error); !wrong.empty() || error.is_object())
      return wrong;
    if (std::string wrong = facts_fault(call, result); !wrong.empty()) return wrong;
    if (std::string wrong = outputs_fault(call, input, before, result); !wrong.empty())
      return wrong;
    return edited_fault(call, input, before, result);
  }

  // Tracing a composite again casts its argument to the dtype that it has. Of a value that only an
  // unpacking makes (a cotangent) no text tells the dtype: when the traces agree without such
  // casts, this says so; empty otherwise.
  std::string untold_type(const Json& call, const std::string& input, const Trace& before,
                          const PassResult& result) {
    const Json outputs = call.value("outputs", Json::array());
    if (outputs.size() != 1 || call.value("error", Json()).is_object() || result.error) return {};
    const std::optional<std::string> recorded = stage_text(outputs[0]);
    if (!recorded) return {};
    std::set<std::string> untold;
    const TypeTable types(before);
    for (const BoundSymbolRef& statement : before.bound_symbols) {
      if (statement->kind != StatementKind::UnpackSequence) continue;
      for (const std::string_view name : output_names(*statement)) {
        if (types.find(name) == nullptr) untold.insert(std::string(name));
      }
    }
    const auto without_casts = [&untold](const std::string& text) {
      std::string kept;
      for (const std::string_view line : split_lines(text)) {
        const std::size_t name = line.find("# ");
        const std::size_t cast = line.find(" = ltorch.to(");
        const bool drop = name != std::string_view::npos && cast != std::string_view::npos &&
                          cast > name + 2 &&
                          untold.contains(std::string(line.substr(name + 2, cast - name - 2)));
        if (!drop) kept += std::string(line) + '\n';
      }
      return kept;
    };
    const std::string wrong = text_fault(input, without_casts(*recorded),
                                         without_casts(printed_like(*recorded, result.after)));
    return wrong.empty() ? "no text tells the dtype of a value that only an unpacking makes" : "";
  }

  // Extra outputs that are maps of names: base -> view, argument -> replacement.
  static std::string facts_fault(const Json& call, const PassResult& result) {
    const Json extra = call.value("extra_outputs", Json::array());
    if (extra.size() != 1 || !extra[0].is_object()) return {};
    std::map<std::string, std::string> recorded;
    for (const auto& [key, value] : extra[0].items()) {
      if (!value.is_string()) return {};
      recorded.emplace(key, value.get<std::string>());
    }
    const std::map<std::string, std::string> got(result.facts.begin(), result.facts.end());
    if (got == recorded) return {};
    Json here = got;
    // Values may be fresh names; keys are names of the input.
    if (got.size() == recorded.size()) {
      bool same_keys = true;
      for (const auto& [key, value] : recorded) same_keys = same_keys && got.contains(key);
      if (same_keys && call.value("name", std::string()) == "replace_args_with_alias_map")
        return {};
    }
    return fmt::format("map {} instead of {}", here.dump(), extra[0].dump());
  }

  std::string outputs_fault(const Json& call, const std::string& input, const Trace& before,
                            const PassResult& result) {
    const Json outputs = call.value("outputs", Json::array());
    std::vector<const Trace*> got;
    for (const Trace& trace : result.intermediate) got.push_back(&trace);
    got.push_back(&result.after);
    if (outputs.empty()) {
      // A check without output, or nothing to do: the trace goes on unchanged.
      if (got.size() == 1 && result.after == before) return {};
      return "recorded to change nothing, here it changes the trace";
    }
    if (got.size() != outputs.size()) {
      return fmt::format("gives {} traces instead of {}", got.size(), outputs.size());
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::optional<std::string> recorded = stage_text(outputs[i]);
      if (!recorded) return "the recorded output is absent";
      const std::string wrong = text_fault(input, *recorded, printed_like(*recorded, *got[i]));
      if (!wrong.empty()) return got.size() == 1 ? wrong : fmt::format("trace {}: {}", i, wrong);
    }
    return {};
  }

  std::string edited_fault(const Json& call, const std::string& input, const Trace& before,
                           const PassResult& result) {
    const Json edited = call.value("input_edited_to", Json::array());
    const Trace& now = result.before_edited ? *result.before_edited : before;
    for (const Json& pair : edited) {
      if (!pair.is_array() || pair.size() != 2 || pair[0] != call["inputs"][0]) continue;
      const std::optional<std::string> recorded = stage_text(pair[1]);
      if (!recorded) return "the edited input is absent";
      const std::string wrong = text_fault(input, *recorded, printed_like(*recorded, now));
      if (!wrong.empty()) return "input as edited: " + wrong;
      return {};
    }
    if (edited.empty() && result.before_edited && !(*result.before_edited == before)) {
      return "edits its input, which was not recorded";
    }
    return {};
  }

  // Files end with a newline or do not; traces made by passes never do.
  static std::string printed_like(const std::string& recorded, const Trace& trace) {
    std::string text = print(trace);
    if (recorded.ends_with('\n') && !text.ends_with('\n')) text += '\n';
    if (!recorded.ends_with('\n') && text.ends_with('\n')) text.pop_back();
    return text;
  }

  const Unit& unit_;
  Checks& checks_;
  Json root_;
  std::map<int, const Json*> stages_;
  std::optional<TracedPositions> positions_;
  int first_split_ = std::numeric_limits<int>::max();  // the first stage behind the split
};

// Applies passes one after another until one raises.
PassResult chain(const Trace& acquired, std::initializer_list<std::string_view> names) {
  PassResult result;
  result.after = acquired;
  for (const std::string_view name : names) {
    const PassInfo* pass = find_pass(name);
    if (pass == nullptr) {
      result.error = PassError{"no such pass", std::string(name), kNoStatement};
      return result;
    }
    PassContext context;
    const Trace before = std::move(result.after);
    result = pass->run(before, context);
    if (result.error) return result;
  }
  return result;
}

}  // namespace

bool same_message(const std::string& a, const std::string& b) {
  return with_sorted_set(a) == with_sorted_set(b);
}

void replay_calls(const Unit& unit, Checks& checks) {
  Replay(unit, checks).run();
}

void check_proposed_audit(const Unit& unit, const TraceFile& acquired, Checks& checks) {
  const std::string path = "audit/result.json";
  if (!unit.has(path) || acquired.phases.size() != 1) return;
  if (find_pass("audit_raw_copy") == nullptr) {
    return checks.not_supported("audit", path, "no pass of this program does that");
  }
  const Result<std::string> text = unit.read(path);
  const Json root = text.has_value() ? Json::parse(*text, nullptr, false) : Json();
  if (!root.is_object()) return checks.fail("audit", path, "cannot be read");
  const PassResult wrapped =
      chain(acquired.phases.front().trace, {"wrap_return", "remove_context_managers"});
  if (wrapped.error) return checks.fail("audit", path, wrapped.error->message);
  const PassResult audited = chain(wrapped.after, {"audit_raw_copy"});

  // An error without any stage is the audit's own; a later pass leaves the stages before it.
  const Json stages = root.value("stages", Json::array());
  if (root.contains("error") && stages.empty()) {
    const Json error = {{"type", root.value("error", Json())},
                        {"message", root.value("message", std::string())}};
    return checks.decide("audit", path, error_fault(error, audited.error));
  }
  if (audited.error)
    return checks.fail("audit", path, fmt::format("raises {}", audited.error->message));
  for (const Json& stage : stages) {
    const std::string file = "audit/" + stage.value("file", std::string());
    if (file.find("prims-copy-audit") == std::string::npos) continue;
    const Result<std::string> recorded = unit.read(file);
    if (!recorded.has_value()) return checks.fail("audit", file, "absent");
    std::string got = print(audited.after);
    if (recorded->ends_with('\n') && !got.ends_with('\n')) got += '\n';
    return checks.decide("audit", file, text_fault(acquired.text, *recorded, got));
  }
  checks.decide("audit", path,
                same_body(audited.after, wrapped.after)
                    ? ""
                    : "recorded to change nothing, here it drops a copy");
}

}  // namespace tg::golden
