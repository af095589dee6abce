#include "tests/support/trace_generator.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/ir/dtype.h"
#include "core/ir/geometry.h"
#include "core/ir/type.h"
#include "core/text/parser.h"

namespace tg::test {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::string_view kHead =
    "import thunder\nimport thunder.core.prims as prims\nimport thunder.torch as ltorch\nimport "
    "torch\n"
    "from thunder.executors.torchex import no_autocast\n\n@torch.no_grad()\n@no_autocast\n";

const std::vector<Sizes>& shapes() {
  static const std::vector<Sizes> all = {{2},    {4},    {2, 2}, {},        {3},
                                         {2, 3}, {1, 2}, {0},    {2, 1, 2}, {2, 0}};
  return all;
}

const std::vector<DType>& dtypes() {
  // Mostly f32: values of another dtype take part in views and copies only.
  static const std::vector<DType> all = {DType::Float32, DType::Float32, DType::Float32,
                                         DType::Float32, DType::Float64, DType::Int64};
  return all;
}

// The functional twins of in-place rows with one tensor (or two) and nothing else that must be
// given. The table says which they are; results of another dtype (comparisons, logic) are left out
// by their classes.
std::vector<OpCode> twins_with_tensors(std::size_t tensors) {
  std::vector<OpCode> ops;
  const std::set<std::string_view> others = {
      "LogicalNot", "LogicalAnd", "LogicalOr", "LogicalXor", "BitwiseNot", "BitwiseAnd",
      "BitwiseOr", "BitwiseXor", "Eq", "Ne", "Ge", "Gt", "Le", "Lt", "Nextafter", "Pow",
      "FloorDivide", "Remainder", "Fmod", "Lgamma", "Digamma", "Erfinv", "Tan", "Gcd",
      // must be given one of its optional bounds
      "Clamp"};
  for (const OpInfo& op : all_ops()) {
    if (op.twin == OpCode::Opaque) continue;
    const OpInfo& twin = info(op.twin);
    if (!twin.has(kElementwise) || twin.has(kRandom | kNoKernel | kFactory | kKeyedWrite)) continue;
    if (others.contains(twin.name) || twin.spellings.find("ltorch.") == std::string_view::npos)
      continue;
    std::size_t required = 0;
    bool all_tensors = true;
    for (const Param& param : twin.params) {
      if (!param.default_text.empty() || param.keyword_only) continue;
      ++required;
      all_tensors = all_tensors && param.type == "Tensor";
    }
    if (all_tensors && required == tensors && twin.params.front().type == "Tensor")
      ops.push_back(op.twin);
  }
  std::sort(ops.begin(), ops.end());
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  return ops;
}

std::string_view spelling(OpCode op, std::string_view prefix) {
  std::string_view rest = info(op).spellings;
  while (!rest.empty()) {
    const std::size_t space = rest.find(' ');
    const std::string_view one = rest.substr(0, space);
    if (one.starts_with(prefix)) return one;
    if (space == std::string_view::npos) break;
    rest.remove_prefix(space + 1);
  }
  return {};
}

// ", -1.0, 1.0": Thunder prints positional arguments that were not given too.
std::string default_arguments(const OpInfo& op, std::size_t given) {
  std::string text;
  for (std::size_t i = given; i < op.params.size() && !op.params[i].keyword_only; ++i) {
    text += fmt::format(", {}", op.params[i].default_text);
  }
  return text;
}

OpCode in_place_form(OpCode twin) {
  const auto ops = all_ops();
  const auto found =
      std::find_if(ops.begin(), ops.end(), [twin](const OpInfo& op) { return op.twin == twin; });
  return found == ops.end() ? OpCode::Opaque : found->code;
}

struct Live {
  std::string name;
  DType dtype = DType::Float32;
  Geometry geometry;
  std::uint32_t storage = 0;
  bool is_argument = false;
  bool is_stale = false;  // its storage was written through another name since
};

class Grower {
 public:
  explicit Grower(const ProgramKinds& kinds) : kinds_(kinds) {}

  GeneratedProgram grow(const ProgramGenes& genes) {
    std::size_t count = std::min<std::size_t>(genes.arguments.size(), 4);
    for (std::size_t i = 0; i < count; ++i) argument(genes.arguments[i]);
    if (live_.empty()) argument({});
    for (const Gene& gene : genes.statements) statement(gene);
    finish(genes.returns);
    GeneratedProgram program;
    program.text = std::string(kHead) + "def computation(" +
                   fmt::format("{}", fmt::join(parameters_, ", ")) + "):\n" + annotations_ + body_;
    program.aliases = aliases_;
    return program;
  }

 private:
  // ---- text

  static std::string type_text(DType dtype, const Sizes& sizes) {
    return tensor_type("cpu", dtype, sizes)->text;
  }
  static std::string comment(const Live& value) {
    return fmt::format("  # {}: \"{}\"", value.name, type_text(value.dtype, value.geometry.sizes));
  }
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  void inner(int depth, const std::string& text) {
    body_ += std::string(2 + 2 * depth, ' ') + "# " + text + "\n";
  }
  std::string fresh_name() { return fmt::format("t{}", next_name_++); }

  // ---- values

  Live fresh(DType dtype, Geometry geometry) {
    return {fresh_name(), dtype, std::move(geometry), next_storage_++, false, false};
  }
  const Live* pick(std::uint32_t number) const {
    std::vector<const Live*> usable;
    for (const Live& value : live_) {
      if (!value.is_stale) usable.push_back(&value);
    }
    return usable.empty() ? nullptr : usable[number % usable.size()];
  }
  const Live* pick_float(std::uint32_t number) const {
    std::vector<const Live*> usable;
    for (const Live& value : live_) {
      if (!value.is_stale && value.dtype == DType::Float32) usable.push_back(&value);
    }
    return usable.empty() ? nullptr : usable[number % usable.size()];
  }
  // A destination of writes: PyTorch refuses tensors that overlap themselves.
  const Live* pick_destination(std::uint32_t number, bool floats_only) const {
    std::vector<const Live*> usable;
    for (const Live& value : live_) {
      if (value.is_stale || overlaps_itself(value.geometry)) continue;
      if (floats_only && value.dtype != DType::Float32) continue;
      if (!kinds_.writes_through_views && is_view(value)) continue;
      usable.push_back(&value);
    }
    return usable.empty() ? nullptr : usable[number % usable.size()];
  }
  bool is_view(const Live& value) const {
    // Neither the first name of its storage nor the same elements as that.
    const auto first = std::find_if(live_.begin(), live_.end(), [&value](const Live& other) {
      return other.storage == value.storage;
    });
    return first != live_.end() && !(first->geometry == value.geometry);
  }
  // PyTorch refuses operands that overlap the written tensor without being the same elements.
  static bool clashes(const Live& written, const Live& read) {
    if (written.storage != read.storage) return false;
    const Overlap common = overlap(written.geometry, read.geometry);
    return common != Overlap::None &&
           !(written.geometry == read.geometry && written.dtype == read.dtype);
  }
  static std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
    Sizes result(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
      const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
      if (x != y && x != 1 && y != 1) return std::nullopt;
      result[result.size() - 1 - i] = x == 1 ? y : x;
    }
    return result;
  }
  // What memory order an elementwise result has.
  static Geometry elementwise_geometry(const Sizes& sizes,
                                       const std::vector<const Live*>& operands) {
    std::vector<std::vector<std::int64_t>> strides;
    for (const Live* operand : operands) {
      std::vector<std::int64_t> one(sizes.size(), 0);
      const std::size_t lead = sizes.size() - operand->geometry.rank();
      for (std::size_t d = 0; d < operand->geometry.rank(); ++d) {
        if (operand->geometry.sizes[d] == sizes[lead + d])
          one[lead + d] = operand->geometry.strides[d];
      }
      strides.push_back(std::move(one));
    }
    return ordered_geometry(sizes, memory_order(sizes, strides));
  }

  void written(const Live& destination, const std::string& newest) {
    if (kinds_.reads_of_written_bases) return;
    for (Live& value : live_) {
      if (value.storage == destination.storage && value.name != newest) value.is_stale = true;
    }
  }

  // ---- arguments

  void argument(const Gene& gene) {
    Live value;
    value.name = std::string(1, static_cast<char>('a' + live_.size()));
    value.is_argument = true;
    value.dtype = dtypes()[gene.a % dtypes().size()];
    const std::size_t shape_count = kinds_.zero_sizes ? shapes().size() : 7;
    value.geometry = contiguous_geometry(shapes()[gene.b % shape_count]);
    if (kinds_.aliased_arguments && gene.kind % 3 == 1 && !live_.empty()) {
      const Live base = live_[gene.a % live_.size()];
      if (const auto [window, text] = alias_window(base, kinds_.partial_windows ? gene.c : 0);
          window) {
        value.dtype = base.dtype;
        value.geometry = *window;
        value.storage = base.storage;
        aliases_.push_back(value.name + "=" + base.name + text);
      } else {
        value.storage = next_storage_++;
      }
    } else {
      value.storage = next_storage_++;
    }
    parameters_.push_back(value.name);
    annotations_ +=
        fmt::format("  # {}: \"{}\"\n", value.name, type_text(value.dtype, value.geometry.sizes));
    live_.push_back(std::move(value));
  }

  static std::pair<std::optional<Geometry>, std::string> alias_window(const Live& base,
                                                                      std::uint32_t form) {
    const Geometry& g = base.geometry;
    switch (form % 4) {
      case 1:
        if (g.rank() == 2)
          return {Geometry{{g.sizes[1], g.sizes[0]}, {g.strides[1], g.strides[0]}, g.offset},
                  ".t()"};
        break;
      case 2:
        if (g.rank() >= 1 && g.sizes[0] >= 2) {
          Geometry window = g;
          window.sizes[0] -= 1;
          window.offset += g.strides[0];
          return {window, "[1:]"};
        }
        break;
      case 3:
        if (g.rank() >= 1 && g.sizes[0] >= 1) {
          Geometry window{{g.sizes.begin() + 1, g.sizes.end()},
                          {g.strides.begin() + 1, g.strides.end()},
                          g.offset};
          return {window, "[0]"};
        }
        break;
      default:
        break;
    }
    return {g, ""};
  }

  // ---- statements

  void statement(const Gene& gene) {
    switch (gene.kind % 18) {
      case 0:
      case 1:
        unary(gene, false);
        return;
      case 2:
        binary(gene, false);
        return;
      case 3:
      case 4:
      case 5:
        if (kinds_.views) view(gene);
        return;
      case 6:
      case 7:
        if (kinds_.in_place) unary(gene, true);
        return;
      case 8:
        if (kinds_.in_place) binary(gene, true);
        return;
      case 9:
      case 10:
      case 11:
        copy(gene);
        return;
      case 12:
        clone(gene);
        return;
      case 13:
        if (kinds_.setitem) setitem(gene);
        return;
      case 14:
        if (kinds_.dels) del(gene);
        return;
      case 15:
        if (kinds_.updates) update(gene);
        return;
      case 16:
        if (kinds_.regions) region(gene);
        return;
      case 17:
        convert(gene);
        return;
      default:
        return;
    }
  }

  void unary(const Gene& gene, bool in_place) {
    static const std::vector<OpCode> ops = twins_with_tensors(1);
    const OpCode op = ops[gene.a % ops.size()];
    const std::string_view name = spelling(op, "ltorch.");
    const std::string_view prim = spelling(op, "prims.");
    const bool untagged =
        info(op).has(kThunderUntagged) || info(in_place_form(op)).has(kThunderUntagged);
    if (in_place && untagged && !kinds_.untagged_writes) return;
    const Live* found = in_place ? pick_destination(gene.b, true) : pick_float(gene.b);
    if (found == nullptr) return;
    const Live input = *found;
    Live result = fresh(input.dtype, elementwise_geometry(input.geometry.sizes, {&input}));
    if (!in_place) {
      line(fmt::format("{} = {}({}{}){}", result.name, name, input.name,
                       default_arguments(info(op), 1), comment(result)));
      if (!prim.empty())
        inner(1, fmt::format("{} = {}({}){}", result.name, prim, input.name, comment(result)));
      live_.push_back(std::move(result));
      return;
    }
    write_in_place(
        input, result,
        fmt::format("{}_({}{})", name, input.name, default_arguments(info(in_place_form(op)), 1)),
        fmt::format("{}({}{})", name, input.name, default_arguments(info(op), 1)),
        prim.empty() ? std::string() : fmt::format("{}({})", prim, input.name));
  }

  // `out = call`, `# t = functional`, `#   t = prim`, `# out = prims.copy_(t, input)`
  void write_in_place(const Live& input, const Live& functional, const std::string& call,
                      const std::string& functional_call, const std::string& prim_call) {
    Live result = input;
    result.name = fresh_name();
    result.is_argument = false;
    line(fmt::format("{} = {}{}", result.name, call, comment(result)));
    inner(1, fmt::format("{} = {}{}", functional.name, functional_call, comment(functional)));
    if (!prim_call.empty())
      inner(2, fmt::format("{} = {}{}", functional.name, prim_call, comment(functional)));
    inner(1, fmt::format("{} = prims.copy_({}, {}){}", result.name, functional.name, input.name,
                         comment(result)));
    written(input, result.name);
    live_.push_back(std::move(result));
  }

  void binary(const Gene& gene, bool in_place) {
    static const std::vector<OpCode> ops = twins_with_tensors(2);
    const Live* found = in_place ? pick_destination(gene.b, true) : pick_float(gene.b);
    const Live* other_found = pick_float(gene.c);
    if (found == nullptr || other_found == nullptr) return;
    const Live first = *found;
    const Live second = *other_found;
    const std::optional<Sizes> sizes = broadcast(first.geometry.sizes, second.geometry.sizes);
    const bool by_number =
        !sizes || (in_place && (*sizes != first.geometry.sizes || clashes(first, second)));
    // Others (atan2, logical_and, ...) take a number in Thunder and refuse it in PyTorch.
    static constexpr OpCode kWithNumber[] = {OpCode::Add, OpCode::Sub, OpCode::Mul,
                                             OpCode::TrueDivide};
    const OpCode op =
        by_number ? kWithNumber[gene.a % std::size(kWithNumber)] : ops[gene.a % ops.size()];
    const std::string_view name = spelling(op, "ltorch.");
    const std::string operand = by_number ? "2.0" : second.name;
    std::vector<const Live*> operands = {&first};
    if (!by_number) operands.push_back(&second);
    Live result = fresh(DType::Float32,
                        elementwise_geometry(by_number ? first.geometry.sizes : *sizes, operands));
    const std::string arguments = fmt::format("({}, {})", first.name, operand);
    if (!in_place) {
      line(fmt::format("{} = {}{}{}", result.name, name, arguments, comment(result)));
      live_.push_back(std::move(result));
      return;
    }
    write_in_place(first, result, fmt::format("{}_{}", name, arguments),
                   fmt::format("{}{}", name, arguments), "");
  }

  void clone(const Gene& gene) {
    const Live* found = pick(gene.b);
    if (found == nullptr) return;
    Live result = fresh(found->dtype, dense_like(found->geometry));
    line(fmt::format("{} = ltorch.clone({}){}", result.name, found->name, comment(result)));
    live_.push_back(std::move(result));
  }

  void convert(const Gene& gene) {
    const Live* found = pick(gene.b);
    if (found == nullptr) return;
    const DType to = found->dtype == DType::Float32 ? DType::Float64 : DType::Float32;
    Live result = fresh(to, cast_like(found->geometry));
    line(fmt::format("{} = prims.convert_element_type({}, dtypes.{}){}", result.name, found->name,
                     thunder_name(to), comment(result)));
    live_.push_back(std::move(result));
  }

  // ---- views

  void view(const Gene& gene) {
    const Live* found = pick(gene.b);
    if (found == nullptr) return;
    const Live base = *found;
    const Geometry& g = base.geometry;
    const std::int64_t rank = static_cast<std::int64_t>(g.rank());
    const std::int64_t elements = element_count(g);
    std::string call;
    switch (gene.a % 16) {
      case 0:
        call = fmt::format("ltorch.view({}, {})", base.name, elements);
        break;
      case 1:
        call = fmt::format("ltorch.transpose({}, 0, {})", base.name,
                           std::max<std::int64_t>(rank - 1, 0));
        break;
      case 2:
        call = slice(base, gene.c);
        break;
      case 3:
        call = fmt::format("ltorch.unsqueeze({}, 0)", base.name);
        break;
      case 4:
        if (rank > 0 && g.sizes[0] > 0) {
          call = fmt::format("ltorch.getitem({}, {})", base.name,
                             static_cast<std::int64_t>(gene.c) % g.sizes[0]);
        }
        break;
      case 5:
        if (rank > 0) call = fmt::format("ltorch.getitem({}, slice(1, None, None))", base.name);
        break;
      case 6:
        if (rank < 3) {
          call = fmt::format("ltorch.expand({}, ({}))", base.name,
                             fmt::join(with_front(g.sizes, 2), ", "));
        }
        break;
      case 7:
        if (kinds_.maybe_views)
          call = fmt::format("ltorch.reshape({}, ({},))", base.name, elements);
        break;
      case 8:
        if (kinds_.maybe_views) call = fmt::format("ltorch.contiguous({})", base.name);
        break;
      case 9:
        if (kinds_.maybe_views) call = fmt::format("ltorch.flatten({}, 0, -1)", base.name);
        break;
      case 10:
        if (kinds_.maybe_views) {
          call = fmt::format(
              "prims.reshape({}, ({}))", base.name,
              rank == 0 ? std::string("1,") : fmt::format("{}, 1", fmt::join(g.sizes, ", ")));
        }
        break;
      case 11:
        if (rank == 2) call = fmt::format("prims.transpose({}, (1, 0))", base.name);
        break;
      case 12:
        call = fmt::format("ltorch.detach({})", base.name);
        break;
      case 13:
        if (rank > 0 && g.sizes[0] > 0) {
          call = fmt::format("ltorch.select({}, 0, {})", base.name,
                             static_cast<std::int64_t>(gene.c) % g.sizes[0]);
        }
        break;
      case 14:
        if (rank > 0 && g.sizes.back() > 1) {
          call =
              fmt::format("ltorch.narrow({}, {}, 1, {})", base.name, rank - 1, g.sizes.back() - 1);
        }
        break;
      case 15:
        if (kinds_.maybe_views) {
          call = fmt::format("ltorch.to({}, torch.{})", base.name, torch_name(base.dtype));
        }
        break;
      default:
        break;
    }
    if (call.empty()) return;
    const Result<BoundSymbol> statement = parse_statement("t = " + call);
    const std::string_view op_name = std::string_view(call).substr(0, call.find('('));
    const auto outcome = view_outcome(op_of(op_name), g, statement->args, size_bytes(base.dtype),
                                      {base.dtype, "cpu"});
    if (!outcome || outcome->outputs.size() != 1) return;
    Live result = base;
    result.name = fresh_name();
    result.is_argument = false;
    result.geometry = outcome->outputs.front();
    if (outcome->kind == ViewOutcome::Kind::Copy) result.storage = next_storage_++;
    line(fmt::format("{} = {}{}", result.name, call, comment(result)));
    live_.push_back(std::move(result));
  }

  static Sizes with_front(const Sizes& sizes, std::int64_t front) {
    Sizes result = sizes;
    result.insert(result.begin(), front);
    return result;
  }

  // One of the overlapping windows that leave out the first or the last elements.
  static std::string slice(const Live& base, std::uint32_t number) {
    if (base.geometry.rank() == 0) return "";
    Sizes start;
    Sizes end;
    for (const std::int64_t size : base.geometry.sizes) {
      const bool cut_front = number % 2 == 0;
      start.push_back(cut_front && size > 1 ? 1 : 0);
      end.push_back(!cut_front && size > 1 ? size - 1 : size);
      number /= 2;
    }
    return fmt::format("prims.slice_prim({}, [{}], [{}])", base.name, fmt::join(start, ", "),
                       fmt::join(end, ", "));
  }

  // ---- writes

  void copy(const Gene& gene) {
    const Live* to = pick_destination(gene.b, false);
    if (to == nullptr) return;
    const Live destination = *to;
    std::vector<const Live*> sources;
    for (const Live& value : live_) {
      if (value.is_stale) continue;
      const bool same =
          value.dtype == destination.dtype && value.geometry.sizes == destination.geometry.sizes;
      const auto sizes = broadcast(value.geometry.sizes, destination.geometry.sizes);
      const bool fits =
          kinds_.converting_copies ? sizes && *sizes == destination.geometry.sizes : same;
      // A float's fraction would be lost on the way to an integer; PyTorch allows it, values stay
      // exact.
      if (fits && !clashes(destination, value)) sources.push_back(&value);
    }
    if (sources.empty()) return;
    const Live source = *sources[gene.c % sources.size()];
    Live result = destination;
    result.name = fresh_name();
    result.is_argument = false;
    const bool raw = kinds_.raw_copies && (gene.a % 3 != 0 || !kinds_.torch_copies);
    if (raw) {
      const std::string target = gene.a % 5 == 0 ? std::string() : result.name + " = ";
      if (target.empty()) {
        line(fmt::format("prims.copy_({}, {})", source.name, destination.name));
        written(destination, destination.name);
        return;
      }
      line(fmt::format("{}prims.copy_({}, {}){}", target, source.name, destination.name,
                       comment(result)));
    } else if (kinds_.torch_copies) {
      line(fmt::format("{} = ltorch.copy_({}, {}){}", result.name, destination.name, source.name,
                       comment(result)));
      inner(1, fmt::format("{} = prims.copy_({}, {}){}", result.name, source.name, destination.name,
                           comment(result)));
    } else {
      return;
    }
    written(destination, result.name);
    live_.push_back(std::move(result));
  }

  void setitem(const Gene& gene) {
    const Live* to = pick_destination(gene.b, true);
    if (to == nullptr || to->geometry.rank() == 0 || to->geometry.sizes[0] == 0) return;
    const Live destination = *to;
    const std::int64_t index = static_cast<std::int64_t>(gene.c) % destination.geometry.sizes[0];
    const std::string key =
        gene.a % 2 == 0 ? fmt::format("{}", index) : fmt::format("slice({}, None, None)", index);
    const std::string value = fmt::format("{}.5", gene.a % 8);
    Live functional = fresh(destination.dtype, contiguous_geometry(destination.geometry.sizes));
    Live result = destination;
    result.name = fresh_name();
    line(fmt::format("ltorch.setitem_({}, {}, {})", destination.name, key, value));
    inner(1, fmt::format("{} = ltorch.setitem({}, {}, {}){}", functional.name, destination.name,
                         key, value, comment(functional)));
    inner(1, fmt::format("{} = prims.copy_({}, {}){}", result.name, functional.name,
                         destination.name, comment(result)));
    written(destination, destination.name);
  }

  void update(const Gene& gene) {
    const Live* first_found = pick(gene.a);
    const Live* second_found = pick(gene.b);
    if (first_found == nullptr) return;
    Live first = *first_found;
    const std::string first_name = first.name;
    first.name = fresh_name();
    first.is_argument = false;
    if (gene.c % 2 == 0 || second_found->name == first_name) {
      line(fmt::format("({},) = prims.update_aliases(({},))", first.name, first_name));
      live_.push_back(std::move(first));
      return;
    }
    Live second = *second_found;
    const std::string second_name = second.name;
    second.name = fresh_name();
    second.is_argument = false;
    line(fmt::format("({}, {}) = prims.update_aliases(({}, {}))", first.name, second.name,
                     first_name, second_name));
    live_.push_back(std::move(first));
    live_.push_back(std::move(second));
  }

  // [r, w] = nvFusionN(x, d): r from x, then a copy_ onto d.
  void region(const Gene& gene) {
    const Live* from = pick_float(gene.b);
    const Live* to = pick_destination(gene.c, true);
    if (from == nullptr || to == nullptr || from->geometry.sizes != to->geometry.sizes) return;
    const Live input = *from;
    const Live destination = *to;
    Live value = fresh(DType::Float32, elementwise_geometry(input.geometry.sizes, {&input}));
    Live result = destination;
    result.name = fresh_name();
    result.is_argument = false;
    line(fmt::format("[{}, {}] = nvFusion{}({}, {})", value.name, result.name, next_region_++,
                     input.name, destination.name));
    inner(1, fmt::format("{} = prims.sin({}){}", value.name, input.name, comment(value)));
    inner(1, fmt::format("{} = prims.copy_({}, {}){}", result.name, value.name, destination.name,
                         comment(result)));
    written(destination, result.name);
    live_.push_back(std::move(value));
    live_.push_back(std::move(result));
  }

  void del(const Gene& gene) {
    std::vector<std::size_t> droppable;
    for (std::size_t i = 0; i < live_.size(); ++i) {
      if (!live_[i].is_argument) droppable.push_back(i);
    }
    if (droppable.empty()) return;
    const std::size_t index = droppable[gene.b % droppable.size()];
    line("del " + live_[index].name);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  void finish(const std::vector<std::uint32_t>& returns) {
    std::vector<std::string> names;
    for (const std::uint32_t number : returns) {
      const Live* value = pick(number);
      if (value != nullptr && names.size() < 4) names.push_back(value->name);
    }
    std::string output = "()";
    if (names.size() == 1) output = fmt::format("({},)", names.front());
    if (names.size() > 1) output = fmt::format("({})", fmt::join(names, ", "));
    if (kinds_.wrapped_return && returns.size() % 3 == 2) {
      body_ += fmt::format("  return {{'output': {}, 'flat_args': [{}]}}", output,
                           fmt::join(parameters_, ", "));
    } else {
      body_ += "  return " + output;
    }
  }

  const ProgramKinds kinds_;
  std::vector<Live> live_;
  std::vector<std::string> parameters_;
  std::vector<std::string> aliases_;
  std::string annotations_;
  std::string body_;
  std::uint32_t next_name_ = 0;
  std::uint32_t next_storage_ = 0;
  std::uint32_t next_region_ = 0;
};

}  // namespace

GeneratedProgram grow(const ProgramGenes& genes, const ProgramKinds& kinds) {
  return Grower(kinds).grow(genes);
}

}  // namespace tg::test
