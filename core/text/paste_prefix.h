// What stands in front of every line of a pasted trace: log records, ranks, quote marks, line
// numbers, hashes, indentation. A head line ("def computation(x):") inside a line shows the prefix;
// its shape is then looked for in the lines that follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tg::text {

enum class HeadKind { Provenance, Import, Decorator, Def, NoSignature };

struct HeadAt {
  std::size_t column = 0;  // bytes in front of the head line
  HeadKind kind = HeadKind::Def;
};

// The head line inside `line`, if it ends with one.
std::optional<HeadAt> find_head(std::string_view line);

// ">>> ", "In [3]: ", "Out[3]: ", "(Pdb) "
bool starts_with_prompt(std::string_view line);

// The shape of a prefix: digits stand for digits, everything else for itself.
class Prefix {
 public:
  Prefix() = default;
  explicit Prefix(std::string_view text) : text_(text) {}

  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] bool is_space() const;
  // Bytes of `line` that are this prefix; nothing when it has another one. A line that ends inside
  // the prefix's trailing blanks is an empty line.
  [[nodiscard]] std::optional<std::size_t> length_in(std::string_view line) const;
  // Stable word for what it is: "dedent", "line-prefix", "quote-prefix", "prompts", "list",
  // "line-numbers", "commented-out".
  [[nodiscard]] std::string_view word() const;

 private:
  std::string text_;
};

}  // namespace tg::text
