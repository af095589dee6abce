#include "core/analysis/region_hazards.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analysis/call_arguments.h"

namespace tg {
namespace {

// nvFuser makes one kernel of a region; the others keep the order of their statements.
bool is_one_kernel(std::string_view callee) {
  return callee.starts_with("nvFusion");
}

struct Dim {
  std::int64_t size;
  std::int64_t stride;
  friend bool operator==(const Dim&, const Dim&) = default;
};

std::vector<Dim> moving_dims(const Geometry& geometry) {
  std::vector<Dim> dims;
  for (std::size_t d = 0; d < geometry.rank(); ++d) {
    if (geometry.sizes[d] != 1) dims.push_back({geometry.sizes[d], geometry.strides[d]});
  }
  return dims;
}

// One kernel's reads, by the elements they touch.
class Kernel {
 public:
  Kernel(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
         const TypeTable& types, const RegionSpan& region, std::vector<Finding>& findings)
      : trace_(trace),
        def_use_(def_use),
        aliases_(aliases),
        types_(types),
        region_(region),
        call_(*trace.bound_symbols[region.statement]),
        findings_(findings) {}

  void check(const std::vector<const CopySite*>& copies) {
    for (const CopySite* copy : copies) {
      if (copy->destination_at.storage < region_.first_storage) {
        written_.emplace(copy->destination_at.storage, copy);
      }
    }
    if (written_.empty()) return;
    bind_inputs();
    for (std::uint32_t i = 0; i < call_.subsymbols.size(); ++i)
      visit(*call_.subsymbols[i], {region_.statement, i});
    check_reads_after_writes(copies);
  }

 private:
  using Sources = std::vector<StorageId>;  // storages from which a value comes element by element

  void bind_inputs() {
    for (const std::string_view name : argument_names(call_)) {
      const DefinitionId definition = def_use_.reaching(name, region_.statement);
      const Placement* at = definition == kNoDefinition ? nullptr : aliases_.placement(definition);
      if (at == nullptr) continue;
      const auto copy = written_.find(at->storage);
      if (copy == written_.end()) continue;
      const Placement& target = copy->second->destination_at;
      const bool same_window = at->geometry && target.geometry ? *at->geometry == *target.geometry
                                                               : at->whole && target.whole;
      if (same_window) {
        aligned_[name] = {at->storage};
      } else if (!at->geometry || !target.geometry ||
                 overlap(*at->geometry, *target.geometry) != Overlap::None) {
        shifted_[name] = at->storage;
      }
    }
  }

  [[nodiscard]] std::optional<std::vector<std::int64_t>> shape_of(std::string_view name) const {
    const Type* type = types_.find(name);
    return type == nullptr ? std::nullopt : type->shape;
  }

  // Does the view show every element at its own place, up to dims of size 1?
  [[nodiscard]] bool keeps_elements(const BoundSymbol& call, std::string_view viewed) const {
    const auto shape = shape_of(viewed);
    if (!shape || !element_count(*shape)) return false;
    const Geometry geometry = contiguous_geometry(*shape);
    const auto outcome = view_outcome(call.op, geometry, call.args, 1);
    return outcome && outcome->kind == ViewOutcome::Kind::View && outcome->outputs.size() == 1 &&
           outcome->outputs.front().offset == 0 &&
           moving_dims(outcome->outputs.front()) == moving_dims(geometry);
  }

  void visit(const BoundSymbol& call, const std::vector<std::uint32_t>& path) {
    if (call.kind != StatementKind::Call || call.op_info().has(kCopyInto)) return;
    const OpInfo& op = call.op_info();
    const std::vector<std::string_view> outputs = output_names(call);
    Sources sources;
    for (const std::string_view name : argument_names(call)) {
      if (const auto shifted = shifted_.find(name); shifted != shifted_.end()) {
        report(shifted->second, call, path, name);
        continue;
      }
      const auto found = aligned_.find(name);
      if (found == aligned_.end()) continue;
      bool aligned = false;
      if (op.has(kElementwise) || is_cast(op)) {
        const auto from = shape_of(name);
        const auto to = outputs.size() == 1 ? shape_of(outputs.front()) : std::nullopt;
        aligned = !from || !to || *from == *to;
      } else if (op.has(kView | kMaybeView)) {
        aligned = keeps_elements(call, name);
      }
      if (aligned) {
        sources.insert(sources.end(), found->second.begin(), found->second.end());
        continue;
      }
      for (const StorageId storage : found->second) report(storage, call, path, name);
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    if (sources.empty()) return;
    for (const std::string_view name : outputs) aligned_[name] = sources;
  }

  // A pure operation on one tensor with a dtype parameter and nothing that moves elements.
  static bool is_cast(const OpInfo& op) {
    return op.params.size() == 2 && op.params[1].type == "dtype" && !op.has(kReduction | kFactory);
  }

  void report(StorageId storage, const BoundSymbol& read, const std::vector<std::uint32_t>& path,
              std::string_view name) {
    const CopySite& write = *written_.at(storage);
    const std::string& label = aliases_.storages()[storage].label;
    Finding finding;
    finding.code = FindingCode::WriteAfterRead;
    finding.path = write.path;
    finding.at = write.statement->at.line != 0 ? write.statement->at : call_.at;
    finding.message = fmt::format(
        "write-after-read on the storage of `{}`: {} ({}) reads `{}` not element by element, and "
        "{} ({}) writes "
        "it in the same kernel {}; the write must come in a later segment",
        label, place_text(read.at, path), read.callee, name,
        place_text(write.statement->at, write.path), write.statement->callee, call_.callee);
    finding.notes.push_back({fmt::format("`{}` is read here", name), read.at});
    findings_.push_back(std::move(finding));
  }

  // Line by line such a read sees the new value, a kernel on its inputs the old one. The result of
  // the copy_ itself is the new value in both.
  void check_reads_after_writes(const std::vector<const CopySite*>& copies) {
    std::unordered_map<StorageId, const CopySite*> done;
    std::size_t next = 0;
    for (std::uint32_t i = region_.first_access; i < region_.end_access; ++i) {
      while (next < copies.size() && copies[next]->end_access <= i) {
        done[copies[next]->destination_at.storage] = copies[next];
        ++next;
      }
      const Access& read = aliases_.accesses()[i];
      if (read.kind != AccessKind::Read || read.everything || read.storage >= region_.first_storage)
        continue;
      const auto write = done.find(read.storage);
      if (write == done.end()) continue;
      const CopySite& copy = *write->second;
      if (copy.statement->output.is_name(read.name)) continue;
      const auto& target = copy.destination_at.geometry;
      if (read.geometry && target && overlap(*read.geometry, *target) == Overlap::None) continue;
      const BoundSymbol& reader = statement_at(trace_, read.path);
      Finding finding;
      finding.code = FindingCode::ReadAfterWriteInRegion;
      finding.path = read.path;
      finding.at = position_of(trace_, read);
      finding.message = fmt::format(
          "read-after-write on the storage of `{}`: {} ({}) reads `{}` after {} ({}) wrote it in "
          "the same kernel "
          "{}: run line by line it reads the new value, as one kernel the old one",
          aliases_.storages()[read.storage].label, place_text(finding.at, read.path), reader.callee,
          read.name, place_text(copy.statement->at, copy.path), copy.statement->callee,
          call_.callee);
      finding.notes.push_back({"it is written here", copy.statement->at});
      findings_.push_back(std::move(finding));
    }
  }

  const Trace& trace_;
  const DefUse& def_use_;
  const AliasSets& aliases_;
  const TypeTable& types_;
  const RegionSpan& region_;
  const BoundSymbol& call_;
  std::vector<Finding>& findings_;
  std::unordered_map<StorageId, const CopySite*> written_;
  std::unordered_map<std::string_view, Sources> aligned_;
  std::unordered_map<std::string_view, StorageId> shifted_;
};

}  // namespace

std::string place_text(SourceRange at, const std::vector<std::uint32_t>& path) {
  if (at.line != 0) return fmt::format("line {}", at.line);
  std::string text = fmt::format("statement {}", path.front() + 1);
  for (std::size_t i = 1; i < path.size(); ++i) text += fmt::format(".{}", path[i] + 1);
  return text;
}

const BoundSymbol& statement_at(const Trace& trace, const std::vector<std::uint32_t>& path) {
  const BoundSymbol* statement = trace.bound_symbols[path.front()].get();
  for (std::size_t i = 1; i < path.size(); ++i) statement = statement->subsymbols[path[i]].get();
  return *statement;
}

SourceRange position_of(const Trace& trace, const Access& access) {
  return access.at.line != 0 ? access.at : trace.bound_symbols[access.path.front()]->at;
}

void find_region_hazards(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
                         std::vector<Finding>& findings) {
  if (aliases.regions().empty()) return;
  const TypeTable types(trace);
  std::size_t next = 0;
  for (const RegionSpan& region : aliases.regions()) {
    std::vector<const CopySite*> copies;
    while (next < aliases.copies().size() &&
           aliases.copies()[next].path.front() <= region.statement) {
      const CopySite& copy = aliases.copies()[next++];
      if (copy.path.front() == region.statement && copy.write != kNoAccess) copies.push_back(&copy);
    }
    if (copies.empty() || !is_one_kernel(trace.bound_symbols[region.statement]->callee)) continue;
    Kernel(trace, def_use, aliases, types, region, findings).check(copies);
  }
}

}  // namespace tg
