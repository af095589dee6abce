#include "core/golden/positions.h"

#include <unordered_map>

namespace tg::golden {
namespace {

// `torch.mul` of `ltorch.mul_`, `torch.nn.functional.relu` of `ltorch.relu` with its flag set.
bool is_functional_form(std::string_view callee, std::string_view in_place) {
  const std::string_view base = base_name(callee);
  const std::string_view whole = base_name(in_place);
  return whole == base || (whole.ends_with('_') && whole.substr(0, whole.size() - 1) == base);
}

bool is_copy(const BoundSymbol& statement) {
  return statement.kind == StatementKind::Call && statement.op == OpCode::CopyInto &&
         statement.args.size() >= 2 && statement.args[0].is_name() && statement.args[1].is_name();
}

bool same_line(const std::shared_ptr<const ProgramLine>& a,
               const std::shared_ptr<const ProgramLine>& b) {
  return a == b || (a && b && *a == *b);
}

bool is_inserted(const BoundSymbol& statement) {
  return statement.callee == "prims.reshape" || statement.callee == "torch_prims_reshape_impl" ||
         is_copy(statement);
}

}  // namespace

TracedPositions::TracedPositions(const Trace& traced) {
  for (const BoundSymbolRef& statement : traced.bound_symbols) {
    for (const std::string_view name : output_names(*statement)) {
      at_top_.emplace(name, statement->program_line);
    }
    // A copy of the user's own stays what it is, whatever its destination is called later.
    const bool by_prim = is_copy(*statement);
    if (by_prim || base_name(statement->callee) == "copy_") {
      const std::size_t source = by_prim ? 0 : 1;  // prims.copy_(source, destination)
      if (source < statement->args.size() && statement->args[source].is_name()) {
        copies_.emplace(std::pair(statement->args[source].text, std::string()),
                        statement->program_line);
      }
    }
    for (const BoundSymbolRef& child : statement->subsymbols) collect(*child, *statement);
  }
}

void TracedPositions::collect(const BoundSymbol& statement, const BoundSymbol& top) {
  for (const std::string_view name : output_names(statement)) {
    inside_.emplace(name, Inner{top.program_line, top.callee});
  }
  if (is_copy(statement)) {
    copies_.emplace(std::pair(statement.args[0].text, statement.args[1].text), top.program_line);
  }
  for (const BoundSymbolRef& child : statement.subsymbols) collect(*child, top);
}

TracedPositions::Place TracedPositions::place_of(const BoundSymbol& statement, const Line& before,
                                                 bool is_split) const {
  const auto like = [&before](const Line& line) {
    return same_line(line, before) ? Place::Before : Place::Nowhere;
  };
  // What the parser knows to stand nowhere: the return, and what a repeated position follows.
  if (!statement.program_line) return Place::Nowhere;
  if (statement.kind != StatementKind::Call) return Place::Before;
  for (const std::string_view name : output_names(statement)) {
    if (const auto found = at_top_.find(name); found != at_top_.end()) return like(found->second);
    const auto inner = inside_.find(name);
    if (inner != inside_.end()) {
      const bool nowhere = is_functional_form(statement.callee, inner->second.callee);
      return nowhere ? Place::Nowhere : like(inner->second.line);
    }
  }
  if (is_copy(statement)) {
    const std::string& source = statement.args[0].text;
    auto found = copies_.find({source, std::string()});
    if (found == copies_.end()) found = copies_.find({source, statement.args[1].text});
    if (found != copies_.end()) return like(found->second);
    // Part of a composite that the split took apart, or a copy that functionalization placed.
    const bool is_known = at_top_.contains(source) || inside_.contains(source);
    return is_split && !is_known ? Place::Before : Place::Nowhere;
  }
  return is_inserted(statement) && !is_split ? Place::Nowhere : Place::LikeReader;
}

BoundSymbolRef TracedPositions::with_lines(const BoundSymbolRef& statement, Line own) const {
  auto settled = std::make_shared<BoundSymbol>(*statement);
  settled->verbatim.reset();
  for (BoundSymbolRef& child : settled->subsymbols) {
    Line line = own;
    for (const std::string_view name : output_names(*child)) {
      if (const auto found = inside_.find(name); found != inside_.end()) line = found->second.line;
    }
    child = with_lines(child, std::move(line));
  }
  settled->program_line = std::move(own);
  return settled;
}

Trace TracedPositions::settled(Trace stage, bool is_split) const {
  std::vector<BoundSymbolRef>& statements = stage.bound_symbols;
  std::vector<bool> printed(statements.size(), false);
  std::vector<Place> places(statements.size(), Place::Before);
  Line before;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Line& line = statements[i]->program_line;
    printed[i] = line && line != before;
    if (!printed[i]) places[i] = place_of(*statements[i], before, is_split);
    before = line;
  }
  std::unordered_map<std::string_view, std::size_t> first_reader;
  for (std::size_t i = statements.size(); i-- > 0;) {
    if (places[i] == Place::LikeReader) {
      places[i] = Place::Before;
      for (const std::string_view name : output_names(*statements[i])) {
        const auto reader = first_reader.find(name);
        if (reader != first_reader.end() && !printed[reader->second]) {
          places[i] = places[reader->second];
        }
      }
    }
    for (const std::string_view name : argument_names(*statements[i])) first_reader[name] = i;
  }
  Line current;
  std::vector<BoundSymbolRef> settled;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (printed[i]) {
      current = statements[i]->program_line;
    } else if (places[i] == Place::Nowhere) {
      current = nullptr;
    }
    settled.push_back(with_lines(statements[i], current));
  }
  stage.bound_symbols = std::move(settled);
  return stage;
}

}  // namespace tg::golden
