// ProgramView: one program with everything that the looking commands ask about it, computed once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/address.h"
#include "app/listing.h"
#include "core/analysis/alias_analysis.h"
#include "core/analysis/def_use.h"
#include "core/ir/trace.h"

namespace tg {

class ProgramView {
 public:
  // `target` is kept; `facts` tell about aliased arguments.
  explicit ProgramView(Target target, const ArgumentFacts& facts = {});

  [[nodiscard]] const Trace& trace() const { return target_.trace(); }
  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] const BoundSymbol& statement(std::uint32_t index) const {
    return *trace().bound_symbols[index];
  }
  [[nodiscard]] const DefUse& def_use() const { return def_use_; }
  [[nodiscard]] const AliasSets& aliases() const { return aliases_; }
  [[nodiscard]] const TypeTable& types() const { return types_; }
  [[nodiscard]] const std::vector<ListedLine>& lines() const { return lines_; }
  // Line of a statement as the user counts; 0 when unknown.
  [[nodiscard]] std::uint32_t number(std::uint32_t statement) const { return numbers_[statement]; }
  // "line 12", or "argument" for what has no line.
  [[nodiscard]] std::string line_text(std::uint32_t statement) const;

  // "[S0 x, t1]": the storage that the statement's result lies in, with the names in it. Empty for
  // results that share with nothing, unless `every`.
  [[nodiscard]] std::string badge(std::uint32_t statement, bool every = false) const;
  // 'W' writes, 'V' view, '~' may be a view, 'A' argument, 'R' return, 'D' del, ' ' else.
  [[nodiscard]] char mark(std::uint32_t statement) const;
  // The last definition of a name; kNoDefinition if there is none.
  [[nodiscard]] DefinitionId definition(std::string_view name) const;
  // Every definition of a name in order.
  [[nodiscard]] std::vector<DefinitionId> definitions(std::string_view name) const;
  // Path of an argument in the user's call, empty if the file has no prologue that tells.
  [[nodiscard]] std::string argument_path(std::string_view parameter) const;

 private:
  Target target_;
  DefUse def_use_;
  AliasSets aliases_;
  TypeTable types_;
  std::vector<ListedLine> lines_;
  std::vector<std::uint32_t> numbers_;
  std::unordered_map<std::string, std::string> paths_;  // by parameter
};

// What a phase consists of, as `info` counts.
struct PhaseCounts {
  std::size_t statements = 0;  // at depth 0, without annotations, unpacking, del and return
  std::size_t arguments = 0;
  std::size_t copies = 0;    // copy_ of every spelling, inside composites and fusions too
  std::size_t in_place = 0;  // in-place operations at depth 0
  std::size_t fusions = 0;
  std::size_t unknown = 0;  // callees of no table without known sub-statements
  std::uint64_t bytes_copied = 0;
  bool bytes_known = true;  // false: some copy's type is not concrete
};
PhaseCounts count_phase(const Trace& trace);

// A value as it was when the program was traced: "3" of a type comment `"int 3"`; empty for tensors
// and unknown numbers.
std::string trace_time_value(const Type& type);

}  // namespace tg
