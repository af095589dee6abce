// Recognises recordings by their files. Internal to core/golden.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/recording.h"

namespace tg::golden {

enum class SuiteKind : std::uint8_t {
  Seed,        // trace.txt or fusion.py with values.json
  Passes2024,  // stages/index.json with `calls`
  Passes2026,  // index.json with `events`
  Large,       // index.json with *.zst
  Corpus,      // plain trace texts
  Paste,       // NAME.expected.json beside NAME.*
  Case,        // NN-slug.md
  PassCase,    // ID.txt that begins with "### ID"
  Region,      // region.txt
  Definition,  // io.json, or definition.txt of the oldest front end
  Calls,       // *.jsonl
  Fx,          // phases/
};

std::string_view suite_name(SuiteKind kind);

// One recording: a folder, or a single file of suites that have a file per recording.
struct Unit {
  SuiteKind kind = SuiteKind::Corpus;
  std::string id;  // path relative to what the user named
  std::shared_ptr<const RecordingTree> tree;
  std::string folder;              // within the tree, with '/' at the end, or ""
  std::vector<std::string> files;  // relative to folder, sorted

  [[nodiscard]] bool has(std::string_view file) const;
  [[nodiscard]] Result<std::string> read(std::string_view file) const;
};

// Units in path order. Archives within a folder are opened under their stem.
Result<std::vector<Unit>> find_recordings(const std::string& path);

}  // namespace tg::golden
