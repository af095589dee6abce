#include "app/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

namespace tg {

void StreamSink::result(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if ((std::fflush(stdout) != 0 || !written) && error_ == 0) error_ = errno != 0 ? errno : EIO;
}

void StreamSink::note(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void CaptureSink::result(std::string_view text) {
  results += text;
  all += text;
}

void CaptureSink::note(std::string_view text) {
  notes += text;
  all += text;
}

namespace {

// The eight basic colours only: they follow the user's own terminal theme.
std::string_view code(Role role) {
  switch (role) {
    case Role::Plain:
      return "";
    case Role::Heading:
      return "1";
    case Role::Name:
      return "1";
    case Role::Argument:
      return "32";
    case Role::View:
      return "36";
    case Role::Write:
      return "1;35";
    case Role::Needed:
      return "33";
    case Role::Avoidable:
      return "1;33";
    case Role::Good:
      return "1;32";
    case Role::Bad:
      return "1;31";
    case Role::Warning:
      return "33";
    case Role::Dim:
      return "2";
    case Role::Added:
      return "32";
    case Role::Removed:
      return "31";
    case Role::Changed:
      return "33";
  }
  return "";
}

}  // namespace

std::string Paint::operator()(Role role, std::string_view text) const {
  if (!on_ || role == Role::Plain || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code(role), text);
}

bool wants_color(std::string_view choice, Stream stream) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (set("NO_COLOR")) return false;
  const char* force = std::getenv("CLICOLOR_FORCE");
  if (force != nullptr && std::string_view(force) != "0" && *force != '\0') return true;
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  return isatty(stream == Stream::Output ? STDOUT_FILENO : STDERR_FILENO) == 1;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
      continue;
    }
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) ++width;
  }
  return width;
}

Table::Table(std::vector<std::string> heading, std::vector<Align> align)
    : heading_(std::move(heading)), align_(std::move(align)) {}

void Table::add(std::vector<std::string> row) {
  rows_.push_back(std::move(row));
}

std::string Table::text(const Paint& paint, std::size_t indent) const {
  std::vector<std::size_t> widths;
  const auto measure = [&widths](const std::vector<std::string>& row) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  };
  for (const auto& row : rows_) measure(row);
  for (std::size_t i = 0; i < heading_.size() && i < widths.size(); ++i) {
    if (widths[i] > 0) widths[i] = std::max(widths[i], display_width(heading_[i]));
  }
  std::string out;
  const auto put = [&](const std::vector<std::string>& row, Role role) {
    std::string line(indent, ' ');
    std::size_t pending = 0;  // padding is held back so that no line ends in spaces
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::size_t fill = widths[i] - std::min(widths[i], display_width(row[i]));
      const bool right = i < align_.size() && align_[i] == Align::Right;
      if (!row[i].empty()) {
        line.append(pending + (right ? fill : 0), ' ');
        line += paint(role, row[i]);
        pending = right ? 0 : fill;
      } else {
        pending += fill;
      }
      pending += 2;
    }
    out += line + '\n';
  };
  if (!heading_.empty() && !rows_.empty()) put(heading_, Role::Dim);
  for (const auto& row : rows_) put(row, Role::Plain);
  return out;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  bool line_start = true;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '\n') {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
      line_start = true;
      ++i;
      continue;
    }
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", i), text.size());
    const std::string_view word = text.substr(i, end - i);
    const std::size_t length = display_width(word);
    if (!line_start && column + 1 + length > width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
      line_start = true;
    }
    if (!line_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += length;
    line_start = false;
    i = end;
  }
  return out;
}

std::string with_short_lines(std::string_view text) {
  constexpr std::size_t kLongest = 400;
  std::string out;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.size() <= kLongest) {
      out += line;
    } else {
      // Message and code stand at the two ends.
      constexpr std::size_t kTail = 80;
      out += line.substr(0, kLongest - kTail);
      out += " ... ";
      out += line.substr(line.size() - kTail);
    }
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string rendered(const Diagnostic& diagnostic, std::string_view file, std::string_view text,
                     const Paint& paint) {
  const std::string plain = with_short_lines(render(diagnostic, file, text));
  if (!paint.on()) return plain;
  const std::string word = std::string(severity_text(diagnostic.severity)) + ":";
  const std::size_t at = plain.find(word);
  if (at == std::string::npos) return plain;
  const Role role = diagnostic.severity == Severity::Error     ? Role::Bad
                    : diagnostic.severity == Severity::Warning ? Role::Warning
                                                               : Role::Dim;
  return plain.substr(0, at) + paint(role, word) + plain.substr(at + word.size());
}

}  // namespace tg
