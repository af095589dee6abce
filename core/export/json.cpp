#include "core/export/json.h"

#include <cmath>

#include "core/export/json_parts.h"
#include "core/text/printer.h"

namespace tg {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string_view kind_text(StatementKind kind) {
  switch (kind) {
    case StatementKind::Call:
      return "call";
    case StatementKind::UnpackTrivial:
      return "argument";
    case StatementKind::UnpackSequence:
      return "unpack_sequence";
    case StatementKind::UnpackAccess:
      return "unpack_access";
    case StatementKind::EmptyCollection:
      return "empty_collection";
    case StatementKind::PackList:
      return "pack_list";
    case StatementKind::PackAssign:
      return "pack_assign";
    case StatementKind::Del:
      return "del";
    case StatementKind::Return:
      return "return";
    case StatementKind::Print:
      return "print";
    case StatementKind::Comment:
      return "comment";
    case StatementKind::Elision:
      return "elision";
    case StatementKind::Unparsed:
      return "unparsed";
  }
  return "";
}

std::string_view kind_text(TraceKind kind) {
  switch (kind) {
    case TraceKind::Computation:
      return "computation";
    case TraceKind::Prologue:
      return "prologue";
    case TraceKind::Backward:
      return "backward";
    case TraceKind::Epilogue:
      return "epilogue";
  }
  return "";
}

std::string_view kind_text(AccessKind kind) {
  switch (kind) {
    case AccessKind::Read:
      return "read";
    case AccessKind::Write:
      return "write";
    case AccessKind::MayWrite:
      return "may_write";
    case AccessKind::MakeView:
      return "make_view";
    case AccessKind::Allocate:
      return "allocate";
  }
  return "";
}

std::string_view kind_text(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::Values:
      return "values";
    case DifferenceKind::DType:
      return "dtype";
    case DifferenceKind::Shape:
      return "shape";
    case DifferenceKind::Strides:
      return "strides";
    case DifferenceKind::FinalArgument:
      return "final_argument";
    case DifferenceKind::AliasLost:
      return "alias_lost";
    case DifferenceKind::AliasGained:
      return "alias_gained";
    case DifferenceKind::AliasOffset:
      return "alias_offset";
    case DifferenceKind::Structure:
      return "structure";
    case DifferenceKind::Raised:
      return "raised";
  }
  return "";
}

std::string_view kind_text(Edit::Kind kind) {
  switch (kind) {
    case Edit::Kind::Erase:
      return "erase";
    case Edit::Kind::Replace:
      return "replace";
    case Edit::Kind::InsertBefore:
      return "insert_before";
    case Edit::Kind::InsertAfter:
      return "insert_after";
  }
  return "";
}

std::string_view kind_text(CopySite::Form form) {
  switch (form) {
    case CopySite::Form::Statement:
      return "statement";
    case CopySite::Form::InPlace:
      return "in_place";
    case CopySite::Form::Inner:
      return "inside_composite";
    case CopySite::Form::Region:
      return "inside_fusion";
  }
  return "";
}

Json statement_number(StatementId id) {
  return id == kNoStatement ? Json(nullptr) : Json(id);
}

Json geometry_json(const Geometry& geometry) {
  return {{"sizes", geometry.sizes}, {"strides", geometry.strides}, {"offset", geometry.offset}};
}

Json geometry_json(const std::optional<Geometry>& geometry) {
  return geometry ? geometry_json(*geometry) : Json(nullptr);
}

}  // namespace

Json json_document(std::string_view name) {
  Json json;
  json["schema"] = "thunderglass." + std::string(name) + "/1";
  return json;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string_view verdict_word(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::Same:
      return "same";
    case VerdictKind::Different:
      return "different";
    case VerdictKind::NotEstablished:
      return "not_established";
  }
  return "";
}

Json json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json to_json(const SourceRange& at) {
  if (at.line == 0) return nullptr;
  return {{"line", at.line}, {"column", at.column}, {"length", at.length}};
}

Json to_json(const Diagnostic& diagnostic) {
  Json json;
  json["code"] = code_text(diagnostic.code);
  json["severity"] = severity_text(diagnostic.severity);
  json["message"] = diagnostic.message;
  json["at"] = to_json(diagnostic.at);
  json["subject"] = text_or_null(diagnostic.subject);
  json["hint"] = text_or_null(diagnostic.hint);
  json["notes"] = list_of(diagnostic.notes, [](const Note& note) {
    return Json{{"message", note.message}, {"at", to_json(note.at)}};
  });
  return json;
}

Json to_json(const BoundSymbol& statement, std::uint32_t index) {
  Json json;
  json["index"] = index;
  json["at"] = to_json(statement.at);
  json["kind"] = kind_text(statement.kind);
  json["text"] = one_line(statement);
  if (statement.kind == StatementKind::Call) {
    json["callee"] = statement.callee;
    json["operation"] =
        statement.op == OpCode::Opaque ? Json(nullptr) : Json(statement.op_info().name);
  }
  json["outputs"] = output_names(statement);
  json["arguments"] = argument_names(statement);
  json["type"] = statement.type ? Json(statement.type->text) : Json(nullptr);
  if (!statement.header.empty()) json["header"] = statement.header;
  if (statement.program_line) {
    json["program_line"] = {{"file", statement.program_line->file},
                            {"line", statement.program_line->line},
                            {"text", statement.program_line->text}};
  }
  if (!statement.subsymbols.empty()) {
    Json inside = Json::array();
    for (std::uint32_t i = 0; i < statement.subsymbols.size(); ++i) {
      inside.push_back(to_json(*statement.subsymbols[i], i));
    }
    json["inside"] = std::move(inside);
  }
  return json;
}

Json to_json(const Difference& difference) {
  Json json;
  json["kind"] = kind_text(difference.kind);
  json["subject"] = difference.subject;
  json["message"] = difference.message;
  json["index"] = difference.index;
  json["left"] = difference.left;
  json["right"] = difference.right;
  json["max_absolute"] = json_number(difference.max_absolute);
  json["max_relative"] = json_number(difference.max_relative);
  json["differing_elements"] = difference.differing_elements;
  json["accepted"] = difference.accepted;
  return json;
}

Json to_json(const CopyFinding& finding) {
  Json json;
  json["at"] = to_json(finding.at);
  json["path"] = finding.path;
  json["form"] = kind_text(finding.form);
  json["text"] = finding.text;
  json["answer"] = answer_text(finding.answer);
  json["reason"] = finding.reason;
  json["bytes"] = or_null(finding.bytes);
  json["source"] = text_or_null(finding.source);
  json["destination"] = finding.destination;
  json["storage"] = finding.storage;
  json["reader"] = to_json(finding.reader);
  json["writer"] = to_json(finding.writer);
  json["removable"] = finding.removable;
  json["stale"] = or_null(finding.stale);
  return json;
}

Json to_json(const Step& step) {
  Json json;
  json["rule"] = step.rule;
  json["subject"] = statement_number(step.subject);
  json["at"] = to_json(step.at);
  json["reason"] = step.reason;
  json["depth"] = step.depth;
  json["group"] = text_or_null(step.group);
  json["edits"] = list_of(step.edits, [](const Edit& edit) {
    Json row;
    row["kind"] = kind_text(edit.kind);
    row["statement"] = statement_number(edit.at);
    row["text"] = edit.statement ? Json(one_line(*edit.statement)) : Json(nullptr);
    row["inserted"] = statement_number(edit.inserted);
    return row;
  });
  return json;
}

Json to_json(const AliasPartition& partition) {
  return list_of(partition.members, [](const AliasPartition::Member& member) {
    Json row;
    row["name"] = member.name;
    row["storage"] = member.storage;
    row["offset_bytes"] = member.offset_bytes;
    row["dtype"] = torch_name(member.dtype);
    row["geometry"] = geometry_json(member.geometry);
    return row;
  });
}

Json phase_json(const Phase& phase) {
  const Trace& trace = phase.trace;
  Json json;
  json["label"] = phase.label;
  json["kind"] = kind_text(phase.kind);
  json["provenance"] = text_or_null(trace.provenance);
  json["name"] = trace.name;
  json["at"] = to_json(trace.def_at);
  json["parameters"] = list_of(trace.parameters, [](const Parameter& parameter) {
    return parameter.prefix + parameter.name;
  });
  Json statements = Json::array();
  for (std::uint32_t i = 0; i < trace.bound_symbols.size(); ++i) {
    statements.push_back(to_json(*trace.bound_symbols[i], i));
  }
  json["statements"] = std::move(statements);
  return json;
}

Json trace_json(const TraceFile& file) {
  Json json = json_document("trace");
  json["file"] = file.name;
  json["phases"] = list_of(file.phases, phase_json);
  json["diagnostics"] = list_of(file.diagnostics, [](const Diagnostic& d) { return to_json(d); });
  return json;
}

Json aliases_json(const Trace& trace, const DefUse& def_use, const AliasSets& sets) {
  Json json = json_document("aliases");
  json["storages"] = list_of(sets.storages(), [](const StorageFacts& storage) {
    Json row;
    row["label"] = storage.label;
    row["argument"] = storage.is_argument;
    row["bytes"] = or_null(storage.bytes);
    row["names"] = storage.names;
    row["writes"] = storage.versions - 1;
    return row;
  });
  Json tensors = Json::array();
  for (DefinitionId d = 0; d < def_use.definitions().size(); ++d) {
    const Placement* placement = sets.placement(d);
    if (placement == nullptr) continue;
    const Definition& definition = def_use.definitions()[d];
    Json row;
    row["name"] = definition.name;
    row["at"] = definition.statement == kArgument
                    ? Json(nullptr)
                    : to_json(trace.bound_symbols[definition.statement]->at);
    row["storage"] = placement->storage;
    row["geometry"] = geometry_json(placement->geometry);
    row["may_share"] = placement->maybe_of;
    tensors.push_back(std::move(row));
  }
  json["tensors"] = std::move(tensors);
  json["accesses"] = list_of(sets.accesses(), [](const Access& access) {
    Json row;
    row["path"] = access.path;
    row["at"] = to_json(access.at);
    row["kind"] = kind_text(access.kind);
    row["storage"] = access.storage;
    row["name"] = access.name;
    row["version"] = access.version;
    row["geometry"] = geometry_json(access.geometry);
    return row;
  });
  return json;
}

Json steps_json(std::string_view pass, std::span<const Step> steps) {
  Json json = json_document("steps");
  json["pass"] = pass;
  json["steps"] = list_of(steps, [](const Step& step) { return to_json(step); });
  return json;
}

Json comparison_json(const Comparison& comparison) {
  Json json = json_document("comparison");
  json["verdict"] = verdict_word(comparison.verdict);
  json["why"] = text_or_null(comparison.why);
  json["differences"] =
      list_of(comparison.differences, [](const Difference& d) { return to_json(d); });
  return json;
}

Json audit_json(std::span<const CopyFinding> findings) {
  Json json = json_document("audit");
  json["copies"] = list_of(findings, [](const CopyFinding& finding) { return to_json(finding); });
  return json;
}

Json diagnostics_json(std::span<const Diagnostic> diagnostics) {
  Json json = json_document("diagnostics");
  json["diagnostics"] = list_of(diagnostics, [](const Diagnostic& d) { return to_json(d); });
  return json;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tg
