// spec/passes-cases: programs with the traces that single passes made of them, and a verdict.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/golden/checks.h"
#include "core/golden/pass_case.h"
#include "core/golden/pass_replay.h"
#include "core/golden/stage_run.h"
#include "core/golden/text_match.h"
#include "core/pass/pass.h"
#include "core/run/compare.h"
#include "core/run/inputs.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg::golden {
namespace {

// The pass behind a provenance line; empty: none of ours. The three traces of functionalization are
// checked as one.
std::string_view pass_of(const Trace& trace) {
  const std::string& text = trace.provenance;
  if (text.starts_with("Dead Code Elimination")) return "dead_code";
  if (text.starts_with("Delete Last Used")) return "delete_last_used";
  if (text.starts_with("Unwrap the actual return value")) return "unwrap_return";
  if (text.starts_with("Common Subexpression Elimination")) return "common_subexpressions";
  if (text.starts_with("Transform for execution")) return "transform_for_execution";
  if (text.starts_with("`prims.copy_` audit")) return "audit_raw_copy";
  if (text.starts_with("Update aliases for in-place ops")) return "update_aliases";
  return {};
}

bool belongs_to_functionalization(const Trace& trace) {
  return trace.provenance.starts_with("Duplicate alias args") ||
         trace.provenance.starts_with("Intermediate trace of") ||
         trace.provenance.starts_with("Functionalize in-place ops");
}

// The lab's executors: nvFuser for programs on a GPU, and torch.
PassContext lab_context(const Trace& trace, Era era) {
  PassContext context;
  context.options.era = era;
  context.options.executors = {"torch", "python"};
  const bool on_gpu = std::any_of(
      trace.bound_symbols.begin(), trace.bound_symbols.end(), [](const BoundSymbolRef& statement) {
        return statement->type && statement->type->device.starts_with("cuda");
      });
  if (on_gpu) context.options.executors.insert(context.options.executors.begin(), "nvfuser");
  return context;
}

// The lab prints traces without imports and decorators.
std::string without_head_lines(const std::string& text) {
  std::string kept;
  bool head = true;
  for (const std::string_view line : split_lines(text)) {
    head = head && !line.starts_with("def ");
    const bool lab_lacks = line.starts_with("import ") || line.starts_with("from ") ||
                           line.starts_with("@") || line.empty();
    if (head && lab_lacks) continue;
    kept += line;
    kept += '\n';
  }
  return kept;
}

bool is_substatement(std::string_view line) {
  return line.starts_with("    ") && trim(line).starts_with("#");
}

std::string without_substatements(const std::string& text) {
  std::string kept;
  for (const std::string_view line : split_lines(text)) {
    if (is_substatement(line)) continue;
    kept += line;
    kept += '\n';
  }
  return kept;
}

std::size_t substatements(const std::string& text) {
  const std::vector<std::string_view> lines = split_lines(text);
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_substatement));
}

std::string compare_text(const std::string& input, const std::string& recorded, const Trace& got) {
  return text_fault(input, recorded, without_head_lines(print(got)));
}

// These passes leave sub-statements alone, but the lab prints some stages with them and some
// without; what one of the two texts lacks cannot be compared.
std::string compare_stage(const std::string& input, const std::string& recorded, const Trace& got) {
  if (substatements(input) == substatements(recorded)) return compare_text(input, recorded, got);
  return text_fault(input, without_substatements(recorded),
                    without_substatements(without_head_lines(print(got))));
}

bool has_nvfuser_region(const Trace& trace) {
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    if (statement->kind == StatementKind::Call && statement->callee.starts_with("nvFusion"))
      return true;
  }
  return false;
}

// A value of a 16-bit float type. Thunder may drop a cast to it and back, and the rounding with it
// (passes.md 3.4 D10); the lab's own values were never rounded.
bool has_narrow_floats(const Trace& trace) {
  return std::any_of(
      trace.bound_symbols.begin(), trace.bound_symbols.end(), [](const BoundSymbolRef& statement) {
        const TypeRef& type = statement->type;
        return type && type->dtype && is_float(*type->dtype) && size_bytes(*type->dtype) == 2;
      });
}

// The lab prints errors with plain names.
std::string plain_names(std::string text) {
  constexpr std::string_view kOpen = "<TensorProxy(name=\"";
  for (std::size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at)) {
    const std::size_t name = at + kOpen.size();
    const std::size_t quote = text.find('"', name);
    const std::size_t end = text.find(")>", name);
    if (quote == std::string::npos || end == std::string::npos) break;
    text.replace(at, end + 2 - at, text.substr(name, quote - name));
  }
  for (std::size_t at = text.find("PrimIDs."); at != std::string::npos; at = text.find("PrimIDs."))
    text.erase(at, 8);
  return text;
}

// The lab's elements in order of storages; what it gave third and later arguments is not recorded.
constexpr double kLab[] = {0.29,  0.275, -0.216, 0.481, 0.174,  0.599, 0.652, -0.115,
                           0.731, -0.44, 0.127,  0.903, -0.368, 0.555, 0.812, -0.07};

Result<RunInputs> lab_inputs(const Trace& trace, const ArgumentFacts& facts) {
  Result<RunInputs> inputs = invent_inputs(trace, facts, 1);
  if (!inputs) return inputs;
  std::set<const Storage*> filled;
  std::size_t next = 0;
  for (NamedValue& argument : inputs->arguments) {
    Tensor* tensor = argument.value.as<Tensor>();
    if (tensor == nullptr || !is_float(tensor->dtype) ||
        !filled.insert(tensor->storage.get()).second)
      continue;
    Tensor whole = *tensor;
    const std::size_t count = tensor->storage->bytes.size() / size_bytes(tensor->dtype);
    whole.geometry = contiguous_geometry({static_cast<std::int64_t>(count)});
    std::vector<double> values(count);
    for (double& value : values) value = kLab[next++ % std::size(kLab)];
    fill_from_double(whole, values);
  }
  return inputs;
}

// The numbers of "WORDS eager=[[..], [..]] pass=[[..]]", one list per value; empty when the verdict
// has no such words.
std::vector<std::vector<double>> listed(const std::string& verdict, std::string_view words,
                                        std::string_view side) {
  std::vector<std::vector<double>> lists;
  const std::size_t begin = verdict.find(words);
  if (begin == std::string::npos) return lists;
  const std::string key = fmt::format(" {}=", side);
  const std::size_t at = verdict.find(key, begin);
  if (at == std::string::npos) return lists;
  const std::size_t close = verdict.find("]]", at);
  if (close == std::string::npos) return lists;
  const Result<Value> value =
      parse_value(std::string_view(verdict).substr(at + key.size(), close + 2 - at - key.size()));
  if (!value.has_value()) return lists;
  for (const Value& list : value->items) {
    std::vector<double> numbers;
    for (const Value& number : list.items)
      numbers.push_back(std::strtod(to_text(number).c_str(), nullptr));
    lists.push_back(std::move(numbers));
  }
  return lists;
}

std::string numbers_fault(const std::vector<NamedValue>& values,
                          const std::vector<std::vector<double>>& recorded) {
  std::size_t index = 0;
  for (const NamedValue& value : values) {
    const Tensor* tensor = value.value.as<Tensor>();
    if (tensor == nullptr) continue;
    if (index >= recorded.size()) return "more values than recorded";
    const std::vector<double> here = values_as_double(*tensor);
    const std::vector<double>& there = recorded[index++];
    if (here.size() != there.size())
      return fmt::format("{} has another number of elements", value.name);
    for (std::size_t i = 0; i < here.size(); ++i) {
      // five decimals are recorded
      if (std::fabs(here[i] - there[i]) > 2e-5) {
        return fmt::format("{} element {} is {:.5f}, recorded {:.5f}", value.name, i, here[i],
                           there[i]);
      }
    }
  }
  return index == recorded.size() ? "" : "fewer values than recorded";
}

// "T40"
bool is_case_id(std::string_view word) {
  return word.size() == 3 && word[0] >= 'A' && word[0] <= 'Z' &&
         word.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

class PassCaseCheck {
 public:
  PassCaseCheck(PassCase found, const Unit& unit, Checks& checks)
      : case_(std::move(found)), unit_(unit), checks_(checks) {}

  void run() {
    for (std::size_t i = 0; i < case_.blocks.size(); ++i) {
      const Block& block = case_.blocks[i];
      if (block.file)
        checks_.decide("round trip", fmt::format("trace {}", i),
                       round_trip_fault(block.title, block.text));
      if (block.title.starts_with("alias_tensor_indices")) {
        groups_ = groups_in(block.title);
        facts_ = facts_in(block.title);
      }
    }
    take_placement_of_named_case();
    // A04's text says in its title alone that a and b are one tensor.
    if (case_.title.find("aliased argument read in between") != std::string::npos) {
      for (const char* name : {"a", "b"})
        facts_.windows.push_back({name, 0, contiguous_geometry({2, 2})});
    }
    const Trace* input = case_.blocks.empty() ? nullptr : trace_of(case_.blocks.front());
    if (input == nullptr) return checks_.fail("pass", {}, "no input trace");
    if (case_.era != "HEAD") replay_functionalization(*input);
    replay_single_passes();
    check_verdict(*input);
  }

 private:
  [[nodiscard]] Era era() const {
    return case_.era == "HEAD" ? Era::Thunder2026 : Era::Thunder2024;
  }

  void replay_functionalization(const Trace& input) {
    std::vector<const Block*> recorded;
    const Block* views = nullptr;
    for (const Block& block : case_.blocks) {
      const Trace* trace = trace_of(block);
      if (trace != nullptr && belongs_to_functionalization(*trace)) recorded.push_back(&block);
      if (block.title.starts_with("orig_to_view")) views = &block;
    }
    if (views == nullptr && recorded.empty()) return;
    const std::string& text = case_.blocks.front().text;
    if (const PassInfo* pass = find_pass("check_inplace_views");
        pass != nullptr && views != nullptr) {
      PassContext context;
      const PassResult result = pass->run(input, context);
      const std::vector<std::pair<std::string, std::string>> expected = map_in(views->title);
      checks_.decide("check_inplace_views", {},
                     result.error               ? "raises " + result.error->message
                     : result.facts != expected ? fmt::format("gives {} pairs, recorded {}",
                                                              result.facts.size(), views->title)
                                                : "");
    }
    const PassInfo* pass = find_pass("functionalize");
    if (pass == nullptr)
      return checks_.not_supported("functionalize", {}, "no pass of this program does that");
    PassContext context;
    context.options.alias_groups = groups_;
    if (views != nullptr) context.options.base_to_view = map_in(views->title);
    const PassResult result = pass->run(input, context);
    if (result.error) {
      error_ = result.error;
      return;
    }
    std::vector<const Trace*> got;
    for (const Trace& trace : result.intermediate) got.push_back(&trace);
    if (!(result.after == input)) got.push_back(&result.after);
    std::string fault;
    // A pipeline case shows only what its last pass of this kind made.
    if (recorded.size() == 1 && got.size() == 2) got.erase(got.begin());
    if (got.size() != recorded.size())
      fault = fmt::format("{} traces instead of {}", got.size(), recorded.size());
    for (std::size_t i = 0; fault.empty() && i < got.size(); ++i) {
      fault = compare_text(text, recorded[i]->text, *got[i]);
    }
    checks_.decide("functionalize", {}, fault);
  }

  // "H13 ... T40 at HEAD through nvFuser": the program of another case, whose file tells where the
  // arguments lie.
  void take_placement_of_named_case() {
    if (!groups_.empty() || !facts_.windows.empty()) return;
    const std::size_t id = case_.title.find("] ");
    std::string_view words(case_.title);
    words.remove_prefix(std::min(id, words.size()));
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      const std::string_view word = words.substr(0, end);
      words.remove_prefix(std::min(words.size(), end + 1));
      if (!is_case_id(word)) continue;
      const Result<std::string> text = unit_.read(std::string(word) + ".txt");
      if (!text.has_value()) continue;
      for (const Block& block : read_pass_case(*text).blocks) {
        if (!block.title.starts_with("alias_tensor_indices")) continue;
        groups_ = groups_in(block.title);
        facts_ = facts_in(block.title);
      }
    }
  }

  // The first trace behind the input of 2026 is what the alias updates gave; without a write that
  // is the input itself, with its own provenance.
  std::string_view pass_between(const Block* before, const Block& block) const {
    if (block.title == "faithful audit") return "audit_raw_copy";
    const bool first = before == &case_.blocks.front();
    if (first && era() == Era::Thunder2026) return "update_aliases";
    return pass_of(*trace_of(block));
  }

  void replay_single_passes() {
    const Block* before = nullptr;
    for (const Block& block : case_.blocks) {
      const Trace* after = trace_of(block);
      if (after == nullptr) continue;
      const Trace* input = before != nullptr ? trace_of(*before) : nullptr;
      const std::string_view name = pass_between(before, block);
      if (input != nullptr && !belongs_to_functionalization(*after)) {
        const PassInfo* pass = name.empty() ? nullptr : find_pass(name);
        if (pass == nullptr) {
          checks_.not_supported("pass", after->provenance, "no pass of this program does that");
        } else {
          PassContext context = lab_context(*input, era());
          context.options.alias_groups = groups_;
          const PassResult result = pass->run(*input, context);
          const bool keeps = name == "delete_last_used" || name == "unwrap_return";
          checks_.decide(name, {},
                         result.error ? "raises " + result.error->message
                         : keeps      ? compare_stage(before->text, block.text, result.after)
                                      : compare_text(before->text, block.text, result.after));
        }
      }
      before = &block;
    }
  }

  // "NotImplementedError: ...": the pass raised.
  void check_error(const std::string& type, const std::string& message) {
    if (case_.era == "HEAD")
      return checks_.not_supported("verdict", {}, "passes of January 2026 are not replayed");
    if (!error_) {
      for (const std::string_view name :
           {"check_inplace_views", "audit_raw_copy", "inplace_sanity", "unwrap_return"}) {
        const PassInfo* pass = find_pass(name);
        const Trace* last = last_trace();
        if (pass == nullptr || last == nullptr) continue;
        PassContext context;
        error_ = pass->run(*last, context).error;
        if (error_) break;
      }
    }
    if (!error_ && last_trace() != nullptr && type == "AssertionError") {
      // Raised behind the partition.
      PassContext context = lab_context(*last_trace(), era());
      error_ = find_pass("transform_for_execution")->run(*last_trace(), context).error;
    }
    if (!error_)
      return checks_.fail("verdict", {},
                          fmt::format("recorded to raise {}, here nothing does", type));
    const bool loop = message.find("does not terminate") != std::string::npos;
    const std::string wanted = plain_names(message.substr(0, message.find(" || ")));
    const bool same_type = error_->type == type || (loop && error_->type == "DoesNotTerminate");
    const std::string got = plain_names(error_->message);
    // E4's second sentence is advice that the lab leaves out.
    const bool same =
        loop || same_message(got, wanted) || same_message(got.substr(0, got.find('\n')), wanted);
    checks_.decide("verdict", {},
                   same_type && same ? ""
                                     : fmt::format("raises {}: {} instead of {}: {}", error_->type,
                                                   got, type, wanted));
  }

  [[nodiscard]] const Trace* last_trace() const {
    for (std::size_t i = case_.blocks.size(); i-- > 0;) {
      if (const Trace* trace = trace_of(case_.blocks[i])) return trace;
    }
    return nullptr;
  }

  void check_verdict(const Trace& input) {
    const std::string& verdict = case_.verdict;
    const std::size_t colon = verdict.find(": ");
    if (colon != std::string::npos && verdict.substr(0, colon).ends_with("Error")) {
      return check_error(verdict.substr(0, colon), verdict.substr(colon + 2));
    }
    if (verdict == "no functionalizable op: empty list") return;  // replay_functionalization saw it
    const bool known = verdict == "EQUAL" || verdict.find("DIFFER") != std::string::npos ||
                       verdict.find("alias relations differ") != std::string::npos;
    const Trace* last = last_trace();
    if (!known || last == nullptr) {
      return checks_.not_supported(
          "verdict", {}, "the lab could not run the program and recorded no verdict: " + verdict);
    }
    const Result<RunInputs> inputs = lab_inputs(input, facts_);
    if (!inputs.has_value()) return checks_.not_supported("verdict", {}, "no inputs");
    const Expected<RunResult, RunError> eager = tg::run(input, *inputs);
    // The lab runs nvFuser regions as one kernel.
    const RegionReads regions =
        has_nvfuser_region(*last) ? RegionReads::AtEntry : RegionReads::InOrder;
    const Expected<RunResult, RunError> after = tg::run(*last, *inputs, {}, nullptr, {}, regions);
    if (!eager || !after) {
      return checks_.not_supported("verdict", {},
                                   (!eager ? Expected(eager) : Expected(after)).error().message);
    }
    CompareOptions options;
    options.contract = CompareOptions::Contract::Torch;
    if (has_narrow_floats(input)) options.tolerance = default_tolerance(DType::BFloat16);
    const Comparison comparison = compare(*eager, *after, options);
    const auto has = [&](std::initializer_list<DifferenceKind> kinds) {
      for (const Difference& difference : comparison.differences) {
        if (difference.accepted) continue;
        for (const DifferenceKind kind : kinds) {
          if (difference.kind == kind) return true;
        }
      }
      return false;
    };
    std::string got;
    const auto add = [&got](std::string_view text) {
      got += (got.empty() ? "" : "; ") + std::string(text);
    };
    if (has({DifferenceKind::Values, DifferenceKind::Structure, DifferenceKind::Shape}))
      add("RETURN VALUES DIFFER");
    if (has({DifferenceKind::FinalArgument})) add("ARG CONTENTS DIFFER");
    if (has({DifferenceKind::AliasLost, DifferenceKind::AliasGained,
             DifferenceKind::AliasOffset})) {
      add("alias relations differ");
    }
    if (got.empty()) got = "EQUAL";
    check_numbers(input, *eager, *after);
    checks_.decide("verdict", {},
                   got == words_of(verdict)
                       ? ""
                       : fmt::format("'{}' instead of '{}'", got, words_of(verdict)));
  }

  void check_numbers(const Trace& input, const RunResult& eager, const RunResult& after) {
    std::set<const Storage*> storages;
    for (const NamedValue& argument : eager.final_arguments) {
      if (const Tensor* tensor = argument.value.as<Tensor>())
        storages.insert(tensor->storage.get());
    }
    if (storages.size() > 2 ||
        storages.size() != (facts_.windows.empty() ? input.parameters.size() : 1))
      return;
    for (const std::string_view side : {"eager", "pass"}) {
      const RunResult& run = side == "eager" ? eager : after;
      const auto returned = listed(case_.verdict, "RETURN VALUES DIFFER", side);
      const auto contents = listed(case_.verdict, "ARG CONTENTS DIFFER", side);
      if (!returned.empty()) checks_.decide("numbers", side, numbers_fault(run.outputs, returned));
      if (!contents.empty())
        checks_.decide("numbers", side, numbers_fault(run.final_arguments, contents));
    }
  }

  // The verdict without its values.
  static std::string words_of(const std::string& verdict) {
    std::string words;
    for (const std::string_view part :
         {"EQUAL", "RETURN VALUES DIFFER", "ARG CONTENTS DIFFER", "alias relations differ"}) {
      if (verdict.find(part) != std::string::npos)
        words += (words.empty() ? "" : "; ") + std::string(part);
    }
    return words;
  }

  PassCase case_;
  const Unit& unit_;
  Checks& checks_;
  AliasGroups groups_;
  ArgumentFacts facts_;
  std::optional<PassError> error_;
};

}  // namespace

void check_pass_case(const Unit& unit, Checks& checks) {
  const Result<std::string> text = unit.read(unit.files.front());
  if (!text.has_value()) return checks.fail("pass", {}, text.error().message);
  PassCaseCheck(read_pass_case(*text), unit, checks).run();
}

}  // namespace tg::golden
