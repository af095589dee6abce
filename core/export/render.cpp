#include "core/export/render.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace tg {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostWords = 2000;  // of Graphviz's own words that are kept

std::string_view format_name(PictureFormat format) {
  switch (format) {
    case PictureFormat::Svg:
      return "svg";
    case PictureFormat::Png:
      return "png";
    case PictureFormat::Pdf:
      return "pdf";
  }
  return "svg";
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = other.number_;
      other.number_ = -1;
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void reset() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }

 private:
  int number_;
};

// A stream socket, not a pipe: send() can refuse SIGPIPE for one call, a pipe cannot.
struct Channel {
  Descriptor ours, theirs;
};

std::optional<Channel> open_channel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  Channel channel{Descriptor(ends[0]), Descriptor(ends[1])};
  ::fcntl(channel.ours.number(), F_SETFL, O_NONBLOCK);
  return channel;
}

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::string candidate = fmt::format("{}/{}", rest.substr(0, colon), program);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return {};
}

Diagnostic graphviz_diagnostic(DiagnosticCode code, std::string message, std::string hint) {
  return {code, Severity::Error, std::move(message), {}, "neato", std::move(hint), {}};
}

void limit(int resource, std::uint64_t most) {
  rlimit bounds{};
  bounds.rlim_cur = bounds.rlim_max = static_cast<rlim_t>(most);
  // A lower limit that is in force already is fine, so a refusal is not an error.
  ::setrlimit(static_cast<__rlimit_resource>(resource), &bounds);
}

// In the child: only async-signal-safe calls.
[[noreturn]] void become(const char* program, char* const* arguments, const Channel& input,
                         const Channel& output, const Channel& words, const RenderLimits& limits) {
  ::dup2(input.theirs.number(), STDIN_FILENO);
  ::dup2(output.theirs.number(), STDOUT_FILENO);
  ::dup2(words.theirs.number(), STDERR_FILENO);
  limit(RLIMIT_AS, limits.memory_bytes);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<std::uint64_t>(limits.time.count()) / 1000 + 2);
  ::execv(program, arguments);
  ::_exit(127);
}

enum class End : std::uint8_t { Exited, OutOfTime, TooMuchOutput, Cancelled };

struct Child {
  pid_t process = -1;
  Channel input, output, words;
  std::string out, said;

  // Feeds and drains the child until it closes its ends, or a limit is reached.
  End talk(std::string_view text, const RenderLimits& limits, const std::stop_token& stop) {
    const Clock::time_point deadline = Clock::now() + limits.time;
    while (output.ours.open() || words.ours.open()) {
      if (stop.stop_requested()) return End::Cancelled;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return End::OutOfTime;
      std::array<pollfd, 3> waiting{{{input.ours.number(), POLLOUT, 0},
                                     {output.ours.number(), POLLIN, 0},
                                     {words.ours.number(), POLLIN, 0}}};
      // Wakes ten times a second to look at the stop token.
      ::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<long>(left, 100)));
      if (waiting[0].revents != 0) feed(text);
      if (waiting[1].revents != 0) drain(output.ours, out);
      if (waiting[2].revents != 0) drain(words.ours, said);
      if (out.size() > limits.output_bytes) return End::TooMuchOutput;
      if (said.size() > kMostWords) said.resize(kMostWords);
    }
    return End::Exited;
  }

  void feed(std::string_view& text) {
    const ssize_t sent = ::send(input.ours.number(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    const bool broken = sent < 0 && errno != EAGAIN && errno != EINTR;
    if (text.empty() || broken) input.ours.reset();
  }

  static void drain(Descriptor& from, std::string& into) {
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(from.number(), buffer.data(), buffer.size());
    if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) from.reset();
  }
};

std::string first_line(std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    if (!trim(line).empty()) return std::string(trim(line));
  }
  return {};
}

constexpr std::string_view kDrawLess = "draw a part of it: --near NAME --depth N";

// Why a child that ended did not succeed; empty when it did.
std::optional<Diagnostic> failure(int status, const std::string& said, const RenderLimits& limits) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
  const std::string words = first_line(said);
  const bool memory =
      said.find("memory") != std::string::npos || said.find("alloc") != std::string::npos;
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) {
    return graphviz_diagnostic(
        DiagnosticCode::GraphvizStopped,
        fmt::format("neato was stopped after {} s of computing", limits.time.count() / 1000),
        std::string(kDrawLess));
  }
  if (memory) {
    return graphviz_diagnostic(
        DiagnosticCode::GraphvizStopped,
        fmt::format("neato needs more than {} of memory", bytes_text(limits.memory_bytes)),
        std::string(kDrawLess));
  }
  std::string message = WIFSIGNALED(status)
                            ? fmt::format("neato crashed ({})", ::strsignal(WTERMSIG(status)))
                            : fmt::format("neato ended with exit code {}", WEXITSTATUS(status));
  if (!words.empty()) message += ": " + words;
  return graphviz_diagnostic(DiagnosticCode::GraphvizFailed, std::move(message), "");
}

}  // namespace

std::optional<PictureFormat> picture_format(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view word = dot == std::string_view::npos ? name : name.substr(dot + 1);
  for (const PictureFormat format : {PictureFormat::Svg, PictureFormat::Png, PictureFormat::Pdf}) {
    if (word == format_name(format)) return format;
  }
  return std::nullopt;
}

Result<Picture> render_picture(const std::string& dot, PictureFormat format,
                               const RenderLimits& limits, const std::stop_token& stop,
                               const std::string& program) {
  const std::string path = find_program(program);
  if (path.empty()) {
    return Unexpected{graphviz_diagnostic(
        DiagnosticCode::GraphvizMissing, fmt::format("cannot draw: '{}' is not installed", program),
        "apt-get install graphviz, or write the DOT text with `thunderglass dot`")};
  }
  std::optional<Channel> input = open_channel();
  std::optional<Channel> output = open_channel();
  std::optional<Channel> words = open_channel();
  if (!input || !output || !words) {
    return Unexpected{
        graphviz_diagnostic(DiagnosticCode::GraphvizFailed,
                            fmt::format("cannot start neato: {}", std::strerror(errno)), "")};
  }
  std::string type = fmt::format("-T{}", format_name(format));
  std::string name = program;
  std::string positions = "-n2";
  std::vector<char*> arguments = {name.data(), positions.data(), type.data(), nullptr};
  const pid_t process = ::fork();
  if (process == 0) become(path.c_str(), arguments.data(), *input, *output, *words, limits);
  if (process < 0) {
    return Unexpected{
        graphviz_diagnostic(DiagnosticCode::GraphvizFailed,
                            fmt::format("cannot start neato: {}", std::strerror(errno)), "")};
  }
  Child child{process, std::move(*input), std::move(*output), std::move(*words), {}, {}};
  child.input.theirs.reset();
  child.output.theirs.reset();
  child.words.theirs.reset();
  const End end = child.talk(dot, limits, stop);
  if (end != End::Exited) ::kill(process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  switch (end) {
    case End::Cancelled:
      return Unexpected{
          graphviz_diagnostic(DiagnosticCode::Cancelled, "drawing was interrupted", "")};
    case End::OutOfTime:
      return Unexpected{
          graphviz_diagnostic(DiagnosticCode::GraphvizStopped,
                              fmt::format("neato was stopped after {:.1f} s",
                                          static_cast<double>(limits.time.count()) / 1000),
                              std::string(kDrawLess))};
    case End::TooMuchOutput:
      return Unexpected{
          graphviz_diagnostic(DiagnosticCode::GraphvizStopped,
                              fmt::format("neato was stopped: the picture is larger than {}",
                                          bytes_text(limits.output_bytes)),
                              std::string(kDrawLess))};
    case End::Exited:
      break;
  }
  if (std::optional<Diagnostic> why = failure(status, child.said, limits))
    return Unexpected{std::move(*why)};
  if (child.out.empty()) {
    return Unexpected{
        graphviz_diagnostic(DiagnosticCode::GraphvizFailed,
                            fmt::format("neato drew nothing: {}", first_line(child.said)), "")};
  }
  return Picture{std::move(child.out), std::move(child.said)};
}

}  // namespace tg
