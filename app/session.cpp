#include "app/session.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/text/parser.h"

namespace tg {

std::shared_ptr<const Document> document_of(std::shared_ptr<const TraceFile> file) {
  auto document = std::make_shared<Document>();
  for (const Phase& phase : file->phases) {
    document->phases.push_back(
        std::make_shared<const DocumentPhase>(DocumentPhase{phase, true, "", std::nullopt}));
  }
  document->file = std::move(file);
  document->current = first_computation(*document);
  return document;
}

std::shared_ptr<Document> with_phase(const Document& document, DocumentPhase phase) {
  auto next = std::make_shared<Document>(document);
  next->phases.push_back(std::make_shared<const DocumentPhase>(std::move(phase)));
  next->current = next->phases.size() - 1;
  return next;
}

std::size_t first_computation(const Document& document) {
  for (std::size_t i = 0; i < document.phases.size(); ++i) {
    if (document.phases[i]->phase.kind == TraceKind::Computation) return i;
  }
  return 0;
}

Session::Session() {
  history_.push_back({std::make_shared<const Document>(), ""});
}

void Session::push(std::shared_ptr<const Document> next, std::string command) {
  history_.resize(at_ + 1);
  history_.push_back({std::move(next), std::move(command)});
  at_ = history_.size() - 1;
}

std::string Session::undo() {
  // The session without any document is no place to go back to.
  if (at_ == 0 || history_[at_ - 1].document->file == nullptr) return {};
  return history_[at_--].command;
}

std::vector<std::string> Session::commands() const {
  std::vector<std::string> texts;
  for (std::size_t i = 1; i <= at_; ++i) texts.push_back(history_[i].command);
  return texts;
}

namespace {

// A file that is not there: perhaps one of its folder was meant. Stems are compared, since equal
// endings make any two names alike.
Diagnostic with_near_file(Diagnostic diagnostic, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (diagnostic.code != DiagnosticCode::CannotRead || fs::exists(path, error)) return diagnostic;
  const fs::path wanted(path);
  std::map<std::string, std::string> names;  // by stem
  constexpr std::size_t kMostFiles = 4000;
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  for (fs::directory_iterator it(folder, error), end;
       !error && it != end && names.size() < kMostFiles; it.increment(error)) {
    names.emplace(it->path().stem().string(), it->path().filename().string());
  }
  const std::string stem = wanted.stem().string();
  std::vector<std::string_view> stems;
  for (const auto& [other, name] : names) stems.push_back(other);
  const auto near = names.find(std::string(nearest(stem, stems)));
  if (near != names.end()) {
    diagnostic.hint =
        fmt::format("did you mean '{}'?", (wanted.parent_path() / near->second).generic_string());
  }
  return diagnostic;
}

}  // namespace

Result<std::shared_ptr<const TraceFile>> Session::file(const std::string& path, bool again) {
  const auto found = files_.find(path);
  // Standard input can be read only once.
  if (found != files_.end() && (!again || path == "-")) return found->second;
  Result<std::string> text = read_file(path);
  if (!text) return Unexpected{with_near_file(text.error(), path)};
  auto parsed = std::make_shared<const TraceFile>(parse_trace_file(path, std::move(*text)));
  files_[path] = parsed;
  return parsed;
}

namespace {

// Codes that do not mean "the input cannot be read, or the output not be written". An address or an
// edit that makes no sense is usage; --alias and --inputs describe the input, so what is wrong in
// them is wrong input; a budget that ran out establishes nothing.
constexpr std::pair<DiagnosticCode, ExitCode> kExitCodes[] = {
    {DiagnosticCode::BadExpectation, ExitCode::Usage},
    {DiagnosticCode::BadAddress, ExitCode::Usage},
    {DiagnosticCode::BadEdit, ExitCode::Usage},
    {DiagnosticCode::WouldOverwrite, ExitCode::Usage},
    {DiagnosticCode::NoSuchName, ExitCode::Usage},
    {DiagnosticCode::UnknownPass, ExitCode::Usage},
    {DiagnosticCode::CannotRun, ExitCode::RunFailed},
    {DiagnosticCode::NotSupported, ExitCode::RunFailed},
    {DiagnosticCode::RunRaised, ExitCode::RunFailed},
    {DiagnosticCode::GraphvizMissing, ExitCode::RunFailed},
    {DiagnosticCode::GraphvizFailed, ExitCode::RunFailed},
    {DiagnosticCode::GraphvizStopped, ExitCode::NotEstablished},
    {DiagnosticCode::MemoryLimit, ExitCode::NotEstablished},
    {DiagnosticCode::TimeLimit, ExitCode::NotEstablished},
    {DiagnosticCode::Cancelled, ExitCode::Interrupted},
};

}  // namespace

ExitCode exit_code_of(DiagnosticCode code) {
  for (const auto& [listed, exit] : kExitCodes) {
    if (listed == code) return exit;
  }
  return ExitCode::Unreadable;
}

bool show_reading_findings(Call& call, const TraceFile& file) {
  constexpr std::size_t kMostShown = 20;
  std::vector<const Diagnostic*> shown;
  for (const Diagnostic& diagnostic : file.diagnostics) shown.push_back(&diagnostic);
  std::stable_sort(shown.begin(), shown.end(), [](const Diagnostic* a, const Diagnostic* b) {
    return a->severity > b->severity;
  });
  const bool errors = !shown.empty() && shown.front()->severity == Severity::Error;
  std::size_t count = 0;
  for (const Diagnostic* diagnostic : shown) {
    // An unknown operation is a fact about the program, not a fault in it: `info` counts them.
    if (diagnostic->severity == Severity::Note && !call.command.has(Option::Verbose)) continue;
    if (diagnostic->severity != Severity::Error && call.command.has(Option::Quiet)) continue;
    if (++count > kMostShown) continue;
    call.sink.note(rendered(*diagnostic, file.name, file.text, call.note_paint));
  }
  if (count > kMostShown) {
    call.sink.note(fmt::format("{} more like these\n", count - kMostShown));
  }
  return errors;
}

CommandResult stop_with(Call& call, const Diagnostic& diagnostic, std::string_view file,
                        std::string_view text) {
  call.stopped_by.push_back(diagnostic);
  std::string shown =
      file.empty() ? fmt::format("{} {} [{}]\n{}", call.note_paint(Role::Bad, "thunderglass:"),
                                 diagnostic.message, code_text(diagnostic.code),
                                 diagnostic.hint.empty() ? "" : "hint: " + diagnostic.hint + "\n")
                   : rendered(diagnostic, file, text, call.note_paint);
  call.sink.note(with_short_lines(shown));
  return exit_code_of(diagnostic.code);
}

}  // namespace tg
