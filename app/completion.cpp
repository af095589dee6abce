#include "app/completion.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/script.h"

namespace tg {
namespace {

void offer(Completions& out, std::string_view candidate) {
  if (candidate.starts_with(out.typed)) out.candidates.emplace_back(candidate);
}

void offer_files(Completions& out) {
  namespace fs = std::filesystem;
  const std::size_t slash = out.typed.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : out.typed.substr(0, slash + 1);
  std::error_code error;
  constexpr int kMostFiles = 4000;
  int seen = 0;
  for (fs::directory_iterator it(folder.empty() ? fs::path(".") : fs::path(folder), error), end;
       !error && it != end && seen < kMostFiles; it.increment(error), ++seen) {
    const std::string name = it->path().filename().string();
    const bool hidden =
        name.starts_with('.') &&
        (slash == std::string::npos ? !out.typed.starts_with('.')
                                    : !out.typed.substr(slash + 1).starts_with('.'));
    if (hidden) continue;
    std::error_code status;
    offer(out, folder + name + (it->is_directory(status) ? "/" : ""));
  }
}

void offer_names(Completions& out, const Document& document) {
  if (document.phases.empty()) return;
  std::set<std::string_view> names;
  const Trace& trace = document.trace(document.current);
  for (const Parameter& parameter : trace.parameters) names.insert(parameter.name);
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    for (const std::string_view name : output_names(*statement)) names.insert(name);
  }
  for (const std::string_view name : names) {
    if (!name.empty() && name != "_") offer(out, name);
  }
}

void offer_passes(Completions& out) {
  // After a comma the next pass is completed.
  const std::size_t comma = out.typed.rfind(',');
  const std::string before = comma == std::string::npos ? "" : out.typed.substr(0, comma + 1);
  for (const PassInfo& pass : all_passes()) offer(out, before + std::string(pass.name));
}

}  // namespace

Completions complete_line(const Session& session, std::string_view line) {
  Completions out;
  // Only the last command of the line matters.
  const std::size_t semicolon = line.rfind(';');
  if (semicolon != std::string_view::npos) line.remove_prefix(semicolon + 1);
  const std::size_t space = line.find_last_of(" \t");
  out.typed = line.substr(space == std::string_view::npos ? 0 : space + 1);
  const ScriptLine words = split_script_line(line.substr(0, line.size() - out.typed.size()));
  if (words.commands.empty()) {
    for (const std::string_view name : commands_beginning(out.typed, true)) offer(out, name);
  } else {
    const auto& given = words.commands.front();
    const CommandInfo* command = find_command(given.front(), true);
    if (command == nullptr) return out;
    if (out.typed.starts_with('-')) {
      for (const Option option : command->options) offer(out, info(option).long_name);
    } else if (command->name == "help") {
      for (const std::string_view name : commands_beginning(out.typed, true)) offer(out, name);
      offer_passes(out);
    } else if (command->name == "pass" && given.size() == 1) {
      offer_passes(out);
    } else if (command->name == "load" || command->name == "source" || command->name == "paste") {
      offer_files(out);
    } else {
      offer_names(out, session.document());
      offer_files(out);
    }
  }
  std::sort(out.candidates.begin(), out.candidates.end());
  out.candidates.erase(std::unique(out.candidates.begin(), out.candidates.end()),
                       out.candidates.end());
  return out;
}

std::string common_beginning(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  std::string common = words.front();
  for (const std::string& word : words) {
    const auto [end, unused] =
        std::mismatch(common.begin(), common.end(), word.begin(), word.end());
    common.erase(end, common.end());
  }
  return common;
}

}  // namespace tg
