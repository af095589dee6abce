// Alias analysis: which definitions share storage, who writes, who reads which version. Static:
// nothing runs. It looks inside composites (ltorch.copy_, batch_norm) and fusion regions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/def_use.h"
#include "core/analysis/footprint.h"
#include "core/ir/geometry.h"

namespace tg {

using StorageId = std::uint32_t;
constexpr std::uint32_t kNoAccess = 0xffffffffU;

// What the user or a recording says about the arguments.
struct ArgumentFacts {
  struct Window {  // argument `name` is this window onto storage number `storage`
    std::string name;
    std::uint32_t storage = 0;
    Geometry geometry;
  };
  std::vector<Window> windows;  // arguments not listed: own storage, contiguous
  bool may_alias_each_other =
      false;  // nothing is known: equal device means "may share", any strides
};

// "b=a", "b=a[1:3]", "b=a.view(4)", "b=a.t()": the text after --alias. Types give the shapes.
// Diagnostics: bad-alias (syntax, cycle, shape does not fit), unknown-argument.
Result<ArgumentFacts> parse_alias_options(const Trace& trace,
                                          const std::vector<std::string>& options);

// A tensor definition and where it lies.
struct Placement {
  StorageId storage = 0;
  std::optional<Geometry> geometry;  // within the storage; empty when strides cannot be told
  bool maybe = false;  // reshape, contiguous, to...: shares `maybe_of`'s storage or is fresh
  std::vector<StorageId> maybe_of;  // storages that it may share besides its own
  bool may_be_anything = false;     // what it is stands in a part of the text that is missing
  bool whole = false;  // it is all of its storage that can be reached, shape known or not
  std::uint32_t element_bytes = 0;  // 0: dtype unknown
  TypeRef type;                     // null when the text does not tell
};

enum class AccessKind : std::uint8_t { Read, Write, MayWrite, MakeView, Allocate };

// One touch of a storage. `path` walks into sub-statements: {3, 1} is sub-statement 1 of
// statement 3. A touch through a name that may share several storages is one access for each of
// them, `maybe` set.
struct Access {
  std::vector<std::uint32_t> path;
  AccessKind kind = AccessKind::Read;
  StorageId storage = 0;
  std::string_view name;  // the name used there; into the trace
  std::optional<Geometry> geometry;
  std::uint32_t version =
      0;  // of the storage: the version read, or the version that the write makes
  std::uint32_t element_bytes = 0;
  bool whole = false;
  bool maybe = false;
  bool everything = false;  // touches every storage there is: elided text, unknown names
  SourceRange at;
};

// The bytes that an access touches; inexact when strides are unknown or too many pieces.
Footprint footprint_of(const Access& access);

// One copy_ in any spelling and at any depth, or the write of an in-place operation that prints no
// copy_.
struct CopySite {
  enum class Form : std::uint8_t {
    Statement,  // a copy_ at depth 0
    InPlace,    // the copy_ inside an in-place operation
    Inner,      // inside a composite
    Region,     // inside a fusion region
  };
  std::vector<std::uint32_t> path;  // of the copy_ itself
  Form form = Form::Statement;
  const BoundSymbol* statement = nullptr;
  std::string_view source;  // name copied from, empty for a number
  std::string_view destination;
  std::optional<Placement>
      source_at;  // empty: not known here (inner value of an in-place operation)
  Placement destination_at;
  // Its accesses: reads [first_access, write), writes [write, end_access). kNoAccess: never
  // executed.
  std::uint32_t first_access = kNoAccess;
  std::uint32_t write = kNoAccess;
  std::uint32_t end_access = kNoAccess;
};

// A fusion region: its accesses are [first_access, end_access).
struct RegionSpan {
  std::uint32_t statement = 0;
  std::uint32_t first_access = 0;
  std::uint32_t end_access = 0;
  StorageId first_storage = 0;  // storages from here on are made inside
};

struct StorageFacts {
  std::string label;  // "x" for an argument's storage, else the name of the first tensor in it
  bool is_argument = false;
  bool escapes = false;  // stored into a module or object: `obj.buffer = t3`
  std::optional<std::uint64_t> bytes;
  std::vector<std::string>
      names;  // every depth-0 definition that lives in it, in order of definition
  std::vector<DefinitionId> definitions;
  std::uint32_t versions = 1;  // 1 + number of (may-)writes
  std::string device;          // "" when unknown
};

// A composite runs by its sub-statements or as one operation, as the interpreter does (run rules of
// passes.md 3.1 and 5.3). All results are by depth-0 definition unless said otherwise.
class AliasSets {
 public:
  // `trace` and `def_use` must outlive it.
  AliasSets(const Trace& trace, const DefUse& def_use, const ArgumentFacts& facts = {});
  [[nodiscard]] const std::vector<StorageFacts>& storages() const { return storages_; }
  [[nodiscard]] const std::vector<Access>& accesses() const {
    return accesses_;
  }  // in execution order
  [[nodiscard]] const std::vector<CopySite>& copies() const {
    return copies_;
  }  // in execution order
  [[nodiscard]] const std::vector<RegionSpan>& regions() const { return regions_; }
  [[nodiscard]] const Placement* placement(DefinitionId definition) const;  // null: no tensor
  // Same storage for certain (the windows may still be disjoint: see windows_overlap).
  [[nodiscard]] bool must_alias(DefinitionId a, DefinitionId b) const;
  [[nodiscard]] bool may_alias(DefinitionId a, DefinitionId b) const;
  // Do the two address common bytes? None when they do not even share storage.
  [[nodiscard]] Overlap windows_overlap(DefinitionId a, DefinitionId b) const;
  // Definitions in the same storage, itself included.
  [[nodiscard]] std::vector<DefinitionId> views_of(DefinitionId definition) const;
  [[nodiscard]] std::vector<const Access*> writes_to(StorageId storage) const;
  // All touches of a storage in execution order: what happens to it.
  [[nodiscard]] std::vector<const Access*> history_of(StorageId storage) const;
  [[nodiscard]] std::vector<const Access*> accesses_of(std::uint32_t statement) const;
  [[nodiscard]] bool arguments_may_alias() const { return arguments_may_alias_; }
  // Index of the return statement that ends the run; empty when the text has none.
  [[nodiscard]] std::optional<std::uint32_t> return_statement() const { return return_statement_; }

 private:
  friend class AliasBuilder;
  void index_accesses();

  std::vector<StorageFacts> storages_;
  std::vector<Access> accesses_;
  std::vector<CopySite> copies_;
  std::vector<RegionSpan> regions_;
  std::vector<std::optional<Placement>> placements_;    // by definition
  std::vector<std::vector<std::uint32_t>> by_storage_;  // access indices
  bool arguments_may_alias_ = false;
  std::optional<std::uint32_t> return_statement_;
};

// "version 1  line 15  t2 = ltorch.mul_(x, 2.0)  writes x" and so on, one line per touch.
std::string history_text(const Trace& trace, const AliasSets& aliases, StorageId storage);

}  // namespace tg
