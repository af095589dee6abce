// Alias analysis: which definitions share storage, who writes, who reads which version. Static: nothing runs.
// It looks inside composites (ltorch.copy_, batch_norm) and fusion regions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/def_use.h"
#include "core/ir/geometry.h"

namespace tg {

using StorageId = std::uint32_t;

// What the user or a recording says about the arguments.
struct ArgumentFacts {
  struct Window {            // argument `name` is this window onto storage number `storage`
    std::string name;
    std::uint32_t storage = 0;
    Geometry geometry;
  };
  std::vector<Window> windows;       // arguments not listed: own storage, contiguous
  bool may_alias_each_other = false; // nothing is known: equal device means "may share"
};

// "b=a", "b=a[1:3]", "b=a.view(4)", "b=a.t()": the text after --alias. Types give the shapes.
// Diagnostics: bad-alias (syntax, unknown argument, cycle, shape does not fit).
Result<ArgumentFacts> parse_alias_options(const Trace& trace, const std::vector<std::string>& options);

// A tensor definition and where it lies.
struct Placement {
  StorageId storage = 0;
  std::optional<Geometry> geometry;  // within the storage; empty when strides cannot be told
  bool maybe = false;                // reshape, contiguous, to...: shares `maybe_of`'s storage or is fresh
  std::vector<StorageId> maybe_of;   // storages that it may share besides its own
};

enum class AccessKind : std::uint8_t { Read, Write, MayWrite, MakeView, Allocate };

// One touch of a storage. `path` walks into sub-statements: {3, 1} is sub-statement 1 of statement 3.
struct Access {
  std::vector<std::uint32_t> path;
  AccessKind kind = AccessKind::Read;
  StorageId storage = 0;
  std::string name;                   // the name used there
  std::optional<Geometry> geometry;
  std::uint32_t version = 0;          // of the storage: the version read, or the version that the write makes
};

struct StorageFacts {
  std::string label;        // "x" for an argument's storage, else the name of the first tensor in it
  bool is_argument = false;
  std::optional<std::uint64_t> bytes;
  std::vector<std::string> names;     // every definition that lives in it, in order of definition
  std::uint32_t versions = 1;         // 1 + number of (may-)writes
};

// A composite runs by its sub-statements or as one operation, as the interpreter does (run rules of
// passes.md 3.1 and 5.3). All results are by depth-0 definition unless said otherwise.
class AliasSets {
 public:
  AliasSets(const Trace& trace, const DefUse& def_use, const ArgumentFacts& facts = {});
  [[nodiscard]] const std::vector<StorageFacts>& storages() const { return storages_; }
  [[nodiscard]] const std::vector<Access>& accesses() const { return accesses_; }  // in execution order
  [[nodiscard]] const Placement* placement(DefinitionId definition) const;  // null: no tensor
  [[nodiscard]] bool must_alias(DefinitionId a, DefinitionId b) const;
  [[nodiscard]] bool may_alias(DefinitionId a, DefinitionId b) const;
  // Definitions in the same storage, itself included.
  [[nodiscard]] std::vector<DefinitionId> views_of(DefinitionId definition) const;
  [[nodiscard]] std::vector<const Access*> writes_to(StorageId storage) const;
  [[nodiscard]] std::vector<const Access*> accesses_of(std::uint32_t statement) const;

 private:
  friend class AliasBuilder;
  std::vector<StorageFacts> storages_;
  std::vector<Access> accesses_;
  std::vector<std::optional<Placement>> placements_;
};

}  // namespace tg
