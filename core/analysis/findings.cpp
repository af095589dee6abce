#include "core/analysis/findings.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/analysis/call_arguments.h"
#include "core/analysis/copy_cost.h"
#include "core/analysis/liveness.h"
#include "core/analysis/newest_values.h"
#include "core/analysis/region_hazards.h"
#include "core/base/text.h"

namespace tg {
namespace {

struct FindingRow {
  FindingCode code;
  std::string_view text;
  Severity severity;
  std::string_view help;
};

constexpr FindingRow kFindings[] = {
#define TG_FINDING(name, text, severity, help) {FindingCode::name, text, Severity::severity, help},
    TG_FINDINGS(TG_FINDING)
#undef TG_FINDING
};

const FindingRow& row(FindingCode code) {
  return kFindings[static_cast<std::size_t>(code)];
}

class HazardFinder {
 public:
  HazardFinder(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
               const Trace* earlier)
      : trace_(trace), def_use_(def_use), aliases_(aliases), earlier_(earlier) {}

  std::vector<Finding> find() && {
    writes_after_return();
    const std::vector<CopyFate> fates =
        copy_fates(aliases_, [](std::size_t, const CopyFate&) { return false; });
    copies_onto_intermediates();
    copies_onto_duplicates(fates);
    find_stale_copies();
    find_region_hazards(trace_, def_use_, aliases_, findings_);
    writes_to_leaves();
    writes_through_overlaps();
    redundant_alias_updates();
    whole_copies_for_parts();
    dead_writes(fates);
    duplicate_definitions();
    overlapping_operands();
    needed_clones();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.path < b.path; });
    return std::move(findings_);
  }

 private:
  Finding& add(FindingCode code, const std::vector<std::uint32_t>& path, std::string message) {
    Finding finding{code, std::move(message), path, statement_at(trace_, path).at, {}};
    if (finding.at.line == 0) finding.at = trace_.bound_symbols[path.front()]->at;
    findings_.push_back(std::move(finding));
    return findings_.back();
  }

  [[nodiscard]] std::string place(const std::vector<std::uint32_t>& path) const {
    return place_text(statement_at(trace_, path).at, path);
  }

  [[nodiscard]] const std::string& label(StorageId storage) const {
    return aliases_.storages()[storage].label;
  }

  static bool writes(const BoundSymbol& statement) {
    if (statement.kind != StatementKind::Call) return false;
    if (statement.op_info().has(kCopyInto) || contains_copy(statement)) return true;
    if (!written_parameters(statement).parameters.empty()) return true;
    const std::string_view name = base_name(statement.callee);
    return statement.op == OpCode::Opaque && name.ends_with('_') && !name.ends_with("__");
  }

  void writes_after_return() {
    const std::optional<std::uint32_t> last = aliases_.return_statement();
    if (!last) return;
    for (std::uint32_t i = *last + 1; i < trace_.bound_symbols.size(); ++i) {
      const BoundSymbol& statement = *trace_.bound_symbols[i];
      if (!writes(statement)) continue;
      Finding& finding = add(
          FindingCode::WriteAfterReturn, {i},
          fmt::format(
              "write-after-return: {} ({}) stands after `return` ({}) and is never executed: the "
              "write is lost",
              place({i}), statement.callee, place({*last})));
      finding.notes.push_back({"the program ends here", trace_.bound_symbols[*last]->at});
    }
  }

  // t0 was copied to argument p; a later copy_ onto t0 changes t0 alone.
  void copies_onto_intermediates() {
    std::unordered_map<StorageId, const CopySite*>
        copied_out;  // temporary -> its copy to an argument
    std::unordered_map<StorageId, std::pair<const CopySite*, const CopySite*>> suspects;
    for (const CopySite& copy : aliases_.copies()) {
      if (copy.write == kNoAccess) continue;
      const StorageId destination = copy.destination_at.storage;
      const bool to_argument = aliases_.storages()[destination].is_argument;
      if (copy.source_at && to_argument &&
          !aliases_.storages()[copy.source_at->storage].is_argument) {
        copied_out[copy.source_at->storage] = &copy;
        suspects.erase(copy.source_at->storage);  // the newer value gets there after all
      }
      if (to_argument || copy.form != CopySite::Form::Statement) continue;
      const auto found = copied_out.find(destination);
      if (found != copied_out.end()) suspects[destination] = {found->second, &copy};
    }
    for (const auto& [storage, pair] : suspects) {
      const auto& [out, onto] = pair;
      Finding& finding =
          add(FindingCode::CopyOntoIntermediate, onto->path,
              fmt::format("copy-onto-intermediate: {} writes `{}`, a temporary whose value {} had "
                          "already copied to "
                          "argument `{}`: `{}` keeps the older value",
                          place(onto->path), onto->destination, place(out->path),
                          label(out->destination_at.storage), label(out->destination_at.storage)));
      finding.notes.push_back(
          {fmt::format("`{}` gets the value here", out->destination), out->statement->at});
    }
  }

  // t0 = prims.convert_element_type(rm, torch.float32); ...; prims.copy_(t2, t0): rm was meant.
  void copies_onto_duplicates(const std::vector<CopyFate>& fates) {
    for (std::size_t i = 0; i < fates.size(); ++i) {
      const CopySite& copy = aliases_.copies()[i];
      const CopyFate& fate = fates[i];
      if (copy.form != CopySite::Form::Statement || !fate.executed || !fate.moves_bytes) continue;
      if (fate.is_needed() || fate.may_be_needed() || fate.writer != kNoAccess) continue;
      const DefinitionId destination = def_use_.reaching(copy.destination, copy.path.front());
      if (destination == kNoDefinition ||
          def_use_.definitions()[destination].statement == kArgument)
        continue;
      const std::uint32_t made_at = def_use_.definitions()[destination].statement;
      const BoundSymbol& made = *trace_.bound_symbols[made_at];
      if (made.kind != StatementKind::Call || !is_duplicate(made.op_info())) continue;
      const std::vector<DefinitionId>& reads = def_use_.reads_of(made_at);
      const Placement* from = reads.empty() ? nullptr : aliases_.placement(reads.front());
      if (from == nullptr || !aliases_.storages()[from->storage].is_argument) continue;
      Finding& finding = add(FindingCode::CopyOntoIntermediate, copy.path,
                             fmt::format("copy-onto-intermediate: {} writes `{}`, which {} ({}) "
                                         "made as a copy of argument `{}`, and "
                                         "nothing reads it afterwards: `{}` does not get the value",
                                         place(copy.path), copy.destination, place({made_at}),
                                         made.callee, label(from->storage), label(from->storage)));
      finding.notes.push_back({fmt::format("`{}` is made here", copy.destination), made.at});
    }
  }

  // Gives the elements of its one tensor argument again: clone, cast, reshape that copies.
  static bool is_duplicate(const OpInfo& op) {
    const bool is_cast =
        op.params.size() == 2 && op.params[1].type == "dtype" && !op.has(kReduction | kFactory);
    return op.code == OpCode::Clone || op.has(kMaybeView) || is_cast;
  }

  void find_stale_copies() {
    for (const StaleCopy& stale : stale_copies(trace_, def_use_, aliases_, earlier_)) {
      const CopySite& copy = aliases_.copies()[stale.copy];
      Finding& finding =
          add(FindingCode::StaleCopy, copy.path,
              fmt::format(
                  "stale copy onto `{}`: {} stores `{}`, but the newest value of `{}` is `{}`",
                  copy.destination, place(copy.path), copy.source, stale.variable, stale.newest));
      if (stale.newest_at.line != 0) {
        finding.notes.push_back({fmt::format("`{}` is made here", stale.newest), stale.newest_at});
      }
    }
  }

  void writes_through_overlaps() {
    for (const CopySite& copy : aliases_.copies()) {
      if (copy.write == kNoAccess || !copy.destination_at.geometry) continue;
      if (!overlaps_itself(*copy.destination_at.geometry)) continue;
      const StorageId storage = copy.destination_at.storage;
      const Written written = how_written(copy);
      if (written == Written::OneValue) continue;
      if (written == Written::AllElements &&
          torch_refuses_self_overlap(*copy.destination_at.geometry)) {
        add(FindingCode::RefusedWrite, copy.path,
            fmt::format("in `{}` several elements are one memory cell of `{}`, and "
                        "PyTorch refuses to write there (RuntimeError: more than one element of "
                        "the written-to tensor refers to a single memory location)",
                        copy.destination, label(storage)));
        continue;
      }
      add(FindingCode::WriteThroughOverlap, copy.path,
          fmt::format("write through `{}`, in which several elements are one memory cell of `{}`: "
                      "PyTorch does not notice, and element by element the last one wins",
                      copy.destination, label(storage)));
    }
  }

  enum class Written : std::uint8_t {
    AllElements,  // by an operation of PyTorch, which checks its operands
    ByKey,        // what a key selects: PyTorch checks that part alone
    OneValue,     // fill_: allowed on any tensor
    InKernel,     // of a fusion, which checks nothing
  };

  [[nodiscard]] Written how_written(const CopySite& copy) const {
    if (copy.form == CopySite::Form::Region) return Written::InKernel;
    std::vector<std::uint32_t> path = copy.path;
    if (copy.statement->op_info().has(kCopyInto) && path.size() > 1) path.pop_back();
    const OpInfo& op = statement_at(trace_, path).op_info();
    if (!op.has(kInPlace)) return Written::AllElements;
    if (info(op.twin).has(kKeyedWrite)) return Written::ByKey;
    return info(op.twin).has(kUniform) ? Written::OneValue : Written::AllElements;
  }

  void redundant_alias_updates() {
    std::unordered_map<StorageId, std::uint32_t> seen;  // version at the last update
    std::vector<std::uint32_t> redundant;
    std::size_t all = 0;
    std::size_t index = 0;
    const std::vector<Access>& accesses = aliases_.accesses();
    while (index < accesses.size()) {
      const std::uint32_t statement = accesses[index].path.front();
      const BoundSymbol& call = *trace_.bound_symbols[statement];
      const bool is_update = call.kind == StatementKind::Call && call.op_info().has(kIdentity) &&
                             call.op_info().params.front().type.ends_with("[]");
      bool needed = false;
      for (; index < accesses.size() && accesses[index].path.front() == statement; ++index) {
        if (!is_update) continue;
        std::uint32_t& version = seen[accesses[index].storage];
        needed = needed || accesses[index].version > version;
        version = accesses[index].version;
      }
      if (!is_update) continue;
      ++all;
      if (!needed) redundant.push_back(statement);
    }
    if (redundant.empty()) return;
    Finding& finding = add(
        FindingCode::RedundantAliasUpdate, {redundant.front()},
        fmt::format(
            "{} needed of {} update_aliases: the others have no write to their storages since the "
            "update before",
            all - redundant.size(), all));
    for (const std::uint32_t statement : redundant) {
      finding.notes.push_back({fmt::format("{} is redundant", place({statement})),
                               trace_.bound_symbols[statement]->at});
    }
  }

  // t0 = copy_with_setitem(cache, pos, k); copy_(t0, cache)
  void whole_copies_for_parts() {
    for (const CopySite& copy : aliases_.copies()) {
      if (copy.form != CopySite::Form::Statement || copy.write == kNoAccess || copy.source.empty())
        continue;
      const DefinitionId source = def_use_.reaching(copy.source, copy.path.front());
      if (source == kNoDefinition || def_use_.definitions()[source].statement == kArgument)
        continue;
      const std::uint32_t made_at = def_use_.definitions()[source].statement;
      const BoundSymbol& made = *trace_.bound_symbols[made_at];
      if (made.kind != StatementKind::Call || !made.op_info().has(kKeyedWrite) ||
          made.args.size() < 3)
        continue;
      const std::vector<DefinitionId>& reads = def_use_.reads_of(made_at);
      if (reads.empty()) continue;
      const Placement* from = aliases_.placement(reads.front());
      if (from == nullptr || from->storage != copy.destination_at.storage || from->maybe ||
          from->geometry != copy.destination_at.geometry) {
        continue;
      }
      std::string cost;
      if (const auto bytes = bytes_moved(copy)) {
        cost =
            fmt::format(" ({} cloned and {} copied back", bytes_text(*bytes), bytes_text(*bytes));
        const Placement* part =
            made.args[2].is_name() && reads.size() > 1 ? aliases_.placement(reads.back()) : nullptr;
        if (part != nullptr && part->type) {
          if (const auto part_bytes = type_bytes(*part->type)) {
            cost += fmt::format(", the part is {}", bytes_text(*part_bytes));
          }
        }
        cost += ")";
      }
      Finding& finding = add(
          FindingCode::WholeCopyForPartialWrite, copy.path,
          fmt::format(
              "clone and copy_ of all of `{}`{} can be one write of the part that {} ({}) changes",
              copy.destination, cost, place({made_at}), made.callee));
      finding.notes.push_back({"the part is set here, in a clone", made.at});
    }
  }

  void dead_writes(const std::vector<CopyFate>& fates) {
    for (std::size_t i = 0; i < fates.size(); ++i) {
      const CopySite& copy = aliases_.copies()[i];
      const CopyFate& fate = fates[i];
      if (copy.form != CopySite::Form::InPlace || !fate.executed || !fate.moves_bytes) continue;
      if (fate.is_needed() || fate.may_be_needed() || fate.writer != kNoAccess) continue;
      const std::vector<std::uint32_t> statement = {copy.path.front()};
      add(FindingCode::DeadWrite, statement,
          fmt::format("dead write: {} ({}) writes temporary `{}`, which nothing reads afterwards",
                      place(statement), statement_at(trace_, statement).callee, copy.destination));
    }
  }

  [[nodiscard]] std::string definition_place(const Definition& definition) const {
    if (definition.statement == kArgument) return "as an argument";
    const BoundSymbol& statement = *trace_.bound_symbols[definition.statement];
    const std::string where = place({definition.statement});
    return statement.kind == StatementKind::UnpackTrivial
               ? fmt::format("as an argument ({})", where)
               : fmt::format("at {}", where);
  }

  // Only an annotation tells that an argument is a leaf: # x: "cpu f32[3]"  (requires_grad=True,
  // leaf). With gradient tracking off a write to one is allowed.
  void writes_to_leaves() {
    std::unordered_set<std::string_view> leaves;
    for (const BoundSymbolRef& statement : trace_.bound_symbols) {
      if (statement->kind == StatementKind::UnpackTrivial && has_remark(*statement, "leaf") &&
          has_remark(*statement, "requires_grad=True")) {
        leaves.insert(statement->output.text);
      }
    }
    for (StorageId id = 0; !leaves.empty() && id < aliases_.storages().size(); ++id) {
      const StorageFacts& storage = aliases_.storages()[id];
      const auto leaf =
          std::find_if(storage.names.begin(), storage.names.end(),
                       [&](const std::string& name) { return leaves.contains(name); });
      if (!storage.is_argument || leaf == storage.names.end()) continue;
      for (const Access* write : aliases_.writes_to(id)) {
        const Value* tracked = keyword_argument(statement_at(trace_, write->path), "grad_enabled");
        if (tracked != nullptr && tracked->text == "False") continue;
        add(FindingCode::LeafWrite, write->path,
            fmt::format("argument `{}` requires grad, is a leaf and is written in place", *leaf));
        break;
      }
    }
  }

  void duplicate_definitions() {
    std::unordered_map<std::string_view, DefinitionId> first;
    const std::vector<Definition>& definitions = def_use_.definitions();
    first.reserve(definitions.size());
    for (DefinitionId id = 0; id < definitions.size(); ++id) {
      const auto [found, is_new] = first.emplace(definitions[id].name, id);
      if (is_new) continue;
      const Placement* before = aliases_.placement(found->second);
      const Placement* now = aliases_.placement(id);
      const DefinitionId earlier = found->second;
      found->second = id;
      // `x = prims.copy_(a, x)` binds the same tensor again.
      if (before != nullptr && now != nullptr && before->storage == now->storage &&
          before->geometry == now->geometry) {
        continue;
      }
      if (definitions[id].statement == kArgument) continue;
      Finding& finding =
          add(FindingCode::DuplicateDefinition, {definitions[id].statement},
              fmt::format("`{}` is defined twice: {} and {}; the later one is another value, not a "
                          "write to the "
                          "earlier one",
                          definitions[id].name, definition_place(definitions[earlier]),
                          definition_place(definitions[id])));
      if (definitions[earlier].statement != kArgument) {
        finding.notes.push_back({fmt::format("`{}` is defined here first", definitions[id].name),
                                 trace_.bound_symbols[definitions[earlier].statement]->at});
      }
    }
  }

  void overlapping_operands() {
    for (const CopySite& copy : aliases_.copies()) {
      if (copy.write == kNoAccess || !copy.destination_at.geometry || copy.destination_at.maybe)
        continue;
      for (std::uint32_t i = copy.first_access; i < copy.write; ++i) {
        const Access& read = aliases_.accesses()[i];
        if (read.kind != AccessKind::Read || read.maybe ||
            read.storage != copy.destination_at.storage)
          continue;
        if (!read.geometry || read.element_bytes != copy.destination_at.element_bytes) continue;
        if (overlap(*read.geometry, *copy.destination_at.geometry) != Overlap::Partial) continue;
        const bool refused =
            how_written(copy) == Written::AllElements &&
            torch_refuses_overlap(*copy.destination_at.geometry, read.element_bytes, *read.geometry,
                                  read.element_bytes);
        const std::string overlap_text = fmt::format(
            "`{}` and `{}` overlap in the storage of `{}` without being the same elements",
            read.name, copy.destination, label(read.storage));
        if (refused) {
          add(FindingCode::RefusedWrite, copy.path,
              fmt::format("{}, and PyTorch refuses that (RuntimeError: some "
                          "elements of the input tensor and the written-to tensor refer to a "
                          "single memory location)",
                          overlap_text));
          continue;
        }
        add(FindingCode::OverlappingOperands, copy.path,
            fmt::format("{}, and PyTorch does not notice: what is read last may be what was "
                        "written first",
                        overlap_text));
      }
    }
  }

  void needed_clones() {
    for (const CopySite& copy : aliases_.copies()) {
      if (copy.write == kNoAccess || copy.form != CopySite::Form::Statement || copy.source.empty())
        continue;
      const DefinitionId source = def_use_.reaching(copy.source, copy.path.front());
      if (source == kNoDefinition || def_use_.definitions()[source].statement == kArgument)
        continue;
      const std::uint32_t made_at = def_use_.definitions()[source].statement;
      if (!trace_.bound_symbols[made_at]->is_call(OpCode::Clone)) continue;
      const std::vector<DefinitionId>& reads = def_use_.reads_of(made_at);
      const Placement* from = reads.size() == 1 ? aliases_.placement(reads.front()) : nullptr;
      const Placement& to = copy.destination_at;
      if (from == nullptr || from->storage != to.storage || !from->geometry || !to.geometry)
        continue;
      if (overlap(*from->geometry, *to.geometry) != Overlap::Partial) continue;
      const std::string_view name = def_use_.definitions()[reads.front()].name;
      Finding& finding =
          add(FindingCode::CloneNeeded, {made_at},
              fmt::format("clone needed: `{}` and `{}`, the destination of {}, overlap in the "
                          "storage of `{}`; without "
                          "the clone the copy_ would read what it has just written",
                          name, copy.destination, place(copy.path), label(to.storage)));
      finding.notes.push_back({"its result is copied here", copy.statement->at});
    }
  }

  const Trace& trace_;
  const DefUse& def_use_;
  const AliasSets& aliases_;
  const Trace* earlier_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view finding_text(FindingCode code) {
  return row(code).text;
}
std::string_view finding_help(FindingCode code) {
  return row(code).help;
}
Severity finding_severity(FindingCode code) {
  return row(code).severity;
}

const std::vector<FindingCode>& all_finding_codes() {
  static const std::vector<FindingCode> all = [] {
    std::vector<FindingCode> codes;
    for (const FindingRow& finding : kFindings) codes.push_back(finding.code);
    return codes;
  }();
  return all;
}

std::vector<Finding> find_hazards(const Trace& trace, const DefUse& def_use,
                                  const AliasSets& aliases, const Trace* earlier) {
  return HazardFinder(trace, def_use, aliases, earlier).find();
}

std::vector<Finding> find_hazards(const Trace& trace, const ArgumentFacts& facts,
                                  const Trace* earlier) {
  const DefUse def_use(trace);
  return find_hazards(trace, def_use, AliasSets(trace, def_use, facts), earlier);
}

}  // namespace tg
