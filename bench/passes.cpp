#include "bench/passes.h"

#include <array>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "core/pass/pass.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {
namespace {

constexpr std::string_view kPrint = "print";  // no pass, but what Thunder does after each

constexpr std::array<std::string_view, 8> kPasses = {
    "functionalize", "dead_code",        "common_subexpressions",   "operator_executors",
    "fusion",        "delete_last_used", "transform_for_execution", kPrint};

struct Program {
  std::string_view name;
  std::string_view text;  // part of the name of a recorded text
  // Where there is no recorded text, a step of Adam is generated; 0: left out.
  std::size_t parameters = 0;
};

constexpr std::array<Program, 4> kPrograms = {{
    {"Adam, 2,401 statements", "adam100-direct-dec2024/computation-01", 100},
    {"Adam, 9,601 statements", "adam400-direct-dec2024/computation-01", 400},
    {"RNN of 500 steps, 3,507 statements", "rnn500-direct-dec2024/computation-01", 0},
    {"chain, 36,400 statements", "chain5200-direct-dec2024/computation-04", 0},
}};

std::string benchmark_name(const Program& program, std::string_view pass) {
  return fmt::format("pass/{}/{}", pass, program.name);
}

PassResult run_quietly(std::string_view pass, const Trace& before) {
  PassContext context;
  context.record_steps = false;
  return find_pass(pass)->run(before, context);
}

std::shared_ptr<const Trace> acquired(const Program& program, const std::vector<NamedText>& texts) {
  const auto parsed = [](const std::string& text) {
    TraceFile file = parse_trace_file("bench", text);
    return file.phases.empty() ? nullptr
                               : std::make_shared<const Trace>(std::move(file.phases[0].trace));
  };
  for (const NamedText& text : texts) {
    if (text.name.find(program.text) != std::string::npos) return parsed(text.text);
  }
  if (program.parameters > 0) {
    const auto trace = parsed(adam_text(program.parameters));
    return std::make_shared<const Trace>(run_quietly("wrap_return", *trace).after);
  }
  return nullptr;
}

}  // namespace

void measure_passes(const std::vector<NamedText>& texts) {
  for (const Program& program : kPrograms) {
    const std::shared_ptr<const Trace> before = acquired(program, texts);
    if (!before) continue;
    const auto functional =
        std::make_shared<const Trace>(run_quietly("functionalize", *before).after);
    for (const std::string_view pass : kPasses) {
      const std::shared_ptr<const Trace> input = pass == "functionalize" ? before : functional;
      benchmark::RegisterBenchmark(benchmark_name(program, pass).c_str(),
                                   [pass, input](benchmark::State& state) {
                                     for (auto _ : state) {
                                       if (pass == kPrint) {
                                         benchmark::DoNotOptimize(print(*input));
                                       } else {
                                         benchmark::DoNotOptimize(run_quietly(pass, *input));
                                       }
                                     }
                                   })
          ->Unit(benchmark::kMillisecond)
          ->Repetitions(3);
    }
  }
}

Table passes_table(const KeepingReporter& kept) {
  Table table{"How long does each pass take alone, without writing down its steps?", {""}, {}, ""};
  for (const std::string_view pass : kPasses) table.columns.emplace_back(pass);
  for (const Program& program : kPrograms) {
    std::vector<std::string> row = {std::string(program.name)};
    bool any = false;
    for (const std::string_view pass : kPasses) {
      const double seconds = kept.seconds(benchmark_name(program, pass));
      any = any || seconds >= 0;
      row.push_back(seconds < 0 ? "not measured" : seconds_text(seconds));
    }
    if (any) table.rows.push_back(std::move(row));
  }
  table.rows.push_back({"lightning-thunder, 2,401 statements", "1.6 s", "86 ms", "29 ms", "", "",
                        "61 ms", "", "0.2 s"});
  table.rows.push_back(
      {"lightning-thunder, 9,601 statements", "19.8 s", "", "", "", "", "", "", ""});
  table.remark =
      "On a parsed trace; functionalization makes both of Thunder's traces. The other passes get "
      "its result. Thunder's figures are CPU time recorded with the December 2024 version on "
      "another machine. What bounds ours is memory: statements are read and written once or twice, "
      "and from some 5,000 statements on they no longer fit into the processor's caches.";
  return table;
}

}  // namespace tg
