// NameTable: the names of a trace as dense numbers, with what the text tells about each of them.
// Built once per pass, so that maps over names are arrays.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ir/trace.h"

namespace tg {

using NameId = std::uint32_t;
constexpr NameId kNoName = 0xffffffffU;

// Texts as dense numbers, in order of insertion. Requires that the texts outlive it. Most names of
// a trace are a letter and a number (t1234): those are found in an array by their number, so that
// neighbours in the trace are neighbours in memory. Others are hashed.
class NameIndex {
 public:
  void reserve(std::size_t count);
  [[nodiscard]] NameId find(std::string_view text) const;  // kNoName when it is not there
  // The number of the text, and whether it is new.
  std::pair<NameId, bool> insert(std::string_view text);

 private:
  struct Slot {
    std::uint64_t word = 0;  // the text itself up to 8 bytes, else its hash
    NameId id = kNoName;
    std::uint32_t length = 0;
  };
  struct Numbered {
    std::size_t letter = 0;
    std::size_t number = 0;
  };
  // "t12"; empty for other texts. No leading zero: t012 is another name than t12.
  [[nodiscard]] static std::optional<Numbered> numbered(std::string_view text);
  [[nodiscard]] static std::uint64_t word_of(std::string_view text);
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t word) const;
  [[nodiscard]] NameId find_hashed(std::string_view text) const;

  std::array<std::vector<NameId>, 26> by_number_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  unsigned shift_ = 60;      // 64 less the number of bits of an index
  std::size_t hashed_ = 0;
  std::vector<std::string_view> texts_;
};

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
  // Fresh names get this number or a higher one: passes in a row must not give a new value the name
  // of one that an earlier pass dropped.
  void start_fresh_at(std::uint64_t number) { next_number_ = std::max(next_number_, number); }
  [[nodiscard]] std::uint64_t next_number() const { return next_number_; }

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
  void take_types_of_inputs(const BoundSymbol& statement);
  void avoid_names(std::string_view header);

  std::vector<Entry> entries_;
  NameIndex ids_;
  std::deque<std::string> fresh_texts_;
  std::uint64_t next_number_ = 0;
};

}  // namespace tg
