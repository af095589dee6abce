// diff, dot and render.
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

namespace tg {
namespace {

std::string painted_diff(const std::string& text, const Paint& paint) {
  if (!paint.on()) return text;
  std::string out;
  for (const std::string_view line : split_lines(text)) {
    const std::string_view content = trim(line);
    Role role = Role::Plain;
    if (content.starts_with('+')) role = Role::Added;
    if (content.starts_with('-')) role = Role::Removed;
    if (content.starts_with('~') || content.starts_with('>')) role = Role::Changed;
    out += paint(role, line) + "\n";
  }
  return out;
}

}  // namespace

CommandResult command_diff(Call& call) {
  const auto& operands = call.command.operands;
  if (operands.size() != 2) {
    call.fail("diff needs two addresses");
    return ExitCode::Usage;
  }
  const auto left = resolve(call, operands[0], DefaultPhase::FirstComputation);
  if (!left) return stop_with(call, left.error());
  const auto right = resolve(call, operands[1], DefaultPhase::FirstComputation);
  if (!right) return stop_with(call, right.error());
  const TraceDiff diff = diff_traces(left->trace(), right->trace());
  if (call.json()) {
    Json json = diff_json(diff, left->trace(), right->trace());
    json["left_address"] = left->shown;
    json["right_address"] = right->shown;
    call.result(dump(json) + "\n");
  } else if (diff.identical()) {
    call.result(
        fmt::format("{}  {} and {}\n", call.paint(Role::Good, "same"), left->shown, right->shown));
  } else {
    call.result(fmt::format("{}  {} and {}: {}\n", call.paint(Role::Heading, "different"),
                            left->shown, right->shown, summary(diff)));
    call.result(painted_diff(render(diff, left->trace(), right->trace()), call.paint));
  }
  return diff.identical() ? ExitCode::Done : ExitCode::Finding;
}

namespace {

// The laid-out graph that the options ask for, as DOT; or the reason why not, already shown.
Expected<std::string, CommandResult> dot_text(Call& call) {
  const auto target = resolve_only(call, DefaultPhase::FirstComputation);
  if (!target) return Unexpected{stop_with(call, target.error())};
  const DefUse def_use(target->trace());
  const AliasSets aliases(target->trace(), def_use);
  GraphOptions options;
  options.storages = call.command.has(Option::Storages);
  std::optional<Target> baseline;
  std::optional<DefUse> baseline_uses;
  if (call.command.has(Option::Against)) {
    auto against =
        resolve(call, call.command.value(Option::Against), DefaultPhase::FirstComputation);
    if (!against) return Unexpected{stop_with(call, against.error())};
    baseline = std::move(*against);
    baseline_uses.emplace(baseline->trace());
    options.against = GraphBaseline{&baseline->trace(), &*baseline_uses};
  }
  Graph graph = build_graph(target->trace(), def_use, aliases, target->shown, options);
  const std::string near =
      call.command.has(Option::Near) ? call.command.value(Option::Near) : target->place;
  if (!near.empty()) {
    auto part =
        neighbourhood(graph, near, static_cast<std::uint32_t>(call.command.count(Option::Depth)));
    if (!part) return Unexpected{stop_with(call, part.error())};
    graph = std::move(*part);
  }
  const std::uint64_t most = call.command.count(Option::MaxNodes);
  if (graph.nodes.size() > most) {
    call.fail(fmt::format("{} nodes are more than --max-nodes {}; look at a part with --near NAME",
                          graph.nodes.size(), most));
    return Unexpected{CommandResult(ExitCode::Usage)};
  }
  lay_out(graph);
  return to_dot(graph);
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
  const auto by_name = picture_format(output);
  const auto by_option = picture_format(call.command.value(Option::Format));
  const PictureFormat format = call.command.has(Option::Format) || !by_name
                                   ? by_option.value_or(PictureFormat::Svg)
                                   : *by_name;
  const auto dot = dot_text(call);
  if (!dot) return dot.error();
  RenderLimits limits;
  limits.time = std::chrono::milliseconds(
      static_cast<std::int64_t>(call.command.real(Option::Timeout) * 1000.0));
  limits.memory_bytes = call.command.count(Option::MaxMemory);
  const auto picture = render_picture(*dot, format, limits, call.stop);
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
