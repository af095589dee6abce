// Renaming of values inside statements, and the two maps that Thunder's passes rename by.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/pass/name_table.h"

namespace tg {

struct SwapParts {
  bool inputs = true;
  bool output = true;
  bool subsymbols = true;  // with the same choice of inputs and output
};

// kNoName: keep the name.
using NameLookup = std::function<NameId(NameId)>;

// The statement with its names replaced; the same object when none of them is. Header, position and
// keyword names stay; the type comment follows a renamed single output.
BoundSymbolRef swap_names(const BoundSymbolRef& statement, const NameTable& names,
                          const NameLookup& lookup, SwapParts parts = {});

// old name -> new name, read through chains. A later entry for the same name replaces the earlier
// one.
class SwapMap {
 public:
  [[nodiscard]] bool empty() const { return order_.empty(); }
  void set(NameId from, NameId to);
  [[nodiscard]] NameId direct(NameId name) const;  // kNoName if the name is no key
  // End of the chain from `name`, kNoName if the name is no key. A cycle gives kNoName and sets
  // `*cycle`.
  [[nodiscard]] NameId end(NameId name, bool* cycle) const;
  [[nodiscard]] const std::vector<NameId>& keys() const {
    return order_;
  }  // in order of first entry

 private:
  std::vector<NameId> target_;  // by name
  std::vector<NameId> order_;
  // Where the last walk from a name ended; valid while no key was given another target since.
  struct Shortcut {
    NameId end = kNoName;
    std::uint32_t epoch = 0;
  };
  mutable std::vector<Shortcut> shortcuts_;
  std::uint32_t epoch_ = 1;
};

// A SwapMap in which every chain is shortened after each change, as Thunder's functionalization
// does it: a name keeps pointing to the end that its chain had then, even if a name in the middle
// gets another target later. Near-constant time per operation (sets of names that end alike).
class ShortenedSwapMap {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // False when the entry closes a cycle: Thunder's shortening would not terminate.
  [[nodiscard]] bool set(NameId from, NameId to);
  [[nodiscard]] NameId end(NameId name) const;  // kNoName if the name is no key

 private:
  using Node = std::uint32_t;
  [[nodiscard]] Node find(Node node) const;
  Node root_node(NameId name);
  void grow(NameId name);

  std::vector<Node> key_node_;  // by name: its node, kNone when the name is no key
  std::vector<Node> end_node_;  // by name: the node of the set of names that end in it
  mutable std::vector<Node> parent_;
  std::vector<NameId> end_name_;  // by root node
  std::size_t size_ = 0;
};

}  // namespace tg
