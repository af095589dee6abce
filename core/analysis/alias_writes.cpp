// AliasBuilder's part that writes: copies, in-place operations, and the copies that never run.
#include <algorithm>

#include "core/analysis/alias_builder.h"

namespace tg {
namespace {

bool is_tensor_param(const Param& param) {
  return param.type.starts_with("Tensor");
}

// Destination name -> the last printed copy_ onto it: where the write of an in-place operation
// happens.
using InnerCopies = std::unordered_map<std::string_view, std::uint32_t>;

InnerCopies inner_copies(const BoundSymbol& call) {
  InnerCopies copies;
  for (std::uint32_t i = 0; i < call.subsymbols.size(); ++i) {
    const BoundSymbol& child = *call.subsymbols[i];
    if (child.kind != StatementKind::Call || !child.op_info().has(kCopyInto)) continue;
    const auto target =
        arguments_for(child, static_cast<std::size_t>(child.op_info().mutated_param));
    if (!target.empty() && target.front()->is_name()) copies[target.front()->text] = i;
  }
  return copies;
}

}  // namespace

CopySite& AliasBuilder::add_site(const BoundSymbol& statement, CopySite::Form form,
                                 TensorIndex destination, std::string_view destination_name) {
  CopySite site;
  site.path = path_;
  site.statement = &statement;
  site.form = region_depth_ > 0 ? CopySite::Form::Region : form;
  site.destination = destination_name;
  site.destination_at = tensors_[destination];
  sets_.copies_.push_back(std::move(site));
  return sets_.copies_.back();
}

void AliasBuilder::copy_into(const BoundSymbol& call) {
  const OpInfo& op = call.op_info();
  const auto written = static_cast<std::size_t>(op.mutated_param);
  const std::size_t read = written == 0 ? 1 : 0;
  const std::vector<const Value*> destination_value = arguments_for(call, written);
  const std::vector<const Value*> source_value = arguments_for(call, read);
  if (destination_value.empty() || source_value.empty()) return unknown(call);
  const Binding destination = evaluate(*destination_value.front(), true);
  const Binding source = evaluate(*source_value.front(), source_value.front()->is_name());
  if (!destination.is_tensor()) return unknown(call);
  const auto first = static_cast<std::uint32_t>(sets_.accesses_.size());
  if (source.is_tensor()) {
    touch(AccessKind::Read, source.tensor, source_value.front()->text, call.at);
  }
  const auto write = static_cast<std::uint32_t>(sets_.accesses_.size());
  touch(AccessKind::Write, destination.tensor, destination_value.front()->text, call.at);
  CopySite& site =
      add_site(call, path_.size() == 1 ? CopySite::Form::Statement : CopySite::Form::Inner,
               destination.tensor, destination_value.front()->text);
  site.first_access = first;
  site.write = write;
  site.end_access = static_cast<std::uint32_t>(sets_.accesses_.size());
  if (source.is_tensor()) {
    site.source = source_value.front()->text;
    site.source_at = tensors_[source.tensor];
  }
  bind_output(call.output, destination);
}

void AliasBuilder::write_in_place(const BoundSymbol& call, const WrittenParameters& written) {
  const OpInfo& op = call.op_info();
  const bool keyed = info(op.twin).has(kKeyedWrite);
  const auto is_written = [&written](std::size_t param) {
    return std::find(written.parameters.begin(), written.parameters.end(), param) !=
           written.parameters.end();
  };
  const auto first = static_cast<std::uint32_t>(sets_.accesses_.size());
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    if (is_written(i) && (keyed || !reads_written_argument(op))) continue;
    for (const Value* value : arguments_for(call, i)) {
      read_value(*value, call.at, is_tensor_param(op.params[i]));
    }
  }
  const AccessKind kind = written.sure ? AccessKind::Write : AccessKind::MayWrite;
  const InnerCopies copies = inner_copies(call);
  Binding result;
  const auto write_leaf = [&](const Value& leaf) {
    for (const TensorIndex tensor : tensors_in(leaf, leaf.is_name())) {
      if (result.kind == Binding::Kind::Unbound) result = Binding::of_tensor(tensor);
      const auto copy = copies.find(leaf.text);
      const BoundSymbol& writer = copy == copies.end() ? call : *call.subsymbols[copy->second];
      if (copy != copies.end()) path_.push_back(copy->second);
      const auto write = static_cast<std::uint32_t>(sets_.accesses_.size());
      if (keyed) {
        write_keyed(call, tensor, leaf.text, kind);
      } else {
        touch(kind, tensor, leaf.text, call.at);
      }
      CopySite& site = add_site(writer, CopySite::Form::InPlace, tensor, leaf.text);
      site.first_access = first;
      site.write = write;
      site.end_access = static_cast<std::uint32_t>(sets_.accesses_.size());
      if (copy == copies.end()) continue;
      path_.pop_back();
      const auto source = arguments_for(writer, writer.op_info().mutated_param == 0 ? 1 : 0);
      if (!source.empty() && source.front()->is_name()) site.source = source.front()->text;
    }
  };
  for (const std::size_t param : written.parameters) {
    for (const Value* value : arguments_for(call, param)) for_each_leaf(*value, write_leaf);
  }
  if (result.is_tensor() && !op.has(kHidesWrites) && call.output.is_name()) {
    if (written.sure) {
      bind_output(call.output, result);
    } else {
      scopes_.bind(
          call.output.text,
          fresh_or_alias(call.output.text, type_of(call.output.text, call), {result.tensor}));
    }
    return;
  }
  bind_outputs(call, tensors_in_arguments(call), false);
}

// x[key] = value: with an integer or slice key the window is known, otherwise some elements are
// written.
void AliasBuilder::write_keyed(const BoundSymbol& call, TensorIndex written, std::string_view name,
                               AccessKind kind) {
  const Placement& base = tensors_[written];
  const std::vector<const Value*> key = arguments_for(call, 1);
  bool by_tensor = key.empty();
  for (const Value* part : key) by_tensor = by_tensor || !tensors_in(*part, false).empty();
  if (base.geometry && !by_tensor) {
    const std::vector<Value> args = {Value::name(name), with_numbers(*key.front(), name)};
    const auto outcome = view_outcome(OpCode::Getitem, *base.geometry, args, base.element_bytes);
    if (outcome && outcome->kind == ViewOutcome::Kind::View && outcome->outputs.size() == 1) {
      Placement window = base;
      window.geometry = outcome->outputs.front();
      window.whole = false;
      touch(kind, add_tensor(std::move(window)), name, call.at);
      return;
    }
  }
  touch(AccessKind::MayWrite, written, name, call.at);
}

void AliasBuilder::add_copies_after_return(std::uint32_t first_statement) {
  for (std::uint32_t i = first_statement; i < trace_.bound_symbols.size(); ++i) {
    path_ = {i};
    add_unexecuted(*trace_.bound_symbols[i]);
  }
}

void AliasBuilder::add_unexecuted(const BoundSymbol& statement) {
  const bool is_copy = statement.kind == StatementKind::Call && statement.op_info().has(kCopyInto);
  if (is_copy) {
    const OpInfo& op = statement.op_info();
    CopySite site;
    site.path = path_;
    site.statement = &statement;
    site.form = path_.size() == 1 ? CopySite::Form::Statement : CopySite::Form::Inner;
    const auto written = static_cast<std::size_t>(op.mutated_param);
    const auto destination = arguments_for(statement, written);
    const auto source = arguments_for(statement, written == 0 ? 1 : 0);
    if (!destination.empty() && destination.front()->is_name()) {
      site.destination = destination.front()->text;
      if (const Binding* binding = scopes_.find(site.destination);
          binding && binding->is_tensor()) {
        site.destination_at = tensors_[binding->tensor];
      }
    }
    if (!source.empty() && source.front()->is_name()) site.source = source.front()->text;
    sets_.copies_.push_back(std::move(site));
    return;
  }
  if (path_.size() > kMaxDepth) return;
  for (std::uint32_t i = 0; i < statement.subsymbols.size(); ++i) {
    path_.push_back(i);
    add_unexecuted(*statement.subsymbols[i]);
    path_.pop_back();
  }
}

}  // namespace tg
