#include "app/program_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/argument_paths.h"

namespace tg {

ProgramView::ProgramView(Target target, const ArgumentFacts& facts)
    : target_(std::move(target)),
      def_use_(target_.trace()),
      aliases_(target_.trace(), def_use_, facts),
      types_(target_.trace()),
      lines_(list_lines(target_.trace(), target_.numbering())),
      numbers_(statement_numbers(lines_, target_.trace().bound_symbols.size())) {
  if (target_.document->file == nullptr) return;
  const Trace* prologue = prologue_of(target_.file());
  if (prologue == nullptr || target_.region) return;
  std::vector<std::string> paths = argument_paths(*prologue, trace());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].empty()) paths_[trace().parameters[i].name] = std::move(paths[i]);
  }
}

std::string ProgramView::line_text(std::uint32_t statement) const {
  if (statement == kArgument) return "argument";
  const std::uint32_t line = number(statement);
  return line == 0 ? fmt::format("statement {}", statement) : fmt::format("line {}", line);
}

std::string ProgramView::badge(std::uint32_t statement, bool every) const {
  for (const DefinitionId id : def_use_.definitions_of(statement)) {
    const Placement* placement = aliases_.placement(id);
    if (placement == nullptr) continue;
    const StorageFacts& storage = aliases_.storages()[placement->storage];
    const bool shared = storage.names.size() > 1 || storage.is_argument;
    if (!shared && !placement->maybe && !every) continue;
    constexpr std::size_t kMostNames = 4;
    std::string names;
    for (std::size_t i = 0; i < storage.names.size() && i < kMostNames; ++i) {
      names += fmt::format("{}{}", i == 0 ? " " : ", ", storage.names[i]);
    }
    if (storage.names.size() > kMostNames) {
      names += fmt::format(", {} more", storage.names.size() - kMostNames);
    }
    std::string maybe;
    for (const StorageId other : placement->maybe_of) maybe += fmt::format(" or S{}", other);
    return fmt::format("[S{}{}{}]", placement->storage, names, maybe);
  }
  return {};
}

char ProgramView::mark(std::uint32_t index) const {
  const BoundSymbol& symbol = statement(index);
  switch (symbol.kind) {
    case StatementKind::UnpackTrivial:
      return 'A';
    case StatementKind::Return:
      return 'R';
    case StatementKind::Del:
      return 'D';
    case StatementKind::Call:
    case StatementKind::UnpackSequence:
    case StatementKind::UnpackAccess:
    case StatementKind::EmptyCollection:
    case StatementKind::PackList:
    case StatementKind::PackAssign:
    case StatementKind::Print:
    case StatementKind::Comment:
    case StatementKind::Elision:
    case StatementKind::Unparsed:
      break;
  }
  bool view = false;
  for (const Access* access : aliases_.accesses_of(index)) {
    if (access->kind == AccessKind::Write || access->kind == AccessKind::MayWrite) {
      // A write into storage that the statement itself made is nobody else's business.
      const StorageFacts& storage = aliases_.storages()[access->storage];
      const bool own = !storage.definitions.empty() && !storage.is_argument &&
                       def_use_.definitions()[storage.definitions.front()].statement == index;
      if (!own) return 'W';
    }
    if (access->kind == AccessKind::MakeView) view = true;
  }
  for (const DefinitionId id : def_use_.definitions_of(index)) {
    const Placement* placement = aliases_.placement(id);
    if (placement != nullptr && placement->maybe) return '~';
  }
  return view ? 'V' : ' ';
}

DefinitionId ProgramView::definition(std::string_view name) const {
  const auto all = definitions(name);
  return all.empty() ? kNoDefinition : all.back();
}

std::vector<DefinitionId> ProgramView::definitions(std::string_view name) const {
  std::vector<DefinitionId> found;
  const auto& all = def_use_.definitions();
  for (DefinitionId id = 0; id < all.size(); ++id) {
    if (all[id].name == name) found.push_back(id);
  }
  return found;
}

std::string ProgramView::argument_path(std::string_view parameter) const {
  const auto found = paths_.find(std::string(parameter));
  return found == paths_.end() ? std::string() : found->second;
}

namespace {

void count_copies(const BoundSymbol& statement, const TypeTable& types, PhaseCounts& counts) {
  if (statement.kind == StatementKind::Call && statement.op_info().has(kCopyInto)) {
    ++counts.copies;
    const int written = statement.op_info().mutated_param;
    const auto index = static_cast<std::size_t>(std::max(written, 0));
    const Type* type = index < statement.args.size() && statement.args[index].is_name()
                           ? types.find(statement.args[index].text)
                           : nullptr;
    const auto bytes = type == nullptr ? std::nullopt : type_bytes(*type);
    if (bytes) {
      counts.bytes_copied += *bytes;
    } else {
      counts.bytes_known = false;
    }
    return;
  }
  for (const BoundSymbolRef& inner : statement.subsymbols) count_copies(*inner, types, counts);
}

bool is_known(const BoundSymbol& statement) {
  if (statement.op != OpCode::Opaque) return true;
  return !statement.subsymbols.empty() &&
         std::all_of(statement.subsymbols.begin(), statement.subsymbols.end(),
                     [](const BoundSymbolRef& inner) {
                       return inner->kind != StatementKind::Call || is_known(*inner);
                     });
}

}  // namespace

PhaseCounts count_phase(const Trace& trace) {
  PhaseCounts counts;
  const TypeTable types(trace);
  counts.arguments = trace.parameters.size();
  for (const BoundSymbolRef& ref : trace.bound_symbols) {
    const BoundSymbol& statement = *ref;
    if (statement.kind != StatementKind::Call) continue;
    ++counts.statements;
    if (is_fusion_name(statement.callee)) ++counts.fusions;
    if (statement.op_info().has(kInPlace)) ++counts.in_place;
    if (!is_known(statement)) ++counts.unknown;
    count_copies(statement, types, counts);
  }
  return counts;
}

std::string trace_time_value(const Type& type) {
  switch (type.kind) {
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Bool:
    case TypeKind::Complex:
      return type.value == "?" ? "" : type.value;
    case TypeKind::Unknown:
    case TypeKind::Tensor:
    case TypeKind::FutureTensor:
    case TypeKind::DistributedTensor:
    case TypeKind::String:
    case TypeKind::Collection:
    case TypeKind::Any:
    case TypeKind::Class:
    case TypeKind::Opaque:
      break;
  }
  return {};
}

}  // namespace tg
