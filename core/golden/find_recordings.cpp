#include "core/golden/find_recordings.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/text/paste.h"

namespace tg::golden {
namespace {

namespace fs = std::filesystem;

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
}

std::string_view name_of(std::string_view path) {
  return path.substr(folder_of(path).size());
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// 57-three-names-one-storage.md
bool is_case_name(std::string_view name) {
  return name.size() > 6 && is_digit(name[0]) && is_digit(name[1]) && name[2] == '-' &&
         name.ends_with(".md");
}

// T20.txt
bool is_pass_case_name(std::string_view name) {
  return name.size() == 7 && (name[0] == 'A' || name[0] == 'H' || name[0] == 'T') &&
         is_digit(name[1]) && is_digit(name[2]) && name.ends_with(".txt");
}

bool is_archive_name(std::string_view name) {
  return name.ends_with(".tar.zst") || name.ends_with(".tar.gz");
}

using Files = std::set<std::string, std::less<>>;

class Finder {
 public:
  Finder(std::shared_ptr<const RecordingTree> tree, std::string prefix, std::vector<Unit>& units)
      : tree_(std::move(tree)), prefix_(std::move(prefix)), units_(units) {
    for (std::string& file : tree_->files()) files_.insert(std::move(file));
  }

  void find() {
    find_folders();
    find_single_files();
  }

  [[nodiscard]] const Files& files() const { return files_; }

 private:
  [[nodiscard]] bool has(std::string_view folder, std::string_view name) const {
    return files_.contains(fmt::format("{}{}", folder, name));
  }
  [[nodiscard]] bool has_under(const std::string& folder) const {
    const auto found = files_.lower_bound(folder);
    return found != files_.end() && found->starts_with(folder);
  }
  [[nodiscard]] bool mentions(std::string_view path, std::string_view word) const {
    const Result<std::string> text = tree_->read(path);
    return text.has_value() && text->find(word) != std::string::npos;
  }

  std::optional<SuiteKind> kind_of(const std::string& folder) const {
    const std::string stages = folder + "stages/index.json";
    if (files_.contains(stages) && mentions(stages, "\"calls\"")) return SuiteKind::Passes2024;
    const std::string index = folder + "index.json";
    if (files_.contains(index)) {
      for (auto it = files_.lower_bound(folder); it != files_.end() && it->starts_with(folder);
           ++it) {
        if (it->ends_with(".txt.zst")) return SuiteKind::Large;
      }
      if (mentions(index, "\"events\"")) return SuiteKind::Passes2026;
    }
    if (has(folder, "values.json") && (has(folder, "trace.txt") || has(folder, "fusion.py")))
      return SuiteKind::Seed;
    if (has_under(folder + "phases/")) return SuiteKind::Fx;
    if (has(folder, "region.txt")) return SuiteKind::Region;
    if (has(folder, "io.json") || has(folder, "definition.txt")) return SuiteKind::Definition;
    return std::nullopt;
  }

  // Folders from the outside in; what lies below a recording belongs to it.
  void find_folders() {
    std::set<std::string, std::less<>> folders;
    folders.insert("");
    for (const std::string& file : files_) {
      for (std::string_view folder = folder_of(file); !folder.empty();
           folder = folder_of(folder.substr(0, folder.size() - 1))) {
        if (!folders.emplace(folder).second) break;
      }
    }
    std::string inside = "\n";  // no path begins with it
    for (const std::string& folder : folders) {
      if (folder.starts_with(inside)) continue;
      const std::optional<SuiteKind> kind = kind_of(folder);
      if (!kind) continue;
      Unit unit = unit_at(*kind, folder);
      for (auto it = files_.lower_bound(folder); it != files_.end() && it->starts_with(folder);
           ++it) {
        unit.files.push_back(it->substr(folder.size()));
        claimed_.insert(*it);
      }
      units_.push_back(std::move(unit));
      inside = folder;
      if (folder.empty()) return;
    }
  }

  [[nodiscard]] Unit unit_at(SuiteKind kind, const std::string& path) const {
    Unit unit;
    unit.kind = kind;
    unit.id = prefix_ + path;
    if (unit.id.ends_with('/')) unit.id.pop_back();
    unit.tree = tree_;
    unit.folder = path;
    return unit;
  }

  void add_file(SuiteKind kind, const std::string& path, std::vector<std::string> names) {
    Unit unit = unit_at(kind, path);
    unit.folder = folder_of(path);
    for (const std::string& name : names) claimed_.insert(unit.folder + name);
    unit.files = std::move(names);
    units_.push_back(std::move(unit));
  }

  void find_single_files() {
    constexpr std::string_view kExpected = ".expected.json";
    for (const std::string& file : files_) {
      if (!file.ends_with(kExpected) || claimed_.contains(file)) continue;
      const std::string stem = file.substr(0, file.size() - kExpected.size());
      for (auto it = files_.lower_bound(stem + ".");
           it != files_.end() && it->starts_with(stem + "."); ++it) {
        if (*it == file) continue;
        add_file(SuiteKind::Paste, *it, {std::string(name_of(file)), std::string(name_of(*it))});
        break;
      }
    }
    for (const std::string& file : files_) {
      if (claimed_.contains(file)) continue;
      const std::string name(name_of(file));
      if (name.ends_with(".jsonl")) {
        add_file(SuiteKind::Calls, file, {name});
      } else if (is_case_name(name) && mentions(file, "\n- kind: ")) {
        add_file(SuiteKind::Case, file, {name});
      } else if (is_pass_case_name(name)) {
        add_file(SuiteKind::PassCase, file, {name});
      } else if (name.ends_with(".txt")) {
        const Result<std::string> text = tree_->read(file);
        if (text.has_value() && is_clean_trace_text(*text))
          add_file(SuiteKind::Corpus, file, {name});
      }
    }
  }

  std::shared_ptr<const RecordingTree> tree_;
  std::string prefix_;
  std::vector<Unit>& units_;
  Files files_;
  Files claimed_;
};

// A regular file that is no archive: the tree of its folder, cut down to it.
class SingleFileTree final : public RecordingTree {
 public:
  SingleFileTree(std::unique_ptr<RecordingTree> folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}
  [[nodiscard]] std::vector<std::string> files() const override { return {name_}; }
  [[nodiscard]] Result<std::string> read(std::string_view path) const override {
    return folder_->read(path);
  }

 private:
  std::unique_ptr<RecordingTree> folder_;
  std::string name_;
};

Result<std::shared_ptr<const RecordingTree>> open_tree(const std::string& path) {
  std::error_code code;
  if (fs::is_regular_file(path, code) && !is_archive_name(path)) {
    std::string folder = fs::path(path).parent_path().string();
    Result<std::unique_ptr<RecordingTree>> tree =
        open_recording_tree(folder.empty() ? "." : folder);
    if (!tree) return Unexpected{tree.error()};
    return std::shared_ptr<const RecordingTree>(
        std::make_shared<SingleFileTree>(*std::move(tree), fs::path(path).filename().string()));
  }
  Result<std::unique_ptr<RecordingTree>> tree = open_recording_tree(path);
  if (!tree) return Unexpected{tree.error()};
  return std::shared_ptr<const RecordingTree>(*std::move(tree));
}

}  // namespace

std::string_view suite_name(SuiteKind kind) {
  switch (kind) {
    case SuiteKind::Seed:
      return "seed";
    case SuiteKind::Passes2024:
      return "passes-2024-12";
    case SuiteKind::Passes2026:
      return "passes-2026-01";
    case SuiteKind::Large:
      return "large";
    case SuiteKind::Corpus:
      return "corpus";
    case SuiteKind::Paste:
      return "paste";
    case SuiteKind::Case:
      return "cases";
    case SuiteKind::PassCase:
      return "passes-cases";
    case SuiteKind::Region:
    case SuiteKind::Definition:
      return "nvfuser";
    case SuiteKind::Calls:
      return "ops";
    case SuiteKind::Fx:
      return "fx";
  }
  return "";
}

bool Unit::has(std::string_view file) const {
  return std::binary_search(files.begin(), files.end(), file);
}

Result<std::string> Unit::read(std::string_view file) const {
  return tree->read(fmt::format("{}{}", folder, file));
}

Result<std::vector<Unit>> find_recordings(const std::string& path) {
  Result<std::shared_ptr<const RecordingTree>> tree = open_tree(path);
  if (!tree) return Unexpected{tree.error()};
  std::vector<Unit> units;
  Finder finder(*tree, "", units);
  finder.find();
  for (const std::string& file : finder.files()) {
    if (!is_archive_name(name_of(file))) continue;
    Result<std::shared_ptr<const RecordingTree>> inner =
        open_tree((fs::path(path) / file).string());
    if (!inner) return Unexpected{inner.error()};
    const std::string stem = file.substr(0, file.rfind(".tar."));
    Finder(*inner, stem + "/", units).find();
  }
  std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
    return std::pair(suite_name(a.kind), std::string_view(a.id)) <
           std::pair(suite_name(b.kind), std::string_view(b.id));
  });
  return units;
}

}  // namespace tg::golden
