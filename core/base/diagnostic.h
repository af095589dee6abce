// Diagnostics: what is wrong with the user's text or request, or with the world. Values, rendered by
// functions; nothing here writes to a stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.h"
#include "core/base/source.h"

namespace tg {

enum class DiagnosticCode {
#define TG_DIAGNOSTIC(name, text, help) name,
#include "core/base/diagnostic_codes.def"
#undef TG_DIAGNOSTIC
};

enum class Severity { Note, Warning, Error };

// Hangs on a diagnostic and points elsewhere ("'t7' is defined here as f32[2, 3]").
struct Note {
  std::string message;
  SourceRange at;
};

struct Diagnostic {
  DiagnosticCode code;
  Severity severity = Severity::Error;
  std::string message;  // fits one line, lower case, no full stop, values in single quotes
  SourceRange at;       // smallest span that is wrong
  std::string subject;  // the name it is about ("t7"), empty if none
  std::string hint;     // what to do, empty if nothing helps; shown as "hint: ..."
  std::vector<Note> notes;
};

template <typename T>
using Result = Expected<T, Diagnostic>;

// "undefined-name" for UndefinedName.
std::string_view code_text(DiagnosticCode code);
// The sentence(s) that `thunderglass help CODE` prints.
std::string_view code_help(DiagnosticCode code);
// All codes in table order.
const std::vector<DiagnosticCode>& all_diagnostic_codes();

std::string_view severity_text(Severity severity);

// "FILE:4:16: error: MESSAGE [code]", the source line with the span underlined when `source_text` (the
// whole text of the file) has that line, then hint and notes. Ends with a newline. Long source lines are
// cut around the span so that nothing exceeds 160 columns.
std::string render(const Diagnostic& diagnostic, std::string_view file, std::string_view source_text);

// Diagnostics of one operation, in order. Core functions append to it and go on where they can.
class DiagnosticSink {
 public:
  void add(Diagnostic diagnostic);
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return diagnostics_; }
  [[nodiscard]] bool has_errors() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace tg
