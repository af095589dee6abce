// tg_bench [--table=FILE.md] [--large=FOLDER] [options of Google Benchmark]: measures, shows,
// writes the tables.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/cold_start.h"
#include "bench/passes.h"
#include "bench/peers.h"
#include "bench/programs.h"
#include "bench/table.h"
#include "core/analysis/alias_analysis.h"
#include "core/analysis/def_use.h"
#include "core/base/file.h"
#include "core/export/graph.h"
#include "core/export/graph_layout.h"
#include "core/pass/pass.h"
#include "core/text/parser.h"
#include "core/text/printer.h"

namespace tg {
namespace {

constexpr std::size_t kStatementsPerParameter = 24;
constexpr std::size_t kGrowth[] = {1'000, 3'000, 10'000, 30'000, 100'000};
constexpr std::size_t kLayoutNodes = 20'000;

struct Options {
  std::string table;
  std::string large;
};

Trace parse_one(const std::string& text) {
  return parse_trace_file("bench", text).phases.at(0).trace;
}

Trace after_pass(const Trace& before, std::string_view name) {
  PassContext context;
  return find_pass(name)->run(before, context).after;
}

void measure_pass(const std::string& benchmark_name, std::string_view pass,
                  const std::shared_ptr<const Trace>& trace) {
  benchmark::RegisterBenchmark(benchmark_name.c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      PassContext context;
      PassResult result = find_pass(pass)->run(*trace, context);
      if (result.error) state.SkipWithError(result.error->message.c_str());
      benchmark::DoNotOptimize(result);
    }
  })->Unit(benchmark::kMillisecond);
}

void measure_texts(const std::shared_ptr<const std::vector<NamedText>>& texts) {
  benchmark::RegisterBenchmark(
      "parse",
      [=](benchmark::State& state) {
        for (auto _ : state) {
          for (const NamedText& text : *texts)
            benchmark::DoNotOptimize(parse_trace_file(text.name, text.text));
        }
      })
      ->Unit(benchmark::kMillisecond)
      ->Iterations(1)
      ->Repetitions(3);
  benchmark::RegisterBenchmark("print",
                               [=](benchmark::State& state) {
                                 for (auto _ : state) {
                                   for (const NamedText& text : *texts) {
                                     state.PauseTiming();
                                     const TraceFile file = parse_trace_file(text.name, text.text);
                                     state.ResumeTiming();
                                     benchmark::DoNotOptimize(print(file));
                                   }
                                 }
                               })
      ->Unit(benchmark::kMillisecond)
      ->Iterations(1)
      ->Repetitions(3);
}

void measure_growth(std::size_t statements) {
  const auto text =
      std::make_shared<const std::string>(adam_text(statements / kStatementsPerParameter));
  const auto trace = std::make_shared<const Trace>(parse_one(*text));
  const auto wrapped = std::make_shared<const Trace>(after_pass(*trace, "wrap_return"));
  benchmark::RegisterBenchmark(fmt::format("growth/parse/{}", statements).c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state)
                                   benchmark::DoNotOptimize(parse_trace_file("bench", *text));
                               })
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(fmt::format("growth/aliases/{}", statements).c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state) {
                                   const DefUse def_use(*trace);
                                   benchmark::DoNotOptimize(AliasSets(*trace, def_use));
                                 }
                               })
      ->Unit(benchmark::kMillisecond);
  measure_pass(fmt::format("growth/functionalize/{}", statements), "functionalize", wrapped);
  measure_pass(fmt::format("growth/dead_code/{}", statements), "dead_code", wrapped);
  measure_pass(fmt::format("growth/audit_copies/{}", statements), "audit_copies", wrapped);
}

// Drawing a trace of about `nodes` nodes; the graph is built once.
void measure_layout(std::size_t nodes) {
  const Trace trace = parse_one(adam_text(nodes / kStatementsPerParameter));
  const DefUse def_use(trace);
  const AliasSets sets(trace, def_use);
  const auto graph = std::make_shared<const Graph>(build_graph(trace, def_use, sets, "bench"));
  benchmark::RegisterBenchmark(fmt::format("layout/{}", nodes).c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state) {
                                   state.PauseTiming();
                                   Graph copy = *graph;
                                   state.ResumeTiming();
                                   lay_out(copy);
                                   benchmark::DoNotOptimize(copy);
                                 }
                               })
      ->Unit(benchmark::kMillisecond);
}

// A recorded stage by the end of its path; empty without recordings.
std::shared_ptr<const Trace> recorded(const std::vector<NamedText>& texts, std::string_view start) {
  for (const NamedText& text : texts) {
    if (text.name.starts_with(start)) return std::make_shared<const Trace>(parse_one(text.text));
  }
  return nullptr;
}

std::size_t bytes_of(const std::vector<NamedText>& texts) {
  std::size_t bytes = 0;
  for (const NamedText& text : texts) bytes += text.text.size();
  return bytes;
}

std::string rate_text(double seconds, std::size_t bytes) {
  if (seconds <= 0) return "not measured";
  return fmt::format("{:.1f} MB/s", static_cast<double>(bytes) / 1e6 / seconds);
}

Table text_table(const KeepingReporter& kept, const std::vector<NamedText>& texts, bool generated,
                 std::optional<double> python) {
  const std::size_t bytes = bytes_of(texts);
  const auto row = [&](const std::string& what, double seconds) {
    return std::vector<std::string>{what, seconds_text(seconds), rate_text(seconds, bytes)};
  };
  Table table{"How fast are texts read and printed?", {"", "time", "rate"}, {}, ""};
  table.rows.push_back(row("parse", kept.seconds("parse")));
  table.rows.push_back(row("print", kept.seconds("print")));
  table.rows.push_back(row("CPython's `ast.parse`, which skips comments", python.value_or(-1)));
  table.remark = fmt::format(
      "{} {} texts, {:.1f} MB, one after another; best of three (ours), one run (CPython).",
      texts.size(), generated ? "generated" : "recorded", static_cast<double>(bytes) / 1e6);
  return table;
}

Table functionalize_table(const KeepingReporter& kept) {
  Table table{"How long does functionalization take?",
              {"Adam step", "Thunderglass", "lightning-thunder"},
              {},
              ""};
  const auto row = [&](const std::string& what, const std::string& name, const std::string& peer) {
    if (kept.seconds(name) < 0) return;
    table.rows.push_back({what, seconds_text(kept.seconds(name)), peer});
  };
  row("2,401 statements, generated", "functionalize/2401", "1.6 s");
  row("9,601 statements, generated", "functionalize/9601", "19.8 s");
  row("2,401 statements, recorded", "functionalize/recorded/100", "1.6 s");
  row("9,601 statements, recorded", "functionalize/recorded/400", "19.8 s");
  table.remark =
      "Ours writes down every rewrite with its reason. Thunder's figures are CPU time recorded "
      "with the December "
      "2024 version on another machine.";
  return table;
}

Table growth_table(const KeepingReporter& kept) {
  Table table{"Does the time grow linearly? Microseconds a statement",
              {"statements", "parse", "aliases", "functionalize", "dead code", "audit of copies"},
              {},
              ""};
  for (const std::size_t statements : kGrowth) {
    std::vector<std::string> row = {fmt::format("{}", statements)};
    for (const std::string_view what :
         {"parse", "aliases", "functionalize", "dead_code", "audit_copies"}) {
      const double seconds = kept.seconds(fmt::format("growth/{}/{}", what, statements));
      row.push_back(seconds < 0
                        ? "not measured"
                        : fmt::format("{:.2f}", seconds * 1e6 / static_cast<double>(statements)));
    }
    table.rows.push_back(std::move(row));
  }
  table.remark =
      "A generated Adam step; about half of its lines are sub-statements, which count in the time "
      "but not as statements. Sampled with perf, 1,000 and 100,000 statements spend their time in "
      "the same functions, none of which is more than linear: a third is malloc and free, a fifth "
      "hash tables of names; a plain walk over the statements costs six times as much each at "
      "100,000, where they no longer fit into the processor's caches.";
  return table;
}

Table waiting_table(const KeepingReporter& kept, const std::vector<double>& cold) {
  Table table{"What does a user wait for?", {"", "time", "wanted"}, {}, ""};
  const double middle = cold.empty() ? -1 : cold[cold.size() / 2];
  table.rows.push_back(
      {"`check` of the bundled program from a cold start (median)", seconds_text(middle), "50 ms"});
  table.rows.push_back({fmt::format("layout of {} nodes", kLayoutNodes),
                        seconds_text(kept.seconds(fmt::format("layout/{}", kLayoutNodes))),
                        "100 ms"});
  return table;
}

std::string machine_text() {
  std::string model = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  }
  return fmt::format("{}, {} processors, {}", model, std::thread::hardware_concurrency(),
                     first_output_line("c++ --version"));
}

Options take_options(std::vector<char*>& arguments) {
  Options options;
  const auto take = [](std::string_view argument, std::string_view name, std::string& into) {
    if (!argument.starts_with(name)) return false;
    into = argument.substr(name.size());
    return true;
  };
  std::erase_if(arguments, [&](const char* argument) {
    return take(argument, "--table=", options.table) || take(argument, "--large=", options.large);
  });
  return options;
}

int run_all(int count, char** words) {
  std::vector<char*> arguments(words, words + count);
  const Options options = take_options(arguments);
  int left = static_cast<int>(arguments.size());
  benchmark::Initialize(&left, arguments.data());

  auto texts = std::make_shared<std::vector<NamedText>>();
  if (!options.large.empty()) *texts = recorded_texts(options.large);
  const bool generated = texts->empty();
  if (generated) {
    for (const std::size_t parameters : {100U, 400U, 1200U}) {
      texts->push_back({fmt::format("adam{}", parameters), adam_text(parameters)});
    }
  }
  measure_texts(texts);
  measure_passes(*texts);
  for (const std::size_t parameters : {100U, 400U}) {
    const Trace acquired = parse_one(adam_text(parameters));
    measure_pass(fmt::format("functionalize/{}", parameters * kStatementsPerParameter + 1),
                 "functionalize",
                 std::make_shared<const Trace>(after_pass(acquired, "wrap_return")));
    if (const auto trace =
            recorded(*texts, fmt::format("adam{}-direct-dec2024/computation-01", parameters))) {
      measure_pass(fmt::format("functionalize/recorded/{}", parameters), "functionalize", trace);
    }
  }
  for (const std::size_t statements : kGrowth) measure_growth(statements);
  measure_layout(kLayoutNodes);

  KeepingReporter kept;
  benchmark::RunSpecifiedBenchmarks(&kept);
  const std::vector<double> cold =
      cold_start_seconds({TG_PROGRAM, "check", TG_SOURCE_DIR "/assets/traces/lost_write.txt"}, 21);
  if (!cold.empty())
    std::printf("check from a cold start, median of %zu: %.1f ms\n", cold.size(),
                cold[cold.size() / 2] * 1e3);
  if (options.table.empty()) return 0;

  std::string text =
      "# Benchmarks\n\nWritten by `./dev bench`; no gates. Measured on " + machine_text() + ".\n\n";
  text += to_markdown(text_table(kept, *texts, generated, python_parse_seconds(*texts)));
  text += to_markdown(functionalize_table(kept));
  text += to_markdown(passes_table(kept));
  text += to_markdown(growth_table(kept));
  text += to_markdown(waiting_table(kept, cold));
  while (text.ends_with("\n\n")) text.pop_back();
  const Result<bool> written = write_file(options.table, text, Overwrite::Allow);
  if (written) return 0;
  std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return 3;
}

}  // namespace
}  // namespace tg

int main(int count, char** words) {
  return tg::run_all(count, words);
}
