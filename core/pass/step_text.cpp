// Steps as text: one JSON object a line, statements inside as trace text.

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/pass/step.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kKinds[] = {"erase", "replace", "insert_before", "insert_after"};

Json range_json(const SourceRange& at) {
  return Json::array({at.line, at.column, at.length});
}

// Header, program line and position stand beside the text: they are no part of the printed
// statement.
Json statement_json(const BoundSymbol& statement) {
  Json json;
  BoundSymbol bare = statement;
  bare.header.clear();
  bare.verbatim.reset();
  json["text"] = print(bare);
  if (!statement.header.empty()) json["header"] = statement.header;
  if (statement.program_line) {
    const ProgramLine& line = *statement.program_line;
    json["program"] = Json::array({line.file, line.line, line.text});
  }
  if (statement.at != SourceRange{}) json["at"] = range_json(statement.at);
  return json;
}

Json step_json(const Step& step) {
  Json json;
  json["rule"] = step.rule;
  if (step.subject != kNoStatement) json["subject"] = step.subject;
  json["reason"] = step.reason;
  if (step.depth != 0) json["depth"] = step.depth;
  if (!step.group.empty()) json["group"] = step.group;
  if (step.at != SourceRange{}) json["at"] = range_json(step.at);
  Json edits = Json::array();
  for (const Edit& edit : step.edits) {
    Json one;
    one["do"] = kKinds[static_cast<std::size_t>(edit.kind)];
    one["at"] = edit.at;
    if (edit.inserted != kNoStatement) one["id"] = edit.inserted;
    if (edit.statement) one["statement"] = statement_json(*edit.statement);
    edits.push_back(std::move(one));
  }
  if (!edits.empty()) json["edits"] = std::move(edits);
  return json;
}

Diagnostic malformed(std::size_t line, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = DiagnosticCode::MalformedStep;
  diagnostic.message = std::move(message);
  diagnostic.at.line = static_cast<std::uint32_t>(line);
  return diagnostic;
}

bool read_number(const Json& json, std::string_view key, std::uint32_t& number) {
  const auto found = json.find(key);
  if (found == json.end()) return true;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > kNoStatement) return false;
  number = found->get<std::uint32_t>();
  return true;
}

bool read_text(const Json& json, std::string_view key, std::string& text) {
  const auto found = json.find(key);
  if (found == json.end()) return true;
  if (!found->is_string()) return false;
  text = found->get<std::string>();
  return true;
}

bool read_range(const Json& json, SourceRange& range) {
  const auto found = json.find("at");
  if (found == json.end()) return true;
  if (!found->is_array() || found->size() != 3) return false;
  std::uint32_t numbers[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(*found)[i].is_number_unsigned()) return false;
    numbers[i] = (*found)[i].get<std::uint32_t>();
  }
  range = {numbers[0], numbers[1], numbers[2]};
  return true;
}

// "" or what is wrong.
std::string read_statement(const Json& json, BoundSymbolRef& statement) {
  std::string text;
  if (!json.is_object() || !read_text(json, "text", text)) return "a statement needs a text";
  Result<BoundSymbol> parsed = parse_statement(text);
  if (!parsed) return parsed.error().message;
  BoundSymbol made = std::move(*parsed);
  made.at = {};
  made.verbatim.reset();
  if (!read_range(json, made.at)) return "a position is three numbers";
  if (const auto header = json.find("header"); header != json.end()) {
    if (!header->is_array()) return "a header is a list of lines";
    for (const Json& line : *header) {
      if (!line.is_string()) return "a header is a list of lines";
      made.header.push_back(line.get<std::string>());
    }
  }
  if (const auto program = json.find("program"); program != json.end()) {
    if (!program->is_array() || program->size() != 3 || !(*program)[0].is_string() ||
        !(*program)[1].is_number_unsigned() || !(*program)[2].is_string()) {
      return "a program line is a file, a number and a text";
    }
    made.program_line = std::make_shared<const ProgramLine>(
        ProgramLine{(*program)[0].get<std::string>(), (*program)[1].get<std::uint32_t>(),
                    (*program)[2].get<std::string>()});
  }
  statement = std::make_shared<const BoundSymbol>(std::move(made));
  return {};
}

std::string read_edit(const Json& json, Edit& edit) {
  std::string kind;
  if (!json.is_object() || !read_text(json, "do", kind)) return "an edit says what it does";
  bool known = false;
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    if (kind != kKinds[i]) continue;
    edit.kind = static_cast<Edit::Kind>(i);
    known = true;
  }
  if (!known) return "no edit is called '" + kind + "'";
  if (!read_number(json, "at", edit.at) || !read_number(json, "id", edit.inserted)) {
    return "statements are numbered from 0";
  }
  const auto statement = json.find("statement");
  return statement == json.end() ? std::string{} : read_statement(*statement, edit.statement);
}

std::string read_step(const Json& json, Step& step) {
  if (!json.is_object()) return "a step is a JSON object";
  if (!read_text(json, "rule", step.rule) || !read_text(json, "reason", step.reason) ||
      !read_text(json, "group", step.group)) {
    return "rule, reason and group are texts";
  }
  if (step.rule.empty()) return "a step has a rule";
  if (!read_number(json, "subject", step.subject) || !read_number(json, "depth", step.depth)) {
    return "subject and depth are numbers";
  }
  if (!read_range(json, step.at)) return "a position is three numbers";
  const auto edits = json.find("edits");
  if (edits == json.end()) return {};
  if (!edits->is_array()) return "edits are a list";
  for (const Json& one : *edits) {
    Edit edit;
    if (std::string wrong = read_edit(one, edit); !wrong.empty()) return wrong;
    step.edits.push_back(std::move(edit));
  }
  return {};
}

}  // namespace

std::string print_steps(std::span<const Step> steps) {
  std::string text;
  for (const Step& step : steps) {
    text += step_json(step).dump(-1, ' ', false, Json::error_handler_t::replace);
    text += '\n';
  }
  return text;
}

Result<std::vector<Step>> parse_steps(std::string_view text) {
  std::vector<Step> steps;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) return Unexpected{malformed(number, "the line is no JSON object")};
    Step step;
    if (std::string wrong = read_step(json, step); !wrong.empty()) {
      return Unexpected{malformed(number, std::move(wrong))};
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace tg
