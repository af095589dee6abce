// diff, dot and render.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "app/program_view.h"
#include "app/session.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/export/dot.h"
#include "core/export/graph_layout.h"
#include "core/export/json.h"
#include "core/export/render.h"
#include "core/export/trace_diff.h"
#include "core/pass/audit_copies.h"

namespace tg {
namespace {

// Indented, as everything below a headline is.
std::string painted_diff(const std::string& text, const Paint& paint) {
  std::string out;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view content = trim(line);
    Role role = Role::Plain;
    if (content.starts_with('+')) role = Role::Added;
    if (content.starts_with('-')) role = Role::Removed;
    if (content.starts_with('~') || content.starts_with('>')) role = Role::Changed;
    out += fmt::format("  {}\n", paint(role, line));
  }
  return out;
}

}  // namespace

CommandResult command_diff(Call& call) {
  const auto& operands = call.command.operands;
  if (operands.size() != 2) {
    call.fail("diff needs two addresses");
    call.sink.note("for example: diff trace.txt:0 trace.txt:1\n");
    return ExitCode::Usage;
  }
  const auto left = resolve_program(call, operands[0]);
  if (!left) return stop_with(call, left.error());
  const auto right = resolve_program(call, operands[1]);
  if (!right) return stop_with(call, right.error());
  const TraceDiff diff = diff_traces(left->trace(), right->trace());
  if (call.json()) {
    Json json = diff_json(diff, left->trace(), right->trace());
    json["left_address"] = left->shown;
    json["right_address"] = right->shown;
    call.result(dump(json) + "\n");
  } else if (diff.identical()) {
    call.result(fmt::format("{}  {} and {}\n", call.paint(Role::Good, "same"), left->label(),
                            right->label()));
  } else {
    call.result(fmt::format("{}  {} and {}: {}\n", call.paint(Role::Heading, "different"),
                            left->label(), right->label(), summary(diff)));
    call.result(painted_diff(render(diff, left->trace(), right->trace()), call.paint));
  }
  return diff.identical() ? ExitCode::Done : ExitCode::Finding;
}

namespace {

namespace fs = std::filesystem;

// A URL may hold no spaces and no signs that mean something in it.
std::string url_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("/._-~+,@").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// The template of --link with the file in it, as seen from the folder that the picture goes to.
// Empty: no links, as for text that lies in no file.
std::string link_of(const Call& call, const Target& target) {
  std::string link = call.command.value(Option::Link);
  const std::string& file = target.file().name;
  if (link == "none") return {};
  constexpr std::string_view kFile = "{file}";
  const std::size_t at = link.find(kFile);
  if (at == std::string::npos) return link;
  std::error_code error;
  if (file == "-" || !fs::exists(file, error)) return {};
  const std::string output = call.command.value(Option::Output);
  fs::path seen = file;
  if (!output.empty() && output != "-" && seen.is_relative()) {
    const fs::path folder = fs::path(output).parent_path();
    if (!folder.empty()) seen = fs::proximate(seen, folder, error);
    if (error) seen = file;
  }
  return link.replace(at, kFile.size(), url_path(seen.generic_string()));
}

// What --near or the address's place means in the graph: a name, or the statement on a line.
Result<Graph> part_near(const Graph& graph, const Target& target, const std::string& place,
                        std::uint32_t depth) {
  const auto on_line = std::find_if(
      graph.nodes.begin(), graph.nodes.end(),
      [&](const GraphNode& node) { return node.line != 0 && std::to_string(node.line) == place; });
  auto part = neighbourhood(graph, on_line == graph.nodes.end() ? place : on_line->id, depth);
  if (!part) return Unexpected{unknown_name(target, place)};
  return part;
}

// The laid-out graph that the options ask for, as DOT; or the reason why not, already shown.
Expected<std::string, CommandResult> dot_text(Call& call) {
  const auto target = resolve_only(call);
  if (!target) return Unexpected{stop_with(call, target.error())};
  const auto facts = alias_facts(*target, call.command.values(Option::Alias));
  if (!facts) return Unexpected{stop_with(call, facts.error())};
  const DefUse def_use(target->trace());
  const AliasSets aliases(target->trace(), def_use, *facts);
  GraphOptions options;
  options.storages = call.command.has(Option::Storages);
  std::optional<Target> baseline;
  std::optional<DefUse> baseline_uses;
  if (call.command.has(Option::Against)) {
    auto against = resolve_program(call, call.command.value(Option::Against));
    if (!against) return Unexpected{stop_with(call, against.error())};
    baseline = std::move(*against);
    baseline_uses.emplace(baseline->trace());
    options.against = GraphBaseline{&baseline->trace(), &*baseline_uses};
  }
  const std::vector<CopyFinding> copies =
      audit(target->trace(), *facts, earlier_computation(*target));
  options.copies = copies;
  const std::string title =
      baseline ? fmt::format("{} against {}", target->label(), baseline->label()) : target->label();
  Graph graph = build_graph(target->trace(), def_use, aliases, title, options);
  const std::string near =
      call.command.has(Option::Near) ? call.command.value(Option::Near) : target->place;
  if (!near.empty()) {
    auto part = part_near(graph, *target, near,
                          static_cast<std::uint32_t>(call.command.count(Option::Depth)));
    if (!part) return Unexpected{stop_with(call, part.error())};
    graph = std::move(*part);
  }
  const std::uint64_t most = call.command.count(Option::MaxNodes);
  if (graph.nodes.size() > most) {
    call.fail(fmt::format("{} nodes are more than --max-nodes {}; look at a part with --near NAME",
                          graph.nodes.size(), most));
    return Unexpected{CommandResult(ExitCode::Usage)};
  }
  constexpr std::size_t kManyStatements = 20'000;
  if (count_phase(target->trace()).statements > kManyStatements && near.empty()) {
    call.note(
        fmt::format("note: {} nodes are slow to draw and hard to read; --near NAME shows a part\n",
                    graph.nodes.size()));
  }
  lay_out(graph);
  return to_dot(graph, {link_of(call, *target)});
}

// The format that the suffix of the output or --format asks for; the reason why there is none.
Expected<PictureFormat, std::string> format_of(const Call& call, const std::string& output) {
  if (call.command.has(Option::Format)) {
    return picture_format(call.command.value(Option::Format)).value_or(PictureFormat::Svg);
  }
  if (output == "-") return PictureFormat::Svg;
  const auto by_suffix = picture_format(output);
  if (by_suffix) return *by_suffix;
  const std::string suffix = fs::path(output).extension().string();
  const bool dot = suffix == ".dot" || suffix == ".gv";
  return Unexpected{fmt::format(
      "{}; {}",
      suffix.empty() ? fmt::format("'{}' has no suffix that names a format", output)
                     : fmt::format("'{}' is no picture format", suffix.substr(1)),
      dot ? "the command 'dot' writes DOT" : "formats are svg, png and pdf, also with --format")};
}

}  // namespace

CommandResult command_dot(Call& call) {
  const auto dot = dot_text(call);
  if (!dot) return dot.error();
  call.result(*dot);
  return {};
}

CommandResult command_render(Call& call) {
  const std::string output = call.command.value(Option::Output);
  if (output.empty()) {
    call.fail("render needs -o FILE (- is standard output)");
    return ExitCode::Usage;
  }
  const auto format = format_of(call, output);
  if (!format) {
    call.fail(format.error());
    return ExitCode::Usage;
  }
  const auto dot = dot_text(call);
  if (!dot) return dot.error();
  RenderLimits limits;
  limits.time = std::chrono::milliseconds(
      static_cast<std::int64_t>(call.command.real(Option::Timeout) * 1000.0));
  limits.memory_bytes = call.command.count(Option::MaxMemory);
  const auto picture = render_picture(*dot, *format, limits, call.stop);
  if (!picture) return stop_with(call, picture.error());
  if (!picture->warnings.empty()) call.note(picture->warnings);
  const auto written =
      write_file(output, picture->bytes,
                 call.command.has(Option::Force) ? Overwrite::Allow : Overwrite::Refuse);
  if (!written) return stop_with(call, written.error());
  if (output != "-")
    call.note(fmt::format("wrote {} ({})\n", output, bytes_text(picture->bytes.size())));
  return {};
}

}  // namespace tg
