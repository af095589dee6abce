#include "core/edit/move.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/text/printer.h"

namespace tg {
namespace {

bool writes(const Access& access) {
  return access.kind == AccessKind::Write || access.kind == AccessKind::MayWrite ||
         access.kind == AccessKind::Allocate;
}
bool touches_bytes(const Access& access) {
  return access.kind != AccessKind::MakeView;
}

// Can the two touch a common byte? Exact where geometry and element size are known.
bool may_meet(const Access& a, const Access& b) {
  if (a.everything || b.everything) return true;
  if (a.storage != b.storage) return false;
  if (!a.geometry || !b.geometry || a.element_bytes == 0 || a.element_bytes != b.element_bytes)
    return true;
  return overlap(*a.geometry, *b.geometry) != Overlap::None;
}

std::string line_text(const Trace& trace, std::uint32_t statement) {
  const BoundSymbol& symbol = *trace.bound_symbols[statement];
  return symbol.at.line == 0 ? fmt::format("'{}'", one_line(symbol))
                             : fmt::format("line {}", symbol.at.line);
}

std::string name_of(const Access& access, const AliasSets& aliases) {
  return access.name.empty() ? aliases.storages()[access.storage].label : std::string(access.name);
}

// Does `reader` read a definition that `maker` makes?
std::optional<std::string_view> read_from(const DefUse& def_use, std::uint32_t reader,
                                          std::uint32_t maker) {
  for (const DefinitionId id : def_use.reads_of(reader)) {
    if (id != kNoDefinition && def_use.definitions()[id].statement == maker)
      return def_use.definitions()[id].name;
  }
  return std::nullopt;
}

bool is_fixed(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Return ||
         statement.kind == StatementKind::UnpackTrivial ||
         statement.kind == StatementKind::Elision || statement.kind == StatementKind::Unparsed;
}

}  // namespace

std::optional<std::string> conflict(const Trace& trace, const DefUse& def_use,
                                    const AliasSets& aliases, std::uint32_t statement,
                                    std::uint32_t other) {
  const BoundSymbol& passed = *trace.bound_symbols[other];
  const std::string place = line_text(trace, other);
  if (passed.kind == StatementKind::Return) return "nothing runs after the return";
  if (passed.kind == StatementKind::UnpackTrivial) return fmt::format("{} is an argument", place);
  if (is_fixed(passed)) return fmt::format("{} stands where it is", place);
  if (const auto name = read_from(def_use, statement, other))
    return fmt::format("{} defines {}", place, *name);
  if (const auto name = read_from(def_use, other, statement)) {
    return fmt::format("{} reads {}, which it defines", place, *name);
  }
  const bool drops = passed.kind == StatementKind::Del;
  if (drops || trace.bound_symbols[statement]->kind == StatementKind::Del) {
    for (const std::string_view mine : argument_names(*trace.bound_symbols[statement])) {
      for (const std::string_view theirs : argument_names(passed)) {
        if (mine == theirs)
          return fmt::format("{} {} {}", place, drops ? "drops" : "reads", theirs);
      }
    }
  }
  for (const std::string_view name : output_names(*trace.bound_symbols[statement])) {
    if (name == "_") continue;
    for (const std::string_view others : output_names(passed)) {
      if (name == others) return fmt::format("{} binds {} too", place, name);
    }
    for (const std::string_view read : argument_names(passed)) {
      if (name == read) return fmt::format("{} reads the {} from before", place, name);
    }
  }
  for (const std::string_view name : output_names(passed)) {
    for (const std::string_view read : argument_names(*trace.bound_symbols[statement])) {
      if (name == read && name != "_")
        return fmt::format("{} binds {} again, which it reads", place, name);
    }
  }
  for (const Access* mine : aliases.accesses_of(statement)) {
    if (!touches_bytes(*mine)) continue;
    for (const Access* theirs : aliases.accesses_of(other)) {
      if (!touches_bytes(*theirs) || (!writes(*mine) && !writes(*theirs)) ||
          !may_meet(*mine, *theirs))
        continue;
      const std::string a = name_of(*mine, aliases);
      const std::string b = name_of(*theirs, aliases);
      const std::string shared = a == b ? "" : fmt::format(" (it shares storage with {})", a);
      if (!writes(*mine)) return fmt::format("{} writes {}{}, which it reads", place, b, shared);
      if (writes(*theirs)) return fmt::format("{} writes {}{} too", place, b, shared);
      return other < statement
                 ? fmt::format("{} reads the old {}{}, which it overwrites", place, b, shared)
                 : fmt::format("{} reads the new {}{}, which it writes", place, b, shared);
    }
  }
  // Two prints, or random numbers drawn in order, are observable too.
  const BoundSymbol& moved = *trace.bound_symbols[statement];
  const auto random = [](const BoundSymbol& s) {
    return s.kind == StatementKind::Call && s.op_info().has(kRandom);
  };
  if (random(moved) && random(passed)) return fmt::format("{} draws random numbers too", place);
  if (moved.kind == StatementKind::Print && passed.kind == StatementKind::Print) {
    return fmt::format("{} prints too", place);
  }
  return std::nullopt;
}

MoveRange legal_moves(const Trace& trace, const DefUse& def_use, const AliasSets& aliases,
                      std::uint32_t statement) {
  MoveRange range;
  range.earliest = range.latest = statement;
  if (is_fixed(*trace.bound_symbols[statement])) {
    const MoveObstacle fixed{statement, "it stands where it is"};
    range.above = range.below = fixed;
    return range;
  }
  while (range.earliest > 0 && !range.above) {
    const std::uint32_t other = range.earliest - 1;
    if (auto reason = conflict(trace, def_use, aliases, statement, other)) {
      range.above = MoveObstacle{other, std::move(*reason)};
    } else {
      --range.earliest;
    }
  }
  while (range.latest + 1 < trace.bound_symbols.size() && !range.below) {
    const std::uint32_t other = range.latest + 1;
    if (auto reason = conflict(trace, def_use, aliases, statement, other)) {
      range.below = MoveObstacle{other, std::move(*reason)};
    } else {
      ++range.latest;
    }
  }
  return range;
}

}  // namespace tg
