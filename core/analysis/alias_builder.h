// AliasBuilder: walks a trace in execution order and fills AliasSets. Internal to core/analysis.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/analysis/alias_analysis.h"
#include "core/analysis/bindings.h"
#include "core/analysis/call_arguments.h"

namespace tg {

class AliasBuilder {
 public:
  AliasBuilder(const Trace& trace, const DefUse& def_use, const ArgumentFacts& facts,
               AliasSets& sets);
  void build();

 private:
  // ---- storages and tensors
  StorageId add_storage(std::string_view label, const TypeRef& type);
  TensorIndex add_tensor(Placement placement);
  Binding fresh(std::string_view name, const TypeRef& type, std::optional<Geometry> geometry);
  // A new storage that may instead be one of those of `inputs`.
  Binding fresh_or_alias(std::string_view name, const TypeRef& type,
                         const std::vector<TensorIndex>& inputs);
  Binding argument(std::string_view name, const TypeRef& type);
  Binding missing(std::string_view name);
  [[nodiscard]] TypeRef type_of(std::string_view name, const BoundSymbol& statement) const;

  // ---- reading values
  Binding evaluate(const Value& value, bool expect_tensor);
  std::vector<TensorIndex> tensors_in(const Value& value, bool expect_tensor);
  std::vector<TensorIndex> tensors_in_arguments(const BoundSymbol& call);
  Value with_numbers(const Value& value, std::string_view viewed);

  // ---- touching storages
  void touch(AccessKind kind, TensorIndex tensor, std::string_view name, SourceRange at,
             bool maybe = false);
  void emit(AccessKind kind, StorageId storage, const Placement& placement, std::string_view name,
            SourceRange at, bool own);
  void touch_everything(SourceRange at);
  void read_value(const Value& value, SourceRange at, bool expect_tensor);

  // ---- statements
  void walk(const BoundSymbol& statement);
  void annotate(const BoundSymbol& statement);
  void unpack(const BoundSymbol& statement);
  void return_from(const BoundSymbol& statement);
  void call(const BoundSymbol& call);
  [[nodiscard]] bool runs_by_substatements(const BoundSymbol& call,
                                           const WrittenParameters& written) const;
  void descend(const BoundSymbol& call);
  void copy_into(const BoundSymbol& call);
  void identity(const BoundSymbol& call);
  void write_in_place(const BoundSymbol& call, const WrittenParameters& written);
  void write_keyed(const BoundSymbol& call, TensorIndex written, std::string_view name,
                   AccessKind kind);
  void view(const BoundSymbol& call);
  void bind_views(const BoundSymbol& call, TensorIndex viewed,
                  const std::vector<Geometry>* geometries);
  void pure(const BoundSymbol& call);
  void unknown(const BoundSymbol& call);
  void add_copies_after_return(std::uint32_t first_statement);
  void add_unexecuted(const BoundSymbol& statement);

  std::optional<Geometry> fresh_geometry(const BoundSymbol& call, const TypeRef& type,
                                         const std::vector<TensorIndex>& inputs) const;
  void bind_outputs(const BoundSymbol& call, const std::vector<TensorIndex>& inputs,
                    bool may_alias);
  void bind_output(const Value& output, const Binding& binding);
  void record_definitions(std::uint32_t statement);
  void record(DefinitionId definition, const Binding& binding);
  CopySite& add_site(const BoundSymbol& statement, CopySite::Form form, TensorIndex destination,
                     std::string_view destination_name);

  const Trace& trace_;
  const DefUse& def_use_;
  const ArgumentFacts& facts_;
  AliasSets& sets_;
  TypeTable types_;
  Scopes scopes_;
  std::vector<Placement> tensors_;
  std::vector<std::uint32_t> path_;
  std::unordered_map<std::string_view, const ArgumentFacts::Window*> windows_;
  std::unordered_map<std::uint32_t, StorageId> shared_storages_;  // fact's storage number -> ours
  std::uint32_t region_depth_ = 0;
  bool text_is_missing_ = false;
};

constexpr std::size_t kMaxDepth = 64;  // of composites inside composites

// Numbers, strings, classes: nothing that has a storage.
bool is_number_or_text(const TypeRef& type);
bool is_tensor_type(const TypeRef& type);

// The text after "-> " says that the operation gives tensors.
bool returns_tensor(const OpInfo& op);

}  // namespace tg
