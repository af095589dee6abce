// explain: a statement, a name or a step in plain sentences.
#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/help.h"
#include "app/pass_run.h"
#include "app/program_view.h"
#include "app/session.h"
#include "app/statement_row.h"
#include "core/base/text.h"
#include "core/ir/program_source.h"
#include "core/pass/audit_copies.h"
#include "core/text/printer.h"

namespace tg {
namespace {

constexpr std::size_t kWidth = 88;

class Explainer {
 public:
  Explainer(const ProgramView& view, std::vector<CopyFinding> copies)
      : view_(view), copies_(std::move(copies)) {}

  // The programs of the file before this one: where an in-place statement still stands.
  [[nodiscard]] std::vector<const Trace*> earlier_traces() const {
    std::vector<const Trace*> traces;
    if (view_.target().region) return traces;
    for (std::size_t i = 0; i < view_.target().phase; ++i)
      traces.push_back(&view_.target().document->trace(i));
    return traces;
  }

  // All sentences about one statement.
  [[nodiscard]] std::vector<std::string> sentences(std::uint32_t index) const {
    const BoundSymbol& symbol = view_.statement(index);
    std::vector<std::string> sentences;
    const ProgramSource source = source_of(view_.trace(), index, earlier_traces());
    if (source.line != nullptr) {
      sentences.push_back(fmt::format("It stands for {}:{}: {}", source.line->file,
                                      source.line->line, trim(source.line->text)));
    }
    if (source.added_by_pass) sentences.emplace_back("Functionalization added it.");
    what_it_is(index, sentences);
    for (const std::string& line : symbol.header)
      sentences.push_back(fmt::format("Thunder noted: {}", line));
    reads(index, sentences);
    writes(index, sentences);
    makes(index, sentences);
    copies(index, sentences);
    return sentences;
  }

  [[nodiscard]] std::string statement(std::uint32_t index, const Paint& paint) const {
    std::string out = fmt::format("{}  {}\n", paint(Role::Heading, view_.line_text(index)),
                                  one_line(view_.statement(index)));
    for (const std::string& sentence : sentences(index)) {
      out += "  " + wrap(sentence, kWidth, 2) + "\n";
    }
    return out;
  }

 private:
  [[nodiscard]] std::string joined(const std::vector<std::string>& names) const {
    if (names.size() < 2) return names.empty() ? "" : names.front();
    std::string text;
    for (std::size_t i = 0; i + 1 < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
    return text + " and " + names.back();
  }

  [[nodiscard]] std::string storage_text(StorageId id) const {
    const StorageFacts& storage = view_.aliases().storages()[id];
    return storage.is_argument ? fmt::format("the storage of argument {}", storage.label)
                               : fmt::format("the storage S{} of {}", id, storage.label);
  }

  void what_it_is(std::uint32_t index, std::vector<std::string>& out) const {
    const BoundSymbol& symbol = view_.statement(index);
    switch (symbol.kind) {
      case StatementKind::Call:
        return call(symbol, out);
      case StatementKind::UnpackTrivial: {
        std::string text = "An argument of the program";
        const std::string path =
            symbol.output.is_name() ? view_.argument_path(symbol.output.text) : "";
        if (!path.empty()) text += fmt::format("; in the call it is {}", path);
        out.push_back(text + ".");
        return;
      }
      case StatementKind::Return:
        out.emplace_back("The program ends here: what it returns is read after everything above.");
        return;
      case StatementKind::Del:
        out.emplace_back(
            "Drops names. A storage lives on while another name or the caller has it.");
        return;
      case StatementKind::UnpackSequence:
      case StatementKind::UnpackAccess:
        out.emplace_back("Takes a value out of a collection or an object.");
        return;
      case StatementKind::EmptyCollection:
      case StatementKind::PackList:
      case StatementKind::PackAssign:
        out.emplace_back("Builds or fills a collection; no tensor is copied.");
        return;
      case StatementKind::Print:
        out.emplace_back("Prints a value.");
        return;
      case StatementKind::Comment:
        out.emplace_back("A comment; nothing happens.");
        return;
      case StatementKind::Elision:
        out.emplace_back("Lines were left out here by whoever pasted the text.");
        return;
      case StatementKind::Unparsed:
        out.emplace_back("This line is no statement that could be read.");
        return;
    }
  }

  void call(const BoundSymbol& symbol, std::vector<std::string>& out) const {
    const OpInfo& op = symbol.op_info();
    if (symbol.op == OpCode::Fusion) {
      out.push_back(fmt::format(
          "A fusion region of {}: one call on the device, line by line what stands below it.",
          count_of(symbol.subsymbols.size(), "statement", "statements")));
      return;
    }
    if (symbol.op == OpCode::Opaque) {
      out.push_back(
          symbol.subsymbols.empty()
              ? fmt::format(
                    "{} is in no operator table: what it reads, writes and shares is not known.",
                    symbol.callee)
              : fmt::format("{} is in no operator table; it means its {}.", symbol.callee,
                            count_of(symbol.subsymbols.size(), "sub-statement", "sub-statements")));
      return;
    }
    if (op.has(kCopyInto)) {
      out.emplace_back(
          "Copies the elements of one tensor into another, through the destination's strides, and "
          "returns the destination itself.");
    } else if (op.has(kInPlace)) {
      std::string text =
          "Works in place: it computes and writes the result into its first argument.";
      if (op.twin != OpCode::Opaque)
        text += fmt::format(" Its functional form is {}.", first_spelling(info(op.twin)));
      out.push_back(text);
    } else if (op.has(kIdentity)) {
      out.emplace_back("Returns its arguments themselves: new names for the same tensors.");
    } else if (op.has(kView)) {
      out.emplace_back("Makes a view: no element moves, the result shares its argument's storage.");
    } else if (op.has(kMaybeView)) {
      out.emplace_back("May return a view or a copy, depending on strides, dtype or flags.");
    } else if (op.has(kHidesWrites)) {
      out.emplace_back("A composite that writes arguments inside its sub-statements.");
    } else if (op.has(kFactory)) {
      out.emplace_back("Makes a new tensor.");
    } else {
      out.emplace_back("Computes a new value; it writes nothing that exists.");
    }
    if (op.has(kRandom)) out.emplace_back("It draws random numbers.");
  }

  // The destination of a copy is mentioned, not read.
  [[nodiscard]] bool only_writes(std::uint32_t index, DefinitionId id) const {
    const Definition& definition = view_.def_use().definitions()[id];
    if (view_.aliases().placement(id) == nullptr) return false;
    bool writes_it = false;
    for (const Access* access : view_.aliases().accesses_of(index)) {
      if (access->name != definition.name) continue;
      if (access->kind == AccessKind::Read || access->kind == AccessKind::MakeView) return false;
      writes_it = true;
    }
    return writes_it;
  }

  void reads(std::uint32_t index, std::vector<std::string>& out) const {
    std::vector<std::string> parts;
    std::set<DefinitionId> seen;
    for (const DefinitionId id : view_.def_use().reads_of(index)) {
      if (id == kNoDefinition || !seen.insert(id).second || only_writes(index, id)) continue;
      const Definition& definition = view_.def_use().definitions()[id];
      std::string part(definition.name);
      if (definition.statement != kArgument &&
          view_.statement(definition.statement).kind != StatementKind::UnpackTrivial) {
        part += fmt::format(" (made by {})", view_.line_text(definition.statement));
      } else {
        part += " (an argument)";
      }
      parts.push_back(std::move(part));
    }
    if (!parts.empty()) out.push_back(fmt::format("It reads {}.", joined(parts)));
    // Which version matters only where something writes.
    for (const Access* access : view_.aliases().accesses_of(index)) {
      if (access->kind != AccessKind::Read || access->version == 0) continue;
      const std::uint32_t writer = last_writer(access->storage, index);
      if (writer == UINT32_MAX) continue;
      out.push_back(
          fmt::format("It sees {} as {} left it.", access->name, view_.line_text(writer)));
      break;
    }
  }

  [[nodiscard]] std::uint32_t last_writer(StorageId storage, std::uint32_t before) const {
    std::uint32_t found = UINT32_MAX;
    for (const Access* access : view_.aliases().writes_to(storage)) {
      if (!access->path.empty() && access->path.front() < before) found = access->path.front();
    }
    return found;
  }

  void writes(std::uint32_t index, std::vector<std::string>& out) const {
    std::set<StorageId> seen;
    for (const Access* access : view_.aliases().accesses_of(index)) {
      if (access->kind != AccessKind::Write && access->kind != AccessKind::MayWrite) continue;
      if (!seen.insert(access->storage).second) continue;
      const StorageFacts& storage = view_.aliases().storages()[access->storage];
      std::vector<std::string> others;
      for (const std::string& name : storage.names) {
        if (name != access->name && std::find(others.begin(), others.end(), name) == others.end())
          others.push_back(name);
      }
      std::string text =
          fmt::format("It {} {}", access->kind == AccessKind::Write ? "writes" : "may write",
                      storage_text(access->storage));
      if (!others.empty()) {
        constexpr std::size_t kMostNames = 6;
        const bool many = others.size() > kMostNames;
        const std::size_t count = others.size();
        if (many) others.resize(kMostNames);
        text += fmt::format("; {}{} in it too", joined(others),
                            many ? fmt::format(" and {} more are", count - kMostNames)
                                 : std::string(count == 1 ? " lies" : " lie"));
      }
      out.push_back(text + ".");
    }
  }

  void makes(std::uint32_t index, std::vector<std::string>& out) const {
    for (const DefinitionId id : view_.def_use().definitions_of(index)) {
      const Definition& definition = view_.def_use().definitions()[id];
      const Type* type = view_.types().find(definition.name);
      std::string text = fmt::format("{}{}", definition.name,
                                     type == nullptr ? "" : fmt::format(", {},", type->text));
      const Placement* placement = view_.aliases().placement(id);
      if (placement != nullptr) {
        const StorageFacts& storage = view_.aliases().storages()[placement->storage];
        const bool fresh = !storage.definitions.empty() && storage.definitions.front() == id &&
                           !storage.is_argument;
        const bool argument = storage.is_argument && !storage.definitions.empty() &&
                              storage.definitions.front() == id;
        text += fresh      ? " has a storage of its own"
                : argument ? " has the caller's storage"
                           : fmt::format(" lies in {}", storage_text(placement->storage));
        for (const StorageId other : placement->maybe_of)
          text += fmt::format(", or in {}", storage_text(other));
      } else {
        text += " is no tensor";
      }
      std::vector<std::string> readers;
      std::set<std::uint32_t> seen;
      for (const std::uint32_t reader : definition.readers) {
        if (seen.insert(reader).second) readers.push_back(view_.line_text(reader));
      }
      constexpr std::size_t kMostReaders = 8;
      const std::size_t count = readers.size();
      if (count > kMostReaders) {
        readers.resize(kMostReaders);
        readers.push_back(fmt::format("{} more", count - kMostReaders));
      }
      text += readers.empty() ? "; nothing reads it" : fmt::format("; read by {}", joined(readers));
      out.push_back(text + ".");
      if (type != nullptr && !trace_time_value(*type).empty()) {
        out.push_back(
            fmt::format("The value {} is from trace time; `run` shows the value of this run.",
                        trace_time_value(*type)));
      }
    }
  }

  void copies(std::uint32_t index, std::vector<std::string>& out) const {
    for (const CopyFinding& copy : copies_) {
      if (copy.path.empty() || copy.path.front() != index) continue;
      const std::string bytes = copy.bytes ? fmt::format(" of {}", bytes_text(*copy.bytes)) : "";
      std::string reason = copy.reason;
      while (reason.ends_with('.')) reason.pop_back();
      out.push_back(fmt::format("The copy {}{} is {}: {}.", copy.text, bytes,
                                answer_text(copy.answer), reason));
      if (copy.stale) out.push_back(fmt::format("It stores an old value: {}.", *copy.stale));
    }
  }

  const ProgramView& view_;
  std::vector<CopyFinding> copies_;
};

CommandResult explain_step(Call& call, const Document& document, std::size_t number) {
  const Cursor& cursor = *document.cursor;
  const auto& steps = cursor.run->result.steps;
  if (number == 0 || number > steps.size()) {
    call.fail(fmt::format("{} has {}, no step {}", cursor.run->pass,
                          count_of(steps.size(), "step", "steps"), number));
    return ExitCode::Usage;
  }
  const Step& step = steps[number - 1];
  if (call.json()) {
    Json json;
    json["schema"] = "thunderglass.explain/1";
    json["pass"] = cursor.run->pass;
    json["number"] = number;
    json["count"] = steps.size();
    json["step"] = to_json(step);
    call.result(dump(json) + "\n");
    return {};
  }
  const Trace& before = document.trace(cursor.run->before);
  std::string out = fmt::format("{} {} of {} in {}\n", step.edits.empty() ? "note" : "step", number,
                                steps.size(), cursor.run->pass);
  out += step_texts(std::span(steps).first(number), before, call.paint).back();
  if (step.subject < before.bound_symbols.size()) {
    const BoundSymbol& subject = *before.bound_symbols[step.subject];
    out += fmt::format("  about    {}\n", one_line(subject));
    if (subject.program_line) {
      out += fmt::format("  source   {}:{}: {}\n", subject.program_line->file,
                         subject.program_line->line, trim(subject.program_line->text));
    }
  }
  if (step.edits.empty()) out += "  nothing was changed: this is a decision not to act\n";
  call.result(out);
  return {};
}

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

CommandResult explain_step_of_pass(Call& call) {
  const std::string name = call.command.value(Option::Pass);
  const PassInfo* pass = find_pass(name);
  if (pass == nullptr) {
    call.fail(fmt::format("unknown pass '{}'", name));
    return ExitCode::Usage;
  }
  const auto target = resolve_only_program(call);
  if (!target) return stop_with(call, target.error());
  PassContext context;
  context.filter = filter_of(call.command.values(Option::Skip));
  context.stop = call.stop;
  const auto document = run_pass(*target->document, target->phase, *pass, std::move(context));
  if (const auto refused = refused_skip(filter_of(call.command.values(Option::Skip)), pass->name,
                                        document->cursor->run->result.steps)) {
    call.fail(refused->message);
    call.sink.note(refused->hint + "\n");
    return ExitCode::Usage;
  }
  if (call.command.has(Option::Step))
    return explain_step(call, *document, call.command.count(Option::Step));
  const auto& steps = document->cursor->run->result.steps;
  if (call.json()) {
    Json json = steps_json(pass->name, steps);
    json["schema"] = "thunderglass.explain/1";
    call.result(dump(json) + "\n");
    return {};
  }
  call.result(step_counts(steps) + "\n");
  call.result(steps_text(steps, document->trace(target->phase), call.paint));
  return {};
}

// "Its storage is written by line 13, line 19.", without the definition's own statement.
std::string other_writers(const ProgramView& view, DefinitionId id) {
  const Definition& definition = view.def_use().definitions()[id];
  const Placement* placement = view.aliases().placement(id);
  if (placement == nullptr) return {};
  std::string writers;
  std::set<std::uint32_t> seen;
  for (const Access* access : view.aliases().writes_to(placement->storage)) {
    if (access->path.empty() || access->path.front() == definition.statement) continue;
    if (!seen.insert(access->path.front()).second) continue;
    writers +=
        fmt::format("{}{}", writers.empty() ? "" : ", ", view.line_text(access->path.front()));
  }
  return writers.empty() ? "" : fmt::format("Its storage is written by {}.", writers);
}

}  // namespace

CommandResult command_explain(Call& call) {
  if (call.command.has(Option::Pass)) return explain_step_of_pass(call);
  const auto& operands = call.command.operands;
  if (operands.size() == 2 && operands[0] == "step" && call.session.interactive) {
    const auto number = number_of(operands[1]);
    if (!number || !call.session.document().cursor) {
      call.fail(number ? "no pass was run; 'pass functionalize' runs one"
                       : "explain step needs a number");
      return ExitCode::Usage;
    }
    return explain_step(call, call.session.document(), *number);
  }
  if (!operands.empty() && operands[0] == "step" && !call.session.interactive) {
    call.fail("'explain step N' exists only in the REPL");
    call.sink.note("on the command line: explain trace.txt --pass functionalize --step 2\n");
    return ExitCode::Usage;
  }
  auto target = resolve_only(call, Bare::Place);
  if (!target) return stop_with(call, target.error());
  // A region is explained as the call that it is.
  std::optional<std::uint32_t> region_call;
  if (target->region) {
    const auto& statements = target->document->trace(target->phase).bound_symbols;
    const auto found = std::find_if(
        statements.begin(), statements.end(),
        [&](const auto& statement) { return statement->callee == target->region->name; });
    region_call = static_cast<std::uint32_t>(found - statements.begin());
    target->region.reset();
  }
  if (target->place.empty() && !region_call) {
    call.fail("explain needs a line or a name: trace.txt:2:31, trace.txt::t7");
    return ExitCode::Usage;
  }
  auto facts = alias_facts(*target, call.command.values(Option::Alias));
  if (!facts) return stop_with(call, facts.error());
  facts->may_alias_each_other = call.command.has(Option::MayAlias);
  const std::string place = target->place;
  const ProgramView view(std::move(*target), *facts);
  const Explainer explainer(view, audit(with_listed_lines(view.trace(), view.target().numbering()),
                                        *facts, earlier_computation(view.target())));
  std::vector<std::uint32_t> explained;
  std::vector<std::string> afterwards;  // by explained statement: who else writes its storage
  if (region_call) {
    explained = {*region_call};
    afterwards = {""};
  } else if (const auto line = number_of(place)) {
    const auto index = statement_at(view.lines(), static_cast<std::uint32_t>(*line));
    if (!index) return stop_with(call, unknown_name(view.target(), place));
    explained = {*index};
    afterwards = {""};
  } else {
    const auto definitions = view.definitions(place);
    if (definitions.empty()) return stop_with(call, unknown_name(view.target(), place));
    for (const DefinitionId id : definitions) {
      explained.push_back(view.def_use().definitions()[id].statement);
      afterwards.push_back(other_writers(view, id));
    }
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < explained.size(); ++i) {
    if (call.json()) {
      if (explained[i] == kArgument) continue;
      Json row = statement_json(view, explained[i]);
      row["sentences"] = explainer.sentences(explained[i]);
      if (!afterwards[i].empty()) row["sentences"].push_back(afterwards[i]);
      rows.push_back(std::move(row));
      continue;
    }
    if (explained[i] != kArgument) call.result(explainer.statement(explained[i], call.paint));
    if (!afterwards[i].empty()) call.result("  " + afterwards[i] + "\n");
  }
  if (call.json()) {
    Json json;
    json["schema"] = "thunderglass.explain/1";
    json["address"] = view.target().shown;
    json["statements"] = std::move(rows);
    call.result(dump(json) + "\n");
  }
  return {};
}

}  // namespace tg
