#include "core/pass/copy_auditor.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analysis/copy_cost.h"
#include "core/analysis/findings.h"
#include "core/analysis/liveness.h"
#include "core/analysis/newest_values.h"
#include "core/text/printer.h"

namespace tg {
namespace {

// "prims.copy_(t0, x)": callee and arguments without "OUT =".
std::string call_text(const BoundSymbol& statement) {
  BoundSymbol bare;
  bare.kind = statement.kind;
  bare.op = statement.op;
  bare.callee = statement.callee;
  bare.args = statement.args;
  return one_line(bare);
}

bool same_dtype(const TypeRef& a, const TypeRef& b) {
  if (!a || !b || !a->dtype || !b->dtype) return a == b;
  return *a->dtype == *b->dtype;
}

class CopyAuditor {
 public:
  CopyAuditor(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
              const Trace* earlier, RemoveCopy remove)
      : trace_(trace), def_use_(def_use), aliases_(aliases), remove_(std::move(remove)) {
    decisions_.assign(aliases_.copies().size(), Decision::Stays);
    collect_dels();
    collect_touches();
    for (StaleCopy& stale : stale_copies(trace_, def_use_, aliases_, earlier)) {
      stale_.emplace(stale.copy, std::move(stale));
    }
    fates_ = copy_fates(
        aliases_, [this](std::size_t copy, const CopyFate& fate) { return removes(copy, fate); });
  }

  std::vector<CopyFinding> findings() const {
    std::vector<CopyFinding> all;
    for (std::size_t i = 0; i < aliases_.copies().size(); ++i) {
      // The write of an in-place operation that prints no copy_ is no copy.
      if (!aliases_.copies()[i].statement->op_info().has(kCopyInto)) continue;
      all.push_back(finding(i, fates_[i], decisions_[i]));
    }
    return all;
  }

 private:
  void collect_dels() {
    for (std::uint32_t i = 0; i < trace_.bound_symbols.size(); ++i) {
      if (trace_.bound_symbols[i]->kind != StatementKind::Del) continue;
      for (const DefinitionId definition : def_use_.reads_of(i)) {
        std::vector<std::uint32_t>& list = dels_[definition];
        if (list.empty() || list.back() != i) list.push_back(i);
      }
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> dels_of(DefinitionId definition) const {
    const auto found = dels_.find(definition);
    return found == dels_.end() ? std::vector<std::uint32_t>{} : found->second;
  }

  // Statements that read a definition, and those that do since a copy is gone.
  [[nodiscard]] std::vector<std::uint32_t> readers_of(DefinitionId definition) const {
    std::vector<std::uint32_t> readers = def_use_.definitions()[definition].readers;
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    const auto inherited = inherited_readers_.find(definition);
    if (inherited != inherited_readers_.end())
      readers.insert(readers.end(), inherited->second.begin(), inherited->second.end());
    return readers;
  }

  void collect_touches() {
    last_read_.assign(aliases_.storages().size(), kNoAccess);
    writes_.resize(aliases_.storages().size());
    for (std::uint32_t i = 0; i < aliases_.accesses().size(); ++i) {
      const Access& access = aliases_.accesses()[i];
      if (access.everything) continue;
      if (access.kind == AccessKind::Read) last_read_[access.storage] = i;
      if (access.kind == AccessKind::Write || access.kind == AccessKind::MayWrite) {
        writes_[access.storage].push_back(i);
      }
    }
  }

  [[nodiscard]] bool is_self_copy(const CopySite& copy, const CopyFate& fate) const {
    if (!fate.executed) return false;
    if (!fate.moves_bytes) return true;
    if (!copy.source_at || copy.source_at->maybe || copy.destination_at.maybe || !fate.exact)
      return false;
    const Placement& a = *copy.source_at;
    const Placement& b = copy.destination_at;
    if (a.storage != b.storage || !same_dtype(a.type, b.type)) return false;
    if (a.geometry && b.geometry) return *a.geometry == *b.geometry;
    return a.whole && b.whole;
  }

  enum class Decision : std::uint8_t {
    Stays,
    Removed,
    NameIsGone,  // its result is read where the destination has another name
    Refused,     // by whoever asked
  };

  bool removes(std::size_t index, const CopyFate& fate) {
    const CopySite& copy = aliases_.copies()[index];
    if (copy.form != CopySite::Form::Statement) return false;
    const bool dead = !fate.is_needed() && !fate.may_be_needed();
    if (!dead && !is_self_copy(copy, fate)) return false;
    CopyRemoval removal;
    removal.copy = index;
    removal.statement = copy.path.front();
    removal.destination = copy.destination;
    if (!rename_result(removal)) {
      decisions_[index] = Decision::NameIsGone;
      return false;
    }
    if (remove_ && !remove_(removal, finding(index, fate, Decision::Removed))) {
      decisions_[index] = Decision::Refused;
      return false;
    }
    decisions_[index] = Decision::Removed;
    if (!removal.result.empty()) {
      std::vector<std::uint32_t>& inherited =
          inherited_readers_[def_use_.reaching(removal.destination, removal.statement)];
      inherited.insert(inherited.end(), removal.readers.begin(), removal.readers.end());
    }
    return true;
  }

  // May all readers of the copy's result read the destination's name instead?
  bool rename_result(CopyRemoval& removal) {
    const std::vector<DefinitionId>& makes = def_use_.definitions_of(removal.statement);
    if (makes.empty()) return true;
    if (makes.size() != 1) return false;
    const Definition& result = def_use_.definitions()[makes.front()];
    // `x = prims.copy_(a, x)`: without it x is still bound to the same tensor.
    if (result.name == removal.destination) return true;
    const DefinitionId destination = def_use_.reaching(removal.destination, removal.statement);
    if (destination == kNoDefinition) return false;
    std::uint32_t last = 0;
    removal.readers = readers_of(makes.front());
    for (const std::uint32_t reader : removal.readers) {
      if (def_use_.reaching(removal.destination, reader) != destination) return false;
      last = std::max(last, reader);
    }
    removal.result = result.name;
    removal.dels = dels_of(makes.front());
    for (const std::uint32_t del : dels_of(destination)) {
      if (del < last) removal.too_early.push_back(del);
    }
    return true;
  }

  CopyFinding finding(std::size_t index, const CopyFate& fate, Decision decision) const {
    const CopySite& copy = aliases_.copies()[index];
    CopyFinding result;
    result.path = copy.path;
    result.form = copy.form;
    result.at = copy.statement->at;
    result.text = call_text(*copy.statement);
    result.bytes = bytes_moved(copy);
    result.source = std::string(copy.source);
    result.destination = std::string(copy.destination);
    result.at_depth_0 = copy.form == CopySite::Form::Statement;
    if (copy.write != kNoAccess)
      result.storage = aliases_.storages()[copy.destination_at.storage].label;
    if (const auto stale = stale_.find(index); stale != stale_.end()) {
      result.stale =
          fmt::format("the newest {} is {}", stale->second.variable, stale->second.newest);
    }
    if (!fate.executed) {
      result.answer = CopyAnswer::NeverRead;
      result.reason =
          fmt::format("it stands after `return` and is never executed: `{}` does not get the value",
                      result.destination);
      return result;
    }
    answer(copy, fate, result);
    const bool dead = result.answer == CopyAnswer::NoOp ||
                      result.answer == CopyAnswer::OverwrittenLater ||
                      result.answer == CopyAnswer::NeverRead;
    result.removable = dead && decision != Decision::NameIsGone;
    if (dead && decision == Decision::NameIsGone) {
      result.reason +=
          fmt::format("; kept, because its result is read where `{}` is bound to something else",
                      result.destination);
    }
    return result;
  }

  [[nodiscard]] SourceRange at_of(std::uint32_t access) const {
    const Access& touched = aliases_.accesses()[access];
    return touched.at.line != 0 ? touched.at : trace_.bound_symbols[touched.path.front()]->at;
  }

  // "line 9 (ltorch.cos) reads `v`"
  [[nodiscard]] std::string reader_text(std::uint32_t access) const {
    const Access& read = aliases_.accesses()[access];
    const BoundSymbol& statement = *trace_.bound_symbols[read.path.front()];
    const std::string where = place_text(at_of(access), read.path);
    if (statement.kind == StatementKind::Return)
      return fmt::format("{} returns `{}`", where, read.name);
    if (read.everything)
      return fmt::format("{} may read it (text is missing or the name is unknown)", where);
    return fmt::format("{} ({}) reads `{}`", where, inner_callee(read), read.name);
  }

  // "line 17 (prims.copy_), line 18 (prims.copy_) and 2 more"
  [[nodiscard]] std::string writers_text(const CopyFate& fate) const {
    std::string text;
    for (std::size_t i = 0; i < fate.writers.size(); ++i) {
      const Access& write = aliases_.accesses()[fate.writers[i]];
      if (i > 0) text += i + 1 == fate.writer_count ? " and " : ", ";
      text += fmt::format("{} ({})", place_text(at_of(fate.writers[i]), write.path),
                          inner_callee(write));
    }
    if (fate.writer_count > fate.writers.size())
      text += fmt::format(" and {} more", fate.writer_count - fate.writers.size());
    return text;
  }

  [[nodiscard]] std::string inner_callee(const Access& access) const {
    const BoundSymbol* statement = trace_.bound_symbols[access.path.front()].get();
    for (std::size_t i = 1; i < access.path.size(); ++i) {
      statement = statement->subsymbols[access.path[i]].get();
    }
    return statement->callee;
  }

  // The statement x[key] = value that a printed whole copy stands for: eager PyTorch writes only
  // the selected elements, so a later write to other elements does not make it dead.
  [[nodiscard]] const BoundSymbol* keyed_writer(const CopySite& copy) const {
    if (copy.form != CopySite::Form::InPlace) return nullptr;
    const BoundSymbol* statement = trace_.bound_symbols[copy.path.front()].get();
    for (std::size_t i = 1; i + 1 < copy.path.size(); ++i) {
      statement = statement->subsymbols[copy.path[i]].get();
    }
    const bool keyed = info(statement->op_info().twin).has(kKeyedWrite);
    return keyed && statement != copy.statement ? statement : nullptr;
  }

  void answer(const CopySite& copy, const CopyFate& fate, CopyFinding& result) const {
    const std::string& destination = result.destination;
    const bool through_view = result.storage != destination;
    const std::string window =
        through_view ? fmt::format("`{}` (in the storage of `{}`)", destination, result.storage)
                     : fmt::format("`{}`", destination);
    if (is_self_copy(copy, fate)) {
      result.answer = CopyAnswer::NoOp;
      result.reason = fate.moves_bytes
                          ? fmt::format("`{}` and `{}` are the same elements of one storage",
                                        result.source, destination)
                          : fmt::format("`{}` has no elements", destination);
      return;
    }
    if (fate.at_exit == AtExit::Caller) {
      result.answer = CopyAnswer::NeededByArgument;
      if (const BoundSymbol* writer = keyed_writer(copy)) {
        result.reason = fmt::format(
            "it stands for `{}` (line {}), which writes only what its key selects, and the caller "
            "sees that part of `{}`",
            writer->callee, writer->at.line, result.storage);
        return;
      }
      result.reason =
          fmt::format("the caller sees {} after the program, and nothing overwrites {} later",
                      through_view ? window : fmt::format("argument `{}`", destination),
                      fate.writer == kNoAccess ? "it" : "all of it");
      if (fate.reader != kNoAccess) result.reader = at_of(fate.reader);
      return;
    }
    if (fate.reader != kNoAccess || fate.at_exit == AtExit::Returned ||
        fate.at_exit == AtExit::Escaped) {
      needed(copy, fate, result);
      return;
    }
    if (fate.may_be_needed() || fate.at_exit == AtExit::Open) {
      result.answer = CopyAnswer::MayAliasUnknown;
      if (fate.at_exit == AtExit::Open) {
        result.reason =
            fmt::format("the text has no return, so what reads {} later is unknown", window);
      } else if (fate.may_reader != kNoAccess) {
        result.reader = at_of(fate.may_reader);
        result.reason =
            fmt::format("{}, which may be the same bytes", reader_text(fate.may_reader));
      } else {
        result.reason = fmt::format(
            "the bytes of {} are not known exactly: its strides cannot be told or its "
            "elements overlap",
            window);
      }
      return;
    }
    if (fate.writer != kNoAccess) {
      const Access& write = aliases_.accesses()[fate.writer];
      result.answer = CopyAnswer::OverwrittenLater;
      result.writer = at_of(fate.writer);
      if (fate.writer_count > 1) {
        result.reason = fmt::format("{} together overwrite {} before anything reads it",
                                    writers_text(fate), window);
        return;
      }
      result.reason = fmt::format("{} ({}) overwrites `{}` before anything reads {}",
                                  place_text(result.writer, write.path), inner_callee(write),
                                  write.name, window);
      return;
    }
    result.answer = CopyAnswer::NeverRead;
    result.reason =
        fmt::format("nothing reads {} afterwards, and the caller cannot see it", window);
  }

  void needed(const CopySite& copy, const CopyFate& fate, CopyFinding& result) const {
    const StorageId storage = copy.destination_at.storage;
    const bool temporary = !aliases_.storages()[storage].is_argument;
    std::string why;
    if (fate.reader != kNoAccess) {
      result.reader = at_of(fate.reader);
      why = reader_text(fate.reader);
    } else if (fate.at_exit == AtExit::Returned) {
      const std::uint32_t statement = *aliases_.return_statement();
      result.reader = trace_.bound_symbols[statement]->at;
      why = fmt::format("{} returns a tensor in the same storage",
                        place_text(result.reader, {statement}));
    } else {
      why = fmt::format("`{}` is stored into an object", result.destination);
    }
    const std::uint32_t until = temporary && last_read_[storage] != kNoAccess
                                    ? std::max(last_read_[storage], copy.end_access)
                                    : fate.reader;
    if (copy.source_at && until != kNoAccess) {
      std::uint32_t change = first_write(copy.source_at->storage, copy.end_access, until);
      std::string_view changed = result.source;
      if (change == kNoAccess && temporary) {
        change = first_write(storage, copy.end_access, until);
        changed = result.destination;
      }
      if (change != kNoAccess) {
        result.answer = CopyAnswer::NeededSeparateBuffer;
        result.writer = at_of(change);
        result.reason =
            fmt::format("{}, and {} changes the storage of `{}`", why,
                        place_text(result.writer, aliases_.accesses()[change].path), changed);
        return;
      }
    }
    if (const std::string_view change = conversion(copy); !change.empty()) {
      result.answer = CopyAnswer::LayoutOrDtypeChange;
      result.reason = fmt::format("{}, and `{}` has another {} than `{}`", why, result.source,
                                  change, result.destination);
      return;
    }
    result.answer = CopyAnswer::NeededByLaterRead;
    result.reason = why;
  }

  [[nodiscard]] std::uint32_t first_write(StorageId storage, std::uint32_t from,
                                          std::uint32_t until) const {
    const std::vector<std::uint32_t>& writes = writes_[storage];
    const auto write = std::lower_bound(writes.begin(), writes.end(), from);
    return write != writes.end() && *write <= until ? *write : kNoAccess;
  }

  // What a copy changes besides the place; empty if nothing that we know of.
  static std::string_view conversion(const CopySite& copy) {
    if (!copy.source_at) return "";
    const Placement& from = *copy.source_at;
    const Placement& to = copy.destination_at;
    if (from.type && to.type && from.type->dtype && to.type->dtype &&
        *from.type->dtype != *to.type->dtype) {
      return "dtype";
    }
    if (from.geometry && to.geometry) {
      if (from.geometry->sizes != to.geometry->sizes) return "shape";
      for (std::size_t d = 0; d < from.geometry->rank(); ++d) {
        const bool moves = from.geometry->sizes[d] > 1;
        if (moves && from.geometry->strides[d] != to.geometry->strides[d]) return "memory layout";
      }
    }
    return "";
  }

  const Trace& trace_;
  const DefUse& def_use_;
  const AliasSets& aliases_;
  std::unordered_map<DefinitionId, std::vector<std::uint32_t>> inherited_readers_;
  std::unordered_map<DefinitionId, std::vector<std::uint32_t>> dels_;
  std::vector<std::uint32_t> last_read_;            // by storage: access index
  std::vector<std::vector<std::uint32_t>> writes_;  // by storage: access indices
  RemoveCopy remove_;
  std::vector<Decision> decisions_;
  std::vector<CopyFate> fates_;
  std::unordered_map<std::size_t, StaleCopy> stale_;
};

}  // namespace

std::vector<CopyFinding> audit_with(const Trace& trace, const ArgumentFacts& facts,
                                    const Trace* earlier, RemoveCopy remove) {
  const DefUse def_use(trace);
  const AliasSets aliases(trace, def_use, facts);
  return CopyAuditor(trace, def_use, aliases, earlier, std::move(remove)).findings();
}

std::vector<CopyFinding> audit(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
                               const Trace* earlier) {
  return CopyAuditor(trace, def_use, aliases, earlier, nullptr).findings();
}

}  // namespace tg
