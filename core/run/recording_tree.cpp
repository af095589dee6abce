// Folders and .tar archives (any compression that libarchive knows) as one kind of tree.
#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <zstd.h>

#include "core/run/recording.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

// Plain bytes of one file, and of one archive: a bomb ends here.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxArchiveBytes = std::size_t{1} << 32;

Diagnostic world_failure(DiagnosticCode code, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  return diagnostic;
}

bool is_zstd(const std::string& bytes) {
  return bytes.starts_with("\x28\xb5\x2f\xfd");
}

// Members such as `computation-00-acquired.txt.zst` are read as what they hold.
Result<std::string> undo_zstd(std::string bytes, std::string_view path) {
  if (!is_zstd(bytes)) return bytes;
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  std::string plain;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t pending = 0;
  while (in.pos < in.size) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    pending = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(pending) != 0U) {
      return Unexpected{world_failure(DiagnosticCode::BadCompression,
                                      fmt::format("'{}': {}", path, ZSTD_getErrorName(pending)))};
    }
    plain.append(chunk.data(), out.pos);
    if (plain.size() > kMaxFileBytes) {
      return Unexpected{
          world_failure(DiagnosticCode::TooLarge, fmt::format("'{}' is too large", path))};
    }
  }
  if (pending != 0) {
    return Unexpected{
        world_failure(DiagnosticCode::BadCompression, fmt::format("'{}' ends too early", path))};
  }
  return plain;
}

Result<std::string> read_plain(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  if (in) bytes << in.rdbuf();
  // An empty file sets failbit on `<<` and is no failure.
  if (!in.is_open() || in.bad()) {
    return Unexpected{
        world_failure(DiagnosticCode::CannotRead,
                      fmt::format("cannot read '{}': {}", path.string(), std::strerror(errno)))};
  }
  return std::move(bytes).str();
}

class FolderTree final : public RecordingTree {
 public:
  explicit FolderTree(fs::path root) : root_(std::move(root)) {
    std::error_code ignored;
    for (fs::recursive_directory_iterator
             it(root_, fs::directory_options::skip_permission_denied, ignored),
         end;
         it != end; it.increment(ignored)) {
      if (it->is_regular_file(ignored)) {
        files_.push_back(it->path().lexically_relative(root_).generic_string());
      }
    }
    std::sort(files_.begin(), files_.end());
  }
  [[nodiscard]] std::vector<std::string> files() const override { return files_; }
  [[nodiscard]] Result<std::string> read(std::string_view path) const override {
    Result<std::string> bytes = read_plain(root_ / fs::path(path));
    if (!bytes) return bytes;
    return undo_zstd(*std::move(bytes), path);
  }

 private:
  fs::path root_;
  std::vector<std::string> files_;
};

class ArchiveTree final : public RecordingTree {
 public:
  explicit ArchiveTree(std::map<std::string, std::string, std::less<>> members)
      : members_(std::move(members)) {}
  [[nodiscard]] std::vector<std::string> files() const override {
    std::vector<std::string> names;
    names.reserve(members_.size());
    for (const auto& [name, bytes] : members_) names.push_back(name);
    return names;
  }
  [[nodiscard]] Result<std::string> read(std::string_view path) const override {
    const auto found = members_.find(path);
    if (found == members_.end()) {
      return Unexpected{world_failure(DiagnosticCode::CannotRead,
                                      fmt::format("no member '{}' in the archive", path))};
    }
    return undo_zstd(found->second, path);
  }

 private:
  std::map<std::string, std::string, std::less<>> members_;
};

Result<std::unique_ptr<RecordingTree>> open_archive(const std::string& path) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(),
                                                                      &archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_tar(reader.get());
  const auto failure = [&] {
    const char* words = archive_error_string(reader.get());
    return Unexpected{world_failure(
        DiagnosticCode::BadCompression,
        fmt::format("cannot read archive '{}': {}", path, words != nullptr ? words : "damaged"))};
  };
  if (archive_read_open_filename(reader.get(), path.c_str(), std::size_t{1} << 20) != ARCHIVE_OK) {
    return failure();
  }
  std::map<std::string, std::string, std::less<>> members;
  std::size_t total = 0;
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return failure();
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const std::int64_t size = archive_entry_size(entry);
    if (size < 0 || static_cast<std::size_t>(size) > kMaxFileBytes ||
        (total += static_cast<std::size_t>(size)) > kMaxArchiveBytes) {
      return Unexpected{
          world_failure(DiagnosticCode::TooLarge, fmt::format("archive '{}' is too large", path))};
    }
    std::string bytes(static_cast<std::size_t>(size), '\0');
    if (archive_read_data(reader.get(), bytes.data(), bytes.size()) != size) return failure();
    std::string name = archive_entry_pathname(entry);
    if (name.starts_with("./")) name.erase(0, 2);
    members.insert_or_assign(std::move(name), std::move(bytes));
  }
  return std::unique_ptr<RecordingTree>(std::make_unique<ArchiveTree>(std::move(members)));
}

}  // namespace

Result<std::unique_ptr<RecordingTree>> open_recording_tree(const std::string& folder_or_archive) {
  std::error_code code;
  const fs::file_status status = fs::status(folder_or_archive, code);
  if (fs::is_directory(status)) {
    return std::unique_ptr<RecordingTree>(std::make_unique<FolderTree>(folder_or_archive));
  }
  if (fs::is_regular_file(status)) return open_archive(folder_or_archive);
  return Unexpected{world_failure(
      DiagnosticCode::CannotRead,
      fmt::format("cannot open '{}': {}", folder_or_archive,
                  code ? code.message() : std::string("neither a folder nor a file")))};
}

}  // namespace tg
