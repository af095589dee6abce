// tg_golden_runner DIR: holds this program against recordings. Exit code 1 when a check fails, 2
// when the request is wrong, 4 when nothing can be read.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/golden/golden.h"

int main(int argc, char** argv) {
  CLI::App app("holds thunderglass against recordings of real systems");
  std::vector<std::string> paths;
  tg::GoldenOptions options;
  tg::RenderOptions render_options;
  bool summary = false;
  app.add_option("DIR", paths, "a root, a suite, one recording, or a .tar.zst of these")
      ->required();
  app.add_option("-j", options.workers, "number of workers (default: one per core)");
  app.add_option("--only", options.only, "only recordings whose path contains this text");
  app.add_option("--suite", options.only_suite, "only this suite");
  app.add_option("--most", render_options.most, "failing ids shown per suite");
  app.add_flag("--calls", options.run_calls, "run recorded operator calls one by one");
  app.add_flag("-v,--not-supported", render_options.not_supported,
               "also say what is not supported, and why");
  bool stories = false;
  app.add_flag("--stories", stories, "the page of programs that December 2024 gets wrong");
  app.add_flag("--summary", summary, "one line per suite");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  render_options.kinds = !summary;
  bool failed = false;
  for (const std::string& path : paths) {
    if (stories) {
      const tg::Result<std::string> page = tg::tell_stories(path);
      if (!page) {
        fmt::print(stderr, "{}", tg::render(page.error(), path, ""));
        return 4;
      }
      fmt::print("{}", *page);
      continue;
    }
    tg::Result<tg::GoldenReport> report = tg::run_golden(path, options);
    if (!report) {
      fmt::print(stderr, "{}", tg::render(report.error(), path, ""));
      return 4;
    }
    if (report->recordings == 0) {
      fmt::print(stderr, "{}: no recording of a known suite\n", path);
      return 4;
    }
    fmt::print("{}", tg::render(*report, render_options));
    for (const tg::GoldenCheck& check : report->checks)
      failed = failed || check.state == tg::CheckState::Failed;
  }
  return failed ? 1 : 0;
}
