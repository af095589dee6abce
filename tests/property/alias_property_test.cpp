// The static alias analysis against what happens when the program runs.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/alias_analysis.h"
#include "tests/property/program.h"

namespace tg {
namespace {

// The tensor that each definition was bound to, right after its statement.
std::map<DefinitionId, Tensor> observed_tensors(const test::Program& program,
                                                const DefUse& def_use) {
  std::map<DefinitionId, Tensor> tensors;
  RunObserver observer;
  observer.after = [&](std::uint32_t statement, const Environment& environment) {
    for (const DefinitionId definition : def_use.definitions_of(statement)) {
      const RuntimeValue* value = environment.find(def_use.definitions()[definition].name);
      if (value != nullptr && value->as<Tensor>() != nullptr)
        tensors[definition] = *value->as<Tensor>();
    }
    return Continue::Go;
  };
  const auto result = run(program.trace, program.inputs, {}, &observer);
  if (!result) RC_FAIL(result.error().message);
  return tensors;
}

bool share_bytes(const Tensor& a, const Tensor& b) {
  if (a.storage != b.storage) return false;
  const Footprint bytes_a = footprint(a.geometry, size_bytes(a.dtype));
  const Footprint bytes_b = footprint(b.geometry, size_bytes(b.dtype));
  for (const ByteInterval& x : bytes_a.intervals) {
    for (const ByteInterval& y : bytes_b.intervals) {
      if (x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

// Strides of dims that never move (size 1, or no elements at all) say nothing.
bool same_elements(const Geometry& a, const Geometry& b) {
  if (a.sizes != b.sizes) return false;
  if (element_count(a) == 0) return true;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    if (a.sizes[d] > 1 && a.strides[d] != b.strides[d]) return false;
  }
  return a.offset == b.offset;
}

TEST(AliasProperty, SharedBytesAreMayAliasAndMustAliasShares) {
  EXPECT_TRUE(test::holds("alias soundness", 500, [](const test::ProgramGenes& genes) {
    const test::Program program = test::make_program(genes, {});
    const DefUse def_use(program.trace);
    const AliasSets aliases(program.trace, def_use, program.facts);
    const auto tensors = observed_tensors(program, def_use);
    for (const auto& [a, tensor_a] : tensors) {
      RC_ASSERT(aliases.placement(a) != nullptr);
      for (const auto& [b, tensor_b] : tensors) {
        if (b <= a) continue;
        RC_LOG() << def_use.definitions()[a].name << " and " << def_use.definitions()[b].name
                 << "\n";
        if (tensor_a.storage == tensor_b.storage) RC_ASSERT(aliases.may_alias(a, b));
        if (aliases.must_alias(a, b)) RC_ASSERT(tensor_a.storage == tensor_b.storage);
        const Overlap windows = aliases.windows_overlap(a, b);
        if (windows == Overlap::None) RC_ASSERT(!share_bytes(tensor_a, tensor_b));
        if (windows == Overlap::Same)
          RC_ASSERT(same_elements(tensor_a.geometry, tensor_b.geometry));
      }
    }
  }));
}

TEST(AliasProperty, KnownGeometriesAreTheRealOnes) {
  EXPECT_TRUE(
      test::holds("placements are where tensors lie", 300, [](const test::ProgramGenes& genes) {
        const test::Program program = test::make_program(genes, {});
        const DefUse def_use(program.trace);
        const AliasSets aliases(program.trace, def_use, program.facts);
        for (const auto& [definition, tensor] : observed_tensors(program, def_use)) {
          const Placement& at = *aliases.placement(definition);
          RC_LOG() << def_use.definitions()[definition].name << "\n";
          // Types and arguments are all known here, so the analysis knows everything.
          RC_ASSERT(at.geometry.has_value());
          RC_ASSERT(!at.maybe);
          RC_ASSERT(same_elements(*at.geometry, tensor.geometry));
          RC_ASSERT(at.element_bytes == size_bytes(tensor.dtype));
        }
      }));
}

TEST(AliasProperty, StorageChangesOnlyWhereAWriteIsSeen) {
  EXPECT_TRUE(test::holds("writes are seen", 300, [](const test::ProgramGenes& genes) {
    const test::Program program = test::make_program(genes, {});
    const DefUse def_use(program.trace);
    const AliasSets aliases(program.trace, def_use, program.facts);
    std::map<const Storage*, std::vector<std::byte>> before;
    std::map<const Storage*, StorageId> storage_of;
    RunObserver observer;
    observer.before = [&](std::uint32_t, const Environment& environment) {
      before.clear();
      for (const auto& [name, value] : environment.bindings()) {
        if (const Tensor* tensor = value.as<Tensor>())
          before[tensor->storage.get()] = tensor->storage->bytes;
      }
      return Continue::Go;
    };
    observer.after = [&](std::uint32_t statement, const Environment& environment) {
      std::set<StorageId> written;
      for (const Access* access : aliases.accesses_of(statement)) {
        if (access->kind == AccessKind::Write || access->kind == AccessKind::MayWrite) {
          written.insert(access->storage);
        }
      }
      for (const auto& [name, value] : environment.bindings()) {
        const Tensor* tensor = value.as<Tensor>();
        if (tensor == nullptr) continue;
        const DefinitionId definition = def_use.reaching(name, statement + 1);
        const auto old = before.find(tensor->storage.get());
        if (old == before.end() || old->second == tensor->storage->bytes) continue;
        RC_LOG() << "statement " << statement << " changes " << name << "\n";
        RC_ASSERT(written.contains(aliases.placement(definition)->storage));
      }
      return Continue::Go;
    };
    const auto result = run(program.trace, program.inputs, {}, &observer);
    RC_ASSERT(result.has_value());
  }));
}

}  // namespace
}  // namespace tg
