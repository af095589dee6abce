// NameTable: the names of a trace as dense numbers, with what the text tells about each of them.
// Built once per pass, so that maps over names are arrays.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

using NameId = std::uint32_t;
constexpr NameId kNoName = 0xffffffffU;

// Requires that the statements outlive it. Linear in the trace, sub-statements included.
class NameTable {
 public:
  explicit NameTable(const Trace& trace);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] NameId find(std::string_view text) const;  // kNoName when no statement mentions it
  [[nodiscard]] std::string_view text(NameId id) const { return entries_[id].text; }
  [[nodiscard]] const TypeRef& type(NameId id) const { return entries_[id].type; }  // null: unknown
  // A value of the program, in contrast to words such as `float` or `_torch_memory_format_0`.
  [[nodiscard]] bool is_proxy(NameId id) const { return entries_[id].defined; }
  // A tensor; a proxy whose type the text does not tell counts as one.
  [[nodiscard]] bool is_tensor(NameId id) const;
  [[nodiscard]] bool is_number(NameId id) const;
  [[nodiscard]] bool is_collection(NameId id) const;
  [[nodiscard]] const std::vector<std::int64_t>* shape(NameId id) const;  // null: unknown
  [[nodiscard]] std::optional<std::int64_t> elements(NameId id) const;

  // A new name "t<n>" that no statement has. Thunder's counters cannot be known from the text;
  // traces are compared up to a renaming of fresh names.
  NameId fresh(TypeRef type);

 private:
  struct Entry {
    std::string_view text;
    TypeRef type;
    bool defined = false;
    bool unpacked = false;  // a sequence that a statement takes apart
  };
  NameId intern(std::string_view text);
  void define(std::string_view text, const TypeRef& type);
  void collect(const BoundSymbol& statement);

  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, NameId> ids_;
  std::deque<std::string> fresh_texts_;
  std::uint64_t next_number_ = 0;
};

}  // namespace tg
