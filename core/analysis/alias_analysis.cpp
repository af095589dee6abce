#include "core/analysis/alias_analysis.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/analysis/alias_builder.h"

namespace tg {
namespace {

bool shares_maybe(const Placement& a, const Placement& b) {
  if (a.may_be_anything || b.may_be_anything) return true;
  const auto reaches = [](const Placement& from, StorageId storage) {
    return from.storage == storage ||
           std::find(from.maybe_of.begin(), from.maybe_of.end(), storage) != from.maybe_of.end();
  };
  if (reaches(a, b.storage) || reaches(b, a.storage)) return true;
  return std::any_of(a.maybe_of.begin(), a.maybe_of.end(),
                     [&](StorageId storage) { return reaches(b, storage); });
}

std::string_view verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::Read:
      return "reads";
    case AccessKind::Write:
      return "writes";
    case AccessKind::MayWrite:
      return "may write";
    case AccessKind::MakeView:
      return "makes a view of";
    case AccessKind::Allocate:
      return "makes";
  }
  return "";
}

}  // namespace

AliasSets::AliasSets(const Trace& trace, const DefUse& def_use, const ArgumentFacts& facts)
    : arguments_may_alias_(facts.may_alias_each_other) {
  placements_.resize(def_use.definitions().size());
  AliasBuilder(trace, def_use, facts, *this).build();
  index_accesses();
}

void AliasSets::index_accesses() {
  by_storage_.resize(storages_.size());
  for (std::uint32_t i = 0; i < accesses_.size(); ++i) {
    if (!accesses_[i].everything) by_storage_[accesses_[i].storage].push_back(i);
  }
}

const Placement* AliasSets::placement(DefinitionId definition) const {
  if (definition >= placements_.size() || !placements_[definition]) return nullptr;
  return &*placements_[definition];
}

bool AliasSets::must_alias(DefinitionId a, DefinitionId b) const {
  const Placement* at_a = placement(a);
  const Placement* at_b = placement(b);
  return at_a != nullptr && at_b != nullptr && at_a->storage == at_b->storage;
}

bool AliasSets::may_alias(DefinitionId a, DefinitionId b) const {
  const Placement* at_a = placement(a);
  const Placement* at_b = placement(b);
  if (at_a == nullptr || at_b == nullptr) return false;
  if (shares_maybe(*at_a, *at_b)) return true;
  if (!arguments_may_alias_) return false;
  const auto reaches_argument = [this](const Placement& placement) {
    const auto is_argument = [this](StorageId storage) { return storages_[storage].is_argument; };
    return is_argument(placement.storage) ||
           std::any_of(placement.maybe_of.begin(), placement.maybe_of.end(), is_argument);
  };
  const std::string& device_a = storages_[at_a->storage].device;
  const std::string& device_b = storages_[at_b->storage].device;
  const bool same_device = device_a.empty() || device_b.empty() || device_a == device_b;
  return same_device && reaches_argument(*at_a) && reaches_argument(*at_b);
}

Overlap AliasSets::windows_overlap(DefinitionId a, DefinitionId b) const {
  if (!may_alias(a, b)) return Overlap::None;
  if (!must_alias(a, b)) return Overlap::Unknown;
  const Placement& at_a = *placement(a);
  const Placement& at_b = *placement(b);
  if (a == b) return Overlap::Same;
  if (!at_a.geometry || !at_b.geometry || at_a.element_bytes != at_b.element_bytes) {
    return Overlap::Unknown;
  }
  return overlap(*at_a.geometry, *at_b.geometry);
}

std::vector<DefinitionId> AliasSets::views_of(DefinitionId definition) const {
  const Placement* at = placement(definition);
  return at == nullptr ? std::vector<DefinitionId>{} : storages_[at->storage].definitions;
}

std::vector<const Access*> AliasSets::history_of(StorageId storage) const {
  std::vector<const Access*> touches;
  for (const std::uint32_t index : by_storage_[storage]) touches.push_back(&accesses_[index]);
  return touches;
}

std::vector<const Access*> AliasSets::writes_to(StorageId storage) const {
  std::vector<const Access*> writes = history_of(storage);
  std::erase_if(writes, [](const Access* access) {
    return access->kind != AccessKind::Write && access->kind != AccessKind::MayWrite;
  });
  return writes;
}

std::vector<const Access*> AliasSets::accesses_of(std::uint32_t statement) const {
  const auto first = std::lower_bound(
      accesses_.begin(), accesses_.end(), statement,
      [](const Access& access, std::uint32_t at) { return access.path.front() < at; });
  std::vector<const Access*> touches;
  for (auto at = first; at != accesses_.end() && at->path.front() == statement; ++at) {
    touches.push_back(&*at);
  }
  return touches;
}

Footprint footprint_of(const Access& access) {
  if (access.geometry && access.element_bytes != 0) {
    return footprint(*access.geometry, access.element_bytes);
  }
  return access.whole ? whole_footprint() : unknown_footprint();
}

std::string history_text(const Trace& trace, const AliasSets& aliases, StorageId storage) {
  std::string text;
  for (const Access* access : aliases.history_of(storage)) {
    const BoundSymbol& statement = *trace.bound_symbols[access->path.front()];
    const std::uint32_t line = access->at.line != 0 ? access->at.line : statement.at.line;
    const std::string place = line != 0 ? fmt::format("line {}", line)
                                        : fmt::format("statement {}", access->path.front());
    text +=
        fmt::format("version {}  {}  {} {}{} through `{}`\n", access->version, place,
                    statement.callee.empty() ? std::string("the argument list") : statement.callee,
                    verb(access->kind), access->maybe ? " (maybe)" : "", access->name);
  }
  return text;
}

}  // namespace tg
