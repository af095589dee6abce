// Line editing on a terminal (libedit): history, completion, Ctrl+R.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/session.h"

namespace tg {

class LineEditor {
 public:
  // Reads the history file; `session` tells the names to complete.
  explicit LineEditor(const Session& session);
  ~LineEditor();  // writes the history file; a read-only home is no error
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // A line without its end; empty at the end of input (Ctrl+D). Ctrl+C gives an empty line.
  enum class Remember { No, Yes };
  std::optional<std::string> read(std::string_view prompt, Remember remember);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// $XDG_STATE_HOME/thunderglass/history, by default below ~/.local/state; empty without a home.
std::string history_path();

}  // namespace tg
