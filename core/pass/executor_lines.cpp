#include "core/pass/executor_lines.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include <fmt/format.h>

#include "core/pass/swap.h"

namespace tg {
namespace {

std::vector<std::string_view> words(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    found.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + separator.size()));
  }
  return found;
}

// A literal of executors.def: None, False, 1, NAME=LITERAL.
Value literal(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    return Value::keyword(text.substr(0, equals), literal(text.substr(equals + 1)));
  }
  if (text == "None") return Value::none();
  if (text == "True" || text == "False") return Value::boolean(text == "True");
  const bool is_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  return Value::leaf(is_number ? ValueKind::Int : ValueKind::Name, text);
}

// "alpha? out!": keywords that are left out when None, or always.
void drop_keywords(std::vector<Value>& args, std::string_view rules) {
  for (const std::string_view rule : words(rules, " ")) {
    const std::string_view name = rule.substr(0, rule.size() - 1);
    const bool always = rule.back() == '!';
    std::erase_if(args, [&](const Value& arg) {
      return arg.kind == ValueKind::Keyword && arg.text == name &&
             (always || arg.items.front().kind == ValueKind::None);
    });
  }
}

std::vector<Value> reordered(const std::vector<Value>& args, std::string_view order) {
  if (order.empty()) return args;
  std::vector<Value> result;
  for (const std::string_view word : words(order, " ")) {
    std::size_t index = 0;
    std::from_chars(word.data(), word.data() + word.size(), index);
    if (index < args.size()) result.push_back(args[index]);
  }
  for (std::size_t i = result.size(); i < args.size(); ++i) result.push_back(args[i]);
  return result;
}

std::vector<Value> with_defaults(std::vector<Value> args, std::string_view defaults) {
  auto keywords = std::find_if(args.begin(), args.end(),
                               [](const Value& arg) { return arg.kind == ValueKind::Keyword; });
  for (const std::string_view text : words(defaults, ", ")) {
    keywords = args.insert(keywords, literal(text)) + 1;
  }
  return args;
}

// The positional arguments behind the first as one tuple: reshape(a, 3, 3).
std::vector<Value> with_tuple(const BoundSymbol& statement) {
  const std::size_t count = positional_count(statement);
  if (count < 2) return statement.args;
  if (count == 2 && statement.args[1].is_collection()) return statement.args;
  std::vector<Value> args = {statement.args.front()};
  args.push_back(Value::tuple(
      {statement.args.begin() + 1, statement.args.begin() + static_cast<std::ptrdiff_t>(count)}));
  args.insert(args.end(), statement.args.begin() + static_cast<std::ptrdiff_t>(count),
              statement.args.end());
  return args;
}

std::optional<DType> dtype_of(const Value& value) {
  return value.kind == ValueKind::Dotted ? parse_dtype(value.text) : std::nullopt;
}

// devices.Device("cpu") -> torch.device("cpu"), dtypes.float32 -> torch.float32
Value in_torch_spelling(const Value& value) {
  if (value.kind == ValueKind::Keyword) {
    return Value::keyword(value.text, in_torch_spelling(value.items.front()));
  }
  if (value.kind == ValueKind::Call && value.text == "devices.Device") {
    return Value::call("torch.device", value.items);
  }
  if (const std::optional<DType> dtype = dtype_of(value)) {
    return Value::leaf(ValueKind::Dotted, fmt::format("torch.{}", torch_name(*dtype)));
  }
  return value;
}

std::vector<Value> in_torch_spelling(std::vector<Value> args) {
  for (Value& arg : args) arg = in_torch_spelling(arg);
  return args;
}

Value keyword_or_none(const BoundSymbol& statement, std::string_view name) {
  const Value* value = keyword_argument(statement, name);
  return value ? *value : Value::none();
}

bool is_device(const Value& value) {
  return value.kind == ValueKind::String ||
         (value.kind == ValueKind::Call && base_name(value.text).ends_with("evice"));
}

std::optional<std::int64_t> integer(const Value& value) {
  if (value.kind != ValueKind::Int) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
  if (error != std::errc{} || end != value.text.data() + value.text.size()) return std::nullopt;
  return number;
}

std::vector<std::int64_t> integers(const Value& list) {
  std::vector<std::int64_t> numbers;
  for (const Value& item : list.items) numbers.push_back(integer(item).value_or(0));
  return numbers;
}

Value int_list(const std::vector<std::int64_t>& numbers) {
  std::vector<Value> items;
  for (const std::int64_t number : numbers) items.push_back(Value::integer(number));
  return Value::list(std::move(items));
}

struct Arguments {
  std::vector<Value> printed;
  std::vector<Value> like;
};

Arguments arange_arguments(const BoundSymbol& statement) {
  const std::size_t count = positional_count(statement);
  if (count < 3) return {statement.args, statement.args};
  Value start = statement.args[0];
  Value end = statement.args[1];
  const Value& step = statement.args[2];
  if (end.kind == ValueKind::None) {
    end = start;
    start = Value::integer(0);
  }
  const std::vector<Value> keywords = in_torch_spelling(std::vector<Value>(
      statement.args.begin() + static_cast<std::ptrdiff_t>(count), statement.args.end()));
  Arguments args = {
      {Value::keyword("start", start), Value::keyword("step", step), Value::keyword("end", end)},
      {start, end, step}};
  args.printed.insert(args.printed.end(), keywords.begin(), keywords.end());
  args.like.insert(args.like.end(), keywords.begin(), keywords.end());
  return args;
}

Arguments to_arguments(const BoundSymbol& statement) {
  Value device = keyword_or_none(statement, "device");
  Value dtype = keyword_or_none(statement, "dtype");
  for (std::size_t i = 1; i < positional_count(statement); ++i) {
    if (is_device(statement.args[i])) device = statement.args[i];
    if (dtype_of(statement.args[i])) dtype = statement.args[i];
  }
  device = in_torch_spelling(device);
  dtype = in_torch_spelling(dtype);
  const Value* copy = keyword_argument(statement, "copy");
  const Value copies = copy ? *copy : Value::boolean(false);
  const Value format = keyword_or_none(statement, "memory_format");
  Arguments args;
  args.printed = {statement.args.front(), Value::keyword("copy", copies)};
  if (device.kind != ValueKind::None) args.printed.push_back(Value::keyword("device", device));
  if (dtype.kind != ValueKind::None) args.printed.push_back(Value::keyword("dtype", dtype));
  if (format.kind != ValueKind::None) {
    args.printed.push_back(Value::keyword("memory_format", format));
  }
  args.like = {statement.args.front(),
               Value::none(),
               Value::none(),
               Value::keyword("device", device),
               Value::keyword("dtype", dtype),
               Value::keyword("copy", copies),
               Value::keyword("memory_format", format)};
  return args;
}

std::vector<Value> to_like(const Value& a, const Value& target, bool copy) {
  return {a,
          target,
          Value::none(),
          Value::keyword("device", Value::none()),
          Value::keyword("dtype", Value::none()),
          Value::keyword("copy", Value::boolean(copy)),
          Value::keyword("memory_format", Value::none())};
}

Arguments convert_arguments(const BoundSymbol& statement) {
  if (statement.args.size() < 2) return {statement.args, statement.args};
  const Value target = in_torch_spelling(statement.args[1]);
  return {{statement.args[0], target, Value::keyword("copy", Value::boolean(true))},
          to_like(statement.args[0], target, true)};
}

Arguments device_arguments(const BoundSymbol& statement) {
  if (statement.args.size() < 2) return {statement.args, statement.args};
  const Value& device = statement.args[1];
  const Value target =
      device.kind == ValueKind::Call && device.items.size() == 1 ? device.items.front() : device;
  return {{statement.args[0], target}, to_like(statement.args[0], target, false)};
}

Arguments iota_arguments(const BoundSymbol& statement) {
  const std::optional<std::int64_t> length =
      statement.args.empty() ? std::nullopt : integer(statement.args.front());
  const Value start = keyword_or_none(statement, "start");
  const Value step = keyword_or_none(statement, "step");
  if (!length || !integer(start) || !integer(step)) return {statement.args, statement.args};
  const Value end = Value::integer(*integer(start) + *length * *integer(step));
  Arguments args = {
      {Value::keyword("start", start), Value::keyword("step", step), Value::keyword("end", end)},
      {start, end, step}};
  for (const std::string_view name : {"device", "dtype"}) {
    const Value value = Value::keyword(name, in_torch_spelling(keyword_or_none(statement, name)));
    args.printed.push_back(value);
    args.like.push_back(value);
  }
  return args;
}

Arguments sort_arguments(const BoundSymbol& statement) {
  std::vector<Value> args = statement.args;
  constexpr std::string_view kNames[] = {"", "dim", "descending", "stable"};
  for (std::size_t i = 1; i < std::min<std::size_t>(4, positional_count(statement)); ++i) {
    args[i] = Value::keyword(kNames[i], args[i]);
  }
  return {std::move(args), statement.args};
}

Arguments arguments(const BoundSymbol& statement, const ExecutorRow& row) {
  switch (row.form) {
    case ArgumentForm::Same:
      break;
    case ArgumentForm::Tuple: {
      std::vector<Value> args = with_tuple(statement);
      return {args, args};
    }
    case ArgumentForm::NoLastNone: {
      std::vector<Value> args = statement.args;
      if (args.size() > 1 && args.back().kind == ValueKind::None) args.pop_back();
      return {std::move(args), statement.args};
    }
    case ArgumentForm::Arange:
      return arange_arguments(statement);
    case ArgumentForm::To:
      return to_arguments(statement);
    case ArgumentForm::Sort:
      return sort_arguments(statement);
    case ArgumentForm::Convert:
      return convert_arguments(statement);
    case ArgumentForm::DevicePut:
      return device_arguments(statement);
    case ArgumentForm::Iota:
      return iota_arguments(statement);
    case ArgumentForm::TorchKeywords: {
      std::vector<Value> args = in_torch_spelling(statement.args);
      return {args, args};
    }
    case ArgumentForm::Broadcast:
      return {};
  }
  Arguments args;
  args.printed = reordered(statement.args, row.order);
  args.like = with_defaults(args.printed, row.defaults);
  drop_keywords(args.printed, row.drop);
  return args;
}

// Results of the sub-statements that no sub-statement reads, in order: what the statement gives.
std::vector<NameId> results_of(const BoundSymbol& statement, const NameTable& names) {
  std::vector<NameId> results;
  for (const BoundSymbolRef& child : statement.subsymbols) {
    for (const NameId out : proxy_outs(*child, names)) {
      const bool is_read = std::any_of(
          statement.subsymbols.begin(), statement.subsymbols.end(), [&](const auto& reader) {
            const std::vector<NameId> read = proxy_args(*reader, names);
            return reader != child && std::find(read.begin(), read.end(), out) != read.end();
          });
      if (!is_read && std::find(results.begin(), results.end(), out) == results.end()) {
        results.push_back(out);
      }
    }
  }
  return results;
}

std::size_t count_leaves(const Value& output) {
  std::size_t count = 0;
  for_each_leaf(output, [&count](const Value&) { ++count; });
  return count;
}

BoundSymbol without_surroundings(const BoundSymbol& statement) {
  BoundSymbol plain = statement;
  plain.header.clear();
  plain.program_line = nullptr;
  plain.verbatim.reset();
  plain.verbatim_has_program_line = false;
  return plain;
}

}  // namespace

BoundSymbolRef ExecutorLines::documented(const BoundSymbol& statement, const ExecutorRow& row,
                                         std::vector<Value> args, std::vector<Value> like_args) {
  BoundSymbol line = make_call(row.printed, statement.output, std::move(args), statement.type);
  line.program_line = statement.program_line;
  line.at = statement.at;
  if (row.like.empty()) return std::make_shared<const BoundSymbol>(std::move(line));
  // A composite that makes nothing itself (`ltorch.detach`) is documented by nothing.
  if (row.is_composite) {
    BoundSymbol composite = statement;
    composite.args = std::move(like_args);
    line.subsymbols.push_back(retracer_.composite(composite));
  } else if (row.like == statement.callee) {
    line.subsymbols.push_back(std::make_shared<const BoundSymbol>(without_surroundings(statement)));
  } else {
    BoundSymbol composite =
        make_call(row.like, statement.output, std::move(like_args), statement.type);
    composite.subsymbols.push_back(
        std::make_shared<const BoundSymbol>(without_surroundings(statement)));
    line.subsymbols.push_back(retracer_.composite(composite));
  }
  return std::make_shared<const BoundSymbol>(std::move(line));
}

BoundSymbol ExecutorLines::with_all_outputs(const BoundSymbol& statement) {
  BoundSymbol full = statement;
  const std::vector<NameId> results = results_of(statement, names_);
  std::vector<std::pair<NameId, NameId>> renamed;
  const auto fresh = [&](std::size_t position, std::size_t count) {
    const NameId old = results.size() == count ? results[position] : kNoName;
    const NameId name = names_.fresh(old == kNoName ? nullptr : names_.type(old));
    if (old != kNoName) renamed.emplace_back(old, name);
    return name;
  };
  if (statement.output.kind == ValueKind::Absent) {
    NameId name = kNoName;
    if (is_raw_copy(statement) && statement.args.size() > 1 && statement.args[1].is_name()) {
      const NameId written = names_.find(statement.args[1].text);
      name = names_.fresh(written == kNoName ? nullptr : names_.type(written));
    } else if (results.size() == 1) {
      name = fresh(0, 1);
    }
    if (name == kNoName) return full;
    full.output = Value::name(names_.text(name));
    full.type = names_.type(name);
  } else {
    const std::size_t count = count_leaves(statement.output);
    std::size_t position = 0;
    const std::function<void(Value&)> fill = [&](Value& value) {
      if (value.items.empty()) {
        if (value.is_name("_")) value.text = std::string(names_.text(fresh(position, count)));
        ++position;
        return;
      }
      for (Value& item : value.items) fill(item);
    };
    fill(full.output);
    if (full.output.is_name() && !full.type) full.type = names_.type(names_.find(full.output.text));
  }
  for (BoundSymbolRef& child : full.subsymbols) {
    child = swap_names(child, names_, [&renamed](NameId name) {
      const auto found = std::find_if(renamed.begin(), renamed.end(),
                                      [name](const auto& pair) { return pair.first == name; });
      return found == renamed.end() ? kNoName : found->second;
    });
  }
  return full;
}

std::vector<BoundSymbolRef> ExecutorLines::broadcast(const BoundSymbol& statement) {
  std::vector<BoundSymbolRef> lines;
  if (statement.args.size() < 3 || !statement.args[0].is_name()) return lines;
  const Value& shape = statement.args[1];
  const std::vector<std::int64_t> dims = integers(statement.args[2]);
  Value current = statement.args[0];
  const NameId source = names_.find(current.text);
  TypeRef type = source == kNoName ? nullptr : names_.type(source);
  std::vector<std::int64_t> sizes;
  if (type && type->shape) {
    sizes = *type->shape;
  } else {
    // One of several outputs has no type comment: its sizes are those that it is broadcast to.
    type = statement.type;
    for (const std::int64_t dim : dims) {
      const auto index = static_cast<std::size_t>(dim);
      if (index < shape.items.size()) sizes.push_back(integer(shape.items[index]).value_or(1));
    }
  }
  const auto add = [&](std::string_view callee, std::string_view like, const Value& out,
                       const TypeRef& of, const Value& argument, std::vector<Value> prim_args) {
    BoundSymbol line = make_call(callee, out, {current, argument}, of);
    line.program_line = statement.program_line;
    line.at = statement.at;
    BoundSymbol composite = make_call(like, out, {current, argument}, of);
    composite.subsymbols.push_back(std::make_shared<const BoundSymbol>(
        make_call("prims.broadcast_in_dim", out, std::move(prim_args), of)));
    line.subsymbols.push_back(std::make_shared<const BoundSymbol>(std::move(composite)));
    lines.push_back(std::make_shared<const BoundSymbol>(std::move(line)));
    current = out;
  };
  for (std::size_t i = 0; i < shape.items.size(); ++i) {
    const auto dim = static_cast<std::int64_t>(i);
    if (std::find(dims.begin(), dims.end(), dim) != dims.end() || i > sizes.size()) continue;
    std::vector<std::int64_t> kept;
    for (std::size_t k = 0; k <= sizes.size(); ++k) {
      if (k != i) kept.push_back(static_cast<std::int64_t>(k));
    }
    sizes.insert(sizes.begin() + dim, 1);
    const TypeRef grown = type ? reshaped_type(type, sizes) : nullptr;
    const Value out = Value::name(names_.text(names_.fresh(grown)));
    add("torch.unsqueeze", "ltorch.unsqueeze", out, grown, Value::integer(dim),
        {current, int_list(sizes), int_list(kept)});
  }
  std::vector<std::int64_t> all(shape.items.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  add("Tensor.expand", "ltorch.expand", statement.output, statement.type, shape,
      {current, Value::tuple(shape.items), Value::int_tuple(all)});
  return lines;
}

std::vector<BoundSymbolRef> ExecutorLines::lines(const BoundSymbol& statement,
                                                 const ExecutorRow& row) {
  if (row.form == ArgumentForm::Broadcast) return broadcast(statement);
  // Guards give nothing.
  const bool has_blank = statement.output.kind != ValueKind::Absent &&
                         to_text(statement.output).find('_') != std::string::npos;
  const bool gives_nothing =
      statement.output.kind == ValueKind::Absent && statement.op_info().has(kGuard);
  Arguments args = arguments(statement, row);
  if (gives_nothing || (statement.output.kind != ValueKind::Absent && !has_blank)) {
    return {documented(statement, row, std::move(args.printed), std::move(args.like))};
  }
  return {
      documented(with_all_outputs(statement), row, std::move(args.printed), std::move(args.like))};
}

}  // namespace tg
