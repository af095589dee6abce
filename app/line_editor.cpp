#include "app/line_editor.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <histedit.h>

#include "app/completion.h"

namespace tg {

struct LineEditor::State {
  const Session* session = nullptr;
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string prompt;
  std::string file;

  static State& of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<State*>(data);
  }

  static char* show_prompt(EditLine* editor) { return of(editor).prompt.data(); }

  // Tab: the common beginning of all candidates, and their list when there are several.
  static unsigned char complete(EditLine* editor, int) {
    State& state = of(editor);
    const LineInfo* line = el_line(editor);
    const std::string before(line->buffer, static_cast<std::size_t>(line->cursor - line->buffer));
    const Completions found = complete_line(*state.session, before);
    if (found.candidates.empty()) return CC_REFRESH_BEEP;
    const std::string insert = common_beginning(found.candidates).substr(found.typed.size());
    if (!insert.empty()) el_insertstr(editor, insert.c_str());
    if (found.candidates.size() == 1) {
      if (!found.candidates.front().ends_with('/')) el_insertstr(editor, " ");
      return CC_REFRESH;
    }
    if (insert.empty()) {
      std::fputc('\n', stdout);
      std::size_t column = 0;
      for (const std::string& candidate : found.candidates) {
        constexpr std::size_t kWidth = 78;
        if (column > 0 && column + candidate.size() + 2 > kWidth) {
          std::fputc('\n', stdout);
          column = 0;
        }
        std::fputs(fmt::format("{}  ", candidate).c_str(), stdout);
        column += candidate.size() + 2;
      }
      std::fputc('\n', stdout);
      return CC_REDISPLAY;
    }
    return CC_REFRESH;
  }

  // Ctrl+C while typing: forget the line, begin a new one.
  static unsigned char cancel(EditLine* editor, int) {
    const LineInfo* line = el_line(editor);
    std::fputs("^C\n", stdout);
    el_cursor(editor, static_cast<int>(line->lastchar - line->cursor));
    el_deletestr(editor, static_cast<int>(line->lastchar - line->buffer));
    // A line must not be empty: that would be the end of input.
    el_insertstr(editor, "\n");
    return CC_NEWLINE;
  }
};

std::string history_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
  };
  std::string state = variable("XDG_STATE_HOME");
  if (state.empty()) {
    const std::string home = variable("HOME");
    if (home.empty()) return {};
    state = home + "/.local/state";
  }
  return state + "/thunderglass/history";
}

LineEditor::LineEditor(const Session& session) : state_(std::make_unique<State>()) {
  state_->session = &session;
  state_->file = history_path();
  state_->history = history_init();
  HistEvent event;
  constexpr int kHistoryLines = 2000;
  history(state_->history, &event, H_SETSIZE, kHistoryLines);
  history(state_->history, &event, H_SETUNIQUE, 1);
  if (!state_->file.empty()) history(state_->history, &event, H_LOAD, state_->file.c_str());

  state_->editor = el_init("thunderglass", stdin, stdout, stderr);
  EditLine* editor = state_->editor;
  el_set(editor, EL_CLIENTDATA, state_.get());
  el_set(editor, EL_PROMPT, &State::show_prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_HIST, history, state_->history);
  el_set(editor, EL_ADDFN, "tg-complete", "complete the word", &State::complete);
  el_set(editor, EL_BIND, "^I", "tg-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  // Typed at the prompt, Ctrl+C is a key; while a command runs it is a signal again.
  el_set(editor, EL_ADDFN, "tg-cancel", "forget the line", &State::cancel);
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_BIND, "^C", "tg-cancel", nullptr);
  el_source(editor, nullptr);
}

LineEditor::~LineEditor() {
  el_end(state_->editor);
  if (!state_->file.empty()) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(state_->file).parent_path(), error);
    HistEvent event;
    if (!error) history(state_->history, &event, H_SAVE, state_->file.c_str());
  }
  history_end(state_->history);
}

std::optional<std::string> LineEditor::read(std::string_view prompt, Remember remember) {
  state_->prompt = prompt;
  int length = 0;
  const char* text = el_gets(state_->editor, &length);
  if (text == nullptr || length <= 0) return std::nullopt;
  std::string line(text, static_cast<std::size_t>(length));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (remember == Remember::Yes && line.find_first_not_of(" \t") != std::string::npos) {
    HistEvent event;
    history(state_->history, &event, H_ENTER, line.c_str());
  }
  return line;
}

}  // namespace tg
