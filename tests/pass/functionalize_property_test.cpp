// Laws of functionalize over random programs with views, writes and aliases; and its growth with
// the trace.

#include <chrono>
#include <random>
#include <unordered_set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/pass/pass_testing.h"

namespace tg {
namespace {

using testing::trace_of;

// A program over two arguments: unary operations, views and writes in place, everything of four
// elements.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed) : random_(seed) {}

  std::string text(int statements) {
    std::string text =
        "def computation(x, y):\n  # x: \"cpu f32[2, 2]\"\n  # y: \"cpu f32[2, 2]\"\n";
    names_ = {{"x", kSquare}, {"y", kSquare}};
    for (int i = 0; i < statements; ++i) text += statement();
    text += fmt::format("  return {{'output': ({}, {}), 'flat_args': [x, y]}}\n", pick().name,
                        pick().name);
    return text;
  }

 private:
  static constexpr std::string_view kSquare = "[2, 2]";
  static constexpr std::string_view kFlat = "[4]";
  struct Name {
    std::string name;
    std::string_view shape;
  };

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  const Name& pick() { return names_[below(names_.size())]; }
  std::string fresh() { return fmt::format("t{}", counter_++); }
  static std::string typed(const std::string& name, std::string_view shape) {
    return fmt::format("  # {}: \"cpu f32{}\"", name, shape);
  }

  std::string statement() {
    const Name source = pick();
    switch (below(5)) {
      case 0: {  // a view
        const std::string view = fresh();
        const bool flat = source.shape == kSquare;
        names_.push_back({view, flat ? kFlat : kSquare});
        return fmt::format("  {} = ltorch.view({}, {}){}\n", view, source.name,
                           flat ? "(4,)" : "(2, 2)", typed(view, flat ? kFlat : kSquare));
      }
      case 1:
      case 2: {  // a write
        const std::string value = fresh();
        const std::string result = fresh();
        names_.push_back({result, source.shape});
        return fmt::format(
            "  {1} = ltorch.exp_({0}){4}\n    # {2} = ltorch.exp({0}){3}\n    # {1} = "
            "prims.copy_({2}, {0}){4}\n",
            source.name, result, value, typed(value, source.shape), typed(result, source.shape));
      }
      case 3: {  // a write without a result
        const std::string value = fresh();
        const std::string result = fresh();
        return fmt::format(
            "  ltorch.setitem_({0}, 0, 1.0)\n    # {2} = ltorch.setitem({0}, 0, 1.0){3}\n    # {1} "
            "= prims.copy_({2}, {0}){4}\n",
            source.name, result, value, typed(value, source.shape), typed(result, source.shape));
      }
      default: {  // a read
        const std::string result = fresh();
        names_.push_back({result, source.shape});
        return fmt::format("  {} = ltorch.sin({}){}\n", result, source.name,
                           typed(result, source.shape));
      }
    }
  }

  std::mt19937 random_;
  std::vector<Name> names_;
  int counter_ = 0;
};

// The first name that is read before it is bound; empty if there is none.
std::string undefined_name(const Trace& trace) {
  std::unordered_set<std::string_view> bound;
  for (const Parameter& parameter : trace.parameters) bound.insert(parameter.name);
  for (const BoundSymbolRef& statement : trace.bound_symbols) {
    for (const std::string_view name : argument_names(*statement)) {
      if (!bound.contains(name)) return std::string(name) + " in " + one_line(*statement);
    }
    for (const std::string_view name : output_names(*statement)) bound.insert(name);
  }
  return {};
}

TEST(FunctionalizeLaws, StepsReplayAndEveryPrefixIsValid) {
  std::size_t functionalized = 0;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    const std::string text = RandomProgram(seed).text(3 + static_cast<int>(seed % 10));
    const Trace before = trace_of(text);
    PassContext context;
    const PassResult result = find_pass("functionalize")->run(before, context);
    ASSERT_TRUE(same_body(replay(before, result.steps), result.after)) << text;
    if (result.error) continue;
    ++functionalized;
    for (std::size_t count = 1; count <= result.steps.size(); ++count) {
      ASSERT_EQ(undefined_name(replay(before, std::span(result.steps).first(count))), "")
          << "after step " << count << " " << result.steps[count - 1].rule << " of\n"
          << text;
    }
    // Without recording the result is the same.
    context.record_steps = false;
    ASSERT_EQ(find_pass("functionalize")->run(before, context).after, result.after) << text;
    // No write in place is left that has a functional twin.
    for (const BoundSymbolRef& statement : result.after.bound_symbols) {
      ASSERT_FALSE(statement->kind == StatementKind::Call && statement->op_info().has(kInPlace))
          << text;
    }
  }
  EXPECT_GT(functionalized, 500U);
}

TEST(FunctionalizeLaws, AnySkippedStepLeavesAValidTrace) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const std::string text = RandomProgram(seed).text(3 + static_cast<int>(seed % 8));
    const Trace before = trace_of(text);
    PassContext plain;
    const PassResult all = find_pass("functionalize")->run(before, plain);
    if (all.error) continue;
    for (std::size_t skipped = 1; skipped <= all.steps.size(); ++skipped) {
      PassContext context;
      context.filter.skip_numbers = {skipped};
      const PassResult result = find_pass("functionalize")->run(before, context);
      ASSERT_TRUE(same_body(replay(before, result.steps), result.after)) << text;
      ASSERT_EQ(undefined_name(result.after), "")
          << "without step " << skipped << " " << all.steps[skipped - 1].rule << " of\n"
          << text;
    }
  }
}

TEST(FunctionalizeLaws, PrefixesOfTheCanonicalFormReplay) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const Trace before = trace_of(RandomProgram(seed).text(8));
    PassContext context;
    const PassResult canonical = find_pass("canonicalize")->run(before, context);
    ASSERT_TRUE(same_body(replay(before, canonical.steps), canonical.after));
    if (canonical.error) continue;
    const PassResult copies = find_pass("functionalize_copies")->run(canonical.after, context);
    ASSERT_TRUE(same_body(replay(canonical.after, copies.steps), copies.after));
    const PassResult whole = find_pass("functionalize")->run(before, context);
    ASSERT_EQ(whole.error.has_value(), copies.error.has_value());
    if (!whole.error) {
      ASSERT_EQ(whole.after, copies.after);
    }
  }
}

// One state that is written and read again and again, a chain of writes through result names, a
// temporary with many views: the shapes that make Thunder quadratic.
std::string long_program(int rounds) {
  std::string text = "def computation(x, y):\n  # x: \"cpu f32[2]\"\n  # y: \"cpu f32[2]\"\n";
  text += "  acc = ltorch.sin(x)  # acc: \"cpu f32[2]\"\n";
  std::string chain = "y";
  for (int i = 0; i < rounds; ++i) {
    text += fmt::format(
        "  a{0} = ltorch.exp_(x)  # a{0}: \"cpu f32[2]\"\n    # av{0} = ltorch.exp(x)  # av{0}: "
        "\"cpu f32[2]\"\n"
        "    # a{0} = prims.copy_(av{0}, x)  # a{0}: \"cpu f32[2]\"\n"
        "  c{0} = ltorch.neg_({1})  # c{0}: \"cpu f32[2]\"\n    # cv{0} = ltorch.neg({1})  # "
        "cv{0}: \"cpu f32[2]\"\n"
        "    # c{0} = prims.copy_(cv{0}, {1})  # c{0}: \"cpu f32[2]\"\n"
        "  s{0} = ltorch.add_(acc, x, alpha=1)  # s{0}: \"cpu f32[2]\"\n"
        "    # sv{0} = ltorch.add(acc, x, alpha=1)  # sv{0}: \"cpu f32[2]\"\n"
        "    # s{0} = prims.copy_(sv{0}, acc)  # s{0}: \"cpu f32[2]\"\n"
        "  r{0} = ltorch.add(x, y, alpha=1)  # r{0}: \"cpu f32[2]\"\n",
        i, chain);
    chain = fmt::format("c{}", i);
  }
  return text + "  return {'output': acc, 'flat_args': [x, y]}\n";
}

double milliseconds_of(int rounds, std::size_t& statements) {
  const Trace before = trace_of(long_program(rounds));
  PassContext context;
  const auto begin = std::chrono::steady_clock::now();
  const PassResult result = find_pass("functionalize")->run(before, context);
  const auto end = std::chrono::steady_clock::now();
  EXPECT_FALSE(result.error.has_value()) << result.error->message;
  statements = result.after.bound_symbols.size();
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

TEST(FunctionalizeGrowth, TenTimesTheProgramTakesNoHundredTimesTheTime) {
  std::size_t few = 0;
  std::size_t many = 0;
  const double small = milliseconds_of(400, few);
  const double large = milliseconds_of(8000, many);
  EXPECT_GT(many, 15 * few);
  // Linear would be 20; quadratic would be 400. A busy machine must not fail the test.
  EXPECT_LT(large, 120 * std::max(small, 2.0)) << small << " ms and " << large << " ms";
}

}  // namespace
}  // namespace tg
