// JSON of differences between traces and of check's report.
#include "core/export/json.h"
#include "core/export/json_parts.h"
#include "core/text/printer.h"

namespace tg {
namespace {

std::string_view kind_text(DiffKind kind) {
  switch (kind) {
    case DiffKind::Same:
      return "same";
    case DiffKind::Changed:
      return "changed";
    case DiffKind::Moved:
      return "moved";
    case DiffKind::Removed:
      return "removed";
    case DiffKind::Added:
      return "added";
  }
  return "";
}

}  // namespace

Json diff_json(const TraceDiff& diff, const Trace& left, const Trace& right) {
  const auto side = [](const Trace& trace, std::optional<std::uint32_t> index) -> Json {
    if (!index) return nullptr;
    const BoundSymbol& statement = *trace.bound_symbols[*index];
    return {{"index", *index}, {"at", to_json(statement.at)}, {"text", one_line(statement)}};
  };
  Json json = json_document("diff");
  json["identical"] = diff.identical();
  json["counts"] = {{"same", diff.same},
                    {"changed", diff.changed},
                    {"moved", diff.moved},
                    {"removed", diff.removed},
                    {"added", diff.added}};
  json["parameters_changed"] = diff.parameters_changed;
  json["imports_changed"] = diff.imports_changed;
  Json entries = Json::array();
  for (const DiffEntry& entry : diff.entries) {
    if (entry.kind == DiffKind::Same) continue;
    entries.push_back({{"kind", kind_text(entry.kind)},
                       {"left", side(left, entry.left)},
                       {"right", side(right, entry.right)},
                       {"only_inside", entry.only_inside}});
  }
  json["differences"] = std::move(entries);
  return json;
}

Json check_json(const CheckReport& report, const std::string& file_name) {
  Json json = json_document("check");
  json["file"] = file_name;
  json["verdict"] = verdict_word(report.verdict);
  json["headline"] = report.headline;
  json["why"] = text_or_null(report.why);
  json["era"] = {{"text", era_text(report.era.era)},
                 {"reason", text_or_null(report.era.reason)},
                 {"given", report.era_given}};
  json["seed"] = report.seed;
  json["phases"] = list_of(report.phases, [](const CheckedPhase& phase) {
    Json row;
    row["file_phase"] = phase.file_index;
    row["label"] = phase.label;
    row["replayed_by"] = phase.replayed ? text_or_null(phase.pass) : Json(nullptr);
    row["ran"] = phase.ran;
    row["why_not"] = text_or_null(phase.why_not);
    return row;
  });
  json["pairs"] = list_of(report.pairs, [](const PhasePair& pair) {
    Json row;
    row["left"] = pair.left;
    row["right"] = pair.right;
    row["verdict"] = verdict_word(pair.comparison.verdict);
    row["why"] = text_or_null(pair.comparison.why);
    row["differences"] =
        list_of(pair.comparison.differences, [](const Difference& d) { return to_json(d); });
    return row;
  });
  json["witnesses"] = list_of(report.witnesses, [](const Witness& witness) {
    Json row = to_json(witness.difference);
    row["write"] = text_or_null(witness.write);
    return row;
  });
  json["accepted"] = list_of(report.accepted, [](const Difference& d) { return to_json(d); });
  json["explanation"] = nullptr;
  if (report.explanation) {
    const Explanation& why = *report.explanation;
    json["explanation"] = {
        {"left", why.left},     {"right", why.right},           {"pass", text_or_null(why.pass)},
        {"step", why.step},     {"step_count", why.step_count}, {"rule", text_or_null(why.rule)},
        {"reason", why.reason}, {"at", to_json(why.at)}};
  }
  json["refusal"] = nullptr;
  if (report.refusal) {
    json["refusal"] = {{"pass", report.refusal->pass},
                       {"type", report.refusal->error.type},
                       {"message", report.refusal->error.message},
                       {"at", to_json(report.refusal->at)}};
  }
  json["repairs"] = list_of(report.repairs, [](const Repair& repair) {
    return Json{{"what", repair.what}, {"helps", repair.helps}};
  });
  json["copies"] =
      list_of(report.copies, [](const CopyFinding& finding) { return to_json(finding); });
  json["expectations"] = list_of(report.expectations, [](const Expectation& expectation) {
    return Json{{"text", expectation.text},
                {"holds", expectation.holds},
                {"explanation", expectation.explanation}};
  });
  json["aliases"] = report.aliases;
  json["not_tested"] = report.not_tested;
  json["next"] = report.next;
  json["diagnostics"] = list_of(report.diagnostics, [](const Diagnostic& d) { return to_json(d); });
  return json;
}

}  // namespace tg
