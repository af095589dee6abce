// Problem: a value is cast to a wider dtype and back, or cast twice.
//
//   a = prims.convert_element_type(x, dtypes.bfloat16)
//   b = prims.convert_element_type(a, dtypes.float32)       =>   c = prims.sin(x)
//   c = prims.sin(b)
// Rules
//   cast-back      a cast to the dtype that the value had at first goes; readers read that value
//   cast-of-cast   a cast of a cast casts the first value instead
//   in-region      the same for the parts of a region, whose outputs follow
// Refuses nothing. Only casts between floating dtypes. The rounding of the first cast is lost,
// which Thunder accepts.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/rename_readers.h"

namespace tg {
namespace {

struct Cast {
  NameId from = kNoName;
  NameId to = kNoName;
  DType dtype = DType::Float32;
};

// What is known of casts so far, outside the regions or inside one.
class Casts {
 public:
  explicit Casts(const NameTable& names) : names_(names) {}

  [[nodiscard]] std::optional<Cast> as_cast(const BoundSymbol& statement) const {
    if (statement.callee != "prims.convert_element_type" || statement.args.size() < 2 ||
        !statement.args[0].is_name() || !statement.output.is_name() ||
        statement.args[1].kind != ValueKind::Dotted) {
      return std::nullopt;
    }
    const NameId from = names_.find(statement.args[0].text);
    const NameId to = names_.find(statement.output.text);
    const std::optional<DType> dtype = parse_dtype(statement.args[1].text);
    if (from == kNoName || to == kNoName || !dtype || !is_float(*dtype)) return std::nullopt;
    const TypeRef& type = names_.type(from);
    if (!type || !type->dtype || !is_float(*type->dtype)) return std::nullopt;
    return Cast{from, to, *dtype};
  }

  // The first value of the chain that the cast ends; remembers the cast.
  NameId first_value(const Cast& cast) {
    const auto known = original_.find(cast.from);
    const NameId first = known == original_.end() ? cast.from : known->second;
    original_[cast.to] = first;
    return first;
  }

  [[nodiscard]] bool has_dtype(NameId name, DType dtype) const {
    const TypeRef& type = names_.type(name);
    return type && type->dtype && *type->dtype == dtype;
  }

 private:
  const NameTable& names_;
  std::unordered_map<NameId, NameId> original_;  // result -> the first value of its chain
};

BoundSymbolRef cast_from(const BoundSymbol& cast, NameId source, const NameTable& names) {
  auto shorter = std::make_shared<BoundSymbol>(cast);
  shorter->verbatim.reset();
  shorter->args[0] = Value::name(names.text(source));
  return shorter;
}

class RedundantCasts {
 public:
  RedundantCasts(const Trace& before, PassContext& context)
      : rw_(before, context), names_(before), readers_(rw_, names_), casts_(names_) {}

  PassResult run() && {
    const std::size_t count = rw_.before().bound_symbols.size();
    for (StatementId id = 0; id < count; ++id) {
      const BoundSymbolRef statement = rw_.statement(id);
      if (statement->op == OpCode::Fusion && statement->kind == StatementKind::Call) {
        visit_region(id, statement);
      } else if (const std::optional<Cast> cast = casts_.as_cast(*statement)) {
        visit_cast(id, *statement, *cast);
      }
    }
    return std::move(rw_).finish("Remove redundant casts (took 0 milliseconds)");
  }

 private:
  void visit_cast(StatementId id, const BoundSymbol& statement, const Cast& cast) {
    const NameId first = casts_.first_value(cast);
    if (casts_.has_dtype(first, cast.dtype)) {
      auto step = rw_.step("cast-back", id, [&] {
        return fmt::format("{} has the dtype that {} had before all casts", names_.text(cast.to),
                           names_.text(first));
      });
      if (!step.applied()) return;
      step.erase(id);
      readers_.rename(step, cast.to, first);
    } else if (first != cast.from) {
      rw_.step("cast-of-cast", id,
               [&] {
                 return fmt::format("{} casts a cast, so {} is cast at once",
                                    callee_at(statement, id), names_.text(first));
               })
          .replace(id, cast_from(statement, first, names_));
    }
  }

  void visit_region(StatementId id, const BoundSymbolRef& region) {
    Casts inner(names_);
    SwapMap gone;
    auto result = std::make_shared<BoundSymbol>(*region);
    result->verbatim.reset();
    result->subsymbols.clear();
    const auto end = [&gone](NameId name) { return gone.end(name, nullptr); };
    for (const BoundSymbolRef& part : region->subsymbols) {
      const BoundSymbolRef current =
          swap_names(part, names_, end, {.inputs = true, .output = false, .subsymbols = true});
      const std::optional<Cast> cast = inner.as_cast(*current);
      const NameId first = cast ? inner.first_value(*cast) : kNoName;
      if (cast && inner.has_dtype(first, cast->dtype)) {
        gone.set(cast->to, first);
      } else {
        result->subsymbols.push_back(
            cast && first != cast->from ? cast_from(*current, first, names_) : current);
      }
    }
    if (gone.empty() && result->subsymbols == region->subsymbols) return;
    std::vector<std::pair<NameId, NameId>> outside;
    rename_outputs(*result, gone, outside);
    auto step = rw_.step("in-region", id, [&] {
      return fmt::format(
          "casts inside {} lead back to the dtype that a value had at first, or cast "
          "a cast",
          callee_at(*region, id));
    });
    if (!step.applied()) return;
    step.replace(id, BoundSymbolRef(result));
    for (const auto& [from, to] : outside) readers_.rename(step, from, to);
  }

  void rename_outputs(BoundSymbol& region, const SwapMap& gone,
                      std::vector<std::pair<NameId, NameId>>& outside) const {
    Value outputs = Value::list({});
    for (Value item : region.output.items) {
      const NameId name = item.is_name() ? names_.find(item.text) : kNoName;
      const NameId to = name == kNoName ? kNoName : gone.end(name, nullptr);
      if (to != kNoName) {
        outside.emplace_back(name, to);
        item = Value::name(names_.text(to));
      }
      if (std::find(outputs.items.begin(), outputs.items.end(), item) == outputs.items.end()) {
        outputs.items.push_back(std::move(item));
      }
    }
    if (region.output.kind == ValueKind::List) region.output = std::move(outputs);
  }

  Rewriter rw_;
  NameTable names_;
  ReaderRenamer readers_;
  Casts casts_;
};

}  // namespace

PassResult redundant_casts(const Trace& before, PassContext& context) {
  return RedundantCasts(before, context).run();
}

}  // namespace tg
