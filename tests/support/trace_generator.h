// Random valid traces for property tests. A program grows from genes: any genes give a valid
// program, so removing genes and making their numbers smaller shrinks it. Programs go through the
// parser as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tg::test {

// What one statement (or argument) is made from. Numbers are taken modulo what is possible at that
// point.
struct Gene {
  std::uint32_t kind = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

struct ProgramGenes {
  std::vector<Gene> arguments;
  std::vector<Gene> statements;
  std::vector<std::uint32_t> returns;
};

// What programs may contain. Everything is on by default.
struct ProgramKinds {
  bool aliased_arguments = true;  // --alias
  bool partial_windows =
      true;  // aliased arguments that are not the same elements: b=a[1:], b=a.t()
  bool views = true;
  bool writes_through_views = true;  // in-place operations and copies onto views
  bool raw_copies = true;            // prims.copy_
  bool torch_copies = true;          // ltorch.copy_
  bool converting_copies = true;     // broadcast and dtype conversion inside copy_
  bool setitem = true;
  bool regions = true;  // nvFusion0 with a copy_ inside
  bool updates = true;  // update_aliases, shallow_copy
  bool dels = true;
  bool maybe_views = true;  // reshape, contiguous, to, flatten
  bool zero_sizes = true;
  bool in_place = true;
  bool untagged_writes = true;  // in-place operations that Thunder does not tag as such (relu_)
  bool reads_of_written_bases =
      true;                    // false: once a tensor is written, only its newest name is used
  bool wrapped_return = true;  // {'output': ..., 'flat_args': [...]}
};

struct GeneratedProgram {
  std::string text;                  // one trace as Thunder prints it
  std::vector<std::string> aliases;  // --alias options
};

GeneratedProgram grow(const ProgramGenes& genes, const ProgramKinds& kinds = {});

}  // namespace tg::test
