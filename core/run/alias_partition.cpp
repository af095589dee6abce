#include "core/run/alias_partition.h"

#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "core/ir/type.h"

namespace tg {
namespace {

using Member = AliasPartition::Member;

void append_members(AliasPartition& partition,
                    std::unordered_map<const Storage*, std::uint32_t>& numbers,
                    const NamedValue& value) {
  std::size_t count = 0;
  for_each_tensor(value.value, [&](const Tensor&) { ++count; });
  std::size_t index = 0;
  const bool alone = value.value.as<Tensor>() != nullptr;
  for_each_tensor(value.value, [&](const Tensor& tensor) {
    const auto [found, is_new] =
        numbers.emplace(tensor.storage.get(), static_cast<std::uint32_t>(numbers.size()));
    Member member;
    member.name = alone ? value.name : fmt::format("{}[{}]", value.name, index++);
    member.storage = found->second;
    member.offset_bytes = tensor.offset_bytes();
    member.geometry = tensor.geometry;
    member.dtype = tensor.dtype;
    partition.members.push_back(std::move(member));
  });
}

bool is_output(const Member& member) {
  return member.name.starts_with("out[");
}

struct Pair {
  const Member* left;
  const Member* right;
};

// Of a group of members the one that says most: an argument before an output.
const Pair& speaker(const std::vector<Pair>& group) {
  for (const Pair& pair : group) {
    if (!is_output(*pair.left)) return pair;
  }
  return group.front();
}

void add(std::vector<Difference>& out, DifferenceKind kind, const Member& a, const Member& b,
         std::string message, std::string left, std::string right, bool accepted) {
  Difference difference;
  difference.kind = kind;
  difference.subject = fmt::format("{} and {}", a.name, b.name);
  difference.message = std::move(message);
  difference.left = std::move(left);
  difference.right = std::move(right);
  difference.accepted = accepted;
  out.push_back(std::move(difference));
}

using Groups = std::map<std::uint32_t, std::vector<Pair>>;

Groups grouped(const std::vector<Pair>& pairs, bool by_left) {
  Groups groups;
  for (const Pair& pair : pairs)
    groups[by_left ? pair.left->storage : pair.right->storage].push_back(pair);
  return groups;
}

void report_lost(const std::vector<Pair>& group, bool thunder, std::vector<Difference>& out) {
  const Pair& first = speaker(group);
  const Groups parts = grouped(group, false);
  for (const auto& [storage, part] : parts) {
    if (storage == first.right->storage) continue;
    const Pair& other = speaker(part);
    // D1-D3: a result may be a fresh tensor of equal value. Arguments never come apart (D9).
    const bool accepted = thunder && (is_output(*other.left) || is_output(*first.left));
    const std::string message =
        is_output(*first.left) || is_output(*other.left)
            ? fmt::format("{} no longer shares storage with {}", other.left->name, first.left->name)
            : fmt::format("arguments {} and {} no longer share storage", first.left->name,
                          other.left->name);
    add(out, DifferenceKind::AliasLost, *first.left, *other.left, message, "shared", "separate",
        accepted);
  }
}

void report_gained(const std::vector<Pair>& group, bool thunder, std::vector<Difference>& out) {
  const Pair& first = speaker(group);
  const Groups parts = grouped(group, true);
  for (const auto& [storage, part] : parts) {
    if (storage == first.left->storage) continue;
    const Pair& other = speaker(part);
    // D2: separate results may become one tensor (common subexpressions). A result that is now an
    // argument's memory is another matter: a later write by the caller would show.
    const bool accepted = thunder && is_output(*first.left) && is_output(*other.left);
    add(out, DifferenceKind::AliasGained, *first.left, *other.left,
        fmt::format("{} now shares storage with {}", other.left->name, first.left->name),
        "separate", "shared", accepted);
  }
}

// Members that share on both sides: the distance between them must be the same.
void report_offsets(const std::vector<Pair>& group, std::vector<Difference>& out) {
  const Pair& first = speaker(group);
  for (const Pair& pair : group) {
    const std::int64_t left = pair.left->offset_bytes - first.left->offset_bytes;
    const std::int64_t right = pair.right->offset_bytes - first.right->offset_bytes;
    if (left == right) continue;
    add(out, DifferenceKind::AliasOffset, *first.left, *pair.left,
        fmt::format("{} starts {} and {} bytes behind {}", pair.left->name, left, right,
                    first.left->name),
        fmt::format("{} B", left), fmt::format("{} B", right), false);
  }
}

}  // namespace

AliasPartition alias_partition(const RunResult& result) {
  AliasPartition partition;
  std::unordered_map<const Storage*, std::uint32_t> numbers;
  for (const NamedValue& argument : result.final_arguments)
    append_members(partition, numbers, argument);
  for (const NamedValue& output : result.outputs) append_members(partition, numbers, output);
  return partition;
}

std::string to_text(const AliasPartition& partition) {
  std::map<std::uint32_t, std::vector<const Member*>> groups;
  for (const Member& member : partition.members) groups[member.storage].push_back(&member);
  std::string text;
  for (const auto& [storage, members] : groups) {
    if (members.size() < 2) continue;
    if (!text.empty()) text += " | ";
    const std::int64_t base = members.front()->offset_bytes;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) text += ' ';
      text += members[i]->name;
      if (members[i]->offset_bytes != base)
        text += fmt::format("({:+} B)", members[i]->offset_bytes - base);
    }
  }
  return text.empty() ? "none" : text;
}

void compare_partitions(const AliasPartition& left, const AliasPartition& right,
                        const CompareOptions& options, std::vector<Difference>& out) {
  std::unordered_map<std::string_view, const Member*> on_the_right;
  for (const Member& member : right.members) on_the_right.emplace(member.name, &member);
  std::vector<Pair> pairs;
  for (const Member& member : left.members) {
    // A tensor without elements has no memory to share; PyTorch's pointer of it is null.
    const auto found = on_the_right.find(member.name);
    if (found == on_the_right.end() || element_count(member.geometry) == 0) continue;
    pairs.push_back({&member, found->second});
  }
  const bool thunder = options.contract == CompareOptions::Contract::Thunder;
  for (const auto& [storage, group] : grouped(pairs, true)) {
    report_lost(group, thunder, out);
    for (const auto& [other, part] : grouped(group, false)) report_offsets(part, out);
  }
  for (const auto& [storage, group] : grouped(pairs, false)) report_gained(group, thunder, out);
}

}  // namespace tg
