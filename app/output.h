// Output: where a command's words go, and how they look. Commands never touch a stream themselves.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace tg {

// Receives what a command says, in order. result() is the answer (standard output), note()
// everything else.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void result(std::string_view text) = 0;
  virtual void note(std::string_view text) = 0;
};

// Standard output and standard error.
class StreamSink : public Sink {
 public:
  void result(std::string_view text) override;
  void note(std::string_view text) override;
  // errno of the first result that did not reach standard output (a full disk); 0: all did.
  [[nodiscard]] int write_error() const { return error_; }

 private:
  int error_ = 0;
};

// Keeps the two apart and, in `all`, in the order in which they came.
class CaptureSink : public Sink {
 public:
  void result(std::string_view text) override;
  void note(std::string_view text) override;
  std::string results, notes, all;
};

// What a colour means. Colour never stands alone: a letter or a word says the same.
enum class Role {
  Plain,
  Heading,
  Name,
  Argument,
  View,
  Write,
  Needed,     // a copy that must stay
  Avoidable,  // a copy that could go
  Good,
  Bad,
  Warning,
  Dim,
  Added,
  Removed,
  Changed,
};

// paint(Role::Write, "W"): the text with its colour, or the text alone when colours are off.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  [[nodiscard]] bool on() const { return on_; }
  std::string operator()(Role role, std::string_view text) const;

 private:
  bool on_;
};

// "auto", "always" or "never" against NO_COLOR, CLICOLOR_FORCE, TERM and whether the stream is a
// terminal.
enum class Stream { Output, Error };
bool wants_color(std::string_view choice, Stream stream = Stream::Output);

// Columns on a terminal: UTF-8 sequences count one, colour codes none.
std::size_t display_width(std::string_view text);

// Rows of aligned columns, two spaces apart; a column that is empty in every row vanishes. The last
// column is not padded.
class Table {
 public:
  enum class Align { Left, Right };
  explicit Table(std::vector<std::string> heading = {}, std::vector<Align> align = {});
  void add(std::vector<std::string> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text(const Paint& paint, std::size_t indent = 0) const;

 private:
  std::vector<std::string> heading_;
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

// Words of `text` in lines of at most `width` columns, every line after the first indented by
// `indent`.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// The text with every line cut to a length that a terminal bears: names of a megabyte occur.
std::string with_short_lines(std::string_view text);

// Diagnostics as clang shows them, in colour where wanted.
std::string rendered(const Diagnostic& diagnostic, std::string_view file, std::string_view text,
                     const Paint& paint);

}  // namespace tg
