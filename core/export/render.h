// Pictures of DOT texts. Graphviz runs as a child process with limits, since it can take minutes,
// exhaust the memory or abort; nothing of it is linked in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"

namespace tg {

enum class PictureFormat : std::uint8_t { Svg, Png, Pdf };

// By the ending of a file name ("a.svg") or by its word ("svg").
std::optional<PictureFormat> picture_format(std::string_view name);

struct RenderLimits {
  std::chrono::milliseconds time{30'000};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  std::uint64_t output_bytes = std::uint64_t{1} << 30;
};

struct Picture {
  std::string bytes;
  std::string warnings;  // what Graphviz said although it succeeded
};

// Draws a DOT text that has positions (`neato -n2`). `program` is looked up in PATH when it has no
// slash. Diagnostics: graphviz-missing, graphviz-failed, graphviz-stopped, cancelled.
Result<Picture> render_picture(const std::string& dot, PictureFormat format,
                               const RenderLimits& limits = {}, const std::stop_token& stop = {},
                               const std::string& program = "neato");

}  // namespace tg
