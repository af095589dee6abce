// Layered layout in linear time with a fixed number of sweeps; no solver, no randomness.
#pragma once

#include <cstdint>

#include "core/export/graph.h"

namespace tg {

struct LayoutOptions {
  std::uint32_t cut_length = 12;    // edges over more layers become stubs at both ends
  std::uint32_t argument_uses = 8;  // arguments with more uses are drawn as a stub per use
  std::uint32_t order_sweeps = 4;   // barycentre
  std::uint32_t place_sweeps = 8;   // isotonic placement
};

// Cuts long edges (adds Stub nodes), then fills layer, centre, width, height of nodes, route of
// edges, corners of storages when graph.lanes is set, and graph.size. No two boxes overlap; equal
// graphs give equal pictures.
void lay_out(Graph& graph, const LayoutOptions& options = {});

// Size of a node's box for its label in the font that the writers ask for (DejaVu Sans Mono).
GraphPoint box_size(const GraphNode& node);
constexpr double kFontSize = 11;
constexpr double kColumnWidth = kFontSize * 0.602;  // advance of DejaVu Sans Mono, in em
constexpr double kLineHeight = kFontSize * 1.25;

}  // namespace tg
