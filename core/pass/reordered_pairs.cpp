#include "core/pass/reordered_pairs.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "core/pass/statement_facts.h"
#include "core/text/printer.h"

namespace tg {
namespace {

// What one statement does to one storage.
struct Touch {
  StatementId statement = kNoStatement;
  bool reads = false;
  bool writes = false;
  Footprint read;
  Footprint written;
};

void add(Footprint& all, const Footprint& more) {
  all.intervals.insert(all.intervals.end(), more.intervals.begin(), more.intervals.end());
}

bool meet(const Footprint& a, const Footprint& b) {
  for (const ByteInterval& left : a.intervals) {
    for (const ByteInterval& right : b.intervals) {
      if (left.begin < right.end && right.begin < left.end) return true;
    }
  }
  return false;
}

bool conflict(const Touch& a, const Touch& b) {
  return (a.writes && b.writes && meet(a.written, b.written)) ||
         (a.writes && b.reads && meet(a.written, b.read)) ||
         (a.reads && b.writes && meet(a.read, b.written));
}

using Touches = std::vector<Touch>;  // of one storage, by statement

std::map<StorageId, Touches> touches_of(const AliasSets& aliases) {
  std::map<StorageId, Touches> by_storage;
  for (const Access& access : aliases.accesses()) {
    if (access.path.empty()) continue;
    const bool writes = access.kind == AccessKind::Write || access.kind == AccessKind::MayWrite;
    if (!writes && access.kind != AccessKind::Read) continue;
    Touches& touches = by_storage[access.storage];
    if (touches.empty() || touches.back().statement != access.path.front()) {
      touches.push_back({access.path.front(), false, false, {}, {}});
    }
    Touch& touch = touches.back();
    (writes ? touch.writes : touch.reads) = true;
    add(writes ? touch.written : touch.read, footprint_of(access));
  }
  return by_storage;
}

// `return` stands in the text and reads what it mentions, arguments included.
std::string key_of(const BoundSymbol& statement) {
  std::string key = fmt::format("{} {}", static_cast<int>(statement.kind), statement.callee);
  for (const Value& arg : statement.args) {
    key += ' ';
    append_text(key, arg);
  }
  if (statement.args.empty()) append_text(key, statement.output);
  return key;
}

std::vector<StatementId> places(const Trace& before, const Trace& after) {
  std::unordered_map<std::string, std::vector<StatementId>> by_key;
  for (StatementId i = 0; i < after.bound_symbols.size(); ++i) {
    by_key[key_of(*after.bound_symbols[i])].push_back(i);
  }
  std::unordered_map<std::string, std::size_t> used;
  std::vector<StatementId> new_place;
  for (const BoundSymbolRef& statement : before.bound_symbols) {
    const std::string key = key_of(*statement);
    const auto found = by_key.find(key);
    const std::size_t turn = used[key]++;
    new_place.push_back(found != by_key.end() && turn < found->second.size() ? found->second[turn]
                                                                             : kNoStatement);
  }
  return new_place;
}

}  // namespace

std::vector<ReorderedPair> reordered_pairs(const Trace& before,
                                           const std::vector<StatementId>& new_place,
                                           const ArgumentFacts& facts, std::size_t most) {
  std::vector<ReorderedPair> pairs;
  // Without a statement that stands behind one that it stood before, nothing changed places.
  StatementId furthest = 0;
  bool any = false;
  for (const StatementId place : new_place) {
    if (place == kNoStatement) continue;
    any = any || place < furthest;
    furthest = std::max(furthest, place);
  }
  if (!any) return pairs;
  const DefUse def_use(before);
  const AliasSets aliases(before, def_use, facts);
  for (const auto& [storage, touches] : touches_of(aliases)) {
    const bool in_order =
        std::is_sorted(touches.begin(), touches.end(), [&](const Touch& a, const Touch& b) {
          return new_place[a.statement] < new_place[b.statement];
        });
    if (in_order) continue;
    for (std::size_t w = 0; w < touches.size(); ++w) {
      if (!touches[w].writes) continue;
      for (std::size_t other = 0; other < touches.size() && pairs.size() < most; ++other) {
        // Two writes are one pair.
        if (other == w || (touches[other].writes && other < w)) continue;
        const Touch& first = touches[std::min(other, w)];
        const Touch& second = touches[std::max(other, w)];
        const StatementId a = new_place[first.statement];
        const StatementId b = new_place[second.statement];
        if (a == kNoStatement || b == kNoStatement || a < b || !conflict(first, second)) continue;
        pairs.push_back({first.statement, second.statement, aliases.storages()[storage].label,
                         first.writes, second.writes});
      }
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const ReorderedPair& a, const ReorderedPair& b) {
    return std::tie(a.first, a.second, a.storage) < std::tie(b.first, b.second, b.storage);
  });
  return pairs;
}

std::vector<ReorderedPair> reordered_pairs(const Trace& before, const Trace& after,
                                           const ArgumentFacts& facts, std::size_t most) {
  return reordered_pairs(before, places(before, after), facts, most);
}

std::string reordered_text(const Trace& before, const ReorderedPair& pair) {
  const auto place = [&before](StatementId id) { return callee_at(*before.bound_symbols[id], id); };
  if (pair.first_writes && pair.second_writes) {
    return fmt::format(
        "{} and {} both write {}, in this order; now they write it the other way round",
        place(pair.first), place(pair.second), pair.storage);
  }
  if (pair.second_writes) {
    return fmt::format("{} read {} before {} wrote it, and now runs behind that write",
                       place(pair.first), pair.storage, place(pair.second));
  }
  return fmt::format("{} wrote {} before {} read it, and now runs behind that read",
                     place(pair.first), pair.storage, place(pair.second));
}

}  // namespace tg
