// One static report of a trace file: verdict, phases, differences between neighbours, copies. Needs
// neither a display nor a network; equal inputs give equal bytes.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/check/check.h"
#include "core/ir/trace.h"

namespace tg {

struct ReportTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct ReportLine {
  char mark = ' ';         // ' ', '+', '-', '~', '>' as in a diff
  std::uint32_t line = 0;  // in the user's file, 0 when not known
  std::string text;
};

// Code that one may fold; `name` is shown when it is folded.
struct ReportCode {
  std::string name;
  std::vector<ReportLine> lines;
};

using ReportBlock = std::variant<std::string, ReportTable, ReportCode>;  // a string is a paragraph

struct ReportSection {
  std::string title;
  std::vector<ReportBlock> blocks;
};

struct Report {
  std::string title;
  std::vector<ReportSection> sections;
};

// `file_name` as the user gave it.
Report make_report(const TraceFile& file, const CheckReport& check, const std::string& file_name);

std::string to_markdown(const Report& report);
// A whole page with its style inside; light and dark. Lines have the anchors L1, L2..., so that a
// picture's links (`DotOptions::link`) can point into it.
std::string to_html(const Report& report);

}  // namespace tg
