// The algorithm of functionalize_copies (December 2024), step by step as Thunder does it; see
// functionalize.cpp for what it is for. Numbers in comments are those of the steps there.

#include "core/pass/functional_form.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/pass/argument_walk.h"
#include "core/pass/canonical.h"
#include "core/pass/copy_placement.h"
#include "core/pass/functional_twin.h"
#include "core/pass/swap.h"

namespace tg {
namespace {

constexpr std::uint32_t kNone = 0xffffffffU;

class Functionalizer {
 public:
  Functionalizer(Statements canonical, const StatementNames& names_of, NameTable& names,
                 const Trace& signature)
      : canonical_(canonical),
        names_of_(names_of),
        names_(names),
        walker_(canonical, names_of, names, signature),
        consumers_(names_of, names.size()),
        last_read_(names.size(), kNone),
        views_(names.size()),
        base_of_(names.size(), kNoName),
        newest_write_(names.size(), kNone),
        sources_(names.size()),
        needs_full_pass_(names.size(), false),
        owner_(names.size(), kNoName) {
    // Equal statements share one index in Thunder's map: the last.
    const std::vector<StatementId> last_equal = last_equal_index(canonical, names_of, names.size());
    for (NameId name = 0; name < names.size(); ++name) {
      for (const StatementId reader : consumers_.of(name)) {
        const StatementId index = last_equal[reader];
        if (last_read_[name] == kNone || index > last_read_[name]) last_read_[name] = index;
      }
    }
  }

  FunctionalForm run() {
    form_.statements.reserve(canonical_.size());
    for (std::uint32_t i = 0; i < canonical_.size(); ++i) {
      if (!rewrite(i)) return std::move(form_);
    }
    if (!form_.statements.empty()) place_copies(form_, kept_copies(), names_);
    return std::move(form_);
  }

 private:
  bool fail(std::string type, std::string message, std::uint32_t origin) {
    form_.error = PassError{std::move(type), std::move(message), origin};
    return false;
  }

  BoundSymbolRef swap(const BoundSymbolRef& statement, SwapParts parts) const {
    if (map_.empty()) return statement;
    return swap_names(
        statement, names_, [this](NameId name) { return map_.end(name); }, parts);
  }

  bool rewrite(std::uint32_t i) {
    const BoundSymbolRef& original = canonical_[i];
    BoundSymbolRef current = swap(original, {.inputs = true, .output = false, .subsymbols = true});
    if (current->kind == StatementKind::Call && current->op_info().has(kThunderView)) {
      note_views(*current);
    }
    if (!is_functionalizable(*current)) {
      add({with_replaced_header(original, std::move(current), i), i, false});
      return true;
    }
    return functionalize(i, original, current);
  }

  // Views of a base, whatever the depth of views in between.
  void note_views(const BoundSymbol& statement) {
    NameId base = first_tensor_arg(statement, names_);
    if (base == kNoName) return;
    if (base_of_[base] != kNoName) base = base_of_[base];
    for (const NameId out : proxy_outs(statement, names_)) {
      if (!names_.is_tensor(out)) continue;
      base_of_[out] = base;
      views_[base].push_back(out);
    }
  }

  BoundSymbolRef with_replaced_header(const BoundSymbolRef& original, BoundSymbolRef current,
                                      std::uint32_t i) const {
    if (map_.empty() || current->kind != StatementKind::Call) return current;
    std::vector<NameId> keys;
    std::vector<NameId> values;
    for (const NameId name : names_of_.args(i)) {
      const NameId value = map_.end(name);
      if (value == kNoName || !names_.is_tensor(name) ||
          std::find(keys.begin(), keys.end(), name) != keys.end())
        continue;
      keys.push_back(name);
      values.push_back(value);
    }
    if (keys.empty()) return current;
    // A renamed statement is ours alone.
    auto copy = current != original ? std::const_pointer_cast<BoundSymbol>(current)
                                    : std::make_shared<BoundSymbol>(*current);
    copy->header = {replaced_header(keys, values, names_)};
    return copy;
  }

  bool functionalize(std::uint32_t i, const BoundSymbolRef& original,
                     const BoundSymbolRef& current) {
    const BoundSymbol& copy = *original->subsymbols.back();
    const std::vector<NameId> operands = proxy_args(copy, names_);
    const std::vector<NameId> results = proxy_outs(copy, names_);
    if (operands.size() < 2 || results.empty()) {
      return fail("IndexError",
                  operands.size() < 2 ? "list index out of range" : "tuple index out of range", i);
    }
    FunctionalWrite write;
    write.origin = i;
    write.source = operands[0];
    write.destination = operands[1];
    if (!map_.set(results[0], write.source)) {
      return fail("RuntimeError",
                  fmt::format("Detected a cycle while swapping; the cycle includes {{{}}}",
                              tensor_repr(results[0], names_)),
                  i);
    }
    auto functional = functional_twin(*swap(current, {}), names_);
    functional->header = {functionalized_header(*original)};
    add({std::move(functional), i, false});
    const std::uint32_t index = static_cast<std::uint32_t>(form_.writes.size());
    form_.writes.push_back(std::move(write));
    if (!find_copy_back(index) || !propagate(index)) return false;
    if (!form_.writes[index].copies.empty() && !keep_newest_copy(index)) return false;
    if (cycle_at_ != kNoName) {
      return fail(
          "DoesNotTerminate",
          fmt::format(
              "Thunder does not terminate on this trace: `{}` is replaced by itself when it "
              "shortens its renaming map, because the write to `{}` is carried on to `{}` of "
              "equal shape",
              names_.text(cycle_at_), names_.text(form_.writes[index].destination),
              names_.text(cycle_at_)),
          i);
    }
    return true;
  }

  std::string functionalized_header(const BoundSymbol& original) const {
    std::string outs;
    const auto append = [this](std::string& list, bool& first, const Value& leaf) {
      if (!first) list += ',';
      first = false;
      list += python_str(leaf);
    };
    bool first = true;
    if (original.output.kind == ValueKind::Absent) {
      outs = "None";
    } else {
      for_each_leaf(original.output, [&](const Value& leaf) { append(outs, first, leaf); });
    }
    std::string args;
    first = true;
    for (const Value* leaf : flat_args(original)) append(args, first, *leaf);
    return fmt::format("Functionalized from `{} = {}({})`", outs, base_name(original.callee), args);
  }

  // Step 6a-6c.
  bool find_copy_back(std::uint32_t index) {
    const FunctionalWrite& write = form_.writes[index];
    if (walker_.is_argument(write.destination)) {
      form_.writes[index].argument = write.destination;
      form_.writes[index].copies.push_back(copy_back_of(*canonical_[write.origin]));
      return true;
    }
    const ArgumentWalk walk = walker_.from(write.destination);
    if (walk.unclear_maker != kNoStatement) {
      return fail("NotImplementedError",
                  unclear_view_message(write, *canonical_[walk.unclear_maker]), write.origin);
    }
    form_.writes[index].why = walk.why;
    form_.writes[index].gave_up_at = walk.gave_up_at;
    if (walk.argument == kNoName) return true;
    return copy_onto_argument(index, walk.argument);
  }

  std::string unclear_view_message(const FunctionalWrite& write, const BoundSymbol& maker) const {
    std::string ids;
    for (const OpInfo& op : all_ops()) {
      if (op.has(kThunderMayView)) ids += fmt::format("{}'{}'", ids.empty() ? "" : ", ", op.id);
    }
    const std::string_view name = names_.text(write.destination);
    return fmt::format(
        "in-place op of `{}` to `{}` output `{}` is not supported. It's unclear if `{}`, the "
        "output of "
        "({}) is a copy, a view, or the input itself, as per "
        "https://pytorch.org/docs/stable/tensor_view.html\n"
        "Please use `torch.view` to create a view. Cloning the reshaped tensor before the in-place "
        "op is not "
        "currently supported.\n"
        "This error can be skipped with `skip_inplace_functionalization=True` passed to "
        "`thunder.jit`.\n"
        "If you believe this is a bug, please report it to the Lightning Thunder team in "
        "https://github.com/Lightning-AI/lightning-thunder/issues/957.",
        canonical_[write.origin]->op_info().id, maker.op_info().id, name, name, ids);
  }

  // Step 6c: [reshape,] copy_ onto the argument that the written view belongs to.
  bool copy_onto_argument(std::uint32_t index, NameId argument) {
    FunctionalWrite& write = form_.writes[index];
    write.argument = argument;
    NameId value = write.source;
    const auto* have = names_.shape(write.source);
    const auto* want = names_.shape(argument);
    if (have && want && *have != *want) {
      if (auto error = reshape_error(value, *want, names_)) {
        return fail(error->type, error->message, write.origin);
      }
      value = fresh(reshaped_type(names_.type(write.source), *want));
      write.copies.push_back(
          make_reshape(write.source, *want, value, names_, canonical_[write.origin]->at));
    }
    const TypeRef& from = names_.type(value);
    const TypeRef& to = names_.type(argument);
    if (from && to && from->dtype && to->dtype && from->dtype != to->dtype) {
      return fail("RuntimeError",
                  fmt::format("Expected dtype thunder.dtypes.{} but found thunder.dtypes.{}!",
                              thunder_name(*from->dtype), thunder_name(*to->dtype)),
                  write.origin);
    }
    const NameId result = fresh(to ? to : from);
    BoundSymbol copy;
    copy.op = OpCode::CopyInto;
    copy.callee = "prims.copy_";
    copy.output = Value::name(names_.text(result));
    copy.args = {Value::name(names_.text(value)), Value::name(names_.text(argument))};
    copy.type = names_.type(result);
    copy.at = canonical_[write.origin]->at;
    write.copies.push_back(std::make_shared<const BoundSymbol>(std::move(copy)));
    return true;
  }

  bool read_after(NameId name, std::uint32_t i) const {
    return name < last_read_.size() && last_read_[name] != kNone && last_read_[name] > i;
  }

  // Step 6d: the value goes on to the base and the sibling views of a written temporary.
  bool propagate(std::uint32_t index) {
    const FunctionalWrite write = form_.writes[index];
    if (write.argument != kNoName) return true;
    const NameId to = write.destination;
    const bool is_base = !views_[to].empty();
    if (!is_base && base_of_[to] == kNoName) return true;
    const NameId base = is_base ? to : base_of_[to];
    if (consumers_.of(base).empty()) {
      return fail("KeyError", fmt::format("'{}'", names_.text(base)), write.origin);
    }
    if (read_after(base, write.origin)) {
      if (!check_elements(write.source, base, write.origin)) return false;
      NameId target = kNoName;
      if (!reshape_like(write.source, base, write.origin, target)) return false;
      newest_target_ = target;
      replace(base, target);
    }
    // Views that nothing reads any more never come back: they leave the list.
    // Taken out, since fresh names make the tables grow.
    const std::vector<NameId> views = std::move(views_[base]);
    std::vector<NameId> live;
    for (const NameId view : views) {
      if (!read_after(view, write.origin)) continue;
      live.push_back(view);
      if (view == to) continue;
      if (!check_elements(write.source, view, write.origin)) return false;
      newest_target_ = write.source;
      NameId target = kNoName;
      if (!reshape_like(write.source, view, write.origin, target)) return false;
      newest_target_ = target;
      replace(view, target);
    }
    if (live.empty() && !views.empty()) {
      live.push_back(views.front());  // `base` stays known as a base
      views_[base] = std::move(live);
    }
    return true;
  }

  void replace(NameId name, NameId by) {
    if (!map_.set(name, by) && cycle_at_ == kNoName) cycle_at_ = name;
    if (owner_[name] != kNoName) needs_full_pass_[owner_[name]] = true;
  }

  bool check_elements(NameId source, NameId destination, std::uint32_t origin) {
    const auto have = names_.elements(source);
    const auto want = names_.elements(destination);
    if (!have || !want || *have == *want) return true;
    return fail(
        "RuntimeError",
        fmt::format(
            "Fail to propagate the in-place change of `{}` to `{}` because of the different "
            "number of elements: {} and {}",
            names_.text(source), names_.text(destination), *have, *want),
        origin);
  }

  // Equal shapes give `like` itself: Thunder returns the target where it means the source, and then
  // never ends.
  bool reshape_like(NameId source, NameId like, std::uint32_t origin, NameId& target) {
    target = like;
    const auto* have = names_.shape(source);
    const auto* want = names_.shape(like);
    if (!have || !want || *have == *want) return true;
    if (newest_target_ == kNoName) {
      return fail("NameError",
                  "cannot access free variable 'new_t' where it is not associated with a value in "
                  "enclosing scope",
                  origin);
    }
    const std::string header =
        fmt::format("`{}` replaces `{}` due to in-place op into `{}`", names_.text(newest_target_),
                    names_.text(like), names_.text(like));
    target = fresh(reshaped_type(names_.type(source), *want));
    auto reshape = std::make_shared<BoundSymbol>(
        *make_reshape(source, *want, target, names_, canonical_[origin]->at));
    reshape->header = {header};
    add({std::move(reshape), origin, true});
    return true;
  }

  // Step 7: only the newest copy onto an argument is kept, and older values of the argument are
  // renamed to it.
  bool keep_newest_copy(std::uint32_t index) {
    const NameId argument = form_.writes[index].argument;
    const NameId source = form_.writes[index].source;
    const std::uint32_t origin = form_.writes[index].origin;
    const std::uint32_t older = newest_write_[argument];
    if (older != kNone) {
      const NameId key = first_tensor_arg(*form_.writes[older].copies.front(), names_);
      if (copy_of_source_.erase(key) == 0) {
        return fail("KeyError", tensor_repr(key, names_), origin);
      }
    }
    newest_write_[argument] = index;
    const NameId key = first_tensor_arg(*form_.writes[index].copies.front(), names_);
    const auto found = copy_of_source_.find(key);
    if (found == copy_of_source_.end()) {
      copy_of_source_[key] = {index, next_order_++};
    } else {
      found->second.write = index;
    }
    owner_[source] = argument;
    if (sources_[argument].empty()) {
      sources_[argument].push_back(source);
      return true;
    }
    const NameId newest = sources_[argument].back();
    const bool same_shape = names_.shape(newest) && names_.shape(source) &&
                            *names_.shape(newest) == *names_.shape(source);
    if (!same_shape) needs_full_pass_[argument] = true;
    if (!needs_full_pass_[argument]) {
      // All older values already end in the last one.
      if (newest != source) replace_source(newest, source);
    } else {
      const std::vector<NameId> older_values =
          sources_[argument];  // fresh names make the table grow
      for (const NameId value : older_values) {
        if (value == source) continue;
        if (!check_elements(source, value, origin)) return false;
        NameId target = kNoName;
        if (!reshape_like(source, value, origin, target)) return false;
        replace_source(value, target == value ? source : target);
      }
    }
    sources_[argument].insert(sources_[argument].end(), 2, source);  // Thunder lists it twice
    return true;
  }

  void replace_source(NameId value, NameId by) {
    if (!map_.set(value, by) && cycle_at_ == kNoName) cycle_at_ = value;
  }

  NameId fresh(TypeRef type) {
    const NameId name = names_.fresh(std::move(type));
    grow_tables();
    return name;
  }

  // Fresh names come during the work.
  void grow_tables() {
    const std::size_t size = names_.size();
    if (base_of_.size() >= size) return;
    const std::size_t room = size + size / 2;
    views_.resize(room);
    base_of_.resize(room, kNoName);
    newest_write_.resize(room, kNone);
    sources_.resize(room);
    needs_full_pass_.resize(room, false);
    owner_.resize(room, kNoName);
  }

  // In order of insertion, as a Python dictionary keeps it.
  std::vector<KeptCopy> kept_copies() const {
    std::vector<std::pair<std::uint64_t, KeptCopy>> ordered;
    for (const auto& [source, filed] : copy_of_source_) {
      ordered.emplace_back(filed.order, KeptCopy{source, filed.write});
    }
    std::sort(ordered.begin(), ordered.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<KeptCopy> kept;
    for (const auto& [order, copy] : ordered) kept.push_back(copy);
    return kept;
  }

  struct FiledCopy {
    std::uint32_t write = 0;
    std::uint64_t order = 0;
  };

  void add(FunctionalStatement statement) {
    form_.names.append(*statement.statement, names_);
    form_.statements.push_back(std::move(statement));
  }

  Statements canonical_;
  const StatementNames& names_of_;
  NameTable& names_;
  ArgumentWalker walker_;
  ConsumerMap consumers_;
  std::vector<StatementId> last_read_;  // by name: index of the last reader
  ShortenedSwapMap map_;
  NameId cycle_at_ = kNoName;
  NameId newest_target_ = kNoName;  // Python's leftover variable `new_t`
  // By name:
  std::vector<std::vector<NameId>> views_;
  std::vector<NameId> base_of_;
  std::vector<std::uint32_t> newest_write_;   // of an argument
  std::vector<std::vector<NameId>> sources_;  // values copied to an argument
  std::vector<bool> needs_full_pass_;  // of an argument: values of other shape, or renamed apart
  std::vector<NameId> owner_;          // of a source: the argument
  std::unordered_map<NameId, FiledCopy> copy_of_source_;
  std::uint64_t next_order_ = 0;
  FunctionalForm form_;
};

}  // namespace

std::vector<BoundSymbolRef> finished_statements(const FunctionalForm& form) {
  std::vector<BoundSymbolRef> statements;
  statements.reserve(form.order.size() + 2 * form.copies.size());
  for (const FunctionalForm::Placement& placement : form.order) {
    if (!placement.is_copy) {
      statements.push_back(form.statements[placement.index].statement);
      continue;
    }
    const std::vector<BoundSymbolRef>& copies =
        form.writes[form.copies[placement.index].write].copies;
    statements.insert(statements.end(), copies.begin(), copies.end());
  }
  if (!statements.empty() && form.last) statements.back() = form.last;
  return statements;
}

FunctionalForm functional_form(Statements canonical, const StatementNames& names_of,
                               NameTable& names, const Trace& signature) {
  return Functionalizer(canonical, names_of, names, signature).run();
}

}  // namespace tg
