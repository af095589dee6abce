#include "core/analysis/liveness.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tg {
namespace {

// Beyond this many pieces a storage counts as one piece of which everything may be read.
constexpr std::size_t kMaxPieces = 8192;

// What lies ahead of some bytes.
struct Ahead {
  AtExit at_exit = AtExit::Nobody;
  std::uint32_t reader = kNoAccess;
  std::uint32_t may_reader = kNoAccess;
  std::uint32_t writer = kNoAccess;
  friend bool operator==(const Ahead&, const Ahead&) = default;
  [[nodiscard]] bool is_live() const { return at_exit != AtExit::Nobody || reader != kNoAccess; }
};

// The latest read (in backward order) of a group whose members may all be the same storage, and the
// latest by another member: a storage must not count its own reads as another's.
struct GroupReads {
  std::uint32_t step = 0;
  std::uint32_t access = kNoAccess;
  StorageId storage = 0;
  std::uint32_t other_step = 0;
  std::uint32_t other_access = kNoAccess;
};

class BackwardSweep {
 public:
  BackwardSweep(const AliasSets& aliases,
                const std::function<bool(std::size_t, const CopyFate&)>& removes)
      : aliases_(aliases), removes_(removes), storages_(aliases.storages().size()) {
    for (StorageId id = 0; id < storages_.size(); ++id) start(id);
    mark_returned();
  }

  std::vector<CopyFate> sweep() && {
    fates_.resize(aliases_.copies().size());
    std::size_t copy = fates_.size();
    while (copy > 0 && aliases_.copies()[copy - 1].write == kNoAccess) --copy;
    std::size_t region = aliases_.regions().size();
    auto index = static_cast<std::uint32_t>(aliases_.accesses().size());
    while (index > 0) {
      --index;
      ++step_;
      bool removed = false;
      while (copy > 0 && aliases_.copies()[copy - 1].end_access == index + 1) {
        const CopySite& site = aliases_.copies()[--copy];
        fates_[copy] = fate_of(site);
        if (removes_(copy, fates_[copy])) {
          removed = true;
          if (fates_[copy].moves_bytes && !fates_[copy].is_needed()) stand_in(site);
          index = site.first_access;
        }
      }
      if (!removed) pass(index);
      while (region > 0 && aliases_.regions()[region - 1].first_access >= index) {
        enter_region(aliases_.regions()[--region]);
      }
    }
    return std::move(fates_);
  }

 private:
  struct StorageState {
    std::optional<ByteMap<Ahead>> map;  // made when first needed
    Ahead initial;
    std::uint32_t synced = 0;  // step up to which reads of whole groups are in the map
    bool in_group = false;
  };

  void start(StorageId id) {
    const StorageFacts& facts = aliases_.storages()[id];
    StorageState& state = storages_[id];
    if (facts.is_argument) {
      state.initial.at_exit = AtExit::Caller;
    } else if (facts.escapes) {
      state.initial.at_exit = AtExit::Escaped;
    } else if (!aliases_.return_statement()) {
      state.initial.at_exit = AtExit::Open;
    }
    state.in_group = aliases_.arguments_may_alias() && facts.is_argument;
    device_unknown_ = device_unknown_ || (facts.is_argument && facts.device.empty());
  }

  // All of a returned tensor's storage stays visible, not only its window.
  void mark_returned() {
    const std::optional<std::uint32_t> at = aliases_.return_statement();
    if (!at) return;
    for (const Access* access : aliases_.accesses_of(*at)) {
      if (access->kind != AccessKind::Read || access->everything || access->maybe) continue;
      AtExit& exit = storages_[access->storage].initial.at_exit;
      if (exit == AtExit::Nobody) exit = AtExit::Returned;
    }
  }

  ByteMap<Ahead>& map_of(StorageId id) {
    StorageState& state = storages_[id];
    if (!state.map) state.map.emplace(state.initial);
    std::uint32_t access = kNoAccess;
    if (everything_.step > state.synced) access = everything_.access;
    if (state.in_group) {
      const GroupReads& group = groups_[group_of(id)];
      const bool own = group.storage == id;
      const std::uint32_t step = own ? group.other_step : group.step;
      const std::uint32_t reader = own ? group.other_access : group.access;
      if (step > state.synced && reader < access) access = reader;
    }
    state.synced = step_;
    if (access != kNoAccess) {
      state.map->change({0, kEndOfStorage}, [access](Ahead& ahead) { ahead.may_reader = access; });
    }
    if (state.map->pieces() > kMaxPieces) flatten(state);
    return *state.map;
  }

  static void flatten(StorageState& state) {
    Ahead sum;
    state.map->look({0, kEndOfStorage}, [&sum](const Ahead& ahead) {
      if (ahead.at_exit != AtExit::Nobody) sum.at_exit = AtExit::Open;
      sum.may_reader = std::min({sum.may_reader, ahead.may_reader, ahead.reader});
    });
    state.map.emplace(sum);
  }

  // Devices keep arguments apart only when all of them are known.
  std::string group_of(StorageId id) const {
    return device_unknown_ ? std::string() : aliases_.storages()[id].device;
  }

  void pass(std::uint32_t index) {
    const Access& access = aliases_.accesses()[index];
    switch (access.kind) {
      case AccessKind::Read:
        read(index);
        return;
      case AccessKind::Write:
        overwrite(index);
        return;
      case AccessKind::MayWrite:
      case AccessKind::MakeView:
      case AccessKind::Allocate:
        return;
    }
  }

  void read(std::uint32_t index) {
    const Access& access = aliases_.accesses()[index];
    if (access.everything) {
      everything_.step = step_;
      everything_.access = index;
      return;
    }
    const Footprint bytes = footprint_of(access);
    ByteMap<Ahead>& map = map_of(access.storage);
    const bool sure = bytes.exact && !access.maybe;
    for (const ByteInterval& piece : bytes.intervals) {
      map.change(piece,
                 [sure, index](Ahead& ahead) { (sure ? ahead.reader : ahead.may_reader) = index; });
    }
    if (!storages_[access.storage].in_group) return;
    GroupReads& group = groups_[group_of(access.storage)];
    if (group.access != kNoAccess && group.storage != access.storage) {
      group.other_step = group.step;
      group.other_access = group.access;
    }
    group.step = step_;
    group.access = index;
    group.storage = access.storage;
  }

  void overwrite(std::uint32_t index) {
    const Access& access = aliases_.accesses()[index];
    const Footprint bytes = footprint_of(access);
    if (!bytes.exact || bytes.overlaps_itself || access.maybe) return;
    ByteMap<Ahead>& map = map_of(access.storage);
    for (const ByteInterval& piece : bytes.intervals) {
      map.change(piece, [index](Ahead& ahead) {
        ahead = Ahead{};
        ahead.writer = index;
      });
    }
  }

  // A dead copy stays the witness for the copies before it: whoever reads the program finds it in
  // the text.
  void stand_in(const CopySite& site) {
    for (std::uint32_t i = site.write; i < site.end_access; ++i) {
      const Access& access = aliases_.accesses()[i];
      if (access.kind != AccessKind::Write || access.maybe) continue;
      ByteMap<Ahead>& map = map_of(access.storage);
      for (const ByteInterval& piece : footprint_of(access).intervals) {
        map.change(piece, [i](Ahead& ahead) { ahead.writer = i; });
      }
    }
  }

  // One kernel reads its inputs at its start, whatever it writes in between.
  void enter_region(const RegionSpan& region) {
    for (std::uint32_t i = region.first_access; i < region.end_access; ++i) {
      const Access& access = aliases_.accesses()[i];
      if (access.kind == AccessKind::Read &&
          (access.everything || access.storage < region.first_storage)) {
        ++step_;
        read(i);
      }
    }
  }

  CopyFate fate_of(const CopySite& site) {
    CopyFate fate;
    fate.executed = true;
    fate.moves_bytes = false;
    for (std::uint32_t i = site.write; i < site.end_access; ++i) {
      const Access& access = aliases_.accesses()[i];
      if (access.everything) {
        fate.moves_bytes = true;
        fate.exact = false;
        continue;
      }
      const Footprint bytes = footprint_of(access);
      const bool all_of_it = access.kind == AccessKind::Write && bytes.exact;
      fate.moves_bytes = fate.moves_bytes || !bytes.empty();
      if (!access.maybe) fate.exact = fate.exact && all_of_it && !bytes.overlaps_itself;
      look(access.storage, bytes, !access.maybe, all_of_it, fate);
    }
    std::sort(fate.writers.begin(), fate.writers.end());
    fate.writers.erase(std::unique(fate.writers.begin(), fate.writers.end()), fate.writers.end());
    fate.writer_count = fate.writers.size();
    if (fate.writer_count > CopyFate::kWritersNamed) {
      fate.writers.resize(CopyFate::kWritersNamed);
      fate.writers.shrink_to_fit();
    }
    return fate;
  }

  void look(StorageId storage, const Footprint& bytes, bool sure, bool all_of_it, CopyFate& fate) {
    const ByteMap<Ahead>& map = map_of(storage);
    bool all_live = true;
    Ahead sum;
    for (const ByteInterval& piece : bytes.intervals) {
      map.look(piece, [&](const Ahead& ahead) {
        all_live = all_live && ahead.is_live();
        sum.at_exit = std::max(sum.at_exit, ahead.at_exit,
                               [](AtExit a, AtExit b) { return strength(a) < strength(b); });
        sum.reader = std::min(sum.reader, ahead.reader);
        sum.may_reader = std::min(sum.may_reader, ahead.may_reader);
        sum.writer = std::min(sum.writer, ahead.writer);
        const bool is_new = fate.writers.empty() || fate.writers.back() != ahead.writer;
        if (ahead.writer != kNoAccess && is_new) fate.writers.push_back(ahead.writer);
      });
    }
    // Somewhere inside the span: needed for certain only when every byte of the span is.
    const bool certain = sure && (all_of_it || (all_live && !bytes.empty()));
    fate.may_reader = std::min(fate.may_reader, sum.may_reader);
    fate.writer = std::min(fate.writer, sum.writer);
    if (certain) {
      if (strength(sum.at_exit) > strength(fate.at_exit)) fate.at_exit = sum.at_exit;
      fate.reader = std::min(fate.reader, sum.reader);
      return;
    }
    fate.may_reader = std::min(fate.may_reader, sum.reader);
    if (sum.at_exit != AtExit::Nobody) fate.exact = false;
  }

  static int strength(AtExit exit) {
    switch (exit) {
      case AtExit::Nobody:
        return 0;
      case AtExit::Open:
        return 1;
      case AtExit::Escaped:
        return 2;
      case AtExit::Returned:
        return 3;
      case AtExit::Caller:
        return 4;
    }
    return 0;
  }

  const AliasSets& aliases_;
  const std::function<bool(std::size_t, const CopyFate&)>& removes_;
  std::vector<StorageState> storages_;
  std::vector<CopyFate> fates_;
  std::unordered_map<std::string, GroupReads> groups_;
  GroupReads everything_;
  bool device_unknown_ = false;
  std::uint32_t step_ = 0;
};

}  // namespace

std::vector<CopyFate> copy_fates(const AliasSets& aliases,
                                 const std::function<bool(std::size_t, const CopyFate&)>& removes) {
  return BackwardSweep(aliases, removes).sweep();
}

}  // namespace tg
