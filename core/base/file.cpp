#include "core/base/file.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/text.h"

namespace tg {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

Diagnostic world_error(DiagnosticCode code, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  return diagnostic;
}

std::string system_words(int error) {
  return std::generic_category().message(error);
}

Diagnostic too_large(const std::string& path, std::size_t max_bytes) {
  Diagnostic diagnostic =
      world_error(DiagnosticCode::TooLarge,
                  fmt::format("'{}' holds more than {}", path, bytes_text(max_bytes)));
  diagnostic.hint = "split the file";
  return diagnostic;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > 2) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Result<std::string> read_raw(int fd, const std::string& path, std::size_t max_bytes) {
  std::string bytes;
  struct stat facts {};
  if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
    bytes.reserve(std::min(static_cast<std::size_t>(facts.st_size), max_bytes) + 1);
  }
  while (true) {
    const std::size_t size = bytes.size();
    const std::size_t room = std::max(bytes.capacity() - size, kChunk);
    bytes.resize(size + room);
    const ssize_t got = ::read(fd, bytes.data() + size, room);
    bytes.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Unexpected{
          world_error(DiagnosticCode::CannotRead,
                      fmt::format("cannot read '{}': {}", path, system_words(errno)))};
    }
    if (got == 0) return bytes;
    if (bytes.size() > max_bytes) return Unexpected{too_large(path, max_bytes)};
  }
}

struct ArchiveDeleter {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

Result<std::string> decompress(const std::string& packed, const std::string& path,
                               std::size_t max_bytes) {
  const std::unique_ptr<archive, ArchiveDeleter> reader(archive_read_new());
  const auto damaged = [&]() {
    const char* words = archive_error_string(reader.get());
    Diagnostic diagnostic =
        world_error(DiagnosticCode::BadCompression,
                    fmt::format("cannot decompress '{}': {}", path,
                                words != nullptr ? words : "its header is damaged"));
    diagnostic.hint = "the file is damaged or truncated: get it anew";
    return Unexpected{std::move(diagnostic)};
  };
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_entry* entry = nullptr;
  if (archive_read_open_memory(reader.get(), packed.data(), packed.size()) != ARCHIVE_OK)
    return damaged();
  const int opened = archive_read_next_header(reader.get(), &entry);
  if (opened == ARCHIVE_EOF) return std::string{};
  if (opened != ARCHIVE_OK) return damaged();
  // A damaged header is not recognized, and the bytes would pass through as they are.
  if (archive_filter_code(reader.get(), 0) == ARCHIVE_FILTER_NONE) return damaged();
  std::string plain;
  std::string chunk(kChunk, '\0');
  while (true) {
    const la_ssize_t got = archive_read_data(reader.get(), chunk.data(), chunk.size());
    if (got < 0) return damaged();
    if (got == 0) return plain;
    plain.append(chunk, 0, static_cast<std::size_t>(got));
    if (plain.size() > max_bytes) return Unexpected{too_large(path, max_bytes)};
  }
}

Diagnostic cannot_write(const std::string& path, int error) {
  return world_error(DiagnosticCode::CannotWrite,
                     fmt::format("cannot write '{}': {}", path, system_words(error)));
}

// errno of the failure, 0 on success.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Descriptor file(path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    return Unexpected{world_error(DiagnosticCode::CannotRead,
                                  fmt::format("cannot open '{}': {}", path, system_words(errno)))};
  }
  Result<std::string> raw = read_raw(file.get(), path, max_bytes);
  if (!raw || !(raw->starts_with(kGzipMagic) || raw->starts_with(kZstdMagic))) return raw;
  return decompress(*raw, path, max_bytes);
}

Result<bool> write_file(const std::string& path, const std::string& bytes, Overwrite overwrite) {
  if (path == "-") {
    const int error = write_all(1, bytes);
    if (error != 0) return Unexpected{cannot_write("standard output", error)};
    return true;
  }
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode)) {
    // A device, pipe or directory cannot be replaced by renaming.
    const Descriptor target(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    const int error = target.get() < 0 ? errno : write_all(target.get(), bytes);
    if (error != 0) return Unexpected{cannot_write(path, error)};
    return true;
  }
  const auto refused = [&path] {
    Diagnostic diagnostic =
        world_error(DiagnosticCode::WouldOverwrite, fmt::format("'{}' exists already", path));
    diagnostic.hint = "--force overwrites it";
    return Unexpected{std::move(diagnostic)};
  };
  if (exists && overwrite == Overwrite::Refuse) return refused();
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0) return Unexpected{cannot_write(path, errno)};
    const int error = write_all(file.get(), bytes);
    if (error != 0) {
      ::unlink(temporary.c_str());
      return Unexpected{cannot_write(path, error)};
    }
  }
  // A hard link fails when the name is taken, so that nobody's file is lost to a race.
  if (overwrite == Overwrite::Refuse && ::link(temporary.c_str(), path.c_str()) == 0) {
    ::unlink(temporary.c_str());
    return true;
  }
  if (overwrite == Overwrite::Refuse && errno == EEXIST) {
    ::unlink(temporary.c_str());
    return refused();
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return Unexpected{cannot_write(path, error)};
  }
  return true;
}

}  // namespace tg
